"""Races that are there whatever numbers a kernel is given.

A race that a run shows with made-up numbers may be the fault of the numbers: a stride that is too small, a size that
is no power of two. Here a kernel is run with many different numbers. If no run leaves shared memory, so that nothing
bounds them, and two accesses meet in every run in which threads of different warps come to both, then the numbers are
not to blame.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from math import prod
from random import Random

import numpy as np

from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.runs.simulation_setup import Setup, SimulationResult

SAMPLES = 48
ENOUGH, ENOUGH_RUNS = 4, 16
"""In so many runs at least, of so many, a race must be an error."""
WARP = 32
Pair = frozenset[Place]


@dataclass(frozen=True)
class Shown:
    """A launch that shows a race which is there with all numbers, and the pairs of accesses that meet."""

    setup: Setup
    seen: SimulationResult
    pairs: frozenset[Pair]


def sampled_numbers(block: tuple[int, int, int], names: Collection[str]) -> Iterator[dict[str, int]]:
    """Values for parameters, all the same or mixed: small ones, powers of two and others, and sizes that go with the
    block."""
    count = prod(block)
    small = (1, 2, 3, 4, 8)
    sizes = {16, count // 2, count - 1, count, count + 1, 4 * count + 4, 1000}
    sizes |= {size for side in block for size in (side, side + 1)}
    large = sorted(each for each in sizes if each > 0)
    chosen = Random(1)
    for value in (count, block[0], 16, 2, 1, 1000, 4 * count):
        yield dict.fromkeys(names, value)
    for _ in range(SAMPLES):
        numbers = {name: chosen.choice(chosen.choice((small, large))) for name in sorted(names)}
        yield {**numbers, "ctaid.x": chosen.choice((0, 1, 3)), "ctaid.y": chosen.choice((0, 1))}


def race_with_any_numbers(
    setups: Iterator[Setup], run: Callable[[Setup], SimulationResult | None]
) -> Shown | None:
    """A race that all runs show which come to it; None if there is none, or if the runs do not tell."""
    runs: list[tuple[Setup, SimulationResult]] = []
    for setup in setups:
        seen = run(setup)
        if seen is None:
            break
        if seen.outside or seen.missed:
            return None
        if seen.finished:
            runs.append((setup, seen))
    if len(runs) < ENOUGH_RUNS:
        return None
    pairs = {_pair(each.places) for _, seen in runs for each in seen.conflicts if each.severity == "error"}
    kept = frozenset(pair for pair in pairs if _always_meets(pair, [seen for _, seen in runs]))
    for setup, seen in runs:
        if _errors(seen) & kept:
            return Shown(setup, seen, kept)
    return None


def _always_meets(pair: Pair, runs: list[SimulationResult]) -> bool:
    """Whether two accesses meet in every run in which threads of different warps come to both."""
    return sum(pair in _errors(seen) for seen in runs) >= ENOUGH and all(
        pair in {_pair(each.places) for each in seen.conflicts} for seen in runs if _could_meet(pair, seen)
    )


def _could_meet(pair: Pair, seen: SimulationResult) -> bool:
    """Whether threads of different warps have come to two accesses."""
    if not all(place in seen.came for place in pair):
        return False
    warps = [set((np.flatnonzero(seen.came[place]) // WARP).tolist()) for place in pair]
    return len(set().union(*warps)) > 1


def _errors(seen: SimulationResult) -> set[Pair]:
    return {_pair(each.places) for each in seen.conflicts if each.severity == "error"}


def _pair(places: tuple[Place, Place]) -> Pair:
    return frozenset(places)
