"""Which assignment a register's value comes from. PTX assigns registers many times; where several assignments
meet, a phi stands at the head of the block (Cytron et al.: at the iterated dominance frontier), found when
someone asks."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.hosts.ptx.reading.effects import destinations
from fencepost.hosts.ptx.reading.flow import ENTRY, Flow
from fencepost.hosts.ptx.reading.module import Register


@dataclass(frozen=True)
class Assigned:
    """The value that an instruction gives a register: block, position in it, and which of its destinations."""

    block: int
    index: int
    slot: int


@dataclass(frozen=True)
class Phi:
    """Values of a register that meet at the head of a block."""

    block: int
    register: Register


@dataclass(frozen=True)
class Undefined:
    """No assignment reaches the place."""

    register: Register


Definition = Assigned | Phi | Undefined


class Definitions:
    """Answers which definition reaches a place."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self._of: dict[str, dict[int, list[tuple[int, int]]]] = {}
        for number in flow.order:
            for index, instruction in enumerate(flow.blocks[number].instructions):
                for slot, operand in enumerate(destinations(instruction)):
                    if isinstance(operand, Register):
                        places = self._of.setdefault(operand.name, {}).setdefault(number, [])
                        places.append((index, slot))
        self._joins: dict[str, set[int]] = {}

    def _meets(self, name: str) -> set[int]:
        found = self._joins.get(name)
        if found is None:
            found = set()
            todo = list(self._of.get(name, {}))
            while todo:
                for block in self.flow.frontiers.get(todo.pop(), ()):
                    if block not in found:
                        found.add(block)
                        todo.append(block)
            self._joins[name] = found
        return found

    def before(self, register: Register, block: int, index: int) -> Definition:
        """The definition that reaches an instruction's operand."""
        for at, slot in reversed(self._of.get(register.name, {}).get(block, ())):
            if at < index:
                return Assigned(block, at, slot)
        meets = self._meets(register.name)
        while block not in meets:
            if block == ENTRY:
                return Undefined(register)
            block = self.flow.idom[block]
            if places := self._of.get(register.name, {}).get(block):
                return Assigned(block, *places[-1])
        return Phi(block, register)

    def at_end(self, register: Register, block: int) -> Definition:
        """The definition at the end of a block."""
        return self.before(register, block, 1 << 30)
