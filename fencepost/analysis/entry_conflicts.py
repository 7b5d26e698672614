"""Units that no barrier stands in: what they conflict with is settled in front of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fencepost.analysis.program import Program, Step
from fencepost.analysis.steps import certain_classes
from fencepost.analysis.transfer import InStep
from fencepost.flow import Block
from fencepost.ir import ops


def add_entries(program: Program) -> None:
    """Steps at the ends of instances in front of divergent conditionals."""
    for instance, block in _instances_that_end(program, ops.Conditional, ops.CondBranch):
        inside = (
            program.flow.blocks[program.instances.nodes[edge.target].block]
            for edge in program.edges[instance]
        )
        if any(target.guards for target in inside):
            entry = _entry(block, *_conflicts_inside_divergence(program, instance))
            program.steps[instance] = [*program.steps[instance], *entry]


def with_call_entries(program: Program) -> Program:
    """The program with steps in front of calls of functions that are called from several places.

    They conflict with what the function could do before its first barrier: a barrier that only one of the calls
    needs then stands in front of that call, not in the function, where every call would pay for it.
    """
    flow = program.flow
    shared = {
        call.function.name for block in flow.blocks for call in block.calls if block.origin != block.index
    }
    if not shared:
        return program
    steps = list(program.steps)
    for instance, block in _instances_that_end(program, ops.Call):
        assert isinstance(block.anchor, ops.Call)
        if block.anchor.function.name in shared:
            entry = _entry(block, *_reached_first(program, instance, len(block.calls)))
            steps[instance] = [*steps[instance], *entry]
    return replace(program, steps=steps)


def _instances_that_end(program: Program, *kinds: type[ops.Operation]) -> Iterator[tuple[int, Block]]:
    """The instances whose blocks end in front of operations of some kinds, and where a barrier can stand."""
    for instance, node in enumerate(program.instances.nodes):
        block = program.flow.blocks[node.block]
        if isinstance(block.anchor, kinds) and not block.guards:
            yield instance, block


def _entry(block: Block, conflicts: int, in_flight: int) -> list[Step]:
    if not (conflicts or in_flight):
        return []
    return [Step(len(block.ops), conflicts=conflicts, in_flight=in_flight)]


def _conflicts_inside_divergence(program: Program, instance: int) -> tuple[int, int]:
    """Everything, pending or in flight, that something in a divergent conditional conflicts with."""
    conflicts = in_flight = 0
    seen: set[int] = set()
    todo = [edge.target for edge in program.edges[instance]]
    while todo:
        here = todo.pop()
        if here in seen or not program.flow.blocks[program.instances.nodes[here].block].guards:
            continue
        seen.add(here)
        inside = 0
        if program.transfer.counts_rendezvous:
            # What only concerns a wave's own engine, the wave can wait for inside.
            inside = certain_classes(program, here)
            conflicts |= _due(program, here)
        for step in program.steps[here]:
            if step.number >= 0:
                conflicts |= step.conflicts & ~inside
                in_flight |= step.in_flight & ~program.on_levels(inside)
        todo += [edge.target for edge in program.edges[here]]
    return conflicts, in_flight


def _due(program: Program, instance: int) -> int:
    """What has to be complete before the groups that meet barriers in a divergent conditional do so."""
    skew = program.transfer
    if isinstance(skew, InStep) or instance not in skew.groups.arrivals:
        return 0
    met = program.flow.blocks[program.instances.nodes[instance].block].ops
    raw = sum(isinstance(op, ops.WorkgroupBarrier) for op in met)
    return skew.overdue(skew.groups.arrivals[instance], raw) if raw else 0


def _reached_first(program: Program, instance: int, depth: int) -> tuple[int, int]:
    """What conflicts with the accesses that a function can make before its first barrier."""
    flow = program.flow
    conflicts = in_flight = 0
    seen: set[int] = set()
    todo = [edge.target for edge in program.edges[instance]]
    while todo:
        here = todo.pop()
        block = flow.blocks[program.instances.nodes[here].block]
        if here in seen or len(block.calls) <= depth:
            continue
        seen.add(here)
        steps = {step.gap: step for step in program.steps[here] if step.number >= 0}
        for gap, op in enumerate(block.ops):
            if isinstance(op, ops.SharedMemoryBarrier):
                break
            if gap in steps:
                conflicts |= steps[gap].conflicts
                in_flight |= steps[gap].in_flight
        else:
            todo += [edge.target for edge in program.edges[here]]
    return conflicts, in_flight
