"""Why each barrier is there: the hazards that it alone covers, and the comment that says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.analysis.hazards import Barriers, Effort, ExposedLimits, Hazard, exposed_without
from fencepost.analysis.pending import states_before
from fencepost.analysis.program import Program
from fencepost.analysis.transfer import Placement
from fencepost.flow import Position

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


def comment_for(hazards: Sequence[Hazard], most: int = 2) -> str:
    """The reason for a barrier, short enough to stand behind it."""
    shown: dict[str, None] = {}
    for hazard in hazards:
        again = ""
        if hazard.is_loop:
            again = ", next iteration" if hazard.distance <= 1 else f", {hazard.distance} iterations later"
        if hazard.behind:
            again += ", late → early" if hazard.behind > 0 else ", early → late"
        shown.setdefault(f"{hazard.producer.noun} → {hazard.consumer.noun} {_buffers(hazard)}{again}")
    texts = list(shown)
    if not texts:
        return "no hazard needs this one alone"
    more = "; and more" if len(texts) > most else ""
    return "; ".join(texts[:most]) + more


def _buffers(hazard: Hazard) -> str:
    """The buffer that both touch, or both buffers where they share bytes under two names."""
    one = {view.buffer.name for view in hazard.producer.views}
    other = {view.buffer.name for view in hazard.consumer.views}
    if one & other:
        return "%" + sorted(one & other)[0]
    return f"%{sorted(one)[0]}/%{sorted(other)[0]}"
