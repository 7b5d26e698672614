"""Which parameters each register may point into the memory of, also by way of local variables.

Without optimization, variables are in local memory, and a lambda or a structure holds their addresses: a pointer
comes from its parameter by several loads. What a local variable holds is distinguished by offsets; an offset that is
not constant may be any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fencepost.hosts.ptx.reading.effects import destinations, space_of
from fencepost.hosts.ptx.reading.instructions import types_of
from fencepost.hosts.ptx.reading.module import (
    Address,
    Group,
    Immediate,
    Instruction,
    Operand,
    Symbol,
    registers_in,
)
from fencepost.hosts.ptx.reading.module import width_of as bits_of

KEEPS_POINTER = {"mov": (1,), "cvta": (1,), "add": (1, 2), "sub": (1,), "mad": (3,), "selp": (1, 2)}
"""Operands that a result may point into the same memory as, by opcode."""
_POINTER = 64
MOST_CELLS = 32
"""So many places in local variables are distinguished that one register may point to."""


@dataclass(frozen=True)
class Cell:
    """A place in a local variable; any, where the offset is not known."""

    variable: str
    offset: int | None = 0

    def at(self, more: int | None) -> Cell:
        """The place so many bytes further on."""
        known = self.offset is not None and more is not None
        return Cell(self.variable, self.offset + more if known else None)  # type: ignore[operator]


Target = str | Cell
"""What a register may point into: the memory behind a parameter, or a local variable."""


@dataclass
class PointerFlow:
    """What registers and local variables may hold."""

    registers: dict[str, set[Target]]
    held: dict[Cell, set[Target]] = field(default_factory=dict)

    def parameters(self, register: str) -> set[str]:
        """The parameters that a register may point into the memory of."""
        return {each for each in self.registers.get(register, ()) if isinstance(each, str)}

    def add(self, register: str, targets: set[Target]) -> bool:
        """Whether something is new."""
        known = self.registers.setdefault(register, set())
        before = len(known)
        cells = sum(isinstance(each, Cell) for each in known | targets)
        if cells > MOST_CELLS:
            # An address that a loop moves on: it may be any.
            targets = {each.at(None) if isinstance(each, Cell) else each for each in targets}
        known |= targets
        return len(known) > before

    def step(self, instruction: Instruction) -> bool:
        """What one instruction passes on; whether something is new."""
        if instruction.name in ("ld", "st") and space_of(instruction) in (None, "local"):
            return self._moved(instruction)
        changed = False
        for at in KEEPS_POINTER.get(instruction.name, ()):
            if at < len(instruction.operands):
                kept = self._kept(instruction, at)
                for target in registers_in(instruction.operands[0]):
                    changed |= self.add(target, kept)
        return changed

    def _kept(self, instruction: Instruction, at: int) -> set[Target]:
        operand = instruction.operands[at]
        if isinstance(operand, Symbol):
            return {Cell(operand.name)}
        found = self._of(operand)
        if instruction.name not in ("add", "sub", "mad"):
            return found
        more = _constant(instruction, at)
        return {each.at(more) if isinstance(each, Cell) else each for each in found}

    def _of(self, operand: Operand) -> set[Target]:
        return {each for name in registers_in(operand) for each in self.registers.get(name, ())}

    def _moved(self, instruction: Instruction) -> bool:
        """A load or a store of registers that are as wide as pointers."""
        size = bits_of(types_of(instruction)[-1]) if types_of(instruction) else 0
        address = next((each for each in instruction.operands if isinstance(each, Address)), None)
        if size != _POINTER or address is None:
            return False
        changed = False
        for cell in self._cells(address):
            if instruction.name == "ld":
                for at, target in enumerate(destinations(instruction)):
                    for name in registers_in(target):
                        changed |= self.add(name, self._contents(cell.at(8 * at)))
                continue
            last = instruction.operands[-1]
            for at, item in enumerate(last.items if isinstance(last, Group) else (last,)):
                known = self.held.setdefault(cell.at(8 * at), set())
                changed |= not self._of(item) <= known
                known |= self._of(item)
        return changed

    def _cells(self, address: Address) -> Iterator[Cell]:
        targets = (
            {Cell(address.base.name)} if isinstance(address.base, Symbol) else set(self._of(address.base))
        )
        yield from (each.at(address.offset) for each in targets if isinstance(each, Cell))

    def _contents(self, cell: Cell) -> set[Target]:
        if cell.offset is not None:
            return self.held.get(cell, set()) | self.held.get(cell.at(None), set())
        return {each for place, held in self.held.items() if place.variable == cell.variable for each in held}


def _constant(instruction: Instruction, at: int) -> int | None:
    """What is added to one of the operands of a sum, if that is a constant."""
    others = [each for number, each in enumerate(instruction.operands[1:], 1) if number != at]
    if instruction.name == "mad" or len(others) != 1 or not isinstance(others[0], Immediate):
        return None
    value = others[0].value
    return -value if instruction.name == "sub" else value


def pointer_flow(instructions: list[Instruction], loaded: Mapping[str, set[str]]) -> PointerFlow:
    """Where pointers go, from the registers that parameters are loaded into."""
    flow = PointerFlow({name: set(keys) for name, keys in loaded.items()})
    changed = True
    while changed:
        changed = False
        for each in instructions:
            changed |= flow.step(each)
    return flow
