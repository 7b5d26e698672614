"""What is pending at one point of a kernel, operation by operation: the state of the membar analysis.

Accesses are in three containers: committed writes, reads, and operations of engines that are in flight. A wait
moves what it completes from the third to the other two; a barrier empties those two. The proposal for Triton's
membar lets a barrier clear all three; here it leaves what is in flight, because an engine knows nothing of barriers:
its copy can land long after one.

The bit sets of `program` are the fast form of this for whole kernels; this is the readable one. It takes it that
there are several waves and that every wave can touch every byte of a view; what is not a constant is unknown, and
unknown is the whole allocation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from fencepost.analysis.access import MemoryAccessType, Region, access_type, regions_of, update_of
from fencepost.analysis.conflicts import Filter
from fencepost.ir import ops
from fencepost.ir.buffers import View
from fencepost.ir.expr import LANE, evaluate


def _slot_known(view: View) -> bool:
    return view.slot is None or evaluate(view.slot, {LANE: 0}) is not None


class Access(NamedTuple):
    """An operation, and how far on the placed allocations of its function stand."""

    op: ops.MemoryOperation
    frame: int = 0

    def regions(self) -> list[Region]:
        """Every byte that it can touch; where the slot is not known, every byte of the allocation."""
        views = (view if _slot_known(view) else view.buffer.whole() for view in self.op.views)
        return [region for view in views for region in regions_of(view, {}, self.frame)]

    def conflicts_with(self, later: Access, ignore: Filter | None = None) -> bool:
        """Whether two waves could tell in which order the two happen."""
        one, other = self.op, later.op
        if access_type(one) is access_type(other) is MemoryAccessType.READ:
            return False
        if update_of(one) is not None and update_of(one) == update_of(other):
            return False
        if (
            isinstance(one, ops.AsyncCopy)
            and isinstance(other, ops.AsyncCopy)
            and one.counter == other.counter
        ):
            return False  # one engine keeps the order of its writes
        if not any(mine.overlaps(theirs) for mine in self.regions() for theirs in later.regions()):
            return False
        return ignore is None or not ignore(one, other)


Accesses = dict[Access, None]
"""A set of accesses that keeps their order."""


class Between(IntEnum):
    """What must lie between two accesses; of two demands the greater one meets both."""

    NOTHING = 0
    BARRIER = 1
    WAIT_AND_BARRIER = 2


class Need(NamedTuple):
    """What must lie in front of an access, and because of which earlier ones."""

    between: Between = Between.NOTHING
    conflicts: tuple[ops.MemoryOperation, ...] = ()

    def joined(self, other: Need) -> Need:
        """What meets both."""
        conflicts = tuple(dict.fromkeys((*self.conflicts, *other.conflicts)))
        return Need(max(self.between, other.between), conflicts)


@dataclass(slots=True)
class BlockInfo:
    """What is pending: committed writes, reads, and operations in flight in the order of their issue."""

    sync_writes: Accesses = field(default_factory=dict)
    """Nothing but a barrier orders them before a later read or write."""
    sync_reads: Accesses = field(default_factory=dict)
    """Nothing but a barrier orders them before a later write."""
    in_flight: dict[Access, int] = field(default_factory=dict)
    """Each with how many operations of its counter are certain to have been issued after it; -1 while its group,
    where a counter counts groups, is open."""

    def issue(self, op: ops.MemoryOperation, frame: int = 0, *, in_group: bool = False) -> None:
        """An access is made or, for an engine, begun; `in_group` if its counter counts groups."""
        access = Access(op, frame)
        if not isinstance(op, ops.AsyncOperation):
            self.commit(access)
            return
        if not in_group:
            self.count(op.counter)
        self.in_flight.pop(access, None)  # the latest instance is the one that is waited for last
        self.in_flight[access] = -1 if in_group else 0

    def commit(self, access: Access) -> None:
        """From now on a barrier would order it."""
        kind = access_type(access.op)
        if kind is not MemoryAccessType.READ:
            self.sync_writes[access] = None
        if kind is not MemoryAccessType.WRITE:
            self.sync_reads[access] = None

    def count(self, counter: str) -> None:
        """An operation of a counter is issued, or a group ends: what was in flight has one more after it."""
        for access in self._of(counter):
            self.in_flight[access] += 1

    def wait(self, counter: str, most: int) -> None:
        """All but the `most` latest operations of a counter are complete: promote them."""
        self._promote(access for access in self._of(counter) if self.in_flight[access] >= most)

    def drain(self) -> None:
        """Everything in flight is complete."""
        self._promote(list(self.in_flight))

    def barrier(self) -> None:
        """All waves meet: what is committed is ordered. What is in flight stays pending: only a wait completes it."""
        self.sync_writes.clear()
        self.sync_reads.clear()

    def join(self, other: BlockInfo) -> bool:
        """Where paths meet, what is pending on either is pending; tells whether that is more than before."""
        before = (len(self.sync_writes), len(self.sync_reads), dict(self.in_flight))
        self.sync_writes |= other.sync_writes
        self.sync_reads |= other.sync_reads
        for access, later in other.in_flight.items():
            self.in_flight[access] = min(later, self.in_flight.get(access, later))
        if before == (len(self.sync_writes), len(self.sync_reads), self.in_flight):
            return False
        self.in_flight = dict(sorted(self.in_flight.items(), key=lambda entry: -entry[1]))
        return True

    def needs(self, op: ops.MemoryOperation, frame: int = 0, ignore: Filter | None = None) -> Need:
        """What must lie between what is pending and `op`; pairs for which `ignore` says so are left alone."""
        later = Access(op, frame)

        def because(pending: Iterable[Access], between: Between) -> Need:
            found = tuple(access.op for access in pending if access.conflicts_with(later, ignore))
            return Need(between, found) if found else Need()

        waiting = because(self.in_flight, Between.WAIT_AND_BARRIER)
        return waiting.joined(because(self.sync_writes | self.sync_reads, Between.BARRIER))

    def copy(self) -> BlockInfo:
        """The same, to go on from."""
        return BlockInfo(dict(self.sync_writes), dict(self.sync_reads), dict(self.in_flight))

    def _of(self, counter: str) -> list[Access]:
        return [
            access
            for access in self.in_flight
            if isinstance(access.op, ops.AsyncOperation) and access.op.counter == counter
        ]

    def _promote(self, complete: Iterable[Access]) -> None:
        for access in complete:
            del self.in_flight[access]
            self.commit(access)
