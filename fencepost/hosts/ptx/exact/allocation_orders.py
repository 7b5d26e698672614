"""Whether the warps of a block allocate tensor memory in an order that every schedule keeps.

A block allocates no more columns than the time before, and none once it has given up the right to. Warps that nothing
orders may do so in any order, of which a run shows one. And a warp that has to wait for memory must not be what the
warps that hold it wait for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from fencepost.hosts.ptx.exact.clocks import Clock
from fencepost.hosts.ptx.exact.tensor_shadow import COLUMNS
from fencepost.hosts.ptx.proof.intervals import Place


@dataclass(frozen=True)
class Event:
    """A warp allocates, frees, or gives up the right to allocate; said of one of its threads."""

    does: Literal["alloc", "dealloc", "relinquish"]
    first: int
    columns: int
    place: Place
    thread: int
    clock: int
    knows: Clock
    """How far it knows each thread to have come."""

    def is_after(self, other: Event) -> bool:
        """Whether it comes after something else in every schedule, having come later in one."""
        return int(self.knows[other.thread]) >= other.clock


@dataclass(frozen=True)
class Allocation:
    """Columns from where they are allocated to where they are freed, with the numbers of these events in the run."""

    at: int
    made: Event
    until: int | None
    freed: Event | None


def out_of_order(events: Sequence[Event]) -> Iterator[tuple[Event, str, str]]:
    """Events of one block, in the order of a run, that may come too late or too early in another schedule."""
    for number, later in enumerate(events):
        for earlier in (each for each in events[:number] if not later.is_after(each)):
            kinds = (earlier.does, later.does)
            if kinds == ("alloc", "alloc") and earlier.columns > later.columns:
                text = "may allocate more columns of tensor memory than the allocation before it"
                yield earlier, text, "allocate all parts in one warp, the largest first, or order the warps"
            if kinds == ("alloc", "relinquish"):
                text = "may allocate tensor memory when its block has given up the right to"
                yield earlier, text, "order tcgen05.relinquish_alloc_permit behind all allocations"


def holds_and_waits(events: Sequence[Event]) -> Place | None:
    """An allocation that may have to wait for memory which is freed only behind it; None if there is none."""
    every = list(_allocations(events))
    for each in every:
        live = [other for other in every if other is not each and _may_be_live(other, each)]
        if each.made.columns + sum(other.made.columns for other in live) <= COLUMNS:
            continue
        if any(_is_freed_behind(other, each) for other in live):
            return each.made.place
    return None


def _allocations(events: Sequence[Event]) -> Iterator[Allocation]:
    for number, event in enumerate(events):
        if event.does == "alloc":
            freed = [
                (at, each)
                for at, each in enumerate(events)
                if at > number and each.does == "dealloc" and each.first == event.first
            ]
            yield Allocation(number, event, *(freed[0] if freed else (None, None)))


def _may_be_live(held: Allocation, wanted: Allocation) -> bool:
    """Whether there may be something allocated and not yet freed when something else is allocated."""
    if held.at > wanted.at and held.made.is_after(wanted.made):
        return False
    if held.freed is None or held.until is None:
        return True
    return not (wanted.at > held.until and wanted.made.is_after(held.freed))


def _is_freed_behind(held: Allocation, wanted: Allocation) -> bool:
    """Whether what is allocated is freed only once something else has been allocated, or never."""
    if held.freed is None or held.until is None:
        return True
    return held.until > wanted.at and held.freed.is_after(wanted.made)
