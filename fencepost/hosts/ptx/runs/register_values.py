"""Registers that hold the same by their making: the same operations of the same loads, from the same addresses.

Without optimization every use of a value is computed, and loaded, once more. What an access depends on is therefore
compared by value, not by register. Loads of one address count as one, whatever is stored between them: it is said of
data that a run makes up, and proves nothing."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import destinations
from fencepost.hosts.ptx.reading.instructions import computes
from fencepost.hosts.ptx.reading.module import (
    Address,
    Group,
    Instruction,
    Negated,
    Operand,
    Register,
    registers_in,
)

Maker = tuple[Place, Instruction]
"""An instruction that assigns a register, and where it is."""


class RegisterValues:
    """A number for each value: registers with one number hold the same."""

    def __init__(self, makers: Mapping[str, Sequence[Maker]]) -> None:
        self.makers = makers
        self._numbers: dict[Hashable, int] = {}
        self._of: dict[str, int] = {}

    def number(self, name: str) -> int:
        """The number of what a register holds."""
        if name not in self._of:
            self._of[name] = self._number(name)  # For one that is made from itself.
            self._of[name] = self._made(name)
        return self._of[name]

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _made(self, name: str) -> int:
        makers = self.makers.get(name, ())
        if len(makers) != 1:
            return self._number(name)
        _, instruction = makers[0]
        loads = instruction.name in ("ld", "ldu")
        if instruction.guard is not None or not (loads or computes(instruction)):
            return self._number(name)
        if instruction.name == "mov" and isinstance(instruction.operands[1], Register):
            return self.number(instruction.operands[1].name)
        slot = [next(registers_in(each), "") for each in destinations(instruction)].index(name)
        how = "ld" if loads else instruction.opcode
        return self._number((how, slot, *map(self._operand, instruction.operands[1:])))

    def _operand(self, operand: Operand) -> Hashable:
        if isinstance(operand, Register):
            return self.number(operand.name)
        if isinstance(operand, Negated):
            return "not", self.number(operand.register.name)
        if isinstance(operand, Address):
            return self._operand(operand.base), operand.offset
        if isinstance(operand, Group):
            return tuple(map(self._operand, operand.items))
        return operand
