"""The operands of one PTX instruction, read from its text."""

from __future__ import annotations

import math
import re
import struct
from typing import Protocol

from fencepost.hosts.ptx.reading.module import (
    Address,
    Group,
    Immediate,
    Negated,
    Operand,
    PtxError,
    Register,
    Special,
    Symbol,
)

MOST_DIGITS = 70
"""More than a constant of 64 bits has in any notation."""
INTEGER = re.compile(r"(?P<sign>[-+]?)\s*(?P<digits>0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?")
FLOAT_BITS = re.compile(r"0[fFdD]([0-9a-fA-F]+)")
DECIMAL = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+")
NAME = re.compile(r"[%$\w][\w$.@%]*")
SYMBOL_AND_OFFSET = re.compile(r"([A-Za-z_$][\w$]*)\s*([+-]\s*(?:0[xX][0-9a-fA-F]+|\d+))")
VECTOR_SPECIALS = ("tid", "ntid", "ctaid", "nctaid")
"""Special registers with three components and an unused fourth, which can be read all at once."""


class Names(Protocol):
    """What names and constants mean where an instruction stands."""

    def register(self, name: str) -> Register | Group | None:
        """A register, or the components of a vector register; None if the name is neither."""

    single: bool
    """Whether a decimal constant is read as f32, not as f64."""

    def variable(self, name: str) -> str:
        """The name of a variable, parameter or label, made unique if it is declared in an inner `{ }`."""


def split_at_commas(text: str) -> list[str]:
    """The pieces of a list, commas in brackets not counted."""
    pieces, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in "[{(":
            depth += 1
        elif char in "]})":
            depth -= 1
        elif char == "," and depth == 0:
            pieces.append(text[start:at])
            start = at + 1
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


def read_integer(text: str) -> int | None:
    """The value of an integer constant, or None."""
    match = INTEGER.fullmatch(text.strip())
    if match is None:
        return None
    digits = match["digits"]
    if re.fullmatch(r"0\d+", digits):
        if not re.fullmatch(r"[0-7]+", digits):
            return None
        value = int(digits, 8)
    elif len(digits) > MOST_DIGITS:
        return None
    else:
        value = int(digits, 0)
    return -value if match["sign"] == "-" else value


def read_operand(text: str, names: Names) -> Operand:
    """One operand."""
    text = text.strip()
    if text[:1] in ("{", "("):
        if text[-1] != {"{": "}", "(": ")"}[text[0]] or len(text) < 2:
            raise PtxError(f"the bracket of `{text}` is not closed")
        return Group(tuple(read_operand(piece, names) for piece in split_at_commas(text[1:-1])))
    if text.startswith("["):
        if "]" not in text:
            raise PtxError(f"the bracket of `{text}` is not closed")
        return _read_address(text[1 : text.rindex("]")], names)
    if text.startswith("!"):
        inner = read_operand(text[1:], names)
        if isinstance(inner, Register):
            return Negated(inner)
        raise PtxError(f"`{text}` is not a predicate")
    if "|" in text:
        return Group(tuple(read_operand(piece, names) for piece in text.split("|")))
    return _read_scalar(text, names)


def _read_scalar(text: str, names: Names) -> Operand:
    if (number := read_integer(text)) is not None:
        return Immediate(number)
    if (bits := FLOAT_BITS.fullmatch(text)) is not None:
        return Immediate(int(bits[1], 16))
    if (register := names.register(text)) is not None:
        return register
    if text[1:] in VECTOR_SPECIALS and text.startswith("%"):
        return Group((*(Special(f"{text[1:]}.{axis}") for axis in "xyz"), Immediate(0)))
    if text.startswith("%") and NAME.fullmatch(text):
        return Special(text[1:])
    if NAME.fullmatch(text) and not text[0].isdigit():
        return Symbol(names.variable(text))
    if DECIMAL.fullmatch(text):
        return Immediate(_float_bits(float(text), names.single))
    if (match := SYMBOL_AND_OFFSET.fullmatch(text)) is not None:
        return Address(Symbol(names.variable(match[1])), read_integer(match[2].replace(" ", "")) or 0)
    raise PtxError(f"`{text}` is not an operand that can be read")


def _float_bits(value: float, single: bool) -> int:
    try:
        packed = struct.pack("<f" if single else "<d", value)
    except OverflowError:
        packed = struct.pack("<f", math.inf if value > 0 else -math.inf)
    return int.from_bytes(packed, "little")


def _read_address(text: str, names: Names) -> Address:
    base_text, *more = split_at_commas(text) or [""]
    coordinates = tuple(read_operand(piece, names) for piece in more)
    match = re.fullmatch(r"([^+\-\s][^+\-]*?)\s*([+-].*)?", base_text)
    if match is None:
        raise PtxError(f"`[{text}]` is not an address that can be read")
    base = _read_scalar(match[1], names)
    if isinstance(base, Group | Address | Negated):
        raise PtxError(f"`[{text}]` is not an address that can be read")
    offset = 0
    if match[2]:
        number = read_integer(match[2].replace("+-", "-").replace("+ -", "-"))
        if number is None:
            raise PtxError(f"`[{text}]` is not an address that can be read")
        offset = number
    return Address(base, offset, coordinates)
