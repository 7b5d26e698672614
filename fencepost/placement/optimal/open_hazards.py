"""Whether placements leave a hazard open, asked of many that differ in a few places.

A phase that is entered with the same state, and in whose block the same barriers stand, is not run again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fencepost.analysis.pending import Gaps, State, run_phase
from fencepost.analysis.program import Program, Step, moved
from fencepost.analysis.sync import Cover
from fencepost.flow import Position

Raised = tuple[int, ...]
"""The heights of the places of a block, in order."""
NOTHING: State = (0, 0)
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
        program, runs, edges = self.program, self.runs, self.program.edges
        raised = {
            block: tuple([heights.get(at, 0) for at in places]) for block, places in self.places.items()
        }
        starts = dict.fromkeys(program.order, NOTHING)
        todo = set(program.order)
        while todo:
            for phase in program.order:
                if phase not in todo:
                    continue
                todo.remove(phase)
                key = phase, starts[phase], raised[program.places[phase]]
                end = runs[key] if key in runs else self.run(*key)
                if end is None:
                    return True
                if end == NOTHING:
                    continue
                for target, moves, _, flying_moves in edges[phase]:
                    (pending, flying), (known, known_flying) = end, starts[target]
                    if moves:
                        pending, flying = moved(pending, moves), moved(flying, flying_moves)
                    if pending & ~known or flying & ~known_flying:
                        starts[target] = pending | known, flying | known_flying
                        todo.add(target)
        return False

    def run(self, phase: int, start: State, raised: Raised) -> State | None:
        """The state at the end of a phase; None if something in it conflicts."""
        if len(self.runs) > MOST_KEPT:
            self.runs.clear()
        gaps = self.standing(self.program.places[phase], raised)
        try:
            end = run_phase(self.program, phase, start, gaps, _stop)
        except _Open:
            end = None
        self.runs[phase, start, raised] = end
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
