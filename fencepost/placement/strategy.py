"""What a strategy is, what is decided by one, and what a placement costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

from fencepost.analysis.program import Program
from fencepost.analysis.transfer import Placement
from fencepost.flow import Flow, Position
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


class Halves(NamedTuple):
    """What became of a barrier: where it is signalled, and where that is waited for.

    Two barriers that a loop carries share their halves; the signals, or waits, are listed with the first of them.
    """

    signals: tuple[Position, ...]
    waits: tuple[Position, ...]
    number: int
    """The split barrier, by its number among those of the program."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Where barriers and waits go."""

    strategy: str
    placement: Placement
    """With whole barriers."""
    proof: str = ""
    """For `optimal`: whether it is, or how far from it the result can be."""
    best: float | None = None
    """What the optimum costs, if it was looked for."""
    split: Placement | None = None
    """The same with signals and waits, where barriers are split."""
    halves: dict[Position, Halves] | None = None
    """For each barrier that was split, its halves."""

    def added(self, existing: Placement) -> Placement:
        """What has to be put in besides the barriers and waits that exist."""
        found = {at: sync for at, sync in self.placement.items() if at not in existing}
        # Several where there is one already: the new ones come in front of it, and it stays as it is.
        return found | {
            at: sync._replace(times=sync.times - 1)
            for at, sync in self.placement.items()
            if at in existing and sync.times > 1
        }

    def changed(self, existing: Placement) -> list[Position]:
        """The existing barriers and waits that have to do something else."""
        several = {at for at, sync in self.placement.items() if sync.times > 1}
        return [at for at, sync in existing.items() if self.placement[at] != sync and at not in several]


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
