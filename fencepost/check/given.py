"""Numbers that a kernel is given: which values are tried for them.

A number decides how often loops run and which way branches go, in all parts of a kernel alike. Where it is divided
before that, only multiples of the divisor are tried: `%k // 64` is then every number of tiles, from none up.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import lcm

from fencepost.check.access import view_parts
from fencepost.check.names import condition_of, given_at
from fencepost.check.report import Explored
from fencepost.ir import ops
from fencepost.ir.expr import Binary, Compare, Const, Expr, Select, Var, leaves
from fencepost.ir.trace import CapturedTrace

MOST = 8
"""The largest value that is tried, in multiples of what a number is divided by."""
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
    found = [dict(zip(units, values, strict=True)) for values in product(FEW, repeat=len(units))]
    names = ", ".join(f"%{name}" for name in units)
    explored.cut(f"a few combinations of {names} were tried")
    found = [{name: times * units[name] for name, times in each.items()} for each in found]
    return found[:MOST_COMBINATIONS]


def _units(trace: CapturedTrace) -> dict[str, int]:
    """The numbers that decide something, each with what it is divided by."""
    units: dict[str, int] = {}
    for op in trace.preorder_walk():
        if isinstance(op, ops.Iterate) and op.upto:
            units.setdefault(op.upto, 1)
        for expr in _deciding(op):
            for leaf in leaves(expr):
                if isinstance(leaf, Var) and leaf.name in trace.numbers:
                    units.setdefault(leaf.name, 1)
            for name, divisor in _divided(expr):
                if name in units:
                    units[name] = lcm(units[name], divisor)
    return {name: units[name] for name in trace.numbers if name in units}


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
        if isinstance(here, Compare | Binary):
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
