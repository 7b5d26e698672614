"""Bit-vector arithmetic: the few operations that every instruction's result is written in.

`instructions.py` says once what each PTX instruction computes, in these operations. Who carries them out differs:
exact expressions over threads and parameters (`expression_builder.py`), or numbers for every thread of a block
(`lanes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

V = TypeVar("V")


class Arithmetic(Protocol[V]):
    """Operations on bit vectors. Comparisons give one bit. Shifts by the width or more give zero (or the sign)."""

    def constant(self, value: int, width: int) -> V:
        """A constant."""

    def binary(self, operation: str, left: V, right: V) -> V:
        """One of the operations of `FOLD`; both operands have the same width."""

    def invert(self, value: V) -> V:
        """Every bit the other way."""

    def choose(self, condition: V, yes: V, no: V) -> V:
        """`yes` where the one bit of the condition is set, `no` elsewhere."""

    def extend(self, value: V, width: int, signed: bool) -> V:
        """The same number in at least as many bits."""

    def extract(self, value: V, low: int, width: int) -> V:
        """Some of the bits."""

    def function(self, name: str, arguments: Sequence[V], width: int) -> V:
        """A result that depends on nothing but the arguments, by a rule that is not followed (floating point)."""

    def width(self, value: V) -> int:
        """The number of bits."""


def signed(value: int, width: int) -> int:
    """The two's complement reading of the low bits of a number."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def _quotient(left: int, right: int, width: int) -> int:
    if right == 0:
        return (1 << width) - 1
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int, width: int) -> int:
    return left if right == 0 else left - right * _quotient(left, right, width)


FOLD: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda a, b, w: a + b,
    "sub": lambda a, b, w: a - b,
    "mul": lambda a, b, w: a * b,
    "and": lambda a, b, w: a & b,
    "or": lambda a, b, w: a | b,
    "xor": lambda a, b, w: a ^ b,
    "shl": lambda a, b, w: a << b if b < w else 0,
    "lshr": lambda a, b, w: a >> b if b < w else 0,
    "ashr": lambda a, b, w: signed(a, w) >> min(b, w - 1),
    "udiv": lambda a, b, w: _quotient(a, b, w),
    "sdiv": lambda a, b, w: _quotient(signed(a, w), signed(b, w), w),
    "urem": lambda a, b, w: _remainder(a, b, w),
    "srem": lambda a, b, w: _remainder(signed(a, w), signed(b, w), w),
    "eq": lambda a, b, w: a == b,
    "ult": lambda a, b, w: a < b,
    "ule": lambda a, b, w: a <= b,
    "slt": lambda a, b, w: signed(a, w) < signed(b, w),
    "sle": lambda a, b, w: signed(a, w) <= signed(b, w),
}
"""Every binary operation on numbers; the result is meant modulo 2 to the power of the width."""
COMPARISONS = frozenset({"eq", "ult", "ule", "slt", "sle"})
