"""One method per operation of the text form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from fencepost.ir import ops
from fencepost.ir.body_writer import BodyWriter
from fencepost.ir.buffers import Buffer, View
from fencepost.ir.expr import Expr, as_expr, whole
from fencepost.ir.limits import (
    check_barrier,
    check_count,
    check_engine,
    check_name,
    check_number,
    check_priority,
    check_size,
    check_some,
    check_update,
)
from fencepost.ir.source import FencepostError, UsageError, described

AnyAsync = TypeVar("AnyAsync", bound=ops.AsyncOperation)
Place = Buffer | View
Value = ops.ValueOperation


class OperationBuilder(BodyWriter):
    """Writes operations that stand on a line of their own."""

    # ------------------------------------------------------------ memory

    def shared(self, name: str, *, bytes: int, slots: int = 1, offset: int | None = None) -> Buffer:
        """An allocation of `slots` slots of `bytes` each, at address `offset` if one is given."""
        self._check_opened()
        bytes, slots = whole(bytes, "the size of a slot"), whole(slots, "the number of slots")
        offset = None if offset is None else check_number(offset, what="an address")
        if bytes < 1 or slots < 1:
            raise FencepostError("a buffer has at least one slot of at least one byte")
        check_size(check_name(name), slots * bytes)
        if offset is not None and offset < 0:
            raise FencepostError(f"address {offset} of %{name}; addresses begin at 0")
        buffer = Buffer(name, bytes, slots, offset, number=len(self._body.buffers))
        self._names.define_buffer(buffer)
        return buffer

    def read(self, place: Place, *more: Place | Value, group: str = "") -> ops.Read:
        """Shared memory to registers; of several places, one operation reads them all."""
        views, uses = _sorted((place, *more))
        return self._access(ops.Read(views, group=group), uses)

    def write(self, place: Place, *more: Place | Value, group: str = "") -> ops.Write:
        """Registers to shared memory; to several places, one operation writes them all."""
        views, uses = _sorted((place, *more))
        return self._access(ops.Write(views, group=group), uses)

    def atomic(
        self, place: Place, *more: Place | Value, group: str = "", update: str = "", returns: bool = False
    ) -> ops.AtomicOp:
        """A read-modify-write of shared memory; `returns` if its result is used outside of the kernel's words."""
        views, uses = _sorted((place, *more))
        made = self._access(ops.AtomicOp(views, group=group, update=check_update(update)), uses)
        if returns:
            self._named(made)
        return made

    def exchange(self, place: Place, *uses: Value) -> ops.Exchange:
        """Values handed from wave to wave through scratch memory: a write, a barrier inside, a read."""
        return self._access(ops.Exchange(_views(place)), uses)

    def gather_to_lds(
        self, place: Place, *uses: Value, group: str = "", counter: str = ""
    ) -> ops.GatherToLDS:
        """An async copy from global memory straight to shared memory."""
        return self._access(ops.GatherToLDS(_views(place), group=group, counter=counter), uses)

    def tensor_load_to_lds(
        self, *operands: Place | Value, group: str = "", counter: str = ""
    ) -> ops.TensorLoadToLDS:
        """An async copy of a tile by a tensor engine, into one or more buffers."""
        views, uses = _sorted(operands)
        return self._access(ops.TensorLoadToLDS(views, group=group, counter=counter), uses)

    def async_mma(self, *operands: Place | Value, group: str = "", counter: str = "") -> ops.AsyncMMA:
        """A matrix multiplication that reads operands from shared memory some time later."""
        views, uses = _sorted(operands)
        return self._access(ops.AsyncMMA(views, group=group, counter=counter), uses)

    def tensor_store_from_lds(
        self, place: Place, *uses: Value, group: str = "", counter: str = ""
    ) -> ops.TensorStoreFromLDS:
        """A tile stored to global memory by a tensor engine, which reads it some time later."""
        return self._access(ops.TensorStoreFromLDS(_views(place), group=group, counter=counter), uses)

    # ------------------------------------------------------------ mbarriers

    def mbarrier_init(self, place: Place, *, count: int, until_inval: bool = False) -> ops.MbarrierInit:
        """Makes an mbarrier whose phases are complete after `count` arrivals.

        With `until_inval`, its bytes are for nothing else until `mbarrier_inval`.
        """
        count = check_count("count", count)
        return self._access(ops.MbarrierInit(_views(place), count=count, until_inval=until_inval), ())

    def mbarrier_inval(self, place: Place) -> ops.MbarrierInval:
        """Ends an mbarrier."""
        return self._access(ops.MbarrierInval(_views(place)), ())

    def mbarrier_arrive(self, place: Place, *, count: int = 1, counter: str = "") -> ops.MbarrierArrive:
        """Every wave arrives `count` times; with a `counter`, its engine does once that is drained."""
        if counter:
            check_engine(check_name(counter))
        made = ops.MbarrierArrive(_views(place), count=check_count("count", count), counter=counter)
        return self._access(made, ())

    def mbarrier_expect(self, place: Place, *, bytes: int) -> ops.MbarrierExpect:
        """Arrives once, and makes the phase wait for so many bytes."""
        return self._access(ops.MbarrierExpect(_views(place), bytes=check_count("bytes", bytes)), ())

    def mbarrier_wait(self, place: Place, *, phase: int | Expr) -> ops.MbarrierWait:
        """Block until the phase of that parity is complete."""
        self._check_numbers(as_expr(phase))
        return self._access(ops.MbarrierWait(_views(place), phase=as_expr(phase)), ())

    def arriving(self, op: AnyAsync, place: Place, *, bytes: int = 0, count: int = 0) -> AnyAsync:
        """Have the engine of a copy arrive on an mbarrier when it is done: it brings `bytes`, or arrives."""
        if not isinstance(op, ops.AsyncOperation):
            raise UsageError(
                "only what an engine does arrives: a copy, or a matrix instruction", code="FP105"
            )
        self._check_value(op)
        if op.arrives is not None:
            raise FencepostError(f"the {op.mnemonic} arrives at {op.arrives.view} already", code="FP105")
        if bool(bytes) is bool(count):
            raise FencepostError("an engine brings `bytes` or arrives `count` times", code="FP105")
        (view,) = _views(place)
        self._check_view(view)
        op.arrives = (
            ops.Arrival(view, bytes=check_count("bytes", bytes))
            if bytes
            else ops.Arrival(view, check_count("count", count))
        )
        return op

    # ------------------------------------------------------------ registers

    def global_read(self, *uses: Value, counter: str = "load") -> ops.GlobalRead:
        """Global memory to registers."""
        return self._value(ops.GlobalRead(counter=check_engine(check_name(counter))), uses)

    def global_write(self, *uses: Value, counter: str = "store") -> ops.GlobalWrite:
        """Registers to global memory."""
        return self._value(ops.GlobalWrite(counter=check_engine(check_name(counter))), uses)

    def mma(self, *uses: Value) -> ops.MMA:
        """A matrix multiply-accumulate."""
        return self._value(ops.MMA(), uses)

    def compute(self, *uses: Value) -> ops.Compute:
        """Anything that touches registers only."""
        return self._value(ops.Compute(), uses)

    def null_async_dep(self) -> ops.NullAsyncDep:
        """The dependency on no async operation at all."""
        return self._value(ops.NullAsyncDep(), ())

    # ------------------------------------------------------------ synchronization

    def commit(self, counter: str) -> ops.CommitGroup:
        """Ends a group of async operations of `counter`, which thereby counts groups."""
        return self._put(ops.CommitGroup(check_engine(check_name(counter))))

    def barrier(
        self,
        *,
        wait_async_ops: bool = False,
        after: Sequence[Value] = (),
        **counts: int,
    ) -> ops.SharedMemoryBarrier:
        """Fence and rendezvous; it waits for async operations first if it is told to."""
        if "waves" in counts:
            raise UsageError("`barrier_of(first, end)` is the barrier of some of the waves")
        waits = _yes_or_no("wait_async_ops", wait_async_ops)
        return self._value(ops.SharedMemoryBarrier(waits, _counts(counts)), _listed(after))

    def barrier_of(self, first: int, end: int) -> ops.SharedMemoryBarrier:
        """Fence and rendezvous of the waves from `first` up to, not including, `end`."""
        return self._put(ops.SharedMemoryBarrier(waves=check_some(first, end)))

    def workgroup_barrier(self) -> ops.WorkgroupBarrier:
        """Rendezvous without a fence."""
        return self._put(ops.WorkgroupBarrier())

    def signal(self, bar_id: int = ops.WORKGROUP) -> ops.SharedMemoryBarrierSignal:
        """Fence, then arrive."""
        return self._put(ops.SharedMemoryBarrierSignal(check_barrier(bar_id)))

    def wait(self, bar_id: int = ops.WORKGROUP) -> ops.SharedMemoryBarrierWait:
        """Block until all waves have arrived."""
        return self._put(ops.SharedMemoryBarrierWait(check_barrier(bar_id)))

    def wait_count(self, *, after: Sequence[Value] = (), **counts: int) -> ops.MemoryCounterWait:
        """Block until at most the given number of operations of each counter is outstanding.

        With `after` alone it waits for everything in flight. It is a value: what uses it comes after it.
        """
        if not counts and not after:
            raise FencepostError("wait_count takes counters, each with a number from 0: wait_count(load=0)")
        return self._value(ops.MemoryCounterWait(_counts(counts)), _listed(after))

    # ------------------------------------------------------------ hints

    def sched_barrier(self) -> ops.SchedulingBarrier:
        """A line that the compiler moves no instruction across."""
        return self._put(ops.SchedulingBarrier())

    def set_wave_prio(self, priority: int) -> ops.SetWavePrio:
        """The wave's priority from here on, from 0 to 3."""
        return self._put(ops.SetWavePrio(check_priority(priority)))


def _counts(counts: Mapping[str, int]) -> dict[str, int]:
    numbers = {
        check_name(name): check_number(count, what=f"the count of {name!r}") for name, count in counts.items()
    }
    if min(numbers.values(), default=0) < 0:
        raise FencepostError("a counter has a number from 0: wait_count(load=0)")
    return numbers


def _yes_or_no(what: str, value: bool) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{what!r} is True or False, not {value!r}")
    return value


def _listed(values: Sequence[Value]) -> Sequence[Value]:
    if isinstance(values, ops.Operation):
        raise UsageError("`after` is a list: after=[copy]")
    return values


def _views(*places: Place) -> tuple[View, ...]:
    for place in places:
        if not isinstance(place, (Buffer, View)):
            raise UsageError(
                f"{described(place)} is no buffer and no part of one",
                notes=[
                    (
                        "help",
                        "`a = k.shared(...)` is a buffer, `a[slot]` and `a.bytes(lo, hi)` are parts",
                    )
                ],
                code="FP105",
            )
    return tuple(place.whole() if isinstance(place, Buffer) else place for place in places)


def _sorted(operands: Sequence[Place | Value]) -> tuple[tuple[View, ...], list[Value]]:
    """The views and the values among operands."""
    values = [operand for operand in operands if isinstance(operand, ops.ValueOperation)]
    return _views(*(place for place in operands if not isinstance(place, ops.ValueOperation))), values
