"""The placement of least cost: equal to trying every subset of positions, never beaten by another strategy."""

from __future__ import annotations

import sys
from itertools import combinations

import pytest

import fencepost as fp
from fencepost.analysis.covers import PLAIN
from fencepost.analysis.pending import conflicts_left
from fencepost.analysis.program import Program
from fencepost.analysis.read import read_program
from fencepost.flow import Position
from fencepost.placement import STRATEGIES, cost
from fencepost.placement.optimal import find_optimum
from tests.random_kernels import Shape, random_kernel

SMALL = Shape(size=7, depth=2, barriers=0.1, divergent=False)
ANY = Shape(slots=True, handing=True, functions=True)


def least_cost(program: Program) -> float | None:
    """By trying every set of positions; None if there are too many."""
    places = sorted(
        Position(block, gap)
        for block in program.siblings
        for gap in range(len(program.flow.blocks[block].ops) + 1)
        if Position(block, gap) not in program.standing
    )
    if len(places) > 13:
        return None
    left = len(conflicts_left(program, program.standing | dict.fromkeys(places, PLAIN)))
    paid = [
        cost(program.flow, dict.fromkeys(chosen, PLAIN))
        for size in range(len(places) + 1)
        for chosen in combinations(places, size)
        if len(conflicts_left(program, program.standing | dict.fromkeys(chosen, PLAIN))) == left
    ]
    return min(paid)


@pytest.mark.parametrize("chunk", range(4))
def test_it_equals_brute_force(chunk: int) -> None:
    compared = 0
    for seed in range(chunk * 60, (chunk + 1) * 60):
        program = read_program(random_kernel(seed, SMALL))
        expected = least_cost(program) if len(program.flow.blocks) > 1 else None
        if expected is None:
            continue
        found = find_optimum(program, 10.0)
        assert found.proven, f"seed {seed}: {found}"
        assert found.cost == pytest.approx(expected), f"seed {seed}"
        compared += 1
    assert compared > 10


@pytest.mark.parametrize("chunk", range(4))
def test_no_strategy_costs_less(chunk: int) -> None:
    for seed in range(chunk * 60, (chunk + 1) * 60):
        kernel = random_kernel(seed, ANY)
        program = read_program(kernel)
        found = find_optimum(program, 10.0)
        assert found.proven, f"seed {seed}: {found}"
        for name, strategy in STRATEGIES.items():
            other = {at: c for at, c in strategy.choose(program).items() if at not in program.standing}
            assert found.cost <= cost(program.flow, other) * (1 + 1e-9), f"seed {seed}: {name}"


@pytest.mark.parametrize("chunk", range(2))
def test_the_result_is_clean(chunk: int) -> None:
    for seed in range(1000 + chunk * 50, 1000 + (chunk + 1) * 50):
        kernel = random_kernel(seed, Shape())
        try:
            fp.insert_barriers(kernel, strategy="optimal")
        except fp.FencepostError as error:
            assert error.code == "FP203"
            continue
        assert fp.check(kernel).ok, f"seed {seed}\n{kernel}"


def test_without_a_solver_the_best_known_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    program = read_program(fp.parse(LOOP))
    found = find_optimum(program)
    assert found.placement == STRATEGIES["minimize"].choose(program)
    assert not found.proven and "scipy is not installed" in str(found)


def test_out_of_time_the_gap_is_told() -> None:
    found = find_optimum(read_program(fp.parse(LOOP)), 0.0)
    assert not found.proven and found.bound == 0.0 and "within 100.0 % of the optimum" in str(found)


LOOP = """
kernel @loop waves=4 {
  shared %a : 64
  loop %i in 0..8 {
    write %a
    if %c {
      read %a
    }
  }
}
"""


def test_a_barrier_in_the_branch_that_runs_less_often() -> None:
    """The read is on one side only: its barrier stands there, and the write's in front of it."""
    kernel = fp.parse(LOOP)
    done = fp.insert_barriers(kernel, strategy="optimal")
    found = find_optimum(read_program(fp.parse(LOOP)))
    assert found.proven and done.executed == found.cost
