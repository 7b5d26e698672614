"""Which instructions a run computes, and which registers depend on others."""

from __future__ import annotations

from functools import lru_cache

from fencepost.hosts.ptx.expressions.carries import passes_carry
from fencepost.hosts.ptx.expressions.lanes import computable
from fencepost.hosts.ptx.reading.effects import (
    destinations,
    space_of,
)
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.instructions import (
    computes,
    is_integer,
    operand_type,
    types_of,
)
from fencepost.hosts.ptx.reading.module import (
    Instruction,
    Register,
    registers_in,
    width_of,
)

TEXTURES = ("tex", "tld4")
OF_LANES = ("shfl.", "vote.", "activemask.", "match.any.")
"""How opcodes begin whose results are of several lanes."""


@lru_cache(maxsize=8)
def tainted_registers(flow: Flow) -> set[str]:
    """Registers whose value may depend on an instruction that is not simulated."""
    instructions = [each for number in flow.order for each in flow.blocks[number].instructions]
    found: set[str] = set()
    memory: set[str | None] = set()
    changed = True
    while changed:
        changed = False
        for each in instructions:
            names = {d.name for d in destinations(each) if isinstance(d, Register)}
            if not names <= found and (
                not is_simulated(each) or _sources(each) & found or _reads(each) & memory
            ):
                found |= names
                changed = True
            stores = each.name in ("st", "atom", "red") and _sources(each) & found
            space = "local" if each.name == "call" else space_of(each)
            if (stores or each.name == "call") and space not in memory:
                memory.add(space)
                changed = True
    return found


def _reads(instruction: Instruction) -> set[str | None]:
    return {space_of(instruction)} if instruction.name in ("ld", "ldu", "atom") else set()


def _sources(instruction: Instruction) -> set[str]:
    """The registers whose values matter to a result; the address of a load does, as its data may be made up."""
    skip = 1 if destinations(instruction) else 0
    return {name for operand in instruction.operands[skip:] for name in registers_in(operand)}


def is_simulated(instruction: Instruction) -> bool:
    """Whether a run computes what an instruction gives."""
    name = instruction.name
    if any(isinstance(each, Register) and width_of(each.type) > 64 for each in instruction.operands):
        return False
    if passes_carry(instruction) or name in TEXTURES:
        return True
    if name not in ("mov", "setp", "lop3") and computes(instruction) and len(destinations(instruction)) > 1:
        return False
    if name == "isspacep":
        return True
    if computes(instruction):
        if is_integer(instruction) and name != "cvt":
            kind = operand_type(instruction)
            return (
                name != "setp"
                or not kind.startswith("f")
                or computable(f"setp.{instruction.parts[1]}.{kind}")
            )
        if name == "cvt":
            return all(each not in ("f16", "bf16", "f16x2", "bf16x2") for each in types_of(instruction))
        return computable(instruction.opcode)
    if name in ("ld", "ldu", "atom"):
        return True
    if name in ("bar", "barrier"):
        return True
    return instruction.opcode.startswith(OF_LANES) or not destinations(instruction)
