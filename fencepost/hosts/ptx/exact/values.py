"""Registers of all threads, and which of their values depend on loaded data.

Such a value is *made up*: a number mixed from the opcode and the operands. Equal operations on equal operands
give equal numbers, so that two threads which store the same loaded value are seen to.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.effects import destinations
from fencepost.hosts.ptx.instructions import types_of
from fencepost.hosts.ptx.lanes import Bits
from fencepost.hosts.ptx.module import (
    Address,
    Group,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Register,
    Special,
)

Flags = NDArray[np.bool_]
Threads = NDArray[np.int64]
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
COMMUTATIVE = frozenset({"add", "mul", "min", "max", "and", "or", "xor"})
TIMED = frozenset({"clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi", "smid"})
"""Special registers that differ from run to run."""
EXACT = ("mov", "selp", "cvta")
"""Instructions that hand a value on as it is, whatever its type."""


def mix(bits: Bits) -> Bits:
    """Numbers scrambled, so that different ones stay different and look random."""
    found = (bits + np.uint64(1)) * GOLDEN
    found ^= found >> np.uint64(29)
    found *= np.uint64(0xBF58476D1CE4E5B9)
    return found ^ (found >> np.uint64(32))


def seed_of(text: str) -> np.uint64:
    """A number for an opcode."""
    found = 14695981039346656037
    for char in text.encode():
        found = ((found ^ char) * 1099511628211) & 0xFFFFFFFFFFFFFFFF
    return np.uint64(found)


NOT_FOLLOWED = frozenset(
    {"cc", "sat", "bfind", "dp4a", "dp2a", "sad", "fns", "bmsk", "szext", "isspacep", "slct"}
)
"""Parts of opcodes whose result is not computed."""


def is_exact(instruction: Instruction) -> bool:
    """Whether a result is computed as the GPU computes it: integers, and values handed on."""
    name, parts = instruction.name, instruction.parts
    if name in EXACT:
        return True
    kinds = types_of(instruction)
    if NOT_FOLLOWED & set(parts) or any(kind[0] not in "bsup" or "x" in kind for kind in kinds):
        return False
    constants = [isinstance(each, Immediate) for each in instruction.operands]
    if name == "lop3" or (name == "bfe" and kinds[-1].startswith("s")):
        return all(constants[-2 if name == "bfe" else -1 :])
    return not (name in ("mul", "mad") and {"hi", "wide"} & set(parts) and kinds[-1].endswith("64"))


class MadeUp:
    """Which registers hold made-up values, thread by thread."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._flags: dict[str, Flags] = {}
        self._fresh = 0

    def of(self, operand: Operand, who: Threads) -> Flags:
        """Which threads have a made-up value there."""
        if isinstance(operand, Register):
            flags = self._flags.get(operand.name)
            return np.zeros(who.shape, dtype=bool) if flags is None else flags[who]
        if isinstance(operand, Negated):
            return self.of(operand.register, who)
        if isinstance(operand, Address):
            return self.of(operand.base, who)
        if isinstance(operand, Group):
            found = np.zeros(who.shape, dtype=bool)
            for item in operand.items:
                found |= self.of(item, who)
            return found
        return np.full(who.shape, isinstance(operand, Special) and operand.name in TIMED)

    def any_of(self, operands: Sequence[Operand], who: Threads) -> Flags:
        """Which threads have a made-up value in one of the operands."""
        found = np.zeros(who.shape, dtype=bool)
        for operand in operands:
            found |= self.of(operand, who)
        return found

    def set(self, operand: Operand, who: Threads, flags: Flags) -> None:
        """Notes what was written to a register."""
        if isinstance(operand, Register):
            known = self._flags.get(operand.name)
            if known is None:
                if not flags.any():
                    return
                known = self._flags[operand.name] = np.zeros(self.threads, dtype=bool)
            known[who] = flags

    def fresh(self, who: Threads) -> Bits:
        """Numbers that no other thread or instruction gets."""
        self._fresh += 1
        return mix(who.astype(np.uint64) + np.uint64(self._fresh << 20))


def mixed(instruction: Instruction, operands: Sequence[Bits]) -> Bits:
    """A made-up result of made-up operands."""
    total = np.full(operands[0].shape, seed_of(instruction.opcode), dtype=np.uint64)
    for number, bits in enumerate(operands):
        # Where an operand stands matters, unless the two may change places.
        place = 0 if instruction.name in COMMUTATIVE else number
        total = total + mix(bits + np.uint64(place * int(GOLDEN) & (1 << 64) - 1))
    return mix(total)


def items(operand: Operand) -> tuple[Operand, ...]:
    """The registers of a vector, or the one that an operand is."""
    return operand.items if isinstance(operand, Group) else (operand,)


def results(instruction: Instruction) -> tuple[Operand, ...]:
    """The registers that an instruction assigns, those of wgmma included."""
    if instruction.name == "wgmma" and instruction.operands and isinstance(instruction.operands[0], Group):
        return instruction.operands[0].items
    return destinations(instruction)
