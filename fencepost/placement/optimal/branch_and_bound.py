"""The cheapest choice for a few rows, by trying: exact, in whole numbers, and without the solver's start-up time.

The row that is dearest to satisfy is taken, and each of its terms is tried; in the branches that follow, a term that
was tried is not allowed any more, nor is what implies it. A branch is given up when what it has paid, with what the
open rows would pay at least (see `lower_bound`), is no less than the best so far.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.placement.optimal.costs import Prices
from fencepost.placement.optimal.literals import Choice, Row, Term
from fencepost.placement.optimal.lower_bound import Payments


@dataclass(slots=True)
class Branching:
    """A search with a limited number of tries."""

    prices: Prices
    tries: int
    best: frozenset[Term] | None = None
    least: int = field(default=-1)
    """What the best costs; -1 as long as there is none."""

    def search(self, rows: list[Row], taken: frozenset[Term], paid: int) -> bool:
        """Look for something better that satisfies `rows` besides; whether there were tries enough."""
        if not rows:
            if self.best is None or paid < self.least:
                self.best, self.least = taken, paid
            return True
        if self.tries <= 0:
            return False
        self.tries -= 1
        payments = self.payments(taken)
        for row in sorted(rows, key=len):
            payments.pay(row)
        if self.best is not None and paid + payments.total >= self.least:
            return True
        here = self.payments(taken)
        # The row that is dearest to satisfy: whatever is tried, much is paid at once.
        first = min(rows, key=lambda row: (-min(here.left(term) for term in row), len(row)))
        forbidden: set[Term] = set()
        for term in sorted(first, key=lambda term: (here.left(term), term)):
            more = taken | {term}
            open_rows = _without(rows, more, forbidden)
            if open_rows is not None and not self.search(open_rows, more, paid + here.left(term)):
                return False
            forbidden.add(term)
        return True

    def payments(self, taken: frozenset[Term]) -> Payments:
        """What terms cost on top of those that are taken."""
        found = Payments(self.prices)
        for term in taken:
            position, counter, count, _ = term
            if counter:
                price = self.prices.waiting(position, count)
                found.had[position] = max(price, found.had.get(position, 0))
            if term.meeting:
                found.meetings[position] = 0
        return found


def _without(rows: list[Row], taken: frozenset[Term], forbidden: set[Term]) -> list[Row] | None:
    """The rows that terms leave open, without what is forbidden; None if one cannot be satisfied any more."""
    chosen = Choice.of(taken)
    found: list[Row] = []
    for row in rows:
        if any(chosen.holds(other) for other in row):
            continue
        if forbidden:
            row = frozenset(other for other in row if not any(other.implies(each) for each in forbidden))
            if not row:
                return None
        found.append(row)
    return found


def cheapest(
    prices: Prices, rows: list[Row], tries: int, known: frozenset[Term] | None = None
) -> tuple[frozenset[Term] | None, bool]:
    """The terms that satisfy all rows for least, and whether that is proven; `known` ones satisfy them."""
    search = Branching(prices, tries)
    if known is not None:
        search.best, search.least = known, prices.of_choice(Choice.of(known))
    proven = search.search(rows, frozenset(), 0)
    return search.best, proven
