"""The operations of a module as operations of a kernel, each as what the table says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from fencepost.hosts.triton.allocations import Allocation
from fencepost.hosts.triton.calls import always_meets
from fencepost.hosts.triton.layouts import may_stay_in_warps
from fencepost.hosts.triton.mbarriers import MbarrierWriter
from fencepost.hosts.triton.mlir.tree import Module, Operation, Value
from fencepost.hosts.triton.mlir.types import MemDesc
from fencepost.hosts.triton.register_operations import MULTIPLICATIONS
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.shared_memory_effects import COPY, DELAYS, TENSOR, Does, Row, row_of
from fencepost.hosts.triton.slot_views import CHOICE, Views
from fencepost.hosts.triton.tdm import instructions
from fencepost.hosts.triton.unfollowed_forms import is_followed
from fencepost.hosts.triton.warps import threads_of, warps_of
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View
from fencepost.ir.builder import Kernel
from fencepost.ir.expr import Compare, Const, Select, Wave, is_divergent
from fencepost.ir.trace import CapturedTrace

if TYPE_CHECKING:
    from fencepost.hosts.triton.translate import Translation

WARP_GROUP = 4
"""Waves whose matrix operations are waited for together."""
WIDEST = 16
"""Bytes that one lane copies with one instruction at most."""
ACQUIRES, RELEASES = (2, 4), (3, 4)
"""The orders of atomics, as numbers of `sem`: acquire, release, and both."""
UPDATES = dict(
    enumerate(("and", "or", "xor", "add", "fadd", "max", "min", "umax", "umin", "exchange"), start=1)
)
"""The updates of atomics, as numbers of `atomic_rmw_op`."""
SHOWN = 60
"""Characters of an operation that are underlined in a report."""
LOCAL = 1
"""The bit of a barrier's `addrSpace` that stands for shared memory."""
OWN_WAY = (Does.ALLOCATES, Does.PARTS, Does.FIRST_USES, Does.EXCHANGES, Does.UPDATES_GLOBAL, Does.CALLS)
"""What is done with an operation's own memory in another way than by writing it and reading it back."""
HOLDS_VIEWS = ("ttg.local_dealloc", "ttg.warp_specialize.partitions", "ttg.warp_yield", CHOICE)
"""Operations that are given views and do not touch them."""
COUNTED_WAITS = {COPY: "amdg.async_wait", TENSOR: "amdg.async_tdm_intrinsic_wait"}
"""Waits for copies that count instructions, by their counter."""
COMMIT, GROUP_WAIT = "ttg.async_commit_group", "ttg.async_wait"
OTHER = {"ttg.async_copy_global_to_local": 3, "amdg.buffer_load_to_local": 4}
"""Where copies are given what elements are that a mask leaves out, among the groups of their operands."""
WHOLE = ("gpu.barrier", "rocdl.barrier")
"""Barriers that know nothing of partitions: who meets at one inside of them is not known. Where one is what membar
puts in, the lowering makes the barrier of each partition of it."""


class OperationWriter:
    """Puts operations into a kernel, one behind the other."""

    # many parameters because there is one writer for a translation, and each of them is another part of that
    def __init__(
        self,
        kernel: Kernel,
        translation: Translation,
        views: Views,
        buffers: dict[Allocation, Buffer],
        stretches: Callable[[Iterable[Value]], list[View]],
        trace_of: Callable[[Module, Operation], CapturedTrace | None],
        *,
        local: bool,
    ) -> None:
        self.kernel = kernel
        self.translation = translation
        self.views = views
        self.buffers = buffers
        self.stretches = stretches
        self.trace_of = trace_of
        self.local = local
        self.mbarriers = MbarrierWriter(self)
        self.some: tuple[int, int] | None = None
        """Where only some waves run what is being put in: the first, and the one behind the last."""
        self.main = warps_of(views.module, views.function) if views.follow else translation.trace.waves
        """The waves that run what stands outside of partitions; the others only take part in barriers there."""
        # Waits for copies count instructions in functions that have such a wait, and groups or copies in all others.
        self.counts_instructions = {
            counter
            for counter, name in COUNTED_WAITS.items()
            if translation.module.mentions(name)
            and any(op.name == name for op in translation.function.walk())
        }
        # A wait for groups waits for none where there is none: a copy that no group has is not waited for.
        self.has_groups = any(op.name == COMMIT for op in translation.own)
        self.delays_waves = translation.module.mentions(DELAYS)
        self.groups = 0

    @property
    def waves(self) -> tuple[int, int]:
        """The waves that run what is being put in."""
        return self.some or (0, min(self.main, self.translation.trace.waves))

    @property
    def is_single(self) -> bool:
        """Whether they are one in truth: its threads may count as two waves."""
        first, end = self.waves
        return end - first == 1 or self.translation.lanes_apart

    @property
    def warps(self) -> int:
        """How many they are in truth."""
        first, end = self.waves
        return 1 if self.is_single else end - first

    @property
    def lanes(self) -> int:
        """The threads of a wave."""
        return threads_of(self.views.module)

    def barrier(self) -> ops.SharedMemoryBarrier:
        """A barrier of the waves that run it."""
        return self.kernel.barrier() if self.some is None else self.kernel.barrier_of(*self.some)

    def only_main(self) -> AbstractContextManager[object]:
        """What waves of partitions do not do where they come along: access memory, start copies, wait, arrive."""
        if self.some is not None or self.main >= self.translation.trace.waves:
            return nullcontext()
        return self.kernel.cond(Compare("<", Wave(), Const(self.main)))

    def stretch_of(self, value: Value) -> list[View]:
        """The bytes of a view."""
        return self.stretches([value])

    def put(self, op: Operation) -> None:
        """One operation."""
        row, allocation = row_of(op.name), self.views.allocations.of.get(op)
        if not self.is_judged(op, row):
            self.translation.beyond.append(op)
            return
        if allocation is not None and row.does not in OWN_WAY:
            self.scratch(op, allocation)
        self.known(op, row)

    def is_judged(self, op: Operation, row: Row) -> bool:
        """Whether the table's word about an operation holds for it, and for what is inside of it."""
        if row.does is Does.NOT_JUDGED or not is_followed(op):
            return False
        if row.does is Does.NOTHING and op.name not in HOLDS_VIEWS and self.views.has_shared(op):
            # Who is given a view may use it.
            return False
        if not op.regions or row.does in (Does.PARTS, Does.BRANCHES):
            return True
        # A region that is not control flow: when it runs, and how often, is not known.
        return all(self.is_plain(inner) for inner in op.walk() if inner is not op)

    def is_plain(self, op: Operation) -> bool:
        """Whether an operation works on registers alone."""
        plain = row_of(op.name).does in (Does.NOTHING, Does.BRANCHES) and is_followed(op)
        return plain and not self.views.has_shared(op)

    def scratch(self, op: Operation, allocation: Allocation) -> bool:
        """Memory of an operation's own, written and read back; whether surely behind a barrier."""
        view = View(self.buffers[allocation])
        meets = row_of(op.name).does in (Does.EXCHANGES, Does.UPDATES_GLOBAL)
        if meets and self.views.allocations.allocated and not may_stay_in_warps(self.views.module, op):
            if self.some is None:
                self.note(op, self.kernel.exchange(view))
                return True
            for made in (self.kernel.write(view), self.barrier(), self.kernel.read(view)):
                self.note(op, made)
            return True
        # Each wave reads what it wrote itself, or nobody has said yet whether there is memory at all: no barrier
        # that others could rely on.
        self.apart(op, view)
        return False

    def apart(self, op: Operation, view: View) -> None:
        """Memory that is written and read without a barrier, and rightly so."""
        self.groups += 1
        for put in (self.kernel.write, self.kernel.read):
            self.note(op, put(view, group=f"g{self.groups}"))

    def begin(self, op: Operation) -> None:
        """The waves part: those of the partitions are started, read what they capture, and have read it."""
        self.each(op, self.kernel.write, self.memory_of(op))
        self.note(op, self.barrier())
        self.each(op, self.kernel.read, self.memory_of(op))
        self.note(op, self.barrier())

    def first_uses(self, op: Operation) -> None:
        """Memory that threads of the first wave write and read; if there is no other, they may diverge."""
        with self.only_main() if self.is_single else self.mbarriers.leader():
            for view in self.memory_of(op):
                self.apart(op, view)

    def memory_of(self, op: Operation) -> list[View]:
        """The memory of an operation's own, if it has any."""
        allocation = self.views.allocations.of.get(op)
        return [] if allocation is None else [View(self.buffers[allocation])]

    def known(self, op: Operation, row: Row) -> None:
        """An operation of the table."""
        if row.does is Does.NOTHING:
            if op.name in MULTIPLICATIONS:
                self.note(op, self.kernel.mma())
        elif row.does in ISSUED:
            with self.only_main():
                self.issue(op, row)
        elif row.does is Does.WAITS:
            self.wait(op, row)
        elif row.does in PUT:
            PUT[row.does](self, op)

    def allocate(self, op: Operation) -> None:
        """An allocation, which may be given what it holds."""
        if op.operands and op in self.views.allocations.of:
            with self.only_main():
                self.note(op, self.kernel.write(View(self.buffers[self.views.allocations.of[op]])))

    def read(self, op: Operation) -> None:
        """A read of all that it is given."""
        with self.only_main():
            self.each(op, self.kernel.read, self.stretches(self.views.shared(op)))

    def write(self, op: Operation) -> None:
        """A write to all that it is given."""
        with self.only_main():
            self.each(op, self.kernel.write, self.stretches(self.views.shared(op)))

    def meet(self, op: Operation) -> None:
        """A barrier with a fence for some kinds of memory."""
        space = op.integer("addrSpace")
        whole = op.name in WHOLE and op.name != installed_release().barrier_name
        if whole and self.some is not None:
            self.translation.beyond.append(op)
        elif space is None or space & LOCAL:
            self.note(op, self.barrier())
        elif self.delays_waves:
            # Waves meet, and nothing in shared memory is ordered. Where none is delayed, it may be ignored.
            self.translation.beyond.append(op)

    def meet_bare(self, op: Operation) -> None:
        """A barrier without a fence."""
        if self.some is not None:
            self.translation.beyond.append(op)
        else:
            self.note(op, self.kernel.workgroup_barrier())

    def exchange(self, op: Operation) -> None:
        """Values that waves hand to each other through scratch memory, if they need any."""
        if op in self.views.allocations.of:
            self.scratch(op, self.views.allocations.of[op])

    def put_mbarrier(self, op: Operation) -> None:
        """An operation on mbarriers."""
        if not self.mbarriers.put(op):
            self.translation.beyond.append(op)

    def issue(self, op: Operation, row: Row) -> None:
        """What an engine is given to do, and the ends of its groups."""
        if row.does is Does.MULTIPLIES:
            self.multiply(op, row.counter)
        elif row.does is Does.COMMITS:
            if row.counter not in self.counts_instructions:
                self.note(op, self.kernel.commit(row.counter))
        elif row.counter == TENSOR and self.mbarriers.tdm(op):
            return
        else:
            self.count(op, row.counter)
            (self.copy_in if row.does is Does.COPIES_IN else self.copy_out)(op, row.counter)

    def copy_out(self, op: Operation, counter: str) -> None:
        """A copy to global memory, which reads until its counter was waited for."""
        found = self.stretches(self.views.shared(op))
        put = self.kernel.tensor_store_from_lds if len(found) == 1 else self.kernel.async_mma
        self.each(op, partial(put, counter=counter), found)

    def copy_in(self, op: Operation, counter: str) -> None:
        """A copy from global memory; on AMD, threads that a mask leaves out may store another value themselves."""
        found = self.stretches(self.views.shared(op))
        stores = self.translation.target.startswith("gfx") and _has_other(op)
        self.groups += 1
        group = f"g{self.groups}" if stores else ""
        if len(found) > 1:
            # One copy, however many views: a wait counts it once.
            self.note(op, self.kernel.tensor_load_to_lds(*found, group=group, counter=counter))
        for view in found if len(found) == 1 else ():
            self.note(op, self.kernel.gather_to_lds(view, group=group, counter=counter))
        for view in found if stores else ():
            self.note(op, self.kernel.write(view, group=group))

    def delay(self, op: Operation) -> None:
        """A barrier for the waves for which a condition holds: they run a barrier behind the others from there on."""
        asked = self.views.number(op.operands[0])
        if not isinstance(asked, Select) or not is_divergent(asked.condition) or self.some is not None:
            self.translation.beyond.append(op)
            return
        with self.kernel.cond(asked.condition):
            self.note(op, self.kernel.workgroup_barrier())

    def multiply(self, op: Operation, counter: str) -> None:
        """A matrix operation that may read shared memory by itself."""
        found = self.stretches(self.views.shared(op))
        if found and op.flag("isAsync"):
            self.note(op, self.kernel.async_mma(*found, counter=counter))
        elif found:
            self.each(op, self.kernel.read, found)
        elif op.flag("isAsync"):
            # It reads registers only, and counts all the same.
            self.note(op, self.kernel.global_read(counter=counter))

    def wait(self, op: Operation, row: Row) -> None:
        """A wait, and the barrier that some of them end in."""
        count = op.integer(row.attribute)
        others = row.counter in self.counts_instructions and op.name != COUNTED_WAITS[row.counter]
        grouped = op.name == GROUP_WAIT and row.counter not in self.counts_instructions
        if count is None or (others and count) or (grouped and not self.has_groups):
            # It does not say how many, or counts groups or copies where instructions are counted, or groups where
            # there are none: taken to wait for nothing.
            return
        with self.only_main():
            self.note(op, self.kernel.wait_count(**{row.counter: count}))  # type: ignore[arg-type]
        first, end = self.waves
        several = end - first > WARP_GROUP
        if (
            op.name == "ttng.warp_group_dot_wait"
            and several
            and installed_release().group_waits_meet
            and not (self.local or op.flag("warpGroupLocal"))
        ):
            # Unless it is marked as one of a warp group, the wait of several groups ends in a barrier.
            self.note(op, self.barrier())

    def update(self, op: Operation) -> None:
        """An atomic on shared memory; its order matters unless it commutes and nobody uses what it returns."""
        update = UPDATES.get(op.integer("atomic_rmw_op") or 0, "exchange")
        used = any(
            value in op.results for other in self.translation.function.walk() for value in other.operands
        )
        put = partial(self.kernel.atomic, update=update, returns=used)
        with self.only_main():
            self.each(op, put, self.stretches(self.views.shared(op)))

    def call(self, op: Operation) -> None:
        """A function that is run: what it does in its frame, and in which order, is looked at by itself."""
        if op.name != "tt.call" or self.views.has_shared(op):
            # A function inside of another, or one that works on memory of its caller.
            self.translation.beyond.append(op)
            return
        frame = self.memory_of(op)
        self.each(op, self.kernel.write, frame)
        if always_meets(self.views.module, op, self.trace_of):
            # Before its first barrier and behind its last one, it may do anything in its frame.
            self.note(op, self.barrier())
            self.each(op, self.kernel.write, frame)

    def update_global(self, op: Operation) -> None:
        """An atomic on global memory begins with a barrier if it releases, and ends in one if it acquires or polls.

        Where its result is handed to other waves through scratch memory, the barrier of that is the one it ends in;
        in older releases it has no other.
        """
        order = (op.integer("sem") or 0) if installed_release().atomics_meet else 0
        if order in RELEASES:
            self.note(op, self.barrier())
        allocation = self.views.allocations.of.get(op)
        met = allocation is not None and self.scratch(op, allocation)
        if not met and (order in ACQUIRES or op.name.endswith("atomic_poll")):
            self.note(op, self.barrier())

    def count(self, op: Operation, counter: str) -> None:
        """The instructions of a copy that come before its last one, where a wait counts them."""
        for _ in range(self.instructions(op, counter) - 1):
            self.note(op, self.kernel.global_read(counter=counter))

    def instructions(self, op: Operation, counter: str) -> int:
        """How many instructions a copy is, at least: a wait that counts them must not be taken for a stronger one."""
        module = self.views.module
        if counter not in self.counts_instructions:
            return 1
        if counter == TENSOR:
            return instructions(module, op)
        memory = next((module.type_of(value) for value in self.views.shared(op)), None)
        if not isinstance(memory, MemDesc) or memory.bits is None or memory.elements is None:
            return 1
        first, end = self.waves
        return max(memory.elements * memory.bits // 8 // (self.lanes * (end - first) * WIDEST), 1)

    def each(self, op: Operation, put: Callable[..., ops.Operation], views: list[View]) -> None:
        """An access to some views, if there are any: one operation, which no barrier can stand inside of."""
        if views:
            self.note(op, put(*views))

    def note(self, op: Operation, made: ops.Operation) -> None:
        """Say what an operation stands for."""
        made.host = op
        if op.span is not None:
            # The line of an operation is long; what it is stands in front.
            last = min(op.span.end_column, op.span.column + SHOWN) if op.span.line == op.span.end_line else 0
            made.span = replace(op.span, end_line=op.span.line, end_column=last or op.span.column + SHOWN)


ISSUED = (Does.COPIES_IN, Does.COPIES_OUT, Does.MULTIPLIES, Does.COMMITS)
PUT: dict[Does, Callable[[OperationWriter, Operation], None]] = {
    Does.ALLOCATES: OperationWriter.allocate,
    Does.READS: OperationWriter.read,
    Does.WRITES: OperationWriter.write,
    Does.UPDATES: OperationWriter.update,
    Does.MEETS: OperationWriter.meet,
    Does.MEETS_BARE: OperationWriter.meet_bare,
    Does.DELAYS: OperationWriter.delay,
    Does.PARTS: OperationWriter.begin,
    Does.FIRST_USES: OperationWriter.first_uses,
    Does.EXCHANGES: OperationWriter.exchange,
    Does.UPDATES_GLOBAL: OperationWriter.update_global,
    Does.CALLS: OperationWriter.call,
    Does.MBARRIERS: OperationWriter.put_mbarrier,
}
"""How an operation is put in, by what the table says that it does."""


def _has_other(op: Operation) -> bool:
    """Whether a copy is given what elements are that its mask leaves out."""
    segments = op.integers("operandSegmentSizes")
    return op.name in OTHER and (segments is None or bool(segments[OTHER[op.name]]))
