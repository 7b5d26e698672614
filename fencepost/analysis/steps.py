"""The steps of each instance, and how bits change along edges."""

from __future__ import annotations

from functools import reduce
from operator import and_, or_

from fencepost.analysis.class_table import all_ages
from fencepost.analysis.mbarrier_waits import buffers_arrived_on
from fencepost.analysis.program import Edge, Program, Step
from fencepost.analysis.sync import ALL
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
    """The edge to an instance, along which `loop` goes round."""
    flow, table = program.flow, program.table
    if not table.grouped:
        return Edge(target, (), loop)
    inside = {other.index for other in flow.loops_around(program.instances.nodes[target].block)}
    masks: dict[int, int] = {}
    for number in table.grouped:
        loops = table.classes[number].loops
        for age in range(len(loops) + 1):
            # An access is as old as the outermost loop that has gone round since; 0 is young.
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
