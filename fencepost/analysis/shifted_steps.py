"""The steps of a phase where groups of waves run apart: what each operation does to each pair of groups."""

from __future__ import annotations

from fencepost.analysis.classes import all_ages
from fencepost.analysis.covers import ALL
from fencepost.analysis.phases import values_in
from fencepost.analysis.program import Program, Step
from fencepost.analysis.shift import Shift, Turn
from fencepost.flow import Block
from fencepost.ir import ops


def shifted_steps_of(program: Program, shift: Shift, phase: int, returned: dict[int, int]) -> list[Step]:
    """The steps of a phase, in order. `returned` are the reads that operations complete by using their results."""
    block = program.flow.blocks[program.phases.nodes[phase].block]
    numbers = dict(program.table.accesses[phase])
    here = _Here.of(program, phase, block)
    found: list[Step] = []
    for gap, op in enumerate(block.ops):
        complete = shift.completing(dict.fromkeys(range(len(shift.groups.masks)), returned.get(gap, 0)))
        if gap in numbers:
            step = _access(program, shift, phase, gap, numbers[gap], complete)
        elif isinstance(op, ops.SyncOperation):
            fixed = op.owner is not None or block.origin in program.flow.sealed
            step = _synchronization(program, shift, phase, gap, op, here, fixed)
        else:
            step = Step(gap, clears=bool(complete), turn=Turn(complete) if complete else None)
        counts, may_count = _counted(program, op, here)
        step = step._replace(counts=counts, may_count=may_count)
        if step != Step(gap):
            found.append(step)
    return found


class _Here:
    """Which classes all of whose waves come by a block, in each group."""

    def __init__(self, everyone: int, groups: dict[int, int]) -> None:
        self.everyone = everyone
        self.groups = groups

    @classmethod
    def of(cls, program: Program, phase: int, block: Block) -> _Here:
        table, shift = program.table, program.shift
        assert shift is not None
        env = values_in(program.phases.nodes[phase], program.flow)
        waves = range(program.flow.trace.waves)
        here = sum(1 << wave for wave in waves if all(guard.demands(wave, env) for guard in block.guards))
        groups = dict.fromkeys(range(len(shift.groups.masks)), 0)
        for number, made in enumerate(table.classes):
            for group, mask in enumerate(shift.groups.masks):
                if not made.waves & mask & ~here:
                    groups[group] |= all_ages(table, number)
        everyone = shift.everything
        for bits in groups.values():
            everyone &= bits
        return cls(everyone, groups)


def _access(program: Program, shift: Shift, phase: int, gap: int, number: int, complete: int) -> Step:
    extras = shift.groups.extras[phase]
    owes = shift.owing(number, extras)
    turn = Turn(complete, owes) if complete or owes else None
    return Step(
        gap,
        shift.added(number, program.table),
        # Operands are there before it is issued: what it completes by using it, its own engine may overtake.
        shift.conflicting(number, extras) & ~(complete & shift.everything),
        program.on_levels(shift.conflicting_flying(number)),
        bool(program.table.classes[number].engine),
        number,
        clears=turn is not None,
        turn=turn,
    )


def _counted(program: Program, op: ops.Operation, here: _Here) -> tuple[int, int]:
    """The bits that an operation moves up one level, for certain and perhaps."""
    counter = getattr(op, "counter", "")
    if counter not in program.table.engines:
        return 0, 0
    if not isinstance(op, ops.CommitGroup) and counter in program.groups:
        return 0, 0
    bits, certain = program.counted(counter), here.everyone * program.copies
    last = program.levels - 1
    return program.on_levels(bits & certain, 0, last), program.on_levels(bits & ~certain, 0, last)


def _synchronization(
    program: Program, shift: Shift, phase: int, gap: int, op: ops.SyncOperation, here: _Here, fixed: bool
) -> Step:
    if not fixed:
        # It is a cover. What is overdue behind a rendezvous without a fence should have been complete before it.
        overdue = shift.overdue() if isinstance(op, ops.WorkgroupBarrier) else 0
        return (
            Step(gap, conflicts=overdue, clears=bool(overdue), turn=Turn(drops=overdue))
            if overdue
            else Step(gap)
        )
    lands = fence = 0
    if isinstance(op, ops.MemoryCounterWait | ops.SharedMemoryBarrier):
        waits = isinstance(op, ops.MemoryCounterWait) or op.drains or bool(op.counts)
        lands = (ALL if op.drains else program.waiting(op.counts).lands) if waits else 0
        if isinstance(op, ops.SharedMemoryBarrier) or op.counts.get(ops.LDS_COUNTER) == 0:
            fence = shift.completing(here.groups)
    meets = None
    if not isinstance(op, ops.MemoryCounterWait):
        everyone = frozenset(range(len(shift.groups.masks)))
        meets = shift.groups.arrivals.get(phase, everyone)
    everything = program.on_levels(here.everyone * program.copies)
    return Step(
        gap,
        clears=True,
        lands=lands & everything,
        may_land=lands & program.on_levels((shift.everything & ~here.everyone) * program.copies),
        turn=Turn(fence, (), meets, shift.overdue()),
    )
