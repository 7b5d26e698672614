"""The operands of one PTX instruction, read from its text."""

from __future__ import annotations

import re
from collections.abc import Callable

from fencepost.hosts.ptx.module import (
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

INTEGER = re.compile(r"(?P<sign>[-+]?)\s*(?P<digits>0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?")
FLOAT_BITS = re.compile(r"0[fFdD]([0-9a-fA-F]+)")
NAME = re.compile(r"[%$\w][\w$.@%]*")
Lookup = Callable[[str], Register | None]
"""Which register a name means where the instruction stands; None if the name is no register."""


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
    if re.fullmatch(r"0[0-7]+", digits):
        value = int(digits, 8)
    else:
        value = int(digits, 0)
    return -value if match["sign"] == "-" else value


def read_operand(text: str, lookup: Lookup, line: int) -> Operand:
    """One operand."""
    text = text.strip()
    if text[:1] in "{(":
        return Group(tuple(read_operand(piece, lookup, line) for piece in split_at_commas(text[1:-1])))
    if text.startswith("["):
        return _read_address(text[1 : text.rindex("]")], lookup, line)
    if text.startswith("!"):
        inner = read_operand(text[1:], lookup, line)
        if isinstance(inner, Register):
            return Negated(inner)
        raise PtxError(f"line {line}: `{text}` is not a predicate")
    if "|" in text:
        return Group(tuple(read_operand(piece, lookup, line) for piece in text.split("|")))
    return _read_scalar(text, lookup, line)


def _read_scalar(text: str, lookup: Lookup, line: int) -> Register | Symbol | Immediate | Special:
    if (number := read_integer(text)) is not None:
        return Immediate(number)
    if (bits := FLOAT_BITS.fullmatch(text)) is not None:
        return Immediate(int(bits[1], 16))
    if (register := lookup(text)) is not None:
        return register
    if text.startswith("%") and NAME.fullmatch(text):
        return Special(text[1:])
    if NAME.fullmatch(text):
        return Symbol(text)
    if re.fullmatch(r"-?\d*\.\d+([eE][-+]?\d+)?", text):
        return Immediate(int(float(text)))
    # A vector register's component (`%v.x`) or a form that does not occur in compiled code.
    raise PtxError(f"line {line}: `{text}` is not an operand that can be read")


def _read_address(text: str, lookup: Lookup, line: int) -> Address:
    base_text, *more = split_at_commas(text)
    coordinates = tuple(read_operand(piece, lookup, line) for piece in more)
    match = re.fullmatch(r"([^+\-\s][^+\-]*?)\s*([+-].*)?", base_text)
    if match is None:
        raise PtxError(f"line {line}: `[{text}]` is not an address that can be read")
    base = _read_scalar(match[1], lookup, line)
    offset = 0
    if match[2]:
        number = read_integer(match[2].replace("+-", "-").replace("+ -", "-"))
        if number is None:
            raise PtxError(f"line {line}: `[{text}]` is not an address that can be read")
        offset = number
    return Address(base, offset, coordinates)
