"""Pairs around loops and conditionals, as Wave's older walk puts them in.

A signal in front of a region and a wait behind it order what comes before with what comes after, and give a loop that
waits at its top and signals at its end something to begin and to end with. They order nothing inside the region;
`insert_barriers` sees to that (docs/seed-differences.md).
"""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.analysis.block_instances import find_instances
from fencepost.analysis.split_alternation import verify_splits
from fencepost.flow import build_flow
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.targets import TargetConfig

Owners = Mapping[Buffer, ops.Operation]
"""For each allocation the operation that used it last."""


def should_insert_split_barrier_for_nested_region_op(
    target: TargetConfig, before: Owners, after: Owners, *, checking_next_iter: bool = False
) -> bool:
    """Whether a region gets a pair around it: the target can split barriers, and the region used shared memory.

    `before` and `after` are the owners in front of the region and behind it. In the second round over a loop's body,
    the one that looks for hazards with the next iteration, no region does.
    """
    if not target.split_barriers or checking_next_iter:
        return False
    return any(before.get(buffer) is not owner for buffer, owner in after.items())


def add_signal_wait_to_subgraph(
    trace: CapturedTrace, op: ops.Operation
) -> tuple[ops.SharedMemoryBarrierSignal, ops.SharedMemoryBarrierWait]:
    """Put a signal in front of a loop or conditional and a wait behind it.

    An error, and no change, if the barrier would be out of step then: where the region has pairs or barriers of its
    own that do not begin with a wait and end with a signal.
    """
    if not isinstance(op, ops.Iterate | ops.Conditional) or op.graph is None:
        raise ValueError(f"{op.mnemonic} is no loop or conditional of a kernel")
    graph = op.graph
    signal, wait = ops.SharedMemoryBarrierSignal(), ops.SharedMemoryBarrierWait()
    graph.insert_before(op, signal)
    graph.insert_after(op, wait)
    try:
        flow = build_flow(trace)
        verify_splits(flow, find_instances(flow))
    except FencepostError:
        graph.remove(signal)
        graph.remove(wait)
        raise
    return signal, wait
