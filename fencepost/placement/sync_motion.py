"""How far half of a barrier can move within its region: past operations, and past whole loops and conditionals."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable
from typing import NamedTuple

from fencepost.analysis.program import Program
from fencepost.flow import Block, Position
from fencepost.ir import ops
from fencepost.ir.trace import Graph
from fencepost.targets.table import Pace


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


class Waits:
    """Where split barriers are waited for."""

    def __init__(self, positions: Iterable[Position]) -> None:
        self.positions = sorted(set(positions))

    def has(self, position: Position) -> bool:
        """Whether a wait stands at a place."""
        place = bisect_left(self.positions, position)
        return place < len(self.positions) and self.positions[place] == position

    def last(self, block: int, gap: int, but: Position | None) -> int:
        """The last wait of a block up to a place, leaving one out; 0 if there is none."""
        place = bisect_left(self.positions, Position(block, gap + 1)) - 1
        if place >= 0 and self.positions[place] == but:
            place -= 1
        found = self.positions[place] if place >= 0 else Position(-1, 0)
        return found.gap if found.block == block else 0

    def between(self, before: int, behind: int) -> bool:
        """Whether a wait stands in a block between two others."""
        place = bisect_left(self.positions, Position(before + 1, 0))
        return place < len(self.positions) and self.positions[place].block < behind


class Stretches:
    """The places of a program, region by region. Blocks are those that positions name."""

    def __init__(self, program: Program, barriers: Collection[Position]) -> None:
        self.program = program
        self.gaps: dict[int, list[tuple[int, int, int]]] = {}
        """For each block, the places of its accesses with what they add and what they conflict with."""
        self.stops: dict[int, list[int]] = {}
        """For each block, where synchronization stands."""
        self.existing: dict[int, list[int]] = {}
        """That of the kernel itself."""
        for position in sorted(barriers):
            self.stops.setdefault(position.block, []).append(position.gap)
        for origin, instances in program.instances_of.items():
            self.gaps[origin] = _merged(program, instances)
            # Parts of operations, and half barriers under divergence, are no positions but stop everything, too.
            for gap, op in enumerate(program.flow.blocks[origin].ops):
                if isinstance(op, ops.SyncOperation):
                    self.existing.setdefault(origin, []).append(gap)
                    if Position(origin, gap) not in barriers:
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
        legal = position
        while True:
            end = len(self.program.flow.blocks[block].ops)
            stop = self.next_stop(block, first, skip)
            accesses = self.gaps.get(block, [])
            for number in range(bisect_left(accesses, (first,)), len(accesses)):
                gap, _, conflicts = accesses[number]
                if gap >= stop:
                    break
                if conflicts & pending:
                    stop = gap
            if stop <= end:
                return self.not_where_others_stand(
                    block, self.around_parts(block, stop, down=True), first, legal
                )
            following = self.behind.get(block)
            if following is None:
                return Position(block, end)
            inside = self.inside(block, following)
            if inside.synchronizes or inside.conflicts & pending or following in self.program.flow.sealed:
                return Position(block, end)
            legal = Position(block, end)
            block, first, skip = following, 0, -1

    def not_where_others_stand(self, block: int, gap: int, first: int, otherwise: Position) -> Position:
        """The last place up to `gap` that is not one where a barrier or wait of the kernel stands."""
        while gap >= first:
            if Position(block, gap) not in self.program.existing:
                return Position(block, gap)
            gap -= 1
        return otherwise

    def next_stop(self, block: int, first: int, skip: int) -> int:
        """Where synchronization stands next, from a place on; beyond the block's end if it stands nowhere."""
        stops = self.stops.get(block, [])
        for number in range(bisect_left(stops, first), len(stops)):
            # Where the barrier stood that is split, an operation of the kernel may stand right behind it.
            if stops[number] != skip or skip in self.existing.get(block, ()):
                return stops[number]
        return len(self.program.flow.blocks[block].ops) + 1

    def around_parts(self, block: int, gap: int, *, down: bool) -> int:
        """`gap`, or the nearest place in front of (behind) the operation whose parts it lies between."""
        found = self.program.flow.blocks[block].ops
        while (
            0 < gap < len(found) and found[gap].owner is not None and found[gap].owner is found[gap - 1].owner
        ):
            gap += -1 if down else 1
        return gap

    def up(self, position: Position, needed: int, waits: Waits, own: Position | None = None) -> Position:
        """The first place, up from `position`, behind which nothing adds to `needed` and no wait but `own` stands."""
        block, last = position
        while True:
            first = max(self.last_stop(block, last), waits.last(block, last, own))
            accesses = self.gaps.get(block, [])
            for number in range(bisect_left(accesses, (last,)) - 1, -1, -1):
                gap, adds, _ = accesses[number]
                if gap < first:
                    break
                if adds & needed:
                    first = gap + 1
                    break
            before = self.in_front.get(block)
            held = waits.has(Position(block, 0)) and own != Position(block, 0)
            if first or before is None or held:
                first = self.around_parts(block, first, down=False)
                while Position(block, first) in self.program.existing and Position(block, first) < position:
                    first += 1
                return Position(block, first)
            inside = self.inside(before, block)
            if inside.synchronizes or inside.adds & needed or waits.between(before, block):
                return Position(block, first)
            block, last = before, len(self.program.flow.blocks[before].ops)

    def last_stop(self, block: int, last: int) -> int:
        """Behind the synchronization of the kernel that stands last in front of a place; 0 if there is none."""
        existing = self.existing.get(block, [])
        place = bisect_left(existing, last)
        return existing[place - 1] + 1 if place else 0

    def later(self, position: Position, limit: Position | None, pace: Pace) -> tuple[Position, bool]:
        """From the first place of a signal on: where its fence has nothing left to wait for, at most `limit`.

        And whether there was room for half of that, at least. A signal right behind a write stands until the write is
        complete. After some other work it does not, and what comes then is still between signal and wait. Without a
        limit the end of the region is one.
        """
        block, first = position
        done = 0 if self.follows_access(position) else pace.fence
        ahead = 0
        while done < pace.fence:
            found = self.program.flow.blocks[block].ops
            end = limit.gap if limit is not None and limit.block == block else len(found)
            gap = first
            while gap < end and done < pace.fence:
                op = found[gap]
                if isinstance(op, ops.MemoryOperation):
                    done = ahead = 0
                else:
                    own, after = pace.work(op)
                    done, ahead = done + ahead + own, after
                gap += 1
            if done >= pace.fence or (limit is not None and limit.block == block):
                return Position(block, self.around_parts(block, gap, down=False)), 2 * done >= pace.fence
            following = self.behind.get(block)
            if limit is None or following is None:
                return Position(block, end), 2 * done >= pace.fence
            # A loop or conditional is work enough.
            block, first, done = following, 0, pace.fence
        return Position(block, first), True

    def follows_access(self, position: Position) -> bool:
        """Whether what stands in front of a place may have accessed shared memory a short time ago."""
        if not position.gap:
            return True
        op = self.program.flow.blocks[position.block].ops[position.gap - 1]
        return isinstance(op, ops.MemoryOperation)

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


def _merged(program: Program, instances: list[int]) -> list[tuple[int, int, int]]:
    """The accesses of a block in all its instances together."""
    found: dict[int, tuple[int, int]] = {}
    every = (1 << program.width) - 1
    for instance in instances:
        for step in program.steps[instance]:
            adds, conflicts = found.get(step.gap, (0, 0))
            in_flight = program.of_any_level(step.in_flight)
            found[step.gap] = (adds | step.adds & every, conflicts | step.conflicts | in_flight)
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
            and isinstance(before.anchor, (ops.Iterate, ops.Conditional, ops.Call))
            and block.origin == block.index
        ):
            behind[before.index] = block.index
            in_front[block.index] = before.index
        last[key] = block
    return behind, in_front
