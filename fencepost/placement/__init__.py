"""Where barriers go. Each strategy is one file and chooses positions; the analysis is the same for all.

A strategy returns a placement: positions, and for each whether the barrier has to drain the async copies.
Whatever it chooses, `fallback` has the last word: it adds a barrier right before any access that is still
uncovered, so that no strategy can leave a race, only waste barriers. `driver` is the way in.
"""

from fencepost.did_you_mean import did_you_mean
from fencepost.ir.source import FencepostError
from fencepost.placement.auto import Auto
from fencepost.placement.eager import Eager
from fencepost.placement.intersect import Intersect
from fencepost.placement.minimize import Minimize
from fencepost.placement.optimal import Optimal
from fencepost.placement.strategy import Strategy, cost
from fencepost.placement.walk import Walk

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


__all__ = [
    "AUTO",
    "MINIMIZE",
    "STRATEGIES",
    "Auto",
    "Eager",
    "Intersect",
    "Minimize",
    "Optimal",
    "Strategy",
    "Walk",
    "cost",
    "strategy_named",
    "summaries",
]
