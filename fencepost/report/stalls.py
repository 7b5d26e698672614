"""How long waves stand at a barrier, as estimated: for explanations and JSON."""

from __future__ import annotations

from typing import Any

from fencepost.ir import ops
from fencepost.ir.trace import CapturedTrace
from fencepost.timing import SyncTime, time_kernel

MOST_OPERATIONS = 5_000
"""Longer kernels are explained without an estimate."""


def stalls_of(trace: CapturedTrace, target: str) -> dict[ops.Operation, SyncTime]:
    """The estimate for each barrier and wait; nothing for long kernels, and for those that hang."""
    everything = list(trace.preorder_walk())
    if len(everything) > MOST_OPERATIONS or not any(isinstance(op, ops.SyncOperation) for op in everything):
        return {}
    timing = time_kernel(trace, target)
    return {} if timing.deadlock else {sync.op: sync for sync in timing.syncs}


def stall_sentence(sync: SyncTime | None) -> str:
    """A word on the stall, to stand behind something else."""
    if sync is None or not sync.executed:
        return ""
    return f" (a wave stalls here for about {sync.mean:.0f} cycles each time: an estimate)"


def stall_json(sync: SyncTime | None) -> dict[str, Any] | None:
    """The estimate for programs."""
    if sync is None or not sync.executed:
        return None
    return {
        "estimate": True,
        "executed": sync.executed // sync.workgroup,
        "cycles_each_time": round(sync.mean, 1),
        "for_memory": round(sync.memory / sync.executed, 1),
        "for_waves": round(sync.waves / sync.executed, 1),
    }


def estimate_json(trace: CapturedTrace, target: str) -> dict[str, Any] | None:
    """How long a kernel takes and its waves stall, as estimated."""
    if sum(1 for _ in trace.preorder_walk()) > MOST_OPERATIONS:
        return None
    timing = time_kernel(trace, target)
    if timing.deadlock:
        return None
    stall = sum(sync.stall for sync in timing.syncs) / trace.waves
    return {"estimate": True, "cycles": timing.cycles, "stall_per_wave": round(stall, 1)}
