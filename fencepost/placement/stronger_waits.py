"""Waits that are too weak, made stronger: their counts are lowered as little as is enough.

That is for kernels that no waits may be put into: where a compiler's waits pass on the values that they wait for,
whoever uses those would have to use others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fencepost.analysis.build_program import read_program, with_other_counts
from fencepost.analysis.program import Program
from fencepost.analysis.unwaited import waits_enough
from fencepost.ir import ops


@dataclass(frozen=True, slots=True)
class StrongerWait:
    """A wait of the kernel that leaves less outstanding than before."""

    op: ops.MemoryCounterWait
    counter: str
    before: int
    now: int


def strengthen(program: Program) -> list[StrongerWait]:
    """Lower the counts of a kernel's waits as little as is enough; if nothing is, they stay as they are."""
    found = [
        (op, counter)
        for op in program.flow.trace.preorder_walk()
        if isinstance(op, ops.MemoryCounterWait)
        for counter in op.counts
    ]
    before = {(op, counter): op.counts[counter] for op, counter in found}
    for op, counter in found:
        op.counts[counter] = 0
    enough = _is_enough(program)
    for op, counter in found:
        # The first ones may be as weak as they were if those behind them are not.
        for count in range(before[op, counter], 0, -1):
            op.counts[counter] = count
            if not enough or _is_enough(program):
                break
        else:
            op.counts[counter] = 0
    return [
        StrongerWait(op, counter, before[op, counter], op.counts[counter])
        for op, counter in found
        if op.counts[counter] < before[op, counter]
    ]


def weaken(waits: Iterable[StrongerWait]) -> None:
    """Give waits the counts back that they had."""
    for wait in waits:
        wait.op.counts[wait.counter] = wait.before


def _is_enough(program: Program) -> bool:
    """Whether a kernel, of which an earlier reading is given, waits for all that it has to as its counts are now."""
    return waits_enough(with_other_counts(program) or read_program(program.flow, completion=False))
