"""Kernels to text: the inverse of `parser`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fencepost.ir import ops
from fencepost.ir.graph import Graph
from fencepost.ir.source import Source, Span
from fencepost.ir.trace import CapturedTrace

INDENT = "  "


def print_kernel(trace: CapturedTrace) -> str:
    """The kernel as text, one statement a line, ending in a newline."""
    return "\n".join(line for line, _ in _lines(trace)) + "\n"


def print_file(traces: Sequence[CapturedTrace]) -> str:
    """The kernels as one file, with the comments that stood around them in theirs."""
    parts = []
    for trace in traces:
        parts.append("".join(f"{line}\n" for line in trace.heading) + print_kernel(trace))
        if trace.closing:
            parts.append("".join(f"{line}\n" for line in trace.closing))
    return "\n".join(parts)


def locate(trace: CapturedTrace, name: str = "") -> tuple[Source, dict[ops.Operation, Span]]:
    """The kernel's text and where in it each operation stands: for kernels that came from no file."""
    lines: list[str] = []
    spans: dict[ops.Operation, Span] = {}
    for line, op in _lines(trace):
        lines.append(line)
        if op is not None:
            column = len(line) - len(line.lstrip()) + 1
            end = len(line.split("  #")[0].rstrip("{").rstrip()) + 1
            spans[op] = Span(len(lines), column, len(lines), end)
    return Source(name or f"@{trace.name}", "\n".join(lines) + "\n"), spans


def _lines(trace: CapturedTrace) -> Iterator[tuple[str, ops.Operation | None]]:
    yield f"kernel @{trace.name} waves={trace.waves} {{", None
    for buffer in trace.buffers.values():
        for text in buffer.heading:
            yield _comment_line(text, 1), None
        yield _with_comment(f"{INDENT}{buffer}", buffer.comment), None
    for number, block in enumerate(trace.blocks):
        if number:
            yield f"^{block.name}:", None
        yield from _graph_lines(block)
    yield "}", None


def _graph_lines(graph: Graph) -> Iterator[tuple[str, ops.Operation | None]]:
    """Without recursion: kernels nest deeper than Python's stack."""
    todo: list[Iterator[ops.Operation] | tuple[Graph, str]] = [(graph, ""), iter(graph)]
    depth = 1
    while todo:
        here = todo[-1]
        if isinstance(here, tuple):
            finished, end = here
            todo.pop()
            for text in finished.closing:
                yield _comment_line(text, depth), None
            depth -= 1
            if end:
                yield INDENT * depth + end, None
                depth += end.endswith("{")
            continue
        op = next(here, None)
        if op is None:
            todo.pop()
            continue
        for text in op.heading:
            yield _comment_line(text, depth), None
        yield _with_comment(INDENT * depth + statement(op), op.comment), op
        if isinstance(op, ops.Iterate):
            todo += [(op.body, "}"), iter(op.body)]
            depth += 1
        elif isinstance(op, ops.Conditional):
            if op.orelse.first is not None or op.orelse.closing:
                todo += [(op.orelse, "}"), iter(op.orelse), (op.then, "} else {"), iter(op.then)]
            else:
                todo += [(op.then, "}"), iter(op.then)]
            depth += 1


def _with_comment(line: str, comment: str) -> str:
    return f"{line}  # {comment}" if comment else line


def _comment_line(text: str, depth: int) -> str:
    return f"{INDENT * depth}# {text}".rstrip()


def statement(op: ops.Operation) -> str:
    """One operation without what is nested in it."""
    if isinstance(op, ops.ValueOperation):
        return _value_statement(op)
    if isinstance(op, ops.SharedMemoryBarrier):
        return "barrier async" if op.wait_async_ops else "barrier"
    if isinstance(op, ops.SharedMemoryBarrierSignal | ops.SharedMemoryBarrierWait):
        return op.mnemonic if op.bar_id == ops.WORKGROUP else f"{op.mnemonic} {op.bar_id}"
    if isinstance(op, ops.MemoryCounterWait):
        return " ".join([op.mnemonic, *(f"{counter}={count}" for counter, count in op.counts.items())])
    if isinstance(op, ops.Iterate):
        stop = "?" if op.stop is None else str(op.stop)
        step = "" if op.step == 1 else f" step {op.step}"
        return f"loop %{op.var} in {op.start}..{stop}{step} {{"
    if isinstance(op, ops.Conditional):
        return f"if {op.condition} {{"
    if isinstance(op, ops.Branch):
        return f"br ^{op.target}"
    if isinstance(op, ops.CondBranch):
        trip = "" if op.trip is None else f" trip={op.trip}"
        return f"cond_br {op.condition}, ^{op.then}, ^{op.orelse}{trip}"
    return op.mnemonic


def _value_statement(op: ops.ValueOperation) -> str:
    result = f"%{op.name} = " if op.name else ""
    operands = [f"%{used.name}" for used in op.uses]
    attributes = ""
    if isinstance(op, ops.MemoryOperation):
        operands = [str(view) for view in op.views] + operands
        if op.group:
            attributes += f" group={op.group}"
        if isinstance(op, ops.AsyncCopy) and op.counter != op.default_counter:
            attributes += f" counter={op.counter}"
    arguments = f" {', '.join(operands)}" if operands else ""
    return f"{result}{op.mnemonic}{arguments}{attributes}"
