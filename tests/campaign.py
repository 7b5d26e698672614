"""What has to hold for every kernel, as functions that return None or the way in which it does not.

The property tests run them on a few thousand kernels, `make fuzz` on as many as one likes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from fencepost.analysis.read import read_program
from fencepost.check import check
from fencepost.flow import build_flow
from fencepost.insertion import insert_barriers
from fencepost.ir import ops
from fencepost.ir.parser import parse
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.placement import STRATEGIES, cost
from fencepost.placement.choose import paid_each_time
from fencepost.pruning import prune_barriers
from tests.random_kernels import without

Property = Callable[[str], str | None]


def inserted(text: str, strategy: str) -> CapturedTrace | None:
    """The kernel with barriers; None if it has accesses that no barrier could order."""
    kernel = parse(text)
    try:
        insert_barriers(kernel, strategy=strategy)
    except FencepostError as error:
        if error.code == "FP203":
            return None
        raise
    return kernel


def every_strategy_leaves_no_race(text: str) -> str | None:
    """Whatever strategy is used, `check` finds nothing."""
    for strategy in STRATEGIES:
        kernel = inserted(text, strategy)
        if kernel is None:
            continue
        report = check(kernel)
        if not report.ok:
            race = report.races[0] if report.races else report.deadlocks[0]
            return f"{strategy} leaves {race}"
        if str(parse(str(kernel))) != str(kernel):
            return f"the result of {strategy} does not round-trip"
    return None


def refusals_are_real(text: str) -> str | None:
    """Where insertion refuses, the kernel does have a race that no barrier can fix."""
    if inserted(text, "minimize") is None and check(parse(text)).ok:
        return "refused, yet there is no race"
    return None


def prune_leaves_no_race(text: str) -> str | None:
    """A kernel that is clean stays so, whoever put its barriers in."""
    for kernel in (parse(text), inserted(text, "eager")):
        if kernel is not None and check(kernel).ok:
            prune_barriers(kernel)
            if not check(kernel).ok:
                return "prune took a barrier that is needed"
    return None


def prune_keeps_no_more_than_insert_needs(text: str) -> str | None:
    """With what `insert` puts in and barriers and waits besides, `prune` keeps what costs no more than the former."""
    kernel = inserted(text, "auto")
    if kernel is None:
        return None
    crowded = parse(_with_more(str(kernel), random.Random(text)))
    try:
        prune_barriers(crowded)
    except FencepostError as error:
        # One of them stands where only some waves meet it: that is another kernel.
        assert error.code.startswith("FP2"), error
        return None
    before, after = paid_for(kernel), paid_for(crowded)
    return (
        f"prune keeps what costs {after}, insert's own costs {before}"
        if after > before * (1 + 1e-9)
        else None
    )


def _with_more(text: str, rng: random.Random) -> str:
    """A kernel with barriers and waits in front of some of its accesses."""
    lines: list[str] = []
    for line in text.splitlines():
        if ACCESS.search(line) and rng.random() < 0.3:
            lines.append(rng.choice(["barrier", "barrier", "barrier async", "wait_count load=0"]))
        lines.append(line)
    return "\n".join(lines) + "\n"


ACCESS = re.compile(r"\b(read|write|gather_to_lds|tensor_load_to_lds) %")


def paid_for(kernel: CapturedTrace) -> float:
    """What the barriers and waits of a kernel cost."""
    program = read_program(kernel)
    return sum(program.flow.frequency(at) * paid_each_time(cover) for at, cover in program.standing.items())


def no_barrier_is_left_to_take(text: str) -> str | None:
    """After prune the kernel is as race-free as before, and without any one barrier it is not."""
    kernel = inserted(text, "eager")
    if kernel is None:
        return None
    prune_barriers(kernel)
    if not check(kernel).ok:
        return "prune took a barrier that is needed"
    for op in list(kernel.preorder_walk()):
        if isinstance(op, ops.SharedMemoryBarrier) and check(parse(without(kernel, op))).ok:
            return "prune left a barrier that is not needed"
    return None


def minimize_costs_no_more_than_eager(text: str) -> str | None:
    """Barriers executed, trip counts weighed in."""
    program = read_program(parse(text))
    price = {name: cost(program.flow, strategy.choose(program)) for name, strategy in STRATEGIES.items()}
    if price["minimize"] > price["eager"] * (1 + 1e-9):
        return f"minimize costs {price['minimize']}, eager {price['eager']}"
    return None


def inserting_twice_adds_nothing(text: str) -> str | None:
    """What has been put in counts the second time."""
    for strategy in STRATEGIES:
        kernel = inserted(text, strategy)
        if kernel is not None and insert_barriers(kernel, strategy="eager").barriers:
            return f"after {strategy}, another insertion adds barriers"
    return None


def both_ways_of_checking_agree(text: str) -> str | None:
    """`track` and `simulate` find a race in the same kernels, where all paths can be simulated."""
    kernel = parse(text)
    tracked = check(kernel, method="track")
    simulated = check(kernel, method="simulate", paths=300)
    if simulated.races and not tracked.races:
        return "simulate finds a race that track does not"
    sampled = any("paths" in limit for limit in simulated.explored.limits)
    if tracked.races and not simulated.races and not sampled:
        return "track finds a race that simulate does not"
    return None


def no_wait_can_be_weaker(text: str) -> str | None:
    """After insertion and prune, one more operation left outstanding anywhere is a race."""
    kernel = inserted(text, "minimize")
    if kernel is None:
        return None
    prune_barriers(kernel)
    if not check(kernel).ok:
        return "prune weakened a wait that is needed"
    counters = {op.counter for op in kernel.preorder_walk() if isinstance(op, ops.AsyncOperation)}
    for op in list(kernel.preorder_walk()):
        if not isinstance(op, ops.SharedMemoryBarrier | ops.MemoryCounterWait):
            continue
        for counter, count in op.counts.items():
            if counter not in counters or count >= 63:
                continue
            op.counts[counter] = count + 1
            weaker = check(parse(str(kernel)))
            op.counts[counter] = count
            if weaker.ok:
                return f"a wait for {counter}={count} could be weaker"
    return None


def every_kernel_has_a_flow(text: str) -> str | None:
    """Frequencies are positive where a block can be reached, and edges go both ways."""
    flow = build_flow(parse(text))
    for block in flow.blocks:
        for successor in block.successors:
            if block.index not in flow.blocks[successor].predecessors:
                return "an edge without its other end"
    if any(flow.blocks[index].frequency <= 0 for index in flow.order):
        return "a block that can be reached but never runs"
    return None


SOUND: tuple[Property, ...] = (
    every_strategy_leaves_no_race,
    prune_leaves_no_race,
    prune_keeps_no_more_than_insert_needs,
    minimize_costs_no_more_than_eager,
    inserting_twice_adds_nothing,
    every_kernel_has_a_flow,
)
"""For any kernel."""
EXACT: tuple[Property, ...] = (*SOUND, refusals_are_real, no_barrier_is_left_to_take)
"""For kernels whose slots are constants: there the analysis sees exactly what `check` sees."""
WAITS: tuple[Property, ...] = (*EXACT, no_wait_can_be_weaker)
"""For kernels with copies in flight, and without waits of their own under divergence."""
EXHAUSTIVE: tuple[Property, ...] = (both_ways_of_checking_agree,)
"""For kernels so small that all their paths can be simulated."""
