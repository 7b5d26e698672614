"""Changes to a module as changes to its text; everything else stays as it was, character by character.

The result is again generic form. What an edit may not do is refused here and not left to Triton:
taking away a value that is used, or the end of a block. How each release spells a barrier: `releases`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.hosts.triton.mlir.scan import balanced_end, span_of, split_list
from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.releases import installed_release
from fencepost.ir.source import FencepostError, Mark, Source


@dataclass(frozen=True, slots=True)
class InsertBarrier:
    """Put a barrier that makes shared memory visible before an operation.

    Or another operation, by its `text` in generic form, without a location. Its location is the one that is given
    (`"name"`), or that of `at`, or that of the operation before which it is put.
    """

    before: Operation
    text: str = ""
    """Empty for the barrier, as the installed release writes it."""
    at: Operation | None = None
    location: str = ""

    @property
    def line(self) -> str:
        """What is put in."""
        place = self.location or (self.at or self.before).location_text
        text = self.text or installed_release().barrier
        return f"{text} loc({place})" if place else text


@dataclass(frozen=True, slots=True)
class Remove:
    """Take an operation out, with all that is nested in it."""

    operation: Operation


@dataclass(frozen=True, slots=True)
class SetAttribute:
    """Give an attribute a value (`"true"`, `"2 : i32"`, `"unit"`), or take it away with None.

    `inherent` attributes belong to the kind of operation and stand between `<{` and `}>`; the others are
    notes that passes leave on any operation.
    """

    operation: Operation
    name: str
    value: str | None
    inherent: bool = False


Edit = InsertBarrier | Remove | SetAttribute
Change = tuple[int, int, str]
"""A stretch of the text and what stands there instead."""


def apply_edits(module: Module, edits: Sequence[Edit]) -> str:
    """The module's text with the edits made; insertions before one operation stand in the order given."""
    for edit in edits:
        _check_belongs(module, edit.before if isinstance(edit, InsertBarrier) else edit.operation)
    removed = {edit.operation for edit in edits if isinstance(edit, Remove)}
    _check_removable(module, removed)
    gone = [_removal(module.text, operation) for operation in removed]
    changes = [_insertion(module.text, edit) for edit in edits if isinstance(edit, InsertBarrier)]
    changes += _attribute_changes(module.text, [edit for edit in edits if isinstance(edit, SetAttribute)])
    # Whatever happens inside of something that is taken out happens to nothing.
    kept = [each for each in gone + changes if not any(start < each[0] < end for start, end, _ in gone)]
    return _changed(module.text, kept)


def _changed(text: str, changes: list[Change]) -> str:
    parts: list[str] = []
    last = 0
    # Insertions at one place keep their order and come before what is taken out there.
    for start, end, new in sorted(changes, key=lambda change: (change[0], change[1] > change[0])):
        parts += [text[last:start], new]
        last = end
    return "".join([*parts, text[last:]])


def _line_start(text: str, operation: Operation) -> int | None:
    """Where the operation's line begins, if it is the first thing there."""
    start = text.rfind("\n", 0, operation.start) + 1
    return None if text[start : operation.start].strip() else start


def _insertion(text: str, edit: InsertBarrier) -> Change:
    operation = edit.before
    start = _line_start(text, operation)
    if start is None:
        return operation.start, operation.start, f"{edit.line} "
    return start, start, f"{text[start : operation.start]}{edit.line}\n"


def _removal(text: str, operation: Operation) -> Change:
    """The operation, with its line if nothing else is on it."""
    start, end = _line_start(text, operation), text.find("\n", operation.extent.end)
    if start is None or end < 0 or text[operation.extent.end : end].strip():
        return operation.start, operation.extent.end, ""
    return start, end + 1, ""


def _attribute_changes(text: str, edits: list[SetAttribute]) -> list[Change]:
    """One change for each dictionary, however many of its entries are set."""
    values: dict[tuple[Operation, bool], dict[str, str | None]] = {}
    for edit in edits:
        values.setdefault((edit.operation, edit.inherent), {})[edit.name] = edit.value
    return [_dictionary(text, operation, inherent, new) for (operation, inherent), new in values.items()]


def _dictionary(text: str, operation: Operation, inherent: bool, values: dict[str, str | None]) -> Change:
    extent = operation.extent
    at = extent.properties_at if inherent else extent.attributes_at
    opening, closing = ("<{", "}>") if inherent else ("{", "}")
    start, end, entries = extent.signature_at, extent.signature_at, []
    if at >= 0:
        start, end = at, balanced_end(text, at)
        entries = split_list(text[at + len(opening) : end - len(closing)])
    elif inherent:
        # Properties stand before the regions, where the operation's name and operands end.
        start = end = extent.head_end
    kept = [entry for entry in entries if entry.partition("=")[0].strip().strip('"') not in values]
    kept += [_entry(name, value) for name, value in values.items() if value is not None]
    new = f"{opening}{', '.join(kept)}{closing}" if kept else ""
    return start, end, new if at >= 0 or not new else f"{new} "


def _entry(name: str, value: str) -> str:
    # Names with a dash and the like must be quoted; quotes around any other name do no harm.
    return f'"{name}"' if value == "unit" else f'"{name}" = {value}'


def _check_belongs(module: Module, operation: Operation) -> None:
    root = operation
    while (parent := root.parent) is not None:
        root = parent
    if root is not module.operation or operation is root:
        raise ValueError(f"{operation!r} is not an operation inside of {module!r}")


def _check_removable(module: Module, removed: set[Operation]) -> None:
    results = {value for operation in removed for value in operation.results}
    for operation in module.walk() if results else ():
        used = next((value for value in operation.operands if value in results), None)
        if used is not None and not _taken_out(operation, removed):
            raise _refusal(module, operation, f"{used.name} is used here; what makes it cannot be taken out")
    for operation in removed:
        block = operation.block
        if block and block.operations[-1] is operation and operation.parent is not module.operation:
            raise _refusal(module, operation, "the last operation of a block cannot be taken out")


def _taken_out(operation: Operation | None, removed: set[Operation]) -> bool:
    while operation is not None and operation not in removed:
        operation = operation.parent
    return operation is not None


def _refusal(module: Module, operation: Operation, message: str) -> FencepostError:
    if module.source and operation.span:
        return FencepostError(message, [Mark(operation.span)], code="FP407", source=module.source)
    end = min(operation.extent.end, module.text.find("\n", operation.start))
    span = span_of(module.text, operation.start, max(end, operation.start + 1))
    return FencepostError(message, [Mark(span)], code="FP407", source=Source(module.name, module.text))
