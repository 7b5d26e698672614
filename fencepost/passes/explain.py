"""`explain`: say for every barrier and wait of a kernel why it is there, or why nothing needs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fencepost.analysis.build_program import read_program
from fencepost.analysis.hazards import Barriers, Effort, Hazard, barriers_before, hazards
from fencepost.analysis.loop_carried_distances import SlotPair, slot_pairs
from fencepost.analysis.program import Program, limits_of
from fencepost.analysis.skew.groups import after_arrival, waves_named
from fencepost.analysis.skew.transfer import Skewed
from fencepost.flow import Position
from fencepost.flow.blocks import is_rendezvous
from fencepost.ir import ops
from fencepost.ir.builder import Kernel
from fencepost.ir.trace import CapturedTrace, trace_of
from fencepost.option_fields import option
from fencepost.passes.mbarrier_order import OrderedByMbarriers
from fencepost.placement.reasons import reasons_for
from fencepost.placement.redundant import Pruning
from fencepost.placement.split_barriers import split_each
from fencepost.targets import target_named
from fencepost.targets.table import pace_of

MOST_UNCOVERED = 5_000
"""Hazards that no barrier covers, of which that many are listed."""
MOST_STEPS = 1_000_000
"""Steps that are walked over to find them."""
MOST_COMPARED = 300_000
"""Phases that are walked through to tell after how many iterations accesses meet."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A barrier or wait that stands in a kernel: what it alone covers, or why it covers nothing."""

    op: ops.SyncOperation
    hazards: tuple[Hazard, ...]
    redundant: str
    """Why nothing needs it; empty if something does."""
    note: str = ""
    """What else there is to say: which wait a signal belongs to, or that splitting would gain nothing."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the barriers and waits of a kernel are for, in program order, and what none of them covers."""

    barriers: tuple[Explained, ...]
    uncovered: tuple[Hazard, ...]
    apart: tuple[SlotsApart, ...] = ()
    """Accesses that need no barrier where one might look for it, because they touch different slots."""
    questions: int = 0
    solved: int = 0
    """Questions about numbers that came up, and those that the solver was asked."""
    limits: tuple[str, ...] = ()
    """What was not distinguished, or not listed, because that would take too long."""
    more: bool = False
    """Whether more hazards than those listed may be uncovered."""
    program: Program | None = field(default=None, compare=False, repr=False)
    """The kernel as it was analysed; None where that was with split barriers in mind."""


@dataclass(frozen=True, slots=True)
class SlotsApart:
    """Two accesses of a loop that meet only some iterations later, or never."""

    first: ops.MemoryOperation
    second: ops.MemoryOperation
    loop: ops.Iterate
    distances: tuple[int, ...]
    barrier: ops.SyncOperation | None
    """A barrier between them when they meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain:
    """For every barrier in the kernel, the hazards that it alone covers; and the hazards that are not covered.

    For a target that has split barriers, also whether whole ones could be split.
    """

    target: str = option("", "the GPU")
    slots: bool = option(
        True, "take what depends on a loop's numbers for the whole allocation, for comparison", "--no-slots"
    )

    def apply(self, kernel: CapturedTrace | Kernel) -> Explanation:
        """Explain the barriers and waits of a kernel."""
        trace = trace_of(kernel)
        splits = target_named(self.target).split_barriers and trace.waves > 1
        program = read_program(trace, slots=self.slots, barrier_ids=[ops.WORKGROUP] if splits else [])
        # What nothing covers meets on a shorter way, too: no single barrier can claim it.
        looking = Effort(MOST_STEPS, MOST_UNCOVERED)
        uncovered = tuple(hazards(program, program.existing, looking))
        found = self.barriers(program, uncovered, splits and not program.transfer.counts_rendezvous)
        if isinstance(program.transfer, Skewed):
            found += [Explained(op, (), "", note) for op, note in held_back(program, program.transfer)]
            places = {op: number for number, op in enumerate(trace.preorder_walk())}
            found.sort(key=lambda entry: places.get(entry.op, len(places)))
        comparing = Effort(MOST_COMPARED)
        apart = tuple(_apart(program, pair) for pair in slot_pairs(program, comparing)) if self.slots else ()
        mbarriers = OrderedByMbarriers(trace, program.flow.has(ops.MbarrierWait))
        uncovered = tuple(
            hazard for hazard in uncovered if not mbarriers.orders(hazard.producer, hazard.consumer)
        )
        solver = program.table.solver
        limits = limits_of(program)
        if looking.ended:
            limits += ("too many hazards that no barrier covers: only the first are listed",)
        if comparing.ended:
            limits += ("too many accesses in loops: not all of them were compared for different slots",)
        return Explanation(
            tuple(found), uncovered, apart, solver.asked, solver.solved, limits, looking.ended,
            None if splits else program,
        )  # fmt: skip

    def barriers(self, program: Program, uncovered: Sequence[Hazard], splits: bool) -> list[Explained]:
        """What each barrier alone covers, or why nothing needs it."""
        existing = program.existing
        reasons = reasons_for(program, existing, list(existing), most=64)
        open_pairs = {(hazard.producer, hazard.consumer) for hazard in uncovered}
        barriers, pruning = Barriers(existing), Pruning(program, existing)
        found = []
        halves = _could_be_split(program, self.target) if splits and not program.inside_splits else None
        for position, op in program.existing_ops.items():
            if existing[position].signal:
                found.append(Explained(op, (), "", _signal_note(program, op)))
                continue
            covered = tuple(h for h in reasons[position] if (h.producer, h.consumer) not in open_pairs)
            why = "" if covered else _why_redundant(program, position, barriers, pruning)
            note = "" if covered or why else "what it orders needs more than this one: nothing covers it yet"
            if halves is not None and covered and existing[position].rendezvous and not why:
                note = halves.get(
                    position, "splitting it would gain nothing: no work lies between what it orders"
                )
            found.append(Explained(op, covered, why, note))
        return found


def explain_barriers(trace: CapturedTrace | Kernel, target: str = "", **options: Any) -> Explanation:
    """Why each barrier and wait of a kernel is there; `options` are the fields of `Explain`."""
    return Explain(target=target, **options).apply(trace)


def held_back(program: Program, skew: Skewed) -> list[tuple[ops.SyncOperation, str]]:
    """The barriers that only some waves meet, and how that leaves the waves apart."""
    found: dict[ops.SyncOperation, str] = {}
    masks = skew.groups.masks
    for instance, arriving in skew.groups.arrivals.items():
        extras = skew.groups.extras[instance]
        for op in program.flow.blocks[program.instances.nodes[instance].block].ops:
            if not is_rendezvous(op) or not isinstance(op, ops.SyncOperation):
                continue
            extras = after_arrival(extras, arriving)
            met = waves_named(sum(masks[group] for group in arriving)) if arriving else "nobody"
            if not any(extras):
                found.setdefault(op, f"{met} alone: all waves are in step again")
                continue
            behind = waves_named(sum(mask for mask, extra in zip(masks, extras, strict=True) if extra))
            by = "one rendezvous" if max(extras) == 1 else f"{max(extras)} rendezvous"
            found.setdefault(op, f"{met} alone: from here on {behind} run{_s(behind)} {by} behind")
    return list(found.items())


def _s(waves: str) -> str:
    return "s" if waves.startswith("wave ") else ""


def _could_be_split(program: Program, target: str) -> dict[Position, str]:
    """For each whole barrier that could be split: a word about that."""
    bare = replace(program, existing={})
    _, halves = split_each(bare, program.existing, pace_of(target))
    return dict.fromkeys(
        halves, "it could be split: there is work between its last producer and its first consumer"
    )


def _signal_note(program: Program, signal: ops.SyncOperation) -> str:
    """Where what a signal begins is waited for."""
    assert isinstance(signal, ops.SharedMemoryBarrierSignal)
    flow = program.flow
    lines: list[str] = []
    for block in flow.blocks:
        if signal not in block.ops:
            continue
        todo, seen = [(block.index, block.ops.index(signal) + 1)], set[int]()
        while todo:
            here, gap = todo.pop()
            rest = flow.blocks[here].ops[gap:]
            wait = next(
                (
                    op
                    for op in rest
                    if isinstance(op, ops.SharedMemoryBarrierWait) and op.bar_id == signal.bar_id
                ),
                None,
            )
            if wait is not None:
                if wait.span and str(wait.span.line) not in lines:
                    lines.append(str(wait.span.line))
                continue
            for target in flow.blocks[here].successors:
                if target not in seen:
                    seen.add(target)
                    todo.append((target, 0))
    if not lines:
        return "signals a barrier"
    return f"waited for on line{'s' if len(lines) > 1 else ''} {', '.join(sorted(lines, key=int))}"


def _apart(program: Program, pair: SlotPair) -> SlotsApart:
    assert pair.loop.op is not None
    barrier = None if pair.between is None else program.existing_ops[pair.between]
    return SlotsApart(pair.first, pair.second, pair.loop.op, pair.distances, barrier)


def _why_redundant(program: Program, position: Position, barriers: Barriers, pruning: Pruning) -> str:
    """Why nothing needs a barrier or wait, in words; empty if it is needed and of no use."""
    sync, spots = program.existing[position], pruning.spots(position)
    if not spots:
        return "it is never executed"
    if not sync.rendezvous:
        if not any(pruning.before[spot][1] & sync.completes for spot in spots):
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
    if ahead is None:
        return ""  # what it would order is not ordered even with it
    if not ahead:
        return "nothing that follows conflicts with what is pending here"
    others = sorted({Position(program.places[instance], gap) for instance, gap in ahead})
    return (
        f"everything pending here reaches {_barriers_on(program, others)} before anything "
        "that conflicts with it"
    )


def _barriers_on(program: Program, positions: list[Position]) -> str:
    spans = [program.existing_ops[position].span for position in positions]
    lines = [str(span.line) for span in spans if span]
    if not lines:
        return "another barrier"
    return (
        f"the barrier on line {lines[0]}" if len(lines) == 1 else f"the barriers on lines {', '.join(lines)}"
    )
