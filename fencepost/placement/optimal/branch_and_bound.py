"""The cheapest choice for a few constraints, by trying: exact, in whole numbers, without a solver.

The constraint that is dearest to satisfy is taken, and each of its literals is tried; in the branches that follow, a
literal that was tried is not allowed any more, nor is what implies it. A branch is given up when what it has paid,
with what the open constraints would pay at least (see `dual_ascent`), is no less than the best so far.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.placement.optimal.costs import Prices
from fencepost.placement.optimal.covering_problem import Choice, Constraint, Literal
from fencepost.placement.optimal.dual_ascent import Payments


@dataclass(slots=True)
class Branching:
    """A search with a limited number of tries."""

    prices: Prices
    tries: int
    best: frozenset[Literal] | None = None
    least: int = field(default=-1)
    """What the best costs; -1 as long as there is none."""

    def search(self, constraints: list[Constraint], taken: frozenset[Literal], paid: int) -> bool:
        """Look for something better that satisfies `constraints` besides; whether there were tries enough."""
        if not constraints:
            if self.best is None or paid < self.least:
                self.best, self.least = taken, paid
            return True
        if self.tries <= 0:
            return False
        self.tries -= 1
        payments = self.payments(taken)
        for constraint in sorted(constraints, key=len):
            payments.pay(constraint)
        if self.best is not None and paid + payments.total >= self.least:
            return True
        here = self.payments(taken)
        # The constraint that is dearest to satisfy: whatever is tried, much is paid at once.
        first = min(
            constraints,
            key=lambda constraint: (-min(here.left(literal) for literal in constraint), len(constraint)),
        )
        forbidden: set[Literal] = set()
        for literal in sorted(first, key=lambda literal: (here.left(literal), literal)):
            more = taken | {literal}
            open_constraints = _without(constraints, more, forbidden)
            if open_constraints is not None and not self.search(
                open_constraints, more, paid + here.left(literal)
            ):
                return False
            forbidden.add(literal)
        return True

    def payments(self, taken: frozenset[Literal]) -> Payments:
        """What literals cost on top of those that are taken."""
        found = Payments(self.prices)
        for literal in taken:
            position, counter, count, _ = literal
            if counter:
                price = self.prices.waiting(position, count)
                found.had[position] = max(price, found.had.get(position, 0))
            if literal.rendezvous:
                found.rendezvous[position] = 0
        return found


def _without(
    constraints: list[Constraint], taken: frozenset[Literal], forbidden: set[Literal]
) -> list[Constraint] | None:
    """The constraints that literals leave open, without what is forbidden; None if one cannot be satisfied."""
    chosen = Choice.of(taken)
    found: list[Constraint] = []
    for constraint in constraints:
        if any(chosen.holds(other) for other in constraint):
            continue
        if forbidden:
            constraint = frozenset(
                other for other in constraint if not any(other.implies(each) for each in forbidden)
            )
            if not constraint:
                return None
        found.append(constraint)
    return found


def cheapest(
    prices: Prices, constraints: list[Constraint], tries: int, known: frozenset[Literal] | None = None
) -> tuple[frozenset[Literal] | None, bool]:
    """The literals that satisfy all constraints for least, and whether that is proven; `known` ones satisfy them."""
    search = Branching(prices, tries)
    if known is not None:
        search.best, search.least = known, prices.of_choice(Choice.of(known))
    proven = search.search(constraints, frozenset(), 0)
    return search.best, proven
