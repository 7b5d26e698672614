"""Barriers put into and taken out of the file that the user gave, and counts of waits, so that nothing else changes.

Names, comments and formatting stay. Only operations that have lines of their own can be treated
this way; `text_edits` works on any module, at the price of printing it anew.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.region_ends import closing_brace, is_written
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.text_edits import Edit, InsertBarrier, Remove, SetAttribute
from fencepost.ir.source import FencepostError, Mark, Span

IMPLICIT = "scf.yield"
"""The terminator that may not be written."""
INSIDE = "  "
"""How much further in than its closing brace a region stands."""
REMOVED = ("ttg.barrier", "ttg.local_barrier", "rocdl.s.barrier")
"""Barriers that may be taken out of a file."""
_LOCATION = re.compile(r"\s(loc\(.*\))\s*$")
# A line that is a barrier and nothing else, in either form.
_ONLY_BARRIER = re.compile(
    r"\s*(?:ttg\.barrier [\w|]+|ttg\.local_barrier|rocdl\.s\.barrier|"
    r'"(?:ttg\.barrier|ttg\.local_barrier|rocdl\.s\.barrier)"\(\)[^()]*:\s*\(\)\s*->\s*\(\))'
    r"\s*(?:loc\(.*\)\s*)?(?://.*)?$"
)


def edit_source(module: Module, edits: Sequence[Edit]) -> str:
    """The text of `module.source` with barriers put in or taken out, and counts set; FP407 where that cannot be."""
    source = module.source
    if source is None:
        raise ValueError(f"{module!r} was not read from a file")
    lines = source.text.split("\n")
    before: dict[int, list[str]] = {}
    gone: set[int] = set()
    counted: dict[int, str] = {}
    for edit in edits:
        if isinstance(edit, InsertBarrier) and not edit.text:
            number, line = _line_to_come_before(module, edit.before)
            before.setdefault(number, []).append(_barrier_line(line))
        elif isinstance(edit, Remove) and edit.operation.name in REMOVED:
            number, line = _own_line(module, edit.operation)
            if not _ONLY_BARRIER.match(line):
                raise _shares_its_line(module, edit.operation)
            gone.add(number)
        elif isinstance(edit, SetAttribute) and edit.inherent:
            number, line = _own_line(module, edit.operation)
            counted[number] = _with_number(module, edit, line)
        else:
            raise FencepostError(f"only barriers can be edited in the text of {source.name}", code="FP407")
    out: list[str] = []
    for number, line in enumerate(lines, 1):
        out += before.get(number, [])
        if number not in gone:
            out.append(counted.get(number, line))
    return "\n".join(out)


def _with_number(module: Module, edit: SetAttribute, line: str) -> str:
    """The line of an operation with another number for one of its attributes."""
    changed, found = re.subn(rf"\b{re.escape(edit.name)} = \d+ : i32\b", f"{edit.name} = {edit.value}", line)
    if found != 1:
        message = f"the line of {edit.operation.name} does not say what its {edit.name} is"
        raise FencepostError(message, [Mark(edit.operation.span)], code="FP407", source=module.source)
    return changed


def _line_to_come_before(module: Module, operation: Operation) -> tuple[int, str]:
    """The line that a barrier before an operation is put before, and one with the margin that it gets."""
    source = module.source
    assert source is not None
    if operation.name != IMPLICIT or is_written(source, operation):
        return _own_line(module, operation)
    brace = closing_brace(source, operation)
    if brace is None or source.line(brace[0])[: brace[1] - 1].strip():
        raise FencepostError(
            "the end of this region shares its line with something else; the text cannot be edited there",
            [Mark(operation.span)],
            code="FP407",
            source=source,
        )
    line = source.line(brace[0])
    return brace[0], line[: brace[1] - 1] + INSIDE + line[brace[1] - 1 :]


def _own_line(module: Module, operation: Operation) -> tuple[int, str]:
    """The line that an operation begins, alone as far as one can tell from where the others stand."""
    span = operation.span
    assert module.source is not None
    line = module.source.line(span.line) if span else ""
    if span is None or line[: span.column - 1].strip() or _shared(operation, span):
        raise _shares_its_line(module, operation)
    return span.line, line


def _shares_its_line(module: Module, operation: Operation) -> FencepostError:
    message = f"{operation.name} shares its line with something else; the text cannot be edited there"
    return FencepostError(message, [Mark(operation.span)], code="FP407", source=module.source)


def _shared(operation: Operation, span: Span) -> bool:
    """Whether a neighbour, or the operation around, stands on the same line."""
    assert operation.block is not None
    row = operation.block.operations
    index = row.index(operation)
    around = [*row[max(index - 1, 0) : index], *row[index + 1 : index + 2], operation.parent]
    return any(each and each.span and each.span.line == span.line for each in around)


def _barrier_line(line: str) -> str:
    """A barrier with the margin and the location of the line that it goes before."""
    margin = line[: len(line) - len(line.lstrip())]
    location = _LOCATION.search(line)
    barrier = installed_release().written
    return f"{margin}{barrier} {location[1]}" if location else f"{margin}{barrier}"
