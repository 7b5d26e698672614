"""What a barrier or wait does to what is pending and in flight."""

from __future__ import annotations

from typing import NamedTuple

from fencepost.flow import Position

ALL = -1
"""Every bit."""


class Cover(NamedTuple):
    """A barrier, a wait, or a barrier that waits first."""

    lands: int = 0
    """Bits in flight that are complete behind it."""
    rendezvous: bool = True
    """Whether all waves meet: what is pending, and what has just been completed, is ordered."""
    counts: tuple[tuple[str, int], ...] = ()
    """What it waits for: counters, and how many operations of each may be outstanding. Draining has no counts."""
    wait: int = 0
    """The split barrier, by its number among those of the program, that is waited for here; 0 for none."""
    signal: int = 0
    """The one that is signalled here, after whatever is waited for."""

    @property
    def drains(self) -> bool:
        """Whether it waits for everything in flight."""
        return self.lands == ALL

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

    def joined(self, other: Cover) -> Cover:
        """One that does what both do."""
        if self.drains or other.drains:
            return Cover(ALL, self.rendezvous or other.rendezvous)
        counts = dict(self.counts)
        for counter, count in other.counts:
            counts[counter] = min(count, counts.get(counter, count))
        return Cover(self.lands | other.lands, self.rendezvous or other.rendezvous, tuple(counts.items()))


PLAIN = Cover()
"""A barrier that orders what is pending."""
DRAIN = Cover(ALL)
"""A barrier that waits for everything in flight first."""

Placement = dict[Position, Cover]
"""Barriers and waits, and where they stand."""
