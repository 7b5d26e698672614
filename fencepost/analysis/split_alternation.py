"""Split barriers must alternate: on every path a signal, then its wait, and nothing left signalled at the end.

A barrier without halves arrives at the workgroup's barrier and waits for it, so it must not stand between a signal
of that barrier and its wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fencepost.analysis.block_instances import BlockInstances
from fencepost.flow import Block, Flow, Position
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark

CLOSED, OPEN = 1, 2
"""What a split barrier can be, as bits: not signalled, or signalled and not waited for."""


@dataclass(slots=True)
class _Step:
    """An instance with a state, and how it was reached."""

    instance: int
    block: int
    state: frozenset[int]
    """The barriers that are signalled."""
    came_from: _Step | None


def verify_splits(flow: Flow, instances: BlockInstances) -> None:
    """Raise if a split barrier is out of step on some path; the error shows that path."""
    todo = [_Step(entry, 0, frozenset(), None) for entry in reversed(range(instances.entries))]
    seen = {(step.instance, step.state) for step in todo}
    while todo:
        step = todo.pop()
        block = flow.blocks[step.block]
        signalled = set(step.state)
        for op in block.ops:
            _pass(flow, step, op, signalled)
        if not block.successors and signalled:
            raise _out_of_step(flow, step, None, f"{_name(min(signalled))} is signalled, and the kernel ends")
        for target, _ in instances.edges[step.instance]:
            key = (target, frozenset(signalled))
            if key not in seen:
                seen.add(key)
                todo.append(_Step(target, instances.nodes[target].block, key[1], step))


def _pass(flow: Flow, step: _Step, op: ops.Operation, signalled: set[int]) -> None:
    if isinstance(op, ops.SharedMemoryBarrierSignal):
        if op.bar_id in signalled:
            raise _out_of_step(
                flow, step, op, f"{_name(op.bar_id)} is signalled twice before it is waited for"
            )
        signalled.add(op.bar_id)
    elif isinstance(op, ops.SharedMemoryBarrierWait):
        if op.bar_id not in signalled:
            raise _out_of_step(flow, step, op, f"{_name(op.bar_id)} is waited for and not signalled")
        signalled.remove(op.bar_id)
    elif isinstance(op, (ops.SharedMemoryBarrier, ops.WorkgroupBarrier)) and ops.WORKGROUP in signalled:
        raise _out_of_step(
            flow, step, op, f"a barrier between the signal of {_name(ops.WORKGROUP)} and its wait"
        )


def _name(bar_id: int) -> str:
    return "the workgroup's barrier" if bar_id == ops.WORKGROUP else f"barrier {bar_id}"


def _out_of_step(flow: Flow, step: _Step, op: ops.Operation | None, text: str) -> FencepostError:
    here: _Step | None = step
    before: list[ops.Operation] = []
    while here is not None:
        ops_ = flow.blocks[here.block].ops
        if here is step and op is not None:
            ops_ = ops_[: ops_.index(op)]
        before[:0] = [found for found in ops_ if isinstance(found, ops.SyncOperation)]
        here = here.came_from
    splits = [found for found in before if not isinstance(found, ops.MemoryCounterWait)]
    marks = [Mark(op.span)] if op is not None else []
    marks += [Mark(found.span, "passed before this") for found in splits[-2:]]
    lines = " → ".join(
        str(found.span.line) for found in [*splits[-6:], op] if found is not None and found.span
    )
    return FencepostError(
        text, marks, code="FP204", notes=[("path", lines)] if lines else [], source=flow.trace.source
    )


def positions_inside_splits(flow: Flow, instances: BlockInstances) -> frozenset[Position]:
    """The positions at which the workgroup's barrier can be signalled and not waited for."""
    found: set[Position] = set()
    starts = dict.fromkeys(range(instances.entries), CLOSED)
    todo = list(starts)
    while todo:
        instance = todo.pop()
        block = flow.blocks[instances.nodes[instance].block]
        state = starts[instance]
        for gap, now in _states(block, state):
            if now & OPEN:
                found.add(Position(block.origin, gap))
            state = now
        for target, _ in instances.edges[instance]:
            if state & ~starts.get(target, 0):
                starts[target] = starts.get(target, 0) | state
                todo.append(target)
    return frozenset(found)


def _states(block: Block, state: int) -> Iterator[tuple[int, int]]:
    """What the workgroup's barrier can be in front of each operation, and at the end of a block."""
    for gap, op in enumerate(block.ops):
        yield gap, state
        if getattr(op, "bar_id", None) == ops.WORKGROUP:
            state = OPEN if isinstance(op, ops.SharedMemoryBarrierSignal) else CLOSED
    yield len(block.ops), state
