"""Where barriers go. Each strategy is one file and chooses positions; the analysis is the same for all.

A strategy returns a placement: positions, and for each whether the barrier has to drain the async copies.
Whatever it chooses, `fallback` has the last word: it adds a barrier right before any access that is still
uncovered, so that no strategy can leave a race, only waste barriers. `driver` is the way in.
"""

from fencepost.placement.auto import AUTO, MINIMIZE, STRATEGIES, Auto, strategy_named, summaries
from fencepost.placement.eager import Eager
from fencepost.placement.intersect import Intersect
from fencepost.placement.minimize import Minimize
from fencepost.placement.optimal import Optimal
from fencepost.placement.strategy import Strategy, cost
from fencepost.placement.walk import Walk

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
