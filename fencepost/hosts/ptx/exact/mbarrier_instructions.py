"""Instructions on mbarriers, and waits for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fencepost.hosts.ptx.exact import forms
from fencepost.hosts.ptx.exact.mbarriers import SIZE, Operation, Wait
from fencepost.hosts.ptx.exact.problems import Problem
from fencepost.hosts.ptx.exact.shadow import Touch
from fencepost.hosts.ptx.exact.spin_loops import waiting_loop
from fencepost.hosts.ptx.exact.warp_instructions import WarpInstructions
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.module import Instruction
from fencepost.hosts.ptx.runs.simulation_setup import AT_BARRIER, Threads


class MbarrierInstructions(WarpInstructions):
    """Threads that arrive on mbarriers and wait for them."""

    def mbarrier_at(self, place: Place, address: int, who: Threads) -> None:
        """Notes that an mbarrier is used, as an atomic access to its eight bytes."""
        starts = np.full(who.shape, address, dtype=np.int64)
        clocks = self.clocks.own(who)
        self.touch(Touch("atomic", self.number_of(place), who, starts, SIZE, who, clocks, element=SIZE))

    def _mbarrier(self, form: forms.Mbarrier, place: Place, who: Threads) -> None:
        where = self.shared_addresses(form.address, who, place, form.near)
        amounts = np.ones(who.shape, dtype=np.uint64)
        if form.amount is not None:
            amounts = self.certain(form.amount, who, 32, place)
        for address, amount in sorted({(int(a), int(n)) for a, n in zip(where, amounts, strict=True)}):
            here = who[(where == address) & (amounts == amount)]
            far = self.ranks[here] != address // self.memory.span
            for threads, from_afar in ((here[~far], False), (here[far], True)):
                # An arrival for the threads of its own block passes on nothing to others.
                relaxed = form.relaxed or (from_afar and form.of_block)
                if threads.size:
                    self._operate(form, Operation(place, threads, amount, relaxed, from_afar), address)

    def _operate(self, form: forms.Mbarrier, operation: Operation, address: int) -> None:
        """`mbarrier.init`, `inval`, `arrive` and `expect_tx` on one mbarrier."""
        who, place = operation.threads, operation.place
        self.mbarriers.come(place, who)
        if form.does in ("init", "inval"):
            self._make_or_end(form, operation, address)
            return
        found = self.mbarriers.used(address, place, who)
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
            clocks = (self.groups[who] + 1).astype(np.int32)
            self.groups[who] += 1
            woken = self.mbarriers.copies_arrive(
                found, operation, lambda part: self.clocks.just(columns[part], clocks[part]), form.counted
            )
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
            self.spins[place] = repeated or self.setup.test_waits_succeed
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
        """Threads wait for one phase of one mbarrier; those that go on at once are returned."""
        address, phase = what
        found = self.mbarriers.used(address, place, who)
        if found is None:
            self.not_made(place, address, who)
            return [who]
        self.mbarrier_at(place, address, who)
        targets = np.full(who.shape, phase + 1)
        if form.does == "wait parity":
            targets = self.mbarriers.targets(found, who, phase & 1, place)
        on = []
        for target in map(int, np.unique(targets)):
            here = who[targets == target]
            if not self.spins[place]:
                self.test_waits.failed(form, place, here, (address, target))
                on.append(here)
                continue
            self.test_waits.at_wait(form, place, here, (address, target))
            self.test_waits.succeeded(form, here)
            if self.mbarriers.wait(found, Wait(place, here, form.relaxed, form.of_block), target):
                on.append(here)
            else:
                self.state[here] = AT_BARRIER
        return on
