"""Random kernels: soundness of every strategy, minimality, and a checker that misses nothing."""

from __future__ import annotations

from itertools import combinations

import pytest

from fencepost.analysis.pending import conflicts_left
from fencepost.analysis.program import ASYNC, read_program
from fencepost.flow import Position
from fencepost.placement import STRATEGIES
from tests.campaign import EXACT, EXHAUSTIVE, SOUND
from tests.random_kernels import STRAIGHT, Shape, random_kernel, random_text

CHUNK = 100
SMALL = Shape(size=9, depth=2, barriers=0.3)


@pytest.mark.parametrize("chunk", range(24))
def test_any_control_flow(chunk: int) -> None:
    """2,400 kernels: loops to depth 3, branches, blocks, divergence, aliasing, sub-ranges, atomics, barriers."""
    _hold(EXACT, chunk, Shape())


@pytest.mark.parametrize("chunk", range(4))
def test_large_kernels(chunk: int) -> None:
    _hold(EXACT, chunk, Shape(size=40), 1_000_000, CHUNK // 4)


@pytest.mark.parametrize("chunk", range(6))
def test_slots_that_depend_on_loops_and_copies_in_flight(chunk: int) -> None:
    """Here the analysis is coarser than `check`: race-free still, but not always without a spare barrier."""
    _hold(SOUND, chunk, Shape(slots=True, asynchronous=True), 2_000_000)


@pytest.mark.parametrize("chunk", range(6))
def test_both_ways_of_checking_agree(chunk: int) -> None:
    _hold(EXHAUSTIVE, chunk, SMALL, 3_000_000)
    _hold(EXHAUSTIVE, chunk, Shape(size=9, depth=2, barriers=0.3, slots=True, asynchronous=True), 4_000_000)


def test_straight_lines_get_the_exact_minimum() -> None:
    """`minimize` and `eager` against every subset of positions."""
    for seed in range(400):
        program = read_program(random_kernel(seed, STRAIGHT))
        positions = [Position(0, gap) for gap in range(len(program.flow.blocks[0].ops) + 1)]
        fewest = next(
            size
            for size in range(len(positions) + 1)
            if any(
                not conflicts_left(program, dict.fromkeys(s, ASYNC)) for s in combinations(positions, size)
            )
        )
        for name in ("minimize", "eager"):
            assert len(STRATEGIES[name].choose(program)) == fewest, (seed, name)


def _hold(
    properties: tuple[object, ...], chunk: int, shape: Shape, base: int = 0, count: int = CHUNK
) -> None:
    for seed in range(base + chunk * count, base + (chunk + 1) * count):
        text = random_text(seed, shape)
        for holds in properties:
            assert callable(holds)
            problem = holds(text)
            assert problem is None, f"seed {seed}: {problem}\n{text}"
