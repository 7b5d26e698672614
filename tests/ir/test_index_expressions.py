"""Index expressions: in text, in Python, and what they are worth."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.ir import ops
from fencepost.ir.expr import (
    ARITHMETIC,
    COMPARISONS,
    Binary,
    Compare,
    Const,
    Expr,
    Select,
    Unknown,
    Var,
    Wave,
    decide,
    evaluate,
)
from fencepost.ir.printer import statement
from tests.ir.round_trip import (
    only,
)

LEAVES = st.one_of(
    st.integers(-9, 9).map(Const), st.sampled_from([Var("i"), Var("j")]), st.just(Wave()), st.just(Unknown())
)


def larger(parts: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    compared = st.builds(Compare, st.sampled_from(sorted(COMPARISONS)), parts, parts)
    return st.one_of(
        st.builds(Binary, st.sampled_from(sorted(ARITHMETIC)), parts, parts),
        st.builds(Select, compared, parts, parts),
    )


EXPRS = st.recursive(LEAVES, larger, max_leaves=12)

PLAIN_EXPRS = st.recursive(
    st.one_of(st.integers(-9, 9).map(Const), st.sampled_from([Var("i"), Var("j")]), st.just(Wave())),
    lambda parts: st.builds(Binary, st.sampled_from(sorted(ARITHMETIC)), parts, parts),
    max_leaves=12,
)

ENVIRONMENTS = [({"i": i, "j": j}, wave) for i in (-3, 0, 2) for j in (1, 5) for wave in (0, 3)]


def reparsed(condition: Compare) -> Compare:
    op = only("loop %i in 0..2 {", "loop %j in 0..2 {", f"if {condition} {{", "}", "}", "}")
    assert isinstance(op, ops.Iterate)
    inner = op.body.first
    assert isinstance(inner, ops.Iterate)
    conditional = inner.body.first
    assert isinstance(conditional, ops.Conditional)
    assert isinstance(conditional.condition, Compare)
    return conditional.condition


@given(EXPRS, st.sampled_from(sorted(COMPARISONS)), EXPRS)
@settings(derandomize=True, max_examples=400, deadline=None)
def test_expressions_keep_their_meaning(left: Expr, op: str, right: Expr) -> None:
    condition = Compare(op, left, right)
    again = reparsed(condition)
    for env, wave in ENVIRONMENTS:
        assert evaluate(again.lhs, env, wave) == evaluate(left, env, wave)
        assert decide(again, env, wave) == decide(condition, env, wave)
    assert again == condition


@given(PLAIN_EXPRS)
@settings(derandomize=True, max_examples=400, deadline=None)
def test_expressions_mean_what_python_makes_of_them(expr: Expr) -> None:
    text = re.sub(r"%([ij])", r"\1", str(expr))
    for env, wave in ENVIRONMENTS:
        try:
            expected = eval(text, {}, {**env, "wave": wave})
        except ZeroDivisionError:
            expected = None
        assert evaluate(expr, env, wave) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("7 // -2", -4),
        ("7 % -3", -2),
        ("2 - 3 - 4", -5),
        ("2 - (3 - 4)", 3),
        ("12 // 2 * 3", 18),
        ("12 // (2 * 3)", 2),
        ("1 + 2 * 3 % 4", 3),
        ("(1 + 2) * 3", 9),
        ("2 - -3", 5),
        ("2--3", 5),
        ("1 // 0", None),
        ("1 % 0", None),
        ("? * 0", None),
        ("select(1 < 2, 3, 1 // 0)", 3),
        ("select(? < 2, 3, 3)", None),
        ("007", 7),
        ("5 ^ 1", 4),
        ("1 ^ 2 + 1", 2),
        ("(1 ^ 2) + 1", 4),
        ("1 ^ 2 ^ 3", 0),
        ("-1 ^ 1", -2),
        ("? ^ 1", None),
    ],
)
def test_values_of_expressions(text: str, value: int | None) -> None:
    op = only(f"if {text} == 0 {{", "}")
    assert isinstance(op, ops.Conditional)
    assert isinstance(op.condition, Compare)
    assert evaluate(op.condition.lhs, {}) == value


def test_superfluous_parentheses_go_and_needed_ones_stay() -> None:
    def printed(text: str) -> str:
        op = only(f"if {text} == 0 {{", "}")
        return statement(op).removeprefix("if ").removesuffix(" == 0 {")

    assert printed("((1)+(wave))") == "1 + wave"
    assert printed("(1 + 2) + 3") == "1 + 2 + 3"
    assert printed("1 + (2 + 3)") == "1 + (2 + 3)"
    assert printed("(wave*2)%4") == "wave * 2 % 4"
    assert printed("wave*(2%4)") == "wave * (2 % 4)"


def test_python_operators_build_the_same_expressions() -> None:
    i = Var("i")
    built = 1 + i * 2 - (3 - i) // 4 % 5
    assert str(built) == "1 + %i * 2 - (3 - %i) // 4 % 5"
    assert str(7 // i + 7 % i - 2 * i) == "7 // %i + 7 % %i - 2 * %i"
    assert str((i ^ 1) + (1 ^ i)) == "(%i ^ 1) + (1 ^ %i)"
    for value in range(-5, 6):
        assert evaluate(built, {"i": value}) == 1 + value * 2 - (3 - value) // 4 % 5
