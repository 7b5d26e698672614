"""Registers of all threads, and which of their values depend on loaded data.

Such a value is *made up*: nothing is known of its bits, but it has an identity, a number of 64 bits mixed from the
opcode and the identities of the operands. Equal operations on equal operands give equal identities, so that two
threads which store the same loaded value are seen to. The bits of a register cannot stand for it: of a predicate,
two different ones are equal half of the time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.expressions.lanes import Bits
from fencepost.hosts.ptx.reading.effects import destinations
from fencepost.hosts.ptx.reading.instructions import types_of
from fencepost.hosts.ptx.reading.module import (
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
OF_CLUSTER = ("cluster_", "is_explicit_cluster")
"""Special registers that the cluster of a launch decides over."""
KNOWN = (
    *("tid", "ntid", "ctaid", "nctaid", "laneid", "warpid", "lanemask_", "clusterid", "nclusterid"),
    *OF_CLUSTER,
)
"""Special registers whose value is known; the others differ from launch to launch, or from run to run."""
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


BLOCKS = ("ctaid", "nctaid", "cluster", "nclusterid", "is_explicit_cluster")
"""Those that all threads of a block share."""
EITHER_WAY = frozenset({"fma", "mad"})
"""Instructions whose first two operands may change places."""


NOT_FOLLOWED = frozenset(
    {
        *("cc", "sat", "bfind", "dp4a", "dp2a", "sad", "fns", "bmsk", "szext", "isspacep", "slct"),
        *("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"),
    }
)
"""Parts of opcodes whose result is not computed."""


def is_exact(instruction: Instruction) -> bool:
    """Whether a result is computed as the GPU computes it: integers, and values passed on."""
    name, parts = instruction.name, instruction.parts
    if name in EXACT:
        return True
    kinds = types_of(instruction)
    if NOT_FOLLOWED & set(parts) or any(kind[0] not in "bsup" or "x" in kind for kind in kinds):
        return False
    constants = [isinstance(each, Immediate) for each in instruction.operands]
    if name == "lop3" or (name == "bfe" and kinds[-1].startswith("s")):
        return all(constants[-2 if name == "bfe" else -1 :])
    return True


def known(bits: Bits) -> Bits:
    """The identities of values whose bits are known."""
    return mix(bits ^ GOLDEN)


class MadeUp:
    """Which registers hold made-up values, thread by thread, and their identities."""

    def __init__(self, ranks: Threads, unknown: frozenset[str] = frozenset()) -> None:
        self.threads = ranks.size
        self.ranks = ranks
        """By thread, the rank of its block."""
        self.unknown = unknown
        """Special registers that are the same in all threads of a block, and may have any value."""
        self._flags: dict[str, Flags] = {}
        self._identities: dict[str, Bits] = {}
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
            return self.any_of(operand.items, who)
        return np.full(who.shape, isinstance(operand, Special) and self._is_unknown(operand.name))

    def _is_unknown(self, special: str) -> bool:
        return special in self.unknown or not special.startswith(KNOWN)

    def any_of(self, operands: Sequence[Operand], who: Threads) -> Flags:
        """Which threads have a made-up value in one of the operands."""
        found = np.zeros(who.shape, dtype=bool)
        for operand in operands:
            found |= self.of(operand, who)
        return found

    def identity(self, operand: Register | Special, who: Threads) -> Bits:
        """The identities of what is made up in a register."""
        if isinstance(operand, Special):
            if operand.name not in self.unknown:
                return self.fresh(who)
            return mix(named(operand.name, who) + self.ranks[who].astype(np.uint64))
        found: Bits = self._identities[operand.name][who]
        return found

    def set(self, operand: Operand, who: Threads, flags: Flags, identities: Bits | None = None) -> None:
        """Notes what was written to a register: which of it is made up, and its identities there."""
        if not isinstance(operand, Register):
            return
        before = self._flags.get(operand.name)
        if before is None:
            if not flags.any():
                return
            before = self._flags[operand.name] = np.zeros(self.threads, dtype=bool)
            self._identities[operand.name] = np.zeros(self.threads, dtype=np.uint64)
        before[who] = flags
        if flags.any():
            assert identities is not None
            self._identities[operand.name][who] = identities

    def fresh(self, who: Threads) -> Bits:
        """Identities that no other thread or instruction gets."""
        self._fresh += 1
        return mix(who.astype(np.uint64) + np.uint64(self._fresh << 20))


def named(name: str, who: Threads) -> Bits:
    """The identity of something that is the same for all threads."""
    return mix(np.full(who.shape, seed_of(name), dtype=np.uint64))


def mixed(instruction: Instruction, operands: Sequence[Bits]) -> Bits:
    """The identities of a result, from those of the operands."""
    total = np.full(operands[0].shape, seed_of(instruction.opcode), dtype=np.uint64)
    for number, bits in enumerate(operands):
        # Where an operand stands matters, unless the two may change places.
        either = instruction.name in COMMUTATIVE or (instruction.name in EITHER_WAY and number < 2)
        place = 0 if either else number
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


def registers_read(instruction: Instruction) -> dict[str, Register | Special]:
    """The registers that an instruction reads, special ones and its predicate included, by their names."""
    skip = 1 if destinations(instruction) else 0
    found: dict[str, Register | Special] = {}
    todo = [*instruction.operands[skip:], *([instruction.guard] if instruction.guard is not None else [])]
    while todo:
        operand = todo.pop()
        if isinstance(operand, Register | Special):
            found[operand.name] = operand
        elif isinstance(operand, Negated):
            todo.append(operand.register)
        elif isinstance(operand, Address):
            todo.append(operand.base)
        elif isinstance(operand, Group):
            todo += operand.items
    return found
