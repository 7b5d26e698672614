"""Where things were written: lines of the user's Python.

Wave notes for each node the place of the user's call. Reports on a kernel quote that place: the kernel's source is
the file that most of its accesses come from, and what comes from elsewhere is shown by file and line.
"""

from __future__ import annotations

import linecache
import os
from collections import Counter
from pathlib import Path
from typing import Any

from fencepost.hosts.wave.nodes import Node
from fencepost.ir import ops
from fencepost.ir.source import Source, Span
from fencepost.ir.trace import CapturedTrace


def name_origins(kernel: CapturedTrace) -> None:
    """Say for each operation of a translated kernel where the user wrote it."""
    every = list(kernel.preorder_walk())
    for op in every:
        op.written = where(op.host)
    files = Counter(file_of(op.host) for op in every if isinstance(op, ops.MemoryOperation))
    files.pop("", None)
    for file, _ in files.most_common(1):
        text = "".join(linecache.getlines(file))
        if text:
            kernel.source = Source(_shown(file), text)
            for op in every:
                op.span = span_of(op.host) if file_of(op.host) == file else None


def where(node: Node) -> str:
    """Where a node comes from: a line of the user's source, as far as the trace says."""
    frame = _frame(node)
    line = _first(getattr(frame, "line", None))
    return f"{Path(file_of(node)).name}:{line}" if file_of(node) else ""


def file_of(node: Node) -> str:
    """The file that a node comes from; empty if the trace does not say."""
    return getattr(_frame(node), "filename", None) or ""


def line_of(node: Node) -> str:
    """The user's line that a node comes from; empty if that is not known."""
    line = _first(getattr(_frame(node), "line", None))
    return linecache.getline(file_of(node), line) if file_of(node) and line else ""


def span_of(node: Node) -> Span | None:
    """The user's call that a node comes from. Wave counts columns from 0, and old Pythons say no columns at all."""
    frame = _frame(node)
    lines, columns = getattr(frame, "line", None), getattr(frame, "col", None)
    line, end_line = _first(lines), _last(lines)
    if line is None or end_line is None:
        return None
    column, end_column = _first(columns) or 0, _last(columns) or 0
    if (end_line, end_column) <= (line, column):
        end_line, end_column = line, column + 1
    return Span(line, column + 1, end_line, end_column + 1)


def _frame(node: Node) -> Any:
    location = getattr(node, "location", None)
    frames = getattr(location, "frames", None)
    return frames[0] if frames else location


def _first(place: Any) -> int | None:
    found: int | None = place[0] if isinstance(place, tuple) else place
    return found


def _last(place: Any) -> int | None:
    found: int | None = place[-1] if isinstance(place, tuple) else place
    return found


def _shown(file: str) -> str:
    """A file as the user would name it."""
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else relative
