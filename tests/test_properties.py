"""Random kernels: soundness of every strategy, minimality, and a checker that misses nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from fencepost.analysis.build_program import read_program
from fencepost.analysis.pending import conflicts_left
from fencepost.analysis.transfer import DRAIN
from fencepost.flow import Position
from fencepost.placement import STRATEGIES
from tests.campaign import AGREEING, ENDS, ENDS_OF_COPIES, EXACT, EXHAUSTIVE, SOUND, WAITS, Property, asked
from tests.random_kernels import STRAIGHT, Shape, random_kernel, random_text
from tests.tiers import sweep

pytestmark = pytest.mark.usefixtures("parsed_once")

CHUNK = 25
SMALL = Shape(size=9, depth=2, barriers=0.3)
ARGUMENTS = Shape(arguments=True, slots=True, size=16, waves=(2, 4))
EVERYTHING = Shape(slots=True, asynchronous=True, handing=True, functions=True, scratch=True, size=16)


@pytest.mark.parametrize("chunk", sweep(range(96), first=4))
def test_any_control_flow(chunk: int) -> None:
    """2,400 kernels, 100 for every commit: loops to depth 3, branches, divergence, aliasing, sub-ranges, atomics."""
    _hold(EXACT, chunk, Shape())


@pytest.mark.parametrize("chunk", sweep(range(16), first=1))
def test_large_kernels(chunk: int) -> None:
    _hold(EXACT, chunk, Shape(size=40), 1_000_000, CHUNK // 4)


@pytest.mark.parametrize("chunk", sweep(range(32), first=1))
def test_rings_and_what_loops_carry(chunk: int) -> None:
    """Slots that depend on loops, counters, rotated buffers, conditions on iterations: exact, too."""
    _hold(EXACT, chunk, Shape(slots=True, handing=True), 5_000_000)


@pytest.mark.parametrize("chunk", sweep(range(24), first=1))
def test_blocks_with_arguments(chunk: int) -> None:
    """Rings, counters, diamonds and divergent branches as compilers lower them: exact, too."""
    _hold(EXACT, chunk, ARGUMENTS, 11_000_000, CHUNK // 2)


@pytest.mark.parametrize("chunk", sweep(range(8), first=1))
def test_blocks_with_arguments_and_everything_else(chunk: int) -> None:
    shape = replace(ARGUMENTS, handing=True, functions=True, scratch=True)
    _hold(EXACT, chunk, shape, 12_000_000, CHUNK // 4)
    _hold(SOUND, chunk, replace(ARGUMENTS, asynchronous=True, waits=False), 13_000_000, CHUNK // 4)


@pytest.mark.parametrize("chunk", sweep(range(16), first=1))
def test_functions_and_scratch(chunk: int) -> None:
    _hold(EXACT, chunk, Shape(functions=True, scratch=True), 6_000_000)


@pytest.mark.parametrize("chunk", sweep(range(24), first=1))
def test_waits_are_as_short_as_possible(chunk: int) -> None:
    """Copies and async reads on three counters: nothing to take away, no count that could be larger."""
    shape = Shape(slots=True, asynchronous=True, waits=False, divergent=False)
    _hold(WAITS, chunk, shape, 7_000_000, CHUNK // 2)


@pytest.mark.parametrize("chunk", sweep(range(24), first=1))
def test_copies_in_flight(chunk: int) -> None:
    """With waits of any count, under divergence, too: race-free, if not always without a spare barrier."""
    _hold(SOUND, chunk, Shape(slots=True, asynchronous=True), 2_000_000)


@pytest.mark.parametrize("chunk", sweep(range(16), first=1))
def test_everything_at_once(chunk: int) -> None:
    _hold(SOUND, chunk, EVERYTHING, 8_000_000, CHUNK // 4)
    _hold(SOUND, chunk, Shape(asynchronous=True, groups_of_copies=True), 9_000_000, CHUNK // 4)


@pytest.mark.parametrize("chunk", sweep(range(12), first=1))
def test_what_the_kernel_tells_is_used(chunk: int) -> None:
    """Results of reads in front of barriers without a fence, parameters, parts of unknown slots: exact, too."""
    _hold(AGREEING, chunk, Shape(uses=True, divergent=False, handing=True), 14_000_000, CHUNK // 4)
    _hold(EXACT, chunk, Shape(parameters=True, slots=True), 15_000_000, CHUNK // 5)
    _hold(EXACT, chunk, Shape(unknown=True, slots=True, handing=True), 16_000_000, CHUNK // 5)
    copies = Shape(uses=True, slots=True, asynchronous=True, parameters=True, unknown=True)
    _hold(SOUND, chunk, copies, 17_000_000, CHUNK // 5)


@pytest.mark.parametrize("chunk", sweep(range(12), first=1))
def test_how_near_its_end_a_loop_is_decides(chunk: int) -> None:
    """Loops up to a parameter, and conditions on how many iterations are left: exact, and right for every value."""
    shape = Shape(parameters=True, ends=True, slots=True, divergent=False)
    _hold(ENDS, chunk, shape, 18_000_000, CHUNK // 5)
    copies = replace(shape, asynchronous=True, groups_of_copies=True)
    _hold(ENDS_OF_COPIES, chunk, copies, 19_000_000, CHUNK // 5)


@pytest.mark.parametrize("chunk", sweep(range(24), first=1))
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
                not conflicts_left(program, program.existing | dict.fromkeys(s, DRAIN))
                for s in combinations(positions, size)
            )
        )
        for name in ("minimize", "eager"):
            assert len(STRATEGIES[name].choose(program)) - len(program.existing) == fewest, (seed, name)


def _hold(
    properties: tuple[Property, ...], chunk: int, shape: Shape, base: int = 0, count: int = CHUNK
) -> None:
    for seed in range(base + chunk * count, base + (chunk + 1) * count):
        text = random_text(seed, shape)
        for holds in properties:
            problem = asked(holds, seed, every=False)(text)
            assert problem is None, f"seed {seed}: {problem}\n{text}"
