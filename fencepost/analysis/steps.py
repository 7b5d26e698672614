"""The steps of each instance, and how bits change along edges.

Where no barrier can stand (in a divergent conditional) or none should (in a function that is called from several
places), what is inside conflicts with is settled by a step in front of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from operator import and_, or_

from fencepost.analysis.access_class import all_ages
from fencepost.analysis.mbarrier_waits import buffers_arrived_on
from fencepost.analysis.program import Edge, Program, Step
from fencepost.analysis.transfer import ALL, InStep
from fencepost.flow import Block
from fencepost.ir import ops


def steps_of(program: Program, instance: int, block: Block) -> list[Step]:
    """The steps of an instance, in order."""
    table = program.table
    accesses = table.accesses[instance]
    if not table.engines:
        # By far the most frequent case.
        spread = program.transfer.spread
        steps = [
            Step(gap, table.bit[number] * spread, table.conflicts[number], number=number)
            for gap, number in accesses
        ]
        inner = [gap for gap, op in enumerate(block.ops) if op.owner is not None]
        if inner:
            clears = (
                Step(gap, clears=True) for gap in inner if isinstance(block.ops[gap], ops.SyncOperation)
            )
            steps = sorted([*steps, *clears], key=lambda step: step.gap)
        return steps
    certain = certain_classes(program, instance) | _made_here(program, instance, block)
    number_at = dict(accesses)
    found = (
        _step(program, gap, op, number_at.get(gap, -1), certain, block.origin in program.flow.sealed)
        for gap, op in enumerate(block.ops)
    )
    return [step for step in found if step is not None]


def certain_classes(program: Program, instance: int) -> int:
    """The bits of accesses all of whose waves are certain to run an instance."""
    table = program.table
    here = program.instances.waves_certain(program.flow, program.instances.nodes[instance])
    certain = table.within.get(here)
    if certain is None:
        certain = 0
        for number, made in enumerate(table.classes):
            if not made.waves & ~here:
                certain |= all_ages(table, number)
        table.within[here] = certain
    return certain


def _made_here(program: Program, instance: int, block: Block) -> int:
    """The bits of accesses that nothing else makes: whoever made them runs the block, if that runs once."""
    if not block.guards or block.loop >= 0:
        return 0
    table = program.table
    numbers = {number for _, number in table.accesses[instance] if table.only_in[number] == instance}
    return reduce(or_, (all_ages(table, number) for number in numbers), 0)


def _step(
    program: Program, gap: int, op: ops.Operation, number: int, certain: int, guarded: bool
) -> Step | None:
    """What one operation does to the state: adds bits, conflicts with some, counts, completes; None if nothing."""
    table, levels = program.table, program.levels
    counts = may_count = 0
    counter = ops.counter_of(op)
    if counter in table.engines and (isinstance(op, ops.CommitGroup) or counter not in program.groups):
        counted = table.engines[counter]
        counts = program.on_levels(counted & certain, 0, levels - 1)
        may_count = program.on_levels(counted & ~certain, 0, levels - 1)
    if number >= 0:
        in_flight = program.on_levels(table.in_flight[number])
        by_engine = bool(table.classes[number].engine)
        # What is in flight is pending for every split barrier once it is complete.
        adds = table.bit[number] * (1 if by_engine else program.transfer.spread)
        conflicts = table.conflicts[number]
        settles = completes = 0
        if isinstance(op, ops.MbarrierWait) and program.mbarriers:
            arrived = [program.mbarriers.get(buffer, 0) for buffer in buffers_arrived_on(op.view)]
            # Of several buffers, only what all of them stand for is surely complete.
            settles = reduce(and_, arrived)
            if guarded:
                # Whoever waits knows; the others need a barrier.
                settles, completes = 0, program.on_levels(settles & certain)
        return Step(
            gap,
            adds,
            conflicts,
            in_flight,
            by_engine,
            number,
            completes=completes,
            counts=counts,
            may_count=may_count,
            settles=settles,
        )
    if isinstance(op, ops.SharedMemoryBarrier) and op.owner is not None:
        return Step(gap, clears=True)
    if isinstance(op, ops.MemoryCounterWait) and guarded:
        completes = ALL if op.drains else program.waiting(op.counts).completes
        everything = program.on_levels(certain)
        return Step(gap, completes=completes & everything, may_complete=completes & ~everything)
    # A workgroup barrier has no fence: what is still outstanding it does not order. It counts for nothing.
    return Step(gap, counts=counts, may_count=may_count) if counts or may_count else None


def edge_to(program: Program, target: int, loop: int) -> Edge:
    """The edge to an instance; `loop` is the loop whose back edge it is, or -1."""
    flow, table = program.flow, program.table
    if not table.grouped:
        return Edge(target, (), loop)
    inside = {other.index for other in flow.loops_around(program.instances.nodes[target].block)}
    masks: dict[int, int] = {}
    for number in table.grouped:
        loops = table.classes[number].loops
        for age in range(len(loops) + 1):
            # An access is as old as the outermost loop that has begun another iteration since; 0 is young.
            here = age
            if here and loops[here - 1] not in inside:
                here = 0
            if loop in loops:
                round_ = loops.index(loop) + 1
                here = round_ if here == 0 else min(here, round_)
            if here != age:
                masks[here - age] = masks.get(here - age, 0) | table.bit[number] << age
    in_flight = tuple(
        (program.on_levels(mask * program.transfer.copies), places) for places, mask in masks.items()
    )
    return Edge(
        target,
        tuple((mask * program.transfer.spread, places) for places, mask in masks.items()),
        loop,
        in_flight,
    )


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
