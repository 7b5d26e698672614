"""A decision written into its kernel, each barrier with its reason as a comment, and what that made of it.

In the end the structure of what was put in is verified: every wave meets every barrier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fencepost.analysis.block_instances import find_instances
from fencepost.analysis.hazards import Hazard
from fencepost.analysis.program import Program, limits_of
from fencepost.analysis.split_alternation import verify_splits
from fencepost.analysis.transfer import Sync
from fencepost.emit.legacy_emitter import LegacyBarrierEmitter, change
from fencepost.emit.split_emitter import BasicSplitBarrierEmitter
from fencepost.emit.weak_waits import strengthened
from fencepost.flow import Assumed, Block, Flow, Position, build_flow
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import CapturedTrace
from fencepost.placement.reasons import Reasons, comment_for
from fencepost.placement.strategy import Decision
from fencepost.placement.stronger_waits import StrongerWait
from fencepost.placement.wait_counts import limits_of_waits
from fencepost.targets import TargetConfig

Made = Mapping[Position, tuple[ops.SyncOperation, ...]]
"""The operations that were put in or changed, by place."""
SPLIT = (ops.SharedMemoryBarrierSignal, ops.SharedMemoryBarrierWait)


@dataclass(frozen=True, slots=True)
class Barrier:
    """A barrier or wait and the hazards that it alone covers."""

    op: ops.SyncOperation
    position: Position
    executed: float
    """How often it runs in one run of the kernel, estimated."""
    reasons: Reasons = field(repr=False)
    others: tuple[ops.SyncOperation, ...] = ()
    """For a split barrier: its other parts."""

    @property
    def hazards(self) -> tuple[Hazard, ...]:
        """What it is there for, the nearest first."""
        return tuple(self.reasons.at(self.position))


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
    """Barriers and waits that stood in the kernel and now wait for more copies than before."""
    fenced: tuple[Barrier, ...]
    """Workgroup barriers that stood in the kernel and now have a fence: waves are skewed, and it is missing there."""
    executed: float
    """How often the new barriers run in one run of the kernel, estimated."""
    questions: int = 0
    solved: int = 0
    """Questions about numbers that came up, and those that the solver was asked."""
    proof: str = ""
    """For `optimal`: whether it is, or how far from it the result can be."""
    best: float | None = None
    """What the optimum costs, if it was looked for: executions, with waits weighed in."""
    assumed: tuple[Assumed, ...] = ()
    """How often loops and branches were taken to run where the kernel does not say."""
    stronger: tuple[StrongerWait, ...] = ()
    """Waits of the kernel that leave less outstanding than before."""
    limits: tuple[str, ...] = ()
    """What was not distinguished because that would take too long: there may be barriers that nothing needs."""


def write_decision(
    program: Program, decision: Decision, config: TargetConfig, most_reasons: int, commented: bool
) -> Inserted:
    """Put in what a decision adds, and make the barriers that exist do what it says."""
    flow, existing = program.flow, program.existing
    added, changed = decision.added(existing), decision.changed(existing)
    reasons = Reasons(program, decision.placement, [*added, *changed], most_reasons)
    comments = {at: comment_for(reasons.at(at)) if commented else "" for at in reasons.positions}
    # Changed first: what is put in counts places by the operations that stand there now.
    upgraded = {at: (_changed(program.existing_ops[at], decision.placement[at]),) for at in changed}
    made: Made
    if decision.split is not None:
        splitting = BasicSplitBarrierEmitter(config)
        instruction, made = splitting.instruction, _write_split(program, decision, splitting, comments)
    else:
        emitter = LegacyBarrierEmitter(config)
        instruction, made = emitter.instruction, emitter.emit_each(flow, added, comments)
    if program.barrier_ids:
        verify_barriers(flow.trace)
    else:
        verify_places(flow, made)
    fenced = {at: made for at, made in upgraded.items() if existing[at].raw}
    for position, (op,) in fenced.items():
        op.comment = op.comment or comments[position]
    waiting = {at: made for at, made in upgraded.items() if at not in fenced}
    solver = program.table.solver
    return Inserted(
        decision.strategy,
        config.name,
        instruction,
        _barriers(program, decision, made, reasons),
        _barriers(program, decision, waiting, reasons),
        _barriers(program, decision, fenced, reasons),
        executed=sum(flow.frequency(at) * sync.times for at, sync in added.items()),
        questions=solver.asked,
        solved=solver.solved,
        proof=decision.proof,
        best=decision.best,
        assumed=tuple(flow.assumed),
        limits=limits_of(program) + limits_of_waits(program),
    )


def _changed(op: ops.SyncOperation, sync: Sync) -> ops.SyncOperation:
    """The operation that does now what a barrier or wait of the kernel has to do more."""
    return strengthened(op, sync) or change(op, sync)


def _barriers(program: Program, decision: Decision, made: Made, reasons: Reasons) -> tuple[Barrier, ...]:
    """Operations with their reasons, in program order."""
    flow = program.flow
    if decision.split is None:
        # Several at one place are barriers each; the parts of a split one are not.
        return tuple(Barrier(op, at, flow.frequency(at), reasons) for at in sorted(made) for op in made[at])
    return tuple(Barrier(made[at][0], at, flow.frequency(at), reasons, made[at][1:]) for at in sorted(made))


def _write_split(
    program: Program,
    decision: Decision,
    emitter: BasicSplitBarrierEmitter,
    comments: dict[Position, str],
) -> dict[Position, tuple[ops.SyncOperation, ...]]:
    """Put barriers in as signals and waits; for each barrier its signal, or itself, and then its waits."""
    split, halves = decision.split or {}, decision.halves or {}
    added = {at: sync for at, sync in split.items() if at not in program.existing}
    words: dict[Position, str] = {at: comments[at] for at in comments if at not in halves}
    for barrier, (signals, waits, _) in halves.items():
        for at in (*signals, *waits):
            words.setdefault(at, comments[barrier])
    emitted = emitter.emit(program.flow, added, words, program.barrier_ids)
    found: dict[Position, tuple[ops.SyncOperation, ...]] = {}
    for barrier in comments.keys() - program.existing.keys():
        if barrier in halves:
            signals, waits, _ = halves[barrier]
            found[barrier] = (*(emitted[at][-1] for at in signals), *(emitted[at][0] for at in waits))
        else:
            whole = (op for op in emitted[barrier] if not isinstance(op, SPLIT))
            found[barrier] = (next(whole),)
    return found


def verify_barriers(trace: CapturedTrace) -> None:
    """Raise if a barrier stands where only some waves reach it, or a split one is out of step on some path."""
    flow = build_flow(trace)
    verify_splits(flow, find_instances(flow))
    for block in flow.blocks:
        for op in block.ops:
            if block.guards and _is_met(op):
                raise _divergent(op, block, trace)


def verify_places(flow: Flow, emitted: Mapping[Position, Sequence[ops.SyncOperation]]) -> None:
    """The same for whole barriers that were put into the kernel of `flow`, which is otherwise as it was."""
    for position, made in emitted.items():
        block = flow.blocks[position.block]
        for op in made:
            if op.graph is not block.graph:
                raise AssertionError(f"{op.mnemonic} stands in another region than it was meant for")
            if block.origin in flow.sealed and _is_met(op):
                guarded = next(
                    other for other in flow.blocks if other.origin == block.origin and other.guards
                )
                raise _divergent(op, guarded, flow.trace)


def _is_met(op: ops.Operation) -> bool:
    """Whether waves wait for each other there."""
    return isinstance(op, ops.SyncOperation) and not isinstance(op, ops.MemoryCounterWait)


def _divergent(op: ops.Operation, block: Block, trace: CapturedTrace) -> FencepostError:
    return FencepostError(
        "a barrier stands inside a divergent conditional",
        [Mark(op.span), Mark(block.guards[-1].branch.span, "only some waves take this side")],
        code="FP201",
        source=trace.source,
    )
