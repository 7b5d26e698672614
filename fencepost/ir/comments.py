"""Comments of the text form, kept with what they stand beside, so that rewriting a file loses none.

A comment behind a statement belongs to it. A comment on a line of its own, or behind a brace or label,
belongs to the next statement or to the end of the region. Comments outside of a kernel belong to the
file, not to it: `str(kernel)` leaves them out, `print_file` does not.
"""

from __future__ import annotations

from bisect import bisect_right

from fencepost.ir.buffers import Buffer
from fencepost.ir.ops import Operation
from fencepost.ir.source import Source
from fencepost.ir.trace import Body, Graph


def attach_file_comments(source: Source, kernels: list[Body], extents: list[tuple[int, int]]) -> None:
    """Give each kernel or function the lines between it and the one before, and the last one those below it."""
    above = 0
    for kernel, (first, last) in zip(kernels, extents, strict=True):
        kernel.heading = _between(source, above, first)
        above = last
    if kernels:
        kernels[-1].closing = _between(source, above, source.text.count("\n") + 2)


def _between(source: Source, above: int, below: int) -> tuple[str, ...]:
    text = "\n".join(source.line(number).strip() for number in range(above + 1, below))
    return tuple(text.strip().split("\n")) if text.strip() else ()


def attach_comments(trace: Body, extent: tuple[int, int], ends: list[tuple[int, Graph]]) -> None:
    """Hang the comments on the lines of `extent` onto operations; `ends` tells on which line graphs end."""
    source = trace.source
    if source is None or "#" not in source.text:
        return
    starts: dict[int, Operation | Buffer] = {
        buffer.span.line: buffer for buffer in trace.buffers.values() if buffer.span
    }
    for op in trace.preorder_walk():
        if op.span:
            starts.setdefault(op.span.line, op)
    # What follows a comment line: an operation, a buffer or the end of a graph, whichever comes first.
    stops: list[tuple[int, Operation | Buffer | Graph]] = [*starts.items(), *ends]
    stops.sort(key=lambda stop: stop[0])
    lines = [line for line, _ in stops]
    lines_of: dict[int, list[str]] = {}
    for number in range(extent[0], extent[1] + 1):
        code, mark, text = source.line(number).partition("#")
        if not mark:
            continue
        text = text.strip()
        if code.strip() and number in starts:
            starts[number].comment = text
            continue
        lines_of.setdefault(bisect_right(lines, number), []).append(text)
    for place, texts in lines_of.items():
        following = stops[place][1] if place < len(stops) else trace.blocks[-1]
        if isinstance(following, Graph):
            following.closing = (*following.closing, *texts)
        else:
            following.heading = tuple(texts)
