"""Barriers and waits, and what they do to what is pending and in flight: the transfer functions of the dataflow.

`Program.after_step` applies them to an operation, `Program.after_sync` to a barrier or wait; what is in flight is
changed there.

There are two of them. Where all waves run in step (`InStep`), a rendezvous orders everything that is pending, and a
split barrier what was pending when it was arrived at. Where groups of waves are skewed, or it matters when each
wave's accesses are complete, there is more to distinguish: `skew.transfer`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

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


class Turn(NamedTuple):
    """What happens to pending bits at an operation, beside what it adds; only skewed waves have such."""

    completes: int = 0
    """Bits that are complete from here on, on the layers of unfinished and owed ones."""
    owes: tuple[tuple[int, int], ...] = ()
    """Unfinished bits that have to be complete soon: which, and how many places further up they are owed."""
    meets: frozenset[int] | None = None
    """The groups that meet a barrier here."""
    drops: int = 0


class WavesApart(NamedTuple):
    """Two groups of waves between which something is pending."""

    first: int
    second: int
    """Their waves, as masks."""
    behind: int
    """How many rendezvous the first is behind the second."""


class Transfer(Protocol):
    """How pending bits change."""

    @property
    def copies(self) -> int:
        """Times this, bits of classes are there for every pair of groups of waves."""

    @property
    def spread(self) -> int:
        """Times this, they are there for every split barrier as well."""

    @property
    def counts_rendezvous(self) -> bool:
        """Whether two barriers in one place are more than one, and a fence alone orders something."""

    def classes(self, pending: int) -> int:
        """The bits of classes among pending ones."""

    def completed_copies(self, bits: int) -> int:
        """Bits of what was in flight, as they are once it is complete: pending."""

    def through(self, sync: Sync, pending: int) -> int:
        """What is pending behind a barrier or wait."""

    def turned(self, turn: Turn, pending: int) -> int:
        """What is pending behind an operation."""

    def missing(self, hit: int, instance: int) -> int:
        """How many rendezvous are missing for pending bits that conflict; 0 if a fence is enough."""

    def apart(self, hit: int, instance: int) -> WavesApart | None:
        """The groups that pending bits which conflict are about; None if any two waves can be."""


@dataclass(slots=True)
class InStep:
    """All waves meet the same barriers, one behind the other."""

    width: int
    """Bits of all classes."""
    splits: int = 0
    """How many split barriers there are: for each, the bits are there once more."""
    copies: int = 1
    counts_rendezvous: bool = False
    spread: int = field(init=False)

    def __post_init__(self) -> None:
        self.spread = sum(1 << number * self.width for number in range(1 + self.splits))

    def classes(self, pending: int) -> int:
        """See `Transfer`."""
        return pending & ((1 << self.width) - 1) if self.splits else pending

    def completed_copies(self, bits: int) -> int:
        """See `Transfer`."""
        return bits * self.spread

    def through(self, sync: Sync, pending: int) -> int:
        """See `Transfer`."""
        if sync.rendezvous:
            return 0
        every = (1 << self.width) - 1
        if sync.wait:
            since = pending >> sync.wait * self.width & every
            pending &= ~(every & ~since)
        if sync.signal:
            pending &= ~(every << sync.signal * self.width)
        return pending

    def turned(self, turn: Turn, pending: int) -> int:
        """See `Transfer`."""
        raise AssertionError("only skewed waves have turns")

    def missing(self, hit: int, instance: int) -> int:
        """See `Transfer`."""
        del instance
        return int(bool(hit))

    def apart(self, hit: int, instance: int) -> WavesApart | None:
        """See `Transfer`."""
        del hit, instance
        return None
