"""The run itself: accesses with their clocks, and what each synchronization instruction passes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fencepost.hosts.ptx.effects import destinations
from fencepost.hosts.ptx.exact import forms
from fencepost.hosts.ptx.exact.accesses import Accesses, Found
from fencepost.hosts.ptx.exact.address_slice import Needed
from fencepost.hosts.ptx.exact.bulk_copies import BulkCopies
from fencepost.hosts.ptx.exact.cluster_barrier import ClusterBarrier
from fencepost.hosts.ptx.exact.hardware_barriers import Arrival, HardwareBarriers
from fencepost.hosts.ptx.exact.mbarrier_test_waits import Peeks
from fencepost.hosts.ptx.exact.mbarriers import Mbarriers, Operation, Wait
from fencepost.hosts.ptx.exact.problems import NotExact, Problem
from fencepost.hosts.ptx.exact.shadow import Kind, Touch
from fencepost.hosts.ptx.exact.spinning import waiting_loop
from fencepost.hosts.ptx.exact.tensor_forms import (
    OF_A_WARP,
    TensorAccess,
    TensorAllocation,
    TensorCommit,
    TensorCopy,
    TensorFence,
    TensorForm,
    TensorProduct,
    TensorShift,
    TensorWait,
)
from fencepost.hosts.ptx.exact.tensor_memory import TensorMemory
from fencepost.hosts.ptx.exact.values import mix, mixed
from fencepost.hosts.ptx.flow import Flow
from fencepost.hosts.ptx.intervals import Place
from fencepost.hosts.ptx.lanes import Bits
from fencepost.hosts.ptx.module import Instruction, Module, Operand, Routine
from fencepost.hosts.ptx.simulation_setup import AT_BARRIER, AT_COLLECTIVE, DONE, RUNNING, Setup, Threads

WARP = 32
MOST_CLASHES = 200
KINDS: dict[str, Kind] = {"read": "read", "write": "write", "atomic": "atomic", "copy": "write"}
MATRICES = {"x1": 1, "x2": 2, "x4": 4}
OF_WARPS = (forms.WarpBarrier, forms.Elect, forms.Wgmma, forms.WideMatrix, *OF_A_WARP)
"""Forms that the lanes of a warp carry out together."""


class Run(Accesses):
    """One block, with clocks."""

    def __init__(  # many parameters because a run is of a kernel, with a launch, for what is needed
        self,
        module: Module,
        routine: Routine,
        flow: Flow,
        setup: Setup,
        needed: Needed,
        boxes: Mapping[object, int] | None = None,
    ) -> None:
        super().__init__(module, routine, flow, setup, needed)
        self.hardware = [HardwareBarriers(self.clocks, rank) for rank in range(self.cluster_size)]
        self.cluster_barrier = ClusterBarrier(self.clocks)
        self.mbarriers = Mbarriers(self.clocks)
        self.inits: dict[int, list[int]] = {}
        """By thread, the columns of the mbarriers that it has initialized."""
        self.bulk = BulkCopies(self, boxes)
        self.mbarriers.lazy = boxes is None
        self.tensor = TensorMemory(self)
        self.waiting_warps: list[Threads] = []
        """Those that wait for tensor memory."""
        self.spins: dict[Place, bool] = {}
        self.peeks = Peeks(self)
        self.reached: set[Place] = set()
        """The accesses and synchronization instructions that some thread has carried out."""

    def execute_all(self) -> Found:
        """Until every thread has ended."""
        while len(self.found.clashes) < MOST_CLASHES:
            running = np.flatnonzero(self.state == RUNNING)
            if running.size:
                self.advance(self.next_group(running))
            elif not (self.state != DONE).any():
                self.found.problems += self.bulk.unfinished() + self.tensor.ended()
                if self.lifetimes is not None:
                    self.found.problems += self.lifetimes.ended()
                break
            elif not self._go_on():
                self._stuck()
                break
        for barriers in self.hardware:
            self.found.problems += barriers.problems
        self.found.problems += self.cluster_barrier.problems + self.mbarriers.problems
        self.found.boxes = dict(self.bulk.boxes)
        unwritten = [each.unwritten for each in self.shadows if each.unwritten is not None]
        self.found.unwritten = unwritten[0] if unwritten else None
        self.found.relied = any(each.relied for each in self.shadows) or bool(self.decisions)
        return self.found

    def _go_on(self) -> bool:
        """Nobody runs: threads that wait for others which have ended meanwhile, or for bytes."""
        woken = self.ended()
        if not woken and self.mbarriers.lazy:
            woken = self.mbarriers.complete_lazily()
            self._wake(woken)
        if not woken:
            for number, index in sorted(
                {(int(self.blocks[t]), int(self.indices[t])) for t in self._at(AT_COLLECTIVE)}
            ):
                who = self._at(AT_COLLECTIVE)
                here = who[(self.blocks[who] == number) & (self.indices[who] == index)]
                self.state[here] = RUNNING
                self.advance(here)
                if (self.state == RUNNING).any():
                    return True
        return bool(woken)

    def _at(self, state: int) -> Threads:
        found: Threads = np.flatnonzero(self.state == state)
        return found

    def _wake(self, groups: list[Threads]) -> None:
        for who in groups:
            self.state[who] = RUNNING
            self.indices[who] += 1
            self.passed[who] += 1
        for barriers in self.hardware:
            for who in barriers.again:
                self.state[who] = RUNNING
            barriers.again = []

    def ended(self) -> list[Threads]:
        """Barriers of all threads may be complete without those that have ended; who goes on because of it."""
        woken = [who for barriers in self.hardware for who in barriers.ended(self.live(barriers.rank))]
        woken += self.cluster_barrier.ended(self.live())
        self._wake(woken)
        return woken

    # ---- instructions

    def carry_out(self, instruction: Instruction, place: Place, who: Threads) -> Threads:
        """One instruction; the threads that go on behind it at once."""
        form = self.needed.forms.get(place)
        matters = form is not None or place in self.needed.accesses
        if matters and self.peeks.tokens:
            self.peeks.refuse(instruction, place, who)
        if matters and self.held(instruction, who, place).size:
            self.reached.add(place)
        if form is not None:
            return self._form(form, instruction, place, who)
        if place in self.needed.accesses:
            self.access(instruction, place, self.held(instruction, who, place))
        elif instruction.name in ("shfl", "vote", "redux"):
            who = self._exchange(instruction, place, who)
            if self.peeks.tokens and who.size:
                self.peeks.exchange(instruction, who)
            return who
        else:
            self.compute(instruction, place, who)
            if self.peeks.tokens:
                self.peeks.follow(instruction, who)
        return who

    def _leave(self, number: int, who: Threads) -> None:
        if self.peeks.tokens:
            self.peeks.at_branch(number, who)
        super()._leave(number, who)

    def _form(self, form: forms.Form, instruction: Instruction, place: Place, who: Threads) -> Threads:
        if isinstance(form, forms.HardwareBarrier):
            return self._hardware(form, instruction, place, who)
        if isinstance(form, forms.ClusterBarrier):
            return self._cluster(form, place, who)
        if isinstance(form, forms.Mbarrier) and form.does.startswith("wait"):
            return self._wait_mbarrier(form, instruction, place, who)
        if isinstance(form, OF_WARPS):
            return self._warps(form, instruction, place, who)
        held = self.held(instruction, who, place)
        if held.size:
            if isinstance(form, forms.ProxyFence | forms.MemoryFence | forms.InitFence):
                self._fence(form, held)
            elif isinstance(form, forms.Mbarrier):
                self._mbarrier(form, place, held)
            elif isinstance(form, forms.BulkCopy):
                self._wake(self.bulk.issue(form, place, held))
            elif isinstance(form, forms.AsyncStore):
                self._wake(self.bulk.store(form, place, held))
            elif isinstance(form, forms.Grouping):
                self._group(form, held)
            elif isinstance(form, TensorForm):
                self._tensor(form, place, held)
        return who

    def _tensor(self, form: TensorForm, place: Place, who: Threads) -> None:
        """`tcgen05`, as single threads issue it."""
        if isinstance(form, TensorFence):
            (self.clocks.before_thread_sync if form.before else self.clocks.after_thread_sync)(who)
            return
        for thread in map(int, who):
            if isinstance(form, TensorProduct):
                self.tensor.product(form, place, thread)
            elif isinstance(form, TensorCopy):
                self.tensor.copy(form, place, thread)
            elif isinstance(form, TensorShift):
                self.tensor.shift(form, place, thread)
            elif isinstance(form, TensorCommit):
                self._wake(self.tensor.commit(form, place, thread))

    def _fence(self, form: forms.ProxyFence | forms.MemoryFence | forms.InitFence, who: Threads) -> None:
        if isinstance(form, forms.ProxyFence):
            self.clocks.fence(who)
        elif isinstance(form, forms.InitFence):
            for thread in map(int, who):
                self.clocks.publish(np.array([thread]), np.array(self.inits.get(thread, []), dtype=np.int64))
        elif form.of_cluster or self.cluster_size == 1:
            self.clocks.memory_fence(who)

    def _group(self, form: forms.Grouping, who: Threads) -> None:
        if form.of == "bulk":
            self.bulk.group(form.left, who)
        elif form.of == "copies":
            self.copy_groups(form, who)
        elif form.left is None:
            self.wgmma_groups[who] += 1
        else:
            for warp in np.unique(who // WARP):
                lanes = who[who // WARP == warp]
                column = self.wgmma_column(int(warp))
                self.clocks.learn(lanes, column, (self.wgmma_groups[lanes] - form.left).astype(np.int32))

    # ---- meeting other threads

    def gather(self, lanes: Bits, place: Place, who: Threads) -> Threads:
        """Threads whose mask of lanes is all here, and those that were here before; the others wait."""
        if np.unique(lanes).size != 1:
            raise NotExact("lanes that name different masks", place)
        self.state[who] = AT_COLLECTIVE
        waiting = (self.state == AT_COLLECTIVE) & (self.blocks == place.block) & (self.indices == place.index)
        bits = int(lanes[0])
        lane, warp = np.arange(self.count) % WARP, np.arange(self.count) // WARP
        named = (bits >> lane & 1).astype(bool) & (self.state != DONE)
        missing = np.bincount(warp[named & ~waiting], minlength=int(warp[-1]) + 1)
        ready: Threads = np.flatnonzero(waiting & (missing[warp] == 0))
        self.state[ready] = RUNNING
        return ready

    def _whole_warps(self, place: Place, who: Threads) -> Threads:
        """Warps all of whose threads that have not ended are here."""
        return self.gather(np.full(1, np.uint64(0xFFFFFFFF)), place, who)

    def _hardware(
        self, form: forms.HardwareBarrier, instruction: Instruction, place: Place, who: Threads
    ) -> Threads:
        if form.aligned:
            who = self._whole_warps(place, who)
            self._check_iterations(form, place, who)
        on: list[Threads] = []
        numbers = self.certain(form.number, who, 32, place)
        counts = self.certain(form.count, who, 32, place) if form.count is not None else numbers
        if form.count is not None and (counts % np.uint64(WARP)).any():
            odd = int(counts[counts % np.uint64(WARP) != 0][0])
            raise NotExact(f"a barrier for {odd} threads, which are no whole warps", place)
        for number, count in {(int(n), int(c)) for n, c in zip(numbers, counts, strict=True)}:
            for rank, here in self.by_block(who[(numbers == number) & (counts == count)]):
                arrival = Arrival(
                    place, here, number, count if form.count is not None else None, form.waits, form.aligned
                )
                here = self._arrive(arrival, rank)
                if not form.waits:
                    on.append(here)
                if destinations(instruction):
                    self._votes_of_barrier(instruction, here)
        return np.sort(np.concatenate(on)) if on else who[:0]

    def _arrive(self, arrival: Arrival, rank: int) -> Threads:
        """Threads of a block arrive at one of its barriers; those that have not been held back."""
        barriers, here = self.hardware[rank], arrival.threads
        twice = barriers.hold_back(arrival)
        if twice.size:
            self.state[twice] = AT_BARRIER
            here = np.setdiff1d(here, twice)
        if here.size:
            if arrival.waits:
                self.state[here] = AT_BARRIER
            self._wake(barriers.arrive(replace(arrival, threads=here), self.live(rank)))
        return here

    def _cluster(self, form: forms.ClusterBarrier, place: Place, who: Threads) -> Threads:
        """`barrier.cluster`."""
        if form.aligned:
            who = self._whole_warps(place, who)
        if not who.size:
            return who
        if form.arrives:
            self._wake(self.cluster_barrier.arrive(place, who, form.relaxed, self.live()))
            return who
        on = self.cluster_barrier.wait(place, who)
        self.passed[on] += 1
        self.state[np.setdiff1d(who, on)] = AT_BARRIER
        return on

    def _check_iterations(self, form: forms.HardwareBarrier, place: Place, who: Threads) -> None:
        """Whether threads that meet at a barrier are in the same iteration of the loops around it: those of a warp,
        or all, if all are counted."""
        if any(loop.header not in self.iterations for loop in self.flow.loops_around(place.block)):
            return
        groups = [who[who // WARP == warp] for warp in np.unique(who // WARP)]
        if form.count is None and who.size:
            waiting = self._at(AT_BARRIER)
            there = (self.blocks[waiting] == place.block) & (self.indices[waiting] == place.index)
            groups = [here for _, here in self.by_block(np.union1d(who, waiting[there]))]
        for group in groups:
            missed = self.out_of_step(group)
            problems = self.hardware[self.ranks[group[0]]].problems
            if missed is not None and not problems:
                text = "thread {1} waits at a barrier that thread {0} does not reach with it"
                fix = "move the barrier out of the condition, so that all threads of the block reach it"
                problems.append(Problem("FP002", text, missed.places, missed.threads, fix))

    def _votes_of_barrier(self, instruction: Instruction, who: Threads) -> None:
        """The result of `bar.red`: made up."""
        for target in destinations(instruction):
            self.make_up(target, who)

    def _warps(self, form: forms.Form, instruction: Instruction, place: Place, who: Threads) -> Threads:
        """Instructions that lanes carry out together."""
        if isinstance(form, forms.WarpBarrier | forms.Elect):
            who = self.gather(self.certain(form.lanes, who, 32, place), place, who)
        else:
            who = self._whole_warps(place, who)
        for warp in np.unique(who // WARP):
            lanes = who[who // WARP == warp]
            held = self.held(instruction, lanes, place)
            if not held.size:
                continue
            if held.size < lanes.size:
                raise NotExact("an instruction of a whole warp that some lanes skip", place)
            if isinstance(form, TensorAllocation | TensorAccess | TensorWait):
                who = np.setdiff1d(who, self._tensor_of_warp(form, instruction, place, lanes))
            elif isinstance(form, forms.WarpBarrier):
                self.clocks.acquire(lanes, self.clocks.release(lanes))
                self.passed[lanes] += 1
            elif isinstance(form, forms.Elect):
                self._elect(form, lanes)
            elif isinstance(form, forms.Wgmma):
                self.wgmma(form, instruction, place, lanes)
            elif isinstance(form, forms.WideMatrix):
                self.wide_matrix(form, instruction, place, lanes)
        return who

    def _tensor_of_warp(
        self,
        form: TensorAllocation | TensorAccess | TensorWait,
        instruction: Instruction,
        place: Place,
        lanes: Threads,
    ) -> Threads:
        """`tcgen05`, as the lanes of a warp carry it out together; those that wait."""
        if isinstance(form, TensorWait):
            self.tensor.wait(form, lanes)
        elif isinstance(form, TensorAccess):
            self.tensor.access(form, place, lanes)
            for target in destinations(instruction):
                self.make_up(target, lanes)
        elif not self.tensor.allocate(form, place, lanes):
            self.state[lanes] = AT_BARRIER
            self.waiting_warps.append(lanes)
            return lanes
        elif form.does == "dealloc":
            self._retry_allocations()
        return lanes[:0]

    def _retry_allocations(self) -> None:
        """Tensor memory was freed: warps that wait for some try again."""
        for lanes in self.waiting_warps:
            self.state[lanes] = RUNNING
        self.waiting_warps = []

    def _elect(self, form: forms.Elect, lanes: Threads) -> None:
        """The lowest lane, as GPUs do."""
        values = [np.full(lanes.shape, np.uint64(lanes[0] % WARP)), (lanes == lanes[0]).astype(np.uint64)]
        for target, bits in zip(form.targets, values[-len(form.targets) :], strict=True):
            self.write(target, lanes, bits)
            self.made_up.set(target, lanes, np.zeros(lanes.shape, dtype=bool))

    def _exchange(self, instruction: Instruction, place: Place, who: Threads) -> Threads:
        """Shuffles, votes and reductions of a warp."""
        who = self.gather(self.certain(instruction.operands[-1], who, 32, place), place, who)
        held = self.held(instruction, who, place)
        targets = destinations(instruction)
        if not held.size or not targets:
            return who
        values = instruction.operands[1 : 4 if instruction.name == "shfl" else 2]
        unsure = self.made_up.any_of(values, held)
        if instruction.name == "shfl" and not self.made_up.any_of(values[1:], held).any():
            self._shuffled(instruction, held, targets)
        elif instruction.name in ("vote", "redux") and not unsure.any():
            self._collective(instruction, held)
            self.made_up.set(targets[0], held, unsure)
        elif instruction.name in ("vote", "redux"):
            self._one_result(instruction, held, targets[0])
        else:
            for target in targets:
                self.make_up(target, held)
        return who

    def _one_result(self, instruction: Instruction, who: Threads, target: Operand) -> None:
        """A vote or reduction: made up, and the same for all lanes."""
        total = np.zeros(self.count // WARP + 1, dtype=np.uint64)
        given = self.identity(instruction.operands[1], who)
        if "ballot" in instruction.parts:
            given = given + mix((who % WARP).astype(np.uint64))
        np.add.at(total, who // WARP, mixed(instruction, [given]))
        self.made_up.set(target, who, np.ones(who.shape, dtype=bool), mix(total[who // WARP]))

    def _shuffled(self, instruction: Instruction, who: Threads, targets: tuple[Operand, ...]) -> None:
        """What lanes get from others; from lanes that take no part, it is not defined."""
        source, _ = self.shuffled_from(instruction, who)
        flags = np.ones(self.count + WARP, dtype=bool)
        identities = self.made_up.fresh(np.arange(self.count + WARP))
        flags[who] = self.made_up.of(instruction.operands[1], who)
        identities[who] = self.identity(instruction.operands[1], who)
        self._collective(instruction, who)
        self.made_up.set(targets[0], who, flags[source], identities[source])
        for target in targets[1:]:
            self.made_up.set(target, who, np.zeros(who.shape, dtype=bool))

    # ---- mbarriers

    def mbarrier_at(self, place: Place, address: int, who: Threads) -> None:
        """Notes that an mbarrier is used, as an atomic access to its eight bytes."""
        starts = np.full(who.shape, address, dtype=np.int64)
        self.touch(Touch("atomic", self.number_of(place), who, starts, 8, who, self.clocks.own(who)))

    def _mbarrier(self, form: forms.Mbarrier, place: Place, who: Threads) -> None:
        where = self.shared_addresses(form.address, who, place, form.near)
        amounts = np.ones(who.shape, dtype=np.uint64)
        if form.amount is not None:
            amounts = self.certain(form.amount, who, 32, place)
        for address, amount in sorted({(int(a), int(n)) for a, n in zip(where, amounts, strict=True)}):
            here = who[(where == address) & (amounts == amount)]
            far = self.ranks[here] != address // self.memory.span
            for threads, from_afar in ((here[~far], False), (here[far], True)):
                # An arrival for the threads of its own block hands on nothing to others.
                relaxed = form.relaxed or (from_afar and form.of_block)
                if threads.size:
                    self._operate(form, Operation(place, threads, amount, relaxed, from_afar), address)

    def _operate(self, form: forms.Mbarrier, operation: Operation, address: int) -> None:
        who, place = operation.threads, operation.place
        if form.does in ("init", "inval"):
            self._make_or_end(form, operation, address)
            return
        found = self.mbarriers.objects.get(address)
        if found is None:
            self.not_made(place, address, who)
            return
        self.mbarrier_at(place, address, who)
        if form.target is not None:
            self.write(form.target, who, np.full(who.shape, np.uint64(found.completed), dtype=np.uint64))
            self.made_up.set(form.target, who, np.zeros(who.shape, dtype=bool))
        if form.does == "arrive":
            woken = self.mbarriers.arrive(found, operation)
        elif form.does == "copies arrive":
            columns = np.array([self.copy_column(int(each)) for each in who], dtype=np.int64)
            known = self.clocks.just(columns, (self.groups[who] + 1).astype(np.int32))
            self.groups[who] += 1
            woken = self.mbarriers.copies_arrive(found, operation, known, form.counted)
        else:
            woken = self.mbarriers.expect(found, operation, form.does == "arrive expect")
        self._wake(woken)

    def _make_or_end(self, form: forms.Mbarrier, operation: Operation, address: int) -> None:
        """`init` and `inval`. An init has a column of its own, since there is a fence for it alone."""
        who, begins = operation.threads, form.does == "init"
        columns, clocks = who, self.clocks.own(who)
        if begins:
            columns = np.array([self._init_column(address, int(thread)) for thread in who], dtype=np.int64)
            clocks = self.clocks.seen[who, columns] + 1
            self.clocks.learn(who, columns, clocks)
        starts = np.full(who.shape, address, dtype=np.int64)
        zero = np.zeros(who.shape, dtype=np.uint64)
        touch = Touch("write", self.number_of(operation.place), who, starts, 8, columns, clocks)
        self.touch(replace(touch, values=(zero, zero)))
        (self.mbarriers.init if begins else self.mbarriers.inval)(operation, address)

    def _init_column(self, address: int, thread: int) -> int:
        column = self.clocks.column(("init", address, thread), thread, True)
        if column not in self.inits.setdefault(thread, []):
            self.inits[thread].append(column)
        return column

    def not_made(self, place: Place, address: int, who: Threads) -> None:
        """Threads use an mbarrier that is none."""
        text = "thread {1} uses {mbarrier}, which is not initialized, or no longer"
        fix = "initialize it, and let all threads pass a barrier before they use it"
        self.found.problems.append(
            Problem("FP006", text, (place, place), (int(who[0]), int(who[0])), fix, mbarriers=(address,))
        )

    def _wait_mbarrier(
        self, form: forms.Mbarrier, instruction: Instruction, place: Place, who: Threads
    ) -> Threads:
        if place not in self.spins:
            repeated = waiting_loop(self.flow, self.needed, place) is not None
            self.spins[place] = repeated or self.setup.peeks_succeed
        held = self.held(instruction, who, place)
        assert form.phase is not None and form.target is not None
        where = self.shared_addresses(form.address, held, place, form.near)
        phases = self.certain(form.phase, held, 64, place)
        # What is repeated until it succeeds succeeds at last; what is tried once is taken to fail.
        self.write(form.target, held, np.full(held.shape, np.uint64(self.spins[place]), dtype=np.uint64))
        self.made_up.set(form.target, held, np.zeros(held.shape, dtype=bool))
        on = [who[~np.isin(who, held)]]
        for address, phase in sorted({(int(a), int(p)) for a, p in zip(where, phases, strict=True)}):
            here = held[(where == address) & (phases == phase)]
            on += self._wait_for(form, place, here, (address, phase))
        return np.sort(np.concatenate(on))

    def _wait_for(
        self, form: forms.Mbarrier, place: Place, who: Threads, what: tuple[int, int]
    ) -> list[Threads]:
        address, phase = what
        found = self.mbarriers.objects.get(address)
        if found is None:
            self.not_made(place, address, who)
            return [who]
        self.mbarrier_at(place, address, who)
        targets = np.full(who.shape, phase + 1)
        if form.does == "wait parity":
            targets = self.mbarriers.targets(found, who, phase & 1)
        on = []
        for target in map(int, np.unique(targets)):
            here = who[targets == target]
            if not self.spins[place]:
                self.peeks.failed(form, place, here, (address, target))
                on.append(here)
                continue
            self.peeks.at_wait(form, place, here, (address, target))
            self.peeks.succeeded(form, here)
            if self.mbarriers.wait(found, Wait(place, here, form.relaxed, form.of_block), target):
                self.passed[here] += 1
                on.append(here)
            else:
                self.state[here] = AT_BARRIER
        return on

    # ---- the end

    def _stuck(self) -> None:
        self.found.problems += self.mbarriers.never_complete()
        if any(each.code == "FP002" for each in self.found.problems):
            return
        waiting = self._at(AT_BARRIER)
        if self.waiting_warps:
            self._without_tensor_memory()
            return
        if not waiting.size:
            stuck = self._at(AT_COLLECTIVE)
            here = Place(int(self.blocks[stuck[0]]), int(self.indices[stuck[0]]))
            raise NotExact("lanes of a warp that do not come together", here)
        self._stuck_at_barrier(waiting)

    def _without_tensor_memory(self) -> None:
        thread = int(self.waiting_warps[0][0])
        here = Place(int(self.blocks[thread]), int(self.indices[thread]))
        text = "thread {1} waits for tensor memory that nobody frees"
        fix = "allocate less, or free what was allocated before"
        self.found.problems.append(Problem("FP002", text, (here, here), (thread, thread), fix))

    def _stuck_at_barrier(self, waiting: Threads) -> None:
        thread = int(waiting[0])
        here = Place(int(self.blocks[thread]), int(self.indices[thread]))
        others = np.flatnonzero(
            (self.state != DONE) & ((self.blocks != here.block) | (self.indices != here.index))
        )
        other = int(others[0]) if others.size else thread
        there = Place(int(self.blocks[other]), int(self.indices[other]))
        phase = self.hardware[self.ranks[thread]].waiting_for(thread)
        if phase is None:
            other = int(self.cluster_barrier.missing(self.live())[0])
            there = Place(int(self.blocks[other]), int(self.indices[other]))
        text = "thread {1} waits at a barrier that never completes"
        if phase is not None and phase.count is not None:
            text += f": {phase.arrived} of {phase.count} threads have arrived"
        elif other != thread:
            text += ", and thread {0} waits elsewhere"
        fix = "let as many threads arrive at the barrier as it counts"
        self.found.problems.append(Problem("FP002", text, (there, here), (other, thread), fix))
