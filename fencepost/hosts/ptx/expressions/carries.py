"""Arithmetic on numbers of several words: `add.cc`, `madc.hi` and the like, which pass a carry on.

A simulated block keeps one carry for each thread, the CC register of PTX. Proofs do not follow it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fencepost.hosts.ptx.expressions.lanes import Bits, Lane, Lanes, mask
from fencepost.hosts.ptx.reading.instructions import operand_type
from fencepost.hosts.ptx.reading.module import Instruction

NAMES = {"add": "add", "addc": "add", "sub": "sub", "subc": "sub", "mad": "mad", "madc": "mad"}


def passes_carry(instruction: Instruction) -> bool:
    """Whether an instruction reads or writes the carry."""
    if instruction.name not in NAMES or operand_type(instruction)[1:] not in ("32", "64"):
        return False
    return instruction.name.endswith("c") or "cc" in instruction.parts


def with_carry(instruction: Instruction, arguments: Sequence[Lane], carry: Bits) -> tuple[Bits, Bits]:
    """The result, and the carry (of a subtraction the borrow) that it leaves."""
    first, second = arguments[0], arguments[1]
    width = first.width
    incoming = carry if instruction.name.endswith("c") else np.zeros_like(carry)
    if NAMES[instruction.name] == "sub":
        found = (first.bits - second.bits - incoming) & mask(width)
        borrows = (first.bits < second.bits) | ((first.bits == second.bits) & (incoming != 0))
        return found, borrows.astype(np.uint64)
    if NAMES[instruction.name] == "mad":
        first, second = _product(instruction, first, second), arguments[2]
    found = (first.bits + second.bits + incoming) & mask(width)
    carries = (found < first.bits) | ((found == first.bits) & ((second.bits != 0) | (incoming != 0)))
    return found, carries.astype(np.uint64)


def _product(instruction: Instruction, left: Lane, right: Lane) -> Lane:
    """The lower or the upper half of a product."""
    lanes = Lanes(left.bits.size)
    width = left.width
    if "hi" not in instruction.parts:
        return lanes.binary("mul", left, right)
    if width == 64:
        return lanes.function(f"mul.hi.{operand_type(instruction)}", (left, right), 64)
    signed = operand_type(instruction).startswith("s")
    wide = [lanes.extend(each, 2 * width, signed) for each in (left, right)]
    return lanes.extract(lanes.binary("mul", wide[0], wide[1]), width, width)
