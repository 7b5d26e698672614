"""What was done to kernels in text form, as changes to their text: comments and layout of everything else stay.

`print_file` prints a file anew. Here, only lines of statements that were put in, taken out or changed are touched:

    before = Snapshot.of(kernels)
    ...                                   # barriers are put in
    text = changed_text(source.text, before.changes())
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fencepost.ir import ops
from fencepost.ir.printer import INDENT, statement
from fencepost.ir.source import Source, Span
from fencepost.ir.trace import Body, CapturedTrace, Graph


class NoLineOfItsOwn(ValueError):
    """Something was put where the text has no place for it, such as an `else` that is not written."""


@dataclass(frozen=True, slots=True)
class TextChange:
    """A stretch of a text, which may be empty, and what stands there instead."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The statements of kernels as their text has them."""

    source: Source
    order: dict[Graph, tuple[ops.Operation, ...]]
    """The operations of each region and block, as they were."""
    spelled: dict[ops.Operation, tuple[str, str]]
    """Each barrier and wait with its comment: these may be changed where they stand."""

    @staticmethod
    def of(kernels: Sequence[CapturedTrace]) -> Snapshot:
        """The kernels of one file as they are now."""
        source = kernels[0].source
        assert source is not None, "a kernel that was not read from text has no layout"
        order = {graph: tuple(graph) for body in _bodies(kernels) for graph in _graphs(body)}
        spelled: dict[ops.Operation, tuple[str, str]] = {
            op: (statement(op), op.comment)
            for operations in order.values()
            for op in operations
            if isinstance(op, ops.SyncOperation)
        }
        return Snapshot(source, order, spelled)

    def changes(self) -> list[TextChange]:
        """What was done to the kernels since, from the top of the text to its end."""
        comments = {statement(op): op.comment for op in self._gone() if op.comment}
        found = [change for graph in self.order for change in self._changes_of(graph, comments)]
        return sorted(found, key=lambda change: (change.span.line, change.span.column))

    def _gone(self) -> Iterator[ops.Operation]:
        for graph, before in self.order.items():
            yield from (op for op in before if op.graph is not graph)

    def _changes_of(self, graph: Graph, comments: dict[str, str]) -> Iterator[TextChange]:
        before = self.order[graph]
        known = set(before)
        place = 0
        added: list[ops.Operation] = []
        for op in (*graph, None):
            if op is not None and op not in known:
                added.append(op)
                continue
            end = len(before) if op is None else before.index(op, place)
            gone = list(before[place:end])
            while gone and added and _replaces(added[0], gone[0]):
                yield self._replaced(gone.pop(0), added.pop(0))
            yield from (TextChange(_line_of(each), "") for each in gone)
            lines = [self._line(each, comments) for each in added]
            if lines:
                yield self._put_in(graph, op, before, lines)
            if op is not None:
                yield from self._changed(op)
            place, added = end + 1, []

    def _changed(self, op: ops.Operation) -> Iterator[TextChange]:
        """A barrier or wait that says something else now."""
        if op in self.spelled and statement(op) != self.spelled[op][0]:
            yield self._replaced(op, op)

    def _replaced(self, old: ops.Operation, new: ops.Operation) -> TextChange:
        """A statement in the place of another, whose comment stays; without one, the new one's is written."""
        assert old.span is not None
        had = self.spelled[old][1] if old in self.spelled else old.comment
        comment = f"  # {new.comment}" if new.comment and not had else ""
        return TextChange(old.span, statement(new) + comment)

    def _line(self, op: ops.Operation, comments: dict[str, str]) -> str:
        """A new statement; one that was taken out elsewhere takes its comment along."""
        comment = op.comment or comments.get(statement(op), "")
        return f"{statement(op)}  # {comment}" if comment else statement(op)

    def _put_in(
        self, graph: Graph, before: ops.Operation | None, known: Sequence[ops.Operation], lines: list[str]
    ) -> TextChange:
        """New lines in front of an operation, or at the end of a region."""
        if before is not None:
            assert before.span is not None
            line, margin = before.span.line, self._margin(before)
        elif known:
            line, margin = self._last_line(known[-1]) + 1, self._margin(known[-1])
        else:
            line, margin = self._first_line(graph)
        end = "\r\n" if self.source.text.count("\r\n") else "\n"
        return TextChange(Span(line, 1, line, 1), "".join(f"{margin}{each}{end}" for each in lines))

    def _margin(self, op: ops.Operation) -> str:
        assert op.span is not None
        line = self.source.line(op.span.line)
        return line[: len(line) - len(line.lstrip())]

    def _last_line(self, op: ops.Operation) -> int:
        """The last line of a statement, with what is nested in it."""
        assert op.span is not None
        line = op.span.line
        if not ops.regions(op):
            return line
        return next(number for number, depth in self._depths(line) if depth == 0)

    def _first_line(self, graph: Graph) -> tuple[int, str]:
        """The first line inside of an empty region, and its margin."""
        owner = graph.owner
        if owner is None or owner.span is None:
            raise NoLineOfItsOwn("a kernel without a statement")
        margin = self._margin(owner) + INDENT
        if isinstance(owner, ops.Conditional) and graph is owner.orelse:
            for number, depth in self._depths(owner.span.line):
                if depth == 0:
                    break
                if depth == 1 and self._code(number).startswith("}"):
                    return number + 1, margin
            raise NoLineOfItsOwn("an else that is not written")
        return owner.span.line + 1, margin

    def _depths(self, line: int) -> Iterator[tuple[int, int]]:
        """The lines from one that opens a brace on, and how many braces are open behind each."""
        depth = 0
        for number in range(line, self.source.text.count("\n") + 2):
            code = self._code(number)
            depth += code.count("{") - code.count("}")
            yield number, depth

    def _code(self, number: int) -> str:
        return self.source.line(number).partition("#")[0].strip()


def changed_text(text: str, changes: Iterable[TextChange]) -> str:
    """A text with changes that do not overlap, given from its top to its end."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    if text and not text.endswith("\n"):
        # Behind a last line without an end there is only room once it has one.
        text += "\r\n" if "\r\n" in text else "\n"

    def place(line: int, column: int) -> int:
        return starts[min(line, len(starts)) - 1] + column - 1

    parts: list[str] = []
    last = 0
    for change in changes:
        span = change.span
        parts += [text[last : place(span.line, span.column)], change.text]
        last = place(span.end_line, span.end_column)
    return "".join([*parts, text[last:]])


def _replaces(new: ops.Operation, old: ops.Operation) -> bool:
    """Whether one operation was put in the place of another, as a stronger wait is."""
    return type(new) is type(old) or (
        isinstance(new, ops.SyncOperation) and isinstance(old, ops.SyncOperation)
    )


def _line_of(op: ops.Operation) -> Span:
    """The whole line of a statement, its comment and its end included."""
    assert op.span is not None
    return Span(op.span.line, 1, op.span.line + 1, 1)


def _bodies(kernels: Sequence[CapturedTrace]) -> Iterator[Body]:
    found: dict[Body, None] = {}
    for kernel in kernels:
        for body in (*kernel.above, kernel, *kernel.below):
            found.update(dict.fromkeys((*body.functions(), body)))
    return iter(found)


def _graphs(body: Body) -> Iterator[Graph]:
    """Every block and region."""
    yield from body.blocks
    for op in body.preorder_walk():
        yield from ops.regions(op)
