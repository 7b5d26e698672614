"""The structure of emitted synchronization: every wave meets every barrier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.analysis.block_instances import find_instances
from fencepost.analysis.split_alternation import verify_splits
from fencepost.flow import Block, Flow, Position, build_flow
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import CapturedTrace


def verify_barriers(trace: CapturedTrace) -> None:
    """Raise if a barrier stands where only some waves reach it, or a split one is out of step on some path."""
    flow = build_flow(trace)
    verify_splits(flow, find_instances(flow))
    for block in flow.blocks:
        for op in block.ops:
            if block.guards and _is_met(op):
                raise _divergent(op, block, trace)


def verify_places(flow: Flow, emitted: Mapping[Position, Sequence[ops.SyncOperation]]) -> None:
    """The same for whole barriers that were put into the kernel of `flow`, which is otherwise as it was."""
    for position, made in emitted.items():
        block = flow.blocks[position.block]
        for op in made:
            if op.graph is not block.graph:
                raise AssertionError(f"{op.mnemonic} stands in another region than it was meant for")
            if block.origin in flow.sealed and _is_met(op):
                guarded = next(
                    other for other in flow.blocks if other.origin == block.origin and other.guards
                )
                raise _divergent(op, guarded, flow.trace)


def _is_met(op: ops.Operation) -> bool:
    """Whether waves wait for each other there."""
    return isinstance(op, ops.SyncOperation) and not isinstance(op, ops.MemoryCounterWait)


def _divergent(op: ops.Operation, block: Block, trace: CapturedTrace) -> FencepostError:
    return FencepostError(
        "a barrier stands inside a divergent conditional",
        [Mark(op.span), Mark(block.guards[-1].branch.span, "only some waves take this side")],
        code="FP201",
        source=trace.source,
    )
