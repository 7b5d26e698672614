"""The run itself: accesses with their clocks, and what each synchronization instruction passes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fencepost.hosts.ptx.exact import forms
from fencepost.hosts.ptx.exact.accesses import Found
from fencepost.hosts.ptx.exact.address_slice import AddressSlice
from fencepost.hosts.ptx.exact.bulk_copies import BulkCopies
from fencepost.hosts.ptx.exact.cluster_barrier import ClusterBarrier
from fencepost.hosts.ptx.exact.hardware_barriers import Arrival, HardwareBarriers
from fencepost.hosts.ptx.exact.mbarrier_instructions import MbarrierInstructions
from fencepost.hosts.ptx.exact.mbarrier_test_waits import TestWaitResults
from fencepost.hosts.ptx.exact.mbarriers import Mbarriers
from fencepost.hosts.ptx.exact.problems import NotExact, Problem
from fencepost.hosts.ptx.exact.shadow import Kind
from fencepost.hosts.ptx.exact.tcgen05_forms import (
    OF_A_WARP,
    TensorCommit,
    TensorCopy,
    TensorFence,
    TensorForm,
    TensorProduct,
    TensorShift,
)
from fencepost.hosts.ptx.exact.tensor_memory import TensorMemory
from fencepost.hosts.ptx.exact.warp_instructions import WARP
from fencepost.hosts.ptx.expressions.lanes import Bits
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import destinations
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.module import Instruction, Module, Routine
from fencepost.hosts.ptx.runs.simulation_setup import AT_BARRIER, AT_COLLECTIVE, DONE, RUNNING, Setup, Threads

MOST_CLASHES = 200
KINDS: dict[str, Kind] = {"read": "read", "write": "write", "atomic": "atomic", "copy": "write"}
MATRICES = {"x1": 1, "x2": 2, "x4": 4}
OF_WARPS = (forms.WarpBarrier, forms.Elect, forms.Wgmma, forms.WideMatrix, *OF_A_WARP)
"""Forms that the lanes of a warp carry out together."""


class Run(MbarrierInstructions):
    """One block, with clocks."""

    def __init__(  # many parameters because a run is of a kernel, with a launch, for what is needed
        self,
        module: Module,
        routine: Routine,
        flow: Flow,
        setup: Setup,
        needed: AddressSlice,
        boxes: Mapping[object, int] | None = None,
    ) -> None:
        super().__init__(module, routine, flow, setup, needed)
        self.hardware = [
            HardwareBarriers(self.clocks, rank, np.flatnonzero(self.ranks == rank))
            for rank in range(self.cluster_size)
        ]
        self.cluster_barrier = ClusterBarrier(self.clocks)
        self.mbarriers = Mbarriers(self.clocks, self._written)
        self.inits: dict[int, list[int]] = {}
        """By thread, the columns of the mbarriers that it has initialized."""
        self.bulk = BulkCopies(self, boxes)
        self.mbarriers.lazy = boxes is None
        self.tensor = TensorMemory(self)
        self.masks: Bits = np.zeros(self.count, dtype=np.uint64)
        """The lanes that each thread has last waited for."""
        self.waiting_warps: list[Threads] = []
        """Those that wait for tensor memory."""
        self.spins: dict[Place, bool] = {}
        self.test_waits = TestWaitResults(self)
        self.reached: set[Place] = set()
        """The accesses and synchronization instructions that some thread has carried out."""

    def _written(self, place: Place) -> tuple[object, ...]:
        """What an instruction was made of."""
        return self.flow.blocks[place.block].instructions[place.index].written

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
            self.found.problems += barriers.with_cause(self._written)
        self.found.problems += self.cluster_barrier.problems + self.mbarriers.problems
        self.found.boxes = dict(self.bulk.boxes)
        unwritten = [each.unwritten for each in self.shadows]
        if self.data_dependent is None:
            # Where data decide what is stored where, cells may have been written all the same.
            unwritten += [each.unwritten_by_threads for each in self.shadows]
        self.found.unwritten = next((each for each in unwritten if each is not None), None)
        self.found.relied = any(each.relied for each in self.shadows) or bool(self.choices)
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
                stays = (self.blocks[here] == number) & (self.indices[here] == index)
                if not (stays & (self.state[here] == AT_COLLECTIVE)).all():
                    return True
        return bool(woken)

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
        if matters and self.test_waits.tokens:
            self.test_waits.refuse(instruction, place, who)
        if matters and self.held(instruction, who, place).size:
            self.reached.add(place)
        if form is not None:
            return self._form(form, instruction, place, who)
        if place in self.needed.accesses:
            self.access(instruction, place, self.held(instruction, who, place))
        elif instruction.name in ("shfl", "vote", "redux"):
            who = self._exchange(instruction, place, who)
            if self.test_waits.tokens and who.size:
                self.test_waits.exchange(instruction, who)
            return who
        else:
            self.compute(instruction, place, who)
            if self.test_waits.tokens:
                self.test_waits.follow(instruction, who)
        return who

    def _leave(self, number: int, who: Threads) -> None:
        if self.test_waits.tokens:
            self.test_waits.at_branch(number, who)
        super()._leave(number, who)

    def _form(self, form: forms.Form, instruction: Instruction, place: Place, who: Threads) -> Threads:
        """Carries out a synchronization or asynchronous instruction; the threads that go on at once are returned."""
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

    def _hardware(
        self, form: forms.HardwareBarrier, instruction: Instruction, place: Place, who: Threads
    ) -> Threads:
        """`bar` and `barrier`, for each number and count that some threads name; those that go on are returned."""
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

    # ---- mbarriers

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
        barriers = self.hardware[self.ranks[thread]]
        phase, again = barriers.waiting_for(thread), barriers.held_back_at(thread)
        if phase is None and again is None:
            other = int(self.cluster_barrier.missing(self.live())[0])
            there = Place(int(self.blocks[other]), int(self.indices[other]))
        text = "thread {1} waits at a barrier that never completes"
        if phase is None and again is not None:
            phase, text = (
                again,
                f"thread {{1}} arrives once more at barrier {again.number}, which never completes",
            )
        if phase is not None and phase.count is not None:
            text += f": {phase.arrived} of {phase.count} threads have arrived"
        elif other != thread:
            text += ", and thread {0} waits elsewhere"
        fix = "let as many threads arrive at the barrier as it counts"
        self.found.problems.append(Problem("FP002", text, (there, here), (other, thread), fix))
