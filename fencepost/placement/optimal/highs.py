"""The cheapest choice for many constraints, by scipy's HiGHS.

The solver computes with floating-point numbers, so the criteria are put to it one after the other: first how often
things run; then, without running more, what they expose and how many there are. Prices that are too far apart for it
are not put at all.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from fencepost.flow import Position
from fencepost.placement.optimal.costs import STATIC, Prices
from fencepost.placement.optimal.covering_problem import Constraint, Literal

FARTHEST = 1e7
"""The dearest literal may cost this many times what the cheapest does."""

FEWER = 1e-3
"""What one barrier more counts against a cycle that is exposed."""


@dataclass(frozen=True, slots=True)
class Solved:
    """What the solver says about some constraints."""

    literals: frozenset[Literal] | None
    bound: int
    """No choice costs less."""
    proven: bool


@dataclass(slots=True)
class Model:
    """A variable for each literal, and one for each count that a wait at a position can have (see `dual_ascent`)."""

    prices: Prices
    literals: list[Literal]
    wait_counts: list[tuple[Position, int]] = field(init=False)
    number: dict[Literal | tuple[Position, int], int] = field(init=False)
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    least: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        both = [literal for literal in self.literals if literal.both]
        self.literals = sorted({*self.literals, *(Literal(literal.position) for literal in both)})
        waits = [literal for literal in self.literals if literal.counter]
        self.wait_counts = sorted({(literal.position, literal.most) for literal in waits})
        names: list[Literal | tuple[Position, int]] = [*self.literals, *self.wait_counts]
        self.number = {name: place for place, name in enumerate(names)}
        # A longer wait is a shorter one, too; and what a position pays for is the longest of its waits.
        for literal in both:
            self.at_least({Literal(literal.position): 1.0, literal: -1.0}, 0)
        alike: dict[tuple[Position, str, bool], list[Literal]] = {}
        for literal in waits:
            alike.setdefault((literal.position, literal.counter, literal.both), []).append(literal)
            self.at_least({(literal.position, literal.most): 1.0, literal: -1.0}, 0)
        for same_counter in alike.values():
            same_counter.sort()
            for shorter, longer in pairwise(same_counter):
                self.at_least({longer: 1.0, shorter: -1.0}, 0)
        for one, other in pairwise(self.wait_counts):
            if one[0] == other[0]:
                self.at_least({other: 1.0, one: -1.0}, 0)

    def at_least(self, what: dict[Any, float], least: float) -> None:
        """A constraint."""
        for name, factor in what.items():
            self.entries.append((len(self.least), self.number[name], factor))
        self.least.append(least)

    def costs(self) -> tuple[list[int], list[int]]:
        """For each variable what it costs to run, and what it exposes with what it costs to be there."""
        first: list[int] = []
        second: list[int] = []
        for literal in self.literals:
            price = 0 if literal.counter else self.prices.rendezvous(literal.position)
            first.append(price // self.prices.unit)
            second.append(price % self.prices.unit)
        for place, (position, count) in enumerate(self.wait_counts):
            price = self.prices.waiting(position, count)
            if place + 1 < len(self.wait_counts) and self.wait_counts[place + 1][0] == position:
                price -= self.prices.waiting(position, self.wait_counts[place + 1][1])
            first.append(price // self.prices.unit)
            second.append(0)
        return first, second


def solve_constraints(prices: Prices, constraints: list[Constraint], until: float) -> Solved:
    """The cheapest literals that satisfy all constraints, as far as time allows. Raises ImportError without scipy."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_matrix

    model = Model(prices, sorted({literal for constraint in constraints for literal in constraint}))
    for constraint in constraints:
        model.at_least(dict.fromkeys(constraint, 1.0), 1)
    first, second = model.costs()
    dear = [price for price in first if price]
    if not dear or max(dear) > FARTHEST * min(dear):
        return Solved(None, 0, False)
    scale = min(dear)
    size = len(first)

    def minimize(costs: list[float], most: float | None) -> Any:
        entries, least = list(model.entries), list(model.least)
        if most is not None:
            entries += [(len(least), place, -price / scale) for place, price in enumerate(first) if price]
            least.append(-most)
        places, columns, factors = zip(*entries, strict=True)
        matrix: Any = csr_matrix((factors, (places, columns)), shape=(len(least), size))
        return milp(
            costs,
            constraints=LinearConstraint(matrix, lb=least),
            integrality=[1] * size,
            bounds=Bounds(0, 1),
            options={"time_limit": max(until - time.monotonic(), 0.01), "mip_rel_gap": 0},
        )

    def chosen(found: Any) -> frozenset[Literal]:
        return frozenset(
            literal for literal, taken in zip(model.literals, found.x, strict=False) if taken > 0.5
        )

    def paid(found: Any) -> int:
        return sum(price for price, taken in zip(first, found.x, strict=True) if taken > 0.5)

    found = minimize([price / scale for price in first], None)
    if found.x is None or found.status != 0:
        bound = 0.0 if found.mip_dual_bound is None else max(float(found.mip_dual_bound), 0.0)
        return Solved(None, int(bound * (1 - 1e-6) * scale) * prices.unit, False)
    least = paid(found)
    again = minimize([price // STATIC + price % STATIC * FEWER for price in second], (least + 0.5) / scale)
    if again.x is None or again.status != 0 or paid(again) > least:
        return Solved(chosen(found), least * prices.unit, False)
    found = again
    total = sum(price for price, taken in zip(second, found.x, strict=True) if taken > 0.5)
    return Solved(chosen(found), least * prices.unit + total, True)
