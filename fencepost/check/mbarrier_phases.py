"""Waves that use mbarriers: they arrive and wait, and engines arrive.

What goes wrong there: a phase that a wait can miss, an arrival that can come too early, a wait that never ends.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fencepost.check.concrete_access import LDS, LDS_READ, Bytes, Effect, exactly, touched
from fencepost.check.lockstep import has_mbarriers
from fencepost.check.mbarrier_lifetimes import Lifetimes
from fencepost.check.mbarrier_state import (
    WAITS,
    Clock,
    Mbarrier,
    Mbarriers,
    alone_name,
    join_into,
    without_old,
)
from fencepost.check.report import Deadlock
from fencepost.check.unfilled_reads import UnfilledReads
from fencepost.ir import ops
from fencepost.ir.buffers import View
from fencepost.ir.expr import evaluate

if TYPE_CHECKING:
    from fencepost.check.simulate import Simulation
    from fencepost.check.simulated_waves import Event, Logged, WaveState

NEVER = 1 << 62
"""A place on a counter that no wait gets to."""


class MbarrierPhases:
    """The mbarriers of one simulation."""

    def __init__(self, run: Simulation) -> None:
        self.run = run
        self.mbarriers = Mbarriers()
        self.lifetimes = Lifetimes(self.mbarriers, run.deadlocks)
        self.unfilled = UnfilledReads(run, self.mbarriers) if has_mbarriers(run.flow) else None
        self.lost = False
        """An mbarrier that is not known was used: who waits for ever is not known."""
        self.early: list[tuple[Bytes, WaveState, ops.Operation, Clock, ops.Arrival, Logged]] = []
        """Engines that are done, in this run, before the mbarrier that they arrive on is made."""

    def forget(self, asked: set[tuple[int, str]]) -> None:
        """Nobody asks any more about copies that are not under way, and mbarriers that others took the place of."""
        for found in self.mbarriers.at.values():
            found.gathered = without_old(found.gathered, asked)
            found.phases[-2:] = [without_old(known, asked) for known in found.phases[-2:]]

    def data_accessed(self, state: WaveState, entries: list[Logged]) -> None:
        """Data is read, or written: mbarriers that have the bytes written to are none any more."""
        if self.unfilled is not None:
            self.unfilled.accessed(state, entries)
        if self.mbarriers.at and entries[0].effect.writes:
            self.lifetimes.written_over(entries)

    def at(self, event: Event, view: View, wave: int) -> Bytes | None:
        """Where an mbarrier lies; None if that is not known."""
        return exactly(view, event.visit.env, wave, self.run.block(event).frame)

    def use(self, state: WaveState, event: Event, op: ops.MbarrierOperation) -> bool:
        """An operation on an mbarrier; False while the wave has to wait."""
        where = self.at(event, op.view, state.wave)
        if where is None:
            self.lost = True
            self.run.issue(state, event, op)
            return True
        if isinstance(op, ops.MbarrierInit):
            self.run.issue(state, event, op)
            self.lifetimes.made_again(self.run.log[-1], where)
            self.mbarriers.make(where, op, event.number)
            for early in self.early:
                if early[0] == where and early[-1].is_known(state.knows):
                    # Else it is a race, and found as one.
                    self.nothing_there(early[1], early[2], early[-2])
            self.let_arrive(where)
            return True
        found = self.mbarriers.find(where)
        if found is None:
            # Nobody has made it yet. If that is only a matter of time, it is a race as well, and found as one.
            return False
        if isinstance(op, ops.MbarrierInval) or found.ended is not None:
            self.run.issue(state, event, op)
            self.lifetimes.ends(found, self.run.log[-1], state)
            return True
        if isinstance(op, ops.MbarrierWait):
            return self.wait(state, event, op, found)
        self.run.issue(state, event, op)
        clock = dict(state.knows)
        if isinstance(op, ops.MbarrierArrive) and op.counter:
            # Its engine arrives, once all that the wave has issued is complete.
            clock[state.wave, op.counter] = state.issued.get(op.counter, 0)
            # No count tells when it does, only the mbarrier.
            alone = alone_name(op.counter, event.number)
            clock[state.wave, alone] = 1
            engine = Effect(True, True, atomic=True, counter=op.counter)
            self.run.log.append(replace(self.run.log[-1], effect=engine, place=NEVER, alone=alone))
        else:
            # The arrival takes its turn behind all that the wave has done in shared memory itself.
            for channel in (LDS, LDS_READ):
                clock[state.wave, channel] = state.issued.get(LDS, 0)
        if isinstance(op, ops.MbarrierExpect):
            self.arrive(state, op, found, clock, ops.Arrival(op.view, 1, -op.bytes))
        else:
            self.arrive(state, op, found, clock, ops.Arrival(op.view, op.count))
        return True

    def engine_arrives(self, state: WaveState, event: Event, op: ops.Operation, arrives: ops.Arrival) -> None:
        """The engine of a copy arrives on an mbarrier; it knows what the wave knew when it began.

        One that arrives does so in order: what the wave has issued before, on the same counter, is done as well.
        Bytes stand for their own copy alone.
        """
        self.touch(state, event, arrives)
        where = self.at(event, arrives.view, state.wave)
        if where is None:
            self.lost = True
            return
        copy = self.run.log[-1]
        found = self.mbarriers.find(where)
        if found is not None and found.ended is not None:
            self.lifetimes.ends(found, copy, state)
            return
        clock = {**state.knows, (state.wave, copy.alone): 1}
        if arrives.count:
            clock[state.wave, copy.effect.counter] = copy.place
        if self.is_made(where):
            self.early.append((where, state, op, clock, arrives, self.run.log[-1]))
            self.let_arrive(where)
        else:
            self.nothing_there(state, op, arrives)

    def nothing_there(self, state: WaveState, op: ops.Operation, arrives: ops.Arrival) -> None:
        """An engine arrives on an mbarrier that is not made, or only later."""
        text = f"wave {state.wave} has its engine arrive at {arrives.view}, which no mbarrier_init has made"
        why = "there is nothing to arrive at"
        self.run.deadlocks.append(Deadlock("early arrival", text, ((op, why),)))

    def touch(self, state: WaveState, event: Event, arrives: ops.Arrival) -> None:
        """An engine that arrives on an mbarrier changes it: whoever made that must be known already.

        What its own wave did to the mbarrier before, it finds done.
        """
        copy = self.run.log[-1]
        effect = Effect(True, True, atomic=True, counter=copy.effect.counter)
        for place in touched(arrives.view, event.visit.env, state.wave, self.run.block(event).frame):
            mine = replace(copy, effect=effect, bytes=place.bytes)
            for logged in self.run.log:
                if (
                    logged.wave != state.wave
                    and logged.effect.conflicts(effect)
                    and logged.bytes.meets(mine.bytes)
                ):
                    self.run.compare(logged, mine, state)
            self.run.log.append(mine)

    def is_made(self, where: Bytes) -> bool:
        """Whether somebody makes an mbarrier there, now or later."""
        return self.mbarriers.find(where) is not None or any(
            self.at(event, event.op.view, state.wave) == where
            for state in self.run.waves
            for event in state.events
            if isinstance(event.op, ops.MbarrierInit)
        )

    def let_arrive(self, where: Bytes) -> None:
        """Engines arrive that have waited for an mbarrier to be made; that they must not is found as a race."""
        found = self.mbarriers.find(where)
        if found is not None:
            ready = [each for each in self.early if each[0] == where]
            self.early = [each for each in self.early if each[0] != where]
            for _, state, op, clock, arrival, _ in ready:
                self.arrive(state, op, found, clock, arrival)

    def arrive(
        self, state: WaveState, op: ops.Operation, found: Mbarrier, clock: Clock, arrival: ops.Arrival
    ) -> None:
        """Somebody who knows `clock` arrives."""
        phase = len(found.phases)
        if found.known(clock) < phase:
            text = f"wave {state.wave} can arrive at {found.view} before phase {phase - 1} is over, and count for it"
            why = "nothing that it knows of says that the phase is complete"
            self.run.deadlocks.append(Deadlock("early arrival", text, ((op, why),)))
            # Reported once: from here on, it counts where this run has it.
            clock[found.channel] = phase
        if arrival.count and found.arrived + arrival.count > found.count:
            text = f"wave {state.wave} arrives at {found.view} more often than a phase takes"
            why = f"arrival {found.arrived + arrival.count} of {found.count}"
            self.run.deadlocks.append(Deadlock("early arrival", text, ((op, why),)))
        if self.unfilled is not None and phase == 0:
            self.unfilled.arrives(state, found, clock)
        for late in found.arrive(clock, arrival.count, arrival.bytes):
            self.missed(late.op, found, late.wave)
        if self.unfilled is not None and phase == 0 and found.phases:
            self.unfilled.first_phase_completes(found)
        if found.arrived == found.count and found.bytes < 0:
            # Everybody has arrived: nobody can say any more that these were expected.
            text = f"{-found.bytes} bytes arrive at {found.view} unexpected, and can count for the next phase"
            why = "the phase is complete as soon as all others have come"
            self.run.deadlocks.append(Deadlock("early arrival", text, ((op, why),)))

    def wait(self, state: WaveState, event: Event, op: ops.MbarrierWait, found: Mbarrier) -> bool:
        """Wait for the phase of a parity; False while it is not complete."""
        parity = evaluate(op.phase, event.visit.env, state.wave)
        known = found.known(state.knows)
        waits = parity is not None and known % 2 == parity % 2
        if waits and len(found.phases) <= known:
            return False
        # It looks at the mbarrier before it knows anything from it: whoever made that must be known already.
        self.run.issue(state, event, op)
        # Who has passed a wait is done with it: whoever hears of the wave from now on knows that.
        alone = alone_name(WAITS, event.number)
        self.run.log[-1] = replace(self.run.log[-1], alone=alone)
        state.knows[state.wave, alone] = 1
        if parity is None:
            # Taken to wait for nothing that is not known anyway.
            self.lost = True
        else:
            # A phase that is known already can be waited for again, as long as the one behind it is not complete.
            phase = known if waits else known - 1
            if self.mbarriers.look(state.wave, op, found, phase):
                self.missed(op, found, state.wave, None if waits else phase)
            if waits:
                join_into(state.knows, found.phases[known])
            state.complete(WAITS, self.mbarriers.passed[state.wave])
        return True

    def missed(self, op: ops.Operation, found: Mbarrier, wave: int, over: int | None = None) -> None:
        """A wave may come to a wait when the phase after the one that it waits for is complete, too.

        Where it knows that phase to be `over`, the wait was most likely meant for the next one.
        """
        text = (
            f"wave {wave} can come to {found.view} when the next phase is complete as well, and wait for ever"
        )
        why = "this wait can miss its phase: the next one may be complete first, and the parity repeats"
        if over is not None and over >= 0:
            text = f"wave {wave} waits for a phase of {found.view} that it knows to be complete"
            why = f"this waits for parity {over % 2} and returns at once; the next phase has parity {1 - over % 2}"
        self.run.deadlocks.append(Deadlock("missed phase", text, ((op, why),)))

    def stuck(self, waiting: list[WaveState]) -> None:
        """Waves wait for mbarriers for ever."""
        if self.lost:
            return
        found: dict[ops.Operation, str] = {}
        for state in waiting:
            op = state.events[state.at].op
            if op not in found:
                found[op] = f"wave {state.wave} waits here for ever: {self.missing(state)}"
        first = waiting[0]
        op = first.events[first.at].op
        assert isinstance(op, ops.MbarrierOperation)
        text = f"wave {first.wave} waits for {op.view} for ever: {self.missing(first)}"
        for state in waiting:
            made = self.awaited(state)
            if made is not None and made.arrived:
                found[made.made_by] = f"made here: a phase is complete after {made.count} arrivals"
        path = tuple(event.op for event in first.events[: first.at + 1])
        self.run.deadlocks.append(Deadlock("stuck", text, tuple(found.items()), path))

    def awaited(self, state: WaveState) -> Mbarrier | None:
        """The mbarrier that a wave waits for."""
        event = state.events[state.at]
        assert isinstance(event.op, ops.MbarrierOperation)
        where = self.at(event, event.op.view, state.wave)
        return None if where is None else self.mbarriers.find(where)

    def missing(self, state: WaveState) -> str:
        """What a wave waits for."""
        found = self.awaited(state)
        return "no mbarrier_init has made it" if found is None else found.missing()
