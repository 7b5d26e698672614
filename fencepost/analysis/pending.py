"""Forward dataflow: what is pending where each phase begins, given the barriers chosen so far.

The state only ever grows, over finitely many bits, so going round until nothing changes ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fencepost.analysis.program import Program, Run, Runs, Step, moved
from fencepost.analysis.sync import Cover, Placement
from fencepost.flow import Position

State = tuple[int, int]
"""Bits of accesses that are pending, and of operations in flight."""

OnConflict = Callable[[int, Step, int, int], Cover | None]
"""Asked where a step conflicts: phase, step, conflicting pending bits, conflicting bits in flight.
Returns the barrier that stands there from now on, or None."""

MOST_KEPT = 20_000
"""Runs of phases that are kept at a time."""

Gaps = dict[int, Cover]
"""Barriers and waits of one block, by their place."""


def by_block(placement: Placement) -> dict[int, Gaps]:
    """Chosen barriers by block and gap."""
    found: dict[int, Gaps] = {}
    for position, cover in placement.items():
        found.setdefault(position.block, {})[position.gap] = cover
    return found


Spot = tuple[int, int]
"""A place in the program as it runs: a phase, and a gap of its block."""


def solve(
    program: Program,
    placement: Placement,
    on_conflict: OnConflict | None = None,
    before: dict[Spot, State] | None = None,
) -> list[State]:
    """The state at the start of every phase.

    `on_conflict` may put barriers in on the way; it then has to add them to `placement` as well. The states right
    before barriers are noted in `before`.
    """
    chosen = by_block(placement)
    count = len(program.steps)
    pending_at, flying_at = [0] * count, [0] * count
    order, places = program.order, program.places
    place = {phase: number for number, phase in enumerate(order)}
    dirty = [True] * count
    kept = _Kept(program, program.runs, chosen) if program.runs is not None else None
    first = 0
    while first < len(order):
        # One sweep in program order; the next begins at the earliest phase that a later one has changed.
        again = len(order)
        for number in range(first, len(order)):
            phase = order[number]
            if not dirty[phase]:
                continue
            dirty[phase] = False
            start = pending_at[phase], flying_at[phase]
            run = kept.run(phase, start) if kept is not None else None
            if run is not None and (run.clean or on_conflict is None):
                pending, flying = run.end
                if before is not None:
                    before.update(((phase, gap), state) for gap, state in run.before)
            else:
                gaps = chosen.get(places[phase])
                pending, flying = run_phase(program, phase, start, gaps, on_conflict, chosen, before)
                if kept is not None:
                    kept.barriers.pop(places[phase], None)
            for target, moves, _, flying_moves in program.edges[phase]:
                after, after_flying = pending, flying
                if moves:
                    after, after_flying = moved(pending, moves), moved(flying, flying_moves)
                if after & ~pending_at[target] or after_flying & ~flying_at[target]:
                    pending_at[target] |= after
                    flying_at[target] |= after_flying
                    dirty[target] = True
                    if place[target] <= number:
                        again = min(again, place[target])
        first = again
    return list(zip(pending_at, flying_at, strict=True))


@dataclass(slots=True)
class _Kept:
    """Runs of phases that are kept."""

    program: Program
    runs: Runs
    chosen: dict[int, Gaps]
    barriers: dict[int, frozenset[tuple[int, Cover]]] = field(default_factory=dict)
    """What stands in each block, as far as that has been asked for."""

    def run(self, phase: int, start: State) -> Run:
        """A phase that is run now, or was before."""
        block, steps = self.program.places[phase], self.program.steps[phase]
        if block not in self.barriers:
            self.barriers[block] = frozenset(self.chosen.get(block, {}).items())
        key = phase, start, self.barriers[block]
        found = self.runs.get(key)
        if found is None or found.steps is not steps:
            conflicts: list[Step] = []
            before: dict[Spot, State] = {}

            def note(phase: int, step: Step, hit: int, flying: int) -> None:
                conflicts.append(step)

            end = run_phase(self.program, phase, start, self.chosen.get(block), note, noted=before)
            found = Run(steps, end, [(gap, state) for (_, gap), state in before.items()], not conflicts)
            if len(self.runs) >= MOST_KEPT:
                self.runs.clear()
            self.runs[key] = found
        return found


def run_phase(
    program: Program,
    phase: int,
    state: State,
    gaps: Gaps | None,
    on_conflict: OnConflict | None = None,
    chosen: dict[int, Gaps] | None = None,
    noted: dict[Spot, State] | None = None,
) -> State:
    """The state at the end of a phase. A barrier chosen for the block's very end counts, too."""
    pending, flying = state
    transfer = program.transfer
    # Chosen barriers stand in gaps, some of which no step belongs to: the two are merged by their place.
    ahead = sorted(gaps, reverse=True) if gaps else []
    for step in program.steps[phase]:
        gap, adds, conflicts, flown, issues, _, clears, lands, counts, may_land, may_count, settles, turn = (
            step
        )
        before = None
        while ahead and ahead[-1] <= gap:
            assert gaps is not None
            here = ahead.pop()
            before = (pending, flying) if here == gap else None
            if noted is not None:
                noted[phase, here] = (pending, flying)
            pending, flying = program.passed(gaps[here], pending, flying)
        if on_conflict is not None:
            hit, hit_flying = pending & conflicts, flying & flown
            if hit or hit_flying:
                cover = on_conflict(phase, step, hit, hit_flying)
                if cover is not None:
                    if before is not None and transfer.counts_rendezvous:
                        # It takes the place of the one that stood here; with groups apart, two are not one.
                        pending, flying = before
                    pending, flying = program.passed(cover, pending, flying)
                    if chosen is not None:
                        chosen.setdefault(program.places[phase], {})[gap] = cover
        if issues or settles or (flying and (lands or counts or may_land or may_count)):
            pending, flying = program.behind(step, pending, flying)
        elif not clears:
            # By far the most frequent case, without a call.
            pending |= adds
        else:
            pending = adds if turn is None else transfer.turned(turn, pending) | adds
    for gap in reversed(ahead):
        assert gaps is not None
        if noted is not None:
            noted[phase, gap] = (pending, flying)
        pending, flying = program.passed(gaps[gap], pending, flying)
    return pending, flying


def states_before(program: Program, placement: Placement) -> dict[Spot, State]:
    """What is pending and in flight right before each chosen barrier, in each phase."""
    # A phase is run again whenever more comes to it: the last time is the one that counts.
    found: dict[Spot, State] = {}
    solve(program, placement, before=found)
    return found


def conflicts_left(program: Program, placement: Placement) -> list[tuple[Position, int, int]]:
    """Every step that still conflicts with something pending or in flight, and with which classes."""
    found: dict[Position, tuple[int, int]] = {}

    def note(phase: int, step: Step, hit: int, flying: int) -> None:
        position = Position(program.places[phase], step.gap)
        before = found.get(position, (0, 0))
        # Classes, whoever of the groups of waves they concern.
        hit, classes = map(program.transfer.classes, (hit, program.of_any_level(flying)))
        found[position] = (before[0] | hit, before[1] | classes)

    solve(program, dict(placement), note)
    return [(position, *bits) for position, bits in found.items()]
