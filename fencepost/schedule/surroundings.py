"""Barriers before and behind the shifted loop, where all waves are still or again in step."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.ir import ops
from fencepost.schedule.arrangement import Arrangement


def add_barriers_around(loop: ops.Iterate, arrangement: Arrangement) -> None:
    """Make the first tile visible before the loop, and what the last iteration leaves visible behind it.

    A barrier that the kernel has there already is taken to be meant for that; the check that follows judges it.
    """
    graph = loop.graph
    assert graph is not None
    if not _met_first(_backwards(loop)):
        for op in arrangement.before:
            graph.insert_before(loop, op)
    if _touches(_forwards(loop)) and not _met_first(_forwards(loop)):
        for op in reversed(arrangement.behind):
            graph.insert_after(loop, op)


def _backwards(loop: ops.Iterate) -> Iterator[ops.Operation]:
    op = loop.prev
    while op is not None:
        yield op
        op = op.prev


def _forwards(loop: ops.Iterate) -> Iterator[ops.Operation]:
    op = loop.next
    while op is not None:
        yield op
        op = op.next


def _met_first(way: Iterator[ops.Operation]) -> bool:
    """Whether a barrier comes before anything that may touch shared memory."""
    for op in way:
        if isinstance(op, ops.SharedMemoryBarrier | ops.WorkgroupBarrier):
            return True
        if _may_touch(op):
            return False
    return False


def _touches(way: Iterator[ops.Operation]) -> bool:
    return any(_may_touch(op) for op in way)


def _may_touch(op: ops.Operation) -> bool:
    return isinstance(op, ops.MemoryOperation | ops.Call) or bool(ops.regions(op))
