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
from fencepost.analysis.pending import State, by_block
from fencepost.analysis.program import ASYNC, Placement, Program, moved
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
    chosen = by_block(placement or {})
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
            for consumer, hit, rounds, in_flight in _meetings(program, chosen, start, stop_at_first=True):
                if hit:
                    yield _hazard(program, producer, block.index, consumer, rounds, in_flight)


def exposed_without(
    program: Program,
    chosen: dict[int, dict[int, int]],
    position: Position,
    before: State,
    limit: int = 64,
) -> list[Hazard]:
    """The hazards that would be uncovered if the barrier at `position` were not there, nearest first.

    `before` is what is pending and in flight right before it; `chosen` are the chosen barriers by block and gap.
    """
    strength = chosen[position.block].pop(position.gap)
    try:
        pending, flying = before[0], before[1] if strength == ASYNC else 0
        producers = _producers_before(program, chosen, position, pending | flying)
        start = _Walk(position.block, position.gap, pending, flying, frozenset())
        found: dict[tuple[ops.Operation, ops.Operation], Hazard] = {}
        for consumer, hit, rounds, _ in _meetings(program, chosen, start, stop_at_first=False):
            for bit in _bits(hit):
                entry = producers.get(_class_of(program, bit))
                if entry is None or (entry.op, consumer[1]) in found:
                    continue
                in_flight = bool(bit & flying)
                hazard = _hazard(program, entry.op, entry.block, consumer, rounds | entry.rounds, in_flight)
                found[entry.op, consumer[1]] = hazard
            if len(found) >= limit:
                break
        return list(found.values())
    finally:
        chosen[position.block][position.gap] = strength


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
    return Hazard(producer, consumer[1], hazard_kind(producer, consumer[1]), loops, in_flight)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


def _meetings(
    program: Program, chosen: dict[int, dict[int, int]], start: _Walk, *, stop_at_first: bool
) -> Iterator[tuple[Consumer, int, frozenset[int], bool]]:
    """Walk on from `start`; yield each operation that conflicts with the bits under way, and which bits."""
    todo = deque([start])
    seen: dict[tuple[int, frozenset[int]], int] = {}
    while todo:
        walk = todo.popleft()
        block = program.flow.blocks[walk.block]
        gaps = chosen.get(walk.block, {})
        barriers = sorted(gap for gap in gaps if gap >= walk.gap)
        pending, flying = walk.pending, walk.flying
        steps = program.steps[walk.block]
        for number in range(bisect_left(steps, walk.gap, key=lambda step: step.gap), len(steps)):
            step = steps[number]
            while barriers and barriers[0] <= step.gap:
                pending, flying = 0, (0 if gaps[barriers.pop(0)] == ASYNC else flying)
            if step.clears:
                pending, flying = 0, (0 if step.clears == ASYNC else flying)
            elif step.lands:
                pending, flying = pending | (flying & step.lands), flying & ~step.lands
            elif step.adds:
                hit = (pending | flying) & step.conflicts
                if hit:
                    op = block.ops[step.gap]
                    assert isinstance(op, ops.MemoryOperation)
                    yield (walk.block, op), hit, walk.rounds, bool(flying & hit)
                    if stop_at_first:
                        pending = flying = 0
            if not (pending or flying):
                break
        if barriers and (pending or flying):
            pending, flying = 0, (0 if any(gaps[gap] == ASYNC for gap in barriers) else flying)
        if not (pending or flying):
            continue
        for target, moves, loop in program.edges[walk.block]:
            after, after_flying = moved(pending, moves), moved(flying, moves)
            rounds = walk.rounds | {loop} if loop >= 0 else walk.rounds
            known = seen.get((target, rounds), 0)
            if (after | after_flying) & ~known:
                seen[target, rounds] = known | after | after_flying
                todo.append(_Walk(target, 0, after, after_flying, rounds))


@dataclass(frozen=True, slots=True)
class _Producer:
    op: ops.MemoryOperation
    block: int
    rounds: frozenset[int]


def _producers_before(
    program: Program, chosen: dict[int, dict[int, int]], position: Position, wanted: int
) -> dict[int, _Producer]:
    """For each class with a wanted bit, the nearest access before `position` that left it."""
    found: dict[int, _Producer] = {}
    todo: deque[tuple[int, int, frozenset[int], int]] = deque(
        [(position.block, position.gap, frozenset(), 0)]
    )
    seen: set[tuple[int, frozenset[int], int]] = set()
    while todo and wanted:
        index, gap, rounds, strongest = todo.popleft()
        steps = program.steps[index]
        barriers = sorted(other for other in chosen.get(index, {}) if other < gap)
        for number in range(bisect_left(steps, gap, key=lambda step: step.gap) - 1, -1, -1):
            step = steps[number]
            while barriers and barriers[-1] > step.gap:
                strongest = max(strongest, chosen[index][barriers.pop()])
            strongest = max(strongest, step.clears)
            if strongest == ASYNC or not wanted:
                break
            # A plain barrier lets nothing through but copies in flight.
            if step.adds and (step.in_flight or not strongest):
                op = program.flow.blocks[index].ops[step.gap]
                assert isinstance(op, ops.MemoryOperation)
                number_of = program.table.of_op[op]
                bits = all_ages(program.table, number_of)
                if bits & wanted:
                    wanted &= ~bits
                    found[number_of] = _Producer(op, index, rounds)
        strongest = max([strongest, *(chosen[index][other] for other in barriers)])
        if strongest == ASYNC or (strongest and not _flying(program)):
            continue
        for source in program.flow.blocks[index].predecessors:
            loop = program.flow.crossed_loop(source, index)
            around = rounds | {loop} if loop >= 0 else rounds
            if (source, around, strongest) not in seen:
                seen.add((source, around, strongest))
                todo.append((source, len(program.flow.blocks[source].ops) + 1, around, strongest))
    return found


def _flying(program: Program) -> bool:
    return bool(program.table.engines)


def _class_of(program: Program, bit: int) -> int:
    """The class that a bit, of whatever age, belongs to."""
    return bisect_right(program.table.bit, bit) - 1
