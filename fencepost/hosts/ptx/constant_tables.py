"""Tables that a kernel looks places up in, with what the text gives them: `__constant__ int at[4] = {0, 8, 4, 12};`.

A load from such a table becomes comparisons of where it is with each entry, so that whatever follows registers (the
proof, and every kind of run) has the entry instead of a number that was made up. The host may store other numbers
there before the kernel starts, so that a verdict says which tables it takes as they are initialized.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from fencepost.hosts.ptx.exact.address_origins import origins_of
from fencepost.hosts.ptx.reading.arithmetic import signed
from fencepost.hosts.ptx.reading.effects import destinations, effect
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.instructions import computes, operand_type
from fencepost.hosts.ptx.reading.module import (
    Address,
    Immediate,
    Instruction,
    Label,
    Module,
    Operand,
    Register,
    Routine,
    Symbol,
    Variable,
    registers_in,
    width_of,
)

MOST_ENTRIES = 64
"""Larger tables are mostly there for what is computed, not for where it is stored."""


@dataclass(frozen=True)
class Lookup:
    """A load from a table: which one, and what it holds."""

    table: str
    entries: tuple[int, ...]
    target: Register
    address: Address


def with_tables(module: Module, routine: Routine, flow: Flow) -> tuple[Routine, tuple[str, ...]]:
    """The routine with the entries of initialized tables in the place of loads that shared addresses or branches
    depend on, and the tables that were looked up so."""
    tables = {
        each.name: each
        for each in module.variables
        if each.initial is not None and each.space in ("const", "global")
    }
    names: set[str] = set()
    while tables:
        body, found = _looked_up(routine, tables, flow)
        if not found:
            break
        names |= found
        routine = routine.with_body(body)
        flow = Flow(routine)  # What one table holds may be a place in another one.
    return routine, tuple(sorted(names))


def _looked_up(
    routine: Routine, tables: Mapping[str, Variable], flow: Flow
) -> tuple[tuple[Instruction | Label, ...], set[str]]:
    """The body with comparisons for the loads from tables that matter, and the tables that these are from."""
    needed = _deciding_registers(flow)
    body: list[Instruction | Label] = []
    names: set[str] = set()
    for item in routine.body:
        found = _lookup(item, tables, flow) if isinstance(item, Instruction) else None
        if found is None or found.target.name not in needed:
            body.append(item)
        elif isinstance(item, Instruction):
            names.add(found.table)
            body += _compared(item, found, len(body))
    return tuple(body), names


def _deciding_registers(flow: Flow) -> set[str]:
    """The registers that the place of a shared access, or the way of a thread, is computed from."""
    makers: dict[str, set[str]] = {}
    found: set[str] = set()
    for number in flow.order:
        block = flow.blocks[number]
        found |= set() if block.guard is None else {block.guard.name}
        for each in block.instructions:
            guard = set() if each.guard is None else {each.guard.name}
            for access in effect(each).accesses:
                found |= guard | set(registers_in(access.address))
            if computes(each) or each.name == "shfl":
                sources = {name for operand in each.operands[1:] for name in registers_in(operand)}
                for target in destinations(each):
                    for name in registers_in(target):
                        makers.setdefault(name, set()).update(sources | guard)
    todo = list(found)
    while todo:
        new = makers.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found


def _lookup(instruction: Instruction, tables: Mapping[str, Variable], flow: Flow) -> Lookup | None:
    """The load from one table that an instruction is; None for anything else."""
    if instruction.name != "ld" or len(instruction.operands) != 2 or "volatile" in instruction.parts:
        return None
    target, address = instruction.operands
    if not isinstance(target, Register) or not isinstance(address, Address):
        return None
    table = _table_of(address, tables, flow)
    kind = operand_type(instruction)
    size = width_of(kind) // 8
    if table is None or kind[:1] not in "usb" or size not in (1, 2, 4, 8):
        return None
    if table.space != "const" and "nc" not in instruction.parts:
        return None  # The kernel may store there.
    data = table.initial or b""
    entries = [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]
    if not 0 < len(entries) <= MOST_ENTRIES:
        return None
    numbers = [signed(each, 8 * size) if kind.startswith("s") else each for each in entries]
    return Lookup(table.name, tuple(numbers), target, address)


def _table_of(address: Address, tables: Mapping[str, Variable], flow: Flow) -> Variable | None:
    """The table that an address is counted from."""
    if isinstance(address.base, Register) and width_of(address.base.type) != 64:
        return None
    origins = origins_of(flow, address)
    if len(origins.symbols) != 1 or origins.parameters or origins.mapped:
        return None
    return tables.get(next(iter(origins.symbols)))


def _compared(load: Instruction, found: Lookup, number: int) -> Iterator[Instruction]:
    """Instructions that compute what a load gives: the last entry, unless it is of one of the others."""
    width = width_of(found.target.type)
    size = width_of(operand_type(load)) // 8
    where, held, entry = (
        Register(f"%table{number}.where", "s64"),
        Register(f"%table{number}.held", "pred"),
        Register(f"%table{number}.entry", found.target.type),
    )

    def made(opcode: str, *operands: Operand) -> Instruction:
        return replace(load, parts=tuple(opcode.split(".")), operands=operands, guard=None)

    yield made("sub.s64", where, found.address.base, Symbol(found.table))
    yield made(f"mov.b{width}", entry, Immediate(found.entries[-1]))
    for at, value in enumerate(found.entries[:-1]):
        yield made("setp.eq.s64", held, where, Immediate(at * size - found.address.offset))
        yield made(f"selp.b{width}", entry, Immediate(value), entry, held)
    yield replace(load, parts=("mov", f"b{width}"), operands=(found.target, entry))
