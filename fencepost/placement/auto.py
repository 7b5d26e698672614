"""What `auto` picks: `optimal` as far as it is found without the solver, something quicker for large kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fencepost.analysis.program import Program
from fencepost.analysis.sync import Placement
from fencepost.placement.intersect import Intersect
from fencepost.placement.minimize import Minimize
from fencepost.placement.optimal import Optimal
from fencepost.placement.strategy import Splits, Strategy
from fencepost.targets import TargetConfig

QUICK_OPERATIONS = 4000
"""Kernels with more operations are not looked at for an optimum unless that is asked for."""


@dataclass(frozen=True)
class Auto(Optimal):
    """The optimum where it is found quickly, else `intersect` or `minimize`."""

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = (
        "optimal as far as it is found without the solver, for large kernels minimize, or intersect where the "
        "target's barriers are split"
    )
    splits: ClassVar[Splits] = Splits.WHERE_PREFERRED
    solver: ClassVar[bool] = False
    seconds: float = 0.5

    def choose(self, program: Program) -> Placement:
        """See the module."""
        return (Optimal() if is_quick(program) else Minimize()).choose(program)

    def picked(self, program: Program, config: TargetConfig) -> Strategy:
        """The strategy that is used for a kernel."""
        if is_quick(program):
            return self
        return Intersect() if config.prefers_split else Minimize()


def is_quick(program: Program) -> bool:
    """Whether an optimum is looked for without being asked for."""
    return operations(program) <= QUICK_OPERATIONS


def operations(program: Program) -> int:
    """How many operations a kernel has, those of functions once for each call."""
    return sum(len(block.ops) for block in program.flow.blocks)
