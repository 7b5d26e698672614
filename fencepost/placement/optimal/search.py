"""Finding the placement of least cost: the cheap bound first, the solver only for what is left."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar

from fencepost.analysis.program import Program
from fencepost.analysis.transfer import Placement
from fencepost.placement.fallback import complete
from fencepost.placement.minimize import Minimize
from fencepost.placement.optimal.costs import Exposure, Prices, prices_for, within
from fencepost.placement.optimal.covering_problem import Choice, Constraint, ConstraintMaker, Literal
from fencepost.placement.optimal.dual_ascent import Ascent, Conflict, bound_of, conflicts_of, start, without
from fencepost.placement.optimal.highs import Solved, solve_constraints
from fencepost.placement.optimal.open_paths import Synchronization
from fencepost.placement.optimal.set_cover import cheapest, parts_of, reduced
from fencepost.placement.optimal.solver_start import can_be_asked
from fencepost.placement.redundant import prune
from fencepost.placement.strategy import Splits, Strategy
from fencepost.placement.wait_counts import choose, relax


@dataclass(frozen=True, slots=True)
class Optimum:
    """A placement, and how much better one could be."""

    placement: Placement
    cost: float
    """How often the barriers run that were put in, with what waits cost (see `costs`)."""
    bound: float
    """No placement costs less."""
    proven: bool
    """Whether it is the optimum: in how often barriers run, then in what they expose, then in how many they are."""
    constraints: int
    seconds: float
    asked: int = 0
    """How often the solver was asked."""
    reason: str = ""
    """Why the proof is not complete."""

    @property
    def least_executed(self) -> bool:
        """Whether no placement costs less, even if one may expose less latency."""
        return self.cost <= self.bound * (1 + 1e-9)

    @property
    def gap(self) -> float:
        """The part of the cost, from 0 to 1, that a better placement could save at most."""
        return (self.cost - self.bound) / self.cost if self.cost else 0.0

    def __str__(self) -> str:
        # No seconds: the same kernel always gets the same words.
        how = f"{self.constraints} constraint{'' if self.constraints == 1 else 's'}" + (
            f", {self.asked} call{'s' if self.asked > 1 else ''} of the solver" if self.asked else ""
        )
        if self.proven:
            return f"optimal, proven ({how})"
        why = f"; {self.reason}" if self.reason else ""
        if self.least_executed:
            return f"none runs less often, proven; one may expose less latency ({how}{why})"
        return f"within {self.gap:.1%} of the optimum ({how}{why})"


NO_LIMITS: Mapping[str, int] = MappingProxyType({})
TRIES = 4000
"""Tries of the direct search before the solver is asked, times the constraints to look at each time."""
FEW = 40
"""Constraints that the direct search is tried on at all."""
AT_ONCE = 4000
"""Constraints that are looked for before they are solved again."""
FEW_OPEN = 100
"""So few open consumers are worth mending a solution for, to see what it costs then."""
KEPT = 0.15
"""The part of the time that is kept for mending the last solution."""
MOST_HAZARDS = 400
"""Constraints that are made to begin with: for each hazard, as if no other had been thought of."""
MOST_EACH = 4
"""Of those that are added later, at most so many for one consumer."""


@dataclass(frozen=True)
class Optimal(Strategy):
    """The least cost, with a proof."""

    name: ClassVar[str] = "optimal"
    summary: ClassVar[str] = "the least cost, proven by integer programming"
    improves: ClassVar[bool] = True
    splits: ClassVar[Splits] = Splits.WHERE_PREFERRED
    solver: ClassVar[bool] = True
    """Whether the solver is asked where nothing cheaper gives a proof."""

    seconds: float = 2.0
    """How long to look for a proof."""

    def choose(self, program: Program) -> Placement:
        """See the package."""
        return find_optimum(program, self.seconds).placement


# many parameters because each is an option of its own, and callers give a few
def find_optimum(
    program: Program,
    seconds: float = 2.0,
    *,
    widest: Mapping[str, int] = NO_LIMITS,
    known: Iterable[Placement] = (),
    exposure: Exposure | None = None,
    solver: bool = True,
    enough: float = 0.0,
) -> Optimum:
    """The cheapest placement that can be found in the time given, and what is known about it.

    `widest` is the greatest count of each counter, `known` are placements to begin with: once one is proven to be the
    cheapest, no more of them are asked for. Without `solver` only what can be found directly is. One of the known
    ones that is proven to cost at most `enough` more than the optimum (0.02 is 2 %) ends the search.
    """
    assert not program.transfer.counts_rendezvous, (
        "skewed waves, and waves that complete by themselves, have a search of their own: `find_fewest`"
    )
    started = time.monotonic()
    until = started + seconds * (1 - KEPT)
    maker = ConstraintMaker(program, widest)
    prices = prices_for(program, maker.positions(), exposure)
    ascent = start(program, prices, maker, until)
    search = Search(program, prices, widest, ascent, until, solver)
    if ascent.nothing_missing:
        known = [program.existing]
    for placement in known or [choose(program, Minimize(), widest)]:
        search.consider(placement)
        if within(search.least, ascent.payments.total, enough):
            break  # as cheap as can be, or cheap enough
    search.run(enough)
    assert search.best is not None
    paid = prices.of(search.best)
    return Optimum(
        search.best,
        prices.executions(paid),
        prices.executions(min(search.bound, paid)),
        paid <= search.bound,
        len(ascent.constraints),
        time.monotonic() - started,
        search.asked,
        search.reason,
    )


@dataclass(slots=True)
class Search:
    """The best placement so far and the greatest bound."""

    program: Program
    prices: Prices
    widest: Mapping[str, int]
    ascent: Ascent
    until: float
    solver: bool
    best: Placement | None = None
    least: int = 0
    bound: int = 0
    asked: int = 0
    """Calls of the solver."""
    reason: str = ""
    """Why it ended without a proof."""
    solved: dict[frozenset[Constraint], Solved] = field(default_factory=dict)

    def consider(self, placement: Placement) -> None:
        """Take a placement that covers everything, if it is cheaper."""
        paid = self.prices.of(placement)
        if self.best is None or paid < self.least:
            self.best, self.least = placement, paid

    def mended(self, choice: Choice) -> Placement:
        """A choice as a placement, with what it lacks put in and what nothing needs taken out."""
        program = self.program
        kept = prune(program, complete(program, choice.placement(program)), program.existing)
        added = [at for at in kept if at not in program.existing or program.existing[at] != kept[at]]
        return relax(program, kept, added, self.widest, least=program.existing)

    def run(self, enough: float = 0.0) -> None:
        """Solve the constraints, add those that the solution leaves open, and so on until there are none."""
        self.bound = self.ascent.payments.total
        if self.best is not None and self.bound < self.least and within(self.least, self.bound, enough):
            self.reason = f"the search stops within {enough:.0%} of the bound"
            return
        if self.best is None or (self.least > self.bound and self.in_time()):
            self.consider(self.mended(self.ascent.taken))
        last: Choice | None = None
        if self.least > self.bound and self.in_time():
            # One constraint or two for each hazard: most of what follows from all of them together.
            conflicts = conflicts_of(self.program, self.program.existing)
            self.add_constraints(Choice(), conflicts, MOST_HAZARDS, MOST_HAZARDS)
        while self.least > self.bound and self.in_time():
            choice, bound, exact = self.choose()
            self.bound = max(self.bound, bound)
            if choice is None:
                break
            last = choice
            conflicts = conflicts_of(self.program, choice.placement(self.program))
            if len(conflicts) <= FEW_OPEN:
                self.consider(self.mended(choice))
                last = None
            if not self.add_constraints(choice, conflicts):
                # Nothing is left open that could be closed.
                if not exact and not self.reason:
                    self.reason = "the solver gave no proof"
                break
        if last is not None and self.least > self.bound:
            self.consider(self.mended(last))

    def in_time(self) -> bool:
        """Whether there is time left; if not, that is the reason for whatever is missing."""
        if time.monotonic() <= self.until:
            return True
        self.reason = "time was up"
        return False

    def choose(self) -> tuple[Choice | None, int, bool]:
        """The cheapest choice for the constraints so far, a lower bound, and whether it is the cheapest."""
        choice, bound, exact = Choice(), 0, True
        complete_ = True
        for part in parts_of(self.ascent.constraints):
            found = self.solve(part)
            bound += found.bound
            exact = exact and found.proven
            if found.literals is None:
                complete_ = False
            else:
                for literal in found.literals:
                    choice.add(literal)
        return (choice if complete_ else None), bound, exact

    def solve(self, part: list[Constraint]) -> Solved:
        """The cheapest choice for some constraints that share positions."""
        key = frozenset(part)
        known = self.solved.get(key)
        if known is None:
            known = self.solved[key] = self.newly_solved(part)
        return known

    def newly_solved(self, part: list[Constraint]) -> Solved:
        """The same, worked out: directly if few tries do, else by the solver."""
        constraints = reduced(self.prices, part)
        literals: frozenset[Literal] | None = None
        smaller = parts_of(constraints)
        if len(smaller) > 1:
            return _together([self.newly_solved(each) for each in smaller])
        if len(constraints) <= FEW:
            literals, proven = cheapest(
                self.prices, constraints, TRIES // len(constraints), self.known(constraints)
            )
            if proven and literals is not None:
                return Solved(literals, self.prices.of_choice(Choice.of(literals)), True)
        if not self.solver:
            self.reason = self.reason or "the solver was not asked"
            return Solved(literals, bound_of(self.prices, constraints), False)
        if not can_be_asked(self.until):
            self.reason = "time was up"
            return Solved(literals, bound_of(self.prices, constraints), False)
        try:
            self.asked += 1
            found = solve_constraints(self.prices, constraints, self.until)
        except ImportError:
            self.solver, self.reason = False, "scipy is not installed"
            return Solved(literals, bound_of(self.prices, constraints), False)
        if found.literals is None:
            if self.in_time():
                self.reason = "trip counts are too far apart for the solver"
            return Solved(literals, max(found.bound, bound_of(self.prices, constraints)), False)
        return found

    def known(self, constraints: list[Constraint]) -> frozenset[Literal] | None:
        """What the best placement so far has at the places of some constraints, if that satisfies them."""
        found: set[Literal] = set()
        for position in {literal.position for constraint in constraints for literal in constraint}:
            sync = self.best.get(position) if self.best is not None else None
            if sync is None or sync == self.program.existing.get(position):
                continue
            if sync.rendezvous:
                found.add(Literal(position))
            found |= {Literal(position, counter, count) for counter, count in sync.counts}
        choice = Choice.of(found)
        return frozenset(found) if all(choice.satisfies(constraint) for constraint in constraints) else None

    def add_constraints(
        self, choice: Choice, conflicts: list[Conflict], most_each: int = MOST_EACH, most: int = AT_ONCE
    ) -> bool:
        """Add constraints for paths that a choice leaves open; whether there were any that could be closed."""
        ascent = self.ascent
        sync = Synchronization.of(choice.placement(self.program))
        before = len(ascent.constraints)
        for instance, index, *bits in conflicts:
            wanted = (bits[0], bits[1])
            step = self.program.steps[instance][index]
            for _ in range(most_each):
                path = None if wanted == (0, 0) else ascent.backwards.find(instance, index, wanted, sync)
                if path is None:
                    break
                constraints = ascent.maker.constraints(path, step, choice)
                if all(constraints):
                    ascent.constraints.update(dict.fromkeys(constraints))
                wanted = without(self.program, path, wanted)
            if len(ascent.constraints) - before >= most or time.monotonic() > self.until:
                break
        return len(ascent.constraints) > before


def _together(parts: list[Solved]) -> Solved:
    """What is known about all parts."""
    literals: frozenset[Literal] | None = frozenset()
    for part in parts:
        literals = None if literals is None or part.literals is None else literals | part.literals
    return Solved(literals, sum(part.bound for part in parts), all(part.proven for part in parts))
