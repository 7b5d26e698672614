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
    """Steps at the ends of phases in front of divergent conditionals."""
    for phase, block in _phases_that_end(program, ops.Conditional, ops.CondBranch):
        inside = (
            program.flow.blocks[program.phases.nodes[edge.target].block] for edge in program.edges[phase]
        )
        if any(target.guards for target in inside):
            entry = _entry(block, *_conflicts_inside_divergence(program, phase))
            program.steps[phase] = [*program.steps[phase], *entry]


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
    for phase, block in _phases_that_end(program, ops.Call):
        assert isinstance(block.anchor, ops.Call)
        if block.anchor.function.name in shared:
            entry = _entry(block, *_reached_first(program, phase, len(block.calls)))
            steps[phase] = [*steps[phase], *entry]
    return replace(program, steps=steps)


def _phases_that_end(program: Program, *kinds: type[ops.Operation]) -> Iterator[tuple[int, Block]]:
    """The phases whose blocks end in front of operations of some kinds, and where a barrier can stand."""
    for phase, node in enumerate(program.phases.nodes):
        block = program.flow.blocks[node.block]
        if isinstance(block.anchor, kinds) and not block.guards:
            yield phase, block


def _entry(block: Block, conflicts: int, flying: int) -> list[Step]:
    if not (conflicts or flying):
        return []
    return [Step(len(block.ops), conflicts=conflicts, flying=flying)]


def _conflicts_inside_divergence(program: Program, phase: int) -> tuple[int, int]:
    """Everything, pending or in flight, that something in a divergent conditional conflicts with."""
    conflicts = flying = 0
    seen: set[int] = set()
    todo = [edge.target for edge in program.edges[phase]]
    while todo:
        here = todo.pop()
        if here in seen or not program.flow.blocks[program.phases.nodes[here].block].guards:
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
                flying |= step.flying & ~program.on_levels(inside)
        todo += [edge.target for edge in program.edges[here]]
    return conflicts, flying


def _due(program: Program, phase: int) -> int:
    """What has to be complete before the groups that meet barriers in a divergent conditional do so."""
    skew = program.transfer
    if isinstance(skew, InStep) or phase not in skew.groups.arrivals:
        return 0
    met = program.flow.blocks[program.phases.nodes[phase].block].ops
    raw = sum(isinstance(op, ops.WorkgroupBarrier) for op in met)
    return skew.overdue(skew.groups.arrivals[phase], raw) if raw else 0


def _reached_first(program: Program, phase: int, depth: int) -> tuple[int, int]:
    """What conflicts with the accesses that a function can make before its first barrier."""
    flow = program.flow
    conflicts = flying = 0
    seen: set[int] = set()
    todo = [edge.target for edge in program.edges[phase]]
    while todo:
        here = todo.pop()
        block = flow.blocks[program.phases.nodes[here].block]
        if here in seen or len(block.calls) <= depth:
            continue
        seen.add(here)
        steps = {step.gap: step for step in program.steps[here] if step.number >= 0}
        for gap, op in enumerate(block.ops):
            if isinstance(op, ops.SharedMemoryBarrier):
                break
            if gap in steps:
                conflicts |= steps[gap].conflicts
                flying |= steps[gap].flying
        else:
            todo += [edge.target for edge in program.edges[here]]
    return conflicts, flying
