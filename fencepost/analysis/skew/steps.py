"""The steps of an instance where groups of waves are skewed: what each operation does to each pair of groups.

A kernel has many operations and few kinds of them: what is worked out for one is kept for those that are like it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.analysis.access_class import all_ages
from fencepost.analysis.program import Program, Step
from fencepost.analysis.skew.groups import Extras
from fencepost.analysis.skew.transfer import Skewed
from fencepost.analysis.transfer import ALL, Turn
from fencepost.flow import Block
from fencepost.ir import ops


class _Here(NamedTuple):
    """Which classes all of whose waves run a block: in all groups, and in each."""

    everyone: int
    groups: dict[int, int]


@dataclass(slots=True)
class SkewedSteps:
    """Makes the steps of a program whose waves are skewed."""

    program: Program
    skew: Skewed
    here: dict[int, _Here] = field(default_factory=dict)
    """For the waves that run a block."""
    completing: dict[int, int] = field(default_factory=dict)
    """Reads that are complete, as `Turn` has them."""
    accesses: dict[tuple[int, int, Extras], Step] = field(default_factory=dict)
    """Accesses of a class that complete some reads, where the groups are so far apart."""
    counted: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    """What a counter moves where only some waves run."""
    overdue: int = field(init=False)

    def __post_init__(self) -> None:
        self.overdue = self.skew.overdue()

    def of(self, instance: int, returned: dict[int, int]) -> list[Step]:
        """The steps of an instance, in order. `returned` are the reads that operations complete by using results."""
        program, engines = self.program, self.program.table.engines
        block = program.flow.blocks[program.instances.nodes[instance].block]
        numbers = dict(program.table.accesses[instance])
        waves = self._waves(instance, block)
        found: list[Step] = []
        for gap, op in enumerate(block.ops):
            number, used = numbers.get(gap), returned.get(gap, 0)
            counter = ops.counter_of(op)
            if number is not None:
                step = Step(gap, *self._access(instance, number, self._completing(used))[1:])
            elif isinstance(op, ops.SyncOperation):
                fixed = op.owner is not None or block.origin in program.flow.sealed
                step = self._synchronization(instance, gap, op, self._here(waves), fixed)
            elif used:
                step = Step(gap, clears=True, turn=Turn(self._completing(used)))
            elif counter in engines:
                step = Step(gap)
            else:
                continue
            if counter in engines:
                counts, may_count = self._counted(op, counter, waves)
                step = step._replace(counts=counts, may_count=may_count)
            if step != Step(gap):
                found.append(step)
        return found

    def _waves(self, instance: int, block: Block) -> int:
        """The waves that are certain to run a block."""
        everyone = (1 << self.program.flow.trace.waves) - 1
        if not block.guards:
            return everyone
        instances = self.program.instances
        return instances.waves_certain(self.program.flow, instances.nodes[instance])

    def _here(self, waves: int) -> _Here:
        if waves in self.here:
            return self.here[waves]
        table, skew = self.program.table, self.skew
        groups = dict.fromkeys(range(len(skew.groups.masks)), 0)
        for number, made in enumerate(table.classes):
            for group, mask in enumerate(skew.groups.masks):
                if not made.waves & mask & ~waves:
                    groups[group] |= all_ages(table, number)
        everyone = skew.everything
        for bits in groups.values():
            everyone &= bits
        self.here[waves] = _Here(everyone, groups)
        return self.here[waves]

    def _completing(self, used: int) -> int:
        if used not in self.completing:
            groups = range(len(self.skew.groups.masks))
            self.completing[used] = self.skew.completing(dict.fromkeys(groups, used))
        return self.completing[used]

    def _access(self, instance: int, number: int, complete: int) -> Step:
        """An access, wherever it stands."""
        program, skew = self.program, self.skew
        extras = skew.groups.extras[instance]
        key = number, complete, extras
        if key in self.accesses:
            return self.accesses[key]
        owes = skew.owing(number, extras)
        turn = Turn(complete, owes) if complete or owes else None
        self.accesses[key] = Step(
            0,
            skew.added(number, program.table),
            # Operands are there before it is issued: what it completes by using it, its own engine may overtake.
            skew.conflicting(number, extras) & ~(complete & skew.everything),
            program.on_levels(skew.conflicting_in_flight(number)),
            bool(program.table.classes[number].engine),
            number,
            clears=turn is not None,
            turn=turn,
        )
        return self.accesses[key]

    def _counted(self, op: ops.Operation, counter: str, waves: int) -> tuple[int, int]:
        """The bits that an operation moves up one level, for certain and perhaps."""
        program = self.program
        if not isinstance(op, ops.CommitGroup) and counter in program.groups:
            return 0, 0
        key = counter, waves
        if key not in self.counted:
            bits, certain = program.counted(counter), self._here(waves).everyone * program.transfer.copies
            last = program.levels - 1
            self.counted[key] = (
                program.on_levels(bits & certain, 0, last),
                program.on_levels(bits & ~certain, 0, last),
            )
        return self.counted[key]

    def _synchronization(
        self, instance: int, gap: int, op: ops.SyncOperation, here: _Here, fixed: bool
    ) -> Step:
        """What a `fixed` barrier or wait (a part of an operation) does; of others, what they come too late for."""
        program, skew = self.program, self.skew
        if not fixed:
            # It is a cover. What is overdue behind a rendezvous without a fence should have been complete before it.
            overdue = self.overdue if isinstance(op, ops.WorkgroupBarrier) else 0
            return (
                Step(gap, conflicts=overdue, clears=bool(overdue), turn=Turn(drops=overdue))
                if overdue
                else Step(gap)
            )
        completes = fence = 0
        if isinstance(op, (ops.MemoryCounterWait, ops.SharedMemoryBarrier)):
            waits = isinstance(op, ops.MemoryCounterWait) or op.drains or bool(op.counts)
            completes = (ALL if op.drains else program.waiting(op.counts).completes) if waits else 0
            if isinstance(op, ops.SharedMemoryBarrier) or op.counts.get(ops.LDS_COUNTER) == 0:
                fence = skew.completing(here.groups)
        meets = None
        if not isinstance(op, ops.MemoryCounterWait):
            everyone = frozenset(range(len(skew.groups.masks)))
            meets = skew.groups.arrivals.get(instance, everyone)
        everything = program.on_levels(here.everyone * program.transfer.copies)
        return Step(
            gap,
            clears=True,
            completes=completes & everything,
            may_complete=completes
            & program.on_levels((skew.everything & ~here.everyone) * program.transfer.copies),
            turn=Turn(fence, (), meets, self.overdue),
        )
