"""Where a region ends in a file, for terminators that are not written there.

Triton's own syntax leaves the `scf.yield` of a region out if it yields nothing. Then it has the place of the
operation around it; what stands in the file is the brace that closes the region.
"""

from __future__ import annotations

import re

from fencepost.hosts.triton.mlir.tree import Operation
from fencepost.ir.source import Source

_PIECE = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|[{}]')


def is_written(source: Source, operation: Operation) -> bool:
    """Whether an operation stands in the file under its name."""
    span = operation.span
    return span is not None and operation.name in source.line(span.line)[span.column - 1 :]


def closing_brace(source: Source, terminator: Operation) -> tuple[int, int] | None:
    """Line and column of the brace behind a terminator that is not written; None if it cannot be found."""
    block, around = terminator.block, terminator.parent
    if block is None or around is None or around.span is None:
        return None
    row = block.operations[:-1]
    if row and row[-1].span is not None:
        # From an operation of the region on, the first brace that nothing opens is the one.
        return _unopened(source, _offset(source, row[-1].span.line, row[-1].span.column))
    offset = _offset(source, around.span.line, around.span.column)
    for _ in around.regions[: around.regions.index(block.region) + 1]:
        opened = _next_opening(source, offset)
        if opened is None:
            return None
        found, offset = _unopened(source, opened), opened
        offset = _offset(source, *found) + 1 if found else offset
    return found


def _unopened(source: Source, offset: int) -> tuple[int, int] | None:
    """The first closing brace from an offset on that is not opened behind it."""
    depth = 0
    for piece in _PIECE.finditer(source.text, offset):
        if piece[0] == "{":
            depth += 1
        elif piece[0] == "}":
            depth -= 1
            if depth < 0:
                line = source.text.count("\n", 0, piece.start()) + 1
                return line, piece.start() - source.text.rfind("\n", 0, piece.start())
    return None


def _next_opening(source: Source, offset: int) -> int | None:
    """Behind the first brace that opens from an offset on."""
    pieces = (piece for piece in _PIECE.finditer(source.text, offset) if piece[0] == "{")
    found = next(pieces, None)
    return None if found is None else found.end()


def _offset(source: Source, line: int, column: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = source.text.index("\n", start) + 1
    return start + column - 1
