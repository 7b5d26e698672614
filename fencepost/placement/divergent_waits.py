"""Waits inside divergent conditionals, where no barrier can stand.

A wave's own engine must not overtake the wave, nor the wave its engine. Where nobody else touches the bytes, the wave
can see to that alone: it waits for its copies, or until its own accesses are complete (`wait_count lds=0`), in front
of whatever comes next. That needs no rendezvous, so it can be done where only some waves are.
"""

from __future__ import annotations

from fencepost.analysis.pending import solve
from fencepost.analysis.program import Program, Step
from fencepost.analysis.skew.transfer import Skewed
from fencepost.analysis.steps import certain_classes
from fencepost.analysis.transfer import Placement, Sync
from fencepost.flow import Flow, Position
from fencepost.ir import ops


def waits_inside(program: Program, skew: Skewed, placement: Placement) -> Placement:
    """The waits that divergent conditionals lack, given the barriers and waits that are chosen elsewhere.

    Of what only some waves reach, nothing is waited for: it is complete in some waves only.
    """
    chosen = dict(placement)
    found: Placement = {}

    def put_wait(instance: int, step: Step, pending: int, in_flight: int) -> Sync | None:
        position = Position(program.places[instance], step.gap)
        if position.block not in program.flow.sealed or step.number < 0:
            return None
        # A wave's own accesses are on the lowest layer; whatever is on another one concerns other waves.
        certain = certain_classes(program, instance) & skew.everything
        counts = _counts(program, in_flight & program.on_levels(certain))
        if pending & certain:
            counts[ops.LDS_COUNTER] = 0
        if not counts or min(counts.values()) < 0:
            return None
        if position in found:
            for counter, count in found[position].counts:
                counts[counter] = min(count, counts.get(counter, count))
        completes = program.waiting(counts).completes & program.on_levels(certain * skew.copies)
        found[position] = Sync(completes, False, tuple(counts.items()))
        chosen[position] = found[position]
        return found[position]

    solve(program, chosen, put_wait)
    return found


def stands_before(flow: Flow, at: Position, counts: dict[str, int]) -> bool:
    """Whether a wait for these counts, or lower ones, stands right there already."""
    waits: dict[str, int] = {}
    for op in reversed(flow.blocks[at.block].ops[: at.gap]):
        if not isinstance(op, ops.MemoryCounterWait):
            break
        waits |= {counter: min(count, waits.get(counter, count)) for counter, count in op.counts.items()}
    return all(counter in waits and waits[counter] <= count for counter, count in counts.items())


def _counts(program: Program, in_flight: int) -> dict[str, int]:
    """The largest counts that complete some bits in flight; less than 0 for a group that is still open."""
    counts: dict[str, int] = {}
    for counter in program.table.engines:
        bits = in_flight & program.on_levels(program.counted(counter))
        if bits:
            level = ((bits & -bits).bit_length() - 1) // program.width
            counts[counter] = level - (counter in program.groups)
    return counts
