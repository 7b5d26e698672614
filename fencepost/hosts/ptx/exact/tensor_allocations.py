"""Allocations of tensor memory: which columns of a block are whose, and what is done with others.

An allocation and what frees it are complete at once. They count as accesses to all lanes of their columns: whoever
uses the memory does so behind the one and before the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.exact.allocation_orders import Event, holds_and_waits, out_of_order
from fencepost.hosts.ptx.exact.clocks import Threads
from fencepost.hosts.ptx.exact.problems import NotExact, Problem
from fencepost.hosts.ptx.exact.shadow import Kind, Numbers, Touch
from fencepost.hosts.ptx.exact.tcgen05_forms import TensorAllocation
from fencepost.hosts.ptx.exact.tensor_shadow import CELL, COLUMNS, LANES, Operation, TensorShadow
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.module import Address, Operand

if TYPE_CHECKING:
    from fencepost.hosts.ptx.exact.run import Run

SIZES = (32, 64, 128, 256, 512)
"""How many columns can be allocated together."""


@dataclass(frozen=True)
class Area:
    """Some lanes of tensor memory, and columns from one on."""

    lanes: Numbers
    column: int
    columns: int

    def overlaps(self, other: Area) -> bool:
        """Whether two have a place in common."""
        apart = self.column + self.columns <= other.column or other.column + other.columns <= self.column
        return not apart and bool(np.intersect1d(self.lanes, other.lanes).size)


@dataclass
class Allocated:
    """Which columns of a block are allocated, and from where on how many."""

    used: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(COLUMNS, dtype=bool))
    parts: dict[int, tuple[int, Place, int]] = field(default_factory=dict)
    """By first column: how many, where that was, and a thread of the warp."""
    last: int = COLUMNS
    """How many the last allocation was of."""
    relinquished: bool = False
    events: list[Event] = field(default_factory=list)
    """What was done, in the order of the run."""

    def room(self, columns: int) -> int | None:
        """The first column of that many which are free."""
        for first in range(0, COLUMNS - columns + 1, columns):
            if not self.used[first : first + columns].any():
                return first
        return None


class TensorAllocations:
    """The columns of all blocks of a run, and who touched them."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.operations: dict[int, Operation] = {}
        self.shadows = [TensorShadow(run.clocks, rank, self.operations) for rank in range(run.cluster_size)]
        self.allocated = [Allocated() for _ in range(run.cluster_size)]
        self.problems: dict[tuple[Place, str], Problem] = {}

    def allocate(self, form: TensorAllocation, place: Place, lanes: Threads) -> bool:
        """A warp allocates or frees; whether it can go on."""
        rank = int(self.run.ranks[lanes[0]])
        block = self.allocated[rank]
        if form.does == "relinquish":
            block.relinquished = True
            self._happens(form, place, lanes, (0, 0))
            return True
        assert form.columns is not None and form.address is not None
        columns = int(self.run.certain(form.columns, lanes, 32, place)[0])
        if columns not in SIZES:
            text = f"{form.does}s {columns} columns of tensor memory, which is no power of two from 32 to 512"
            self.problem(place, lanes, text, "allocate 32, 64, 128, 256 or 512 columns")
            return True
        if form.does == "dealloc":
            self._free(form, columns, place, lanes)
            return True
        if block.relinquished:
            text = "allocates tensor memory although its block has given up the right to"
            self.problem(place, lanes, text, "allocate before tcgen05.relinquish_alloc_permit")
        if columns > block.last:
            text = "allocates more columns of tensor memory than the allocation before it"
            self.problem(place, lanes, text, "allocate the largest part first")
        first = block.room(columns)
        if first is None:
            return False
        block.last = columns
        block.used[first : first + columns] = True
        block.parts[first] = (columns, place, int(lanes[0]))
        self._happens(form, place, lanes, (first, columns))
        self.shadows[rank].forget(first, columns)
        self._whole("alloc", place, lanes, (first, columns))
        self._tell(form.address, first, place, lanes)
        return True

    def _tell(self, to: Operand, first: int, place: Place, lanes: Threads) -> None:
        """The address of what was allocated is stored into shared memory."""
        run, one = self.run, lanes[:1]
        assert isinstance(to, Address)
        where = run.shared_addresses(to, one, place, near=True)
        kept, starts = run.inside(place, one, where, CELL)
        if not kept.size:
            return
        bits = np.full(1, np.uint64(first), dtype=np.uint64)
        at = starts.astype(np.int64)
        # It is no store of a thread's: no proxy fence is asked for where an engine overwrites it.
        thread = int(kept[0])
        column = run.clocks.column(("tcgen05.alloc", thread), thread, False)
        clock = run.clocks.seen[kept, column] + 1
        run.clocks.learn(lanes, column, int(clock[0]))
        columns = np.array([column])
        run.touch(Touch("write", run.number_of(place), kept, at, CELL, columns, clock, values=(bits,)))
        run.mbarriers.overwrite(starts, CELL, place, lanes)
        run.memory.store_shared(starts, CELL, bits)
        run.shared_made_up[at[:, None] + np.arange(CELL)] = False

    def _happens(self, form: TensorAllocation, place: Place, lanes: Threads, what: tuple[int, int]) -> None:
        clocks, thread = self.run.clocks, int(lanes[0])
        knows = clocks.order[lanes, : clocks.threads].max(axis=0)
        event = Event(form.does, *what, place, thread, int(clocks.own(lanes)[0]), knows)
        self.allocated[int(self.run.ranks[thread])].events.append(event)

    def _free(self, form: TensorAllocation, columns: int, place: Place, lanes: Threads) -> None:
        assert form.address is not None
        block = self.allocated[int(self.run.ranks[lanes[0]])]
        first = int(self.run.certain(form.address, lanes, 32, place)[0])
        if first not in block.parts or block.parts[first][0] != columns:
            text = "frees tensor memory that was not allocated so, or is free already"
            self.problem(place, lanes, text, "free each part once, by its address and its number of columns")
            return
        self._happens(form, place, lanes, (first, columns))
        self._whole("dealloc", place, lanes, (first, columns))
        del block.parts[first]
        block.used[first : first + columns] = False

    def _whole(self, kind: str, place: Place, lanes: Threads, what: tuple[int, int]) -> None:
        """A warp has all lanes of some columns to itself, at once; that is said of its first thread."""
        who = lanes[:1]
        self.operations.setdefault(int(who[0]), Operation(kind))
        none = np.zeros(1, dtype=np.int64)
        own = self.run.clocks.own(who)
        touch = Touch("write", self.run.number_of(place), who, none, 0, who, own, True)
        self.touch(int(self.run.ranks[who[0]]), "write", touch, Area(np.arange(LANES), *what))

    def ended(self) -> list[Problem]:
        """What was found, and allocations that nobody has freed."""
        self._both_of_a_pair()
        for block in self.allocated:
            for columns, place, thread in block.parts.values():
                text = f"allocates {columns} columns of tensor memory that nobody frees before the block ends"
                self.problem(place, np.array([thread]), text, "free them at the end (tcgen05.dealloc)")
            for event, text, fix in out_of_order(block.events):
                self.problem(event.place, np.array([event.thread]), text, fix)
            waits = holds_and_waits(block.events)
            if waits is not None and not self.problems:
                raise NotExact("an allocation of tensor memory that may wait for what its warps hold", waits)
        return list(self.problems.values())

    def _both_of_a_pair(self) -> None:
        """Two blocks that work together allocate and free together."""
        forms = self.run.needed.forms
        for rank in range(0, self.run.cluster_size & ~1, 2):
            pair = [
                [
                    each
                    for each in self.allocated[side].events
                    if getattr(forms.get(each.place), "pair", False)
                ]
                for side in (rank, rank + 1)
            ]
            said = [[(each.does, each.columns) for each in events] for events in pair]
            if said[0] != said[1]:
                event = max(pair, key=len)[-1]
                text = "allocates or frees tensor memory of two blocks, and the other block does not"
                self.problem(
                    event.place, np.array([event.thread]), text, "do it in both blocks, in the same order"
                )

    def is_allocated(self, rank: int, area: Area, place: Place, who: Threads) -> bool:
        """Whether an area is inside of what a block has allocated; else that is a finding."""
        inside = area.column >= 0 and area.column + area.columns <= COLUMNS and int(area.lanes.max()) < LANES
        if inside and self.allocated[rank].used[area.column : area.column + area.columns].all():
            return True
        last = area.column + area.columns - 1
        columns = f"columns {area.column} to {last}" if area.columns > 1 else f"column {last}"
        text = f"uses {columns} of tensor memory, not all of them allocated"
        self.problem(place, who, text, "allocate what is used, and use it before it is freed")
        return False

    def touch(self, rank: int, kind: Kind, touch: Touch, area: Area) -> None:
        """An operation touches an area of one block's tensor memory."""
        count = area.lanes.size
        starts = (area.lanes * COLUMNS + area.column) * CELL
        self.run.found.clashes += self.shadows[rank].touch(
            Touch(
                kind,
                touch.place,
                np.repeat(touch.threads, count),
                starts.astype(np.int64),
                area.columns * CELL,
                np.repeat(touch.columns, count),
                np.repeat(touch.clocks, count),
                True,
                False,
            )
        )

    def problem(self, place: Place, who: Threads, text: str, fix: str) -> None:
        """Notes a finding, once for each place."""
        thread = int(who[0])
        problem = Problem("FP010", f"thread {{1}} {text}", (place, place), (thread, thread), fix)
        self.problems.setdefault((place, text), problem)
