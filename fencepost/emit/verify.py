"""The structure of emitted synchronization: every wave meets every barrier."""

from __future__ import annotations

from fencepost.flow import build_flow
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import CapturedTrace


def verify_barriers(trace: CapturedTrace) -> None:
    """Raise if a monolithic barrier stands where only some waves come by."""
    for block in build_flow(trace).blocks:
        for op in block.ops:
            if block.guards and isinstance(op, ops.SharedMemoryBarrier):
                raise FencepostError(
                    "a barrier stands inside a divergent conditional",
                    [Mark(op.span), Mark(block.guards[-1].branch.span, "only some waves take this side")],
                    code="FP201",
                    source=trace.source,
                )
