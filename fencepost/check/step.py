"""Whether all waves of a kernel run in step, as far as synchronization goes."""

from __future__ import annotations

from fencepost.flow import Flow
from fencepost.ir import ops


def in_step(flow: Flow) -> bool:
    """Whether all waves meet the same synchronization in the same order, and nothing but that orders anything."""
    return not has_objects(flow) and not any(
        isinstance(op, ops.SyncOperation) and not isinstance(op, ops.MemoryCounterWait)
        for block in flow.blocks
        if block.guards
        for op in block.ops
    )


def has_objects(flow: Flow) -> bool:
    """Whether anything but barriers of all waves orders something: only the simulation knows about that."""
    return any(
        isinstance(op, ops.MbarrierOperation)
        or (isinstance(op, ops.AsyncOperation) and op.arrives is not None)
        or (isinstance(op, ops.SharedMemoryBarrier) and op.waves is not None)
        for block in flow.blocks
        for op in block.ops
    )
