"""Blocks of a kernel that no thread of a launch comes to, whatever its parameters are.

Compilers unroll loops and keep code for a remainder, also where the number of threads leaves none. No run reaches
such a block, and none could.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_nodes import Expression
from fencepost.hosts.ptx.launches.launch import Launch
from fencepost.hosts.ptx.proof.bytes_by_thread import CannotList, Points
from fencepost.hosts.ptx.reading.flow import Flow, NotJudged
from fencepost.hosts.ptx.reading.module import Module, Routine


@dataclass
class DeadBlocks:
    """What is known of the blocks of one kernel; they are looked at when they are asked for."""

    module: Module
    routine: Routine
    flow: Flow
    launch: Launch
    known: dict[int, bool] = field(default_factory=dict)

    def __contains__(self, block: int) -> bool:
        if block not in self.known:
            self.known[block] = self._is_dead(block)
        return self.known[block]

    def _is_dead(self, block: int) -> bool:
        """Whether a condition that threads have to meet on the way to a block holds for none of them."""
        if self.launch.block is None:
            return False
        try:
            conditions = Evaluator(self.module, self.routine, self.flow, self.launch).conditions(block)
            points = Points(self.launch.block, {})
        except (NotJudged, CannotList):
            return False
        return any(_never(points, each) for each in conditions)


def _never(points: Points, condition: Expression) -> bool:
    """Whether a condition depends on the thread alone, and holds for none."""
    try:
        return not points.numbers(condition, {}).bits.any()
    except CannotList:
        return False
