"""Putting barriers in, taking redundant ones out, and saying why each one is there."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.analysis.hazards import Barriers, Hazard, barriers_before, exposed_without, hazards
from fencepost.analysis.pending import conflicts_left, states_before
from fencepost.analysis.program import ASYNC, PLAIN, Placement, Program, read_program
from fencepost.emit import LegacyBarrierEmitter, verify_barriers
from fencepost.flow import Position
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import CapturedTrace
from fencepost.pause import collection_paused
from fencepost.placement import STRATEGIES, cost
from fencepost.placement.prune import Pruning, prune
from fencepost.report.words import comment_for
from fencepost.targets import target_named

DEFAULT_STRATEGY = "minimize"


@dataclass(frozen=True, slots=True)
class Barrier:
    """A barrier and the hazards that it alone covers."""

    op: ops.SharedMemoryBarrier
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
    executed: float
    """How often the new barriers run in one run of the kernel, estimated."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A barrier that stands in a kernel: what it alone covers, or why it covers nothing."""

    op: ops.SharedMemoryBarrier
    hazards: tuple[Hazard, ...]
    redundant: str
    """Why nothing needs it; empty if something does."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the barriers of a kernel are for, in program order, and what none of them covers."""

    barriers: tuple[Explained, ...]
    uncovered: tuple[Hazard, ...]


def insert_barriers(trace: CapturedTrace, target: str = "", strategy: str = DEFAULT_STRATEGY) -> Inserted:
    """Put the barriers into `trace` that it lacks. What no barrier can fix is an error, and changes nothing."""
    with collection_paused():
        return _insert(trace, target, strategy)


def _insert(trace: CapturedTrace, target: str, strategy: str) -> Inserted:
    config = target_named(target)
    if strategy not in STRATEGIES:
        raise FencepostError(
            f"unknown strategy {strategy!r}",
            code="FP111",
            notes=[("known strategies", ", ".join(STRATEGIES))],
        )
    program = read_program(trace)
    placement = STRATEGIES[strategy].choose(program)
    _refuse_hopeless(program, placement)
    reasons = reasons_for(program, placement)
    comments = {position: comment_for(hazards) for position, hazards in reasons.items()}
    emitter = LegacyBarrierEmitter(config)
    emitted = emitter.emit(program.flow, placement, comments)
    if any(block.guards for block in program.flow.blocks):
        verify_barriers(trace)
    flow = program.flow
    barriers = tuple(
        Barrier(emitted[position], tuple(reasons[position]), flow.frequency(position))
        for position in sorted(placement)
    )
    return Inserted(strategy, config.name, emitter.instruction, barriers, cost(flow, placement))


def add_shared_memory_barriers(trace: CapturedTrace, target: str = "") -> None:
    """Analyze `trace` and put in the barriers that it lacks, as `target` has them."""
    insert_barriers(trace, target)


def prune_barriers(
    trace: CapturedTrace,
) -> tuple[list[ops.SharedMemoryBarrier], list[ops.SharedMemoryBarrier]]:
    """Take out barriers until none is redundant; returns those taken out and those left, in program order."""
    program, standing = _standing_barriers(trace)
    kept = prune(program, _strengths(standing))
    removed = [op for position, op in standing.items() if position not in kept]
    for op in removed:
        _take_out(op)
    return removed, [op for position, op in standing.items() if position in kept]


def _take_out(op: ops.Operation) -> None:
    """Remove an operation; comment lines above it stay, above what follows."""
    assert op.graph is not None
    if op.next is not None:
        op.next.heading = op.heading + op.next.heading
    else:
        op.graph.closing = op.heading + op.graph.closing
    op.graph.remove(op)


def explain_barriers(trace: CapturedTrace) -> Explanation:
    """For every barrier in the kernel, the hazards that it alone covers; and the hazards that are not covered."""
    program, standing = _standing_barriers(trace)
    placement = _strengths(standing)
    reasons = reasons_for(program, placement, most=64)
    # What nothing covers meets on a shorter way, too: no single barrier can claim it.
    uncovered = tuple(hazards(program, placement))
    open_pairs = {(hazard.producer, hazard.consumer) for hazard in uncovered}
    barriers, pruning = Barriers(placement), Pruning(program, placement)
    found = []
    for position, op in standing.items():
        covered = tuple(h for h in reasons[position] if (h.producer, h.consumer) not in open_pairs)
        why = "" if covered else _why_redundant(standing, position, barriers, pruning)
        found.append(Explained(op, covered, why))
    return Explanation(tuple(found), uncovered)


def reasons_for(program: Program, placement: Placement, most: int = 8) -> dict[Position, list[Hazard]]:
    """For each chosen barrier, the hazards that it alone covers, nearest first."""
    before = states_before(program, placement)
    barriers = Barriers(placement)
    return {
        position: exposed_without(program, barriers, position, before[position], most)
        for position in placement
    }


def _standing_barriers(trace: CapturedTrace) -> tuple[Program, dict[Position, ops.SharedMemoryBarrier]]:
    """The program without the kernel's own barriers, and where these stand."""
    program = read_program(trace, count_barriers=False)
    standing = {
        Position(block.index, gap): op
        for block in program.flow.blocks
        for gap, op in enumerate(block.ops)
        if isinstance(op, ops.SharedMemoryBarrier)
    }
    return program, standing


def _strengths(standing: dict[Position, ops.SharedMemoryBarrier]) -> Placement:
    return {position: ASYNC if op.wait_async_ops else PLAIN for position, op in standing.items()}


def _why_redundant(
    standing: dict[Position, ops.SharedMemoryBarrier],
    position: Position,
    barriers: Barriers,
    pruning: Pruning,
) -> str:
    program = pruning.program
    if position.block not in pruning.reachable:
        return "it is never executed"
    if program.flow.trace.waves == 1 and not program.table.engines:
        return "a single wave needs no rendezvous"
    if not any(pruning.before[position]):
        before = barriers_before(program, barriers, position)
        if not before:
            return "no access to shared memory comes before it"
        return f"nothing is pending here: {_barriers_on([standing[other] for other in before])} ordered it already"
    ahead = pruning.reach(position, pruning.before[position])
    if not ahead:
        return "nothing that follows conflicts with what is pending here"
    others = _barriers_on([standing[other] for other in sorted(ahead)])
    return f"what is pending here comes to {others} before it meets anything that conflicts with it"


def _barriers_on(barriers: list[ops.SharedMemoryBarrier]) -> str:
    lines = [str(barrier.span.line) for barrier in barriers if barrier.span]
    if not lines:
        return "another barrier"
    return (
        f"the barrier on line {lines[0]}" if len(lines) == 1 else f"the barriers on lines {', '.join(lines)}"
    )


def _refuse_hopeless(program: Program, placement: Placement) -> None:
    """Some accesses stand where no barrier can come between them: say so before anything is changed."""
    if not any(block.guards for block in program.flow.blocks):
        return
    for position, _, _ in conflicts_left(program, placement):
        consumer = program.flow.blocks[position.block].ops[position.gap]
        open_hazards = hazards(program, placement)
        producer = next((hazard.producer for hazard in open_hazards if hazard.consumer is consumer), consumer)
        branch = program.flow.blocks[position.block].guards[0].branch
        raise FencepostError(
            "no barrier can order these accesses: it would stand inside a divergent conditional",
            [
                Mark(producer.span, "this access"),
                Mark(consumer.span, "and this one can meet"),
                Mark(branch.span, "only some waves take each side"),
            ],
            code="FP203",
            # The input is well-formed; it is the kernel that cannot be mended.
            exit_code=1,
            notes=[("help", "end the conditional between the two, or let a single wave do both")],
            source=program.flow.trace.source,
        )
