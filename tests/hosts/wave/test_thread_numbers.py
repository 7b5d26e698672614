"""Index expressions are evaluated for all threads at once, and come out as sympy would have them."""

from __future__ import annotations

import random
from typing import Any

import pytest
import sympy

from fencepost.hosts.wave.thread_numbers import Numbers, Workgroup
from tests.tiers import sweep

T0, T1, BLOCK, K = (sympy.Symbol(name, integer=True, nonnegative=True) for name in ("$T0", "$T1", "B", "K"))
GROUP = Workgroup(64, (128, 2, 1))


def random_expression(source: random.Random, depth: int) -> Any:
    if depth == 0:
        return source.choice([T0, T1, BLOCK, sympy.Integer(source.randint(0, 40))])
    one, other = random_expression(source, depth - 1), random_expression(source, depth - 1)
    number = source.choice([2, 4, 16, 64])
    return source.choice(
        [one + other, one * source.randint(1, 9), sympy.floor(one / number), sympy.Mod(one, number)]
    )


@pytest.mark.parametrize("seed", sweep(range(40), first=10))
def test_as_sympy_has_it(seed: int) -> None:
    expr = random_expression(random.Random(seed), 4)
    found = Numbers(GROUP, {BLOCK: 48}).integers(expr)
    for thread in (0, 1, 63, 64, 127, 128, 200, 255):
        wanted = sympy.sympify(expr).subs({T0: thread % 128, T1: thread // 128, BLOCK: 48})
        assert found is not None and wanted == (found if isinstance(found, int) else found[thread])


def test_half_of_a_block() -> None:
    assert Numbers(GROUP, {BLOCK: 48}).integer(BLOCK * sympy.floor(sympy.Integer(3)) / 2) == 72


@pytest.mark.parametrize("expr", [K + T0, sympy.Mod(T0, T1), T0 / 2, sympy.sin(T0), sympy.Mod(K, 2)])
def test_what_is_not_known_is_none(expr: Any) -> None:
    assert Numbers(GROUP).integers(expr) is None


def test_without_a_workgroup_nothing_is_known_of_threads() -> None:
    assert Numbers(None).integers(T0) is None
    assert Numbers(None, {BLOCK: 48}).integer(BLOCK + 1) == 49


def test_waves_are_counted_along_the_first_dimension() -> None:
    assert GROUP.waves == 4
    assert (GROUP.number(1) == [0] * 128 + [1] * 128).all()
