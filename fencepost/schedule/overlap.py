"""Whether two views can touch a common byte within one iteration of a loop."""

from __future__ import annotations

from itertools import product
from math import lcm

from fencepost.analysis.access import regions_of
from fencepost.ir.buffers import View
from fencepost.ir.expr import Binary, Const, Expr, Var, leaves

MOST_CASES = 256
"""Larger periods are not tried out: such views count as overlapping."""


def may_overlap(one: View, other: View) -> bool:
    """Whether the two can have a byte in common while all names have the same values; if in doubt, they can."""
    names: dict[str, int] = {}
    for view in (one, other):
        periods = _periods(view)
        if periods is None:
            return _meet(one, other, {})
        for name, period in periods.items():
            names[name] = lcm(names.get(name, 1), period)
    cases = 1
    for period in names.values():
        cases *= period
    if cases > MOST_CASES:
        return _meet(one, other, {})
    numbers = product(*(range(period) for period in names.values()))
    return any(_meet(one, other, dict(zip(names, values, strict=True))) for values in numbers)


def same_part(one: View, other: View) -> bool:
    """Whether the two can have a byte in common in any iterations: all slots count as one."""
    if one.buffer is not other.buffer or (one.slot is None) != (other.slot is None):
        return _meet(View(one.buffer), View(other.buffer), {})
    return _meet(View(one.buffer, None, one.lo, one.hi), View(other.buffer, None, other.lo, other.hi), {})


def _meet(one: View, other: View, env: dict[str, int]) -> bool:
    mine, theirs = regions_of(one, env), regions_of(other, env)
    return any(region.overlaps(another) for region in mine for another in theirs)


def _periods(view: View) -> dict[str, int] | None:
    """After how much of each name the view comes round again; None if it does not, or that is not seen."""
    found: dict[str, int] = {}
    for part in (view.lo, view.hi):
        if part is not None and not all(isinstance(leaf, Const) for leaf in leaves(part)):
            return None
    slot = view.slot
    if slot is None or isinstance(slot, Const):
        return found
    if isinstance(slot, Var):
        # A slot that exists is one of these; any other value is a mistake that `check` reports.
        return {slot.name: view.buffer.slots}
    if isinstance(slot, Binary) and slot.op == "%" and isinstance(slot.rhs, Const) and _linear(slot.lhs):
        period = abs(slot.rhs.value)
        return {leaf.name: period for leaf in leaves(slot.lhs) if isinstance(leaf, Var)} if period else None
    return None


def _linear(expr: Expr) -> bool:
    """Whether it is made of names and numbers by sums, differences and products with a number."""
    if isinstance(expr, Const | Var):
        return True
    if not isinstance(expr, Binary) or not (_linear(expr.lhs) and _linear(expr.rhs)):
        return False
    scaled = expr.op == "*" and (isinstance(expr.lhs, Const) or isinstance(expr.rhs, Const))
    return scaled or expr.op in ("+", "-")
