"""Forward dataflow: what is pending where each instance begins, given the barriers chosen so far.

The state only ever grows, over finitely many bits, so going round until nothing changes ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fencepost.analysis.program import Program, Run, Runs, Step, moved
from fencepost.analysis.transfer import Placement, Sync
from fencepost.flow import Position

State = tuple[int, int]
"""Bits of accesses that are pending, and of operations in flight."""

OnConflict = Callable[[int, Step, int, int], Sync | None]
"""Asked where a step conflicts: instance, step, conflicting pending bits, conflicting bits in flight.
Returns the barrier that stands there from now on, or None."""

MOST_KEPT = 20_000
"""Runs of instances that are kept at a time."""

Gaps = dict[int, Sync]
"""Barriers and waits of one block, by their place."""


def by_block(placement: Placement) -> dict[int, Gaps]:
    """Chosen barriers by block and gap."""
    found: dict[int, Gaps] = {}
    for position, sync in placement.items():
        found.setdefault(position.block, {})[position.gap] = sync
    return found


Spot = tuple[int, int]
"""A place in the program as it runs: an instance, and a gap of its block."""


# many branches because most of the time of a small kernel goes by here: instances where nothing happens are passed by
def solve(
    program: Program,
    placement: Placement,
    on_conflict: OnConflict | None = None,
    before: dict[Spot, State] | None = None,
) -> list[State]:
    """The state at the start of every instance.

    `on_conflict` may put barriers in on the way; it then has to add them to `placement` as well. The states right
    before barriers are noted in `before`.
    """
    chosen = by_block(placement)
    count = len(program.steps)
    pending_at, in_flight_at = [0] * count, [0] * count
    order, places = program.order, program.places
    place = {instance: number for number, instance in enumerate(order)}
    dirty = [True] * count
    kept = _Kept(program, program.runs, chosen) if program.runs is not None else None
    first = 0
    while first < len(order):
        # One sweep in program order; the next begins at the earliest instance that a later one has changed.
        again = len(order)
        for number in range(first, len(order)):
            instance = order[number]
            if not dirty[instance]:
                continue
            dirty[instance] = False
            start = pending_at[instance], in_flight_at[instance]
            runs = bool(program.steps[instance]) or places[instance] in chosen
            run = kept.run(instance, start) if kept is not None and runs else None
            if not runs:
                pending, in_flight = start
            elif run is not None and (run.clean or on_conflict is None):
                pending, in_flight = run.end
                if before is not None:
                    before.update(((instance, gap), state) for gap, state in run.before)
            else:
                gaps = chosen.get(places[instance])
                pending, in_flight = run_instance(program, instance, start, gaps, on_conflict, chosen, before)
                if kept is not None:
                    kept.barriers.pop(places[instance], None)
            for target, moves, _, in_flight_moves in program.edges[instance]:
                after, after_in_flight = pending, in_flight
                if moves:
                    after, after_in_flight = moved(pending, moves), moved(in_flight, in_flight_moves)
                if after & ~pending_at[target] or after_in_flight & ~in_flight_at[target]:
                    pending_at[target] |= after
                    in_flight_at[target] |= after_in_flight
                    dirty[target] = True
                    if place[target] <= number:
                        again = min(again, place[target])
        first = again
    return list(zip(pending_at, in_flight_at, strict=True))


@dataclass(slots=True)
class _Kept:
    """Runs of instances that are kept."""

    program: Program
    runs: Runs
    chosen: dict[int, Gaps]
    barriers: dict[int, frozenset[tuple[int, Sync]]] = field(default_factory=dict)
    """What stands in each block, as far as that has been asked for."""

    def run(self, instance: int, start: State) -> Run:
        """An instance that is run now, or was before."""
        block, steps = self.program.places[instance], self.program.steps[instance]
        if block not in self.barriers:
            self.barriers[block] = frozenset(self.chosen.get(block, {}).items())
        key = instance, start, self.barriers[block]
        found = self.runs.get(key)
        if found is None or found.steps is not steps:
            conflicts: list[Step] = []
            before: dict[Spot, State] = {}

            def note(instance: int, step: Step, hit: int, in_flight: int) -> None:
                conflicts.append(step)

            end = run_instance(self.program, instance, start, self.chosen.get(block), note, noted=before)
            found = Run(steps, end, [(gap, state) for (_, gap), state in before.items()], not conflicts)
            if len(self.runs) >= MOST_KEPT:
                self.runs.clear()
            self.runs[key] = found
        return found


# many branches and many parameters because this is the innermost loop of the dataflow: calls would dominate it
def run_instance(
    program: Program,
    instance: int,
    state: State,
    gaps: Gaps | None,
    on_conflict: OnConflict | None = None,
    chosen: dict[int, Gaps] | None = None,
    noted: dict[Spot, State] | None = None,
) -> State:
    """The state at the end of an instance. A barrier chosen for the block's very end counts, too."""
    pending, in_flight = state
    transfer = program.transfer
    # Chosen barriers stand in gaps, some of which no step belongs to: the two are merged by their place.
    ahead = sorted(gaps, reverse=True) if gaps else []
    for step in program.steps[instance]:
        gap = step.gap
        before = None
        while ahead and ahead[-1] <= gap:
            assert gaps is not None
            here = ahead.pop()
            before = (pending, in_flight) if here == gap else None
            if noted is not None:
                noted[instance, here] = (pending, in_flight)
            pending, in_flight = program.after_sync(gaps[here], pending, in_flight)
        if on_conflict is not None:
            hit, hit_in_flight = pending & step.conflicts, in_flight & step.in_flight
            if hit or hit_in_flight:
                sync = on_conflict(instance, step, hit, hit_in_flight)
                if sync is not None:
                    if before is not None and transfer.counts_rendezvous:
                        # It takes the place of the one that stood here; with groups apart, two are not one.
                        pending, in_flight = before
                    pending, in_flight = program.after_sync(sync, pending, in_flight)
                    if chosen is not None:
                        chosen.setdefault(program.places[instance], {})[gap] = sync
        if (
            step.by_engine
            or step.settles
            or (in_flight and (step.completes or step.counts or step.may_complete or step.may_count))
        ):
            pending, in_flight = program.after_step(step, pending, in_flight)
        elif not step.clears:
            # By far the most frequent case, without a call.
            pending |= step.adds
        else:
            pending = step.adds | (transfer.turned(step.turn, pending) if step.turn is not None else 0)
    for gap in reversed(ahead):
        assert gaps is not None
        if noted is not None:
            noted[instance, gap] = (pending, in_flight)
        pending, in_flight = program.after_sync(gaps[gap], pending, in_flight)
    return pending, in_flight


def states_before(program: Program, placement: Placement) -> dict[Spot, State]:
    """What is pending and in flight right before each chosen barrier, in each instance."""
    # An instance is run again whenever more reaches it: the last time is the one that counts.
    found: dict[Spot, State] = {}
    solve(program, placement, before=found)
    return found


def conflicts_left(program: Program, placement: Placement) -> list[tuple[Position, int, int]]:
    """Every step that still conflicts with something pending or in flight, and with which classes."""
    found: dict[Position, tuple[int, int]] = {}

    def note(instance: int, step: Step, hit: int, in_flight: int) -> None:
        position = Position(program.places[instance], step.gap)
        before = found.get(position, (0, 0))
        # Classes, whoever of the groups of waves they concern.
        hit, classes = map(program.transfer.classes, (hit, program.of_any_level(in_flight)))
        found[position] = (before[0] | hit, before[1] | classes)

    solve(program, dict(placement), note)
    return [(position, *bits) for position, bits in found.items()]
