"""Kernels to text: the inverse of `parser`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import singledispatch

from fencepost.ir import ops
from fencepost.ir.loop_carried import spelled
from fencepost.ir.mbarrier_statements import spelled_arrival, spelled_mbarrier
from fencepost.ir.source import Source, Span
from fencepost.ir.trace import Body, CapturedTrace, Graph

INDENT = "  "


def print_kernel(trace: CapturedTrace) -> str:
    """The kernel as text, one statement a line, ending in a newline; the functions that it calls come first."""
    return "\n".join(_text(body) for body in (*trace.functions(), trace))


def _text(body: Body) -> str:
    return "\n".join(line for line, _ in _lines(body)) + "\n"


def print_file(traces: Sequence[CapturedTrace]) -> str:
    """The kernels as one file, with the functions and comments that stood around them in theirs."""
    placed = {function for trace in traces for function in (*trace.above, *trace.below)}
    bodies: dict[Body, None] = {}
    for trace in traces:
        for body in (*trace.above, trace, *trace.below):
            # Functions that came from elsewhere stand above what calls them.
            bodies.update((function, None) for function in body.functions() if function not in placed)
            bodies[body] = None
    parts = []
    for body in bodies:
        parts.append("".join(f"{line}\n" for line in body.heading) + _text(body))
        if body.closing:
            parts.append("".join(f"{line}\n" for line in body.closing))
    return "\n".join(parts)


def locate(trace: CapturedTrace, name: str = "") -> tuple[Source, dict[ops.Operation, Span]]:
    """The kernel's text and where in it each operation stands: for kernels that came from no file."""
    lines: list[str] = []
    spans: dict[ops.Operation, Span] = {}
    for number, body in enumerate((*trace.functions(), trace)):
        if number:
            lines.append("")
        for line, op in _lines(body):
            lines.append(line)
            if op is not None:
                column = len(line) - len(line.lstrip()) + 1
                end = len(line.split("  #")[0].rstrip("{").rstrip()) + 1
                spans[op] = Span(len(lines), column, len(lines), end)
    return Source(name or f"@{trace.name}", "\n".join(lines) + "\n"), spans


def _lines(trace: Body) -> Iterator[tuple[str, ops.Operation | None]]:
    if isinstance(trace, CapturedTrace):
        yield f"kernel @{trace.name} waves={trace.waves} {{", None
    else:
        yield f"func @{trace.name} {{", None
    for buffer in trace.buffers.values():
        for text in buffer.heading:
            yield _comment_line(text, 1), None
        yield _with_comment(f"{INDENT}{buffer}", buffer.comment), None
    if isinstance(trace, CapturedTrace):
        for name in trace.numbers:
            yield f"{INDENT}param %{name}", None
    for number, block in enumerate(trace.blocks):
        if number:
            params = ", ".join(f"%{name.name}" for name in block.params)
            yield f"^{block.name}{f'({params})' if params else ''}:", None
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


@singledispatch
def statement(op: ops.Operation) -> str:
    """One operation without what is nested in it."""
    return op.mnemonic


@statement.register
def _barrier_statement(op: ops.SharedMemoryBarrier) -> str:
    some = [f"waves {op.waves[0]}..{op.waves[1]}"] if op.waves is not None else []
    drains = ["async"] if op.wait_async_ops else []
    return " ".join([op.mnemonic, *drains, *some, *_waits(op, op.counts)])


statement.register(ops.MbarrierOperation, spelled_mbarrier)


@statement.register
def _half_statement(op: ops.SharedMemoryBarrierSignal | ops.SharedMemoryBarrierWait) -> str:
    return op.mnemonic if op.bar_id == ops.WORKGROUP else f"{op.mnemonic} {op.bar_id}"


@statement.register
def _wait_statement(op: ops.MemoryCounterWait) -> str:
    result = f"%{op.name} = " if op.name else ""
    return result + " ".join([op.mnemonic, *_waits(op, op.counts)])


@statement.register
def _loop_statement(op: ops.Iterate) -> str:
    stop = (f"%{op.upto}" if op.upto else "?") if op.stop is None else str(op.stop)
    step = "" if op.step == 1 else f" step {op.step}"
    carried = ", ".join(
        f"%{name.name} = {spelled(name.init)}" for name in op.carried if name.init is not None
    )
    carry = f" carry {carried}" if carried else ""
    return f"loop %{op.var} in {op.start}..{stop}{step}{_expected(op)}{carry} {{"


@statement.register
def _conditional_statement(op: ops.Conditional) -> str:
    names = ", ".join(f"%{name.name}" for name in op.gives)
    gives = f" gives {names}" if names else ""
    return f"if {op.condition}{_expected(op)}{gives} {{"


@statement.register
def _yield_statement(op: ops.Next | ops.Give) -> str:
    return f"{op.mnemonic} {', '.join(spelled(value) for value in op.values)}"


@statement.register
def _commit_statement(op: ops.CommitGroup) -> str:
    return f"{op.mnemonic} {op.counter}"


@statement.register
def _priority_statement(op: ops.SetWavePrio) -> str:
    return f"{op.mnemonic} {op.priority}"


@statement.register
def _call_statement(op: ops.Call) -> str:
    frame = f" at {op.frame}" if op.frame else ""
    return f"{op.mnemonic} @{op.function.name}{frame}"


@statement.register
def _branch_statement(op: ops.Branch) -> str:
    args = ", ".join(str(number) for number in op.args)
    return f"br ^{op.target}{f'({args})' if args else ''}"


@statement.register
def _conditional_branch_statement(op: ops.CondBranch) -> str:
    trip = "" if op.trip is None else f" trip={op.trip}"
    return f"cond_br {op.condition}, ^{op.then}, ^{op.orelse}{trip}{_expected(op)}"


@statement.register
def _sync_statement(op: ops.SyncOperation) -> str:
    return op.mnemonic


def _waits(op: ops.SyncOperation, counts: dict[str, int]) -> list[str]:
    after = [f"after {', '.join(f'%{used.name}' for used in op.uses)}"] if op.uses else []
    return after + [f"{counter}={count}" for counter, count in counts.items()]


@statement.register
def _value_statement(op: ops.ValueOperation) -> str:
    result = f"%{op.name} = " if op.name else ""
    operands = [f"%{used.name}" for used in op.uses]
    attributes = ""
    if isinstance(op, ops.MemoryOperation):
        operands = [str(view) for view in op.views] + operands
        if op.group:
            attributes += f" group={op.group}"
        if isinstance(op, ops.AtomicOp) and op.update:
            attributes += f" update={op.update}"
    if (
        isinstance(op, (ops.AsyncOperation, ops.GlobalRead, ops.GlobalWrite))
        and op.counter != op.default_counter
    ):
        attributes += f" counter={op.counter}"
    if isinstance(op, ops.AsyncOperation) and op.arrives is not None:
        attributes += spelled_arrival(op.arrives)
    arguments = f" {', '.join(operands)}" if operands else ""
    return f"{result}{op.mnemonic}{arguments}{attributes}"


def _expected(op: ops.Iterate | ops.Conditional | ops.CondBranch) -> str:
    """How the text form writes what is expected, with a space in front; nothing if nothing is."""
    if op.expect is None:
        return ""
    if isinstance(op, ops.Iterate):
        return f" expect={op.expect:d}"
    # The shortest digits that mean this number, without an exponent; and no zero has a sign.
    digits = f"{Decimal(repr(float(op.expect) + 0.0)):f}"
    return f" expect={digits.rstrip('0').rstrip('.') if '.' in digits else digits}"
