"""The structure of emitted synchronization: every wave meets every barrier."""

from __future__ import annotations

from collections.abc import Collection

from fencepost.analysis.splits import verify_splits
from fencepost.flow import build_flow
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import CapturedTrace


def verify_barriers(trace: CapturedTrace, known: Collection[ops.Operation] = ()) -> None:
    """Raise if a barrier stands where only some waves come by, or a split one is out of step on some path.

    Those that are `known` may: they stood there before, and hold some waves back.
    """
    flow = build_flow(trace)
    if not known:
        verify_splits(flow)
    for block in flow.blocks:
        for op in block.ops:
            if (
                block.guards
                and op not in known
                and isinstance(op, ops.SyncOperation)
                and not isinstance(op, ops.MemoryCounterWait)
            ):
                raise FencepostError(
                    "a barrier stands inside a divergent conditional",
                    [Mark(op.span), Mark(block.guards[-1].branch.span, "only some waves take this side")],
                    code="FP201",
                    source=trace.source,
                )
