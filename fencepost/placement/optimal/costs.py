"""What a placement costs, as one whole number that compares the way the criteria do, one after the other.

First how often barriers run, with what waits cost in barriers; then the latency that barriers expose; then how many
there are. Whole numbers are exact whatever the trip counts: 32 loops inside each other run an innermost barrier some
10 to the 33rd times, and one outside still counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from fencepost.analysis.program import Program
from fencepost.analysis.sync import Placement, Sync
from fencepost.flow import Position
from fencepost.placement.optimal.covering_problem import Choice
from fencepost.placement.optimal.exposure import Exposure
from fencepost.placement.strategy import wait_price

FINEST = 1 << 24
"""A barrier that runs once, in the smallest units that are distinguished."""
STATIC = 1 << 20
"""More barriers than any kernel here has: one that is executed never weighs less than all that just stand there."""


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of positions in a program."""

    program: Program
    exposure: Exposure | None
    unit: int
    """What the smallest part of an execution costs: more than all exposed latency together."""
    known: dict[Position, int] = field(default_factory=dict)
    """Prices of rendezvous that were asked for."""

    def rendezvous(self, position: Position) -> int:
        """What it costs that all waves meet somewhere."""
        price = self.known.get(position)
        if price is None:
            existing = self.program.existing.get(position)
            if existing is not None and existing.rendezvous:
                price = 0
            else:
                exposed = _exposed(self.program, self.exposure, position)
                price = self.executed(position, 1.0) * self.unit + exposed * STATIC + 1
            self.known[position] = price
        return price

    def waiting(self, position: Position, count: int) -> int:
        """What it costs to wait somewhere until at most `count` operations are outstanding."""
        return self.executed(position, wait_price(count)) * self.unit

    def executed(self, position: Position, weight: float) -> int:
        """How often something runs, times a weight."""
        return max(round(self.program.flow.frequency(position) * weight * FINEST), 1)

    def of(self, placement: Placement) -> int:
        """What the barriers and waits cost that are not in the kernel."""
        paid = 0
        for position, sync in placement.items():
            existing = self.program.existing.get(position)
            if sync.is_barrier and not (existing is not None and existing.rendezvous):
                paid += self.rendezvous(position)
            if sync.completes & ~(existing or Sync()).completes:
                paid += self.waiting(position, min((count for _, count in sync.counts), default=0))
        return paid

    def of_choice(self, choice: Choice) -> int:
        """What literals cost together."""
        waits = choice.waits.items()
        return sum(self.rendezvous(position) for position in choice.meets) + sum(
            self.waiting(position, min(counts.values())) for position, counts in waits
        )

    def executions(self, paid: int) -> float:
        """The first criterion alone, as a number of barriers."""
        return paid // self.unit / FINEST


def within(paid: int, bound: int, enough: float) -> bool:
    """Whether `paid` is at most `enough` more than `bound` (0.02 is 2 %). Prices can be too large for a float."""
    return paid - bound <= bound * Fraction(enough)


def prices_for(program: Program, positions: Iterable[Position], exposure: Exposure | None = None) -> Prices:
    """The prices where barriers can stand at `positions`."""
    exposed = sum(_exposed(program, exposure, position) for position in positions)
    return Prices(program, exposure, STATIC * (1 + exposed))


def _exposed(program: Program, exposure: Exposure | None, position: Position) -> int:
    if exposure is None:
        return 0
    return round(exposure.at(position) * program.flow.frequency(position))
