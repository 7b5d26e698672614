"""Numbers that a kernel is given: which values are tried for them.

A number decides how often loops run and which way branches go, in all parts of a kernel alike. Where it is divided
before that, only multiples of the divisor are tried: `%k // 64` is then every number of tiles, from none up. So it is
where a loop that counts in steps of 64 asks whether it has reached `%k`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import lcm
from random import Random

from fencepost.check.concrete_access import view_parts
from fencepost.check.deciding_names import condition_of, given_at
from fencepost.check.report import Explored
from fencepost.ir import ops
from fencepost.ir.expr import Binary, Compare, Const, Expr, Select, Var, leaves
from fencepost.ir.trace import CapturedTrace

MOST = 8
"""The largest value that is tried, in multiples of what a number is divided by, or counted up to in steps of."""
FEW = (0, 1, 2, MOST)
"""Those that are tried where there are several numbers."""
MOST_COMBINATIONS = 64

Given = dict[str, int]


def values_given(trace: CapturedTrace, explored: Explored) -> list[Given]:
    """The values to try for the numbers of a kernel, all of them at once."""
    units = _units(trace)
    if not units:
        return [{}]
    if len(units) == 1:
        ((name, unit),) = units.items()
        explored.cut(f"%{name} was tried from 0 to {MOST * unit}" + (f" by {unit}" if unit > 1 else ""))
        return [{name: unit * times} for times in range(MOST + 1)]
    names = ", ".join(f"%{name}" for name in units)
    explored.cut(f"a few combinations of {names} were tried")
    if len(FEW) ** len(units) <= MOST_COMBINATIONS:
        chosen = list(product(FEW, repeat=len(units)))
    else:
        # All of them alike in any case, and of the others as many as there is room for.
        alike = [(times,) * len(units) for times in FEW]
        rng = Random(0)
        others = [tuple(rng.choices(FEW, k=len(units))) for _ in range(MOST_COMBINATIONS - len(FEW))]
        chosen = list(dict.fromkeys([*alike, *others]))
    return [
        {name: times * unit for (name, unit), times in zip(units.items(), values, strict=True)}
        for values in chosen
    ]


def _units(trace: CapturedTrace) -> dict[str, int]:
    """The numbers that decide something, each with what it is divided by, or counted up to in steps of."""
    units: dict[str, int] = {}
    steps = _steps(trace)
    for op in trace.preorder_walk():
        if isinstance(op, ops.Iterate) and op.upto:
            units.setdefault(op.upto, 1)
        for expr in _deciding(op):
            for leaf in leaves(expr):
                if isinstance(leaf, Var) and leaf.name in trace.numbers:
                    units.setdefault(leaf.name, 1)
            for name, divisor in (*_divided(expr), *_counted_to(expr, steps)):
                if name in units:
                    units[name] = lcm(units[name], divisor)
    return {name: units[name] for name in trace.numbers if name in units}


def _steps(trace: CapturedTrace) -> dict[str, int]:
    """The names that are forwarded with a constant added to them, and how much it is."""
    steps: dict[str, int] = {}
    for op in trace.preorder_walk():
        for name, value in given_at(op):
            match value:
                case Binary("+", Var(counting), Const(step)) if counting == name.name and step > 1:
                    steps[counting] = lcm(steps.get(counting, 1), step)
    return steps


def _counted_to(expr: Expr | Compare, steps: dict[str, int]) -> Iterator[tuple[str, int]]:
    """The names that a comparison asks whether a counter has reached, and the counter's steps."""
    if isinstance(expr, Compare):
        for counting, limit in ((expr.lhs, expr.rhs), (expr.rhs, expr.lhs)):
            taken = [
                steps[leaf.name] for leaf in leaves(counting) if isinstance(leaf, Var) and leaf.name in steps
            ]
            for leaf in leaves(limit):
                if isinstance(leaf, Var) and taken:
                    yield leaf.name, lcm(*taken)


def _deciding(op: ops.Operation) -> Iterator[Expr | Compare]:
    condition = condition_of(op)
    if isinstance(condition, Compare):
        yield condition
    yield from view_parts(op)
    for _, value in given_at(op):
        if isinstance(value, Expr):
            yield value


def _divided(expr: Expr | Compare) -> Iterator[tuple[str, int]]:
    """The names that an expression divides, and by what."""
    todo: list[Expr | Compare] = [expr]
    while todo:
        here = todo.pop()
        if isinstance(here, (Compare, Binary)):
            todo += [here.lhs, here.rhs]
        elif isinstance(here, Select):
            todo += [here.condition, here.then, here.orelse]
        if (
            isinstance(here, Binary)
            and here.op == "//"
            and isinstance(here.rhs, Const)
            and here.rhs.value > 1
        ):
            for leaf in leaves(here.lhs):
                if isinstance(leaf, Var):
                    yield leaf.name, here.rhs.value
