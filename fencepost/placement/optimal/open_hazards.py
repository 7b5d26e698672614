"""Whether placements leave a hazard open, asked of many that differ in a few places.

An instance that is entered with the same state, and in whose block the same barriers stand, is not run again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fencepost.analysis.pending import Gaps, State, run_instance
from fencepost.analysis.program import Program, Step, moved
from fencepost.analysis.transfer import Sync
from fencepost.flow import Position

Raised = tuple[int, ...]
"""The levels of the places of a block, in order."""
NOTHING: State = (0, 0)
MOST_KEPT = 50_000
"""Runs of instances that are kept."""


class _Open(Exception):
    """A hazard is open."""


@dataclass(slots=True)
class OpenHazards:
    """Looks for open hazards under placements of one program."""

    program: Program
    syncs: Mapping[Position, list[Sync]]
    """What can stand at each place, from level 1 up."""
    places: dict[int, list[Position]] = field(default_factory=dict)
    """The places of each block, in order."""
    gaps: dict[tuple[int, Raised], Gaps] = field(default_factory=dict)
    """What stands in a block at some levels of its places."""
    runs: dict[tuple[int, State, Raised], State | None] = field(default_factory=dict)
    """The state at the end of an instance; None if something in it conflicts."""

    def __post_init__(self) -> None:
        self.places = {block: [] for block in self.program.instances_of}
        for at in sorted(self.syncs):
            self.places[at.block].append(at)

    def is_open(self, levels: Mapping[Position, int]) -> bool:
        """Whether a hazard is open at these levels."""
        program, runs, edges = self.program, self.runs, self.program.edges
        raised = {block: tuple([levels.get(at, 0) for at in places]) for block, places in self.places.items()}
        starts = dict.fromkeys(program.order, NOTHING)
        todo = set(program.order)
        while todo:
            for instance in program.order:
                if instance not in todo:
                    continue
                todo.remove(instance)
                key = instance, starts[instance], raised[program.places[instance]]
                end = runs[key] if key in runs else self.run(*key)
                if end is None:
                    return True
                if end == NOTHING:
                    continue
                for target, moves, _, in_flight_moves in edges[instance]:
                    (pending, in_flight), (known, known_in_flight) = end, starts[target]
                    if moves:
                        pending, in_flight = moved(pending, moves), moved(in_flight, in_flight_moves)
                    if pending & ~known or in_flight & ~known_in_flight:
                        starts[target] = pending | known, in_flight | known_in_flight
                        todo.add(target)
        return False

    def run(self, instance: int, start: State, raised: Raised) -> State | None:
        """The state at the end of an instance; None if something in it conflicts."""
        if len(self.runs) > MOST_KEPT:
            self.runs.clear()
        gaps = self.existing(self.program.places[instance], raised)
        try:
            end = run_instance(self.program, instance, start, gaps, _stop)
        except _Open:
            end = None
        self.runs[instance, start, raised] = end
        return end

    def existing(self, block: int, raised: Raised) -> Gaps:
        """What stands in a block."""
        key = block, raised
        if key not in self.gaps:
            found = {at.gap: sync for at, sync in self.program.existing.items() if at.block == block}
            for at, level in zip(self.places[block], raised, strict=True):
                if level:
                    found[at.gap] = self.syncs[at][level - 1]
            self.gaps[key] = found
        return self.gaps[key]


def _stop(instance: int, step: Step, hit: int, in_flight: int) -> None:
    raise _Open
