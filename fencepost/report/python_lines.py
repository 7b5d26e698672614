"""A host's kernel by the lines of the Python that it was written in, where these can be read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fencepost.ir import ops
from fencepost.ir.source import Source, Span
from fencepost.ir.trace import CapturedTrace

MOST_OPERATIONS = 2_000
"""Larger kernels are shown by the lines of their module alone: everything is made twice."""
_PLACE = re.compile(r"(?:(.+\.py):|line )(\d+)")
CALLED = ", called from "


@contextmanager
def python_lines(trace: CapturedTrace) -> Iterator[Source | None]:
    """The kernel with its operations on lines of Python, for as long as it is looked at; None if there are none."""
    operations = [op for body in (trace, *trace.functions()) for op in body.preorder_walk()]
    source = _source_of(operations)
    if source is None or len(operations) > MOST_OPERATIONS:
        yield None
        return
    spans, module = [op.span for op in operations], trace.source
    try:
        trace.source = source
        for op, line in zip(operations, _lines_of(operations, source.name), strict=True):
            op.span = _statement(source, line)
        yield source
    finally:
        trace.source = module
        for op, span in zip(operations, spans, strict=True):
            op.span = span


def _statement(source: Source, line: int) -> Span:
    """A line without its indent and the comment behind it."""
    text = source.line(line)
    code = text.partition("  #")[0].rstrip() or text.rstrip()
    indent = len(text) - len(text.lstrip())
    return Span(line, indent + 1, line, max(len(code), indent + 1) + 1)


def _source_of(operations: list[ops.Operation]) -> Source | None:
    """The file that most operations were written in, if it is there and says what it said."""
    files = Counter(place[0] for op in operations if (place := written_at(op)) is not None)
    if not files:
        return None
    name = files.most_common(1)[0][0]
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None  # the module may come from another machine
    last = max(place[1] for op in operations if (place := written_at(op)) is not None and place[0] == name)
    return Source(name, text) if last <= text.count("\n") + 1 else None


def _lines_of(operations: list[ops.Operation], name: str) -> list[int]:
    """A line for each operation: what says nothing of its own stands with what is before it."""
    known = [
        place[1] if (place := written_at(op)) is not None and place[0] == name else None for op in operations
    ]
    line = next(each for each in known if each is not None)
    found = []
    for each in known:
        line = each or line
        found.append(line)
    return found


def written_at(op: ops.Operation) -> tuple[str, int] | None:
    """The Python file and line that an operation comes from; of calls, the outermost: that is the kernel's own."""
    file, line = "", 0
    for words in op.origin.split(CALLED):
        match = _PLACE.fullmatch(words)
        if match is None:
            return None
        file, line = match[1] or file, int(match[2])
    return (file, line) if file else None
