"""Index expressions of Wave, evaluated for all threads of a workgroup at once.

Wave's indices are sympy expressions in the numbers of the thread. Sympy takes long to simplify or to substitute, so
an expression is walked once, each of its parts is computed as one vector over all threads, and parts that were seen
before are not computed again: the members of an expanded tile differ in a constant only. Values are fractions (Wave
divides by taking the `floor` of them): a vector of numerators and one denominator. None is a value that is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Any

import numpy as np
import sympy

Vector = Any
"""A vector of integers over all threads, or one integer for all of them."""
Fraction = tuple[Vector, int]
"""Numerators and their common denominator, which is positive."""

THREADS = ("$T0", "$T1", "$T2")


@dataclass(frozen=True, slots=True)
class Workgroup:
    """How many waves of how many lanes run a kernel, and in how many threads along each dimension."""

    lanes: int
    block: tuple[int, int, int]

    @property
    def threads(self) -> int:
        """All threads."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def waves(self) -> int:
        """Waves, counted as hardware counts them: by the number of the thread, first dimension first."""
        return -(-self.threads // self.lanes)

    def number(self, dimension: int) -> Vector:
        """The number of each thread along a dimension."""
        along: Vector = np.arange(self.threads, dtype=np.int64)
        for size in self.block[:dimension]:
            along //= size
        return along % self.block[dimension]


@dataclass(slots=True)
class Numbers:
    """Values of expressions, for every thread of a workgroup."""

    workgroup: Workgroup | None
    """None if nobody says: then nothing that depends on the thread is known."""
    symbols: Mapping[Any, Any] = field(default_factory=dict)
    """What else is known: the sizes that a kernel is compiled for."""
    values: dict[Any, Fraction | None] = field(default_factory=dict)

    def integers(self, expr: Any) -> Vector | None:
        """An expression's values; None if they are not known, or are no integers."""
        if isinstance(expr, int):
            return expr
        found = self.of(expr)
        return None if found is None else _whole(found)

    def sum_of(self, exprs: Sequence[Any]) -> Vector | None:
        """The values of a sum; None if they are not known, or are no integers."""
        parts = [self.of(expr) for expr in exprs]
        known = [part for part in parts if part is not None]
        return _whole(_sum(known or [(0, 1)])) if len(known) == len(parts) else None

    def integer(self, expr: Any) -> int | None:
        """An expression's value, if it is one and the same for all threads."""
        found = self.integers(expr)
        if isinstance(found, np.ndarray):
            return int(found[0]) if found.size and bool((found == found[0]).all()) else None
        return None if found is None else int(found)

    def of(self, expr: Any) -> Fraction | None:
        """The value of an expression as a fraction."""
        if isinstance(expr, int):
            return expr, 1
        if isinstance(expr, sympy.Integer):
            return expr.p, 1
        try:
            return self.values[expr]
        except KeyError:
            found = self.values[expr] = self._computed(expr)
            return found
        except TypeError:  # it cannot be looked up
            return None

    def _computed(self, expr: Any) -> Fraction | None:
        if isinstance(expr, sympy.Rational):
            return expr.p, expr.q
        if isinstance(expr, sympy.Symbol):
            return self._symbol(expr)
        compute = _OPERATIONS.get(type(expr)) or _BY_NAME.get(type(expr).__name__)
        if compute is None:
            return None
        parts: list[Fraction] = []
        for part in expr.args:
            value = self.of(part)
            if value is None:
                return None
            parts.append(value)
        return compute(parts)

    def _symbol(self, symbol: Any) -> Fraction | None:
        known = self.symbols.get(symbol)
        if known is not None:
            return None if known is symbol else self.of(known)
        if symbol.name in THREADS and self.workgroup is not None:
            return self.workgroup.number(THREADS.index(symbol.name)), 1
        return None


def _whole(value: Fraction) -> Vector | None:
    """A value as integers; None if it is none."""
    number, divisor = value
    if divisor == 1:
        return number
    whole, rest = np.divmod(number, divisor)
    return None if np.any(rest) else whole


def _sum(parts: list[Fraction]) -> Fraction:
    number, divisor = parts[0]
    for other, under in parts[1:]:
        if under == divisor:
            number = number + other
        else:
            common = divisor * under // gcd(divisor, under)
            number = number * (common // divisor) + other * (common // under)
            divisor = common
    return number, divisor


def _product(parts: list[Fraction]) -> Fraction:
    number, divisor = parts[0]
    for other, under in parts[1:]:
        number, divisor = number * other, divisor * under
    return number, divisor


def _power(parts: list[Fraction]) -> Fraction | None:
    (number, divisor), (exponent, under) = parts
    if not isinstance(exponent, int) or under != 1 or exponent < 0:
        return None
    return number**exponent, divisor**exponent


def _floor(parts: list[Fraction]) -> Fraction:
    ((number, divisor),) = parts
    return (number if divisor == 1 else number // divisor), 1


def _ceiling(parts: list[Fraction]) -> Fraction:
    ((number, divisor),) = parts
    return -(-number // divisor), 1


def _remainder(parts: list[Fraction]) -> Fraction | None:
    (number, divisor), (other, under) = parts
    if not (other if isinstance(other, int) else np.all(other)):
        return None
    if divisor == under == 1:
        return number % other, 1
    return (number * under) % (other * divisor), divisor * under


def _exclusive_or(parts: list[Fraction]) -> Fraction | None:
    (number, divisor), (other, under) = parts
    return (number ^ other, 1) if divisor == under == 1 else None


def _least(parts: list[Fraction]) -> Fraction | None:
    return _extreme(np.minimum, parts)


def _greatest(parts: list[Fraction]) -> Fraction | None:
    return _extreme(np.maximum, parts)


def _extreme(choose: Any, parts: list[Fraction]) -> Fraction | None:
    number, divisor = parts[0]
    if any(under != 1 for _, under in parts):
        return None
    for other, _ in parts[1:]:
        number = choose(number, other)
    return number, divisor


_OPERATIONS = {
    sympy.Add: _sum,
    sympy.Mul: _product,
    sympy.Pow: _power,
    sympy.floor: _floor,
    sympy.ceiling: _ceiling,
    sympy.Mod: _remainder,
    sympy.Min: _least,
    sympy.Max: _greatest,
}
_BY_NAME = {"xor": _exclusive_or}
"""Functions that Wave defines itself."""
