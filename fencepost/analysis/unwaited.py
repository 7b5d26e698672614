"""Async operations that nothing waits for in time: no barrier helps where an engine is still at work."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.analysis.hazards import Effort, hazards
from fencepost.analysis.pending import conflicts_left
from fencepost.analysis.program import Program
from fencepost.analysis.transfer import Placement
from fencepost.flow import Position
from fencepost.ir import ops

MOST_STEPS = 1_500_000
"""Steps that are walked over to find what conflicts where nothing helps."""


def unwaited(program: Program) -> Iterator[tuple[ops.Operation, ops.Operation]]:
    """Async operations that may be in flight where something must not overtake them, and what that is."""
    before: dict[ops.Operation, list[ops.MemoryOperation]] | None = None
    for position in _overtaking(program):
        block = program.flow.blocks[position.block]
        at_end = position.gap >= len(block.ops)
        consumer = block.anchor if at_end and block.anchor is not None else block.ops[position.gap]
        if before is None:
            before = uncovered_producers(program, program.existing, Effort(MOST_STEPS))
        found = before.get(consumer, [])
        producer = next((each for each in found if isinstance(each, ops.AsyncOperation)), consumer)
        yield producer, consumer


def waits_enough(program: Program) -> bool:
    """Whether there are none: much cheaper to ask than what they are."""
    return next(_overtaking(program), None) is None


def _overtaking(program: Program) -> Iterator[Position]:
    """Where something must not overtake what may be in flight."""
    if not program.table.engines:
        return
    signalled = 0
    for copies in program.mbarriers.values():
        signalled |= copies
    for position, _, in_flight in conflicts_left(program, program.existing):
        # Whether an mbarrier is waited for at the right time is not a matter of barriers: `check` tells.
        if in_flight & ~signalled:
            yield position


def uncovered_producers(
    program: Program, placement: Placement, effort: Effort
) -> dict[ops.Operation, list[ops.MemoryOperation]]:
    """For each access that a placement leaves uncovered, those that it must not overtake."""
    found: dict[ops.Operation, list[ops.MemoryOperation]] = {}
    for hazard in hazards(program, placement, effort):
        found.setdefault(hazard.consumer, []).append(hazard.producer)
    return found
