"""Placements where groups of waves are skewed (see `analysis.skew`).

Barriers that stand in the kernel without a fence can be given one. That costs less than a barrier more, so strategies
choose as if all of them had one; afterwards each goes back to what it was if nothing needs its fence. Of several new
barriers at one place, those that nothing needs go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fencepost.analysis.program import Program
from fencepost.analysis.transfer import Placement, Sync
from fencepost.flow import Position
from fencepost.placement.redundant import Pruning
from fencepost.placement.strategy import Strategy
from fencepost.placement.wait_counts import choose

FENCE_COST = 0.1
"""What a fence costs where waves meet anyway, in barriers."""


def choose_skewed(program: Program, strategy: Strategy, widest: Mapping[str, int]) -> Placement:
    """Where a strategy puts barriers and waits, and which existing barriers get a fence."""
    fenced = {
        at: sync._replace(raw=False) if at.block in program.instances_of else sync
        for at, sync in program.existing.items()
    }
    return without_idle_fences(program, choose(replace(program, existing=fenced), strategy, widest))


def without_idle_fences(program: Program, placement: Placement) -> Placement:
    """`placement` without fences, and without repeated barriers, that nothing needs; the most frequent first."""
    more = [at for at in placement if at.block in program.instances_of and _weaker(program, placement, at)]
    if not more:
        return placement
    pruning, kept = Pruning(program, placement), dict(placement)
    for position in sorted(more, key=lambda at: (-program.flow.frequency(at), at)):
        for weaker in _weaker(program, kept, position):
            if not pruning.weaken(position, weaker):
                break
            kept[position] = pruning.sync[position]
    return kept


def _weaker(program: Program, placement: Placement, position: Position) -> list[Sync]:
    sync, existing = placement[position], program.existing.get(position)
    if existing is not None:
        return [existing] if existing.raw and existing != sync else []
    return [sync._replace(times=times) for times in range(sync.times - 1, 0, -1)] if sync.rendezvous else []


def upgrades(program: Program, placement: Placement) -> list[Position]:
    """The existing barriers that a placement gives a fence; not those that get a barrier in front of them."""
    return [
        at
        for at, sync in program.existing.items()
        if sync.raw and at in placement and not placement[at].raw and placement[at].times == 1
    ]


def cost_skewed(program: Program, placement: Placement) -> float:
    """How often the new barriers run, and fences where there was none, weighed."""
    flow, existing = program.flow, program.existing
    paid = sum(flow.frequency(at) * FENCE_COST for at in upgrades(program, placement))
    for at, sync in placement.items():
        if at not in existing:
            paid += flow.frequency(at) * (sync.times if sync.is_barrier else FENCE_COST)
        else:
            paid += flow.frequency(at) * (sync.times - 1)
    return paid
