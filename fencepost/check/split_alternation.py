"""Signals and waits in step, where all waves meet the same ones: on every path they alternate."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from fencepost.check.environments import Env
from fencepost.check.loop_context import Context
from fencepost.check.report import Deadlock, Explored, barrier_name
from fencepost.flow import Flow
from fencepost.ir import ops

State = tuple[tuple[int, ops.Operation], ...]
"""Barriers that are signalled and not yet waited for, each with its signal."""

Visit = tuple[int, Env, State]

Reporter = Callable[[str, str, ops.Operation, list[tuple[ops.Operation, str]], Visit], None]


MOST_STATES = 200_000


def split_errors(context: Context, explored: Explored) -> list[Deadlock]:
    """Every signal or wait that is out of step on some path."""
    flow = context.flow
    if not any(
        isinstance(op, (ops.SharedMemoryBarrierSignal, ops.SharedMemoryBarrierWait))
        for block in flow.blocks
        for op in block.ops
    ):
        return []
    todo: deque[Visit] = deque((0, env, ()) for env in context.environments.starts())
    came_from: dict[Visit, Visit | None] = dict.fromkeys(todo)
    errors: dict[tuple[str, int], Deadlock] = {}

    def report(
        kind: str, message: str, op: ops.Operation, marks: list[tuple[ops.Operation, str]], at: Visit
    ) -> None:
        key = (kind, id(op))
        if key not in errors:
            errors[key] = Deadlock(kind, message, tuple(marks), tuple(_path(context, came_from, at, op)))

    while todo:
        if len(came_from) > MOST_STATES:
            explored.cut(f"signals and waits in {MOST_STATES} states")
            break
        visit = todo.popleft()
        index, env, opened = visit
        block = flow.blocks[index]
        state: dict[int, ops.Operation] | None = dict(opened)
        for op in block.ops:
            if state is None:
                break
            state = _advance(op, state, visit, report)
        if state is None:
            continue
        following = context.successors(block, env)
        if not block.successors:
            for bar_id, signal in state.items():
                text = f"the kernel ends with {barrier_name(bar_id)} signalled and not waited for"
                report("left signalled", text, signal, [(signal, "no wait follows this signal")], visit)
        after = tuple(sorted(state.items(), key=lambda item: item[0]))
        for target, values, _ in following:
            nxt: Visit = (target, values, after)
            if nxt not in came_from:
                came_from[nxt] = visit
                todo.append(nxt)
    return list(errors.values())


def _advance(
    op: ops.Operation, state: dict[int, ops.Operation], visit: Visit, report: Reporter
) -> dict[int, ops.Operation] | None:
    """The barriers that are signalled after an operation; None if it is out of step."""
    if isinstance(op, ops.SharedMemoryBarrierSignal):
        if op.bar_id in state:
            text = f"{barrier_name(op.bar_id)} is signalled twice before it is waited for"
            report(
                "signalled twice",
                text,
                op,
                [(state[op.bar_id], "signalled here"), (op, "and again here")],
                visit,
            )
            return None
        return {**state, op.bar_id: op}
    if isinstance(op, ops.SharedMemoryBarrierWait):
        if op.bar_id not in state:
            text = f"a wave waits for {barrier_name(op.bar_id)}, which it has not signalled"
            report("wait without signal", text, op, [(op, "waits here for ever")], visit)
            return None
        return {bar_id: signal for bar_id, signal in state.items() if bar_id != op.bar_id}
    if isinstance(op, (ops.SharedMemoryBarrier, ops.WorkgroupBarrier)) and ops.WORKGROUP in state:
        text = "the workgroup's barrier is entered again between its signal and its wait"
        report(
            "signalled twice",
            text,
            op,
            [(state[ops.WORKGROUP], "signalled here"), (op, "entered here")],
            visit,
        )
        return None
    return state


def _path(
    context: Context, came_from: dict[Visit, Visit | None], visit: Visit, op: ops.Operation
) -> Iterator[ops.Operation]:
    visits = [visit]
    while (earlier := came_from[visits[-1]]) is not None:
        visits.append(earlier)
    for here in reversed(visits):
        for passed in context.flow.blocks[here[0]].ops:
            yield passed
            if here is visit and passed is op:
                return


def too_many_barriers(flow: Flow, available: int) -> list[Deadlock]:
    """A finding if a kernel uses more named barriers than the hardware has."""
    first: dict[int, ops.Operation] = {}
    for block in flow.blocks:
        for op in block.ops:
            split = isinstance(op, (ops.SharedMemoryBarrierSignal, ops.SharedMemoryBarrierWait))
            number = getattr(op, "bar_id", ops.WORKGROUP)
            if split and number != ops.WORKGROUP:
                first.setdefault(number, op)
    if len(first) <= available:
        return []
    extra = list(first.values())[available]
    text = f"{len(first)} named barriers, and the target has {available or 'none'}"
    return [Deadlock("too many barriers", text, ((extra, "one too many"),), (extra,))]
