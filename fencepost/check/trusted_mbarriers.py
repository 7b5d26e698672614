"""Barriers alone, where mbarriers are assumed to be used correctly.

A copy that arrives on an mbarrier is taken to be waited for, by all waves, before anyone touches its bytes. So it is
not followed; what came before it still has to be ordered before it. That judges the barriers of a kernel, or of a
part of it, on all paths. Whether the mbarriers do what they should, only the simulation of all waves together tells.
"""

from __future__ import annotations

from fencepost.check.concrete_access import effect_of
from fencepost.check.environments import Env
from fencepost.check.loop_context import Context
from fencepost.check.report import Explored
from fencepost.check.track import Tracker
from fencepost.flow import Block
from fencepost.ir import ops

TRUSTED = "mbarriers are assumed to be used correctly"


class TrustingTracker(Tracker):
    """Follows the accesses that nothing but barriers and waits can order."""

    def __init__(self, context: Context, explored: Explored, budget: int) -> None:
        super().__init__(context, explored, budget)
        everything = (op for block in context.flow.blocks for op in block.ops)
        self.arriving = {op.counter for op in everything if isinstance(op, ops.MbarrierArrive) and op.counter}
        """Counters whose operations arrive on mbarriers all together."""

    def run(self) -> None:
        """Follow the accesses, and say what was not looked at."""
        super().run()
        self.explored.cut(TRUSTED)

    def start(self, block: Block, gap: int, op: ops.MemoryOperation, environments: list[Env]) -> None:
        """Follow one operation, unless it arrives on an mbarrier."""
        effect = effect_of(op)
        arrives = isinstance(op, ops.AsyncOperation) and op.arrives is not None
        if effect is not None and (arrives or (effect.engine and effect.counter in self.arriving)):
            return
        super().start(block, gap, op, environments)
