"""Bit-vector arithmetic on numbers, one for each thread: what `simulate.py` computes with. Implements
`Arithmetic`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Lane:
    """A value of every thread: the low `width` bits of 64, the others zero."""

    bits: Bits
    width: int

    @property
    def known(self) -> int | None:
        """The value, if every thread has the same."""
        return int(self.bits[0]) if self.bits.size and bool((self.bits == self.bits[0]).all()) else None


def mask(width: int) -> np.uint64:
    """Ones in the low bits."""
    return FULL >> np.uint64(64 - width)


def signed(value: Lane) -> NDArray[np.int64]:
    """The values as signed numbers."""
    shift = np.uint64(64 - value.width)
    return (value.bits << shift).view(np.int64) >> np.int64(64 - value.width)


def _shift(value: Lane, amount: Lane, how: Callable[[Any, Any], Any], source: Any, over: Any) -> Any:
    small = np.minimum(amount.bits, np.uint64(63))
    return np.where(amount.bits < np.uint64(value.width), how(source, small.astype(source.dtype)), over)


def _divide(left: Any, right: Any, how: Callable[[Any, Any], Any], otherwise: Any) -> Any:
    safe = np.where(right == 0, np.ones_like(right), right)
    return np.where(right == 0, otherwise, how(left, safe))


def _truncated(left: Any, right: Any) -> Any:
    quotient = np.abs(left) // np.abs(right)
    return np.where((left < 0) == (right < 0), quotient, -quotient)


class Lanes:
    """Computes on numbers. Floating point is computed as well, in the precision of the host."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def constant(self, value: int, width: int) -> Lane:
        """The same number for every thread."""
        return Lane(np.full(self.threads, np.uint64(value & ((1 << width) - 1)), dtype=np.uint64), width)

    def width(self, value: Lane) -> int:
        """The number of bits."""
        return value.width

    def binary(self, operation: str, left: Lane, right: Lane) -> Lane:
        """A binary operation."""
        rule: Callable[[Lane, Lane], Any] = getattr(self, f"_{operation}")
        bits = rule(left, right)
        if operation in ("eq", "ult", "ule", "slt", "sle"):
            return Lane(bits.astype(np.uint64), 1)
        return Lane(bits.astype(np.uint64) & mask(left.width), left.width)

    def _add(self, left: Lane, right: Lane) -> Any:
        return left.bits + right.bits

    def _sub(self, left: Lane, right: Lane) -> Any:
        return left.bits - right.bits

    def _mul(self, left: Lane, right: Lane) -> Any:
        return left.bits * right.bits

    def _and(self, left: Lane, right: Lane) -> Any:
        return left.bits & right.bits

    def _or(self, left: Lane, right: Lane) -> Any:
        return left.bits | right.bits

    def _xor(self, left: Lane, right: Lane) -> Any:
        return left.bits ^ right.bits

    def _shl(self, left: Lane, right: Lane) -> Any:
        return _shift(left, right, np.left_shift, left.bits, np.uint64(0))

    def _lshr(self, left: Lane, right: Lane) -> Any:
        return _shift(left, right, np.right_shift, left.bits, np.uint64(0))

    def _ashr(self, left: Lane, right: Lane) -> Any:
        numbers = signed(left)
        return _shift(left, right, np.right_shift, numbers, numbers >> np.int64(63)).view(np.uint64)

    def _udiv(self, left: Lane, right: Lane) -> Any:
        return _divide(left.bits, right.bits, np.floor_divide, FULL)

    def _urem(self, left: Lane, right: Lane) -> Any:
        return _divide(left.bits, right.bits, np.remainder, left.bits)

    def _sdiv(self, left: Lane, right: Lane) -> Any:
        return _divide(signed(left), signed(right), _truncated, np.int64(-1)).view(np.uint64)

    def _srem(self, left: Lane, right: Lane) -> Any:
        return _divide(signed(left), signed(right), np.fmod, signed(left)).view(np.uint64)

    def _eq(self, left: Lane, right: Lane) -> Any:
        return left.bits == right.bits

    def _ult(self, left: Lane, right: Lane) -> Any:
        return left.bits < right.bits

    def _ule(self, left: Lane, right: Lane) -> Any:
        return left.bits <= right.bits

    def _slt(self, left: Lane, right: Lane) -> Any:
        return signed(left) < signed(right)

    def _sle(self, left: Lane, right: Lane) -> Any:
        return signed(left) <= signed(right)

    def invert(self, value: Lane) -> Lane:
        """Every bit the other way."""
        return Lane(~value.bits & mask(value.width), value.width)

    def choose(self, condition: Lane, yes: Lane, no: Lane) -> Lane:
        """If-then-else."""
        return Lane(np.where(condition.bits != 0, yes.bits, no.bits), yes.width)

    def extend(self, value: Lane, width: int, signed: bool) -> Lane:
        """The same number in more bits."""
        return Lane(_signed_bits(value) & mask(width), width) if signed else Lane(value.bits, width)

    def extract(self, value: Lane, low: int, width: int) -> Lane:
        """Some of the bits."""
        return Lane((value.bits >> np.uint64(low)) & mask(width), width)

    def function(self, name: str, arguments: Sequence[Lane], width: int) -> Lane:
        """Floating point and the few integer instructions that are not written in the other operations."""
        found = compute(name, arguments)
        if found is None:
            return self.constant(0, width)
        return Lane(found & mask(width), width)


def _signed_bits(value: Lane) -> Bits:
    return signed(value).view(np.uint64)


FLOATS: dict[str, Any] = {"f32": np.float32, "f64": np.float64}
WORDS: dict[str, Any] = {"f32": np.uint32, "f64": np.uint64}
ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "fma": lambda a, b, c: a * b + c,
    "mad": lambda a, b, c: a * b + c,
    "div": np.divide,
    "min": np.fmin,
    "max": np.fmax,
    "neg": np.negative,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "rsqrt": lambda a: 1 / np.sqrt(a),
    "rcp": lambda a: 1 / a,
    "ex2": np.exp2,
    "lg2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
}
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal,
    "ne": lambda a, b: (a < b) | (a > b),
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "equ": lambda a, b: ~((a < b) | (a > b)),
    "neu": lambda a, b: ~(a == b),
    "ltu": lambda a, b: ~(a >= b),
    "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b),
    "geu": lambda a, b: ~(a < b),
    "num": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "nan": lambda a, b: np.isnan(a) | np.isnan(b),
}


def as_floats(value: Lane, kind: str) -> Any:
    """The bits read as floating-point numbers."""
    return value.bits.astype(WORDS[kind]).view(FLOATS[kind])


def as_bits(numbers: Any, kind: str) -> Bits:
    """Floating-point numbers as bits."""
    found: Bits = numbers.astype(FLOATS[kind]).view(WORDS[kind]).astype(np.uint64)
    return found


TWIDDLES = ("popc", "clz", "brev", "prmt", "bfind")


def computable(name: str) -> bool:
    """Whether `compute` knows an instruction, by its opcode."""
    parts = name.split(".")
    if parts[0] in TWIDDLES:
        return True
    if parts[0] == "copysign":
        return parts[-1] in FLOATS
    if parts[0] == "setp":
        return parts[1] in COMPARE and parts[-1] in FLOATS
    if parts[0] == "cvt":
        kinds = [part for part in parts[1:] if part in FLOATS or (part[0] in "su" and part[1:].isdigit())]
        return len(kinds) == 2
    return parts[0] in ARITHMETIC and parts[-1] in FLOATS


def compute(name: str, arguments: Sequence[Lane]) -> Bits | None:
    """The result of an instruction on numbers; None if it is not known."""
    parts = name.split(".")
    kind = parts[-1]
    with np.errstate(all="ignore"):
        if parts[0] == "bfind":
            return _highest(parts, arguments[0])
        if parts[0] in TWIDDLES:
            return _bit_twiddling(parts[0], arguments)
        if parts[0] == "copysign" and kind in FLOATS:
            sign = np.uint64(1) << np.uint64(arguments[0].width - 1)
            return (arguments[0].bits & sign) | (arguments[1].bits & ~sign)
        if _is_upper_half(parts):
            return _upper_half(arguments[0].bits, arguments[1].bits, kind == "s64")
        if not computable(name):
            return None
        if parts[0] == "setp":
            found: Bits = COMPARE[parts[1]](*(as_floats(each, kind) for each in arguments[:2])).astype(
                np.uint64
            )
            return found
        if parts[0] == "cvt":
            return _convert(parts, arguments[0])
        return as_bits(ARITHMETIC[parts[0]](*(as_floats(each, kind) for each in arguments)), kind)


def _convert(parts: Sequence[str], value: Lane) -> Bits:
    to, source = [part for part in parts[1:] if part in FLOATS or (part[0] in "su" and part[1:].isdigit())]
    if source in FLOATS:
        numbers = as_floats(value, source)
    else:
        width = int(source[1:])
        low = Lane(value.bits & mask(width), width)
        numbers = signed(low) if source[0] == "s" else low.bits
    if to in FLOATS:
        if "rzi" in parts or "rni" in parts or "rmi" in parts:
            numbers = np.floor(numbers)
        return as_bits(numbers, to)
    limit = float(1 << 62)
    found: Bits = np.clip(np.nan_to_num(np.trunc(numbers)), -limit, limit).astype(np.int64).view(np.uint64)
    return found & mask(int(to[1:]))


def _is_upper_half(parts: Sequence[str]) -> bool:
    """`mul.hi` and `mad.hi` of 64 bits."""
    return parts[0] in ("mul", "mad") and "hi" in parts and parts[-1] in ("u64", "s64")


def _upper_half(left: Bits, right: Bits, negative: bool) -> Bits:
    """The upper 64 bits of a product, from the products of halves."""
    half, low = np.uint64(32), mask(32)
    first = (left & low) * (right & low)
    second = (left >> half) * (right & low) + (first >> half)
    third = (left & low) * (right >> half) + (second & low)
    found: Bits = (left >> half) * (right >> half) + (second >> half) + (third >> half)
    if negative:
        sign = np.uint64(63)
        found -= np.where(left >> sign != 0, right, np.uint64(0))
        found -= np.where(right >> sign != 0, left, np.uint64(0))
    return found


def _highest(parts: Sequence[str], value: Lane) -> Bits:
    """`bfind`: the place of the highest bit that differs from the sign, or how far it is from the top."""
    bits = value.bits
    if parts[-1][0] == "s":
        bits = np.where(signed(value) < 0, ~bits & mask(value.width), bits)
    leading = _bit_twiddling("clz", [Lane(bits, value.width)])
    found = leading if "shiftamt" in parts else np.uint64(value.width - 1) - leading
    return np.where(bits == 0, mask(32), found)


def _bit_twiddling(name: str, arguments: Sequence[Lane]) -> Bits:
    value = arguments[0]
    bits = (value.bits[:, None] >> np.arange(value.width, dtype=np.uint64)) & np.uint64(1)
    if name == "popc":
        count: Bits = bits.sum(axis=1).astype(np.uint64)
        return count
    if name == "clz":
        top: Bits = np.where(bits.any(axis=1), np.argmax(bits[:, ::-1], axis=1), value.width).astype(
            np.uint64
        )
        return top
    if name == "brev":
        weights = np.uint64(1) << np.arange(value.width, dtype=np.uint64)[::-1]
        turned: Bits = (bits * weights).sum(axis=1).astype(np.uint64)
        return turned
    whole = value.bits | (arguments[1].bits << np.uint64(32))
    result = np.zeros_like(whole)
    for at in range(4):
        pick = (arguments[2].bits >> np.uint64(4 * at)) & np.uint64(0xF)
        byte = (whole >> ((pick & np.uint64(7)) * np.uint64(8))) & np.uint64(0xFF)
        spread = np.where(byte >> np.uint64(7) != 0, np.uint64(0xFF), np.uint64(0))
        byte = np.where(pick & np.uint64(8) != 0, spread, byte)
        result |= byte << np.uint64(8 * at)
    return result
