"""`schedule_reordering`: find the loop, choose a strategy, rearrange, shift half of the waves, check the result."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.check import Report, check
from fencepost.ir import ops
from fencepost.ir.builder import Kernel
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace, Graph, trace_of
from fencepost.schedule.arrangement import Arrangement
from fencepost.schedule.classify import LoopOperations, classify, find_loop
from fencepost.schedule.conditional import add_conditional_barriers_to_loop, check_waves
from fencepost.schedule.constraints import Constraints, HardwareConstraint, SchedulingType
from fencepost.schedule.loop_refusals import refusal
from fencepost.schedule.reorder import put_in_order, reorder_graph
from fencepost.schedule.strategies import STRATEGIES, SchedReorderStrategy, Strategy, strategy_named
from fencepost.schedule.surroundings import add_barriers_around


@dataclass(frozen=True, slots=True)
class Scheduled:
    """What came of scheduling a kernel."""

    strategy: str
    """The strategy that was applied; `none` if the kernel stayed as it was."""
    loop: ops.Iterate | None = None
    added: tuple[ops.Operation, ...] = ()
    """Barriers, priorities and scheduling barriers that were put in, in the order of the text."""
    refusals: tuple[tuple[str, FencepostError], ...] = ()
    """Strategies that were tried and do not fit, each with the first condition that failed."""
    report: Report | None = None
    """What `check` says about the scheduled kernel."""


def schedule_reordering(
    trace: CapturedTrace | Kernel,
    constraints: Constraints | None = None,
    scheduling_type: SchedulingType = SchedulingType.PREFETCH,
    *,
    strategy: str | SchedReorderStrategy | None = None,
) -> Scheduled:
    """Rearrange the loop of a kernel for ping-pong, in place.

    Without a strategy the first of the registry that fits is taken; if none does, the kernel stays as it is and the
    result says why. A strategy that was asked for and does not fit is an error, and changes nothing either.
    """
    trace = trace_of(trace)
    constraints = constraints or Constraints()
    name = strategy.value if isinstance(strategy, SchedReorderStrategy) else strategy
    if name == SchedReorderStrategy.NONE.value:
        return Scheduled(name)
    wanted = list(STRATEGIES.values()) if name is None else [strategy_named(name)]
    try:
        found = _qualified(trace, constraints.hardware, scheduling_type)
    except FencepostError as error:
        if name is not None:
            raise _located(error, trace) from None
        return _nothing([(each.name, error) for each in wanted])
    refusals: list[tuple[str, FencepostError]] = []
    for each in wanted:
        try:
            return _apply(trace, found, constraints, each, refusals)
        except FencepostError as error:
            if name is not None:
                raise _located(error, trace) from None
            refusals.append((each.name, error))
    return _nothing(refusals)


def _nothing(refusals: list[tuple[str, FencepostError]]) -> Scheduled:
    return Scheduled(SchedReorderStrategy.NONE.value, refusals=tuple(refusals))


def _located(error: FencepostError, trace: CapturedTrace) -> FencepostError:
    error.source = error.source or trace.source
    return error


def _qualified(
    trace: CapturedTrace, hardware: HardwareConstraint, scheduling_type: SchedulingType
) -> LoopOperations:
    """The loop, if any strategy could do something with it."""
    if scheduling_type is not SchedulingType.PREFETCH:
        raise refusal(
            "FP507",
            f"the kernel is scheduled as {scheduling_type.value!r}",
            "ping-pong is for kernels that prefetch",
        )
    check_waves(trace, hardware)
    return classify(find_loop(trace))


def _apply(
    trace: CapturedTrace,
    found: LoopOperations,
    constraints: Constraints,
    strategy: Strategy,
    refusals: list[tuple[str, FencepostError]],
) -> Scheduled:
    for failed in strategy.conditions(found, constraints):
        raise failed
    arrangement = strategy.arrange(found)
    loop, around = found.loop, found.loop.graph
    assert around is not None
    known = set(trace.preorder_walk())
    before = [(graph, list(graph)) for graph in (loop.body, around)]
    try:
        report = _rearrange(trace, loop, arrangement, constraints.hardware)
    except FencepostError:
        for graph, order in before:
            put_in_order(graph, order)
        raise
    added = tuple(op for op in trace.preorder_walk() if op not in known)
    return Scheduled(strategy.name, loop, added, tuple(refusals), report)


def _rearrange(
    trace: CapturedTrace, loop: ops.Iterate, arrangement: Arrangement, hardware: HardwareConstraint
) -> Report:
    reorder_graph(loop.body, arrangement.clusters)
    add_barriers_around(loop, arrangement)
    add_conditional_barriers_to_loop(loop, trace, hardware)
    report = check(trace)
    _judge(report, loop)
    return report


def _judge(report: Report, loop: ops.Iterate) -> None:
    """Refuse a result with a race or deadlock that the loop has part in. What else is missing `insert` can add."""
    condition = "the scheduled kernel is free of races and deadlocks"
    for race in report.races:
        touched = [race.first.op, race.second.op]
        if any(_inside(op, loop) for op in touched):
            marks = [(race.first.op, race.first.verb), (race.second.op, race.second.verb)]
            raise refusal(
                "FP513", f"the schedule leaves a race ({race.hazard})", condition, marks, [("why", race.why)]
            )
    for deadlock in report.deadlocks:
        raise refusal("FP513", f"the schedule leaves a deadlock: {deadlock.message}", condition, deadlock.ops)


def _inside(op: ops.Operation, loop: ops.Iterate) -> bool:
    graph: Graph | None = op.graph
    while graph is not None:
        if graph is loop.body:
            return True
        graph = graph.owner.graph if graph.owner is not None else None
    return False
