"""The flow of a kernel that barriers were put into, from the flow that it had before."""

from __future__ import annotations

import pytest

from fencepost.flow import Flow, build_flow, read_again
from fencepost.ir import ops
from fencepost.ir.parser import parse
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace

STRUCTURED = """
func @inner {
  shared %s : 64
  write %s
}
kernel @k waves=4 {
  shared %a : 256
  write %a
  loop %i in 0..8 {
    read %a
    if wave < 2 {
      write %a
    } else {
      read %a
    }
    exchange %a
  }
  call @inner
  if %c {
    read %a
  }
  write %a
}
"""
BLOCKS = """
kernel @k waves=4 {
  shared %a : 256
  br ^head
^head:
  write %a
  cond_br %more, ^head, ^end
^end:
  read %a
  return
}
"""


def places(flow: Flow) -> list[object]:
    """Everything that two flows of one kernel have in common; parts of operations are made anew each time."""
    return [
        (
            [(op.owner or op, op.mnemonic) for op in block.ops],
            block.anchor,
            block.graph,
            block.successors,
            block.predecessors,
            block.guards,
            block.frequency,
            block.loop,
            block.calls,
            block.origin,
        )
        for block in flow.blocks
    ]


def accesses(trace: CapturedTrace) -> list[ops.Operation]:
    return [op for op in trace.preorder_walk() if isinstance(op, ops.MemoryOperation)]


@pytest.mark.parametrize("text", [STRUCTURED, BLOCKS])
def test_what_is_put_in_front_of_each_access_and_taken_out_again_is_seen(text: str) -> None:
    trace = parse(text)
    before = build_flow(trace)
    for op in accesses(trace):
        assert op.graph is not None
        barrier = op.graph.insert_before(op, ops.SharedMemoryBarrier())
        after = read_again(before)
        assert places(after) == places(build_flow(trace)) != places(before)
        assert (after.order, after.sealed, after.assumed) == (before.order, before.sealed, before.assumed)
        op.graph.remove(barrier)
        assert places(read_again(before)) == places(before)


def test_a_conditional_that_has_gone_is_noticed() -> None:
    trace = parse(STRUCTURED)
    before = build_flow(trace)
    gone = next(op for op in trace.preorder_walk() if isinstance(op, ops.Conditional))
    assert gone.graph is not None
    gone.graph.remove(gone)
    with pytest.raises(ValueError, match="control flow"):
        read_again(before)


def test_a_branch_that_has_come_is_noticed() -> None:
    trace = parse(BLOCKS)
    before = build_flow(trace)
    access = accesses(trace)[0]
    assert access.graph is not None
    access.graph.insert_before(access, ops.Return())
    with pytest.raises(ValueError, match="control flow"):
        read_again(before)


def test_a_barrier_for_waves_that_are_not_there_is_refused_as_ever() -> None:
    trace = parse(BLOCKS)
    before = build_flow(trace)
    access = accesses(trace)[0]
    assert access.graph is not None
    access.graph.insert_before(access, ops.SharedMemoryBarrier(waves=(0, 8)))
    with pytest.raises(FencepostError, match="there are 4"):
        read_again(before)
