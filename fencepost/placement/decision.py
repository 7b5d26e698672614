"""Where barriers and waits go in a kernel, and why (the hazards that each one alone covers): what `emit` is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.analysis.hazards import Barriers, Effort, ExposedLimits, Hazard, exposed_without
from fencepost.analysis.pending import states_before
from fencepost.analysis.program import Program
from fencepost.analysis.transfer import Placement
from fencepost.flow import Position
from fencepost.placement.split_barriers import Halves


@dataclass(frozen=True, slots=True)
class Decision:
    """Where barriers and waits go."""

    strategy: str
    placement: Placement
    """With whole barriers."""
    proof: str = ""
    """For `optimal`: whether it is, or how far from it the result can be."""
    best: float | None = None
    """What the optimum costs, if it was looked for."""
    split: Placement | None = None
    """The same with signals and waits, where barriers are split."""
    halves: dict[Position, Halves] | None = None
    """For each barrier that was split, its halves."""

    def added(self, existing: Placement) -> Placement:
        """What has to be put in besides the barriers and waits that exist."""
        found = {at: sync for at, sync in self.placement.items() if at not in existing}
        # Several where there is one already: the new ones come in front of it, and it stays as it is.
        return found | {
            at: sync._replace(times=sync.times - 1)
            for at, sync in self.placement.items()
            if at in existing and sync.times > 1
        }

    def changed(self, existing: Placement) -> list[Position]:
        """The existing barriers and waits that have to do something else."""
        several = {at for at, sync in self.placement.items() if sync.times > 1}
        return [at for at, sync in existing.items() if self.placement[at] != sync and at not in several]


MOST_VISITS, LEAST_VISITS = 50_000, 32
"""Instances that are looked through for the reasons of all barriers together, and for each at least."""
MOST_STEPS, LEAST_STEPS = 2_000_000, 1_000
"""Steps that are walked over from all barriers together, and from each at least."""


def reasons_for(
    program: Program, placement: Placement, positions: Sequence[Position], most: int = 8
) -> dict[Position, list[Hazard]]:
    """For each of some barriers, the hazards that it alone covers, nearest first."""
    if not positions:
        return {}
    before = states_before(program, placement)
    barriers = Barriers(placement)
    # In a kernel of many barriers, what is far away is not looked for.
    visits = max(MOST_VISITS // len(positions), LEAST_VISITS)
    steps = max(MOST_STEPS // len(positions), LEAST_STEPS)
    return {
        position: exposed_without(
            program, barriers, position, before, ExposedLimits(most, visits, Effort(steps))
        )
        for position in positions
    }


@dataclass(slots=True)
class Reasons:
    """The reasons for some barriers. They are looked up when one is asked for: most hosts never do."""

    program: Program
    placement: Placement
    positions: Sequence[Position]
    most: int
    """Of each barrier so many at most."""
    found: dict[Position, list[Hazard]] | None = None

    def at(self, position: Position) -> list[Hazard]:
        """Why there is a barrier at a position."""
        if self.found is None:
            self.found = reasons_for(self.program, self.placement, self.positions, self.most)
        return self.found[position]
