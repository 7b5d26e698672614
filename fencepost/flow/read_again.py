"""The flow of a kernel that barriers or waits were put into, from the flow that it had before.

Blocks, edges, loops and frequencies do not depend on them, and take much longer to find than the operations of each
block take to read.
"""

from __future__ import annotations

from fencepost.flow.blocks import Block, Flow
from fencepost.ir import ops
from fencepost.ir.verify import check_waves

ENDS = (*ops.NESTING, ops.Call, ops.Branch, ops.CondBranch, ops.Return, ops.Next, ops.Give)
"""What a block ends before; nothing of it may have come or gone."""


def read_again(flow: Flow) -> Flow:
    """What `build_flow` makes of the kernel now; loops, conditionals, calls and branches have to be the same as then.

    That none of these has come or gone is verified, not that each is as it was.
    """
    blocks = [
        Block(
            block.index,
            block.graph,
            block.loop,
            block.frequency,
            block.guards,
            block.frame,
            block.calls,
            block.origin,
            _operations(flow, block),
            block.anchor,
            block.successors,
            block.predecessors,
            block.begins_behind,
        )
        for block in flow.blocks
    ]
    return Flow(
        flow.trace, flow.estimates, blocks, flow.loops, flow.order, flow.sealed, flow.expanded, flow.assumed
    )


def _operations(flow: Flow, block: Block) -> list[ops.Operation]:
    """The operations that stand in a block now."""
    found: list[ops.Operation] = []
    behind = block.begins_behind
    here = block.graph.first if behind is None else behind.next
    while here is not None and not isinstance(here, ENDS):
        if isinstance(here, ops.Exchange):
            found += here.parts()
        else:
            if isinstance(here, ops.SharedMemoryBarrier) and here.waves is not None and not block.calls:
                check_waves(here, here.waves, flow.trace)
            found.append(here)
        here = here.next
    if here is not block.anchor:
        raise ValueError("the control flow of this kernel is another one than it was")
    return found
