"""The ground that builders stand on: operations go into a body one behind the other.

Whatever the text form cannot say is refused before it gets there, so that what was built can always be printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, TypeVar

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg, View, check_view
from fencepost.ir.expr import Compare, Condition, Expr, Flag, as_expr, leaves
from fencepost.ir.limits import check_constants, check_name
from fencepost.ir.loop_carried import check_end, follows, forward, names_of
from fencepost.ir.scopes import Names, check_use
from fencepost.ir.source import FencepostError, UsageError, described
from fencepost.ir.trace import Body, Graph

Handable = int | Expr | Buffer | ops.ValueOperation
"""What loops and conditionals can forward."""
AnyOp = TypeVar("AnyOp", bound=ops.Operation)
AnyEnd = TypeVar("AnyEnd", ops.Next, ops.Give)
AnyValue = TypeVar("AnyValue", bound=ops.ValueOperation)
AnyAccess = TypeVar("AnyAccess", bound=ops.MemoryOperation)
Opened = TypeVar("Opened", covariant=True)


class Opening(AbstractContextManager[Opened]):
    """A loop or conditional, which is there once `with` opens it.

    Called without `with` it would leave no trace, and what was to stand in it would stand outside. So its builder
    keeps it until it is opened, and does not go on before.
    """

    def __init__(self, builder: BodyWriter, what: str, region: AbstractContextManager[Opened]) -> None:
        self.what = what
        self._builder = builder
        self._region = region
        builder._unopened.append(self)

    def __enter__(self) -> Opened:
        if self not in self._builder._unopened:
            raise UsageError(f"{self.what} is opened a second time")
        self._builder._unopened.remove(self)
        # Those that wait to be opened inside of this one do not stand in its way.
        others, self._builder._unopened = self._builder._unopened, []
        try:
            return self._region.__enter__()
        finally:
            self._builder._unopened = others

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> bool | None:
        if kind is None:
            self._builder._check_opened()
        return self._region.__exit__(kind, error, where)


class BodyWriter:
    """A kernel or function while it is written, and where in it the next operation goes."""

    def __init__(self, body: Body) -> None:
        check_name(body.name)
        self._body = body
        self._here = body.get_root_graph()
        self._roots = {self._here}
        self._names = Names(body.buffers)
        self._regions = 0
        self._numbers: dict[str, int] = {}
        self._unopened: list[Opening[Any]] = []
        """Loops and conditionals that no `with` has opened yet."""

    @property
    def last(self) -> ops.Operation | None:
        """What stands last, so far, in the region that is being written."""
        return self._here.last

    def put(self, op: AnyOp) -> AnyOp:
        """Put an operation that uses no values; what it says is looked at when the kernel is."""
        return self._put(op)

    # ------------------------------------------------------------ operations

    def _put(self, op: AnyOp) -> AnyOp:
        if not isinstance(op, ops.Operation):
            raise UsageError(f"{described(op)} is no operation")
        self._check_open()
        self._here.append(op)
        return op

    def _check_opened(self) -> None:
        """Refuse to go on as if a loop or conditional were there that no `with` has opened."""
        for opening in self._unopened:
            raise UsageError(
                f"{opening.what} does nothing by itself: `with` opens it, and what it holds stands inside"
            )

    def _check_open(self) -> None:
        """Refuse to go on behind the end of a region, or behind a conditional with a side that is not finished."""
        self._check_opened()
        if isinstance(self._here.last, (ops.Next, ops.Give)):
            raise follows(self._here.last)
        self._check_sides(self._here)

    def _check_sides(self, graph: Graph) -> None:
        last = graph.last
        if isinstance(last, ops.Conditional) and not has_given(last):
            check_end(last.then)
            check_end(last.orelse)

    def _end(self, op: AnyEnd) -> AnyEnd:
        """Put what ends a region."""
        self._put(op)
        try:
            forward(self._here)
        except FencepostError:
            self._here.remove(op)
            raise
        return op

    def _access(self, op: AnyAccess, uses: Sequence[ops.ValueOperation]) -> AnyAccess:
        """Put an access to shared memory."""
        if not op.views:
            raise FencepostError(f"{op.mnemonic} takes at least one buffer", code="FP105")
        for view in op.views:
            self._check_view(view)
        if op.group:
            check_name(op.group)
        if isinstance(op, ops.AsyncOperation):
            check_name(op.counter)
        return self._value(op, uses)

    def _check_view(self, view: View) -> None:
        """Refuse a view that cannot be used here."""
        self._check_buffer(view.buffer)
        for part in (view.slot, view.lo, view.hi):
            if part is not None:
                self._check_numbers(part)
        check_view(view, None)

    def _value(self, op: AnyValue, uses: Sequence[ops.ValueOperation]) -> AnyValue:
        """Put an operation that uses values."""
        for used in uses:
            self._check_value(used, op.mnemonic)
            check_use(op, used)
        self._put(op)
        op.uses = tuple(self._named(used) for used in uses)
        return op

    # ------------------------------------------------------------ regions

    def _region(self) -> Graph:
        self._regions += 1
        return Graph(f"region_{self._regions}")

    @contextmanager
    def _inside(self, graph: Graph) -> Iterator[None]:
        """Write into `graph`, which must be complete in the end."""
        around, self._here = self._here, graph
        try:
            yield
            self._check_sides(graph)
            check_end(graph)
        finally:
            self._here = around

    def _in_order(
        self, owner: ops.Iterate | ops.Conditional, values: Mapping[str, Handable]
    ) -> tuple[ops.Forwarded, ...]:
        """What is forwarded, in the order of the names."""
        names = [name.name for name in names_of(owner)]
        if not names or set(names) != set(values):
            does = "the loop carries" if isinstance(owner, ops.Iterate) else "the conditional gives"
            wanted, given = (", ".join(f"%{name}" for name in each) or "nothing" for each in (names, values))
            raise FencepostError(f"{does} {wanted}, and {given} is forwarded", code="FP109")
        return tuple(self._handed(values[name]) for name in names)

    # ------------------------------------------------------------ what may be used

    def _handed(self, value: Handable) -> ops.Forwarded:
        """What is forwarded, if it can be used here."""
        if isinstance(value, Buffer):
            self._check_buffer(value)
            return value
        if isinstance(value, ops.ValueOperation):
            self._check_value(value)
            return self._named(value)
        self._check_numbers(as_expr(value))
        return as_expr(value)

    def _check_numbers(self, expr: Expr) -> None:
        self._names.check_numbers(expr, self._here)
        check_constants(leaves(expr))

    def _check_buffer(self, buffer: Buffer) -> None:
        """Refuse a buffer of another kernel, or one that is not forwarded to this place."""
        known = self._names.arguments if isinstance(buffer, BufferArg) else self._names.buffers
        if known.get(buffer.name) is not buffer:
            raise FencepostError(f"%{buffer.name} is no buffer of @{self._body.name}", code="FP104")
        if isinstance(buffer, BufferArg) and not self._names.reaches(buffer.name, self._here):
            raise self._names.out_of_reach(buffer.name, None)

    def _check_value(self, value: ops.ValueOperation, by: str = "") -> None:
        """Refuse what is no value, or none of this kernel's."""
        if not isinstance(value, ops.ValueOperation):
            what = f"a {type(value).__name__}" if isinstance(value, (Buffer, View)) else described(value)
            raise UsageError(
                f"{by or 'this'} cannot use {what} here: a value is wanted",
                notes=[("help", "what `read`, `global_read`, `compute` or `mma` return is a value")],
                code="FP105",
            )
        if isinstance(value, ops.SyncOperation) and not isinstance(value, ops.MemoryCounterWait):
            raise FencepostError(f"{value.mnemonic} yields no value", code="FP105")
        if isinstance(value, ops.Carried):
            if self._names.handed.get(value.name) is value and self._names.value_at(value.name, self._here):
                return
        else:
            graph = value.graph
            while graph is not None and graph.owner is not None:
                graph = graph.owner.graph
            if graph in self._roots:
                return
        what = f"%{value.name}" if value.name else f"the {value.mnemonic}"
        raise FencepostError(f"{what} is no value of @{self._body.name}", code="FP104")

    def _condition(self, condition: Condition | str) -> Condition:
        if isinstance(condition, str):
            if re.search(r"[<>=!%]", condition):
                raise UsageError(
                    f"the string {condition!r} is no condition: it would have to be the name of one",
                    notes=[
                        (
                            "help",
                            "a comparison is written as one: `k.cond(fp.wave < 4)`, `k.cond(i.equals(0))`",
                        )
                    ],
                )
            condition = Flag(condition)
        if isinstance(condition, Flag):
            name = check_name(condition.name)
            if name in self._names.handed and name not in self._names.values:
                raise self._names.no_condition(name, None)
        elif isinstance(condition, Compare):
            check_constants(leaves(condition))
        else:
            raise FencepostError(
                f"{condition!r} is no condition",
                notes=[("help", "`==` compares expressions as data; write `i.equals(0)` or `i.differs(0)`")],
            )
        return self._names.check_condition(condition, self._here)

    # ------------------------------------------------------------ names

    def _named(self, value: ops.ValueOperation) -> ops.ValueOperation:
        """`value`, which has to have a name because something uses it."""
        if not value.name:
            stem = value.mnemonic[0]
            number = self._numbers.get(stem, 0)
            while f"%{stem}{number}" in self._names.taken or f"{stem}{number}" in self._names.flags:
                number += 1
            self._numbers[stem] = number + 1
            value.name = f"{stem}{number}"
            self._names.define_value(value)
        return value


def has_given(conditional: ops.Conditional) -> bool:
    """Whether both sides have said what the results are."""
    sides = (conditional.then, conditional.orelse)
    return not conditional.gives or all(isinstance(side.last, ops.Give) for side in sides)
