"""How far half of a barrier can move within its region: past operations, and past whole loops and conditionals."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from typing import NamedTuple

from fencepost.analysis.program import Program
from fencepost.flow import Block, Position
from fencepost.ir import ops
from fencepost.ir.graph import Graph


class Effects(NamedTuple):
    """What a stretch of program does."""

    adds: int = 0
    """What becomes pending, or is in flight and may."""
    conflicts: int = 0
    synchronizes: bool = False

    def also(self, other: Effects) -> Effects:
        """Both together."""
        return Effects(
            self.adds | other.adds, self.conflicts | other.conflicts, self.synchronizes or other.synchronizes
        )


NOTHING = Effects()


class Stretches:
    """The places of a program, region by region. Blocks are those that positions name."""

    def __init__(self, program: Program, barriers: Collection[Position]) -> None:
        self.program = program
        self.gaps: dict[int, list[tuple[int, int, int]]] = {}
        """For each block, the places of its accesses with what they add and what they conflict with."""
        self.stops: dict[int, list[int]] = {}
        """For each block, where synchronization stands."""
        for position in sorted(barriers):
            self.stops.setdefault(position.block, []).append(position.gap)
        for origin, phases in program.siblings.items():
            self.gaps[origin] = _merged(program, phases)
            # Parts of operations, and half barriers under divergence, are no positions but stop everything, too.
            for gap, op in enumerate(program.flow.blocks[origin].ops):
                if isinstance(op, ops.SyncOperation) and Position(origin, gap) not in barriers:
                    self.stops.setdefault(origin, []).append(gap)
        for found in self.stops.values():
            found.sort()
        self.behind, self.in_front = _links(program)
        self.effects_of: dict[int, Effects] = {}

    # ------------------------------------------------------------ moving

    def down(self, position: Position, pending: int, own: bool = True) -> Position:
        """The last place, from `position` on, in front of which nothing conflicts with `pending`."""
        block, first = position
        skip = position.gap if own else -1
        while True:
            end = len(self.program.flow.blocks[block].ops)
            stop = next((gap for gap in self.stops.get(block, ()) if gap >= first and gap != skip), end + 1)
            for gap, _, conflicts in self.gaps.get(block, ()):
                if first <= gap < stop and conflicts & pending:
                    stop = gap
                    break
            if stop <= end and (stop < end or self.is_stop(block, end, skip)):
                return Position(block, self.around_parts(block, stop, down=True))
            following = self.behind.get(block)
            if following is None:
                return Position(block, end)
            inside = self.inside(block, following)
            if inside.synchronizes or inside.conflicts & pending or following in self.program.flow.sealed:
                return Position(block, end)
            block, first, skip = following, 0, -1

    def around_parts(self, block: int, gap: int, *, down: bool) -> int:
        """`gap`, or the nearest place in front of (behind) the operation whose parts it lies between."""
        found = self.program.flow.blocks[block].ops
        while (
            0 < gap < len(found) and found[gap].owner is not None and found[gap].owner is found[gap - 1].owner
        ):
            gap += -1 if down else 1
        return gap

    def is_stop(self, block: int, gap: int, skip: int) -> bool:
        """Whether synchronization stands at a place."""
        return gap != skip and gap in self.stops.get(block, ())

    def up(self, position: Position, needed: int, waits: Collection[Position]) -> Position:
        """The first place, up from `position`, behind which nothing adds to `needed`."""
        block, last = position
        skip = position.gap
        while True:
            accesses = self.gaps.get(block, [])
            first = 0
            for gap, adds, _ in reversed(accesses[: bisect_left(accesses, (last,))]):
                if adds & needed:
                    first = gap + 1
                    break
            for gap in self.stops.get(block, ()):
                if (
                    gap < last
                    and gap != skip
                    and Position(block, gap) not in waits
                    and self.stands(block, gap)
                ):
                    first = max(first, gap + 1)
            for wait in waits:
                if wait.block == block and wait.gap <= last:
                    first = max(first, wait.gap)
            before = self.in_front.get(block)
            if first or before is None or any(wait == Position(block, 0) for wait in waits):
                return Position(block, self.around_parts(block, first, down=False))
            inside = self.inside(before, block)
            if inside.synchronizes or inside.adds & needed or self.waits_inside(before, block, waits):
                return Position(block, first)
            block, last, skip = before, len(self.program.flow.blocks[before].ops), -1

    def stands(self, block: int, gap: int) -> bool:
        """Whether an operation of the kernel synchronizes at a place."""
        found = self.program.flow.blocks[block].ops
        return gap < len(found) and isinstance(found[gap], ops.SyncOperation)

    def waits_inside(self, before: int, behind: int, waits: Collection[Position]) -> bool:
        """Whether a wait stands in the loop or conditional between two blocks of a region."""
        return any(before < wait.block < behind for wait in waits)

    # ------------------------------------------------------------ regions

    def inside(self, before: int, behind: int) -> Effects:
        """What the loop, conditional or call between two blocks of a region does."""
        known = self.effects_of.get(before)
        if known is not None:
            return known
        found, block = NOTHING, before + 1
        while block < behind:
            origin = self.program.flow.blocks[block].origin
            for _, adds, conflicts in self.gaps.get(origin, ()):
                found = found.also(Effects(adds, conflicts))
            found = found.also(Effects(synchronizes=bool(self.stops.get(origin))))
            block += 1
        self.effects_of[before] = found
        return found


def _merged(program: Program, phases: list[int]) -> list[tuple[int, int, int]]:
    """The accesses of a block in all its phases together."""
    found: dict[int, tuple[int, int]] = {}
    every = (1 << program.width) - 1
    for phase in phases:
        for step in program.steps[phase]:
            adds, conflicts = found.get(step.gap, (0, 0))
            flying = program.of_any_level(step.flying)
            found[step.gap] = (adds | step.adds & every, conflicts | step.conflicts | flying)
    return [(gap, *found[gap]) for gap in sorted(found)]


def _links(program: Program) -> tuple[dict[int, int], dict[int, int]]:
    """For each block in front of a loop, conditional or call: the block behind that; and the other way round."""
    behind: dict[int, int] = {}
    in_front: dict[int, int] = {}
    last: dict[tuple[Graph, tuple[ops.Call, ...]], Block] = {}
    for block in program.flow.blocks:
        key = (block.graph, block.calls)
        before = last.get(key)
        if (
            before is not None
            and isinstance(before.anchor, ops.Iterate | ops.Conditional | ops.Call)
            and block.origin == block.index
        ):
            behind[before.index] = block.index
            in_front[block.index] = before.index
        last[key] = block
    return behind, in_front
