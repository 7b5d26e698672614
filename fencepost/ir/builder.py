"""Kernels written in Python: `k = Kernel("gemm", waves=8)`, then one call per operation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View, check_view
from fencepost.ir.expr import Compare, Condition, Expr, Flag, Var, Wave, leaves
from fencepost.ir.graph import Graph
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace

wave = Wave()
"""The number of the wave that runs an operation, for conditions and views: `k.cond(fp.wave >= 4)`."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
Place = Buffer | View
AnyOp = TypeVar("AnyOp", bound=ops.Operation)
AnyValue = TypeVar("AnyValue", bound=ops.ValueOperation)


class Kernel:
    """Builds a trace from top to bottom; `trace` is the result at any time."""

    def __init__(self, name: str, waves: int) -> None:
        if not 1 <= waves <= 64:
            raise FencepostError(f"{waves} waves; a workgroup has 1 to 64")
        self.trace = CapturedTrace(_spelled(name), waves)
        self._here = self.trace.get_root_graph()
        self._names: set[str] = set()
        self._regions = 0
        self._numbers: dict[str, int] = {}

    # ------------------------------------------------------------ memory

    def shared(self, name: str, *, bytes: int, slots: int = 1, offset: int | None = None) -> Buffer:
        """An allocation of `slots` slots of `bytes` each, at address `offset` if one is given."""
        if bytes < 1 or slots < 1:
            raise FencepostError("a buffer has at least one slot of at least one byte")
        if offset is not None and offset < 0:
            raise FencepostError(f"address {offset} of %{name}; addresses begin at 0")
        buffer = Buffer(self._claim(name), bytes, slots, offset)
        self.trace.buffers[name] = buffer
        return buffer

    def read(self, place: Place, *uses: ops.ValueOperation, group: str = "") -> ops.Read:
        """Shared memory to registers."""
        return self._value(ops.Read(_views(place), group=group), uses)

    def write(self, place: Place, *uses: ops.ValueOperation, group: str = "") -> ops.Write:
        """Registers to shared memory."""
        return self._value(ops.Write(_views(place), group=group), uses)

    def atomic(self, place: Place, *uses: ops.ValueOperation, group: str = "") -> ops.AtomicOp:
        """A read-modify-write of shared memory."""
        return self._value(ops.AtomicOp(_views(place), group=group), uses)

    def gather_to_lds(self, place: Place, *, group: str = "", counter: str = "") -> ops.GatherToLDS:
        """An async copy from global memory straight to shared memory."""
        return self._value(ops.GatherToLDS(_views(place), group=group, counter=counter), ())

    def tensor_load_to_lds(self, *places: Place, group: str = "", counter: str = "") -> ops.TensorLoadToLDS:
        """An async copy of a tile by a tensor engine, into one or more buffers."""
        return self._value(ops.TensorLoadToLDS(_views(*places), group=group, counter=counter), ())

    # ------------------------------------------------------------ registers

    def global_read(self, *uses: ops.ValueOperation) -> ops.GlobalRead:
        """Global memory to registers."""
        return self._value(ops.GlobalRead(), uses)

    def global_write(self, *uses: ops.ValueOperation) -> ops.GlobalWrite:
        """Registers to global memory."""
        return self._value(ops.GlobalWrite(), uses)

    def mma(self, *uses: ops.ValueOperation) -> ops.MMA:
        """A matrix multiply-accumulate."""
        return self._value(ops.MMA(), uses)

    def compute(self, *uses: ops.ValueOperation) -> ops.Compute:
        """Anything that touches registers only."""
        return self._value(ops.Compute(), uses)

    # ------------------------------------------------------------ synchronization

    def barrier(self, *, wait_async_ops: bool = False) -> ops.SharedMemoryBarrier:
        """Fence and rendezvous."""
        return self._put(ops.SharedMemoryBarrier(wait_async_ops))

    def workgroup_barrier(self) -> ops.WorkgroupBarrier:
        """Rendezvous without a fence."""
        return self._put(ops.WorkgroupBarrier())

    def signal(self, bar_id: int = ops.WORKGROUP) -> ops.SharedMemoryBarrierSignal:
        """Fence, then arrive."""
        return self._put(ops.SharedMemoryBarrierSignal(_barrier_id(bar_id)))

    def wait(self, bar_id: int = ops.WORKGROUP) -> ops.SharedMemoryBarrierWait:
        """Block until all waves have arrived."""
        return self._put(ops.SharedMemoryBarrierWait(_barrier_id(bar_id)))

    def wait_count(self, **counts: int) -> ops.MemoryCounterWait:
        """Block until at most the given number of operations of each counter is outstanding."""
        if not counts or min(counts.values()) < 0:
            raise FencepostError("wait_count takes counters, each with a number from 0: wait_count(load=0)")
        return self._put(ops.MemoryCounterWait({_spelled(name): count for name, count in counts.items()}))

    # ------------------------------------------------------------ control flow

    @contextmanager
    def loop(self, var: str, *, trip: int | None = None, start: int = 0, step: int = 1) -> Iterator[Expr]:
        """A loop of `trip` iterations; None means unknown, possibly zero. Yields the loop's variable."""
        if step < 1:
            raise FencepostError("a loop's step is at least 1")
        if trip is not None and trip < 0:
            raise FencepostError("a loop runs at least 0 times; None means that it is not known how often")
        stop = None if trip is None else start + trip * step
        loop = ops.Iterate(self._claim(var), start, stop, step, body=self._region())
        loop.body.owner = loop
        self._put(loop)
        with self._inside(loop.body):
            yield loop.index

    @contextmanager
    def cond(self, condition: Condition | str) -> Iterator[OrElse]:
        """A conditional; a string names a condition that is uniform and not known."""
        condition = self._condition(condition)
        op = ops.Conditional(condition, then=self._region(), orelse=self._region())
        op.then.owner = op.orelse.owner = op
        self._put(op)
        with self._inside(op.then):
            yield OrElse(self, op)

    def block(self, label: str) -> None:
        """Start a new block of unstructured control flow."""
        if self._here.owner is not None:
            raise FencepostError("a block starts inside a loop or conditional")
        self._here = Graph(self._claim(label))
        self.trace.blocks.append(self._here)

    def br(self, target: str) -> ops.Branch:
        """Go on at a block."""
        return self._put(ops.Branch(target))

    def cond_br(
        self, condition: Condition | str, then: str, orelse: str, trip: int | None = None
    ) -> ops.CondBranch:
        """Go on at one of two blocks."""
        condition = self._condition(condition)
        return self._put(ops.CondBranch(condition, then, orelse, trip))

    def ret(self) -> ops.Return:
        """End the kernel."""
        return self._put(ops.Return())

    # ------------------------------------------------------------ bookkeeping

    def _put(self, op: AnyOp) -> AnyOp:
        self._here.append(op)
        return op

    def _value(self, op: AnyValue, uses: tuple[ops.ValueOperation, ...]) -> AnyValue:
        if isinstance(op, ops.MemoryOperation):
            if not op.views:
                raise FencepostError(f"{op.mnemonic} takes at least one buffer")
            for view in op.views:
                check_view(view, None)
                for part in (view.slot, view.lo, view.hi):
                    if part is not None:
                        self._in_scope(part)
            if op.group:
                _spelled(op.group)
        if isinstance(op, ops.AsyncCopy):
            _spelled(op.counter)
        for used in uses:
            if not used.name:
                used.name = self._fresh(used.mnemonic[0])
        op.uses = uses
        return self._put(op)

    def _condition(self, condition: Condition | str) -> Condition:
        if isinstance(condition, str):
            return Flag(_spelled(condition))
        if not isinstance(condition, Compare | Flag):
            raise FencepostError(
                f"{condition!r} is no condition",
                notes=[("help", "`==` compares expressions as data; write `i.equals(0)` or `i.differs(0)`")],
            )
        self._in_scope(condition)
        return condition

    def _in_scope(self, expr: Expr | Condition) -> None:
        """Refuse the variable of a loop that is not around this place."""
        for leaf in leaves(expr):
            if isinstance(leaf, Var) and not self._around(leaf.name):
                raise FencepostError(f"{leaf} is not the variable of a loop around this place")

    def _around(self, var: str) -> bool:
        graph: Graph | None = self._here
        while graph is not None and graph.owner is not None:
            if isinstance(graph.owner, ops.Iterate) and graph.owner.var == var:
                return True
            graph = graph.owner.graph
        return False

    def _claim(self, name: str) -> str:
        if name in self._names:
            raise FencepostError(f"the name {name!r} is already taken")
        self._names.add(_spelled(name))
        return name

    def _fresh(self, stem: str) -> str:
        number = self._numbers.get(stem, 0)
        while f"{stem}{number}" in self._names:
            number += 1
        self._numbers[stem] = number + 1
        return self._claim(f"{stem}{number}")

    def _region(self) -> Graph:
        self._regions += 1
        return Graph(f"region_{self._regions}")

    @contextmanager
    def _inside(self, graph: Graph) -> Iterator[None]:
        around, self._here = self._here, graph
        try:
            yield
        finally:
            self._here = around


class OrElse:
    """What `Kernel.cond` yields: the way to the other side."""

    def __init__(self, kernel: Kernel, conditional: ops.Conditional) -> None:
        self._kernel = kernel
        self._conditional = conditional

    @contextmanager
    def orelse(self) -> Iterator[None]:
        """The region that runs where the condition does not hold."""
        with self._kernel._inside(self._conditional.orelse):
            yield


def _spelled(name: str) -> str:
    """`name`, if the text form can spell it."""
    if not NAME.fullmatch(name):
        raise FencepostError(f"{name!r} is no name: letters, digits, _ and ., with a letter or _ first")
    return name


def _barrier_id(number: int) -> int:
    if number < ops.WORKGROUP:
        raise FencepostError("barrier ids are -1 (the workgroup's) and up")
    return number


def _views(*places: Place) -> tuple[View, ...]:
    return tuple(place.whole() if isinstance(place, Buffer) else place for place in places)
