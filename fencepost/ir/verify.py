"""What every kernel must satisfy before anything looks at its control flow."""

from __future__ import annotations

from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import CapturedTrace


def verify_trace(trace: CapturedTrace) -> None:
    """Refuse branches that stand in the wrong place or lead nowhere."""
    several = len(trace.blocks) > 1
    labels = {graph.name for graph in trace.blocks[1:]}
    for op in trace.preorder_walk():
        if not isinstance(op, ops.Branch | ops.CondBranch | ops.Return):
            continue
        if op.graph is not None and op.graph.owner is not None:
            raise FencepostError(
                f"{op.mnemonic} inside a loop or conditional; branches stand in blocks",
                [Mark(op.span), Mark(op.graph.owner.span, "inside this")],
                code="FP106",
                source=trace.source,
            )
        if op.next is not None:
            raise FencepostError(
                f"{op.mnemonic} ends its block, yet something follows",
                [Mark(op.span), Mark(op.next.span, "this can never run")],
                code="FP106",
                source=trace.source,
            )
        for target in _targets(op):
            if target not in labels:
                raise FencepostError(
                    f"there is no block ^{target}", [Mark(op.span)], code="FP104", source=trace.source
                )
    if several:
        for graph in trace.blocks:
            if not isinstance(graph.last, ops.Branch | ops.CondBranch | ops.Return):
                name = "the entry block" if graph is trace.blocks[0] else f"block ^{graph.name}"
                raise FencepostError(
                    f"{name} does not end in br, cond_br or return",
                    [Mark(graph.last.span if graph.last else graph.span)],
                    code="FP106",
                    source=trace.source,
                )


def _targets(op: ops.Terminator) -> list[str]:
    if isinstance(op, ops.Branch):
        return [op.target]
    return [op.then, op.orelse] if isinstance(op, ops.CondBranch) else []
