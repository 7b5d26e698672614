"""From a kernel to its program."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import reduce
from operator import or_

from fencepost.analysis.access_class import ClassTable, width
from fencepost.analysis.block_instances import BlockInstances, coarser_and_coarser
from fencepost.analysis.classify_accesses import COARSER, classify
from fencepost.analysis.conflicts import Filter, TooMuch
from fencepost.analysis.mbarrier_waits import settled_by
from fencepost.analysis.program import MOST_ASKED, MOST_COUNTED, Program
from fencepost.analysis.read_completion import completed_by_use
from fencepost.analysis.skew.groups import find_groups, one_group
from fencepost.analysis.skew.steps import SkewedSteps
from fencepost.analysis.skew.transfer import Skewed, skewed
from fencepost.analysis.split_alternation import positions_inside_splits, verify_splits
from fencepost.analysis.steps import add_entries, certain_classes, edge_to, steps_of
from fencepost.analysis.transfer import ALL, InStep, Sync
from fencepost.flow import Block, Flow, Position, build_flow
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import CapturedTrace


def read_program(
    kernel: CapturedTrace | Flow,
    *,
    slots: bool = True,
    ignore: Filter | None = None,
    barrier_ids: Collection[int] = (),
    completion: bool = True,
    counts: int = 0,
) -> Program:
    """The program of a kernel, which may be given by its flow if that has been built.

    Without `slots`, what depends on a loop's numbers is unknown.

    `barrier_ids` are split barriers that may be put in; those that are there already are known. Without `completion`,
    a rendezvous without a fence orders nothing, and what a wave's own engine must not overtake needs a barrier. A
    wait that is put in can leave `counts` operations outstanding, or more.
    """
    flow = kernel if isinstance(kernel, Flow) else build_flow(kernel)
    instances, table = _read_classes(flow, ignore, slots)
    skewed_groups = find_groups(flow, instances) if flow.has_partial_barriers() else None
    split = [
        op.bar_id
        for block in flow.blocks
        for op in block.ops
        if isinstance(op, (ops.SharedMemoryBarrierSignal, ops.SharedMemoryBarrierWait))
    ]
    if split:
        verify_splits(flow, instances)
    if skewed_groups is None and completion and not split and completion_matters(flow, instances, table):
        skewed_groups = one_group(flow, instances)
    if skewed_groups is not None:
        barrier_ids = ()
    groups = _grouped(flow, table)
    ids = tuple(dict.fromkeys((*barrier_ids, *split)))
    inside_splits = positions_inside_splits(flow, instances) if split else frozenset()
    levels = _levels(flow, table, groups, counts)
    transfer: InStep | Skewed = InStep(width(table), len(ids))
    bits = transfer.width
    if skewed_groups is not None:
        transfer = skewed(skewed_groups, table, ignore)
        bits = transfer.width * transfer.layers
    return _with_steps(Program(flow, table, instances, bits, levels, transfer, groups, ids, inside_splits))


def with_other_counts(program: Program) -> Program | None:
    """The program of the same kernel where nothing but the counts of its waits has changed.

    Which accesses there are, and which of them conflict, does not depend on these. Where waves are skewed, more does:
    then there is none.
    """
    if not isinstance(program.transfer, InStep):
        return None
    levels = _levels(program.flow, program.table, program.groups, counts=0)
    return _with_steps(
        Program(
            program.flow,
            program.table,
            program.instances,
            program.width,
            levels,
            program.transfer,
            program.groups,
            program.barrier_ids,
            program.inside_splits,
        )
    )


def _with_steps(program: Program) -> Program:
    """A program that has been begun, with all that instances do in it."""
    _add_steps(program)
    add_entries(program)
    return program


def _add_steps(program: Program) -> None:
    """What each instance does, and where it leads."""
    flow, instances, table = program.flow, program.instances, program.table
    returned: list[dict[int, int]] = []
    by_group: SkewedSteps | None = None
    if isinstance(program.transfer, Skewed):
        returned = completed_by_use(
            flow, instances, table, lambda instance: certain_classes(program, instance)
        )
        by_group = SkewedSteps(program, program.transfer)
    if any(made.mbarrier for made in table.classes) or flow.has(ops.MbarrierArrive):
        program.mbarriers = settled_by(flow, instances, table)
    _find_existing(program)
    for instance, node in enumerate(instances.nodes):
        block = flow.blocks[node.block]
        program.places.append(block.origin)
        program.steps.append(
            steps_of(program, instance, block)
            if by_group is None
            else by_group.of(instance, returned[instance])
        )
        program.edges.append([edge_to(program, target, loop) for target, loop in instances.edges[instance]])
    for instance in instances.order:
        program.instances_of.setdefault(program.places[instance], []).append(instance)


def _read_classes(flow: Flow, ignore: Filter | None, slots: bool) -> tuple[BlockInstances, ClassTable]:
    """The instances and classes of a kernel, in as much detail as a few seconds allow."""
    for instances in coarser_and_coarser(flow, slots):
        granule = 1
        while True:
            try:
                return instances, classify(flow, instances, ignore, slots=slots, granule=granule)
            except TooMuch:
                if not instances.coarsest:
                    break
                granule *= COARSER
    raise AssertionError("the coarsest is accepted in the end")


def with_fixed_waits(program: Program) -> Program:
    """The same where waits are not put in: what is in flight conflicts with nothing."""
    steps = [
        [step._replace(in_flight=0) if step.in_flight else step for step in steps] for steps in program.steps
    ]
    return replace(program, steps=steps, waits_fixed=True)


def _grouped(flow: Flow, table: ClassTable) -> frozenset[str]:
    """The counters that count groups."""
    if not table.engines:
        return frozenset()
    return frozenset(
        op.counter for block in flow.blocks for op in block.ops if isinstance(op, ops.CommitGroup)
    )


def _levels(flow: Flow, table: ClassTable, groups: frozenset[str], counts: int) -> int:
    """Copies that any wait could distinguish are on different levels; without copies there are none."""
    if not table.engines:
        return 0
    asked = counted = 0
    for block in flow.blocks:
        for op in block.ops:
            if isinstance(op, (ops.MemoryCounterWait, ops.SharedMemoryBarrier)):
                asked = max([asked, *(count for name, count in op.counts.items() if name in table.engines)])
                if asked > MOST_ASKED:
                    raise FencepostError(
                        f"a wait that leaves {asked} operations outstanding; no counter counts so far",
                        [Mark(op.span)],
                        code="FP206",
                        notes=[("help", f"counts up to {MOST_ASKED} are followed")],
                        source=flow.trace.source,
                    )
            else:
                counted += ops.counter_of(op) in table.engines
    # A wait that is put in can leave what a few iterations have issued; where it could leave more, the kernel is
    # read again (`wait_counts.more_counts`).
    useful = min(max(4 * counted, counts), MOST_COUNTED)
    return 1 + max(asked, useful) + bool(groups)


def _find_existing(program: Program) -> None:
    """Barriers and waits that can be taken away or changed: not those under divergence, not parts of operations."""
    reachable = {program.instances.nodes[instance].block for instance in program.order}
    for block in program.flow.blocks:
        if block.origin != block.index or block.origin in program.flow.sealed:
            continue
        for gap, op in enumerate(block.ops):
            if op.owner is not None or not isinstance(op, ops.SyncOperation):
                continue
            if isinstance(op, ops.MemoryCounterWait):
                sync = _existing_wait(program, op, reachable=block.index in reachable)
            else:
                sync = _existing_barrier(program, block, gap, op)
            if sync is not None:
                position = Position(block.index, gap)
                program.existing[position] = sync
                program.existing_ops[position] = op


def _existing_barrier(program: Program, block: Block, gap: int, op: ops.SyncOperation) -> Sync | None:
    """What a barrier, or half of one, does."""
    if isinstance(op, ops.SharedMemoryBarrierSignal):
        return Sync(0, False, signal=1 + program.barrier_ids.index(op.bar_id))
    if isinstance(op, ops.SharedMemoryBarrierWait):
        return Sync(0, False, wait=1 + program.barrier_ids.index(op.bar_id))
    if isinstance(op, ops.SharedMemoryBarrier):
        return Sync(ALL) if op.drains else program.waiting(op.counts)
    # A rendezvous without a fence is a barrier if nothing is outstanding.
    fences_count = program.transfer.counts_rendezvous
    if isinstance(op, ops.WorkgroupBarrier) and (fences_count or _fenced_before(block, gap)):
        return Sync(raw=fences_count)
    return None


def _existing_wait(program: Program, op: ops.MemoryCounterWait, *, reachable: bool) -> Sync | None:
    """What a wait does; None if that is nothing, and it can be reached."""
    alone, fences_count = program.flow.trace.waves == 1, program.transfer.counts_rendezvous
    # For a single wave, nothing outstanding is as good as a barrier.
    fence = alone and not fences_count and op.counts.get(ops.LDS_COUNTER) == 0
    sync = Sync(ALL, False) if op.drains else program.waiting(op.counts, rendezvous=fence)
    does = sync.completes or fence or (fences_count and sync.fences)
    return sync if does or not reachable else None


def completion_matters(flow: Flow, instances: BlockInstances, table: ClassTable) -> bool:
    """Whether it decides anything when a wave knows its own accesses to be complete.

    So it does at a rendezvous without a fence, and where a wave's engine must not overtake the wave itself (or the
    other way round) while nobody else is concerned: a fence or wait is enough then, even where no barrier can stand.
    """
    if flow.trace.waves > 1 and any(
        isinstance(op, ops.WorkgroupBarrier) and not block.guards and not _fenced_before(block, gap)
        for block in flow.blocks
        for gap, op in enumerate(block.ops)
    ):
        return True
    if not table.engines or not any(table.own):
        return False
    sealed = {
        number
        for instance in instances.order
        if flow.blocks[instances.nodes[instance].block].origin in flow.sealed
        for _, number in table.accesses[instance]
    }
    engines = reduce(or_, table.engines.values(), 0)
    return any(own & ~engines or number in sealed for number, own in enumerate(table.own) if own)


def _fenced_before(block: Block, gap: int) -> bool:
    """Whether the wave has brought its LDS counter to zero right before a place, and done nothing to memory since."""
    for op in reversed(block.ops[:gap]):
        if isinstance(op, ops.MemoryOperation):
            return False
        if isinstance(op, ops.MemoryCounterWait) and op.counts.get(ops.LDS_COUNTER) == 0:
            return True
        if isinstance(op, ops.SharedMemoryBarrier):
            return False  # its fence would do, but it may be taken away
    return False
