"""What is known about the placement of least cost."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.analysis.sync import Placement


@dataclass(frozen=True, slots=True)
class Optimum:
    """A placement, and how much better one could be."""

    placement: Placement
    cost: float
    """How often the barriers run that were put in, with what waits cost (see `costs`)."""
    bound: float
    """No placement costs less."""
    proven: bool
    """Whether it is the optimum: in how often barriers run, then in what they expose, then in how many they are."""
    constraints: int
    seconds: float
    asked: int = 0
    """How often the solver was asked."""
    reason: str = ""
    """Why the proof is not complete."""

    @property
    def least_executed(self) -> bool:
        """Whether no placement costs less, even if one may expose less latency."""
        return self.cost <= self.bound * (1 + 1e-9)

    @property
    def gap(self) -> float:
        """The part of the cost, from 0 to 1, that a better placement could save at most."""
        return (self.cost - self.bound) / self.cost if self.cost else 0.0

    def __str__(self) -> str:
        # No seconds: the same kernel always gets the same words.
        how = f"{self.constraints} constraint{'' if self.constraints == 1 else 's'}" + (
            f", {self.asked} call{'s' if self.asked > 1 else ''} of the solver" if self.asked else ""
        )
        if self.proven:
            return f"optimal, proven ({how})"
        why = f"; {self.reason}" if self.reason else ""
        if self.least_executed:
            return f"none runs less often, proven; one may expose less latency ({how}{why})"
        return f"within {self.gap:.1%} of the optimum ({how}{why})"
