"""A wave as a simulation runs it: what it still has to run, what it has issued, what it knows."""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.check.concrete_access import Bytes, Effect
from fencepost.check.mbarrier_state import Clock
from fencepost.check.paths import Visit
from fencepost.ir import ops

Meeting = int | tuple[int, int]
"""A barrier by its number, or the waves that meet at it where only some do."""


@dataclass(slots=True)
class Event:
    """One operation as one wave runs it. `number` is its place in the sequence that all waves share."""

    op: ops.Operation
    visit: Visit
    number: int
    waves: frozenset[int] = frozenset()
    """The waves that run it."""


@dataclass(slots=True)
class Logged:
    """An access that has been issued."""

    event: Event
    wave: int
    effect: Effect
    place: int
    """It was the wave's operation number `place` on its counter, from 1."""
    bytes: Bytes
    arrived: int
    """Barriers that the wave had met."""
    alone: str = ""
    """For a copy that arrives on an mbarrier: what stands for its own completion, whatever else is complete."""

    def is_known(self, clock: Clock) -> bool:
        """Whether it is complete, as far as `clock` knows."""
        if clock.get((self.wave, self.effect.channel), 0) >= self.place:
            return True
        return bool(self.alone) and (self.wave, self.alone) in clock


@dataclass(slots=True)
class WaveState:
    """One wave: what it still has to run, what it has issued, what it knows."""

    wave: int
    events: list[Event]
    at: int = 0
    issued: dict[str, int] = field(default_factory=dict)
    closed: dict[str, list[int]] = field(default_factory=dict)
    """For each counter of groups: what had been issued when each group was closed."""
    knows: Clock = field(default_factory=dict)
    arrivals: dict[Meeting, int] = field(default_factory=dict)
    waits: dict[Meeting, int] = field(default_factory=dict)
    signals: dict[Meeting, ops.Operation] = field(default_factory=dict)
    """For each barrier, the latest operation that arrived at it."""
    arrived_here: bool = False
    """At a barrier: it has arrived and now waits for the others."""
    read_at: dict[int, int] = field(default_factory=dict)
    """For each read, and each name that holds what was read, its latest place on the LDS counter."""

    def complete(self, counter: str, upto: int) -> None:
        """Everything on `counter` up to that place is complete."""
        key = (self.wave, counter)
        if upto > self.knows.get(key, 0):
            self.knows[key] = upto


def meeting_of(op: ops.Operation) -> Meeting:
    """The barrier that an operation is about."""
    if isinstance(op, ops.SharedMemoryBarrier) and op.waves is not None:
        return op.waves
    bar_id: int = getattr(op, "bar_id", ops.WORKGROUP)
    return bar_id


def meets(wave: int, meeting: Meeting) -> bool:
    """Whether a wave takes part in a barrier."""
    return isinstance(meeting, int) or meeting[0] <= wave < meeting[1]


def join(one: Clock, other: Clock) -> Clock:
    """What either knows."""
    joined = dict(one)
    for key, count in other.items():
        if count > joined.get(key, 0):
            joined[key] = count
    return joined
