"""Whether barriers are as few as can be, and whether one is needed at all: where that is seen without an analysis.

A *witness* is a path between two plain accesses of common bytes on which nothing synchronizes: whatever a placement
is, it has a barrier on that path. Of the barriers of a placement, each is the only one on some paths that would be
witnesses without it. How often it runs is divided among such paths, in a way that no gap runs less often than all
paths through it are given together. What they are given is a lower bound of what any placement runs: how often each
of its barriers runs can be divided among the paths that it lies on (the two are dual linear programs).

Compilers put barriers right in front of the access that needs them, so witnesses are looked for from there backwards.
What is not seen is not said: `optimal` finds out about the rest. Nothing of the analysis is used; that both agree is
tested.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.flow import Block, Flow, Position
from fencepost.ir import ops
from fencepost.ir.buffers import BufferArg, View
from fencepost.ir.expr import Compare, Const, is_divergent

ROUNDING = 1e-10
MOST_PATHS = 8
"""Paths that the runs of one barrier are divided among at most."""
Bytes = tuple[object, int, int]
"""An address space and a range in it."""


class Stretch(NamedTuple):
    """The gaps of a block from the first to the last of these, both included."""

    block: int
    first: int
    last: int


def as_few_as_can_be(flow: Flow, put_in: Collection[Position], near: float = 0.0) -> bool:
    """Whether no barriers run less often than those that are put in at some positions; False if that is not seen.

    Less by at most a part `near` does not count (0.02 is 2 %), where each of them is needed right there.
    """
    if not put_in:
        return True
    if not _is_simple(flow):
        return False
    witnesses = _Witnesses(flow)
    for block, gap in put_in:
        witnesses.put_in.setdefault(block, set()).add(gap)
    runs = [flow.blocks[position.block].frequency for position in put_in]
    left = sum(runs) * (1 - 1 / (1 + near) + ROUNDING)
    for position, each in zip(put_in, runs, strict=True):
        place = witnesses.access_behind(position)
        if place is None:
            return False
        left -= each - witnesses.divided(position, place, each)
        if left < 0 or (near and witnesses.path_to(flow.blocks[position.block], place, position.gap) is None):
            return False
    return True


def one_is_needed(flow: Flow) -> bool:
    """Whether the kernel surely lacks a barrier; False if that is not seen."""
    if not _is_simple(flow):
        return False
    witnesses = _Witnesses(flow)
    return any(
        isinstance(op, ops.MemoryOperation) and witnesses.path_to(block, place) is not None
        for block in flow.blocks
        for place, op in enumerate(block.ops)
    )


@dataclass(slots=True, eq=False)
class _Witnesses:
    """The witnesses of a kernel, and how often they run."""

    flow: Flow
    put_in: dict[int, set[int]] = field(default_factory=dict)
    """Gaps with barriers that are not in the kernel, by block."""
    given: list[tuple[Stretch, float]] = field(default_factory=list)
    """Parts of witnesses, and what these are given."""
    touched: dict[ops.Operation, tuple[Bytes, ...]] = field(default_factory=dict)

    def access_behind(self, position: Position) -> int | None:
        """The next access of a block behind a gap, if nothing synchronizes in between."""
        block = self.flow.blocks[position.block]
        others = self.put_in[position.block] - {position.gap}
        for place in range(position.gap, len(block.ops)):
            if place in others or _synchronizes(block.ops[place]):
                return None
            if isinstance(block.ops[place], ops.MemoryOperation):
                return place
        return None

    def divided(self, position: Position, place: int, runs: float) -> float:
        """What of a barrier's runs is given to paths across it, up to an access behind it."""
        given = 0.0
        for _ in range(MOST_PATHS):
            path = self.path_to(self.flow.blocks[position.block], place, position.gap, least=ROUNDING * runs)
            if path is None:
                break
            here = min(runs - given, *map(self.room, path))
            self.given += [(part, here) for part in path]
            given += here
            if given >= runs * (1 - ROUNDING):
                break
        return given

    def room(self, part: Stretch) -> float:
        """How much more often a block runs than all paths through a part of it are given."""
        taken = sum(given for each, given in self.given if _meet(part, each))
        return self.flow.blocks[part.block].frequency - taken

    def path_to(
        self, block: Block, place: int, allowed: int = -1, least: float = -math.inf
    ) -> list[Stretch] | None:
        """A short path to an access on which nothing synchronizes but a barrier in the gap `allowed` of its block.

        Everywhere on it there is more room than the `least`.
        """
        access = block.ops[place]
        if not self.bytes_of(block, access):
            return None
        start = self.last_before(block, place, access, allowed)
        last = Stretch(block.index, 0 if start is None else start + 1, place)
        if start is None or self.room(last) <= least:
            return None
        if start >= 0:
            return [last]
        behind: dict[int, int] = {}
        todo = [block.index]
        for here in todo:
            for index in self.flow.blocks[here].predecessors:
                before = self.flow.blocks[index]
                if index in behind or not before.frequency:
                    continue
                behind[index] = here
                start = self.last_before(before, len(before.ops), access, allowed if before is block else -1)
                if start is None:
                    continue
                part = Stretch(index, start + 1, len(before.ops))
                if self.room(part) <= least:
                    continue
                if start >= 0:
                    return self.along(part, last, behind)
                todo.append(index)
        return None

    def along(self, first: Stretch, last: Stretch, behind: dict[int, int]) -> list[Stretch]:
        """The path from one stretch to another, through what is `behind` each block."""
        found, index = [first], behind[first.block]
        while index != last.block:
            found.append(Stretch(index, 0, len(self.flow.blocks[index].ops)))
            index = behind[index]
        return [*found, last]

    def last_before(self, block: Block, end: int, access: ops.Operation, allowed: int) -> int | None:
        """The last operation before a place of a block that must be ordered with an access.

        -1 if there is none up to the block's beginning, None if something synchronizes before that.
        """
        put_in = self.put_in.get(block.index, ())
        touched = self.touched[access]
        for place in range(end, 0, -1):
            op = block.ops[place - 1]
            if (place in put_in and place != allowed) or _synchronizes(op):
                return None
            if isinstance(op, ops.Write) or (isinstance(op, ops.Read) and isinstance(access, ops.Write)):
                mine = self.bytes_of(block, op)
                if any(_overlap(one, other) for one in mine for other in touched):
                    return place - 1
        return None if 0 in put_in and allowed != 0 else -1

    def bytes_of(self, block: Block, op: ops.Operation) -> tuple[Bytes, ...]:
        """Bytes that all waves surely touch in a plain access, one whose hazards nothing but a barrier orders."""
        found = self.touched.get(op)
        if found is None:
            plain = type(op) in (ops.Read, ops.Write) and not block.guards and block.frequency
            views = op.views if plain and isinstance(op, ops.MemoryOperation) and not op.group else ()
            found = self.touched[op] = tuple(each for view in views for each in _bytes(view))
        return found


def _is_simple(flow: Flow) -> bool:
    """Whether all waves meet the same barriers, there are several, and every edge of the flow can be taken."""
    if flow.trace.waves == 1 or flow.expanded or any(loop.op is not None for loop in flow.loops):
        return False
    for block in flow.blocks:
        if block.guards and any(map(_synchronizes, block.ops)):
            return False
        condition = getattr(block.anchor, "condition", None)
        if isinstance(condition, Compare) and not is_divergent(condition):
            return False
    return True


def _synchronizes(op: ops.Operation) -> bool:
    """Whether an operation may order waves."""
    return isinstance(op, ops.SyncOperation) and not isinstance(op, ops.MemoryCounterWait)


def _bytes(view: View) -> Iterator[Bytes]:
    """The bytes of a view, if they are known."""
    buffer, low, high = view.buffer, view.lo, view.hi
    if view.slot is not None or isinstance(buffer, BufferArg):
        return
    space, start = (buffer, 0) if buffer.offset is None else (None, buffer.offset)
    if low is None or high is None:
        yield space, start, start + buffer.size
    elif isinstance(low, Const) and isinstance(high, Const):
        yield space, start + low.value, start + high.value


def _overlap(one: Bytes, other: Bytes) -> bool:
    return one[0] is other[0] and one[1] < other[2] and other[1] < one[2]


def _meet(one: Stretch, other: Stretch) -> bool:
    """Whether two stretches have a gap in common."""
    return one.block == other.block and one.first <= other.last and other.first <= one.last
