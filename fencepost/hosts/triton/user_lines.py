"""Where each operation stands in the file that the user gave.

Triton says so itself, for a module without locations. Both readings of a file have the same operations
in the same order, so the places of the one are those of the other.
"""

from __future__ import annotations

from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.parsing_process import Parsed
from fencepost.hosts.triton.strip_locations import without_locations
from fencepost.ir.source import Source, Span


def place_operations(module: Module, parsed: Parsed) -> None:
    """Give each operation of `module` its span in the file, where Triton could tell it."""
    if not parsed.blank:
        return
    operations, twins = list(module.walk()), list(read_module(parsed.blank).walk())
    if [each.name for each in operations] != [each.name for each in twins]:
        return
    code = Source(parsed.source.name, without_locations(parsed.source.text))
    for operation, twin in zip(operations, twins, strict=True):
        place = twin.location.place()
        if place and place.file == parsed.path:
            operation.span = _statement(code, place.line, place.column)


def _statement(code: Source, line: int, column: int) -> Span:
    """The operation that Triton places at its name: from its results on, without the brace that opens a body."""
    text = code.line(line).partition("//")[0].rstrip().removesuffix("{").rstrip()
    before = text[: column - 1]
    start = len(before) - len(before.lstrip()) + 1 if before.rstrip().endswith("=") else column
    return Span(line, start, line, max(len(text), start) + 1)
