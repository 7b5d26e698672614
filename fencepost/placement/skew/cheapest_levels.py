"""The cheapest levels of places that satisfy constraints: see `fewest_barriers`."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from fencepost.flow import Position


class AtLeast(NamedTuple):
    """A literal of a constraint: what stands at a position has at least this level."""

    position: Position
    level: int


Levels = dict[Position, int]
"""The level of each place: see `fewest_barriers`."""


@dataclass(slots=True)
class CheapestLevels:
    """Branch and bound over constraints on levels."""

    prices: dict[Position, list[int]]
    """What each level of each place costs, from none up."""
    least: int
    tries: int
    until: float
    """When to stop, by `time.monotonic`."""
    best: Levels | None = None

    def search(self, constraints: list[frozenset[AtLeast]], levels: Levels, paid: int) -> bool:
        """Look for something cheaper; whether there were tries and time enough."""
        constraints = [
            constraint
            for constraint in constraints
            if not any(levels.get(at, 0) >= level for at, level in constraint)
        ]
        if not constraints:
            if paid < self.least:
                self.least, self.best = paid, levels
            return True
        if self.tries <= 0 or time.monotonic() > self.until:
            return False
        self.tries -= 1
        if paid + self.bound(constraints, levels) >= self.least:
            return True
        first = min(constraints, key=len)
        barred: set[AtLeast] = set()
        exact = True
        for literal in sorted(first, key=lambda literal: (self.step(literal, levels), literal)):
            left = [frozenset(constraint - barred) for constraint in constraints] if barred else constraints
            raised = levels | {literal.position: literal.level}
            if all(left):
                exact = self.search(left, raised, paid + self.step(literal, levels)) and exact
            barred.add(literal)
        return exact

    def step(self, literal: AtLeast, levels: Levels) -> int:
        """What it costs to make a literal true."""
        prices = self.prices[literal.position]
        return max(prices[literal.level] - prices[levels.get(literal.position, 0)], 0)

    def bound(self, constraints: Iterable[frozenset[AtLeast]], levels: Levels) -> int:
        """What constraints that share no place cost together at least."""
        used: set[Position] = set()
        total = 0
        for constraint in sorted(constraints, key=lambda constraint: (len(constraint), sorted(constraint))):
            places = {literal.position for literal in constraint}
            if not places & used:
                used |= places
                total += min(self.step(literal, levels) for literal in constraint)
        return total
