"""The bytes of a part of a tile: a rectangle of rows and columns, where the layout keeps it together.

A row-major tile has the columns that are asked for once in every row. A swizzle moves vectors of columns about within
blocks of as many as there are phases, by an exclusive or with the row's phase: a part that ends with blocks has the
bytes that it would have without, and one that is an aligned fraction of a block lies in one piece in every row.
Padding shifts whole stretches. What is not like this is not distinguished.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.mlir.types import Encoding, MemDesc, parse_encoding
from fencepost.hosts.triton.shared_memory_effects import Does, row_of
from fencepost.ir.expr import Binary, Const, Expr

SUBSLICE = "ttg.memdesc_subslice"
WRITERS = (Does.WRITES, Does.UPDATES, Does.COPIES_IN, Does.MBARRIERS)
NVMMA_PHASES = {128: (1, 8), 64: (2, 4), 32: (4, 2)}
"""By the bytes that are swizzled together: how many rows in turn have one phase, and how many phases there are."""
VECTOR = 16
"""The bytes that are moved about together there."""
_PADDING = re.compile(r"(\d+):\+(\d+)")


class Swizzle(NamedTuple):
    """Where a fraction of a block of columns lies in each row: an exclusive or with the row's phase."""

    fraction: int
    """The one that is asked for."""
    row: int
    """The first row."""
    rows: int
    """How many rows in turn have one phase,"""
    phases: int
    """how many phases there are,"""
    vectors: int
    """and how many vectors of columns, as many as phases in a block, a fraction has."""

    def moved(self, row: Expr) -> Expr:
        """Where the fraction lies in a row, counted from the first one: as which fraction of its block."""
        number = row if not self.row else Binary("+", row, Const(self.row))
        phase = Binary("%", Binary("//", number, Const(self.rows)), Const(self.phases))
        return Binary("^", Const(self.fraction), Binary("//", phase, Const(self.vectors)))


@dataclass(frozen=True, slots=True)
class Segments:
    """Stretches of bytes, all of one width and equally far apart."""

    low: int
    width: int
    count: int = 1
    stride: int = 0
    swizzle: Swizzle | None = None
    """Where a stretch lies behind the beginning of its block: at that many times `width`."""


def writes_slices(module: Module, function: Operation) -> bool:
    """Whether parts of tiles are written: if they are only read, whole tiles do as well."""
    return module.mentions(SUBSLICE) and any(
        row_of(op.name).does in WRITERS and any(_is_part(value.defining_operation) for value in op.operands)
        for op in function.walk()
    )


def _is_part(op: Operation | None) -> bool:
    while op is not None and row_of(op.name).does is Does.VIEWS:
        if op.name == SUBSLICE:
            return True
        op = op.operands[0].defining_operation
    return False


def segments(tile: MemDesc, offsets: tuple[int, ...], shape: tuple[int | None, ...]) -> Segments | None:
    """The bytes of a part of a tile; None if the layout does not keep them together."""
    layout = parse_encoding(tile.encoding)
    known = [size for size in (*tile.shape, *shape) if size is not None]
    if layout is None or tile.bits is None or tile.bits % 8 or (len(tile.shape), len(offsets)) != (2, 2):
        return None
    if len(known) != 4 or tile.shape != tile.alloc_shape[-2:]:
        return None
    parameters = layout.parameters
    fast = 0 if parameters.get("transposed") is True or parameters.get("order") == (0, 1) else 1
    rows, columns = known[1 - fast], known[fast]
    part = _Part(
        range(offsets[1 - fast], offsets[1 - fast] + known[3 - fast]),
        range(offsets[fast], offsets[fast] + known[2 + fast]),
    )
    found = _in_elements(layout, part, rows, columns, tile.bits)
    return None if found is None else _in_bytes(found, tile.bits // 8)


def _in_elements(layout: Encoding, part: _Part, rows: int, columns: int, bits: int) -> Segments | None:
    """The elements of a part of a tile of so many rows and columns, by how it is laid out."""
    kind, parameters = layout.name.removeprefix("ttg."), layout.parameters
    if kind == "swizzled_shared" and parameters.get("order") in ((0, 1), (1, 0)):
        numbers = [parameters.get(name) for name in ("vec", "perPhase", "maxPhase")]
        vector, rows_in_turn, phases = (number if isinstance(number, int) else 0 for number in numbers)
        return _swizzled(part, columns, columns, vector, rows_in_turn, phases)
    if kind == "nvmma_shared" and parameters.get("fp4Padded") is not True:
        width = parameters.get("swizzlingByteWidth")
        if isinstance(width, int) and width in NVMMA_PHASES:
            return _blocks(part, rows, columns, width, bits)
    if kind == "padded_shared" and parameters.get("order") in ((0, 1), (1, 0)):
        return _padded(layout.leading, columns, part)
    return None


class _Part(NamedTuple):
    rows: range
    columns: range


def _swizzled(
    part: _Part, columns: int, stride: int, vector: int, rows_in_turn: int, phases: int
) -> Segments | None:
    """The elements of some columns of some rows that are `stride` elements apart."""
    block, width = vector * phases, len(part.columns)
    left, top = part.columns.start, part.rows.start
    if block and not (left % block or width % block):
        return Segments(top * stride + left, width, len(part.rows), stride)
    # A fraction of a block: as many vectors as a power of two, at a place that it divides.
    vectors = width // vector if vector and width % vector == 0 else 0
    if not vectors or vectors & (vectors - 1) or left % width or columns % block or vectors > phases:
        return None
    swizzle = Swizzle(left % block // width, top, rows_in_turn, phases, vectors)
    return Segments(top * stride + left // block * block, width, len(part.rows), stride, swizzle)


def _blocks(part: _Part, rows: int, columns: int, width: int, bits: int) -> Segments | None:
    """The same where blocks of columns lie one behind the other, each with all its rows."""
    block = width * 8 // bits
    if columns % block:
        return None
    left, right = part.columns.start, part.columns.stop
    if not (left % block or right % block):
        top, height = part.rows.start, len(part.rows)
        return Segments(left * rows + top * block, height * block, (right - left) // block, rows * block)
    if left // block != (right - 1) // block:
        return None
    inside = _Part(part.rows, range(left % block, left % block + len(part.columns)))
    found = _swizzled(inside, block, block, VECTOR * 8 // bits, *NVMMA_PHASES[width])
    return None if found is None else replace(found, low=found.low + left // block * rows * block)


def _padded(text: str, columns: int, part: _Part) -> Segments | None:
    """The elements of some columns of some rows, where padding comes behind every so many elements."""
    paddings = [(int(every), int(more)) for every, more in _PADDING.findall(text)]

    def place(element: int) -> int:
        return element + sum(element // every * more for every, more in paddings)

    left, right = part.columns.start, part.columns.stop
    ends = [(place(row * columns + left), place(row * columns + right - 1) + 1) for row in part.rows]
    widths = {end - start for start, end in ends}
    steps = {later[0] - earlier[0] for earlier, later in pairwise(ends)}
    if len(widths) != 1 or len(steps) > 1:
        return None
    return Segments(ends[0][0], widths.pop(), len(ends), steps.pop() if steps else 0)


def _in_bytes(found: Segments, size: int) -> Segments:
    """The same in bytes, and as one stretch if nothing lies between."""
    low, width, count, stride = found.low * size, found.width * size, found.count, found.stride * size
    if found.swizzle is None and (count == 1 or width == stride):
        return Segments(low, width * count)
    return Segments(low, width, count, stride, found.swizzle)
