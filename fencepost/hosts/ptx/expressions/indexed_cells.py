"""Loads of a local array at an index that is not known: `float *buffers[2] = {a, b}; … = buffers[i & 1]`.

Such a load becomes a choice: the cell whose address it has. That it stays inside of the array is taken for granted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fencepost.hosts.ptx.expressions.expression_nodes import Expression, sum_parts
from fencepost.hosts.ptx.reading.arithmetic import signed
from fencepost.hosts.ptx.reading.module import (
    Address,
    Immediate,
    Instruction,
    Register,
    Symbol,
    width_of,
)

MOST_CELLS = 8
"""Cells of the largest array that is followed at an index which is not known."""


def offsets_at(offset: Expression, size: int, limit: int) -> Sequence[int]:
    """The offsets of the cells that an access may have; none if it may be anywhere, or there are too many."""
    constant, factors = sum_parts(offset)
    known = all(each % size == 0 for each in (constant, *factors.values()))
    cells = limit // size
    return range(0, cells * size, size) if known and factors and 1 < cells <= MOST_CELLS else ()


def chosen(
    load: Instruction, variable: str, cells: Mapping[int, Register], target: Register
) -> Iterator[Instruction]:
    """Instructions that give a register the cell whose address a load has; cells by their offset."""
    address = next(each for each in load.operands if isinstance(each, Address))
    assert isinstance(address.base, Register)
    wide, kind = width_of(address.base.type), target.type
    (_, held), *others = sorted(cells.items())
    for offset, cell in others:
        start, here = (Register(f"{target.name}:{name}{offset}", f"b{wide}") for name in ("start", "here"))
        is_here = Register(f"{target.name}:is{offset}", "pred")
        moved = signed(offset - address.offset, wide)
        yield _plain(load, ("mov", f"u{wide}"), (start, Symbol(variable)))
        yield _plain(load, ("add", f"s{wide}"), (here, start, Immediate(moved)))
        yield _plain(load, ("setp", "eq", f"s{wide}"), (is_here, address.base, here))
        result = Register(f"{target.name}:of{offset}", kind)
        yield _plain(load, ("selp", f"b{width_of(kind)}"), (result, cell, held, is_here))
        held = result
    yield replace(load, parts=("mov", f"b{width_of(kind)}"), operands=(target, held))


def _plain(load: Instruction, parts: tuple[str, ...], operands: tuple[object, ...]) -> Instruction:
    return replace(load, parts=parts, operands=operands, guard=None)  # type: ignore[arg-type]
