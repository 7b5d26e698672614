"""Hazards as pairs of operations: who must not overtake whom, and across which loops.

`hazards` lists the pairs that nothing covers; `exposed_without` lists the pairs that one barrier alone covers,
which is the reason for it.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from fencepost.analysis.access import MemoryAccessType, access_type
from fencepost.analysis.access_class import all_ages
from fencepost.analysis.pending import Spot, State
from fencepost.analysis.program import Program, Step, moved
from fencepost.analysis.transfer import Placement, Sync
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
    distance: int = 0
    """How many iterations of the innermost of these lie between, at least."""
    in_flight: bool = False
    """The producer is a copy that nothing has waited for."""
    waves: tuple[int, int] = (0, 1)
    """A wave that runs the producer and one that runs the consumer: who to name in an example."""
    behind: int = 0
    """Where groups of waves are skewed: by how many rendezvous the producer's wave runs behind the consumer's.
    Less than 0 if it runs ahead: then only a fence is missing."""

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
        self.syncs: Placement = placement
        self.gaps: dict[int, list[int]] = {}
        self.absent: Position | None = None
        for position in sorted(placement):
            self.gaps.setdefault(position.block, []).append(position.gap)

    def at(self, block: int, gap: int) -> Sync | None:
        """The barrier there; None for the one that is looked away from."""
        position = Position(block, gap)
        return None if position == self.absent else self.syncs[position]


Rounds = tuple[int, ...]
"""The loops that went round on a way, in order."""
MOST_ROUNDS = 16
PAIR_STEPS = 20
"""To look at a pair takes as long as so many steps."""
MOST_INSTANCES_SHOWN = 6
"""Of a barrier that stands in more instances, this many are asked for reasons."""


@dataclass(slots=True)
class _Walk:
    """Bits under way through the program."""

    instance: int
    gap: int
    pending: int
    in_flight: int
    rounds: Rounds
    owed: dict[int, tuple[_Access, Rounds]] = field(default_factory=dict)
    """Where groups are skewed: bits that had to be complete soon, and for which access (see `skew`)."""


@dataclass(slots=True)
class Effort:
    """How much may be looked at: steps that are walked over, and hazards that are found."""

    steps: float = math.inf
    found: float = math.inf
    ended: bool = False
    """Whether there was more to look at."""

    def spend(self, steps: int) -> bool:
        """Walk on; whether that is still possible."""
        self.steps -= steps
        if self.steps < 0 or self.found <= 0:
            self.ended = True
        return not self.ended


def hazards(
    program: Program, placement: Placement | None = None, effort: Effort | None = None
) -> Iterator[Hazard]:
    """Every pair that no barrier covers: from each access to the first conflicting one on each path.

    Without a placement, given the existing barriers; with `effort`, as far as that goes.
    """
    effort = effort or Effort()
    barriers = Barriers(program.existing if placement is None else placement)
    known: set[tuple[ops.Operation, ops.Operation, tuple[Loop, ...]]] = set()
    for instance in sorted(program.order):
        for step in program.steps[instance]:
            if not step.adds:
                continue
            pending, in_flight = (0, step.adds) if step.by_engine else (step.adds, 0)
            start = _Walk(instance, step.gap + 1, pending, in_flight, ())
            producer = _Access(instance, step)
            ways = _meetings(program, barriers, start, stop_at_first=True, effort=effort)
            for consumer, hit, rounds, was_in_flight in ways:
                effort.spend(PAIR_STEPS)
                found = _hazard(program, producer, consumer, rounds, was_in_flight, hit)
                key = (found.producer, found.consumer, found.loops)
                if key not in known:
                    known.add(key)
                    effort.found -= 1
                    yield found
            if effort.ended:
                return


class ExposedLimits(NamedTuple):
    """How far `exposed_without` looks."""

    hazards: int
    """How many are listed at most."""
    visits: float
    """The instances that producers are looked for in, the nearest first; farther away only if none is among these."""
    effort: Effort


def exposed_without(
    program: Program,
    barriers: Barriers,
    position: Position,
    before: dict[Spot, State],
    limits: ExposedLimits,
) -> list[Hazard]:
    """The hazards that would be uncovered if the barrier at `position` were not there, nearest first.

    `before` tells what is pending and in flight right before it, in each instance.
    """
    found = _exposed_without(program, barriers, position, before, limits)
    if not found and limits.visits < math.inf:
        found = _exposed_without(program, barriers, position, before, limits._replace(visits=math.inf))
    return found


def _exposed_without(
    program: Program,
    barriers: Barriers,
    position: Position,
    before: dict[Spot, State],
    limits: ExposedLimits,
) -> list[Hazard]:
    """The same, with producers looked for in as many instances as `limits` says."""
    sync = barriers.syncs[position]
    barriers.absent = position
    found: dict[tuple[ops.Operation, ops.Operation], Hazard] = {}
    try:
        for instance in program.instances_of.get(position.block, [])[:MOST_INSTANCES_SHOWN]:
            pending, in_flight = _held_back(program, sync, *before[instance, position.gap])
            classes = program.transfer.classes(pending) | program.transfer.classes(
                program.of_any_level(in_flight)
            )
            producers = _producers_before(program, barriers, (instance, position.gap), classes, limits.visits)
            start = _Walk(instance, position.gap, pending, in_flight, ())
            ways = _meetings(program, barriers, start, stop_at_first=False, effort=limits.effort)
            for consumer, hit, rounds, was_in_flight in ways:
                later = _operation(program, consumer)
                for bit in _bits(hit):
                    for producer, earlier in producers.get(
                        _class_of(program, program.transfer.classes(bit)), ()
                    ):
                        pair = (_operation(program, producer), later)
                        if pair not in found:
                            found[pair] = _hazard(
                                program, producer, consumer, earlier + rounds, was_in_flight, bit
                            )
                            if len(found) >= limits.hazards:
                                return list(found.values())
        return list(found.values())
    finally:
        barriers.absent = None


class _Access(NamedTuple):
    """An access of one instance."""

    instance: int
    step: Step


def _operation(program: Program, access: _Access) -> ops.MemoryOperation:
    op = program.op_at(access.instance, access.step.gap)
    op = op.owner or op
    assert isinstance(op, ops.MemoryOperation)
    return op


def _hazard(
    program: Program, producer: _Access, consumer: _Access, rounds: Rounds, in_flight: bool, hit: int
) -> Hazard:
    """The hazard of two accesses, with the loops around both that are gone round between them."""
    first, second = _operation(program, producer), _operation(program, consumer)
    nodes, flow = program.instances.nodes, program.flow
    around = {loop.index for loop in flow.loops_around(nodes[consumer.instance].block)}
    loops = tuple(
        loop
        for loop in flow.loops_around(nodes[producer.instance].block)
        if loop.index in rounds and loop.index in around
    )
    distance = rounds.count(loops[0].index) if loops else 0
    one, other = (program.table.classes[access.step.number] for access in (producer, consumer))
    kind = hazard_kind(
        program.op_at(producer.instance, producer.step.gap),
        program.op_at(consumer.instance, consumer.step.gap),
    )
    apart = program.transfer.apart(hit, consumer.instance)
    if apart is not None:
        one, other = one.among(apart.first), other.among(apart.second)
    behind = apart.behind if apart is not None else 0
    # Different waves, unless only an engine makes the two meet.
    return Hazard(first, second, kind, loops, distance, in_flight, one.example(other) or (0, 0), behind)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


# many branches because this is the innermost loop of the search for hazards: calls would dominate it
def _meetings(
    program: Program, barriers: Barriers, start: _Walk, *, stop_at_first: bool, effort: Effort
) -> Iterator[tuple[_Access, int, Rounds, bool]]:
    """Walk on from `start`; yield each access that conflicts with the bits under way, and which bits."""
    todo = deque([start])
    # By instance alone: the first, shortest way to an instance tells which loops went round. Distinguishing ways by
    # their loops as well would try every subset of them.
    seen: dict[int, State] = {}
    while todo:
        walk = todo.popleft()
        place = program.places[walk.instance]
        gaps = barriers.gaps.get(place, [])
        ahead = bisect_left(gaps, walk.gap)
        pending, in_flight = walk.pending, walk.in_flight
        steps = program.steps[walk.instance]
        first = number = bisect_left(steps, walk.gap, key=_gap)
        for number in range(first, len(steps)):
            step = steps[number]
            while ahead < len(gaps) and gaps[ahead] <= step.gap:
                pending, in_flight = _passed(program, barriers.at(place, gaps[ahead]), pending, in_flight)
                ahead += 1
            if not (pending or in_flight):
                break
            hit_in_flight = in_flight & step.in_flight
            hit = pending & step.conflicts
            if hit_in_flight:
                hit |= program.of_any_level(hit_in_flight)
            if step.turn is not None and step.turn.owes:
                walk.owed |= {mask: (_Access(walk.instance, step), walk.rounds) for mask, _ in step.turn.owes}
            if hit and step.number >= 0:
                yield _Access(walk.instance, step), hit, walk.rounds, bool(hit_in_flight)
                if stop_at_first:
                    pending = in_flight = 0
                    break
            elif hit and walk.owed:
                yield from _overdue(program, walk, hit)
            if in_flight or step.clears or step.settles:
                pending, in_flight = program.after_step_without_adds(step, pending, in_flight)
        if not effort.spend(1 + number - first):
            return
        while ahead < len(gaps) and (pending or in_flight):
            pending, in_flight = _passed(program, barriers.at(place, gaps[ahead]), pending, in_flight)
            ahead += 1
        if not (pending or in_flight):
            continue
        for target, moves, loop, in_flight_moves in program.edges[walk.instance]:
            after, after_in_flight = moved(pending, moves), moved(in_flight, in_flight_moves)
            known, known_in_flight = seen.get(target, (0, 0))
            if after & ~known or after_in_flight & ~known_in_flight:
                seen[target] = (known | after, known_in_flight | after_in_flight)
                rounds = _after_back_edge(walk.rounds, loop)
                todo.append(_Walk(target, 0, after, after_in_flight, rounds, dict(walk.owed)))


def _overdue(program: Program, walk: _Walk, hit: int) -> Iterator[tuple[_Access, int, Rounds, bool]]:
    """The accesses of groups that run ahead for which something should have been complete by now."""
    classes = program.transfer.classes(hit)
    for mask, (consumer, rounds) in walk.owed.items():
        both = classes & program.transfer.classes(mask)
        if both:
            yield consumer, mask & both * program.transfer.copies, rounds, False


def _after_back_edge(rounds: Rounds, loop: int) -> Rounds:
    return (*rounds, loop) if loop >= 0 and len(rounds) < MOST_ROUNDS else rounds


def _held_back(program: Program, sync: Sync, pending: int, in_flight: int) -> State:
    """What comes up to a barrier, wait or second half of a barrier, and not through it."""
    if sync.wait:
        through, _ = program.after_sync(sync, pending, in_flight)
        pending = program.transfer.classes(pending) & ~through
    elif not (sync.rendezvous or program.transfer.counts_rendezvous):
        pending = 0
    return pending, in_flight & sync.completes


def _passed(program: Program, sync: Sync | None, pending: int, in_flight: int) -> State:
    """The state behind a barrier."""
    return (pending, in_flight) if sync is None else program.after_sync(sync, pending, in_flight)


def _gap(step: Step) -> int:
    return step.gap


def _producers_before(
    program: Program, barriers: Barriers, spot: Spot, wanted: int, visits: float
) -> dict[int, list[tuple[_Access, Rounds]]]:
    """For each class with a wanted bit, the nearest access that left it on each way to `spot`."""
    found: dict[int, list[tuple[_Access, Rounds]]] = {}
    listed: set[tuple[int, ops.Operation]] = set()
    # What stands between: 0 nothing, 1 a rendezvous (only what is in flight comes through), 2 one that drains.
    todo: deque[tuple[int, int, Rounds, int, int]] = deque([(*spot, (), 0, wanted)])
    seen: dict[tuple[int, int], int] = {}
    before = _predecessors(program)
    while todo and visits > 0:
        visits -= 1
        instance, gap, rounds, closed, wanted = todo.popleft()
        place = program.places[instance]
        steps = program.steps[instance]
        gaps = barriers.gaps.get(place, [])
        behind = bisect_left(gaps, gap) - 1
        for number in range(bisect_left(steps, gap, key=_gap) - 1, -1, -1):
            step = steps[number]
            while behind >= 0 and gaps[behind] > step.gap:
                closed = max(closed, _closes(program, barriers.at(place, gaps[behind])))
                behind -= 1
            closed = max(closed, int(step.clears and step.turn is None))
            if _blocked(program, closed) or not wanted:
                break
            if step.number >= 0 and (step.by_engine or not closed):
                bits = all_ages(program.table, step.number)
                if bits & wanted:
                    wanted &= ~bits
                    access = _Access(instance, step)
                    named = (step.number, _operation(program, access))
                    if named not in listed:
                        listed.add(named)
                        found.setdefault(step.number, []).append((access, rounds))
        if not wanted:
            continue
        while behind >= 0 and not _blocked(program, closed):
            closed = max(closed, _closes(program, barriers.at(place, gaps[behind])))
            behind -= 1
        if _blocked(program, closed):
            continue
        for source, loop in before[instance]:
            known = seen.get((source, closed), 0)
            if wanted & ~known:
                seen[source, closed] = known | wanted
                end = len(program.flow.blocks[program.instances.nodes[source].block].ops) + 1
                todo.append((source, end, _after_back_edge(rounds, loop), closed, wanted))
    return found


def _predecessors(program: Program) -> list[list[tuple[int, int]]]:
    """For each instance: where it can be reached from, and the loop whose back edge that is."""
    if program.came_from is None:
        found: list[list[tuple[int, int]]] = [[] for _ in program.edges]
        for source in program.order:
            for edge in program.edges[source]:
                found[edge.target].append((source, edge.loop))
        program.came_from = found
    return program.came_from


def _closes(program: Program, sync: Sync | None) -> int:
    if sync is None or not sync.rendezvous or program.transfer.counts_rendezvous:
        # Where groups are skewed, one rendezvous may not be enough: the nearest access of a class is named.
        return 0
    return 2 if sync.drains or not program.table.engines else 1


def barriers_before(program: Program, barriers: Barriers, position: Position) -> list[Position]:
    """The barriers that were passed last on some way to `position`."""
    found: dict[Position, None] = {}
    todo, seen = [(position.block, position.gap)], {position.block}
    while todo:
        block, gap = todo.pop()
        origin = program.flow.blocks[block].origin
        gaps = [at for at in barriers.gaps.get(origin, []) if barriers.syncs[Position(origin, at)].rendezvous]
        behind = bisect_left(gaps, gap) - 1
        if behind >= 0:
            found[Position(origin, gaps[behind])] = None
            continue
        for source in program.flow.blocks[block].predecessors:
            if source not in seen:
                seen.add(source)
                todo.append((source, len(program.flow.blocks[source].ops) + 1))
    return sorted(found)


def _blocked(program: Program, closed: int) -> bool:
    """Whether nothing from before a barrier can be pending behind it."""
    return closed == 2 or (closed == 1 and not program.table.engines)


def _class_of(program: Program, bit: int) -> int:
    """The class that a bit, of whatever age, belongs to."""
    return bisect_right(program.table.bit, bit) - 1
