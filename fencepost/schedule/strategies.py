"""The strategies that there are, and room for more: each says what it needs and how it arranges a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from fencepost.did_you_mean import did_you_mean
from fencepost.ir.source import FencepostError
from fencepost.schedule.arrangement import Arrangement
from fencepost.schedule.async_two_pp import arrange_async_two_pp
from fencepost.schedule.classify import LoopOperations
from fencepost.schedule.constraints import Constraints, Tile
from fencepost.schedule.four_pp import arrange_four_pp
from fencepost.schedule.loop_refusals import refusal
from fencepost.schedule.two_pp import arrange_two_pp
from fencepost.targets import target_named


class SchedReorderStrategy(Enum):
    """The strategies that come with fencepost, by the names that the registry knows them under."""

    NONE = "none"
    TWO_PP_CLUSTER = "two-pp"
    ASYNC_TWO_PP_CLUSTER = "two-pp-async"
    FOUR_PP_CLUSTER = "four-pp"


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to arrange a loop."""

    name: str
    summary: str
    arrange: Callable[[LoopOperations], Arrangement]
    slices: int
    """Into how many parts it divides the reduction."""
    copies: bool = False
    """Whether tiles come by copies straight into shared memory, or else through registers."""
    vendors: tuple[str, ...] = ("amd",)
    """Who makes targets with a barrier that does not wait for memory, and with priorities of waves."""

    def conditions(self, found: LoopOperations, constraints: Constraints) -> Iterator[FencepostError]:
        """Each condition that does not hold."""
        yield from _moves(self, found)
        yield from _target(self, constraints)
        yield from _tile(self, constraints)


def _moves(strategy: Strategy, found: LoopOperations) -> Iterator[FencepostError]:
    wanted = "copies straight into shared memory" if strategy.copies else "local writes"
    for side, moves in (("left", found.lhs), ("right", found.rhs)):
        other = moves.local_writes if strategy.copies else moves.copies
        if other:
            yield refusal(
                "FP502",
                f"the tiles of the {side} operand come in by {'local writes' if strategy.copies else 'copies'}",
                f"{strategy.name} needs {wanted}",
                [(other[0], "")],
            )


def _target(strategy: Strategy, constraints: Constraints) -> Iterator[FencepostError]:
    target = target_named(constraints.hardware.target)
    if target.vendor not in strategy.vendors:
        yield refusal(
            "FP511",
            f"{target} has no barrier without a fence and no priorities of waves",
            f"{strategy.name} is for targets of {' and '.join(strategy.vendors)}",
        )
    elif strategy.copies and "gather_to_lds" not in target.counted_on:
        yield refusal("FP511", f"{target} cannot copy straight into shared memory", f"{strategy.name} does")


def _tile(strategy: Strategy, constraints: Constraints) -> Iterator[FencepostError]:
    if constraints.tile is None:
        return
    for axis, extent, unit in tile_units(constraints.tile, constraints, strategy.slices):
        if extent <= 0 or extent % unit:
            yield refusal(
                "FP506",
                f"a tile of {constraints.tile} is no multiple of {unit} along {axis}",
                "waves and instructions divide the tile evenly, and the reduction has all slices",
            )


def tile_units(tile: Tile, constraints: Constraints, slices: int) -> list[tuple[str, int, int]]:
    """For each axis: how far the tile reaches, and what that has to be a multiple of."""
    hardware = constraints.hardware
    rows, columns, *_ = (*hardware.waves_per_block, 1)
    return [
        ("m", tile.m, rows * hardware.mma.m),
        ("n", tile.n, columns * hardware.mma.n),
        ("k", tile.k, slices * hardware.mma.k),
    ]


STRATEGIES: dict[str, Strategy] = {}
"""By name, in the order in which they are tried."""


def register(strategy: Strategy) -> Strategy:
    """Add a strategy, under a name that is not taken."""
    if strategy.name in STRATEGIES or strategy.name in _RESERVED:
        raise FencepostError(f"there is a schedule called {strategy.name!r} already", code="FP111")
    STRATEGIES[strategy.name] = strategy
    return strategy


_RESERVED = (SchedReorderStrategy.NONE.value, "auto")

register(
    Strategy(
        "two-pp",
        "two clusters of matrix instructions, local writes between them",
        arrange_two_pp,
        slices=2,
    )
)
register(
    Strategy(
        "two-pp-async",
        "tiles copied straight into shared memory, waited for by count",
        arrange_async_two_pp,
        slices=1,
        copies=True,
    )
)
register(
    Strategy(
        "four-pp",
        "four clusters of matrix instructions, each quarter of a tile written after its reads",
        arrange_four_pp,
        slices=4,
    )
)


def strategy_named(name: str) -> Strategy:
    """A strategy of the registry."""
    found = STRATEGIES.get(name)
    if found is None:
        known = [*STRATEGIES, *_RESERVED]
        notes = [*did_you_mean(name, known), ("known schedules", ", ".join(known))]
        raise FencepostError(f"unknown schedule {name!r}", code="FP111", notes=notes)
    return found
