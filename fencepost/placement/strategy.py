"""What a strategy is, and what a placement costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from fencepost.analysis.program import Placement, Program
from fencepost.flow import Flow


@dataclass(frozen=True)
class Strategy(ABC):
    """Chooses where barriers go. Subclasses are frozen dataclasses whose fields are their options."""

    name: ClassVar[str]
    summary: ClassVar[str]

    @abstractmethod
    def choose(self, program: Program) -> Placement:
        """Barriers that leave no hazard uncovered, except where no barrier could."""


def cost(flow: Flow, placement: Placement) -> float:
    """How many barriers are executed in one run of the kernel, estimated."""
    return sum(flow.frequency(position) for position in placement)
