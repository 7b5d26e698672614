"""Statements to kernels: names get their meaning, and what does not fit is refused where it stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View, check_view
from fencepost.ir.comments import attach_comments, attach_file_comments
from fencepost.ir.expr import Compare, Condition, Expr, Var, depth, leaves
from fencepost.ir.graph import Graph
from fencepost.ir.source import FencepostError, Mark, Source, Span
from fencepost.ir.syntax import Operand, Statement, integer, read_statements
from fencepost.ir.syntax_errors import token_span
from fencepost.ir.trace import CapturedTrace

if TYPE_CHECKING:
    from lark.lexer import Token

MEMORY_OPS: dict[str, type[ops.MemoryOperation]] = {
    op.mnemonic: op for op in (ops.Read, ops.Write, ops.AtomicOp, ops.GatherToLDS, ops.TensorLoadToLDS)
}
MAX_DEPTH = 64
"""Expressions nested deeper than this are refused rather than risked on Python's stack."""
MAX_BYTES = 2**40
VALUE_OPS: dict[str, type[ops.ValueOperation]] = {
    op.mnemonic: op for op in (ops.GlobalRead, ops.GlobalWrite, ops.MMA, ops.Compute)
}


def parse(text: str, name: str = "<text>") -> CapturedTrace:
    """The one kernel in `text`."""
    kernels = parse_all(text, name)
    if len(kernels) != 1:
        second = kernels[1].blocks[0].span if kernels else None
        raise FencepostError(
            f"{len(kernels)} kernels where one was expected",
            [Mark(second, "the second one")],
            code="FP102",
            source=Source(name, text),
        )
    return kernels[0]


def parse_all(text: str, name: str = "<text>") -> list[CapturedTrace]:
    """Every kernel in `text`, in order."""
    source = Source(name, text)
    try:
        statements = read_statements(source)
        kernels = [_Elaboration(source).kernel(statement) for statement in statements]
        _distinct(kernels)
        attach_file_comments(source, kernels, [(kernel.line, kernel.end_line) for kernel in statements])
    except FencepostError as error:
        error.source = source
        raise
    return kernels


def _distinct(kernels: Iterable[CapturedTrace]) -> None:
    seen: dict[str, Span | None] = {}
    for kernel in kernels:
        span = kernel.blocks[0].span
        if kernel.name in seen:
            raise FencepostError(
                f"a second kernel is called @{kernel.name}",
                [Mark(span), Mark(seen[kernel.name], "the first one")],
                code="FP102",
            )
        seen[kernel.name] = span


@dataclass(slots=True)
class _Elaboration:
    """The names of one kernel while it is put together."""

    source: Source
    buffers: dict[str, Buffer] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    values: dict[str, ops.ValueOperation] = field(default_factory=dict)
    unresolved: list[tuple[ops.ValueOperation, list[Operand]]] = field(default_factory=list)
    targets: list[Token] = field(default_factory=list)
    """The labels that branches name."""
    scope: list[str] = field(default_factory=list)
    """The variables of the loops around the statement at hand."""
    flags: dict[str, Span] = field(default_factory=dict)
    regions: int = 0

    def kernel(self, statement: Statement) -> CapturedTrace:
        _, name, waves, *rest, _ = statement.parts
        if not 1 <= integer(waves) <= 64:
            raise FencepostError(f"{waves} waves; a workgroup has 1 to 64", [Mark(token_span(waves))])
        trace = CapturedTrace(name[1:], int(waves), self.buffers, [], self.source)
        ends: list[tuple[int, Graph]] = []
        for part in rest:
            if isinstance(part, list):
                graph = Graph("entry", span=self.span(statement))
                self.fill(graph, part, ends)
                trace.blocks.append(graph)
            elif part.rule == "buffer":
                self.buffer(part)
            else:
                label, body = part.parts
                graph = Graph(label[1:], span=token_span(label))
                self.name(label)
                ends.append((part.line, trace.blocks[-1]))
                self.fill(graph, body, ends)
                trace.blocks.append(graph)
        ends.append((statement.end_line, trace.blocks[-1]))
        self.resolve(trace)
        attach_comments(trace, (statement.line, statement.end_line), ends)
        return trace

    def name(self, name: Token) -> None:
        """Claim a name, sigil included; buffers, loop variables and values never share one."""
        if name in self.spans:
            raise FencepostError(
                f"the name {name} is already taken",
                [Mark(token_span(name)), Mark(self.spans[name], "first defined here")],
                code="FP104",
            )
        self.spans[name] = token_span(name)

    def span(self, statement: Statement) -> Span:
        """The first line of a statement, without the brace that opens its body."""
        code = self.source.line(statement.line).partition("#")[0].rstrip()
        if code.endswith("{"):
            code = code[:-1].rstrip()
        return Span(statement.line, statement.column, statement.line, max(len(code), statement.column) + 1)

    def buffer(self, statement: Statement) -> None:
        _, name, slots, size, offset = statement.parts
        count, each, span = 1 if slots is None else integer(slots), integer(size), self.span(statement)
        if each < 1 or count < 1:
            least = slots if count < 1 else size
            raise FencepostError(
                "a buffer has at least one slot of at least one byte", [Mark(token_span(least))]
            )
        if count * each > MAX_BYTES:
            raise FencepostError(f"{name} has {count * each} bytes, more than a terabyte", [Mark(span)])
        self.name(name)
        place = None if offset is None else integer(offset)
        self.buffers[name[1:]] = Buffer(name[1:], each, count, place, span)

    # ------------------------------------------------------------ statements

    def fill(self, graph: Graph, statements: list[Statement], ends: list[tuple[int, Graph]]) -> None:
        """Put `statements` and what is nested in them into `graph`, without recursion: kernels nest deep."""
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
            self.define(op, name, [operand for operand in operands if operand])
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
                    raise FencepostError(f"counter {counter!r} twice", [Mark(at)], code="FP105")
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
            if not views and values:
                raise self.no_buffer(values[0])
            wanted = "at least one buffer" if kind is ops.TensorLoadToLDS else "one buffer"
            raise FencepostError(
                f"{mnemonic} takes {wanted}, not {len(views) or 'none'}", [Mark(span)], code="FP105"
            )
        op = kind(tuple(views), span=span)
        given: set[str] = set()
        for key, value, at in (part for part in rest if isinstance(part, tuple)):
            if key in given:
                raise FencepostError(f"attribute {key!r} twice", [Mark(at)], code="FP105")
            given.add(key)
            if key == "group":
                op.group = value
            elif key == "counter" and isinstance(op, ops.AsyncCopy):
                if value == ops.LDS_COUNTER:
                    raise FencepostError(
                        f"{value!r} counts plain accesses; an async copy needs a counter of its own",
                        [Mark(at)],
                        code="FP105",
                    )
                op.counter = value
            else:
                raise FencepostError(f"{mnemonic} has no attribute {key!r}", [Mark(at)], code="FP105")
        self.define(op, name, values)
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
        self.name(var)
        stride = 1 if step is None else integer(step)
        if stride < 1:
            raise FencepostError("a loop's step is at least 1", [Mark(token_span(step))])
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
        if statement.rule == "br":
            target = statement.parts[1]
            self.targets.append(target)
            return ops.Branch(target[1:], span=span)
        _, condition, then, orelse, trip = statement.parts
        condition = self.condition(condition, span)
        expected = None if trip is None else integer(trip)
        self.targets += (then, orelse)
        return ops.CondBranch(condition, then[1:], orelse[1:], expected, span=span)

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

    def define(self, op: ops.ValueOperation, name: Token | None, operands: list[Operand]) -> None:
        if name is not None:
            op.name = name[1:]
            self.name(name)
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
                    raise self.no_buffer(operand)
            op.uses = tuple(self.values[operand.name] for operand in operands)
        for flag, span in self.flags.items():
            if f"%{flag}" in self.spans and flag not in self.values:
                raise FencepostError(
                    f"%{flag} is {self.kind(flag)}, which is no condition",
                    [Mark(span), Mark(self.spans[f"%{flag}"], "defined here")],
                    code="FP104",
                    notes=[("help", f"compare it: `%{flag} == 0`")] if flag not in self.buffers else [],
                )
        labels = [graph.name for graph in trace.blocks[1:]]
        for target in self.targets:
            if target[1:] not in labels:
                raise FencepostError(
                    f"there is no block {target}",
                    [Mark(token_span(target))],
                    code="FP104",
                    notes=[("blocks", ", ".join(f"^{label}" for label in labels) or "none")],
                )

    def kind(self, name: str) -> str:
        """What a name that is taken stands for."""
        if name in self.buffers:
            return "a buffer"
        return "a value" if name in self.values else "a loop variable"

    def no_buffer(self, operand: Operand) -> FencepostError:
        """A complaint about an operand that stands where a buffer must."""
        known = ", ".join(f"%{name}" for name in self.buffers) or "none"
        return self.wrong_kind(operand, "buffer", [("buffers", known)])

    def no_value(self, operand: Operand) -> FencepostError:
        """A complaint about an operand that stands where a value must."""
        if operand.subscripts and operand.name not in self.buffers:
            return self.no_buffer(operand)
        return self.wrong_kind(operand, "value", [])

    def wrong_kind(self, operand: Operand, wanted: str, notes: list[tuple[str, str]]) -> FencepostError:
        defined = self.spans.get(f"%{operand.name}")
        if defined is None:
            return FencepostError(
                f"there is no {wanted} %{operand.name}", [Mark(operand.span)], code="FP104", notes=notes
            )
        return FencepostError(
            f"%{operand.name} is {self.kind(operand.name)}; a {wanted} is wanted here",
            [Mark(operand.span), Mark(defined, "defined here")],
            code="FP104",
        )
