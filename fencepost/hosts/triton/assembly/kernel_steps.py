"""A translated kernel as the steps that assembly becomes as well: what was asked for."""

from __future__ import annotations

from itertools import count

from fencepost.flow import build_flow
from fencepost.hosts.amdgcn.steps import (
    COPY_IN,
    COPY_OUT,
    READ,
    UPDATE,
    WRITE,
    Access,
    Issue,
    Meets,
    Step,
    Steps,
    Wait,
)
from fencepost.hosts.triton.assembly.numbered_locations import number_of
from fencepost.hosts.triton.mlir.tree import Operation
from fencepost.hosts.triton.translate import Translation
from fencepost.ir import ops

SHARED = ops.LDS_COUNTER


def kernel_steps(translation: Translation) -> Steps:
    """The steps of a kernel, each with the number of the operation of the module that it stands for."""
    flow = build_flow(translation.trace)
    made = Steps(translation.function.string("sym_name") or translation.trace.name)
    numbers = count(1)
    for block in flow.blocks:
        made.blocks.append([_step(op, next(numbers)) for op in block.ops])
        made.successors.append(list(block.successors))
    _skip_guarded(made, [bool(block.guards) for block in flow.blocks])
    return made


def _skip_guarded(steps: Steps, guarded: list[bool]) -> None:
    """A flow runs what only some waves do for all of them: other waves pass it by."""
    changed = any(guarded)
    while changed:
        changed = False
        for successors in steps.successors:
            for block in [block for block in successors if guarded[block]]:
                more = [behind for behind in steps.successors[block] if behind not in successors]
                successors += more
                changed = changed or bool(more)


def _step(op: ops.Operation, place: int) -> Step:
    """One operation; `place` says which it is, as the line of an instruction does."""
    host = op.owner.host if op.owner is not None else op.host
    number = number_of(host) if isinstance(host, Operation) else 0
    step = Step(place, number)
    match op:
        case ops.AsyncCopy() | ops.AsyncRead():
            does = COPY_IN if isinstance(op, ops.AsyncCopy) else COPY_OUT
            return _accessing(step, does, Issue(op.counter, op.counter))
        case ops.Read():
            return _accessing(step, READ, Issue(SHARED, SHARED))
        case ops.AtomicOp():
            return _accessing(step, UPDATE, Issue(SHARED, SHARED))
        case ops.MemoryOperation():
            return _accessing(step, WRITE, Issue(SHARED, SHARED))
        case ops.GlobalRead() | ops.GlobalWrite():
            return Step(step.line, number, issues=(Issue(op.counter, op.counter),))
        case ops.SharedMemoryBarrier():
            return Step(step.line, number, waits=_waits(op.counts), fence=True, meets=Meets.WHOLE)
        case ops.WorkgroupBarrier():
            return Step(step.line, number, meets=Meets.WHOLE)
        case ops.MemoryCounterWait():
            return Step(step.line, number, waits=_waits(op.counts))
        case ops.CommitGroup():
            return Step(step.line, number, commits=op.counter)
        case _:
            return step


def _accessing(step: Step, does: str, issue: Issue) -> Step:
    return Step(step.line, step.number, Access(step.number, does), issues=(issue,))


def _waits(counts: dict[str, int]) -> tuple[Wait, ...]:
    return tuple(Wait(counter, count) for counter, count in counts.items())
