"""Why two accesses race, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.check.report import Touch
from fencepost.ir import ops


def why_racing(
    first: Touch, second: Touch, path: Sequence[ops.Operation], waited: bool, signalled: bool, ungrouped: bool
) -> str:
    """What is missing between two accesses.

    The first one is complete (`waited`), a barrier was `signalled`, its group was not closed by then (`ungrouped`).
    """
    if first.by_engine and not waited:
        return _in_flight(first, path, ungrouped)
    if second.wave == first.wave:
        what = "read" if second.verb == "reads" else "copy"
        return f"the operation may still be outstanding when the engine starts to {what}"
    if signalled:
        return "the barrier was signalled in between, but not waited for"
    if first.by_engine:
        return f"the {_work(first)} was waited for, but no barrier after that wait tells the other waves"
    if any(isinstance(op, ops.WorkgroupBarrier) for op in path):
        return (
            "the workgroup barrier between them has no fence, and the first access may still be outstanding"
        )
    return "no barrier lies between them"


def _in_flight(first: Touch, path: Sequence[ops.Operation], ungrouped: bool) -> str:
    assert isinstance(first.op, ops.AsyncOperation)
    counter = first.op.counter
    waits = [op for op in path if isinstance(op, (ops.MemoryCounterWait, ops.SharedMemoryBarrier))]
    counted = any(counter in op.counts for op in waits)
    if counted and ungrouped:
        return f"no `commit {counter}` closes the group of the {_work(first)}, so no count waits for it"
    if counted:
        return (
            f"the {_work(first)} may be among those that the wait for counter {counter!r} leaves outstanding"
        )
    return f"nothing waits for the {_work(first)}: no wait for counter {counter!r} lies in between"


def too_weak(first: Touch, path: Sequence[ops.Operation]) -> ops.Operation | None:
    """The last wait for an engine that leaves its work outstanding, if there is one between two accesses."""
    if not first.by_engine or not isinstance(first.op, ops.AsyncOperation):
        return None
    for op in reversed(path):
        if isinstance(op, (ops.MemoryCounterWait, ops.SharedMemoryBarrier)) and op.counts.get(
            first.op.counter
        ):
            return op
    return None


def _work(touch: Touch) -> str:
    """What the engine does."""
    return "engine's read" if touch.verb == "reads" else "copy"
