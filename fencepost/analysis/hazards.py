"""Hazards as pairs of operations: who must not overtake whom, and across which loops.

`hazards` lists the pairs that nothing covers; `exposed_without` lists the pairs that one barrier alone covers,
which is the reason for it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from fencepost.analysis.access import MemoryAccessType, access_type
from fencepost.analysis.classes import all_ages
from fencepost.analysis.pending import State
from fencepost.analysis.program import ASYNC, Placement, Program, Step, moved
from fencepost.flow import Loop, Position
from fencepost.ir import ops


class BarrierType(Enum):
    """What a barrier is there for: FILL, the consumer reads what was filled in; READY, the memory is reused."""

    NONE = 0
    FILL = 1
    READY = 2


@dataclass(frozen=True, slots=True)
class Hazard:
    """`consumer` must not overtake `producer`."""

    producer: ops.MemoryOperation
    consumer: ops.MemoryOperation
    kind: str
    """RAW, WAR or WAW."""
    loops: tuple[Loop, ...] = ()
    """The loops around both that go round between them; empty within one iteration."""
    in_flight: bool = False
    """The producer is a copy that nothing has waited for."""
    waves: tuple[int, int] = (0, 1)
    """A wave that runs the producer and one that runs the consumer: who to name in an example."""

    @property
    def is_loop(self) -> bool:
        """Whether the hazard crosses an iteration boundary."""
        return bool(self.loops)

    @property
    def barrier_type(self) -> BarrierType:
        """The tag of the window."""
        return BarrierType.FILL if self.kind == "RAW" else BarrierType.READY


def hazard_kind(producer: ops.Operation, consumer: ops.Operation) -> str:
    """RAW, WAR or WAW."""
    if access_type(producer) is MemoryAccessType.READ:
        return "WAR"
    return "WAW" if access_type(consumer) is MemoryAccessType.WRITE else "RAW"


class Barriers:
    """Chosen barriers, found by place; one of them can be looked away from."""

    def __init__(self, placement: Placement) -> None:
        self.strength: dict[Position, int] = placement
        self.gaps: dict[int, list[int]] = {}
        self.absent: Position | None = None
        for position in sorted(placement):
            self.gaps.setdefault(position.block, []).append(position.gap)

    def at(self, block: int, gap: int) -> int:
        """How strong the barrier there is; 0 for the one that is looked away from."""
        position = Position(block, gap)
        return 0 if position == self.absent else self.strength[position]


@dataclass(slots=True)
class _Walk:
    """Bits under way through the program."""

    block: int
    gap: int
    pending: int
    flying: int
    rounds: frozenset[int]


def hazards(program: Program, placement: Placement | None = None) -> Iterator[Hazard]:
    """Every pair that no barrier covers: from each access to the first conflicting one on each path."""
    barriers = Barriers(placement or {})
    reachable = set(program.flow.order)
    for block in program.flow.blocks:
        if block.index not in reachable:
            continue
        for step in program.steps[block.index]:
            if not step.adds:
                continue
            producer = block.ops[step.gap]
            assert isinstance(producer, ops.MemoryOperation)
            pending, flying = (0, step.adds) if step.in_flight else (step.adds, 0)
            start = _Walk(block.index, step.gap + 1, pending, flying, frozenset())
            for consumer, _, rounds, in_flight in _meetings(program, barriers, start, stop_at_first=True):
                yield _hazard(program, producer, block.index, consumer, rounds, in_flight)


def exposed_without(
    program: Program, barriers: Barriers, position: Position, before: State, limit: int = 64
) -> list[Hazard]:
    """The hazards that would be uncovered if the barrier at `position` were not there, nearest first.

    `before` is what is pending and in flight right before it.
    """
    pending, flying = before[0], before[1] if barriers.strength[position] == ASYNC else 0
    barriers.absent = position
    try:
        producers = _producers_before(program, barriers, position, pending | program.of_any_level(flying))
        start = _Walk(position.block, position.gap, pending, flying, frozenset())
        found: dict[tuple[ops.Operation, ops.Operation], Hazard] = {}
        for consumer, hit, rounds, in_flight in _meetings(program, barriers, start, stop_at_first=False):
            for bit in _bits(hit):
                for entry in producers.get(_class_of(program, bit), ()):
                    if (entry.op, consumer[1]) not in found:
                        around = rounds | entry.rounds
                        hazard = _hazard(program, entry.op, entry.block, consumer, around, in_flight)
                        found[entry.op, consumer[1]] = hazard
            if len(found) >= limit:
                break
        return list(found.values())
    finally:
        barriers.absent = None


Consumer = tuple[int, ops.MemoryOperation]


def _hazard(
    program: Program,
    producer: ops.MemoryOperation,
    block: int,
    consumer: Consumer,
    rounds: frozenset[int],
    in_flight: bool,
) -> Hazard:
    around = {loop.index for loop in program.flow.loops_around(consumer[0])}
    loops = tuple(
        loop for loop in program.flow.loops_around(block) if loop.index in rounds and loop.index in around
    )
    kind = hazard_kind(producer, consumer[1])
    return Hazard(producer, consumer[1], kind, loops, in_flight, _example(program, producer, consumer[1]))


def _example(program: Program, producer: ops.Operation, consumer: ops.Operation) -> tuple[int, int]:
    """Two waves that can meet, different ones unless only an engine makes the two meet."""
    table = program.table
    first, second = (table.classes[table.of_op[op]] for op in (producer, consumer))
    return first.example(second) or (0, 0)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


def _meetings(
    program: Program, barriers: Barriers, start: _Walk, *, stop_at_first: bool
) -> Iterator[tuple[Consumer, int, frozenset[int], bool]]:
    """Walk on from `start`; yield each operation that conflicts with the bits under way, and which bits."""
    todo = deque([start])
    # By block alone: the first, shortest way to a block tells which loops went round. Telling ways apart by
    # their loops as well would try every subset of them.
    seen: dict[int, State] = {}
    while todo:
        walk = todo.popleft()
        block = program.flow.blocks[walk.block]
        gaps = barriers.gaps.get(walk.block, [])
        ahead = bisect_left(gaps, walk.gap)
        pending, flying = walk.pending, walk.flying
        steps = program.steps[walk.block]
        for number in range(bisect_left(steps, walk.gap, key=_gap), len(steps)):
            step = steps[number]
            while ahead < len(gaps) and gaps[ahead] <= step.gap:
                pending, flying = _passed(barriers.at(walk.block, gaps[ahead]), pending, flying)
                ahead += 1
            if not (pending or flying):
                break
            hit_flying = flying & step.flying
            hit = pending & step.conflicts
            if hit_flying:
                hit |= program.of_any_level(hit_flying)
            if hit and step.adds:
                op = block.ops[step.gap]
                assert isinstance(op, ops.MemoryOperation)
                yield (walk.block, op), hit, walk.rounds, bool(hit_flying)
                if stop_at_first:
                    pending = flying = 0
                    break
            if flying or step.clears:
                pending, flying = program.followed(step, pending, flying)
        while ahead < len(gaps) and (pending or flying):
            pending, flying = _passed(barriers.at(walk.block, gaps[ahead]), pending, flying)
            ahead += 1
        if not (pending or flying):
            continue
        for target, moves, loop, flying_moves in program.edges[walk.block]:
            after, after_flying = moved(pending, moves), moved(flying, flying_moves)
            rounds = walk.rounds | {loop} if loop >= 0 else walk.rounds
            known, known_flying = seen.get(target, (0, 0))
            if after & ~known or after_flying & ~known_flying:
                seen[target] = (known | after, known_flying | after_flying)
                todo.append(_Walk(target, 0, after, after_flying, rounds))


def _passed(strength: int, pending: int, flying: int) -> State:
    """The state behind a barrier."""
    if not strength:
        return pending, flying
    return 0, (0 if strength == ASYNC else flying)


def _gap(step: Step) -> int:
    return step.gap


@dataclass(frozen=True, slots=True)
class _Producer:
    op: ops.MemoryOperation
    block: int
    rounds: frozenset[int]


def _producers_before(
    program: Program, barriers: Barriers, position: Position, wanted: int
) -> dict[int, list[_Producer]]:
    """For each class with a wanted bit, the nearest access that left it on each way to `position`."""
    found: dict[int, list[_Producer]] = {}
    todo: deque[tuple[int, int, frozenset[int], int, int]] = deque()
    todo.append((position.block, position.gap, frozenset(), 0, wanted))
    seen: dict[tuple[int, int], int] = {}
    while todo:
        index, gap, rounds, strongest, wanted = todo.popleft()
        steps = program.steps[index]
        gaps = barriers.gaps.get(index, [])
        behind = bisect_left(gaps, gap) - 1
        for number in range(bisect_left(steps, gap, key=_gap) - 1, -1, -1):
            step = steps[number]
            while behind >= 0 and gaps[behind] > step.gap:
                strongest = max(strongest, barriers.at(index, gaps[behind]))
                behind -= 1
            strongest = max(strongest, step.clears)
            if _blocked(program, strongest) or not wanted:
                break
            # A plain barrier lets nothing through but copies in flight.
            if step.adds and (step.in_flight or not strongest):
                op = program.flow.blocks[index].ops[step.gap]
                assert isinstance(op, ops.MemoryOperation)
                number_of = program.table.of_op[op]
                bits = all_ages(program.table, number_of)
                if bits & wanted:
                    wanted &= ~bits
                    entries = found.setdefault(number_of, [])
                    if all(entry.op is not op for entry in entries):
                        entries.append(_Producer(op, index, rounds))
        while behind >= 0 and not _blocked(program, strongest):
            strongest = max(strongest, barriers.at(index, gaps[behind]))
            behind -= 1
        if _blocked(program, strongest) or not wanted:
            continue
        for source in program.flow.blocks[index].predecessors:
            known = seen.get((source, strongest), 0)
            if wanted & ~known:
                seen[source, strongest] = known | wanted
                loop = program.flow.crossed_loop(source, index)
                around = rounds | {loop} if loop >= 0 else rounds
                end = len(program.flow.blocks[source].ops) + 1
                todo.append((source, end, around, strongest, wanted))
    return found


def barriers_before(program: Program, barriers: Barriers, position: Position) -> list[Position]:
    """The barriers that were passed last on some way to `position`."""
    found: dict[Position, None] = {}
    todo, seen = [(position.block, position.gap)], {position.block}
    while todo:
        block, gap = todo.pop()
        gaps = barriers.gaps.get(block, [])
        behind = bisect_left(gaps, gap) - 1
        if behind >= 0:
            found[Position(block, gaps[behind])] = None
            continue
        for source in program.flow.blocks[block].predecessors:
            if source not in seen:
                seen.add(source)
                todo.append((source, len(program.flow.blocks[source].ops) + 1))
    return sorted(found)


def _blocked(program: Program, strongest: int) -> bool:
    """Whether nothing from before a barrier can be pending behind it."""
    return strongest == ASYNC or (strongest > 0 and not program.table.engines)


def _class_of(program: Program, bit: int) -> int:
    """The class that a bit, of whatever age, belongs to."""
    return bisect_right(program.table.bit, bit) - 1
