"""Barriers that membar surely puts into a module: a lower bound, so that it need not run where that is enough.

membar takes up to half of a compilation. Where fencepost's barriers run less often than those that membar is certain
to put in, they are taken, and nobody has to see membar's. What is certain was seen in what membar does to small
modules of a release (`Release.membar_is_known`), and tests compare it with what it does to the corpus. membar puts
a barrier

* behind a wait for copies: right there, or (stores by the copy engine) before the next access to shared memory or
  the end of an allocation or of the kernel;
* between two accesses of one allocation (reads, writes, copies into it) through the same view, or where one is
  through a view that blocks pass on and that can be any slot, or of a slot whose number is selected by a condition;
  not if both are reads, or both copies, and on gfx9 not for a read with a token behind a copy;
* between an access of a whole allocation and an operation with scratch memory of its own that shares bytes with it,
  and between two of these;
* between what one thread tells an mbarrier to expect and the copy that arrives on it, and between the wait for an
  mbarrier and its end,

if nothing stands in between that could bring a barrier along. So it does across blocks, where all that lead to one
come before it. Each of these is a stretch of a path, and on no path two have a place in common. The bound is only
about cost: what is passed on is judged in every case.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.hosts.triton.kernel_variants import GROUP_WAIT, Stopped
from fencepost.hosts.triton.mbarriers import INVAL, TMA_LOADS, WAIT
from fencepost.hosts.triton.membar_marks import MARKED
from fencepost.hosts.triton.mlir.tree import Block, Module, Operation, Value
from fencepost.hosts.triton.shared_memory_effects import Does, row_of
from fencepost.hosts.triton.slot_views import INDEX, is_view
from fencepost.hosts.triton.translate_operations import WARP_GROUP
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer

COPY_WAITS = frozenset(("ttg.async_wait", "amdg.async_wait", "amdg.async_tdm_intrinsic_wait"))
"""Waits for copies that end in a barrier of membar's,"""
STORE_WAITS = frozenset(("ttng.async_tma_store_wait",))
"""and those that have one some time later."""
WAITS = COPY_WAITS | STORE_WAITS
EXPECT = "ttng.barrier_expect"
TELLING = WAITS | {EXPECT}
"""A module with none of these says little about what membar does."""
READ, WRITE, COPY = "ttg.local_load", "ttg.local_store", "ttg.async_copy_global_to_local"
ALLOCATE, MULTIPLY = "ttg.local_alloc", "ttng.warp_group_dot"
READING = (READ, MULTIPLY)
ACCESSING = (*READING, WRITE, COPY, ALLOCATE)
SELECT = "arith.select"
ACCESSES = (Does.READS, Does.WRITES, Does.COPIES_IN, Does.COPIES_OUT, Does.MULTIPLIES)
ENDS = frozenset(("ttg.local_dealloc", "tt.return", "rocdl.sched.barrier", "rocdl.sched.group.barrier"))
PLAIN = frozenset((*ACCESSES, Does.NOTHING, Does.VIEWS, Does.ALLOCATES, Does.COMMITS))
"""What operations do that bring no barrier along."""


class CertainBarrier(NamedTuple):
    """A barrier that membar surely puts in: behind one operation, and in front of another or earlier."""

    behind: Operation
    before: Operation


def surely_put_in(stopped: Stopped) -> list[CertainBarrier]:
    """The barriers that membar surely puts in; no two are the same one."""
    memory = _Memory.of(stopped)
    found: list[CertainBarrier] = []
    ends: dict[Block, _Open] = {}
    for block, operations in memory.operations.items():
        sources = memory.sources.get(block, ())
        # Around a loop nothing is certain: what leads back to a block stands behind it.
        known = sources and all(source in ends for source in sources)
        here = _joined([ends[source] for source in sources]) if known else _Open()
        ends[block] = _add_sure(block, operations, memory, here, found)
    return found


def runs_at_least(stopped: Stopped, sure: CertainBarrier) -> float:
    """How often a barrier runs, estimated: in one of two blocks, as often as the one that runs less."""
    runs = stopped.runs_of(sure.behind)
    return runs if sure.behind.block is sure.before.block else min(runs, stopped.runs_of(sure.before))


class Access(NamedTuple):
    """What an operation accesses of an allocation."""

    op: Operation
    buffer: Buffer
    view: Value


@dataclass(slots=True)
class _Memory:
    """The allocations that operations access."""

    module: Module
    touched: dict[Operation, list[Access]] = field(default_factory=dict)
    """By reads, writes and copies."""
    scratch: dict[Operation, Buffer] = field(default_factory=dict)
    """Memory that all waves surely hand values around in."""
    incoming: dict[Value, list[Value]] = field(default_factory=dict)
    """What the arguments of blocks may be."""
    sources: dict[Block, list[Block]] = field(default_factory=dict)
    """The blocks that lead to each block."""
    operations: dict[Block, list[Operation]] = field(default_factory=dict)
    """Operations of each block that do more than to compute something in registers."""
    one_group: bool = False
    """Whether there is one warp group, which does not meet in waits for matrix operations."""

    @classmethod
    def of(cls, stopped: Stopped) -> _Memory:
        """Look at the kernels, which know."""
        found = cls(stopped.module)
        found.one_group = all(kernel.trace.waves <= WARP_GROUP for kernel in stopped.kernels)
        for op in (op for kernel in stopped.kernels for op in kernel.trace.preorder_walk()):
            host = op.host
            if not isinstance(host, Operation):
                continue
            if isinstance(op, ops.Exchange):
                found.scratch[host] = op.view.buffer
            elif isinstance(op, ops.MemoryOperation) and host.name in ACCESSING:
                views = host.results if host.name == ALLOCATE else [*filter(is_view, host.operands)]
                if len(views) == len(op.views):
                    found.touched[host] = [
                        Access(host, touched.buffer, view)
                        for touched, view in zip(op.views, views, strict=True)
                    ]
        for branch in stopped.module.every:
            if branch.block is None:
                continue
            found.operations.setdefault(branch.block, [])
            for way in branch.successors:
                found.sources.setdefault(way.block, []).append(branch.block)
                for argument, value in zip(way.block.arguments, way.arguments, strict=True):
                    found.incoming.setdefault(argument, []).append(value)
        for own in (op for kernel in stopped.kernels for op in kernel.own):
            if own.block is not None:
                found.operations[own.block].append(own)
        return found

    def is_plain(self, op: Operation) -> bool:
        """Whether an operation surely has no barrier in it, and gets none behind it."""
        return _is_plain(op) or (self.one_group and op.name == GROUP_WAIT)

    def conflicts(self, before: Access, access: Access) -> bool:
        """Whether two accesses of one allocation are so to membar, whatever it can find out about their slots."""
        op = access.op
        if before.op.name == op.name == COPY or (before.op.name in READING and op.name in READING):
            return False
        if before.op.name == COPY and op.name == READ and len(op.operands) > 1 and self.tokens_count:
            return False
        one, other = before.view, access.view
        if one is other:
            return True
        slots = [_base(each).defining_operation for each in (one, other)]
        if all(slot is not None and slot.name == INDEX for slot in slots):
            return any(slot is not None and _is_selected(slot.operands[1]) for slot in slots)
        return None in slots and (self.is_any_slot(one) or self.is_any_slot(other))

    @property
    def tokens_count(self) -> bool:
        """Whether a read that has a token is taken to have waited for copies."""
        return (self.module.operation.string("ttg.target") or "").startswith(MARKED)

    def is_any_slot(self, view: Value) -> bool:
        """Whether a view may be of a slot whose number is not a constant."""
        seen, todo = {view}, [view]
        while todo:
            value = todo.pop()
            made = value.defining_operation
            if made is not None and made.name == INDEX:
                index = made.operands[1].defining_operation
                if index is None or index.name != "arith.constant":
                    return True
            of = self.incoming.get(value, []) if made is None else made.operands[:1] if is_view(value) else []
            todo += [each for each in of if each not in seen and is_view(each)]
            seen.update(of)
        return False


def _view(op: Operation) -> Value:
    """What an operation on an mbarrier is about."""
    return next(filter(is_view, op.operands))


def _is_selected(number: Value) -> bool:
    """Whether a condition decides what a number is."""
    made = number.defining_operation
    return made is not None and made.name == SELECT


def _base(view: Value) -> Value:
    """The view that another one is a part of, if it is of the same slot."""
    made = view.defining_operation
    while made is not None and made.name != INDEX and row_of(made.name).does is Does.VIEWS:
        view = made.operands[0]
        made = view.defining_operation
    return view


@dataclass(slots=True)
class _Open:
    """What stands in a block since the last place where a barrier is, or may be."""

    waited: Operation | None = None
    """The last wait for copies,"""
    told: dict[Value, Operation] = field(default_factory=dict)
    """what has told mbarriers what to expect, or has waited for them,"""
    accessed: dict[Buffer, list[Access]] = field(default_factory=dict)
    """what has accessed each allocation,"""
    exchanged: Operation | None = None
    """and the operation before all that, if it has read scratch memory of its own."""

    def ends_at(self, op: Operation, memory: _Memory) -> Operation | None:
        """What membar surely puts a barrier behind before it comes to an operation."""
        used = next(filter(is_view, op.operands), None)
        if used in self.told and op.name in (TMA_LOADS if self.told[used].name == EXPECT else INVAL):
            return self.told[used]
        if op in memory.scratch:
            return self.overlapping(memory.scratch[op], memory)
        if not _is_plain(op):
            return None
        if self.waited is not None and (op.name in ENDS or row_of(op.name).does in ACCESSES):
            return self.waited
        for access in memory.touched.get(op, ()):
            for before in self.accessed.get(access.buffer, ()):
                if memory.conflicts(before, access):
                    return before.op
        return None

    def overlapping(self, scratch: Buffer, memory: _Memory) -> Operation | None:
        """The first access of a whole allocation, or of scratch memory, that shares bytes with scratch memory."""
        if self.exchanged is not None and _overlap(memory.scratch[self.exchanged], scratch):
            return self.exchanged
        for buffer, accesses in self.accessed.items():
            if _overlap(buffer, scratch):
                for access in accesses:
                    made = access.view.defining_operation
                    if access.op.name != COPY and made is not None and made.name == ALLOCATE:
                        return access.op
        return None

    def passed(self, op: Operation, memory: _Memory) -> _Open:
        """What is open behind an operation."""
        if memory.is_plain(op):
            for access in memory.touched.get(op, ()):
                self.accessed.setdefault(access.buffer, []).append(access)
            return self
        if op in memory.scratch:
            return _Open(exchanged=op)
        told = self.told if op.name in (*TMA_LOADS, *WAIT, *INVAL) else {}
        if op.name in (EXPECT, *WAIT):
            told[_view(op)] = op
        return _Open(op if op.name in STORE_WAITS else None, told)


def _overlap(one: Buffer, other: Buffer) -> bool:
    """Whether two buffers share bytes."""
    if one.offset is None or other.offset is None:
        return False
    return one.offset < other.offset + other.size and other.offset < one.offset + one.size


def _joined(ends: list[_Open]) -> _Open:
    """What is open where blocks lead that end so."""
    first, *others = ends
    accessed = {
        buffer: [each for each in accesses if all(each in other.accessed.get(buffer, ()) for other in others)]
        for buffer, accesses in first.accessed.items()
    }
    same = all(other.exchanged is first.exchanged for other in others)
    return _Open(accessed=accessed, exchanged=first.exchanged if same else None)


def _add_sure(
    block: Block, operations: list[Operation], memory: _Memory, here: _Open, found: list[CertainBarrier]
) -> _Open:
    """Add the barriers that membar surely puts into a block; what is open at its end."""
    for place, op in enumerate(operations):
        ended = here.ends_at(op, memory)
        if ended is not None:
            found.append(CertainBarrier(ended, op))
            here = _Open()
        here = here.passed(op, memory)
        if op.name in COPY_WAITS:
            end = _first_end(block, operations[place + 1 :])
            if end is not None:
                found.append(CertainBarrier(op, end))
    return here


def _first_end(block: Block, following: list[Operation]) -> Operation | None:
    """What follows beside computations, if that is no other wait, and nothing that could be a barrier."""
    for op in following:
        if not _is_plain(op):
            return None
        if row_of(op.name).does is not Does.VIEWS and not (
            op.results and row_of(op.name).does is Does.NOTHING
        ):
            return op
    return block.operations[-1] if block.operations[-1].successors else None


def _is_plain(op: Operation) -> bool:
    """Whether an operation surely has no barrier in it, and gets none behind it."""
    does = row_of(op.name).does
    if does is Does.ALLOCATES:
        return True
    # What hands values around without memory of its own stays within a wave.
    known = does is Does.EXCHANGES or (does in PLAIN and not op.regions)
    return known and not op.dictionary.mentions("allocation.")
