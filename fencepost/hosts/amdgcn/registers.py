"""Registers as bits of one number: sets of them are compared with one operation.

A vector register is two bits, one for each half: 16-bit loads and stores (`d16`) leave the other half alone.
"""

from __future__ import annotations

import re
from functools import lru_cache

_RANGE = r"(\d+)|\[(\d+):(\d+)\]"
_REGISTER = re.compile(rf"\b([vsa])(?:{_RANGE})(?:\.([lh]))?(?:\s*/\*[vsa](?:{_RANGE})\*/)?")
_BASE = {"v": 0, "a": 2048, "s": 4096}
_NAMED = {"vcc_lo": 3 << 9000, "vcc_hi": 3 << 9002, "vcc": 15 << 9000, "m0": 3 << 9004}
ALL = (1 << 9006) - 1
"""Every register."""
_NAME = re.compile(r"\b(vcc_lo|vcc_hi|vcc|m0)\b")
_HALVES = {"l": 1, "h": 2, "": 3}
_DATA = re.compile(r"\bv\d+\b(?!.*\bv\d+\b)")


@lru_cache(maxsize=65536)
def registers(text: str) -> int:
    """All registers that operands name.

    Beyond the 256 that an encoding reaches, LLVM prints the number modulo 256, and behind it the whole one:
    `v3 /*v259*/`.
    """
    found = 0
    for kind, one, low, high, half, more, more_low, more_high in _REGISTER.findall(text):
        first = int(more_low or more or low or one)
        last = int(more_high or more or high or one)
        for register in range(_BASE[kind] + first, _BASE[kind] + last + 1):
            found |= _HALVES[half] << 2 * register
    for name in _NAME.findall(text):
        found |= _NAMED[name]
    return found


@lru_cache(maxsize=65536)
def mentioned(name: str, operands: str) -> int:
    """The registers, or halves of them, that an instruction reads or writes.

    A 16-bit load leaves the other half as it was when it completes: who writes that half counts as writing both.
    """
    found = registers(operands)
    if name.startswith("v_"):
        found |= registers(first_operand(operands).removesuffix(".l").removesuffix(".h"))
    if "_store_d16_hi_" in name and (data := _DATA.search(operands)):
        found &= ~registers(f"{data[0]}.l")
    elif "_load_" in name and "_d16" in name:
        found = found & ~registers(first_operand(operands)) | loaded(name, operands)
    return found


@lru_cache(maxsize=65536)
def loaded(name: str, operands: str) -> int:
    """The registers that a load writes."""
    first = first_operand(operands)
    if "_d16_hi" in name:
        return registers(f"{first}.h")
    return registers(f"{first}.l" if "_d16" in name and "." not in first else first)


def first_operand(operands: str) -> str:
    """What an instruction names first: where its result goes, if it has one."""
    return operands.partition(",")[0].strip()


def named(mask: int) -> str:
    """A register of a set, for a message."""
    for name in ("vcc_lo", "vcc_hi", "m0"):
        if mask & _NAMED[name]:
            return name
    register = ((mask & -mask).bit_length() - 1) // 2
    kind = max((kind for kind, base in _BASE.items() if base <= register), key=_BASE.__getitem__)
    return f"{kind}{register - _BASE[kind]}"
