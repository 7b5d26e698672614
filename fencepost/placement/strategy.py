"""What a strategy is, and what a placement costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from fencepost.analysis.covers import Placement
from fencepost.analysis.program import Program
from fencepost.flow import Flow


@dataclass(frozen=True)
class Strategy(ABC):
    """Chooses where barriers go. Subclasses are frozen dataclasses whose fields are their options."""

    name: ClassVar[str]
    summary: ClassVar[str]
    improves: ClassVar[bool] = False
    """Whether other positions may be tried where barriers have to wait for copies."""

    @abstractmethod
    def choose(self, program: Program) -> Placement:
        """Barriers that leave no hazard uncovered, except where no barrier could; those that stand are among them."""


def cost(flow: Flow, placement: Placement) -> float:
    """How many barriers are executed in one run of the kernel, estimated. A wait that nobody meets at is a tenth."""
    return sum(flow.frequency(at) * (1 if cover.rendezvous else 0.1) for at, cover in placement.items())
