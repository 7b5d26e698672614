"""Bytes that depend on numbers which are not known one by one: the variables of loops that are not followed.

`block_instances` follows loops whose iterations repeat. What is left is mostly a part of a buffer that moves on
with the loop, `%a[%i * 64..%i * 64 + 64]`. Such an access keeps its expressions. Whether two of them can meet, in
one iteration or in different ones, is a question about integers: first about the intervals that they lie in, and
only where these overlap for the solver.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fencepost.analysis.access import Region
from fencepost.ir.buffers import Buffer, BufferArg, View
from fencepost.ir.expr import Binary, Compare, Const, Expr, Lane, Select, Unknown, Var, Wave, leaves


class Range(NamedTuple):
    """The values of a loop's variable."""

    loop: int
    name: str
    """Empty for a loop without a variable."""
    start: int
    stop: int | None
    step: int


class Footprint(NamedTuple):
    """A part of a buffer that depends on the variables of loops, and perhaps on the wave."""

    space: int
    lo: Expr
    hi: Expr
    """The first byte and the one behind the last, as addresses."""
    within: Region
    """Where it lies: the buffer, or less where the intervals of its numbers say so."""

    @classmethod
    def of_region(cls, region: Region) -> Footprint:
        """Bytes that are known."""
        return cls(region.space, Const(region.lo), Const(region.hi), region)


def footprint_of(
    view: View, env: Mapping[str, int], frame: int, known: Mapping[str, Range]
) -> Footprint | None:
    """The bytes of a view as expressions; None if something in it is unknown altogether."""
    buffer = view.buffer
    if isinstance(buffer, BufferArg):
        return None
    parts = [substituted(part, env) for part in (view.slot, view.lo, view.hi) if part is not None]
    names = [leaf for part in parts for leaf in leaves(part)]
    if any(isinstance(leaf, Unknown) or (isinstance(leaf, Var) and leaf.name not in known) for leaf in names):
        return None
    space, base = _space(buffer, frame)
    begin: Expr = Const(base)
    size = buffer.size
    if view.slot is not None:
        begin = begin + parts.pop(0) * buffer.slot_bytes
        size = buffer.slot_bytes
    within = Region(space, base, base + buffer.size)
    if view.lo is None:
        return Footprint(space, begin, begin + size, within)
    lo, hi = parts
    return Footprint(space, begin + lo, begin + hi, within)


def _space(buffer: Buffer, frame: int) -> tuple[int, int]:
    return (id(buffer), 0) if buffer.offset is None else (0, buffer.offset + frame)


def substituted(expr: Expr, env: Mapping[str, int]) -> Expr:
    """`expr` with the numbers that are known."""
    if isinstance(expr, Var):
        return Const(env[expr.name]) if expr.name in env else expr
    if isinstance(expr, Binary):
        return Binary(expr.op, substituted(expr.lhs, env), substituted(expr.rhs, env))
    if isinstance(expr, Select):
        condition = expr.condition
        asked = Compare(condition.op, substituted(condition.lhs, env), substituted(condition.rhs, env))
        return Select(asked, substituted(expr.then, env), substituted(expr.orelse, env))
    return expr


def narrowed(footprint: Footprint, ranges: Mapping[str, Range], waves: int) -> Footprint:
    """The same with an interval, as small as is cheap to find, that all its bytes lie in."""
    within = footprint.within
    lo, hi = _interval(footprint.lo, ranges, waves)[0], _interval(footprint.hi, ranges, waves)[1]
    low = within.lo if lo is None else max(lo, within.lo)
    high = within.hi if hi is None else min(hi, within.hi)
    # An interval outside of the buffer is a mistake in the kernel; such an access conflicts with everything.
    return footprint._replace(within=Region(footprint.space, low, high)) if low < high else footprint


Interval = tuple[int | None, int | None]
"""The least and the greatest value; None if there is none or it is not known."""


def _interval(expr: Expr, ranges: Mapping[str, Range], waves: int) -> Interval:
    """The least and the greatest value of an expression; None where there is no bound."""
    if isinstance(expr, Const):
        return expr.value, expr.value
    if isinstance(expr, Wave):
        return 0, waves - 1
    if isinstance(expr, Lane):
        return 0, expr.count - 1
    if isinstance(expr, Var):
        found = ranges[expr.name]
        if found.stop is None:
            return found.start, None
        values = range(found.start, found.stop, found.step)
        return (values[0], values[-1]) if values else (found.start, found.start)
    if isinstance(expr, Select):
        one, other = _interval(expr.then, ranges, waves), _interval(expr.orelse, ranges, waves)
        low = None if one[0] is None or other[0] is None else min(one[0], other[0])
        high = None if one[1] is None or other[1] is None else max(one[1], other[1])
        return low, high
    if isinstance(expr, Binary):
        left, right = _interval(expr.lhs, ranges, waves), _interval(expr.rhs, ranges, waves)
        return _of_arithmetic(expr.op, left, right)
    return None, None


# many branches because each bound may be missing: a table by operator would say the same less plainly
def _of_arithmetic(op: str, left: Interval, right: Interval) -> Interval:
    (a, b), (c, d) = left, right
    if op == "+":
        return (None if a is None or c is None else a + c), (None if b is None or d is None else b + d)
    if op == "-":
        return (None if a is None or d is None else a - d), (None if b is None or c is None else b - c)
    if op == "%" and c is not None and c == d and c > 0:
        return 0, c - 1
    if op == "//" and c is not None and c == d and c > 0:
        return (None if a is None else a // c), (None if b is None else b // c)
    if op == "*":
        if a is not None and a == b and c != d:
            (a, b), (c, d) = right, left
        if c is not None and c == d:
            low, high = (a, b) if c >= 0 else (b, a)
            return (None if low is None else low * c), (None if high is None else high * c)
    return None, None
