"""What a strategy is, and what a placement costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from fencepost.analysis.program import Program
from fencepost.analysis.transfer import Placement
from fencepost.flow import Flow
from fencepost.targets import TargetConfig


class Splits(Enum):
    """When a strategy splits barriers."""

    NEVER = "never"
    WHERE_PREFERRED = "where the target prefers it"
    ALWAYS = "always"


@dataclass(frozen=True)
class Strategy(ABC):
    """Chooses where barriers go. Subclasses are frozen dataclasses whose fields are their options."""

    name: ClassVar[str]
    summary: ClassVar[str]
    improves: ClassVar[bool] = False
    """Whether other positions may be tried where barriers have to wait for copies."""
    keeps_positions: ClassVar[bool] = False
    """Whether it stands for an algorithm of someone else, and keeps the positions of that."""
    splits: ClassVar[Splits] = Splits.NEVER
    """Whether its barriers are split into arrive and wait."""

    @abstractmethod
    def choose(self, program: Program) -> Placement:
        """Barriers that leave no hazard uncovered, except where no barrier could; those that stand are among them."""

    def candidates(self, program: Program) -> Iterator[Placement]:
        """The placements that it chooses from, the one that is found first to begin with."""
        yield self.choose(program)

    def picked(self, program: Program, config: TargetConfig) -> Strategy:
        """The strategy that is used for a kernel: this one, unless it leaves the choice to others."""
        del program, config
        return self

    def wants_splits(self, config: TargetConfig) -> bool:
        """Whether its barriers are split on a target."""
        preferred = self.splits is Splits.WHERE_PREFERRED and config.prefers_split
        return config.split_barriers and (preferred or self.splits is Splits.ALWAYS)


WAIT_COST = 5.0
"""What it costs to wait for a copy that has just been issued, in barriers; one with n later ones costs a 1+n-th."""


def wait_price(count: int) -> float:
    """What it costs to wait until at most `count` operations are outstanding, in barriers."""
    return WAIT_COST / (1 + max(count, 0))


def cost(flow: Flow, placement: Placement) -> float:
    """How many barriers are executed in one run of the kernel, estimated. A wait that nobody meets at is a tenth."""
    return sum(
        flow.frequency(at) * (sync.times if sync.rendezvous else 0.1) for at, sync in placement.items()
    )
