"""A lower bound without a solver: what rows can pay.

Let every row pay something to each of its terms, so that no term gets more than it costs. Whatever is chosen, one
term of every row is among it; so what is chosen costs at least what all rows pay together. (That is the dual of the
linear program.) Rows that share no position pay the cheapest of their terms in full: disjoint windows need a
barrier each. Each row in turn pays as much as is left of the cheapest of its terms; that one is then *paid up*.

A wait is one of a ladder: one that leaves two operations outstanding is also one that leaves three, and costs more.
What the rungs get together must not be more than the lowest of them costs, and so on up. Waits for several counters
at one position cost what the longest of them does, so they share one ladder.

A barrier that waits is a meeting and a wait, and what it gets goes to either of them. The wait gets it first: more
rows can do with the meeting alone, and they pay what is left of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fencepost.flow import Position
from fencepost.placement.optimal.costs import Prices
from fencepost.placement.optimal.literals import Row, Term


@dataclass(slots=True)
class Payments:
    """What terms have been paid so far."""

    prices: Prices
    meetings: dict[Position, int] = field(default_factory=dict)
    """What is left to pay for meetings that have got something."""
    ladders: dict[Position, dict[int, int]] = field(default_factory=dict)
    """What waits have got, by their counts."""
    had: dict[Position, int] = field(default_factory=dict)
    """The price of a wait that is there already: a longer one costs what it costs more."""
    total: int = 0

    def left(self, term: Term) -> int:
        """How much a term can still be paid."""
        if term.both:
            return self.left_meeting(term.position) + self.left_waiting(term.position, term.most)
        if not term.counter:
            return self.left_meeting(term.position)
        return self.left_waiting(term.position, term.most)

    def left_meeting(self, position: Position) -> int:
        """How much a meeting can still be paid."""
        known = self.meetings.get(position)
        return self.prices.meeting(position) if known is None else known

    def left_waiting(self, position: Position, count: int) -> int:
        """How much a wait can still be paid."""
        rungs = self.ladders.get(position)
        least = self.price(position, count)
        if rungs:
            above = sum(paid for rung, paid in rungs.items() if rung >= count)
            least -= above
            below = above
            for rung in sorted((rung for rung in rungs if rung < count), reverse=True):
                below += rungs[rung]
                least = min(least, self.price(position, rung) - below)
        return least

    def price(self, position: Position, count: int) -> int:
        """What a wait costs, given what is there."""
        return max(self.prices.waiting(position, count) - self.had.get(position, 0), 0)

    def pay(self, row: Row) -> int:
        """Let a row pay what it can."""
        amount = min(self.left(term) for term in row)
        if amount:
            self.total += amount
            for term in row:
                self.give(term, amount)
        return amount

    def give(self, term: Term, amount: int) -> None:
        """Pay a term."""
        position, counter, count, both = term
        if counter:
            waiting = min(amount, self.left_waiting(position, count)) if both else amount
            rungs = self.ladders.setdefault(position, {})
            rungs[count] = rungs.get(count, 0) + waiting
            amount -= waiting
        if amount:
            self.meetings[position] = self.left_meeting(position) - amount


def bound_of(prices: Prices, rows: Iterable[Row]) -> int:
    """What `rows`, in the order given, pay together: no choice that satisfies them costs less."""
    payments = Payments(prices)
    for row in rows:
        payments.pay(row)
    return payments.total
