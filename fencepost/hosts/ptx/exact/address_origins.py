"""What an address is computed from: shared variables, pointers that the kernel was given, or neither.

An access stays inside of the variable that its address was computed from: that is taken for granted everywhere. So
where the place inside depends on data, it is still known which variable is touched. An address that was loaded may
be one of shared memory only if the kernel has stored such addresses somewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from fencepost.hosts.ptx.expressions.pointers import handed_on
from fencepost.hosts.ptx.reading.effects import destinations, space_of
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.instructions import computes
from fencepost.hosts.ptx.reading.module import (
    Address,
    Group,
    Immediate,
    Instruction,
    Operand,
    Register,
    Symbol,
    registers_in,
)


@dataclass(frozen=True)
class Origins:
    """The variables and parameters that an address is computed from."""

    symbols: frozenset[str] = frozenset()
    parameters: frozenset[str] = frozenset()
    mapped: bool = False
    """Whether it may be an address of another block (`mapa`)."""
    loaded: bool = False
    """Whether something that was loaded is part of it: an index, or an address."""


@lru_cache(maxsize=8)
def _definitions(flow: Flow) -> dict[str, list[Instruction]]:
    found: dict[str, list[Instruction]] = {}
    for number in flow.order:
        for instruction in flow.blocks[number].instructions:
            for target in destinations(instruction):
                for name in registers_in(target):
                    found.setdefault(name, []).append(instruction)
    return found


def origins_of(flow: Flow, address: Operand) -> Origins:
    """What an address is computed from, on all ways."""
    definitions = _definitions(flow)
    symbols: set[str] = set()
    parameters: set[str] = set()
    mapped = loaded = False
    todo, seen = [address], set[str]()
    while todo:
        operand = todo.pop()
        if isinstance(operand, Symbol):
            symbols.add(operand.name)
        elif isinstance(operand, Address):
            todo.append(operand.base)
        elif isinstance(operand, Group):
            todo += operand.items
        elif isinstance(operand, Register) and operand.name not in seen:
            seen.add(operand.name)
            for instruction in definitions.get(operand.name, ()):
                found, followed = _parameter(instruction), _followed(instruction)
                mapped |= instruction.name == "mapa"
                parameters |= found
                loaded |= not (found or followed or computes(instruction))
                todo += followed
    return Origins(frozenset(symbols), frozenset(parameters), mapped, loaded)


@lru_cache(maxsize=8)
def stores_shared_addresses(flow: Flow, names: frozenset[str]) -> bool:
    """Whether the kernel stores addresses of these variables, so that what it loads may be one."""
    for number in flow.order:
        for instruction in flow.blocks[number].instructions:
            stored = handed_on(instruction) if instruction.name in ("st", "stmatrix", "atom", "red") else ()
            if any(origins_of(flow, each).symbols & names for each in stored):
                return True
    return False


def _parameter(instruction: Instruction) -> set[str]:
    """The parameter that an instruction loads."""
    if instruction.name not in ("ld", "ldu") or space_of(instruction) != "param":
        return set()
    bases = (each.base for each in instruction.operands if isinstance(each, Address))
    return {each.name for each in bases if isinstance(each, Symbol)}


def _followed(instruction: Instruction) -> list[Operand]:
    """The operands that a result has its address from; what is loaded is a number."""
    if computes(instruction) or instruction.name == "mapa":
        return [each for each in instruction.operands[1:] if not isinstance(each, Immediate)]
    return list(instruction.operands[1:2]) if instruction.name == "shfl" else []
