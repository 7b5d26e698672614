"""What becomes of pending accesses: the transfer functions of the dataflow.

`Program.after_step` applies them to an operation, `Program.after_sync` to a barrier or wait; what is in flight is
changed there.

There are two of them. Where all waves run in step (`InStep`), a rendezvous orders everything that is pending, and a
split barrier what was pending when it was arrived at. Where groups of waves are skewed, or it matters when each
wave's accesses are complete, there is more to distinguish: `skew.transfer`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from fencepost.analysis.sync import Sync


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
