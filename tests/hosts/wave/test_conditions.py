"""What conditionals ask: about the wave, about something that is the same for all, or who knows."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from fencepost.hosts.wave.conditions import ANYONE, Conditions
from fencepost.hosts.wave.thread_numbers import Numbers, Workgroup
from fencepost.ir.expr import is_divergent

T0, T1, GROUP0, LOOP = (
    sympy.Symbol(name, integer=True, nonnegative=True) for name in ("$T0", "$T1", "$WG0", "$ARGK")
)
# Two rows of two waves: the second row has T1 = 1.
CONDITIONS = Numbers(Workgroup(64, (128, 2, 1)))
WAVE = sympy.floor((T0 + 128 * T1) / 64)


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        (sympy.Ge(WAVE, 2), "wave >= 2"),
        (sympy.Lt(WAVE, 2), "wave < 2"),
        (sympy.Eq(T1, 1), "wave >= 2"),
        (sympy.Eq(sympy.Mod(WAVE, 2), 1), "wave % 2 * 1 + 0 == 1"),
        (sympy.Ge(WAVE, 0, evaluate=False), "1 == 1"),
        (sympy.Gt(WAVE, 9), "0 == 1"),
        (sympy.Gt(GROUP0, 0), "%c1"),
        (sympy.Eq(LOOP, 3), "%c1"),
        (sympy.Lt(T0, 1), str(ANYONE)),  # lanes of one wave part
        (sympy.Lt(T0, LOOP), str(ANYONE)),
    ],
)
def test_expression(condition: Any, wanted: str) -> None:
    assert str(Conditions(CONDITIONS, {}).of(condition)) == wanted


def test_what_nobody_knows_may_differ_between_waves() -> None:
    assert is_divergent(ANYONE)


def test_without_a_workgroup_threads_may_differ() -> None:
    assert Conditions(Numbers(None), {}).of(sympy.Ge(WAVE, 2)) == ANYONE
