"""Forward dataflow: what is pending where each block begins, given the barriers chosen so far.

The state only ever grows, over finitely many bits, so going round until nothing changes ends.
"""

from __future__ import annotations

from collections.abc import Callable

from fencepost.analysis.program import ASYNC, Placement, Program, Step, moved
from fencepost.flow import Position

State = tuple[int, int]
"""Bits of accesses that are pending, and of copies in flight."""

OnConflict = Callable[[int, Step, int, int], int]
"""Asked where a step conflicts: block, step, conflicting pending bits, conflicting bits in flight.
Returns the barrier that stands there from now on: PLAIN, ASYNC, or 0 for none."""


def by_block(placement: Placement) -> dict[int, dict[int, int]]:
    """Chosen barriers by block and gap."""
    found: dict[int, dict[int, int]] = {}
    for position, strength in placement.items():
        found.setdefault(position.block, {})[position.gap] = strength
    return found


def solve(program: Program, placement: Placement, on_conflict: OnConflict | None = None) -> list[State]:
    """The state at the start of every block.

    `on_conflict` may put barriers in on the way; it then has to add them to `placement` as well.
    """
    chosen = by_block(placement)
    count = len(program.steps)
    pending_at, flying_at = [0] * count, [0] * count
    order = program.flow.order
    place = {block: number for number, block in enumerate(order)}
    dirty = [True] * count
    first = 0
    while first < len(order):
        # One sweep in program order; the next begins at the earliest block that a later one has changed.
        again = len(order)
        for number in range(first, len(order)):
            block = order[number]
            if not dirty[block]:
                continue
            dirty[block] = False
            pending, flying = run_block(
                program, block, (pending_at[block], flying_at[block]), chosen.get(block), on_conflict, chosen
            )
            for target, moves, _, flying_moves in program.edges[block]:
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


def run_block(
    program: Program,
    block: int,
    state: State,
    gaps: dict[int, int] | None,
    on_conflict: OnConflict | None = None,
    chosen: dict[int, dict[int, int]] | None = None,
) -> State:
    """The state at the end of a block. A barrier chosen for the block's very end counts, too."""
    pending, flying = state
    # Chosen barriers stand in gaps, some of which no step belongs to: the two are merged by their place.
    ahead = sorted(gaps, reverse=True) if gaps else []
    for step in program.steps[block]:
        gap, adds, conflicts, conflicts_flying, in_flight, clears, *_ = step
        while ahead and ahead[-1] <= gap:
            pending = 0
            if gaps and gaps[ahead[-1]] == ASYNC:
                flying = 0
            ahead.pop()
        if on_conflict is not None:
            hit, hit_flying = pending & conflicts, flying & conflicts_flying
            if hit or hit_flying:
                strength = on_conflict(block, step, hit, hit_flying)
                if strength:
                    pending = 0
                    if strength == ASYNC:
                        flying = 0
                    if chosen is not None:
                        chosen.setdefault(block, {})[gap] = strength
        if flying or clears or in_flight:
            pending, flying = program.behind(step, pending, flying)
        else:
            # By far the most frequent case, without a call.
            pending |= adds
    if ahead:
        pending = 0
        if gaps and any(gaps[gap] == ASYNC for gap in ahead):
            flying = 0
    return pending, flying


def states_before(program: Program, placement: Placement) -> dict[Position, State]:
    """What is pending and in flight right before each chosen barrier."""
    starts = solve(program, placement)
    found: dict[Position, State] = {}
    for block, gaps in by_block(placement).items():
        state = starts[block]
        steps, number = program.steps[block], 0
        for gap in sorted(gaps):
            first = number
            while number < len(steps) and steps[number].gap < gap:
                number += 1
            for passed in range(first, number):
                state = program.behind(steps[passed], *state)
            found[Position(block, gap)] = state
            state = (0, 0 if gaps[gap] == ASYNC else state[1])
    return found


def conflicts_left(program: Program, placement: Placement) -> list[tuple[Position, int, int]]:
    """Every step that still conflicts with something pending or in flight, and with which classes."""
    found: dict[Position, tuple[int, int]] = {}

    def note(block: int, step: Step, hit: int, flying: int) -> int:
        before = found.get(Position(block, step.gap), (0, 0))
        found[Position(block, step.gap)] = (before[0] | hit, before[1] | program.of_any_level(flying))
        return 0

    solve(program, dict(placement), note)
    return [(position, *bits) for position, bits in found.items()]
