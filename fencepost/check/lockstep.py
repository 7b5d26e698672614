"""Whether all waves of a kernel run in step, as far as synchronization goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from fencepost.flow import Flow
from fencepost.ir import ops


def in_step(flow: Flow, *, trusting: bool = False) -> bool:
    """Whether all waves meet the same synchronization in the same order, and nothing but that orders anything.

    With `trusting`, mbarriers may order something as well.
    """
    return not (any(map(_is_for_some, _every(flow))) if trusting else has_mbarriers(flow)) and not any(
        isinstance(op, ops.SyncOperation) and not isinstance(op, ops.MemoryCounterWait)
        for block in flow.blocks
        if block.guards
        for op in block.ops
    )


def has_mbarriers(flow: Flow) -> bool:
    """Whether anything but barriers of all waves orders something: only the simulation knows about that."""
    for block in flow.blocks:
        for op in block.ops:
            if not isinstance(op, _MAY_ORDER):  # most operations
                continue
            if isinstance(op, ops.AsyncOperation):
                if op.arrives is not None:
                    return True
            elif isinstance(op, ops.MbarrierOperation) or _is_for_some(op):
                return True
    return False


_MAY_ORDER = (*get_args(ops.MbarrierOperation), ops.AsyncOperation, ops.SharedMemoryBarrier)
"""Operations that may order some waves only."""


def _is_for_some(op: ops.Operation) -> bool:
    """Whether an operation is a barrier of some waves only."""
    return isinstance(op, ops.SharedMemoryBarrier) and op.waves is not None


def _every(flow: Flow) -> Iterator[ops.Operation]:
    return (op for block in flow.blocks for op in block.ops)
