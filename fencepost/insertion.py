"""Putting in the barriers and waits that a kernel lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from fencepost.analysis.classes import Filter, all_ages
from fencepost.analysis.covers import Placement
from fencepost.analysis.hazards import Effort, Hazard, hazards
from fencepost.analysis.limits import limits_of
from fencepost.analysis.pending import conflicts_left
from fencepost.analysis.program import Program
from fencepost.analysis.read import read_program, with_fixed_waits
from fencepost.deciding import AUTOMATIC, Decision, decide
from fencepost.emit import BasicSplitBarrierEmitter, LegacyBarrierEmitter, verify_barriers, verify_places
from fencepost.emit.legacy import change
from fencepost.flow import DEFAULT_ESTIMATES, Assumed, Estimates, Position
from fencepost.ir import ops
from fencepost.ir.builder import Kernel, trace_of
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import CapturedTrace
from fencepost.objects import OrderedByObjects
from fencepost.pause import collection_paused
from fencepost.placement import STRATEGIES
from fencepost.placement.choose import limits_of_waits
from fencepost.placement.inside import waits_inside
from fencepost.reasons import Reasons
from fencepost.report.words import comment_for
from fencepost.targets import TargetConfig, target_named

DEFAULT_STRATEGY = AUTOMATIC
MOST_STEPS = 1_500_000
"""Steps that are walked over to find what conflicts where no barrier can stand."""


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
    """Barriers that stood in the kernel and now wait for copies as well."""
    fenced: tuple[Barrier, ...]
    """Workgroup barriers that stood in the kernel and now have a fence: waves run apart, and it is missing there."""
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
    limits: tuple[str, ...] = ()
    """What was not told apart because that would take too long: there may be barriers that nothing needs."""


def insert_barriers(
    trace: CapturedTrace | Kernel,
    target: str | TargetConfig = "",
    strategy: str = DEFAULT_STRATEGY,
    *,
    ignore: Filter | None = None,
    slots: bool = True,
    estimates: Estimates = DEFAULT_ESTIMATES,
    seconds: float | None = None,
    whole: bool = False,
    waits: bool = True,
    latencies: bool = True,
    near: float = 0.0,
    exact: bool = True,
    reasons: int = 8,
    comments: bool = True,
) -> Inserted:
    """Put the barriers and waits into `trace` that it lacks. What none can fix is an error, and changes nothing.

    Pairs of accesses for which `ignore` returns True are left alone: the caller answers for them. Without
    `slots`, what depends on a loop's numbers counts as the whole allocation. `estimates` say how often loops and
    branches run where the kernel does not, `seconds` how long `optimal` may look for a proof.
    With `whole`, barriers are not split, whatever the target prefers. Without `waits`, none are put in or changed; an
    async operation that is not waited for where it has to be is an error (FP207). Without `latencies`, what barriers
    expose is not looked at: a kernel that leaves out most of its arithmetic does not tell. Barriers right before
    their consumers are used instead of the optimum if they cost at most `near` more (0.02 is 2 %); without `exact`,
    the optimum is not looked for where a bound shows that. Of each barrier at most `reasons` hazards are told, the
    nearest first. Without `comments`, the new operations do not say what they are there for, and that is not looked
    up before it is asked for.
    """
    trace = trace_of(trace)
    inside: list[Barrier] = []
    with collection_paused():
        try:
            while True:
                program, decision, config, objects = _decide(
                    trace,
                    target,
                    strategy,
                    ignore,
                    slots,
                    estimates,
                    seconds,
                    whole,
                    waits,
                    latencies,
                    near,
                    exact,
                )
                more = _wait_inside(program, decision.placement, objects, reasons, comments) if waits else []
                inside += more
                if not more:
                    break
            _refuse_hopeless(program, decision.placement, objects)
        except FencepostError:
            for wait in inside:
                assert wait.op.graph is not None
                wait.op.graph.remove(wait.op)
            raise
        done = _emit(program, decision, config, reasons, comments)
    executed = done.executed + sum(wait.executed for wait in inside)
    return replace(done, barriers=(*inside, *done.barriers), executed=executed)


def add_shared_memory_barriers(trace: CapturedTrace | Kernel, target: str = "") -> None:
    """Analyze `trace` and put in the barriers that it lacks, as `target` has them.

    `fencepost.add_shared_memory_barriers` takes a trace of Wave as well; of that, what is about threads is known if
    the Wave host is installed.
    """
    insert_barriers(trace, target)


def _decide(
    trace: CapturedTrace,
    target: str | TargetConfig,
    strategy: str,
    ignore: Filter | None,
    slots: bool,
    estimates: Estimates,
    seconds: float | None,
    whole: bool,
    waits: bool,
    latencies: bool,
    near: float,
    exact: bool,
) -> tuple[Program, Decision, TargetConfig, OrderedByObjects]:
    """Where barriers and waits go in a kernel, and what mbarriers order in it."""
    config = target if isinstance(target, TargetConfig) else target_named(target)
    if strategy != AUTOMATIC and strategy not in STRATEGIES:
        raise FencepostError(
            f"unknown strategy {strategy!r}",
            code="FP111",
            notes=[("known strategies", ", ".join([AUTOMATIC, *STRATEGIES]))],
        )
    wanted = strategy == "intersect" or (config.prefers_split and strategy in (AUTOMATIC, "optimal"))
    splits = wanted and config.split_barriers and trace.waves > 1 and not whole
    ids = [ops.WORKGROUP, *range(1, 1 + config.barriers_to_name())] if splits else []

    def read(slots: bool) -> Program:
        # Where waits are not ours to put in, when accesses complete is not followed.
        return read_program(
            trace, slots=slots, ignore=ignore, barrier_ids=ids, estimates=estimates, completion=waits
        )

    program = read(slots)
    _refuse_divided(program)
    if not waits:
        refuse_unwaited(program)
        program = with_fixed_waits(program)

    def coarse() -> Program | None:
        if len(program.phases.nodes) <= len(program.flow.blocks):
            return None
        rough = read(slots=False)
        return rough if waits else with_fixed_waits(rough)

    objects = OrderedByObjects(trace)
    if waits and objects.waited_for() and conflicts_left(program, program.standing) and objects.all():
        words = "nothing is missing: mbarriers order what barriers do not, as far as `check` can tell"
        return program, Decision(strategy, program.standing, words), config, objects
    decision = decide(
        program,
        coarse,
        config,
        strategy,
        splits=splits,
        seconds=seconds,
        latencies=latencies,
        near=near,
        exact=exact,
    )
    return program, decision, config, objects


def _wait_inside(
    program: Program, placement: Placement, objects: OrderedByObjects, most: int, commented: bool
) -> list[Barrier]:
    """Put waits into divergent conditionals, where a wave needs them for itself."""
    found = waits_inside(program, placement)
    if not found or (placement == program.standing and objects.waited_for() and objects.all()):
        return []
    consumers = {at: program.flow.blocks[at.block].ops[at.gap] for at in found}
    why: dict[Position, list[Hazard]] = {at: [] for at in found}
    for hazard in hazards(program, placement):
        for at, consumer in consumers.items():
            if hazard.consumer is (consumer.owner or consumer) and len(why[at]) < most:
                why[at].append(hazard)
    # What an mbarrier has settled needs no other wait.
    for at, told in why.items():
        if told and all(objects.orders(hazard.producer, hazard.consumer) for hazard in told):
            del found[at]
    reasons = Reasons(program, placement, list(found), most, why)
    comments = {at: comment_for(why[at]) if commented else "" for at in found}
    emitted = {
        at: ops.MemoryCounterWait(dict(cover.counts), comment=comments[at]) for at, cover in found.items()
    }
    for at, wait in emitted.items():
        program.flow.insert(at, wait)
    return [Barrier(wait, at, program.flow.frequency(at), reasons) for at, wait in sorted(emitted.items())]


def _emit(program: Program, decision: Decision, config: TargetConfig, most: int, commented: bool) -> Inserted:
    flow, standing, placement = program.flow, program.standing, decision.placement
    added = {position: cover for position, cover in placement.items() if position not in standing}
    # Several where one stands already: the new ones come in front of it, and it stays as it is.
    added |= {
        position: cover._replace(times=cover.times - 1)
        for position, cover in placement.items()
        if position in standing and cover.times > 1
    }
    changed = [position for position, cover in standing.items() if placement[position] != cover]
    changed = [position for position in changed if position not in added]
    reasons = Reasons(program, placement, [*added, *changed], most)
    comments = {at: comment_for(reasons.at(at)) if commented else "" for at in reasons.positions}
    # Changed first: what is put in counts places by the operations that stand there now.
    upgraded = {position: change(program.standing_ops[position], placement[position]) for position in changed}
    emitted: dict[Position, tuple[ops.SyncOperation, ...]]
    if decision.split is not None:
        halving = BasicSplitBarrierEmitter(config)
        instruction, emitted = halving.instruction, _emit_halves(program, decision, halving, comments)
    else:
        emitter = LegacyBarrierEmitter(config)
        instruction = emitter.instruction
        emitted = emitter.emit_each(flow, added, comments)
    if program.barrier_ids:
        verify_barriers(flow.trace)
    else:
        verify_places(flow, emitted)

    def told(made: Mapping[Position, tuple[ops.SyncOperation, ...]]) -> tuple[Barrier, ...]:
        if decision.split is None:
            # Several at one place are barriers each; the parts of a split one are not.
            return tuple(
                Barrier(op, at, flow.frequency(at), reasons) for at in sorted(made) for op in made[at]
            )
        return tuple(
            Barrier(made[at][0], at, flow.frequency(at), reasons, made[at][1:]) for at in sorted(made)
        )

    executed = sum(flow.frequency(at) * cover.times for at, cover in added.items())
    made, solver = told(emitted), program.table.solver
    fenced = {at: (op,) for at, op in upgraded.items() if standing[at].raw}
    for position, (op,) in fenced.items():
        op.comment = op.comment or comments[position]
    waiting = {at: (op,) for at, op in upgraded.items() if at not in fenced}
    return Inserted(
        decision.strategy,
        config.name,
        instruction,
        made,
        told(waiting),
        told(fenced),
        executed,
        solver.asked,
        solver.solved,
        decision.proof,
        decision.best,
        tuple(flow.assumed),
        limits_of(program) + limits_of_waits(program),
    )


def _emit_halves(
    program: Program,
    decision: Decision,
    emitter: BasicSplitBarrierEmitter,
    comments: dict[Position, str],
) -> dict[Position, tuple[ops.SyncOperation, ...]]:
    """Put barriers in as signals and waits; for each barrier its signal, or itself, and then its waits."""
    split, halves = decision.split or {}, decision.halves or {}
    added = {at: cover for at, cover in split.items() if at not in program.standing}
    words: dict[Position, str] = {at: comments[at] for at in comments if at not in halves}
    for barrier, (signals, waits, _) in halves.items():
        for at in (*signals, *waits):
            words.setdefault(at, comments[barrier])
    emitted = emitter.emit(program.flow, added, words, program.barrier_ids)
    found: dict[Position, tuple[ops.SyncOperation, ...]] = {}
    for barrier in comments.keys() - program.standing.keys():
        if barrier in halves:
            signals, waits, _ = halves[barrier]
            found[barrier] = (*(emitted[at][-1] for at in signals), *(emitted[at][0] for at in waits))
        else:
            whole = (op for op in emitted[barrier] if not isinstance(op, SPLIT))
            found[barrier] = (next(whole),)
    return found


SPLIT = (ops.SharedMemoryBarrierSignal, ops.SharedMemoryBarrierWait)


def refuse_unwaited(program: Program) -> None:
    """Refuse a kernel in which an async operation may be under way where something must not overtake it."""
    for producer, consumer in unwaited(program):
        written = [op.origin for op in (producer, consumer) if op.origin]
        raise FencepostError(
            "an async operation may still be under way here: a wait is missing or too weak",
            [Mark(producer.span, "this"), Mark(consumer.span, "must not overtake it")],
            code="FP207",
            exit_code=1,
            notes=[("written", "; ".join(written))] if written else [],
            source=program.flow.trace.source,
        )


def unwaited(program: Program) -> Iterator[tuple[ops.Operation, ops.Operation]]:
    """Async operations that may be under way where something must not overtake them, and what that is."""
    if not program.table.engines:
        return
    told = 0
    for copies in program.objects.values():
        told |= copies
    before: dict[ops.Operation, list[ops.MemoryOperation]] | None = None
    for position, _, flying in conflicts_left(program, program.standing):
        # Whether a barrier object is waited for at the right time is not a matter of barriers: `check` tells.
        if not flying & ~told:
            continue
        block = program.flow.blocks[position.block]
        at_end = position.gap >= len(block.ops)
        consumer = block.anchor if at_end and block.anchor is not None else block.ops[position.gap]
        if before is None:
            before = _producers(program, program.standing, Effort(MOST_STEPS))
        found = before.get(consumer, [])
        producer = next((each for each in found if isinstance(each, ops.AsyncOperation)), consumer)
        yield producer, consumer


def _producers(
    program: Program, placement: Placement, effort: Effort
) -> dict[ops.Operation, list[ops.MemoryOperation]]:
    """For each access that a placement leaves uncovered, those that it must not overtake."""
    found: dict[ops.Operation, list[ops.MemoryOperation]] = {}
    for hazard in hazards(program, placement, effort):
        found.setdefault(hazard.consumer, []).append(hazard.producer)
    return found


def _refuse_divided(program: Program) -> None:
    """Refuse an exchange where waves run a phase apart: its own barrier is one too few, and none can be added."""
    table, shift = program.table, program.shift
    if shift is None:
        return
    for phase in program.order:
        block = program.flow.blocks[program.phases.nodes[phase].block]
        numbers, extras = dict(table.accesses[phase]), shift.groups.extras[phase]
        for gap, op in enumerate(block.ops):
            if not isinstance(op, ops.SharedMemoryBarrier) or op.owner is None:
                continue
            write, read = numbers.get(gap - 1), numbers.get(gap + 1)
            if write is None or read is None:
                continue
            for relation, (one, _) in enumerate(shift.relations):
                meets = shift.conflicts[relation][read] & all_ages(table, write)
                if (
                    meets
                    and shift.lead(extras, relation) < 0
                    and table.classes[write].waves & shift.groups.masks[one]
                ):
                    raise FencepostError(
                        "no barrier can order the parts of this operation: waves run a phase apart here, so that its "
                        "own barrier meets another one, and nothing can be put inside of it",
                        [Mark(op.owner.span), *(Mark(at.span, "held back") for at in program.held_back_at())][
                            :2
                        ],
                        code="FP205",
                        exit_code=1,
                        notes=[
                            ("help", "let the waves that are held back catch up in front of it"),
                            *([("written", op.owner.origin)] if op.owner.origin else []),
                        ],
                        source=program.flow.trace.source,
                    )


def _refuse_hopeless(program: Program, placement: Placement, objects: OrderedByObjects) -> None:
    """Some accesses stand where no barrier can come between them: say so before anything is changed.

    Mbarriers may order them all the same.
    """
    if not (program.flow.sealed or program.held):
        return
    left = conflicts_left(program, placement)
    if not left or (placement == program.standing and objects.waited_for() and objects.all()):
        return
    effort = Effort(MOST_STEPS)
    before = _producers(program, placement, effort)
    for position, _, _ in left:
        block = program.flow.blocks[position.block]
        at_end = position.gap >= len(block.ops)
        consumer = block.anchor if at_end and block.anchor is not None else block.ops[position.gap]
        producers = before.get(consumer, [])
        # Where not all of them were found, another one may be out of order.
        if producers and not effort.ended and all(objects.orders(each, consumer) for each in producers):
            continue
        producer = next((each for each in producers if not objects.orders(each, consumer)), consumer)
        if position in program.held:
            raise FencepostError(
                "no barrier can order these accesses: it would stand between a signal and its wait",
                [Mark(producer.span, "this access"), Mark(consumer.span, "and this one can meet")],
                code="FP205",
                exit_code=1,
                notes=[("help", "signal later or wait earlier, or put a barrier in front of the signal")],
                source=program.flow.trace.source,
            )
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
