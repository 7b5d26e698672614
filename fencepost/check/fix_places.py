"""What might help: for each race, where a barrier or wait would have to stand."""

from __future__ import annotations

from dataclasses import replace

from fencepost.check.concrete_access import shown
from fencepost.check.environments import bodies_of
from fencepost.check.report import Fix, Race
from fencepost.flow import Block, Flow
from fencepost.ir import ops


def with_fixes(flow: Flow, races: list[Race]) -> list[Race]:
    """The races in the order of the program, each with a fix."""
    if not races:
        return []
    operations = (op for body in bodies_of(flow) for op in body.preorder_walk())
    places = {op: number for number, op in enumerate(operations)}

    def order(race: Race) -> tuple[int, int, int]:
        return places[shown(race.second.op)], places[shown(race.first.op)], race.distance

    return [replace(race, fix=_fix(flow, race)) for race in sorted(races, key=order)]


def _fix(flow: Flow, race: Race) -> Fix:
    return _other_fix(race) or _barrier_fix(flow, race)


def _other_fix(race: Race) -> Fix | None:
    """What helps where neither a barrier nor a wait for a counter can."""
    if race.kind == "wrong order":
        return Fix("one more barrier on the way from the first to the second, for both groups of waves")
    arrives = race.first.op.arrives if isinstance(race.first.op, ops.AsyncOperation) else None
    if arrives is not None and not race.waited:
        return Fix(
            f"an mbarrier_wait for the phase of {arrives.view} that the copy completes", shown(race.second.op)
        )
    if race.unfenced is not None:
        where = f" on line {race.unfenced.span.line}" if race.unfenced.span else ""
        return Fix(f"a fence at the workgroup barrier{where}: `barrier` instead of `workgroup_barrier`")
    if race.first.op.owner is not None and race.first.op.owner is race.second.op.owner and not race.rounds:
        return Fix(
            "no barrier can order its parts: it would have to stand inside of this operation, whose own barrier "
            "meets another one where waves are skewed. Let the waves that are delayed catch up in front of it"
        )
    return None


def _barrier_fix(flow: Flow, race: Race) -> Fix:
    """A barrier before the second access, or before the outermost conditional that only the second one is in."""
    wait, put = _wait(flow, race)
    if flow.trace.waves == 1:
        put = put or (ops.MemoryCounterWait({ops.LDS_COUNTER: 0}),)
        return Fix(wait or "wait_count lds=0", shown(race.second.op), put)
    if race.signalled:
        return Fix("the wait for the barrier that is signalled already has to come", shown(race.second.op))
    what = f"{wait}, then a barrier," if wait else "a barrier"
    put = (*put[:-1], *barrier_that_waits(race.first.op, 0)) if put else (ops.SharedMemoryBarrier(),)
    first, second = flow.blocks[race.first.block], flow.blocks[race.second.block]
    shared = {guard.branch for guard in first.guards}
    for guard in second.guards:
        # From the outside in: the first conditional that the way between the two enters.
        if guard.branch not in shared or _entered_again(flow, guard.branch, first, second, race):
            return Fix(what, guard.branch, put)
        if guard not in first.guards:
            break
    if not second.guards:
        return Fix(what, shown(race.second.op), put)
    return Fix(_why_none(first, second))


def _why_none(first: Block, second: Block) -> str:
    """Why no barrier can stand between two accesses of some waves, and what can be done."""
    around = {guard.branch: guard for guard in first.guards}
    shared = [guard for guard in second.guards if guard.branch in around]
    apart = [guard for guard in shared if guard != around[guard.branch]]
    branch = (apart or shared)[-1].branch
    where = (
        f"the divergent conditional on line {branch.span.line}" if branch.span else "a divergent conditional"
    )
    if apart:
        return (
            f"no barrier can stand between them: they are on the two sides of {where}. Let one come after the other: "
            "two conditionals, with a barrier between them"
        )
    return (
        f"no barrier can stand between them: both are inside {where}, which only some waves enter. Split it in two, "
        "with a barrier between them"
    )


def _wait(flow: Flow, race: Race) -> tuple[str, tuple[ops.Operation, ...]]:
    """The wait that is missing for what an engine does, if that is what is missing."""
    work = race.first.op
    if race.waited or not isinstance(work, ops.AsyncOperation):
        return "", ()
    put: ops.Operation = ops.MemoryCounterWait({work.counter: 0})
    wait = f"wait_count {work.counter}=0"
    grouped = any(
        isinstance(op, ops.CommitGroup) and op.counter == work.counter
        for block in flow.blocks
        for op in block.ops
    )
    if grouped and not any(isinstance(op, ops.CommitGroup) for op in race.path):
        return f"commit {work.counter}, then {wait}", (ops.CommitGroup(work.counter), put)
    return wait, (put,)


def barrier_that_waits(work: ops.MemoryOperation, count: int) -> tuple[ops.Operation, ...]:
    """A barrier that leaves so much of an engine's work outstanding; hosts have a wait and a barrier for that."""
    assert isinstance(work, ops.AsyncOperation)
    if work.host is not None:
        return ops.MemoryCounterWait({work.counter: count}), ops.SharedMemoryBarrier()
    return (ops.SharedMemoryBarrier(counts={work.counter: count}),)


def _entered_again(flow: Flow, branch: ops.Operation, first: Block, second: Block, race: Race) -> bool:
    """Whether `branch`, which the second access stands under, is met again between the two."""
    befores = (block for block in flow.blocks if block.anchor is branch)
    before = next(block for block in befores if block.calls == second.calls[: len(block.calls)])
    if before.calls != first.calls[: len(before.calls)]:
        return True  # in another call of its function
    around = {loop.index for loop in flow.loops_around(before.index)}
    return any(loop in around for loop in race.rounds)
