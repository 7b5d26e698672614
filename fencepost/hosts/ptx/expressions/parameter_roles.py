"""What the parameters of a kernel are for: memory, the layout of shared memory, or something else.

A simulated launch has to make up values. A pointer gets memory of its own; a number that shared addresses are
computed from (a stride, a mask, where a second array begins) must fit the block, whatever other numbers are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from fencepost.hosts.ptx.expressions.pointer_flow import pointer_flow
from fencepost.hosts.ptx.reading.effects import destinations, effect
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.instructions import computes
from fencepost.hosts.ptx.reading.module import (
    Address,
    Instruction,
    Symbol,
    registers_in,
)


@dataclass(frozen=True)
class Roles:
    """Parameters by their role, as `name` or `name+offset`."""

    pointers: frozenset[str]
    """Parameters that may be pointers,"""
    addresses: frozenset[str]
    """and those that are for certain: they are made into global addresses as they are."""
    layout: frozenset[str]
    """Numbers that addresses in shared memory depend on."""
    deciding: frozenset[str]
    """Numbers that these or a branch depend on."""


@lru_cache(maxsize=8)
def roles_of(flow: Flow) -> Roles:
    """The roles of a kernel's parameters."""
    instructions = [each for number in flow.order for each in flow.blocks[number].instructions]
    loaded: dict[str, set[str]] = {}
    for each in instructions:
        for register, key in _loaded_parameters(each):
            loaded.setdefault(register, set()).add(key)
    pointers = _pointers(instructions, loaded)
    shared = [
        name
        for each in instructions
        for access in effect(each).accesses
        if not access.generic
        for name in registers_in(access.address)
    ]
    guards = [each.guard.name for each in instructions if each.guard is not None]
    guards += [each.guard.name for each in flow.blocks if each.guard is not None]
    guards += [each.index.name for each in flow.blocks if each.index is not None]
    layout, deciding = (
        {key for name in _slice(instructions, wanted) for key in loaded.get(name, ())} - pointers
        for wanted in (shared, shared + guards)
    )
    addresses = frozenset(_addresses(instructions, loaded))
    return Roles(frozenset(pointers), addresses, frozenset(layout), frozenset(deciding))


def _addresses(instructions: list[Instruction], loaded: dict[str, set[str]]) -> Iterator[str]:
    """Parameters that are made into global addresses as they are."""
    for each in instructions:
        if each.name == "cvta" and "to" in each.parts:
            for name in registers_in(each.operands[1]):
                if len(loaded.get(name, ())) == 1:
                    yield from loaded[name]


def _loaded_parameters(instruction: Instruction) -> Iterator[tuple[str, str]]:
    """The registers that parameters are loaded into, and which."""
    if instruction.name != "ld" or "param" not in ".".join(instruction.parts):
        return
    address = next((each for each in instruction.operands if isinstance(each, Address)), None)
    if address is None or not isinstance(address.base, Symbol):
        return
    targets = destinations(instruction)
    size = int(instruction.parts[-1][1:]) // 8 if instruction.parts[-1][1:].isdigit() else 4
    for at, target in enumerate(targets):
        offset = address.offset + at * size
        key = address.base.name if offset == 0 else f"{address.base.name}+{offset}"
        for name in registers_in(target):
            yield name, key


def _pointers(instructions: list[Instruction], loaded: dict[str, set[str]]) -> set[str]:
    """Parameters that are made into global addresses or, where none is, that memory is accessed through."""
    flow = pointer_flow(instructions, loaded)
    converted: set[str] = set()
    accessed: list[set[str]] = []
    for each in instructions:
        if each.name == "cvta" and "to" in each.parts:
            for name in registers_in(each.operands[1]):
                converted |= loaded.get(name, set()) or flow.parameters(name)
        for operand in each.operands:
            if isinstance(operand, Address):
                accessed += [flow.parameters(name) for name in registers_in(operand)]
    return converted.union(*(keys for keys in accessed if not keys & converted))


def _slice(instructions: list[Instruction], wanted: list[str]) -> set[str]:
    """The registers that some registers are computed from."""
    made: dict[str, set[str]] = {}
    for each in instructions:
        if computes(each):
            sources = {name for operand in each.operands[1:] for name in registers_in(operand)}
            for target in destinations(each):
                for name in registers_in(target):
                    made.setdefault(name, set()).update(sources)
    found = set(wanted)
    todo = list(found)
    while todo:
        for name in made.get(todo.pop(), ()):
            if name not in found:
                found.add(name)
                todo.append(name)
    return found
