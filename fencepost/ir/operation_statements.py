"""Statements that stand for one operation each: what they touch and use, and what does not fit refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fencepost.ir import ops
from fencepost.ir.buffers import View, check_view
from fencepost.ir.expr import Expr
from fencepost.ir.limits import check_barrier, check_engine, check_priority, check_some, check_update
from fencepost.ir.mbarrier_statements import arrival, mbarrier
from fencepost.ir.scopes import Names, check_use
from fencepost.ir.source import FencepostError, Mark, Source, Span, token_span
from fencepost.ir.syntax import Arrives, Operand, Statement, integer, opening
from fencepost.ir.trace import Graph

if TYPE_CHECKING:
    from lark.lexer import Token

MEMORY_OPS: dict[str, type[ops.MemoryOperation]] = {
    op.mnemonic: op
    for op in (
        *(ops.Read, ops.Write, ops.AtomicOp, ops.Exchange, ops.GatherToLDS, ops.TensorLoadToLDS),
        *(ops.AsyncMMA, ops.TensorStoreFromLDS),
    )
}
SEVERAL_VIEWS = (ops.Read, ops.Write, ops.AtomicOp, ops.TensorLoadToLDS, ops.AsyncMMA)
"""Operations that can touch more than one place: `ds_read2`, a matrix product that reads both of its tiles."""
VALUE_OPS: dict[str, type[ops.ValueOperation]] = {
    op.mnemonic: op for op in (ops.GlobalRead, ops.GlobalWrite, ops.MMA, ops.Compute, ops.NullAsyncDep)
}


@dataclass(slots=True)
class _Pending:
    """An operation that uses values which are defined further down."""

    op: ops.ValueOperation
    operands: list[Operand]
    found: list[ops.ValueOperation | None]


@dataclass(slots=True)
class OperationReader:
    """Turns statements into operations; `here` is the region that they stand in."""

    source: Source
    names: Names
    here: Graph = field(default_factory=lambda: Graph("entry"))
    pending: list[_Pending] = field(default_factory=list)

    def read(self, statement: Statement) -> ops.Operation | None:
        """The operation that a statement stands for; None if it is one of control flow."""
        reader = READERS.get(statement.rule)
        return None if reader is None else reader(self, statement.parts, opening(self.source, statement))

    # ------------------------------------------------------------ operations

    def memory(self, parts: list[Any], span: Span) -> ops.Operation:
        """An access to shared memory."""
        name, mnemonic, *rest = parts
        kind, names = MEMORY_OPS[mnemonic], self.names
        views: list[View] = []
        values: list[Operand] = []
        attributes: list[tuple[str, str, Span]] = []
        arrives: Arrives | None = None
        for part in rest:
            if isinstance(part, tuple):
                attributes.append(part)
            elif isinstance(part, Arrives):
                arrives = part
            elif part is not None and (part.name in names.buffers or part.name in names.arguments):
                views.append(self.view(part))
            elif part is not None:
                values.append(part)
        if not views or (len(views) > 1 and kind not in SEVERAL_VIEWS):
            if not views and values:
                raise names.no_buffer(values[0].name, values[0].span)
            wanted = "at least one buffer" if kind in SEVERAL_VIEWS else "one buffer"
            raise FencepostError(
                f"{mnemonic} takes {wanted}, not {len(views) or 'none'}", [Mark(span)], code="FP105"
            )
        op = kind(tuple(views), span=span)
        if attributes:
            self.attributes(op, attributes)
        if arrives is not None:
            self.arrive(op, arrives)
        self.define(op, name, values)
        return op

    def arrive(self, op: ops.MemoryOperation, arrives: Arrives) -> None:
        """The mbarrier that an engine arrives on when it is done."""
        if not isinstance(op, ops.AsyncOperation):
            raise FencepostError(
                f"{op.mnemonic} is done by the wave itself, not by an engine that could arrive",
                [Mark(arrives.operand.span)],
                code="FP105",
                notes=[("help", "`mbarrier_arrive` on the line below")],
            )
        op.arrives = arrival(self.view_of(arrives.operand), arrives.key, arrives.value, arrives.span)

    def mbarrier(self, parts: list[Any], span: Span) -> ops.Operation:
        """An operation on an mbarrier."""
        mnemonic, operand, *settings = parts
        for _, value, at in settings:
            if isinstance(value, Expr):
                self.names.check_numbers(value, self.here, at)
        return mbarrier(str(mnemonic), self.view_of(operand), settings, span)

    def view_of(self, operand: Operand) -> View:
        """The part of a buffer that an operand names, if it names one."""
        if operand.name not in self.names.buffers and operand.name not in self.names.arguments:
            raise self.names.no_buffer(operand.name, operand.span)
        return self.view(operand)

    def value(self, parts: list[Any], span: Span) -> ops.Operation:
        """Anything that touches registers only."""
        name, mnemonic, *rest = parts
        op = VALUE_OPS[mnemonic](span=span)
        operands = [part for part in rest if isinstance(part, Operand)]
        if operands and isinstance(op, ops.NullAsyncDep):
            raise FencepostError(f"{mnemonic} takes no values", [Mark(operands[0].span)], code="FP105")
        self.attributes(op, [part for part in rest if isinstance(part, tuple)])
        self.define(op, name, operands)
        return op

    def attributes(self, op: ops.ValueOperation, parts: list[tuple[str, str, Span]]) -> None:
        """`group=`, `update=` and `counter=`, where an operation has them."""
        given: set[str] = set()
        for key, value, at in parts:
            if key in given:
                raise FencepostError(f"attribute {key!r} twice", [Mark(at)], code="FP105")
            given.add(key)
            if key == "group" and isinstance(op, ops.MemoryOperation) and not isinstance(op, ops.Exchange):
                op.group = value
            elif key == "update" and isinstance(op, ops.AtomicOp):
                op.update = check_update(value, at)
            elif key == "counter" and isinstance(op, (ops.AsyncOperation, ops.GlobalRead, ops.GlobalWrite)):
                op.counter = check_engine(value, at)
            else:
                raise FencepostError(f"{op.mnemonic} has no attribute {key!r}", [Mark(at)], code="FP105")

    def view(self, operand: Operand) -> View:
        """The part of a buffer that an operand names."""
        name, subscripts, names = operand.name, operand.subscripts, self.names
        buffer = names.buffers.get(name)
        if buffer is None:
            buffer = names.arguments[name]
            if not names.reaches(name, self.here):
                raise names.out_of_reach(name, operand.span)
        for subscript in subscripts:
            for expr in subscript:
                names.check_numbers(expr, self.here, operand.span)
        shape = [len(subscript) for subscript in subscripts]
        if shape == []:
            return buffer.whole()
        if shape == [1]:
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

    # ------------------------------------------------------------ synchronization

    def barrier(self, parts: list[Any], span: Span) -> ops.Operation:
        """Fence and rendezvous, with what is waited for first."""
        _, drain, some, after, *counted = parts
        barrier = ops.SharedMemoryBarrier(drain is not None, _counts(counted), span=span)
        if some is not None:
            first, end = integer(some[0]), integer(some[1])
            barrier.waves = check_some(first, end, token_span(some[0]))
        self.define(barrier, None, after or [])
        return barrier

    def wait_count(self, parts: list[Any], span: Span) -> ops.Operation:
        """A wait for counters, or for everything in flight."""
        name, _, after, *counted = parts
        wait = ops.MemoryCounterWait(_counts(counted), span=span)
        if not wait.counts and not after:
            raise FencepostError(
                "wait_count without a counter: `wait_count load=0`", [Mark(span)], code="FP105"
            )
        self.define(wait, name, after or [])
        return wait

    def workgroup_barrier(self, parts: list[Any], span: Span) -> ops.Operation:
        """A rendezvous alone."""
        return ops.WorkgroupBarrier(span=span)

    def split(self, parts: list[Any], span: Span) -> ops.Operation:
        """One half of a split barrier."""
        bar_id = ops.WORKGROUP if parts[1] is None else check_barrier(parts[1], span)
        kind = ops.SharedMemoryBarrierSignal if parts[0] == "signal" else ops.SharedMemoryBarrierWait
        return kind(bar_id, span=span)

    def commit(self, parts: list[Any], span: Span) -> ops.Operation:
        """The end of a group of async operations."""
        return ops.CommitGroup(check_engine(str(parts[1]), token_span(parts[1])), span=span)

    def sched_barrier(self, parts: list[Any], span: Span) -> ops.Operation:
        """A line that the compiler moves nothing across."""
        return ops.SchedulingBarrier(span=span)

    def set_wave_prio(self, parts: list[Any], span: Span) -> ops.Operation:
        """The wave's priority from here on."""
        return ops.SetWavePrio(check_priority(integer(parts[1]), token_span(parts[1])), span=span)

    # ------------------------------------------------------------ values

    def define(self, op: ops.ValueOperation, name: Token | None, operands: list[Operand]) -> None:
        """Give an operation its name, and the values that it uses as far as they are known."""
        if name is not None:
            op.name = name[1:]
            self.names.define_value(op, token_span(name))
        if not operands:
            return
        found: list[ops.ValueOperation | None] = []
        for operand in operands:
            value = self.names.value_at(operand.name, self.here, operand.span)
            if value is not None:
                self.check(op, operand, value)
            found.append(value)
        op.uses = tuple(value for value in found if value is not None)
        if len(op.uses) < len(found):
            self.pending.append(_Pending(op, operands, found))

    def resolve(self) -> None:
        """Give operations the values that were not known yet."""
        for later in self.pending:
            for place, operand in enumerate(later.operands):
                if later.found[place] is not None:
                    continue
                value = self.names.values.get(operand.name)
                if value is None:
                    if operand.subscripts and operand.name not in self.names.buffers:
                        raise self.names.no_buffer(operand.name, operand.span)
                    raise self.names.wrong_kind(operand.name, ops.VALUE, operand.span)
                if isinstance(value, ops.Carried):
                    # It is forwarded, and was not when it was used.
                    raise self.names.out_of_reach(operand.name, operand.span)
                self.check(later.op, operand, value)
                later.found[place] = value
            later.op.uses = tuple(value for value in later.found if value is not None)

    def check(self, op: ops.ValueOperation, operand: Operand, value: ops.ValueOperation) -> None:
        """Refuse a use of a value that makes no sense."""
        if operand.subscripts:
            raise self.names.no_buffer(operand.name, operand.span)
        check_use(op, value, operand.span)


def _counts(parts: list[tuple[str, int, Span]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for counter, count, at in parts:
        if counter in counts:
            raise FencepostError(f"counter {counter!r} twice", [Mark(at)], code="FP105")
        counts[counter] = count
    return counts


READERS: dict[str, Callable[[OperationReader, list[Any], Span], ops.Operation]] = {
    "memory": OperationReader.memory,
    "mbarrier": OperationReader.mbarrier,
    "value": OperationReader.value,
    "barrier": OperationReader.barrier,
    "wait_count": OperationReader.wait_count,
    "workgroup_barrier": OperationReader.workgroup_barrier,
    "signal": OperationReader.split,
    "wait": OperationReader.split,
    "commit": OperationReader.commit,
    "sched_barrier": OperationReader.sched_barrier,
    "set_wave_prio": OperationReader.set_wave_prio,
}
