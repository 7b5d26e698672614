"""Barriers that membar surely puts into a module: a lower bound, so that it need not run where that is enough.

membar takes up to half of a compilation. Where fencepost's barriers run less often than those that membar is certain
to put in, they are taken, and nobody has to see membar's. What is certain was read off the modules of a release
(`Release.membar_is_known`); tests compare it with what membar does to the corpus:

* between a wait for copies and the next access to shared memory, hint to the scheduler, or end of an allocation or
  of the kernel;
* between a read of an allocation and a copy into it (on NVIDIA; on AMD, membar takes some such pairs to be ordered);
* between what one thread tells an mbarrier to expect and the copy that arrives on it;
* between the wait for an mbarrier and its end,

unless something stands in between that could bring a barrier along. Each of these is a stretch of a block, and no two
have a place in common. The bound is only about cost: what is passed
on is judged in every case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fencepost.hosts.triton.kernel_variants import Stopped
from fencepost.hosts.triton.mbarriers import INVAL, TMA_LOADS, WAIT
from fencepost.hosts.triton.mlir.tree import Block, Module, Operation, Value
from fencepost.hosts.triton.slices import SUBSLICE
from fencepost.hosts.triton.slot_views import is_view
from fencepost.hosts.triton.table import Does, row_of
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer

WAITS = frozenset(
    (
        *("ttg.async_wait", "ttng.async_tma_store_wait"),
        *("amdg.async_wait", "amdg.async_tdm_intrinsic_wait"),
    )
)
"""Waits for copies that end in a barrier of membar's."""
EXPECT = "ttng.barrier_expect"
COPY, READS = "ttg.async_copy_global_to_local", ("ttg.local_load",)
TELLING = WAITS | {EXPECT}
"""A module with none of these says nothing about what membar does."""
ACCESSES = (Does.READS, Does.WRITES, Does.COPIES_IN, Does.COPIES_OUT, Does.MULTIPLIES)
ENDS = frozenset(("ttg.local_dealloc", "tt.return", "rocdl.sched.barrier", "rocdl.sched.group.barrier"))
PLAIN = frozenset((*ACCESSES, Does.NOTHING, Does.VIEWS, Does.ALLOCATES, Does.COMMITS))
"""What operations do that bring no barrier along."""


def membar_runs_at_least(stopped: Stopped) -> float:
    """How often barriers run at least once membar has put in its own, estimated; those that are there included."""
    found = sum(stopped.barriers().values())
    blocks = {op.block: None for op in stopped.module.every if op.name in TELLING}
    memory = _memory(stopped) if stopped.module.mentions(COPY) and _is_for_nvidia(stopped.module) else {}
    for block in blocks:
        if block is not None:
            found += sum(map(stopped.runs_of, _surely_behind(block, memory)))
    return found


def _memory(stopped: Stopped) -> dict[Operation, set[Buffer]]:
    """The allocations that reads, and copies into whole slots, are about."""
    found: dict[Operation, set[Buffer]] = {}
    for op in (op for kernel in stopped.kernels for op in kernel.trace.preorder_walk()):
        if isinstance(op, ops.MemoryOperation) and isinstance(op.host, Operation):
            host = op.host
            if host.name in READS or (host.name == COPY and not _is_part(host.operands[1])):
                found.setdefault(host, set()).update(view.buffer for view in op.views)
    return found


def _is_part(view: Value) -> bool:
    made = view.defining_operation
    return made is not None and made.name == SUBSLICE


@dataclass(slots=True)
class _Open:
    """What stands in a block since the last place where a barrier is, or may be."""

    waited: Operation | None = None
    """The last wait for copies,"""
    told: dict[Value, Operation] = field(default_factory=dict)
    """what has told mbarriers what to expect, or has waited for them,"""
    read: dict[Buffer, Operation] = field(default_factory=dict)
    """and the last read of each allocation."""

    def ends_at(self, op: Operation, used: Value | None, touched: set[Buffer]) -> Operation | None:
        """What membar surely puts a barrier behind before it comes to an operation."""
        if used in self.told and op.name in (TMA_LOADS if self.told[used].name == EXPECT else INVAL):
            return self.told[used]
        if not _is_plain(op):
            return None
        if self.waited is not None and (op.name in ENDS or row_of(op.name).does in ACCESSES):
            return self.waited
        return next((self.read[each] for each in touched if op.name == COPY and each in self.read), None)


def _surely_behind(block: Block, memory: Mapping[Operation, set[Buffer]]) -> Iterator[Operation]:
    """The operations of a block behind each of which membar surely puts a barrier, there or somewhat later."""
    here = _Open()
    for op in block.operations:
        used, touched = next(filter(is_view, op.operands), None), memory.get(op, set())
        found = here.ends_at(op, used, touched)
        if found is not None:
            yield found
            here = _Open()
        if not _is_plain(op):
            told = here.told if op.name in (*TMA_LOADS, *WAIT, *INVAL) else {}
            here = _Open(op if op.name in WAITS else None, told)
            if used is not None and op.name in (EXPECT, *WAIT):
                here.told[used] = op
        elif op.name in READS:
            here.read |= dict.fromkeys(touched, op)


def _is_plain(op: Operation) -> bool:
    """Whether an operation surely has no barrier in it, and gets none behind it."""
    does = row_of(op.name).does
    if does is Does.ALLOCATES:
        return True
    # What hands values around without memory of its own stays within a wave.
    known = does is Does.EXCHANGES or (does in PLAIN and not op.regions)
    return known and not op.dictionary.mentions("allocation.")


def _is_for_nvidia(module: Module) -> bool:
    return (module.operation.string("ttg.target") or "").startswith("cuda")
