"""Mbarriers while waves run: who has arrived for which phase, and what a wave knows once it has waited.

A wave that waits for a parity may find the mbarrier in a later phase than it assumes, or in an earlier one, depending
on who runs how fast. What it can *rely* on does not depend on that: it knows so many phases to be complete (from its
own waits and those of waves that it synchronized with), and the parity asks for the next one or for one that it knows
already. So a wait adds the phase that follows what the wave knows, or nothing. Three things have to hold for this to
be what happens:

* who arrives knows that all phases before the one it means are complete, or its arrival can count for one of those;
* a wave has waited before the phase after the one that it waits for can be complete: the parity repeats;
* every phase that is waited for gets its arrivals and its bytes, and not more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fencepost.check.concrete_access import Bytes
from fencepost.ir import ops

if TYPE_CHECKING:
    from fencepost.check.simulated_waves import Logged

Clock = dict[tuple[int, str], int]
NOBODY = -1
"""In a clock: what is known of an mbarrier belongs to no wave."""
Key = tuple[object, int]
"""Where an mbarrier lies."""


@dataclass(slots=True)
class PassedWait:
    """A wait that was passed: whose, which one of its waits, and where."""

    wave: int
    number: int
    op: ops.Operation


@dataclass(slots=True)
class Mbarrier:
    """one mbarrier."""

    number: int
    """Which one of all that were made."""
    made: int
    """The event that made it,"""
    made_by: ops.MbarrierInit
    """and its operation."""
    arrived: int = 0
    bytes: int = 0
    """Bytes that are expected and have not come."""
    gathered: Clock = field(default_factory=dict)
    """What those who have arrived for the open phase knew."""
    phases: list[Clock] = field(default_factory=list)
    """For each phase that is complete, what is known with it."""
    looked: dict[int, list[PassedWait]] = field(default_factory=dict)
    """For each phase: who has waited for it; -1 is the one before the first."""
    where: Bytes | None = None
    ended: Logged | None = None
    """What has ended it: it is none any more."""

    @property
    def count(self) -> int:
        """Arrivals that a phase needs."""
        return self.made_by.count

    @property
    def view(self) -> str:
        """What it is called where it is made."""
        return str(self.made_by.view)

    @property
    def channel(self) -> tuple[int, str]:
        """Where clocks keep how many of its phases are known to be complete."""
        return NOBODY, f"mbarrier {self.number}"

    def known(self, clock: Clock) -> int:
        """How many of its phases are complete, as far as somebody knows."""
        return clock.get(self.channel, 0)

    def arrive(self, clock: Clock, count: int, brought: int = 0) -> list[PassedWait]:
        """Somebody who knows `clock` arrives, and brings bytes (or, below zero, says that they will come).

        Returns who may not have looked yet when a phase is complete by that.
        """
        # More arrivals than a phase takes are reported, and count for nothing.
        self.arrived = min(self.arrived + count, self.count)
        self.bytes -= brought
        join_into(self.gathered, clock)
        if self.arrived < self.count or self.bytes:
            return []
        phase = len(self.phases)
        late = [
            each
            for each in self.looked.get(phase - 1, ())
            if self.gathered.get((each.wave, WAITS), 0) < each.number
        ]
        self.arrived = 0
        done = self.gathered
        done[self.channel] = phase + 1
        if self.phases:
            join_into(done, self.phases[-1])
        self.phases.append(done)
        self.gathered = {}
        return late

    def missing(self) -> str:
        """What the open phase still waits for."""
        if not self.arrived and not self.bytes:
            return "nothing arrives for that phase"
        found = []
        if self.arrived < self.count:
            found.append(f"{self.arrived} of {self.count} arrivals have come")
        if self.bytes > 0:
            found.append(f"{self.bytes} bytes that were expected have not come")
        elif self.bytes < 0:
            found.append(f"{-self.bytes} bytes have come that were not expected")
        return " and ".join(found)


WAITS = "waits for mbarriers"
"""Where clocks keep how many of its waits a wave has passed."""


@dataclass(slots=True)
class Mbarriers:
    """All mbarriers of a run."""

    at: dict[Key, Mbarrier] = field(default_factory=dict)
    made: int = 0
    passed: dict[int, int] = field(default_factory=dict)
    """For each wave: how many waits it has passed."""

    def find(self, where: Bytes) -> Mbarrier | None:
        """The mbarrier at some bytes, if it has been made."""
        return self.at.get((where.space, where.lo))

    def make(self, where: Bytes, op: ops.MbarrierInit, event: int) -> None:
        """Make an mbarrier; waves that make it together make one."""
        before = self.find(where)
        if before is None or before.made != event:
            self.made += 1
            self.at[where.space, where.lo] = Mbarrier(self.made, event, op, where=where)

    def channels(self) -> set[tuple[int, str]]:
        """Where clocks keep what they know of the mbarriers that there are: nobody asks about others any more."""
        return {each.channel for each in self.at.values()}

    def over(self, where: Bytes) -> list[Mbarrier]:
        """The mbarriers that have some bytes, as far as they have not ended."""
        return [
            each
            for each in self.at.values()
            if each.ended is None and each.where is not None and each.where.meets(where)
        ]

    def look(self, wave: int, op: ops.Operation, found: Mbarrier, phase: int) -> bool:
        """A wave has passed its wait for a phase; whether the one after it was complete already."""
        self.passed[wave] = self.passed.get(wave, 0) + 1
        found.looked.setdefault(phase, []).append(PassedWait(wave, self.passed[wave], op))
        return len(found.phases) > phase + 1


ALONE = "alone "


def alone_name(counter: str, event: int) -> str:
    """Where clocks keep that one operation of an engine is complete, whatever else is."""
    return f"{ALONE}{counter} {event}"


def without_old(clock: Clock, asked: set[tuple[int, str]]) -> Clock:
    """A clock without operations of engines and mbarriers that nobody asks about any more."""
    return {
        key: count
        for key, count in clock.items()
        if key in asked or not (key[0] == NOBODY or key[1].startswith(ALONE))
    }


def join_into(clock: Clock, other: Clock) -> None:
    """Add what another clock knows."""
    for key, count in other.items():
        if count > clock.get(key, 0):
            clock[key] = count
