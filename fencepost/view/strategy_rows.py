"""Strategies side by side: what each puts into the kernel if its own barriers are taken out."""

from __future__ import annotations

from time import thread_time

from fencepost.emit.write import Inserted
from fencepost.flow import build_flow
from fencepost.ir import ops
from fencepost.ir.parser import parse_all
from fencepost.ir.printer import locate, print_file, statement
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.insert import insert_barriers
from fencepost.phases import begin_phase
from fencepost.placement import AUTO, STRATEGIES
from fencepost.timing import time_kernel
from fencepost.view.page_data import StrategyRow

MOST_OPERATIONS = 400
"""Larger kernels are not compared: each strategy would take as long as `insert`."""
SECONDS = 0.5
"""How long `optimal` may look for a proof."""
MOST_SECONDS = 3.0
"""How long all of them may take together, before the next one is left out."""
FIRST_SECONDS = 0.4
"""How long the first of them may take, before all others are left out."""
MOST_LINES = 40


def strategy_rows(trace: CapturedTrace, target: str) -> tuple[tuple[StrategyRow, ...], str]:
    """One row for the kernel as it stands, one for each strategy; or why there is none."""
    operations = [op for body in (trace, *trace.functions()) for op in body.preorder_walk()]
    if len(operations) > MOST_OPERATIONS:
        return (), f"strategies side by side: the kernel has more than {MOST_OPERATIONS} operations"
    if any(isinstance(op, ops.MbarrierOperation) for op in operations):
        return (), "strategies side by side: mbarriers order this kernel, and no strategy places these"
    rows = [as_it_stands(trace, target)]
    start = thread_time()
    try:
        for number, name in enumerate((AUTO.name, *STRATEGIES)):
            # The others are the slower ones: where `auto` takes its time, they would take far more.
            if thread_time() - start > (FIRST_SECONDS if number == 1 else MOST_SECONDS):
                return tuple(rows), f"strategies side by side: {name} and those after it would take too long"
            begin_phase(f"comparing strategies for @{trace.name}: {name}")
            rows.append(_row(trace, name, target))
    except FencepostError as refused:
        return tuple(rows), f"strategies side by side: without its barriers, {refused.message}"
    return tuple(rows), ""


def copy_of(trace: CapturedTrace) -> CapturedTrace:
    """The same kernel, to be changed."""
    return next(each for each in parse_all(print_file([trace])) if each.name == trace.name)


def without_barriers(trace: CapturedTrace) -> CapturedTrace:
    """The same kernel without what a strategy could put in: barriers, split barriers and waits."""
    bare = copy_of(trace)
    for body in (bare, *bare.functions()):
        for op in list(body.preorder_walk()):
            # A wait that others depend on by its name stays: it is a part of the program.
            if isinstance(op, ops.SyncOperation) and not op.name and op.graph is not None:
                op.graph.remove(op)
    return bare


def as_it_stands(trace: CapturedTrace, target: str) -> StrategyRow:
    """The barriers that the kernel has."""
    flow = build_flow(trace)
    count, executed = 0, 0.0
    for block in flow.blocks:
        here = sum(isinstance(op, ops.SyncOperation) and op.owner is None for op in block.ops)
        count += here
        executed += here * block.frequency if here else 0
    return StrategyRow("as it stands", count, executed, *_timed(trace, target), (), "")


def _row(trace: CapturedTrace, name: str, target: str) -> StrategyRow:
    kernel = without_barriers(trace)
    done = insert_barriers(kernel, target, strategy=name, seconds=SECONDS, comments=False)
    return StrategyRow(
        name, len(done.barriers), done.executed, *_timed(kernel, target), _places(kernel, done), done.proof
    )


def _timed(kernel: CapturedTrace, target: str) -> tuple[int | None, float | None]:
    """Estimated cycles, and how many of them a wave waits."""
    timing = time_kernel(kernel, target)
    return (None, None) if timing.deadlock else (timing.cycles, round(timing.stall_per_wave, 1))


def _places(kernel: CapturedTrace, done: Inserted) -> tuple[str, ...]:
    """What was put in, and what follows it."""
    _, spans = locate(kernel)
    found = []
    for barrier in sorted(done.barriers, key=lambda each: spans[each.op].line)[:MOST_LINES]:
        after = barrier.op.next
        before = f"before `{statement(after).removesuffix(' {')}`" if after is not None else "at the end"
        found.append(f"{statement(barrier.op)} {before}")
    return tuple(found)
