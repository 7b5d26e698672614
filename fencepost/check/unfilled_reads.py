"""Reads that a wait for an mbarrier lets pass before the bytes are written for the first time.

A wait with the parity of the phase before the first one passes at once. That is how whoever fills a slot begins, for
all slots are empty. Whoever reads a slot and begins like that reads what nobody has written. If the other side has
the other parity as well, the two are in order, and nothing races: what is read is garbage all the same.

Reading bytes that nobody has written is no race, and a kernel may have its reasons. So a read is reported only if all
of this holds in a run:

* nothing has been written to any of its bytes;
* the wave has passed, or knows of, a wait for an mbarrier of which no phase was complete;
* somebody writes these bytes later, ordered behind the read;
* whoever writes them arrives for the first phase of that same mbarrier, to say that they are written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fencepost.check.concrete_access import Bytes, shown
from fencepost.check.mbarrier_state import WAITS, Clock, Mbarrier, Mbarriers, PassedWait
from fencepost.check.report import UNFILLED, Deadlock
from fencepost.ir import ops

if TYPE_CHECKING:
    from fencepost.check.simulate import Simulation
    from fencepost.check.simulated_waves import Logged, WaveState

BEFORE_THE_FIRST = -1
"""The phase that a wait is for that passes although no phase is complete."""


@dataclass(slots=True)
class EarlyRead:
    """A read of bytes that nobody has written, behind a wait that passed at once."""

    read: Logged
    wait: PassedWait
    mbarrier: Mbarrier
    filled: list[Logged] = field(default_factory=list)
    """What is written there later, in order,"""
    announced: Logged | None = None
    """and which of it the first phase of the mbarrier is for."""


class UnfilledReads:
    """The early reads of one simulation."""

    def __init__(self, run: Simulation, mbarriers: Mbarriers) -> None:
        self.run = run
        self.mbarriers = mbarriers
        self.written: set[Bytes] = set()
        self.early: list[EarlyRead] = []

    def accessed(self, state: WaveState, entries: list[Logged]) -> None:
        """A wave, or its engine, accesses data."""
        for entry in entries:
            if not entry.effect.writes:
                self.read(state, entry)
                continue
            self.written.add(entry.bytes)
            for early in self.early:
                if early.read.bytes.meets(entry.bytes) and self.follows(entry, early.read, state):
                    early.filled.append(entry)

    def read(self, state: WaveState, entry: Logged) -> None:
        """Keep a read that comes before all writes and behind a wait that passed at once."""
        passed = [(found, wait) for found in self.mbarriers.at.values() for wait in self.passed(found, state)]
        if not passed:
            return
        self.run.explored.work += len(self.written)
        if not any(bytes_.meets(entry.bytes) for bytes_ in self.written):
            self.early += [EarlyRead(entry, wait, found) for found, wait in passed]

    def passed(self, found: Mbarrier, state: WaveState) -> list[PassedWait]:
        """The wait that a wave has passed, or knows that another has, before any phase was complete."""
        if found.known(state.knows):
            return []
        known = [
            wait
            for wait in found.looked.get(BEFORE_THE_FIRST, ())
            if state.knows.get((wait.wave, WAITS), 0) >= wait.number
        ]
        return known[-1:]

    def follows(self, write: Logged, read: Logged, state: WaveState) -> bool:
        """Whether a write is ordered behind a read, and the program does not want it the other way round.

        If it is not ordered, the two race, and in the wrong order they are reported as well.
        """
        dropped = all(entry is not read for entry in self.run.log)
        in_order = read.wave == state.wave or dropped or read.is_known(state.knows)
        return in_order and (
            read.event.number < write.event.number or self.run.on_opposite_sides(read.event, write.event)
        )

    def arrives(self, state: WaveState, found: Mbarrier, clock: Clock) -> None:
        """A wave, or its engine, arrives for the first phase of an mbarrier: it says what it has written."""
        for early in self.early:
            if early.mbarrier is found and early.announced is None:
                mine = (write for write in early.filled if write.wave == state.wave and write.is_known(clock))
                early.announced = next(mine, None)

    def first_phase_completes(self, found: Mbarrier) -> None:
        """Whoever waits for the first phase of an mbarrier knows now what is written: early reads did not wait."""
        for early in sorted(self.early, key=lambda early: early.read.wave):
            if early.mbarrier is found and early.announced is not None:
                self.report(early, early.announced)
        self.early = [early for early in self.early if early.mbarrier is not found]

    def report(self, early: EarlyRead, filled: Logged) -> None:
        """One read."""
        read = early.read
        op = shown(read.event.op)
        assert isinstance(op, ops.MemoryOperation)
        where = read.bytes
        views = " and ".join(map(str, op.views))
        text = f"wave {read.wave} reads {views} before anybody has written to it"
        marks = (
            (early.wait.op, f"no phase of {early.mbarrier.view} is complete: this wait returns at once"),
            (op, f"wave {read.wave} reads bytes {where.lo}..{where.hi}, which nobody has written yet"),
            (shown(filled.event.op), f"wave {filled.wave} fills them afterwards"),
        )
        self.run.deadlocks.append(Deadlock(UNFILLED, text, marks))
