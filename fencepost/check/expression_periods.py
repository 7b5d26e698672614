"""After what distance in a variable an expression repeats."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from fencepost.ir.expr import Binary, Compare, Condition, Const, Expr, Select, Var


def period_of(expr: Expr | Condition, name: str, modulus: int | None = None) -> int | None:
    """The period of `expr` in one variable; None if it does not repeat.

    With a `modulus`, of what `expr` leaves when it is divided by that.
    """
    growth = _growth(expr, name)
    if growth.grows and modulus is not None and isinstance(expr, Expr):
        growth = _growth(Binary("%", expr, Const(modulus)), name)
    return None if growth.grows else growth.period


@dataclass(frozen=True, slots=True)
class _Growth:
    """How an expression depends on a variable.

    If it grows, it is an integer polynomial divided by `divisor` (rounded down) and sums and products of such:
    moving the variable by `divisor * m` moves it by a multiple of m, so its remainder by m repeats.
    """

    grows: bool = False
    period: int = 1
    """Of whatever in it has been reduced to a remainder already; 0 if nothing can be said."""
    divisor: int = 1


IRREGULAR = _Growth(True, 0)


def _growth(expr: Expr | Condition, name: str) -> _Growth:
    """How an expression changes with a name: whether it grows with it, after what period its remainder repeats."""
    if isinstance(expr, Var):
        return _Growth(expr.name == name)
    if isinstance(expr, (Binary, Compare)):
        left, right = _growth(expr.lhs, name), _growth(expr.rhs, name)
        grows, period = left.grows or right.grows, lcm(left.period, right.period)
        if not grows:
            return _Growth(False, period)
        divisor = lcm(left.divisor, right.divisor)
        if expr.op in ("+", "-", "*"):
            return _Growth(True, period, divisor)
        by = expr.rhs.value if isinstance(expr.rhs, Const) else 0
        if by > 0 and period > 0 and expr.op == "//":
            return _Growth(True, period, divisor * by)
        if by > 0 and period > 0 and expr.op == "%":
            return _Growth(False, lcm(period, divisor * by))
        return IRREGULAR
    if isinstance(expr, Select):
        parts = [_growth(part, name) for part in (expr.condition, expr.then, expr.orelse)]
        if any(part.grows for part in parts):
            return IRREGULAR
        return _Growth(False, lcm(*(part.period for part in parts)))
    return _Growth()
