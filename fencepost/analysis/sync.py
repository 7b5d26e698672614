"""What a barrier or wait does to what is pending and in flight."""

from __future__ import annotations

from typing import NamedTuple

from fencepost.flow import Position
from fencepost.ir.ops import LDS_COUNTER

ALL = -1
"""Every bit."""


class Sync(NamedTuple):
    """A barrier, a wait, or a barrier that waits first."""

    completes: int = 0
    """Bits in flight that are complete behind it."""
    rendezvous: bool = True
    """Whether all waves meet: what is pending, and what has just been completed, is ordered."""
    counts: tuple[tuple[str, int], ...] = ()
    """What it waits for: counters, and how many operations of each may be outstanding.

    One that drains every engine has no counts, except of the LDS counter."""
    wait: int = 0
    """The split barrier, by its number among those of the program, that is waited for here; 0 for none."""
    signal: int = 0
    """The one that is signalled here, after whatever is waited for."""
    raw: bool = False
    """A rendezvous without a fence; distinguished only where groups of waves are skewed (see `skew`)."""
    times: int = 1
    """How many barriers stand here, one behind the other: skewed waves may need several."""

    @property
    def fences(self) -> bool:
        """Whether a wave's own accesses to shared memory are complete behind it."""
        return (self.rendezvous and not self.raw) or (LDS_COUNTER, 0) in self.counts

    @property
    def drains(self) -> bool:
        """Whether it waits for everything in flight."""
        return self.completes == ALL

    @property
    def is_barrier(self) -> bool:
        """Whether it becomes a barrier: all waves meet, or there is no count to wait with."""
        return self.rendezvous or self.drains

    @property
    def does_anything(self) -> bool:
        """Whether it is more than nothing at all."""
        return self.rendezvous or self.drains or bool(self.counts or self.wait or self.signal)

    @property
    def is_split(self) -> bool:
        """Whether it is half of a barrier."""
        return bool(self.wait or self.signal)

    def joined(self, other: Sync) -> Sync:
        """One that does what both do."""
        meets = self.rendezvous or other.rendezvous
        times = max(self.times, other.times)
        if self.drains or other.drains:
            fenced = not meets and (self.fences or other.fences)
            return Sync(ALL, meets, ((LDS_COUNTER, 0),) if fenced else (), times=times)
        counts = dict(self.counts)
        for counter, count in other.counts:
            counts[counter] = min(count, counts.get(counter, count))
        # A rendezvous that waits for anything is a barrier, and fences.
        raw = meets and not counts and all(sync.raw for sync in (self, other) if sync.rendezvous)
        return Sync(self.completes | other.completes, meets, tuple(counts.items()), raw=raw, times=times)


PLAIN = Sync()
"""A barrier that orders what is pending."""
DRAIN = Sync(ALL)
"""A barrier that waits for everything in flight first."""

Placement = dict[Position, Sync]
"""Barriers and waits, and where they stand."""
