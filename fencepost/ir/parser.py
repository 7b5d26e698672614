"""Statements to kernels: names get their meaning, and what does not fit is refused where it stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View, check_view
from fencepost.ir.comments import attach_comments
from fencepost.ir.expr import Compare, Condition, Expr, Var, depth, leaves
from fencepost.ir.graph import Graph
from fencepost.ir.source import FencepostError, Mark, Source, Span
from fencepost.ir.syntax import Operand, Statement, integer, read_statements
from fencepost.ir.trace import CapturedTrace

MEMORY_OPS: dict[str, type[ops.MemoryOperation]] = {
    op.mnemonic: op for op in (ops.Read, ops.Write, ops.AtomicOp, ops.GatherToLDS, ops.TensorLoadToLDS)
}
MAX_DEPTH = 64
"""Expressions nested deeper than this are refused rather than risked on Python's stack."""
VALUE_OPS: dict[str, type[ops.ValueOperation]] = {
    op.mnemonic: op for op in (ops.GlobalRead, ops.GlobalWrite, ops.MMA, ops.Compute)
}


def parse(text: str, name: str = "<text>") -> CapturedTrace:
    """The one kernel in `text`."""
    kernels = parse_all(text, name)
    if len(kernels) != 1:
        raise FencepostError(
            f"{len(kernels)} kernels where one was expected", code="FP102", source=Source(name, text)
        )
    return kernels[0]


def parse_all(text: str, name: str = "<text>") -> list[CapturedTrace]:
    """Every kernel in `text`, in order."""
    source = Source(name, text)
    try:
        kernels = [_Elaboration(source).kernel(statement) for statement in read_statements(source)]
        _distinct(kernels)
    except FencepostError as error:
        error.source = source
        raise
    return kernels


def _distinct(kernels: Iterable[CapturedTrace]) -> None:
    seen: set[str] = set()
    for kernel in kernels:
        if kernel.name in seen:
            raise FencepostError(f"a second kernel is called @{kernel.name}", code="FP102")
        seen.add(kernel.name)


@dataclass(slots=True)
class _Elaboration:
    """The names of one kernel while it is put together."""

    source: Source
    buffers: dict[str, Buffer] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    values: dict[str, ops.ValueOperation] = field(default_factory=dict)
    unresolved: list[tuple[ops.ValueOperation, list[Operand]]] = field(default_factory=list)
    branches: list[ops.Branch | ops.CondBranch] = field(default_factory=list)
    scope: list[str] = field(default_factory=list)
    """The variables of the loops around the statement at hand."""
    flags: dict[str, Span] = field(default_factory=dict)
    regions: int = 0

    def kernel(self, statement: Statement) -> CapturedTrace:
        _, name, waves, *rest, _ = statement.parts
        if not 1 <= integer(waves) <= 64:
            raise FencepostError(f"{waves} waves; a workgroup has 1 to 64", [Mark(self.span(statement))])
        trace = CapturedTrace(name[1:], int(waves), self.buffers, [], self.source)
        ends: list[tuple[int, Graph]] = []
        for part in rest:
            if isinstance(part, list):
                graph = Graph("entry")
                self.fill(graph, part, ends)
                trace.blocks.append(graph)
            elif part.rule == "buffer":
                self.buffer(part)
            else:
                label, body = part.parts
                graph = Graph(label[1:])
                self.name(label, self.span(part))
                ends.append((part.line, trace.blocks[-1]))
                self.fill(graph, body, ends)
                trace.blocks.append(graph)
        ends.append((statement.end_line, trace.blocks[-1]))
        self.resolve(trace)
        attach_comments(trace, (statement.line, statement.end_line), ends)
        return trace

    def name(self, name: str, span: Span) -> None:
        """Claim a name, sigil included; buffers, loop variables and values never share one."""
        if name in self.spans:
            raise FencepostError(
                f"the name {name} is already taken",
                [Mark(span), Mark(self.spans[name], "first used here")],
                code="FP104",
            )
        self.spans[name] = span

    def span(self, statement: Statement) -> Span:
        """The first line of a statement, without the brace that opens its body."""
        code = self.source.line(statement.line).partition("#")[0].rstrip()
        if code.endswith("{"):
            code = code[:-1].rstrip()
        return Span(statement.line, statement.column, statement.line, max(len(code), statement.column) + 1)

    def buffer(self, statement: Statement) -> None:
        _, name, slots, size, offset = statement.parts
        count, each, span = 1 if slots is None else integer(slots), integer(size), self.span(statement)
        if each < 1 or count < 1 or count * each > 2**40:
            raise FencepostError(
                "a buffer has at least one slot of at least one byte, and less than a terabyte", [Mark(span)]
            )
        self.name(name, span)
        place = None if offset is None else integer(offset)
        self.buffers[name[1:]] = Buffer(name[1:], each, count, place, span)

    # ------------------------------------------------------------ statements

    def fill(self, graph: Graph, statements: list[Statement], ends: list[tuple[int, Graph]]) -> None:
        """Put `statements` and everything nested in them into `graph`, without recursion: kernels nest deep."""
        todo: list[tuple[Graph, Any]] = [(graph, iter(statements))]
        while todo:
            into, rest = todo[-1]
            statement = next(rest, None)
            if statement is None:
                todo.pop()
                if isinstance(into.owner, ops.Iterate):
                    self.scope.pop()
            elif statement.rule == "loop":
                loop = self.loop(statement)
                into.append(loop)
                ends.append((statement.end_line, loop.body))
                todo.append((loop.body, iter(statement.parts[5])))
            elif statement.rule == "conditional":
                conditional = self.conditional(statement)
                into.append(conditional)
                _, _, then, closed, orelse, _ = statement.parts
                ends.append((closed.line, conditional.then))
                ends.append(
                    (statement.end_line, conditional.orelse if orelse is not None else conditional.then)
                )
                if orelse is not None:
                    todo.append((conditional.orelse, iter(orelse)))
                todo.append((conditional.then, iter(then)))
            else:
                into.append(self.simple(statement))

    def simple(self, statement: Statement) -> ops.Operation:
        rule, parts = statement.rule, statement.parts
        if rule == "memory":
            return self.memory(statement)
        span = self.span(statement)
        if rule == "value":
            name, mnemonic, *operands = parts
            op = VALUE_OPS[mnemonic](span=span)
            self.define(op, name, [operand for operand in operands if operand], span)
            return op
        if rule == "barrier":
            return ops.SharedMemoryBarrier(parts[1] is not None, span=span)
        if rule == "workgroup_barrier":
            return ops.WorkgroupBarrier(span=span)
        if rule in ("signal", "wait"):
            bar_id = ops.WORKGROUP if parts[1] is None else parts[1]
            if bar_id < ops.WORKGROUP:
                raise FencepostError("barrier ids are -1 (the workgroup's) and up", [Mark(span)])
            kind = ops.SharedMemoryBarrierSignal if rule == "signal" else ops.SharedMemoryBarrierWait
            return kind(bar_id, span=span)
        if rule == "wait_count":
            counts: dict[str, int] = {}
            for counter, count, at in parts[1:]:
                if counter in counts:
                    raise FencepostError(f"counter {counter!r} twice", [Mark(at)], code="FP104")
                counts[counter] = count
            return ops.MemoryCounterWait(counts, span=span)
        return self.terminator(statement, span)

    def memory(self, statement: Statement) -> ops.Operation:
        name, mnemonic, *rest = statement.parts
        kind, span = MEMORY_OPS[mnemonic], self.span(statement)
        views: list[View] = []
        values: list[Operand] = []
        for operand in rest:
            if isinstance(operand, Operand):
                if operand.name in self.buffers:
                    views.append(self.view(operand))
                else:
                    values.append(operand)
        if not views or (len(views) > 1 and kind is not ops.TensorLoadToLDS):
            wanted = "at least one buffer" if kind is ops.TensorLoadToLDS else "one buffer"
            stray = next((value for value in values if f"%{value.name}" not in self.spans), None)
            if not views and stray is not None:
                raise self.no_buffer(stray)
            raise FencepostError(f"{mnemonic} takes {wanted}", [Mark(span)], code="FP105")
        op = kind(tuple(views), span=span)
        for key, value, at in (part for part in rest if isinstance(part, tuple)):
            if key == "group":
                op.group = value
            elif key == "counter" and isinstance(op, ops.AsyncCopy):
                op.counter = value
            else:
                raise FencepostError(f"{mnemonic} has no attribute {key!r}", [Mark(at)], code="FP105")
        self.define(op, name, values, span)
        return op

    def view(self, operand: Operand) -> View:
        buffer, subscripts = self.buffers[operand.name], operand.subscripts
        for expr in (expr for subscript in subscripts for expr in subscript):
            self.loop_variables(expr, operand.span)
        shape = [len(subscript) for subscript in subscripts]
        if shape == []:
            view = buffer.whole()
        elif shape == [1]:
            view = View(buffer, subscripts[0][0])
        elif shape == [2]:
            view = View(buffer, None, *subscripts[0])
        elif shape == [1, 2]:
            view = View(buffer, subscripts[0][0], *subscripts[1])
        else:
            raise FencepostError(
                "a view is %a, %a[slot], %a[lo..hi] or %a[slot][lo..hi]", [Mark(operand.span)], code="FP105"
            )
        check_view(view, operand.span)
        return view

    def loop(self, statement: Statement) -> ops.Iterate:
        _, var, start, stop, step, _, _ = statement.parts
        span = self.span(statement)
        self.name(var, span)
        stride = 1 if step is None else integer(step)
        if stride < 1:
            raise FencepostError("a loop's step is at least 1", [Mark(span)])
        self.scope.append(var[1:])
        loop = ops.Iterate(var[1:], start, stop, stride, body=self.region(), span=span)
        loop.body.owner = loop
        return loop

    def conditional(self, statement: Statement) -> ops.Conditional:
        span = self.span(statement)
        condition = self.condition(statement.parts[1], span)
        op = ops.Conditional(condition, then=self.region(), orelse=self.region(), span=span)
        op.then.owner = op.orelse.owner = op
        return op

    def terminator(self, statement: Statement, span: Span) -> ops.Operation:
        if statement.rule == "return":
            return ops.Return(span=span)
        branch: ops.Branch | ops.CondBranch
        if statement.rule == "br":
            branch = ops.Branch(statement.parts[1][1:], span=span)
        else:
            _, condition, then, orelse, trip = statement.parts
            condition = self.condition(condition, span)
            expected = None if trip is None else integer(trip)
            branch = ops.CondBranch(condition, then[1:], orelse[1:], expected, span=span)
        self.branches.append(branch)
        return branch

    def region(self) -> Graph:
        self.regions += 1
        return Graph(f"region_{self.regions}")

    # ------------------------------------------------------------ names

    def condition(self, condition: Condition, span: Span) -> Condition:
        if isinstance(condition, Compare):
            self.loop_variables(condition, span)
        else:
            self.flags.setdefault(condition.name, span)
        return condition

    def loop_variables(self, expr: Expr | Compare, span: Span) -> None:
        if depth(expr) > MAX_DEPTH:
            raise FencepostError(f"an expression nested more than {MAX_DEPTH} deep", [Mark(span)])
        for leaf in leaves(expr):
            if isinstance(leaf, Var) and leaf.name not in self.scope:
                defined = self.spans.get(str(leaf))
                raise FencepostError(
                    f"{leaf} is not the variable of a loop around this line",
                    [Mark(span), *([Mark(defined, "defined here")] if defined else [])],
                    code="FP104",
                )

    def define(self, op: ops.ValueOperation, name: Any, operands: list[Operand], span: Span) -> None:
        if name is not None:
            op.name = name[1:]
            self.name(name, span)
            self.values[op.name] = op
        if operands:
            self.unresolved.append((op, operands))

    def resolve(self, trace: CapturedTrace) -> None:
        """Give uses and branches their targets; both may stand before what they name."""
        for op, operands in self.unresolved:
            for operand in operands:
                if operand.name not in self.values:
                    raise self.no_value(operand)
                if operand.subscripts:
                    raise FencepostError(
                        f"%{operand.name} is a value, not a buffer", [Mark(operand.span)], code="FP104"
                    )
            op.uses = tuple(self.values[operand.name] for operand in operands)
        for flag, span in self.flags.items():
            if f"%{flag}" in self.spans and flag not in self.values:
                raise FencepostError(
                    f"%{flag} cannot be a condition",
                    [Mark(span), Mark(self.spans[f"%{flag}"], "it is this")],
                    code="FP104",
                )
        labels = {graph.name for graph in trace.blocks[1:]}
        for branch in self.branches:
            targets = [branch.target] if isinstance(branch, ops.Branch) else [branch.then, branch.orelse]
            for target in targets:
                if target not in labels:
                    raise FencepostError(f"there is no block ^{target}", [Mark(branch.span)], code="FP104")

    def no_buffer(self, operand: Operand) -> FencepostError:
        known = ", ".join(f"%{name}" for name in self.buffers) or "none"
        return FencepostError(
            f"there is no buffer %{operand.name}",
            [Mark(operand.span)],
            code="FP104",
            notes=[("buffers", known)],
        )

    def no_value(self, operand: Operand) -> FencepostError:
        if operand.subscripts:
            return self.no_buffer(operand)
        if operand.name in self.buffers:
            return FencepostError(
                f"%{operand.name} is a buffer; a value is wanted here", [Mark(operand.span)], code="FP104"
            )
        return FencepostError(
            f"there is no value or buffer %{operand.name}", [Mark(operand.span)], code="FP104"
        )
