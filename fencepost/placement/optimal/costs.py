"""What a placement costs, as one whole number that compares the way the criteria do, one after the other.

First how often barriers run, with what waits cost in barriers; then the latency that barriers expose; then how many
there are. Whole numbers are exact whatever the trip counts: 32 loops inside each other run an innermost barrier some
10 to the 33rd times, and one outside still counts.

A barrier exposes the latency that its fence stands until the accesses in front of it are complete. It is counted
from the last access on, less the work that is done meanwhile; at the start of a block, from what the blocks in front
of it leave. Other barriers in between are not seen: each position has one price, whatever else is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from fencepost.analysis.program import Program
from fencepost.analysis.transfer import Placement, Sync
from fencepost.flow import Flow, Loop, Position
from fencepost.ir import ops
from fencepost.placement.optimal.covering_problem import Choice
from fencepost.placement.strategy import wait_price


@dataclass(slots=True)
class Exposure:
    """Cycles that a fence would stand, by position; and the work that is done meanwhile."""

    flow: Flow
    work: Callable[[ops.Operation], tuple[int, int]]
    """What an operation takes a wave, and for how long its unit is busy beyond that."""
    fence: int
    """How long an access takes until it is complete."""
    left: dict[int, list[int]] = field(default_factory=dict)
    """For each block: cycles left in front of each operation, and at the end."""
    inside: dict[int, list[int]] = field(default_factory=dict)
    """The blocks of each loop."""

    def __post_init__(self) -> None:
        for block in self.flow.order:
            for loop in self.flow.loops_around(block):
                self.inside.setdefault(loop.index, []).append(block)
        # Twice, for what a loop leaves to its next iteration.
        for _ in range(2):
            for block in self.flow.order:
                before = [other for other in self.flow.blocks[block].predecessors if other in self.left]
                start = max((self.left_along(other, block) for other in before), default=0)
                self.left[block] = self.through(block, start)

    def through(self, block: int, left: int) -> list[int]:
        """What is left in front of each operation of a block."""
        found = [left]
        for op in self.flow.blocks[block].ops:
            if isinstance(op, ops.MemoryOperation):
                left = self.fence
            else:
                left = max(left - sum(self.work(op)), 0)
            found.append(left)
        return found

    def left_along(self, source: int, target: int) -> int:
        """What is left behind an edge: where it leaves a loop without accesses, after a few iterations."""
        left = self.left[source][-1]
        for loop in self.loops_left(source, target):
            if not any(
                isinstance(op, ops.MemoryOperation)
                for block in self.inside[loop.index]
                for op in self.flow.blocks[block].ops
            ):
                left = max(left - self.other_rounds(loop), 0)
        return left

    def loops_left(self, source: int, target: int) -> list[Loop]:
        """The loops that an edge leads out of."""
        around = {loop.index for loop in self.flow.loops_around(target)}
        return [loop for loop in self.flow.loops_around(source) if loop.index not in around]

    def other_rounds(self, loop: Loop) -> int:
        """The work of a loop in all its iterations but one, in cycles."""
        flow = self.flow
        once = flow.blocks[loop.header].frequency
        entered = sum(
            flow.blocks[block].frequency
            for block in flow.blocks[loop.header].predecessors
            if block not in loop.latches
        )
        work = sum(
            flow.blocks[block].frequency * sum(self.work(op)) / once
            for block in self.inside[loop.index]
            for op in flow.blocks[block].ops
        )
        return round(work * max(once / entered - 1, 0)) if entered else 0

    def at(self, position: Position) -> int:
        """Cycles that a barrier at a position stands until its fence is done."""
        here = self.left.get(position.block)
        return here[position.gap] if here is not None else 0


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
