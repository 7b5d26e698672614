"""The latency that a barrier exposes: how long its fence stands until the accesses in front of it are complete.

It is counted from the last access on, less the work that is done meanwhile; at the start of a block, from what the
blocks in front of it leave. Other barriers in between are not seen: each position has one price, whatever else is
chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fencepost.flow import Flow, Loop, Position
from fencepost.ir import ops


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
        """What is left behind an edge: where it leaves a loop without accesses, that has gone round a few times."""
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
