"""The split barriers that expose least, among those that run least: see `split_program` for the program that is
solved.

The whole barriers of the optimum come first. What they wait for copies with stays where it is; everything else is
placed anew, as pairs or as whole barriers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fencepost.analysis.program import Program
from fencepost.analysis.transfer import Placement, Sync
from fencepost.flow import Position
from fencepost.placement.optimal.costs import Exposure
from fencepost.placement.optimal.covering_problem import ConstraintMaker
from fencepost.placement.optimal.dual_ascent import conflicts_of, without
from fencepost.placement.optimal.open_paths import Backwards, OpenPath, Synchronization
from fencepost.placement.optimal.solver_start import can_be_asked
from fencepost.placement.optimal.split_program import HalvesModel, Values, taken
from fencepost.placement.strategy import Halves

MOST_PLACES = 250
"""Kernels with more places are not put to the solver: whole barriers are split one by one there."""
EVERY_PLACE = 16
"""Kernels with so few places have all of them looked at; in others, two for each stretch between accesses."""
MOST_BARRIERS = 2
"""Split barriers that pairs are spread over: one more for pairs that overlap."""
MOST_EACH = 6
"""Paths to one consumer that are added at once."""
FARTHEST = 1e6
"""How much more often than the rarest place the most frequent one may run."""


@dataclass(frozen=True, slots=True)
class SplitOptimum:
    """A placement of pairs."""

    whole: Placement
    """The same with whole barriers where the waits stand: what each is there for."""
    split: Placement
    halves: dict[Position, Halves]
    """For each barrier of `whole` that was split, its halves."""
    exposed: float
    """Cycles of latency in one run of the kernel, estimated."""
    places: int
    """Where halves could have been put."""
    barriers: int
    """Split barriers that pairs could have been spread over."""


def find_pairs(
    program: Program, placement: Placement, exposure: Exposure, until: float
) -> SplitOptimum | None:
    """The pairs that expose least in place of the barriers that were put in; None if that was not found in time.

    Another split barrier, for pairs that overlap, is tried where pairs of one barrier stand in each other's path.
    """
    found = _find_pairs(program, placement, exposure, until, 1)
    if found is None or len(program.barrier_ids) < MOST_BARRIERS or not _touching(found):
        return found
    more = _find_pairs(program, placement, exposure, until, MOST_BARRIERS)
    return more or found


def _touching(found: SplitOptimum) -> bool:
    """Whether a signal stands where the pair before it has just been waited for."""
    return any(sync.wait and sync.signal for sync in found.split.values())


def _find_pairs(
    program: Program, placement: Placement, exposure: Exposure, until: float, barriers: int
) -> SplitOptimum | None:
    """The pairs that expose least, with so many split barriers; None if none were found or it is too large."""
    flow = program.flow
    added = {at: sync for at, sync in placement.items() if at not in program.existing and sync.rendezvous}
    if not added or any(sync.is_split for sync in program.existing.values()):
        return None
    waits = {at: sync._replace(rendezvous=False) for at, sync in added.items() if sync.completes}
    others = {at: sync for at, sync in placement.items() if at not in added}
    fixed = replace(program, existing=others | waits)
    free = frozenset(_places_that_matter(program, exposure, _free_places(program, set(others))))
    times = [flow.frequency(at) for at in free]
    if len(free) > MOST_PLACES or max(times) > FARTHEST * min(times):
        return None
    model = HalvesModel(flow, free, barriers, exposure)
    model.build(sum(flow.frequency(at) for at in added))
    solved = _close_ways(fixed, model, free, until)
    if solved is None:
        return None
    split, values = solved
    if len(conflicts_of(program, split)) > len(conflicts_of(program, placement)):
        return None
    return _result(program, fixed, split, model, values)


def _close_ways(
    fixed: Program, model: HalvesModel, free: frozenset[Position], until: float
) -> tuple[Placement, Values] | None:
    """Ask the solver until no path is left open, each time with those of its last answer; None if it gives up."""
    backwards, maker = Backwards(fixed), ConstraintMaker(fixed, {})
    split: Placement = dict(fixed.existing)
    known: list[tuple[Position, ...]] = []
    values: Values = {}
    while True:
        new = _not_implied(_open_ways(fixed, backwards, maker, split, free), known)
        if not new:
            return split, values
        known += new
        for path in new:
            model.close(list(path))
        if not can_be_asked(until):
            return None
        solved = model.linear.solve(until - time.monotonic())
        if solved is None:
            return None
        values = solved
        split = _as_placement(fixed, values)


def _free_places(program: Program, existing: set[Position]) -> list[Position]:
    """Everywhere where half of a barrier can stand."""
    found: list[Position] = []
    for origin in program.instances_of:
        if origin in program.flow.sealed:
            continue
        here = program.flow.blocks[origin].ops
        for gap in range(len(here) + 1):
            inside = 0 < gap < len(here) and here[gap].owner is not None
            if inside and here[gap].owner is here[gap - 1].owner:
                continue
            position = Position(origin, gap)
            if position not in existing and position not in program.inside_splits:
                found.append(position)
    return found


def _places_that_matter(program: Program, exposure: Exposure, free: list[Position]) -> Iterator[Position]:
    """Of each stretch without an access: its end, and the first place where a fence has nothing to wait for.

    A wait gains from moving down to the end of its stretch. A signal loses no more than it gains from moving down as
    long as its fence stands, and only loses after that.
    """
    if len(free) <= EVERY_PLACE:
        yield from free
        return
    accesses = {
        Position(origin, step.gap)
        for origin, instances in program.instances_of.items()
        for instance in instances
        for step in program.steps[instance]
    }
    stretch: list[Position] = []
    for place, position in enumerate(free):
        stretch.append(position)
        last = place + 1 == len(free) or free[place + 1].block != position.block
        if last or position in accesses or Position(position.block, position.gap + 1) in program.existing:
            yield next((at for at in stretch if not exposure.at(at)), position)
            yield position
            stretch = []


def _not_implied(
    paths: list[tuple[Position, ...]], known: list[tuple[Position, ...]]
) -> list[tuple[Position, ...]]:
    """The paths that do not run along the whole of another one: what closes that closes them."""
    kept: list[tuple[Position, ...]] = []
    for path in sorted(paths, key=len):
        if not any(_runs_along(path, other) for other in (*known, *kept)):
            kept.append(path)
    return kept


def _runs_along(path: tuple[Position, ...], other: tuple[Position, ...]) -> bool:
    rest = iter(path)
    return all(position in rest for position in other)


def _open_ways(
    program: Program,
    backwards: Backwards,
    maker: ConstraintMaker,
    split: Placement,
    free: frozenset[Position],
) -> list[tuple[Position, ...]]:
    """The places on paths that are still open."""
    found: list[tuple[Position, ...]] = []
    sync = Synchronization.of(split)
    for instance, index, pending, in_flight in conflicts_of(program, split):
        wanted = (program.transfer.classes(pending), in_flight)
        for _ in range(MOST_EACH):
            path = None if wanted == (0, 0) else backwards.find(instance, index, wanted, sync)
            if path is None:
                break
            places = _places(program, maker, path, free)
            if places:
                found.append(places)
            wanted = without(program, path, wanted)
    return list(dict.fromkeys(found))


def _places(
    program: Program, maker: ConstraintMaker, path: OpenPath, free: frozenset[Position]
) -> tuple[Position, ...]:
    """The free places on a path, from where the producer's access is complete."""
    found: list[Position] = []
    producer = program.steps[path.start.instance][path.first]
    complete = not producer.by_engine
    in_flight = producer.adds
    first, lower = path.first + 1, producer.gap
    for segment in path.segments():
        steps, block = program.steps[segment.instance], program.places[segment.instance]
        existing, number = maker.existing.get(block, {}), first
        for gap in range(lower + 1, segment.end + 1):
            while number < segment.last and steps[number].gap < gap:
                _, in_flight = program.after_step_without_adds(steps[number], 0, in_flight)
                number += 1
            sync = existing.get(gap)
            if not complete and sync is not None and in_flight & sync.completes:
                complete = True
            position = Position(block, gap)
            if complete and position in free:
                found.append(position)
        for step in steps[number : segment.last]:
            _, in_flight = program.after_step_without_adds(step, 0, in_flight)
        first, lower = 0, -1
    return tuple(found)


def _as_placement(program: Program, values: Values) -> Placement:
    """What the solver has chosen, with what stands."""
    split = dict(program.existing)
    nothing = Sync(0, False)
    for _, position in taken(values, "whole"):
        split[position] = split.get(position, nothing)._replace(rendezvous=True)
    for _, position, number in taken(values, "wait"):
        split[position] = split.get(position, nothing)._replace(wait=number)
    for _, position, number in taken(values, "signal"):
        split[position] = split.get(position, nothing)._replace(signal=number)
    return split


def _result(
    program: Program, fixed: Program, split: Placement, model: HalvesModel, values: Values
) -> SplitOptimum:
    """The result, with each signal paired with the first wait that it leads to."""
    whole = dict(fixed.existing)
    halves: dict[Position, Halves] = {}
    for _, position in taken(values, "whole"):
        whole[position] = split[position]._replace(wait=0, signal=0)
    listed: set[Position] = set()
    for _, position, number in sorted(taken(values, "wait")):
        signals = _signals_of(program, split, position, number) - listed
        listed |= signals
        halves[position] = Halves(tuple(sorted(signals)), (position,), number)
        stands = split[position]
        whole[position] = Sync(stands.completes, True, stands.counts)
    exposed = sum(model.linear.cost[place] * values[name] for name, place in model.linear.number.items())
    return SplitOptimum(whole, split, halves, exposed, len(model.free), model.ids)


def _signals_of(program: Program, split: Placement, wait: Position, number: int) -> set[Position]:
    """The signals that a wait can be the next one after."""
    flow = program.flow
    gaps: dict[int, list[int]] = {}
    for position, sync in split.items():
        if sync.signal == number:
            gaps.setdefault(position.block, []).append(position.gap)
    found: set[Position] = set()
    todo = [(block.index, wait.gap) for block in flow.blocks if block.origin == wait.block]
    seen = set()
    while todo:
        block, before = todo.pop()
        origin = flow.blocks[block].origin
        here = [gap for gap in gaps.get(origin, ()) if gap < before]
        if here:
            found.add(Position(origin, max(here)))
            continue
        for source in flow.blocks[block].predecessors:
            if source not in seen:
                seen.add(source)
                todo.append((source, len(flow.blocks[source].ops) + 1))
    return found
