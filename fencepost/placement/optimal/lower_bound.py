"""A lower bound without a solver: what constraints can pay.

Let every constraint pay something to each of its literals, so that no literal gets more than it costs. Whatever is
chosen, one literal of every constraint is among it; so what is chosen costs at least what all constraints pay
together. (That is the dual of the linear program.) Constraints that share no position pay the cheapest of their
literals in full: disjoint windows need a barrier each. Each constraint in turn pays as much as is left of the
cheapest of its literals; that one is then *paid up*.

A wait is one of a ladder: one that leaves two operations outstanding is also one that leaves three, and costs more.
What the rungs get together must not be more than the lowest of them costs, and so on up. Waits for several counters
at one position cost what the longest of them does, so they share one ladder.

A barrier that waits is a rendezvous and a wait, and what it gets goes to either of them. The wait gets it first: more
constraints can do with the rendezvous alone, and they pay what is left of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fencepost.flow import Position
from fencepost.placement.optimal.costs import Prices
from fencepost.placement.optimal.covering_problem import Constraint, Literal


@dataclass(slots=True)
class Payments:
    """What literals have been paid so far."""

    prices: Prices
    rendezvous: dict[Position, int] = field(default_factory=dict)
    """What is left to pay for rendezvous that have got something."""
    ladders: dict[Position, dict[int, int]] = field(default_factory=dict)
    """What waits have got, by their counts."""
    had: dict[Position, int] = field(default_factory=dict)
    """The price of a wait that is there already: a longer one costs what it costs more."""
    total: int = 0

    def left(self, literal: Literal) -> int:
        """How much a literal can still be paid."""
        if literal.both:
            return self.left_meeting(literal.position) + self.left_waiting(literal.position, literal.most)
        if not literal.counter:
            return self.left_meeting(literal.position)
        return self.left_waiting(literal.position, literal.most)

    def left_meeting(self, position: Position) -> int:
        """How much a rendezvous can still be paid."""
        known = self.rendezvous.get(position)
        return self.prices.rendezvous(position) if known is None else known

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

    def pay(self, constraint: Constraint) -> int:
        """Let a constraint pay what it can."""
        amount = min(self.left(literal) for literal in constraint)
        if amount:
            self.total += amount
            for literal in constraint:
                self.give(literal, amount)
        return amount

    def give(self, literal: Literal, amount: int) -> None:
        """Pay a literal."""
        position, counter, count, both = literal
        if counter:
            waiting = min(amount, self.left_waiting(position, count)) if both else amount
            rungs = self.ladders.setdefault(position, {})
            rungs[count] = rungs.get(count, 0) + waiting
            amount -= waiting
        if amount:
            self.rendezvous[position] = self.left_meeting(position) - amount


def bound_of(prices: Prices, constraints: Iterable[Constraint]) -> int:
    """What `constraints`, in the order given, pay together: no choice that satisfies them costs less."""
    payments = Payments(prices)
    for constraint in constraints:
        payments.pay(constraint)
    return payments.total
