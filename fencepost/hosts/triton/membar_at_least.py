"""Barriers that membar surely puts into a module: a lower bound, so that it need not run where that is enough.

membar takes up to half of a compilation. Where fencepost's barriers run less often than those that membar is certain
to put in, they are taken, and nobody has to see membar's. What is certain was seen in what membar does to small
modules of a release (`Release.membar_is_known`), and tests compare it with what it does to the corpus. Within a block
membar puts a barrier

* behind a wait for copies: right there, or (stores by the copy engine) before the next access to shared memory or
  the end of an allocation or of the kernel;
* between two accesses of one allocation (reads, writes, copies into it) through the same view, or where one is
  through a view that blocks pass on and that can be any slot; not if both are reads, or both copies, and on gfx9 not
  for a read with a token behind a copy;
* between what one thread tells an mbarrier to expect and the copy that arrives on it, and between the wait for an
  mbarrier and its end,

if nothing stands in between that could bring a barrier along. Each of these is a stretch of the block, and no two
have a place in common. The bound is only about cost: what is passed on is judged in every case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.hosts.triton.kernel_variants import Stopped
from fencepost.hosts.triton.mbarriers import INVAL, TMA_LOADS, WAIT
from fencepost.hosts.triton.membar_marks import MARKED
from fencepost.hosts.triton.mlir.tree import Block, Module, Operation, Value
from fencepost.hosts.triton.slot_views import INDEX, is_view
from fencepost.hosts.triton.table import Does, row_of
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
ACCESSING = (READ, WRITE, COPY)
ACCESSES = (Does.READS, Does.WRITES, Does.COPIES_IN, Does.COPIES_OUT, Does.MULTIPLIES)
ENDS = frozenset(("ttg.local_dealloc", "tt.return", "rocdl.sched.barrier", "rocdl.sched.group.barrier"))
PLAIN = frozenset((*ACCESSES, Does.NOTHING, Does.VIEWS, Does.ALLOCATES, Does.COMMITS))
"""What operations do that bring no barrier along."""


def membar_runs_at_least(stopped: Stopped) -> float:
    """How often barriers run at least once membar has put in its own, estimated; those that are there included."""
    found = sum(stopped.barriers().values())
    blocks = {op.block: None for op in stopped.module.every if op.name in TELLING}
    memory = _Memory.of(stopped)
    for block in blocks:
        if block is not None:
            found += sum(map(stopped.runs_of, _surely_behind(block, memory)))
    return found


@dataclass(slots=True)
class _Memory:
    """The allocations that operations access."""

    module: Module
    touched: dict[Operation, Buffer] = field(default_factory=dict)
    """By reads, writes and copies."""
    incoming: dict[Value, list[Value]] = field(default_factory=dict)
    """What the arguments of blocks may be."""

    @classmethod
    def of(cls, stopped: Stopped) -> _Memory:
        """Look at the kernels, which know."""
        found = cls(stopped.module)
        for op in (op for kernel in stopped.kernels for op in kernel.trace.preorder_walk()):
            host = op.host if isinstance(op, ops.MemoryOperation) and len(op.views) == 1 else None
            if isinstance(host, Operation) and host.name in ACCESSING:
                assert isinstance(op, ops.MemoryOperation)
                found.touched[host] = op.view.buffer
        for branch in stopped.module.every:
            for way in branch.successors:
                for argument, value in zip(way.block.arguments, way.arguments, strict=True):
                    found.incoming.setdefault(argument, []).append(value)
        return found

    def conflicts(self, before: Operation, op: Operation) -> bool:
        """Whether two accesses of one allocation are so to membar, whatever it can find out about their slots."""
        if before.name == op.name and op.name in (READ, COPY):
            return False
        if before.name == COPY and op.name == READ and len(op.operands) > 1 and self.tokens_count:
            return False
        one, other = (_view(each) for each in (before, op))
        if one is other:
            return True
        passed_on = any(_base(each).defining_operation is None for each in (one, other))
        return passed_on and (self.is_any_slot(one) or self.is_any_slot(other))

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
    """What a read, a write or a copy is about."""
    return next(filter(is_view, op.operands))


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
    accessed: dict[Buffer, list[Operation]] = field(default_factory=dict)
    """and what has accessed each allocation."""

    def ends_at(self, op: Operation, memory: _Memory) -> Operation | None:
        """What membar surely puts a barrier behind before it comes to an operation."""
        used = next(filter(is_view, op.operands), None)
        if used in self.told and op.name in (TMA_LOADS if self.told[used].name == EXPECT else INVAL):
            return self.told[used]
        if not _is_plain(op):
            return None
        if self.waited is not None and (op.name in ENDS or row_of(op.name).does in ACCESSES):
            return self.waited
        before = self.accessed.get(memory.touched[op], ()) if op in memory.touched else ()
        return next((each for each in before if memory.conflicts(each, op)), None)

    def passed(self, op: Operation, memory: _Memory) -> _Open:
        """What is open behind an operation."""
        if _is_plain(op):
            if op in memory.touched:
                self.accessed.setdefault(memory.touched[op], []).append(op)
            return self
        told = self.told if op.name in (*TMA_LOADS, *WAIT, *INVAL) else {}
        if op.name in (EXPECT, *WAIT):
            told[_view(op)] = op
        return _Open(op if op.name in STORE_WAITS else None, told)


def _surely_behind(block: Block, memory: _Memory) -> Iterator[Operation]:
    """The operations of a block behind each of which membar surely puts a barrier, there or somewhat later."""
    here = _Open()
    for place, op in enumerate(block.operations):
        found = here.ends_at(op, memory)
        if found is not None:
            yield found
            here = _Open()
        here = here.passed(op, memory)
        if op.name in COPY_WAITS and _ends_in_barrier(block.operations[place + 1 :]):
            yield op


def _ends_in_barrier(following: list[Operation]) -> bool:
    """Whether no other wait, and nothing that could be a barrier, is the first that follows beside computations."""
    for op in following:
        if not _is_plain(op):
            return op.successors != ()
        if row_of(op.name).does is not Does.VIEWS and not (
            op.results and row_of(op.name).does is Does.NOTHING
        ):
            return True
    return False


def _is_plain(op: Operation) -> bool:
    """Whether an operation surely has no barrier in it, and gets none behind it."""
    does = row_of(op.name).does
    if does is Does.ALLOCATES:
        return True
    # What hands values around without memory of its own stays within a wave.
    known = does is Does.EXCHANGES or (does in PLAIN and not op.regions)
    return known and not op.dictionary.mentions("allocation.")
