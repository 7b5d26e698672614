"""From a kernel to its flow, in one pass over the operations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fencepost.flow.blocks import (
    DEFAULT_ESTIMATES,
    Assumed,
    Block,
    Estimates,
    Flow,
    Guard,
    Loop,
    reverse_postorder,
)
from fencepost.flow.divergence import linearize_divergent_branches
from fencepost.flow.frequencies import find_frequencies, in_body, on_side
from fencepost.flow.unstructured import read_shape
from fencepost.ir import ops
from fencepost.ir.expr import is_divergent
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import CapturedTrace, Graph
from fencepost.ir.verify import verify_trace


@dataclass(slots=True)
class _Open:
    """A region that is being read; what happens at its end depends on what it is the region of."""

    graph: Graph
    rest: Iterator[ops.Operation]
    before: int = -1
    """The block in front of the loop or conditional."""
    first: int = -1
    then_end: int = -1
    call: ops.Call | None = None
    """For the body of a function: the call that it is read for."""


def build_flow(trace: CapturedTrace, estimates: Estimates = DEFAULT_ESTIMATES) -> Flow:
    """The program points and edges of `trace`; raises FencepostError for control flow that makes no sense."""
    verify_trace(trace)
    flow = Flow(trace, estimates)
    assumed: set[Assumed] = set()
    if len(trace.blocks) == 1:
        _add_graph(flow, trace.blocks[0], -1, 1.0, {})
    else:
        assumed = _add_blocks(flow, trace)
    for block in flow.blocks:
        for successor in block.successors:
            flow.blocks[successor].predecessors.append(block.index)
        if block.origin != block.index:
            so_far = flow.expanded.get(block.origin, flow.blocks[block.origin].frequency)
            flow.expanded[block.origin] = so_far + block.frequency
    flow.sealed = {block.origin for block in flow.blocks if block.guards}
    flow.order = reverse_postorder([block.successors for block in flow.blocks])
    flow.assumed = _all_assumed(flow, assumed)
    return flow


def _all_assumed(flow: Flow, of_branches: set[Assumed]) -> list[Assumed]:
    """What was assumed, in the order of the program; nothing has to be for what cannot run."""
    trip, taken = flow.estimates.trip, flow.estimates.taken
    found: dict[Assumed, None] = {}
    for block in flow.blocks:
        op = block.anchor
        if not block.frequency:
            continue
        if isinstance(op, ops.Iterate) and op.trip is None and op.expect is None:
            found[Assumed(op, "trip", trip)] = None
        elif isinstance(op, ops.Conditional) and op.expect is None and not is_divergent(op.condition):
            found[Assumed(op, "taken", taken)] = None
        elif isinstance(op, (ops.Branch, ops.CondBranch)):
            both = (Assumed(op, "trip", trip), Assumed(op, "taken", taken))
            found.update((assumed, None) for assumed in both if assumed in of_branches)
    return list(found)


def _add_blocks(flow: Flow, trace: CapturedTrace) -> set[Assumed]:
    """Unstructured control flow: find the loops among the labelled blocks first, then fill each block."""
    shape = read_shape(trace)
    frequency, assumed = find_frequencies(shape, trace, flow.estimates)
    flow.loops += shape.loops
    ends: list[int] = []
    starts: list[int] = []
    expanded: Expanded = {}
    for number, graph in enumerate(trace.blocks):
        starts.append(len(flow.blocks))
        ends.append(_add_graph(flow, graph, shape.loop_of[number], frequency[number], expanded))
    for number, targets in enumerate(shape.successors):
        flow.blocks[ends[number]].successors = [starts[target] for target in targets]
    for loop in shape.loops:
        loop.header = starts[loop.header]
        loop.latches = [ends[latch] for latch in loop.latches]
    linearize_divergent_branches(flow, trace, shape, starts, ends)
    return assumed


Expanded = dict[str, tuple[int, int]]
"""For each function: its first block, and how many it has, where it was expanded first."""
MOST_BLOCKS = 65_536


def _new_block(
    flow: Flow,
    graph: Graph,
    loop: int,
    frequency: float,
    guards: tuple[Guard, ...],
    like: Block | None = None,
) -> Block:
    """A block, for the same call as `like`."""
    number = len(flow.blocks)
    block = Block(number, graph, loop, frequency, guards, origin=number)
    if like is not None:
        block.frame, block.calls = like.frame, like.calls
    flow.blocks.append(block)
    return block


def _add_graph(flow: Flow, graph: Graph, loop: int, frequency: float, expanded: Expanded) -> int:
    """Add the blocks of `graph`, of everything nested in it and of the functions it calls; returns the last one."""
    here = _new_block(flow, graph, loop, frequency, ())
    todo = [_Open(graph, iter(graph))]
    while todo:
        region = todo[-1]
        op = next(region.rest, None)
        if op is None:
            todo.pop()
            if todo and region.call is not None:
                here = _return_from(flow, region, todo[-1], here, expanded)
            elif todo:
                here = _close(flow, region, todo[-1], here)
                owner = region.graph.owner
                if isinstance(owner, ops.Conditional) and region.graph is owner.then:
                    todo.append(
                        _Open(owner.orelse, iter(owner.orelse), region.before, then_end=region.then_end)
                    )
        elif isinstance(op, ops.Iterate):
            here.anchor = op
            inner = _new_loop(flow, op, here)
            frequency = in_body(here.frequency, op, flow.estimates)
            body = _new_block(flow, op.body, inner.index, frequency, here.guards, here)
            inner.header = body.index
            todo.append(_Open(op.body, iter(op.body), here.index, body.index))
            here = body
        elif isinstance(op, ops.Conditional):
            here.anchor = op
            before = here
            if is_divergent(op.condition):
                guards = (*before.guards, Guard(op, True, len(before.calls)))
                here = _new_block(flow, op.then, before.loop, before.frequency, guards, before)
            else:
                frequency = on_side(before.frequency, op, op.then, flow.estimates)
                here = _new_block(flow, op.then, before.loop, frequency, before.guards, before)
            before.successors.append(here.index)
            todo.append(_Open(op.then, iter(op.then), before.index, here.index))
        elif isinstance(op, ops.Call):
            here.anchor = op
            before, called = here, op.function.blocks[0]
            here = _new_block(flow, called, before.loop, before.frequency, before.guards)
            here.frame, here.calls = before.frame + op.frame, (*before.calls, op)
            before.successors.append(here.index)
            todo.append(_Open(called, iter(called), before.index, here.index, call=op))
        elif isinstance(op, (ops.Branch, ops.CondBranch, ops.Return, ops.Next, ops.Give)):
            here.anchor = op
        elif isinstance(op, ops.Exchange):
            here.ops += op.parts()
        else:
            here.ops.append(op)
    return here.index


def _return_from(flow: Flow, region: _Open, around: _Open, last: Block, expanded: Expanded) -> Block:
    """`last` ends a function: connect it, and tie its blocks to those of the first call."""
    assert region.call is not None
    if len(flow.blocks) > MOST_BLOCKS:
        raise FencepostError(
            f"calls of functions expand to more than {MOST_BLOCKS} blocks",
            [Mark(region.call.span)],
            code="FP108",
            source=flow.trace.source,
        )
    size = len(flow.blocks) - region.first
    first, known = expanded.setdefault(region.call.function.name, (region.first, size))
    assert known == size, "a function has the same blocks each time"
    for place in range(size):
        flow.blocks[region.first + place].origin = flow.blocks[first + place].origin
    before = flow.blocks[region.before]
    after = _new_block(flow, around.graph, before.loop, before.frequency, before.guards, before)
    after.begins_behind = region.call
    last.successors.append(after.index)
    return after


def _new_loop(flow: Flow, op: ops.Iterate, before: Block) -> Loop:
    parent = before.loop
    depth = 1 if parent < 0 else flow.loops[parent].depth + 1
    loop = Loop(len(flow.loops), parent, -1, depth, op.trip, op)
    flow.loops.append(loop)
    return loop


def _close(flow: Flow, region: _Open, around: _Open, last: Block) -> Block:
    """`last` ends a region: connect it, and return the block that is read next."""
    before = flow.blocks[region.before]
    owner = region.graph.owner
    if isinstance(owner, ops.Iterate):
        after = _new_block(flow, around.graph, before.loop, before.frequency, before.guards, before)
        after.begins_behind = owner
        trip = owner.trip
        if trip != 0:
            before.successors.append(region.first)
            if trip != 1:
                last.successors.append(region.first)
                flow.loops[flow.blocks[region.first].loop].latches.append(last.index)
            last.successors.append(after.index)
        if trip is None or trip == 0:
            before.successors.append(after.index)
        return after
    assert isinstance(owner, ops.Conditional)
    divergent = is_divergent(owner.condition)
    if region.graph is owner.then:
        if divergent:
            guards = (*before.guards, Guard(owner, False, len(before.calls)))
            other = _new_block(flow, owner.orelse, before.loop, before.frequency, guards, before)
            last.successors.append(other.index)
        else:
            frequency = on_side(before.frequency, owner, owner.orelse, flow.estimates)
            other = _new_block(flow, owner.orelse, before.loop, frequency, before.guards, before)
            before.successors.append(other.index)
        region.then_end = last.index
        return other
    after = _new_block(flow, around.graph, before.loop, before.frequency, before.guards, before)
    after.begins_behind = owner
    last.successors.append(after.index)
    if not divergent:
        flow.blocks[region.then_end].successors.append(after.index)
    return after
