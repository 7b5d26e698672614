"""Whether placements leave a hazard open, asked of many that differ in a few places.

A phase that is entered with the same state, and in whose block the same barriers stand, is not run again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fencepost.analysis.covers import Cover
from fencepost.analysis.pending import Gaps, State, run_phase
from fencepost.analysis.program import Program, Step, moved
from fencepost.flow import Position

Raised = tuple[int, ...]
"""The heights of the places of a block, in order."""
MOST_KEPT = 50_000
"""Runs of phases that are kept."""


class _Open(Exception):
    """A hazard is open."""


@dataclass(slots=True)
class Openings:
    """Looks for open hazards under placements of one program."""

    program: Program
    covers: Mapping[Position, list[Cover]]
    """What can stand at each place, from height 1 up."""
    places: dict[int, list[Position]] = field(default_factory=dict)
    """The places of each block, in order."""
    gaps: dict[tuple[int, Raised], Gaps] = field(default_factory=dict)
    """What stands in a block at some heights of its places."""
    runs: dict[tuple[int, State, Raised], State | None] = field(default_factory=dict)
    """The state at the end of a phase; None if something in it conflicts."""

    def __post_init__(self) -> None:
        self.places = {block: [] for block in self.program.siblings}
        for at in sorted(self.covers):
            self.places[at.block].append(at)

    def is_open(self, heights: Mapping[Position, int]) -> bool:
        """Whether a hazard is open at these heights."""
        program = self.program
        raised = {
            block: tuple([heights.get(at, 0) for at in places]) for block, places in self.places.items()
        }
        order = program.order
        starts = dict.fromkeys(order, (0, 0))
        todo = dict.fromkeys(order, True)
        while any(todo.values()):
            for phase in order:
                if not todo[phase]:
                    continue
                todo[phase] = False
                end = self.run(phase, starts[phase], raised[program.places[phase]])
                if end is None:
                    return True
                for target, moves, _, flying_moves in program.edges[phase]:
                    pending, flying = starts[target]
                    pending |= moved(end[0], moves)
                    flying |= moved(end[1], flying_moves)
                    if (pending, flying) != starts[target]:
                        starts[target] = pending, flying
                        todo[target] = True
        return False

    def run(self, phase: int, start: State, raised: Raised) -> State | None:
        """The state at the end of a phase; None if something in it conflicts."""
        key = phase, start, raised
        if key in self.runs:
            return self.runs[key]
        if len(self.runs) > MOST_KEPT:
            self.runs.clear()
        try:
            end = run_phase(
                self.program, phase, start, self.standing(self.program.places[phase], raised), _stop
            )
        except _Open:
            end = None
        self.runs[key] = end
        return end

    def standing(self, block: int, raised: Raised) -> Gaps:
        """What stands in a block."""
        key = block, raised
        if key not in self.gaps:
            found = {at.gap: cover for at, cover in self.program.standing.items() if at.block == block}
            for at, height in zip(self.places[block], raised, strict=True):
                if height:
                    found[at.gap] = self.covers[at][height - 1]
            self.gaps[key] = found
        return self.gaps[key]


def _stop(phase: int, step: Step, hit: int, flying: int) -> None:
    raise _Open
