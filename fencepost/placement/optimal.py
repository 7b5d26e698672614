"""The placement of least cost, with a proof: integer programming with rows made on demand.

Every way from an access to one that must not overtake it has to pass a barrier. That is one row: of the positions on
the way at least one is taken. There are far too many ways to write them all down, so the program starts without any,
and as long as its solution leaves a way open, a row for that way is added. The solution of fewer rows never costs
more than that of all of them: it is a lower bound at any time, and once nothing is left open it is the optimum.

Cost is how often each barrier runs, then how many there are. On straight lines the sweep of `eager` is already exact,
and no solver is asked. Where copies have to be waited for, counts and positions hang together in ways that rows do
not say: there `minimize` with its waits is used, and nothing is claimed. If time runs out, the cheapest placement
known is returned with the gap that is left.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fencepost.analysis.covers import PLAIN, Placement
from fencepost.analysis.program import Program, moved
from fencepost.flow import Position
from fencepost.placement.complete import complete
from fencepost.placement.minimize import Minimize
from fencepost.placement.prune import prune
from fencepost.placement.strategy import Strategy, cost

ROWS_AT_ONCE = 400
"""Open ways that are looked for before the solver is asked again."""
FEWER = 1e-6
"""What a barrier costs by being there, besides running: of two placements that run alike the smaller one is taken."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """A placement, and how much better one could be."""

    placement: Placement
    cost: float
    bound: float
    """No placement costs less."""
    rows: int
    seconds: float
    reason: str = ""
    """Why nothing is proven; empty if it is the optimum, or there is a bound."""

    @property
    def proven(self) -> bool:
        """Whether it is the optimum."""
        return not self.reason and self.cost <= self.bound * (1 + 1e-6) + 1e-6

    def __str__(self) -> str:
        if self.reason:
            return f"not proven: {self.reason}"
        if self.proven:
            return f"optimal, proven with {self.rows} rows in {self.seconds:.2f} s"
        gap = (self.cost - self.bound) / self.cost * 100 if self.cost else 0.0
        return f"within {gap:.1f} % of the optimum (time was up after {self.seconds:.2f} s)"


@dataclass(frozen=True)
class Optimal(Strategy):
    """The least cost, by integer programming."""

    name: ClassVar[str] = "optimal"
    summary: ClassVar[str] = "the least cost, proven by integer programming"
    improves: ClassVar[bool] = True

    seconds: float = 2.0
    """How long to look for a proof."""

    def choose(self, program: Program) -> Placement:
        """See the module."""
        return find_optimum(program, self.seconds).placement


def find_optimum(program: Program, seconds: float = 2.0) -> Optimum:
    """The cheapest placement that can be found in the time given, and what is known about it."""
    started = time.monotonic()
    flow = program.flow
    known = Minimize().choose(program)

    def paid(placement: Placement) -> float:
        return cost(flow, {at: cover for at, cover in placement.items() if at not in program.standing})

    if program.table.engines:
        return Optimum(known, paid(known), 0.0, 0, 0.0, "copies in flight: waits are priced, not optimized")
    if len(flow.blocks) == 1:
        return Optimum(known, paid(known), paid(known), 0, time.monotonic() - started)
    rows = _Rows(program)
    bound = 0.0
    while True:
        left = seconds - (time.monotonic() - started)
        if left <= 0:
            break
        try:
            chosen, bound = rows.solve(left, bound)
        except ImportError:
            return Optimum(known, paid(known), 0.0, 0, time.monotonic() - started, "scipy is not installed")
        if chosen is None:
            break
        placement = program.standing | dict.fromkeys(chosen, PLAIN)
        if not rows.add_open_ways(placement, started + seconds):
            # Where no barrier can stand at all, conflicts stay; the safety net says where.
            best = prune(program, complete(program, placement), program.standing)
            return Optimum(best, paid(best), bound, len(rows.rows), time.monotonic() - started)
    return Optimum(known, paid(known), min(bound, paid(known)), len(rows.rows), time.monotonic() - started)


@dataclass(slots=True)
class _Rows:
    """The rows so far, over the positions that they name."""

    program: Program
    rows: dict[frozenset[Position], None] = field(default_factory=dict)
    gaps: dict[int, list[int]] = field(init=False)
    """For each block, the gaps that stand for all: those in front of accesses, and the end."""

    def __post_init__(self) -> None:
        self.gaps = {}
        flow = self.program.flow
        for block, phases in self.program.siblings.items():
            gaps = {step.gap for phase in phases for step in self.program.steps[phase]}
            self.gaps[block] = sorted({*gaps, len(flow.blocks[block].ops)})

    def positions(self, phase: int, first: int, last: int) -> Iterator[Position]:
        """The positions from `first` to `last` of a phase's block where a barrier can stand."""
        block = self.program.places[phase]
        if block in self.program.flow.sealed:
            return
        gaps = self.gaps[block]
        for number in range(bisect_left(gaps, first), len(gaps)):
            if gaps[number] > last:
                break
            position = Position(block, gaps[number])
            if position not in self.program.held:
                yield position

    # ------------------------------------------------------------ the solver

    def solve(self, seconds: float, before: float) -> tuple[list[Position] | None, float]:
        """The cheapest choice that satisfies all rows, and what it costs; None if time was up."""
        if not self.rows:
            return [], 0.0
        import numpy
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_matrix

        names = sorted({position for row in self.rows for position in row})
        number = {position: place for place, position in enumerate(names)}
        columns = [number[position] for row in self.rows for position in row]
        starts = numpy.cumsum([0, *(len(row) for row in self.rows)])
        shape = (len(self.rows), len(names))
        matrix: Any = csr_matrix((numpy.ones(len(columns)), columns, starts), shape=shape)
        price = numpy.array([self.program.flow.frequency(position) + FEWER for position in names])
        found = milp(
            price,
            constraints=LinearConstraint(matrix, lb=1),
            integrality=numpy.ones(len(names)),
            bounds=Bounds(0, 1),
            options={"time_limit": max(seconds, 0.01)},
        )
        bound = before if found.mip_dual_bound is None else max(before, float(found.mip_dual_bound))
        if found.x is None or found.status != 0:
            return None, bound
        chosen = [position for position, taken in zip(names, found.x, strict=True) if taken > 0.5]
        return chosen, bound - FEWER * len(chosen)

    # ------------------------------------------------------------ open ways

    def add_open_ways(self, placement: Placement, until: float) -> bool:
        """Add a row for ways that no barrier lies on; whether there were any on which one could."""
        barriers: dict[int, list[int]] = {}
        for position, cover in placement.items():
            if cover.rendezvous:
                barriers.setdefault(position.block, []).append(position.gap)
        for gaps in barriers.values():
            gaps.sort()
        before = len(self.rows)
        for phase in self.program.order:
            for step in self.program.steps[phase]:
                if not step.adds:
                    continue
                for row in self.ways_from(phase, step.gap, step.adds, barriers):
                    self.rows[row] = None
                if len(self.rows) - before >= ROWS_AT_ONCE or time.monotonic() > until:
                    return len(self.rows) > before
        return len(self.rows) > before

    def ways_from(
        self, phase: int, gap: int, adds: int, barriers: dict[int, list[int]]
    ) -> Iterator[frozenset[Position]]:
        """For each access that meets what was added at a place: the positions on a shortest way to it."""
        program = self.program
        todo: deque[_Way] = deque([_Way(phase, gap + 1, adds, None, -1)])
        seen: dict[int, int] = {}
        while todo:
            way = todo.popleft()
            gaps = barriers.get(program.places[way.phase], [])
            place = bisect_left(gaps, way.first)
            stop = gaps[place] if place < len(gaps) else None
            pending = way.pending
            steps = program.steps[way.phase]
            for number in range(bisect_left(steps, way.first, key=lambda step: step.gap), len(steps)):
                step = steps[number]
                if stop is not None and step.gap >= stop:
                    break
                if pending & step.conflicts:
                    row = frozenset(self.along(way, step.gap))
                    if row:
                        yield row
                        # What covers this covers what comes later. Where nothing can, what comes later still counts.
                        pending &= ~step.conflicts
                if step.clears:
                    pending = 0
                if not pending:
                    break
            if stop is not None or not pending:
                continue
            for edge in program.edges[way.phase]:
                after = moved(pending, edge.moves)
                if after & ~seen.get(edge.target, 0):
                    seen[edge.target] = seen.get(edge.target, 0) | after
                    end = len(program.flow.blocks[program.places[way.phase]].ops)
                    todo.append(_Way(edge.target, 0, after, way, end))

    def along(self, way: _Way, last: int) -> Iterator[Position]:
        """The positions on a way, up to a place in its last phase."""
        here: _Way | None = way
        while here is not None:
            yield from self.positions(here.phase, here.first, last)
            last, here = here.left_at, here.came_from


@dataclass(slots=True)
class _Way:
    """A way from an access, as far as it has got."""

    phase: int
    first: int
    pending: int
    came_from: _Way | None
    left_at: int
    """The end of the block before."""
