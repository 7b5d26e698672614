"""Forward dataflow over pending accesses: a barrier right before the first access that needs one.

The way Triton's membar analysis works. On a straight line this is already the fewest possible: it is interval
cover by right ends. In loops it pays for hazards from outside the loop on every iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fencepost.analysis.program import Program
from fencepost.analysis.transfer import Placement
from fencepost.placement.fallback import complete_in_front_of_calls
from fencepost.placement.strategy import Strategy


@dataclass(frozen=True)
class Eager(Strategy):
    """A barrier right before the first access that needs one."""

    name: ClassVar[str] = "eager"
    summary: ClassVar[str] = "a barrier right before the first access that needs one (Triton's membar)"
    keeps_positions: ClassVar[bool] = True

    def choose(self, program: Program) -> Placement:
        """See the module."""
        return complete_in_front_of_calls(program, program.existing)
