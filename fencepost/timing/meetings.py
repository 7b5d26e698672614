"""Barriers: the k-th arrival of one wave meets the k-th of every other, whatever line each stands on."""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.timing.wave import Wave


@dataclass(slots=True)
class Meeting:
    """One phase of one barrier."""

    arrived: int = 0
    time: int = 0
    """When every arrival so far is known to all waves."""
    waiting: list[Wave] = field(default_factory=list)
    """The waves that stand there."""


@dataclass(slots=True)
class Meetings:
    """All barriers of a workgroup, by number and phase."""

    workgroup: int
    phases: dict[tuple[int, int], Meeting] = field(default_factory=dict)

    def of(self, barrier: int, phase: int) -> Meeting:
        """One phase of a barrier."""
        return self.phases.setdefault((barrier, phase), Meeting())

    def arrive(self, wave: Wave, barrier: int, known: int) -> list[Wave]:
        """`wave` arrives, which the others know at `known`; returns the waves that this lets through."""
        phase = wave.arrivals.get(barrier, 0)
        wave.arrivals[barrier] = phase + 1
        wave.known[barrier] = known
        meeting = self.of(barrier, phase)
        meeting.arrived += 1
        meeting.time = max(meeting.time, known)
        if meeting.arrived < self.workgroup:
            return []
        let_through, meeting.waiting = meeting.waiting, []
        return let_through

    def complete(self, wave: Wave, barrier: int) -> Meeting | None:
        """The phase that `wave` waits for, if all waves have arrived for it; otherwise the wave stands there."""
        meeting = self.of(barrier, wave.waits.get(barrier, 0))
        if meeting.arrived == self.workgroup:
            return meeting
        meeting.waiting.append(wave)
        return None
