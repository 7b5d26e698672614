"""Placements where groups of waves run apart (see `analysis.skew`).

Barriers that stand in the kernel without a fence can be given one. That costs less than a barrier more, so strategies
choose as if all of them had one; afterwards each goes back to what it was if nothing needs its fence. Of several new
barriers at one place, those that nothing needs go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fencepost.analysis.program import Program
from fencepost.analysis.sync import Cover, Placement
from fencepost.flow import Position
from fencepost.placement.redundant import Pruning
from fencepost.placement.strategy import Strategy
from fencepost.placement.wait_search import choose

FENCE_COST = 0.1
"""What a fence costs where waves meet anyway, in barriers."""


def choose_apart(program: Program, strategy: Strategy, widest: Mapping[str, int]) -> Placement:
    """Where a strategy puts barriers and waits, and which standing barriers get a fence."""
    fenced = {at: cover._replace(raw=False) for at, cover in program.standing.items()}
    return without_idle_fences(program, choose(replace(program, standing=fenced), strategy, widest))


def without_idle_fences(program: Program, placement: Placement) -> Placement:
    """`placement` without fences, and without repeated barriers, that nothing needs; the most frequent first."""
    more = [at for at in placement if at.block in program.siblings and _weaker(program, placement, at)]
    if not more:
        return placement
    pruning, kept = Pruning(program, placement), dict(placement)
    for position in sorted(more, key=lambda at: (-program.flow.frequency(at), at)):
        for weaker in _weaker(program, kept, position):
            if not pruning.weaken(position, weaker):
                break
            kept[position] = pruning.cover[position]
    return kept


def _weaker(program: Program, placement: Placement, position: Position) -> list[Cover]:
    cover, standing = placement[position], program.standing.get(position)
    if standing is not None:
        return [standing] if standing.raw and standing != cover else []
    return (
        [cover._replace(times=times) for times in range(cover.times - 1, 0, -1)] if cover.rendezvous else []
    )


def upgrades(program: Program, placement: Placement) -> list[Position]:
    """The standing barriers that a placement gives a fence; not those that get a barrier in front of them."""
    return [
        at
        for at, cover in program.standing.items()
        if cover.raw and at in placement and not placement[at].raw and placement[at].times == 1
    ]


def cost_apart(program: Program, placement: Placement) -> float:
    """How often the new barriers run, and fences where there was none, weighed."""
    flow, standing = program.flow, program.standing
    paid = sum(flow.frequency(at) * FENCE_COST for at in upgrades(program, placement))
    for at, cover in placement.items():
        if at not in standing:
            paid += flow.frequency(at) * (cover.times if cover.is_barrier else FENCE_COST)
        else:
            paid += flow.frequency(at) * (cover.times - 1)
    return paid
