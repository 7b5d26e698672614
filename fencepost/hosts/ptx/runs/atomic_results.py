"""What atomics store and `redux` computes, on numbers: one for each thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fencepost.hosts.ptx.expressions.lanes import FULL, Bits, Lane, mask, signed
from fencepost.hosts.ptx.reading.instructions import operand_type
from fencepost.hosts.ptx.reading.module import Instruction

ONE = np.uint64(1)


def updated(instruction: Instruction, old: Bits, given: Sequence[Bits], width: int) -> Bits:
    """What an `atom` or `red` leaves in memory; `cas` is given what it compares with first. Sums of floating-point
    numbers are not computed."""
    value = given[-1]
    if "cas" in instruction.parts:
        return np.where(old == given[0], value, old)
    less = _less(instruction, old, value, width)
    rules: dict[str, Bits] = {
        "add": old + value,
        "or": old | value,
        "and": old & value,
        "xor": old ^ value,
        "max": np.where(less, value, old),
        "min": np.where(less, old, value),
        "inc": np.where(old >= value, np.uint64(0), old + ONE),
        "dec": np.where((old == 0) | (old > value), value, old - ONE),
    }
    for part in instruction.parts:
        if part in rules:
            return rules[part] & mask(width)
    return value


def _less(instruction: Instruction, left: Bits, right: Bits, width: int) -> Bits:
    if operand_type(instruction).startswith("s"):
        low = mask(width)
        return np.asarray(signed(Lane(left & low, width)) < signed(Lane(right & low, width)))
    return np.asarray(left < right)


def reduced(instruction: Instruction, values: Bits) -> int:
    """What `redux` gives the lanes of a warp that hold these values."""
    numbers = signed(Lane(values & mask(32), 32)) if operand_type(instruction).startswith("s") else values
    rules: dict[str, Callable[[], int]] = {
        "add": lambda: int(numbers.sum()),
        "min": lambda: int(numbers.min()),
        "max": lambda: int(numbers.max()),
        "and": lambda: int(np.bitwise_and.reduce(values, initial=FULL)),
        "or": lambda: int(np.bitwise_or.reduce(values)),
        "xor": lambda: int(np.bitwise_xor.reduce(values)),
    }
    found = next((rule() for part in instruction.parts if (rule := rules.get(part))), 0)
    return found & 0xFFFFFFFF
