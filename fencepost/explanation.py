"""Saying for every barrier and wait of a kernel why it is there, or why nothing needs it."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.analysis.distances import SlotPair, slot_pairs
from fencepost.analysis.hazards import Barriers, Hazard, barriers_before, hazards
from fencepost.analysis.program import Program
from fencepost.analysis.read import read_program
from fencepost.flow import Position
from fencepost.insertion import reasons_for
from fencepost.ir import ops
from fencepost.ir.trace import CapturedTrace
from fencepost.placement.prune import Pruning


@dataclass(frozen=True, slots=True)
class Explained:
    """A barrier or wait that stands in a kernel: what it alone covers, or why it covers nothing."""

    op: ops.SyncOperation
    hazards: tuple[Hazard, ...]
    redundant: str
    """Why nothing needs it; empty if something does."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the barriers and waits of a kernel are for, in program order, and what none of them covers."""

    barriers: tuple[Explained, ...]
    uncovered: tuple[Hazard, ...]
    apart: tuple[Apart, ...] = ()
    """Accesses that need no barrier where one might look for it, because they touch different slots."""
    questions: int = 0
    solved: int = 0
    """Questions about numbers that came up, and those that the solver was asked."""


@dataclass(frozen=True, slots=True)
class Apart:
    """Two accesses of a loop that meet only some iterations later, or never."""

    first: ops.MemoryOperation
    second: ops.MemoryOperation
    loop: ops.Iterate
    distances: tuple[int, ...]
    barrier: ops.SyncOperation | None
    """A barrier between them when they meet."""


def explain_barriers(trace: CapturedTrace, *, slots: bool = True) -> Explanation:
    """For every barrier in the kernel, the hazards that it alone covers; and the hazards that are not covered."""
    program = read_program(trace, slots=slots)
    standing = program.standing
    reasons = reasons_for(program, standing, list(standing), most=64)
    # What nothing covers meets on a shorter way, too: no single barrier can claim it.
    uncovered = tuple(hazards(program, standing))
    open_pairs = {(hazard.producer, hazard.consumer) for hazard in uncovered}
    barriers, pruning = Barriers(standing), Pruning(program, standing)
    found = []
    for position, op in program.standing_ops.items():
        covered = tuple(h for h in reasons[position] if (h.producer, h.consumer) not in open_pairs)
        why = "" if covered else _why_redundant(program, position, barriers, pruning)
        found.append(Explained(op, covered, why))
    apart = tuple(_apart(program, pair) for pair in slot_pairs(program)) if slots else ()
    solver = program.table.solver
    return Explanation(tuple(found), uncovered, apart, solver.asked, solver.solved)


def _apart(program: Program, pair: SlotPair) -> Apart:
    assert pair.loop.op is not None
    barrier = None if pair.between is None else program.standing_ops[pair.between]
    return Apart(pair.first, pair.second, pair.loop.op, pair.distances, barrier)


def _why_redundant(program: Program, position: Position, barriers: Barriers, pruning: Pruning) -> str:
    cover, spots = program.standing[position], pruning.spots(position)
    if not spots:
        return "it is never executed"
    if not cover.rendezvous:
        if not any(pruning.before[spot][1] & cover.lands for spot in spots):
            return "nothing that it waits for is in flight here"
        return "what it waits for is waited for again before anything needs it"
    if program.flow.trace.waves == 1 and not program.table.engines:
        return "a single wave needs no rendezvous"
    if not any(any(pruning.before[spot]) for spot in spots):
        before = barriers_before(program, barriers, position)
        if not before:
            return "no access to shared memory comes before it"
        return f"nothing is pending here: {_barriers_on(program, before)} ordered it already"
    starts = [(spot, pruning.before[spot]) for spot in spots]
    ahead = pruning.reach(position, starts, position)
    if not ahead:
        return "nothing that follows conflicts with what is pending here"
    others = sorted({Position(program.places[phase], gap) for phase, gap in ahead})
    return (
        f"what is pending here comes to {_barriers_on(program, others)} before it meets anything "
        "that conflicts with it"
    )


def _barriers_on(program: Program, positions: list[Position]) -> str:
    spans = [program.standing_ops[position].span for position in positions]
    lines = [str(span.line) for span in spans if span]
    if not lines:
        return "another barrier"
    return (
        f"the barrier on line {lines[0]}" if len(lines) == 1 else f"the barriers on lines {', '.join(lines)}"
    )
