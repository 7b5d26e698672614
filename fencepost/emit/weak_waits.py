"""A wait of the kernel that is too weak: made stronger where it stands, rather than joined by another one.

Placement decides what each barrier has to wait for. Where a wait for the same counter stands in front of that barrier
already, with nothing but work in registers in between, a smaller count there does the same, and is what an author
would change; `check` suggests it, too. An access to shared memory in between may be what that wait is there for, and
would lose by a longer one.
"""

from __future__ import annotations

from collections.abc import Collection

from fencepost.analysis.transfer import Sync
from fencepost.ir import ops

ENDS = (
    ops.MemoryOperation,
    ops.SharedMemoryBarrier,
    ops.WorkgroupBarrier,
    ops.SharedMemoryBarrierSignal,
    ops.SharedMemoryBarrierWait,
    ops.Call,
    *ops.NESTING,
)
"""What a wait in front of a barrier may be there for itself."""


def strengthened(op: ops.SyncOperation, sync: Sync) -> ops.MemoryCounterWait | None:
    """The wait in front of a barrier, with the counts that the barrier would need; None if there is none such."""
    if not isinstance(op, ops.SharedMemoryBarrier) or not sync.rendezvous or sync.drains:
        return None
    more = {counter: count for counter, count in sync.counts if op.counts.get(counter) != count}
    wait = _wait_in_front(op, more)
    if wait is None or op.wait_async_ops or any(counter in op.counts for counter in more):
        return None
    wait.counts |= more
    return wait


def _wait_in_front(op: ops.Operation, counters: Collection[str]) -> ops.MemoryCounterWait | None:
    """The wait for all of these counters that is passed before `op`, with nothing in between that either concerns."""
    here = op.prev
    while here is not None and not isinstance(here, ENDS) and ops.counter_of(here) not in counters:
        if isinstance(here, ops.MemoryCounterWait) and counters and here.counts.keys() >= set(counters):
            return None if here.name or here.host is not None else here
        here = here.prev
    return None
