"""What there is to choose from by name, and what `auto` picks of it.

That is `optimal` as far as it is found without the solver, and something quicker for large kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fencepost.analysis.program import Program
from fencepost.did_you_mean import did_you_mean
from fencepost.ir.source import FencepostError
from fencepost.placement.eager import Eager
from fencepost.placement.intersect import Intersect
from fencepost.placement.minimize import Minimize
from fencepost.placement.optimal import Optimal
from fencepost.placement.strategy import Splits, Strategy
from fencepost.placement.walk import Walk
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

    def picked(self, program: Program, config: TargetConfig) -> Strategy:
        """The strategy that is used for a kernel: this one if an optimum is looked for without being asked for."""
        if operations(program) <= QUICK_OPERATIONS:
            return self
        return Intersect() if config.prefers_split else Minimize()


def operations(program: Program) -> int:
    """How many operations a kernel has, those of functions once for each call."""
    return sum(len(block.ops) for block in program.flow.blocks)


MINIMIZE = Minimize()
STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy for strategy in (MINIMIZE, Optimal(), Intersect(), Eager(), Walk())
}
AUTO = Auto()
"""Picks one of them."""


def summaries() -> dict[str, str]:
    """What there is to choose from, each with a word about it."""
    return {strategy.name: strategy.summary for strategy in (AUTO, *STRATEGIES.values())}


def strategy_named(name: str) -> Strategy:
    """A strategy by its name."""
    known = {AUTO.name: AUTO, **STRATEGIES}
    if name not in known:
        notes = [*did_you_mean(name, known), ("known strategies", ", ".join(known))]
        raise FencepostError(f"unknown strategy {name!r}", code="FP111", notes=notes)
    return known[name]
