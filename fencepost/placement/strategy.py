"""What a strategy is, and what a placement costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
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

    def candidates(self, program: Program) -> Iterator[Placement]:
        """The placements that it chooses from, the one that is found first to begin with."""
        yield self.choose(program)


WAIT_COST = 5.0
"""What it costs to wait for a copy that has just been issued, in barriers; one with n later ones costs a 1+n-th."""


def wait_price(count: int) -> float:
    """What it costs to wait until at most `count` operations are outstanding, in barriers."""
    return WAIT_COST / (1 + max(count, 0))


def cost(flow: Flow, placement: Placement) -> float:
    """How many barriers are executed in one run of the kernel, estimated. A wait that nobody meets at is a tenth."""
    return sum(
        flow.frequency(at) * (cover.times if cover.rendezvous else 0.1) for at, cover in placement.items()
    )
