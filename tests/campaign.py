"""What has to hold for every kernel, as functions that return None or the way in which it does not.

The property tests run them on a few thousand kernels, `make fuzz` on as many as one likes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from fencepost.analysis.build_program import read_program
from fencepost.analysis.pending import conflicts_left
from fencepost.check import check
from fencepost.flow import build_flow
from fencepost.ir import ops
from fencepost.ir.parser import parse
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.insert import insert_barriers
from fencepost.passes.prune import prune_barriers
from fencepost.placement import STRATEGIES, cost
from fencepost.placement.wait_counts import paid_each_time
from tests.mbarrier_reference import TooLarge, mistake
from tests.shrink import without

Property = Callable[[str], str | None]
EVERY = ("auto", *STRATEGIES)
SKEWED = tuple(name for name in EVERY if name != "intersect")
"""Skewed waves get whole barriers only."""


def inserted(text: str, strategy: str) -> CapturedTrace | None:
    """The kernel with barriers; None if it has accesses that no barrier could order."""
    made = _inserted(text, strategy)
    return None if made is None else parse(made)


@lru_cache(256)
def _inserted(text: str, strategy: str) -> str | None:
    kernel = parse(text)
    try:
        insert_barriers(kernel, strategy=strategy)
    except FencepostError as error:
        if error.code == "FP203":
            return None
        raise
    made = str(kernel)
    assert str(parse(made)) == made, f"the result of {strategy} does not round-trip"
    return made


@lru_cache(256)
def clean(text: str) -> bool:
    """Whether `check` finds nothing. Several properties ask the same of one kernel."""
    return check(parse(text)).ok


def every_strategy_leaves_no_race(text: str, strategies: Sequence[str] = EVERY) -> str | None:
    """Whatever strategy is used, `check` finds nothing."""
    for strategy in strategies:
        kernel = inserted(text, strategy)
        if kernel is None:
            continue
        report = check(kernel)
        if not report.ok:
            race = report.races[0] if report.races else report.deadlocks[0]
            return f"{strategy} leaves {race}"
    return None


def refusals_are_real(text: str) -> str | None:
    """Where insertion refuses, the kernel does have a race that no barrier can fix."""
    if inserted(text, "minimize") is None and clean(text):
        return "refused, yet there is no race"
    return None


def prune_leaves_no_race(text: str) -> str | None:
    """A kernel that is clean stays so, whoever put its barriers in."""
    for kernel in (parse(text), inserted(text, "eager")):
        if kernel is not None and clean(str(kernel)):
            prune_barriers(kernel)
            if not clean(str(kernel)):
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
    return sum(program.flow.frequency(at) * paid_each_time(sync) for at, sync in program.existing.items())


def no_barrier_is_left_to_take(text: str) -> str | None:
    """After prune the kernel is as race-free as before, and without any one barrier it is not."""
    kernel = inserted(text, "eager")
    if kernel is None:
        return None
    prune_barriers(kernel)
    if not clean(str(kernel)):
        return "prune took a barrier that is needed"
    for op in list(kernel.preorder_walk()):
        if isinstance(op, ops.SharedMemoryBarrier) and clean(without(kernel, op)):
            return "prune left a barrier that is not needed"
    return None


def minimize_costs_no_more_than_eager(text: str) -> str | None:
    """Barriers executed, trip counts weighed in."""
    # Strategies choose by themselves here; where completion matters, `insert` works in another way.
    program = read_program(parse(text), completion=False)
    price = {name: cost(program.flow, STRATEGIES[name].choose(program)) for name in ("minimize", "eager")}
    if price["minimize"] > price["eager"] * (1 + 1e-9):
        return f"minimize costs {price['minimize']}, eager {price['eager']}"
    return None


def inserting_twice_adds_nothing(text: str, strategies: Sequence[str] = EVERY) -> str | None:
    """What has been put in counts the second time."""
    for strategy in strategies:
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
    # In a loop with two entries, a path that always takes the first way need not end: that is said, and no proof.
    sampled = any("path" in limit or "stopped" in limit for limit in simulated.explored.limits)
    if tracked.races and not simulated.races and not sampled:
        return "track finds a race that simulate does not"
    return None


def clean_kernels_get_nothing(text: str) -> str | None:
    """What `check` finds nothing wrong with stays as it is."""
    kernel = parse(text)
    report = check(kernel)
    if not (report.ok and report.explored.complete):
        return None
    done = insert_barriers(kernel)
    added = [*done.barriers, *done.upgraded, *done.fenced]
    return f"{added[0].op.mnemonic} put into a clean kernel" if added else None


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


# ---------------------------------------------------------------- loops up to a parameter


def with_parameter(text: str, value: int) -> str:
    """A kernel with one parameter, with a value for it in its place."""
    lines = [line for line in text.splitlines() if line.strip() != "param %n"]
    return re.sub(r"%n\b", str(value), "\n".join(lines)) + "\n"


VALUES = range(-6, 17)
"""A parameter can be negative; and so large that whatever depends on how often a loop runs has repeated."""


def check_agrees_with_every_value(text: str) -> str | None:
    """What is found for all values of a parameter at once is found with one of them, and the other way round."""
    report = check(parse(text))
    wrong = [value for value in VALUES if not check(parse(with_parameter(text, value))).ok]
    if report.ok and report.explored.complete and wrong:
        return f"check proves the kernel, and finds something with {wrong[0]}"
    if not report.ok and not wrong:
        return "check finds something, and nothing with any value"
    return None


def insertion_is_clean_with_every_value(text: str, strategies: Sequence[str] = EVERY) -> str | None:
    """Barriers that are put in for all values of a parameter are enough for each."""
    for strategy in strategies:
        made = _inserted(text, strategy)
        for value in VALUES if made is not None else ():
            if not check(parse(with_parameter(str(made), value))).ok:
                return f"{strategy} leaves something with {value}"
    return None


# ---------------------------------------------------------------- skewed waves


def skewed_insertion_is_proven(text: str, strategies: Sequence[str] = SKEWED) -> str | None:
    """`check` proves what is put in where one group of waves is a barrier behind, for all trip counts."""
    for strategy in strategies:
        trace = parse(text)
        insert_barriers(trace, "gfx950", strategy)
        report = check(trace)
        if not report.ok:
            return f"{strategy} leaves {(report.races or report.deadlocks)[0]}"
        if not report.explored.complete:
            return f"{strategy}: not a proof: {report.explored}"
    return None


def the_analysis_misses_no_race(text: str) -> str | None:
    """Where the analysis finds nothing missing, neither does `check`."""
    program = read_program(parse(text))
    if not conflicts_left(program, program.existing) and not check(parse(text)).ok:
        return "the analysis finds nothing missing, and check does"
    return None


def the_analysis_agrees_with_check(text: str) -> str | None:
    """The analysis finds something missing exactly where `check` does."""
    program = read_program(parse(text))
    if bool(conflicts_left(program, program.existing)) == check(parse(text)).ok:
        return "check and the analysis disagree"
    return None


# ---------------------------------------------------------------- mbarriers


def check_finds_what_an_interleaving_shows(text: str) -> str | None:
    """What goes wrong in some interleaving of a tiny kernel with mbarriers, `check` reports."""
    try:
        ok = check(parse(text)).ok
        wrong = mistake(text)
    except (FencepostError, TooLarge):
        return None
    return f"check finds nothing, an interleaving shows: {wrong}" if ok and wrong else None


def _waits_first(text: str) -> str:
    """A kernel with barriers that wait for copies written as waits and barriers: the reference knows no others."""
    lines = []
    for line in text.splitlines():
        barrier = re.fullmatch(r"\s*barrier((?: \w+=\d+)+| async)(?:  #.*)?", line)
        if barrier:
            counts = ["load=0", "tensor=0"] if "async" in barrier[1] else barrier[1].split()
            lines += [*(f"wait_count {count}" for count in counts), "barrier"]
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def insertion_around_mbarriers_is_clean(text: str, strategies: Sequence[str] = EVERY) -> str | None:
    """Without its barriers, a kernel that is right gets them back, or is refused; nothing wrong is forwarded."""
    try:
        if not check(parse(text)).ok:
            return None
    except FencepostError:
        return None  # random changes can leave a kernel that is none
    bare = "\n".join(line for line in text.splitlines() if line.strip() != "barrier") + "\n"
    for strategy in strategies:
        trace = parse(bare)
        try:
            insert_barriers(trace, "sm_90", strategy)
        except FencepostError:
            continue
        report = check(trace)
        if report.races:
            return f"{strategy} leaves {report.races[0]}"
        if any(isinstance(op, ops.SharedMemoryBarrierSignal) for op in trace.preorder_walk()):
            continue  # the reference has no split barriers
        try:
            wrong = mistake(_waits_first(str(trace)))
        except TooLarge:
            continue
        if wrong == "race":
            return f"{strategy} leaves a race that an interleaving shows"
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
AGREEING: tuple[Property, ...] = (*SOUND, refusals_are_real, clean_kernels_get_nothing)
"""For kernels that may have barriers without a fence: a fence too many is none that `check` would miss."""
WAITS: tuple[Property, ...] = (*EXACT, no_wait_can_be_weaker)
"""For kernels with copies in flight, and without waits of their own under divergence."""
ENDS: tuple[Property, ...] = (
    insertion_is_clean_with_every_value,
    check_agrees_with_every_value,
    *SOUND,
    refusals_are_real,
    no_barrier_is_left_to_take,
)
"""For kernels with loops up to a parameter, and conditions on how near their ends are."""
ENDS_OF_COPIES: tuple[Property, ...] = (*ENDS[:2], *SOUND)
"""The same with copies in flight."""
EXHAUSTIVE: tuple[Property, ...] = (both_ways_of_checking_agree,)
"""For kernels so small that all their paths can be simulated."""
SKEW: tuple[Property, ...] = (skewed_insertion_is_proven, the_analysis_misses_no_race)
"""For kernels with skewed waves."""
SKEW_EXACT: tuple[Property, ...] = (skewed_insertion_is_proven, the_analysis_agrees_with_check)
"""For those without copies whose places depend on the wave: these may be waited for a little early."""
MBARRIERS: tuple[Property, ...] = (
    check_finds_what_an_interleaving_shows,
    insertion_around_mbarriers_is_clean,
)
"""For tiny kernels with mbarriers, all of whose interleavings can be run."""
PER_STRATEGY: dict[Property, tuple[str, ...]] = {
    every_strategy_leaves_no_race: EVERY,
    insertion_is_clean_with_every_value: EVERY,
    inserting_twice_adds_nothing: EVERY,
    skewed_insertion_is_proven: SKEWED,
    insertion_around_mbarriers_is_clean: EVERY,
}
"""Properties of each strategy. Of a kernel one strategy is asked for, in turn: most kernels are like others."""


def asked(holds: Property, seed: int, every: bool) -> Property:
    """A property, of one strategy if it is about strategies: each has its turn."""
    strategies = PER_STRATEGY.get(holds)
    if strategies is None or every:
        return holds
    one = strategies[seed % len(strategies)]
    return partial(holds, strategies=(one,))  # type: ignore[call-arg]
