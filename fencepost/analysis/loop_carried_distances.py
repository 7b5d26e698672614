"""After how many iterations two accesses of a loop meet, and which barrier lies between them then.

For pairs that would meet sooner if slots were not distinguished: these are what distinguishing them is for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from fencepost.analysis.access_class import AccessClass
from fencepost.analysis.conflicts import can_overlap
from fencepost.analysis.hazards import Effort
from fencepost.analysis.program import Program, Step
from fencepost.flow import Loop, Position
from fencepost.ir import ops
from fencepost.ir.expr import Unknown, Var, leaves

FARTHEST = 8
"""Iterations that are looked ahead."""
MOST_PAIRS = 64


@dataclass(frozen=True, slots=True)
class SlotPair:
    """Two accesses of a loop that do not meet as soon as they could."""

    first: ops.MemoryOperation
    second: ops.MemoryOperation
    loop: Loop
    distances: tuple[int, ...]
    """The distances, in iterations, at which they meet, as far as was looked; empty if they never do."""
    between: Position | None
    """A barrier between them at the least of these; None if there is none, or they never meet."""


def slot_pairs(program: Program, effort: Effort) -> list[SlotPair]:
    """The pairs of a kernel, in program order, as far as the effort goes."""
    found: dict[tuple[ops.Operation, ops.Operation], SlotPair] = {}
    for loop in program.flow.loops:
        if loop.op is None:
            continue
        accesses = list(_accesses(program, loop))
        for first, starts in accesses:
            for second, ends in accesses:
                if len(found) >= MOST_PAIRS or not effort.spend(1):
                    return list(found.values())
                pair = _pair(program, loop, (first, starts), (second, ends), effort)
                if pair is not None:
                    found.setdefault((first, second), pair)
    return list(found.values())


Places = list[tuple[int, Step]]
"""An access in each of its instances."""


def _accesses(program: Program, loop: Loop) -> Iterator[tuple[ops.MemoryOperation, Places]]:
    """The accesses right inside a loop whose bytes depend on numbers."""
    found: dict[ops.MemoryOperation, Places] = {}
    for instance in sorted(program.order):
        if program.flow.blocks[program.instances.nodes[instance].block].loop != loop.index:
            continue
        for step in program.steps[instance]:
            op = program.op_at(instance, step.gap) if step.adds else None
            if isinstance(op, ops.MemoryOperation) and op.owner is None and _is_numbered(op):
                found.setdefault(op, []).append((instance, step))
    yield from found.items()


def _is_numbered(op: ops.MemoryOperation) -> bool:
    parts = [part for view in op.views for part in (view.slot, view.lo, view.hi) if part is not None]
    names = [leaf for part in parts for leaf in leaves(part)]
    return any(isinstance(leaf, Var) for leaf in names) and not any(
        isinstance(leaf, Unknown) for leaf in names
    )


def _pair(
    program: Program,
    loop: Loop,
    one: tuple[ops.MemoryOperation, Places],
    other: tuple[ops.MemoryOperation, Places],
    effort: Effort,
) -> SlotPair | None:
    """Two operations that do not meet when one first follows the other, and when they do; else None."""
    (first, starts), (second, ends) = one, other
    if not {view.buffer for view in first.views} & {view.buffer for view in second.views}:
        return None
    classes = program.table.classes
    if not classes[starts[0][1].number].matters(classes[ends[0][1].number]):
        return None
    ending = dict(ends)
    distances: dict[int, Position | None] = {}
    nearest: int | None = None
    for instance, step in starts:
        for distance, there, between in _ways(program, loop, instance, step, ending, effort):
            nearest = distance if nearest is None else min(nearest, distance)
            if _meet(program, classes[step.number], classes[there.number], distance, loop):
                distances.setdefault(distance, between)
    if nearest is None or nearest in distances or effort.ended:
        return None
    least = min(distances, default=None)
    return SlotPair(
        first, second, loop, tuple(sorted(distances)), None if least is None else distances[least]
    )


def _meet(program: Program, one: AccessClass, other: AccessClass, distance: int, loop: Loop) -> bool:
    """Whether two classes touch a common byte, that many iterations apart."""
    age = one.loops.index(loop.index) + 1 if distance and loop.index in one.loops else 0
    solver = program.table.solver
    return can_overlap(one, other, False, age, solver) or can_overlap(one, other, True, age, solver)


def _ways(
    program: Program, loop: Loop, instance: int, start: Step, ending: dict[int, Step], effort: Effort
) -> Iterator[tuple[int, Step, Position | None]]:
    """Each path from an access to the other one: how many iterations later, and a barrier on it."""
    todo: deque[tuple[int, int, int, Position | None]] = deque([(instance, start.gap + 1, 0, None)])
    seen: set[tuple[int, int]] = set()
    while todo and effort.spend(1):
        here, gap, distance, between = todo.popleft()
        there = ending.get(here)
        if there is not None and there.gap >= gap:
            yield distance, there, between or _barrier_in(program, here, gap, there.gap)
        between = between or _barrier_in(
            program, here, gap, len(program.flow.blocks[program.places[here]].ops) + 1
        )
        for edge in program.edges[here]:
            round_ = distance + (edge.loop == loop.index)
            inside = any(
                around.index == loop.index
                for around in program.flow.loops_around(program.instances.nodes[edge.target].block)
            )
            if inside and round_ <= FARTHEST and (edge.target, round_) not in seen:
                seen.add((edge.target, round_))
                todo.append((edge.target, 0, round_, between))


def _barrier_in(program: Program, instance: int, first: int, end: int) -> Position | None:
    """A barrier of the kernel between two places of an instance."""
    block = program.places[instance]
    for position, sync in program.existing.items():
        if position.block == block and first <= position.gap < end and sync.rendezvous:
            return position
    return None
