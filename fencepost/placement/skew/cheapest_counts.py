"""The cheapest heights that satisfy constraints: see `optimal`."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from fencepost.flow import Position


class Rung(NamedTuple):
    """What stands at a position has at least this height: see `optimal`."""

    position: Position
    height: int


Heights = dict[Position, int]
"""How high each place is."""


@dataclass(slots=True)
class CheapestCounts:
    """Branch and bound over constraints."""

    prices: dict[Position, list[int]]
    """What each height of each place costs."""
    least: int
    tries: int
    until: float
    """When to stop, by `time.monotonic`."""
    best: Heights | None = None

    def search(self, constraints: list[frozenset[Rung]], heights: Heights, paid: int) -> bool:
        """Look for something cheaper; whether there were tries and time enough."""
        constraints = [
            constraint
            for constraint in constraints
            if not any(heights.get(at, 0) >= height for at, height in constraint)
        ]
        if not constraints:
            if paid < self.least:
                self.least, self.best = paid, heights
            return True
        if self.tries <= 0 or time.monotonic() > self.until:
            return False
        self.tries -= 1
        if paid + self.bound(constraints, heights) >= self.least:
            return True
        first = min(constraints, key=len)
        barred: set[Rung] = set()
        exact = True
        for rung in sorted(first, key=lambda rung: (self.step(rung, heights), rung)):
            left = [frozenset(constraint - barred) for constraint in constraints] if barred else constraints
            higher = heights | {rung.position: rung.height}
            if all(left):
                exact = self.search(left, higher, paid + self.step(rung, heights)) and exact
            barred.add(rung)
        return exact

    def step(self, rung: Rung, heights: Heights) -> int:
        """What it costs to get to a rung."""
        prices = self.prices[rung.position]
        return max(prices[rung.height] - prices[heights.get(rung.position, 0)], 0)

    def bound(self, constraints: Iterable[frozenset[Rung]], heights: Heights) -> int:
        """What constraints that share no place cost together at least."""
        used: set[Position] = set()
        total = 0
        for constraint in sorted(constraints, key=lambda constraint: (len(constraint), sorted(constraint))):
            places = {rung.position for rung in constraint}
            if not places & used:
                used |= places
                total += min(self.step(rung, heights) for rung in constraint)
        return total
