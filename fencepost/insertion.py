"""Putting in the barriers and waits that a kernel lacks."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.analysis.classes import Filter
from fencepost.analysis.covers import Placement
from fencepost.analysis.hazards import Barriers, Hazard, exposed_without, hazards
from fencepost.analysis.pending import conflicts_left, states_before
from fencepost.analysis.program import Program
from fencepost.analysis.read import read_program
from fencepost.emit import LegacyBarrierEmitter, verify_barriers
from fencepost.emit.legacy import change
from fencepost.flow import Position
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import CapturedTrace
from fencepost.pause import collection_paused
from fencepost.placement import STRATEGIES, cost
from fencepost.placement.choose import choose
from fencepost.report.words import comment_for
from fencepost.targets import TargetConfig, target_named

DEFAULT_STRATEGY = "minimize"


@dataclass(frozen=True, slots=True)
class Barrier:
    """A barrier or wait and the hazards that it alone covers."""

    op: ops.SyncOperation
    hazards: tuple[Hazard, ...]
    executed: float
    """How often it runs in one run of the kernel, estimated."""


@dataclass(frozen=True, slots=True)
class Inserted:
    """What `insert_barriers` did."""

    strategy: str
    target: str
    instruction: str
    """What a barrier becomes on the target."""
    barriers: tuple[Barrier, ...]
    """What was put in: barriers, and waits where nobody has to be met."""
    upgraded: tuple[Barrier, ...]
    """Barriers that stood in the kernel and now wait for copies as well."""
    executed: float
    """How often the new barriers run in one run of the kernel, estimated."""
    questions: int = 0
    solved: int = 0
    """Questions about numbers that came up, and those that the solver was asked."""


def insert_barriers(
    trace: CapturedTrace,
    target: str = "",
    strategy: str = DEFAULT_STRATEGY,
    *,
    ignore: Filter | None = None,
    slots: bool = True,
) -> Inserted:
    """Put the barriers and waits into `trace` that it lacks. What none can fix is an error, and changes nothing.

    Pairs of accesses for which `ignore` returns True are left alone: the caller answers for them. Without
    `slots`, what depends on a loop's numbers counts as the whole allocation.
    """
    with collection_paused():
        return _insert(trace, target, strategy, ignore, slots)


def add_shared_memory_barriers(trace: CapturedTrace, target: str = "") -> None:
    """Analyze `trace` and put in the barriers that it lacks, as `target` has them."""
    insert_barriers(trace, target)


def _insert(trace: CapturedTrace, target: str, strategy: str, ignore: Filter | None, slots: bool) -> Inserted:
    config = target_named(target)
    if strategy not in STRATEGIES:
        raise FencepostError(
            f"unknown strategy {strategy!r}",
            code="FP111",
            notes=[("known strategies", ", ".join(STRATEGIES))],
        )
    program = read_program(trace, slots=slots, ignore=ignore)
    placement = choose(program, STRATEGIES[strategy], config.widest_waits())
    _refuse_hopeless(program, placement)
    return _emit(program, placement, config, strategy)


def _emit(program: Program, placement: Placement, config: TargetConfig, strategy: str) -> Inserted:
    flow, standing = program.flow, program.standing
    added = {position: cover for position, cover in placement.items() if position not in standing}
    changed = [position for position, cover in standing.items() if placement[position] != cover]
    reasons = reasons_for(program, placement, [*added, *changed])
    comments = {position: comment_for(found) for position, found in reasons.items()}
    emitter = LegacyBarrierEmitter(config)
    # Changed first: what is put in counts places by the operations that stand there now.
    upgraded = {position: change(program.standing_ops[position], placement[position]) for position in changed}
    emitted = emitter.emit(flow, added, comments)
    if flow.sealed:
        verify_barriers(flow.trace)

    def told(made: dict[Position, ops.SyncOperation]) -> tuple[Barrier, ...]:
        return tuple(
            Barrier(made[position], tuple(reasons[position]), flow.frequency(position))
            for position in sorted(made)
        )

    executed = cost(flow, added)
    made, changed_now, solver = told(emitted), told(upgraded), program.table.solver
    return Inserted(
        strategy, config.name, emitter.instruction, made, changed_now, executed, solver.asked, solver.solved
    )


def reasons_for(
    program: Program, placement: Placement, positions: list[Position], most: int = 8
) -> dict[Position, list[Hazard]]:
    """For each of some barriers, the hazards that it alone covers, nearest first."""
    if not positions:
        return {}
    before = states_before(program, placement)
    barriers = Barriers(placement)
    return {position: exposed_without(program, barriers, position, before, most) for position in positions}


def _refuse_hopeless(program: Program, placement: Placement) -> None:
    """Some accesses stand where no barrier can come between them: say so before anything is changed."""
    if not program.flow.sealed:
        return
    for position, _, _ in conflicts_left(program, placement):
        block = program.flow.blocks[position.block]
        consumer = block.ops[position.gap]
        open_hazards = hazards(program, placement)
        producer = next((hazard.producer for hazard in open_hazards if hazard.consumer is consumer), consumer)
        guarded = next(
            other for other in program.flow.blocks if other.origin == block.origin and other.guards
        )
        raise FencepostError(
            "no barrier can order these accesses: it would stand inside a divergent conditional",
            [
                Mark(producer.span, "this access"),
                Mark(consumer.span, "and this one can meet"),
                Mark(guarded.guards[0].branch.span, "only some waves take each side"),
            ],
            code="FP203",
            # The input is well-formed; it is the kernel that cannot be mended.
            exit_code=1,
            notes=[("help", "end the conditional between the two, or let a single wave do both")],
            source=program.flow.trace.source,
        )
