"""`schedule`: let two groups of waves take turns at the matrix unit, if that pays.

It pays if the matrix unit is estimated to be busier, on the units of the target, than in the kernel as it came with
the barriers that `insert` puts in. `auto` tries every strategy that fits and takes the one under which it is busiest,
or none if that is not busier than before.
"""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fencepost.ir.ops import Iterate
from fencepost.ir.parser import parse
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.option_fields import option
from fencepost.passes.insert import Insert
from fencepost.schedule.classify import find_loop
from fencepost.schedule.constraints import Constraints, SchedulingType, Tile, constraints_for
from fencepost.schedule.ping_pong import Scheduled, schedule_reordering
from fencepost.schedule.strategies import STRATEGIES, SchedReorderStrategy
from fencepost.targets.table import DEFAULT_TARGET, TARGETS

if TYPE_CHECKING:
    from fencepost.timing import Timing

AUTOMATIC = "auto"
ITERATIONS = 16
"""How often the loop is followed: the first and the last tile should not weigh much."""
MATRIX_UNIT = "mma"


def summaries() -> dict[str, str]:
    """The strategies that there are, each with a word about it."""
    auto = "the one under which the matrix unit is busiest, none if it is not busier than before"
    return {AUTOMATIC: auto} | {name: strategy.summary for name, strategy in STRATEGIES.items()}


def parse_tile(text: str) -> Tile:
    """A tile as the command line writes it: `128x256x64`."""
    found = re.fullmatch(r"([1-9]\d{0,5})x([1-9]\d{0,5})x([1-9]\d{0,5})", text)
    if not found:
        raise ArgumentTypeError(f"{text!r} is no tile such as 128x256x64")
    return Tile(*(int(number) for number in found.groups()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Rearrange the loop of a kernel so that one half of the waves multiplies while the other moves memory."""

    strategy: str = option(
        AUTOMATIC, "how the loop is arranged", "-s", "--strategy", metavar="NAME", names=summaries
    )
    target: str = option("", f"the GPU: {', '.join(TARGETS)} (default: {DEFAULT_TARGET})", "-t", "--target")
    tile: Tile | None = option(
        None,
        "the tile of the workgroup, as 128x256x64: sizes that do not fit are refused (default: not asked)",
        "--tile",
        metavar="MxNxK",
        parse=parse_tile,
    )

    def constraints(self, trace: CapturedTrace) -> Constraints:
        """What a schedule has to fit."""
        return constraints_for(self.tile, trace.waves, self.target)

    def apply(self, trace: CapturedTrace) -> tuple[Scheduled, Compared | None]:
        """Schedule a kernel; what came of it, and what was compared."""
        constraints = self.constraints(trace)
        if self.strategy == AUTOMATIC:
            return schedule_if_it_pays(trace, constraints)
        if self.strategy == SchedReorderStrategy.NONE.value:
            return schedule_reordering(trace, constraints, strategy=self.strategy), None
        before = parse(str(trace))
        scheduled = schedule_reordering(trace, constraints, strategy=self.strategy)
        return scheduled, compare(before, constraints, [self.strategy])


@dataclass(frozen=True, slots=True)
class Estimate:
    """A kernel on the units of a target, and its loop."""

    timing: Timing
    loop: Iterate

    @property
    def utilisation(self) -> float:
        """The part of the time that the matrix unit is busy."""
        return self.timing.utilisation(MATRIX_UNIT)


@dataclass(frozen=True, slots=True)
class Compared:
    """Strategies on one kernel: what each would give, and which was taken."""

    before: Estimate
    after: dict[str, Estimate]
    """For each strategy that fits, by name."""
    refusals: dict[str, FencepostError]
    """For each that does not fit, the condition that failed."""

    @property
    def best(self) -> str:
        """The strategy with the busiest matrix unit; `none` if it is not busier than before."""
        name = max(self.after, key=lambda name: self.after[name].utilisation, default=None)
        if name is None or self.after[name].utilisation <= self.before.utilisation:
            return SchedReorderStrategy.NONE.value
        return name


def compare(
    trace: CapturedTrace,
    constraints: Constraints,
    strategies: list[str] | None = None,
    scheduling_type: SchedulingType = SchedulingType.PREFETCH,
) -> Compared:
    """Estimate the kernel as it is and under each strategy. The kernel stays as it is."""
    target = constraints.hardware.target
    before = parse(str(trace))
    Insert(target=target).apply(before)
    after: dict[str, Estimate] = {}
    refusals: dict[str, FencepostError] = {}
    for name in STRATEGIES if strategies is None else strategies:
        scheduled = parse(str(trace))
        try:
            schedule_reordering(scheduled, constraints, scheduling_type, strategy=name)
        except FencepostError:
            refusals[name] = _refusal(trace, constraints, scheduling_type, name)
        else:
            after[name] = estimate(scheduled, target)
    return Compared(estimate(before, target), after, refusals)


def _refusal(
    trace: CapturedTrace, constraints: Constraints, scheduling_type: SchedulingType, name: str
) -> FencepostError:
    """Why a strategy does not fit, with places in the user's text and not in that of a copy."""
    try:
        schedule_reordering(trace, constraints, scheduling_type, strategy=name)
    except FencepostError as error:
        return error
    raise AssertionError(f"{name} fits a kernel and does not fit its copy")


def estimate(trace: CapturedTrace, target: str) -> Estimate:
    """A kernel with a loop that multiplies, on the units of a target."""
    from fencepost.timing import time_kernel

    return Estimate(time_kernel(trace, target, iterations=ITERATIONS), find_loop(trace))


def schedule_if_it_pays(
    trace: CapturedTrace,
    constraints: Constraints,
    scheduling_type: SchedulingType = SchedulingType.PREFETCH,
) -> tuple[Scheduled, Compared | None]:
    """Apply the strategy under which the matrix unit is busiest, if that is busier than without one.

    A kernel without a loop to schedule stays as it is, and there is nothing to compare.
    """
    try:
        find_loop(trace)
    except FencepostError:
        # Nothing can fit, and nothing is changed: a kernel may be too long to be copied for that.
        return schedule_reordering(trace, constraints, scheduling_type), None
    first = schedule_reordering(parse(str(trace)), constraints, scheduling_type)
    if first.strategy == SchedReorderStrategy.NONE.value:
        # Nothing fits; asked again on the kernel itself, so that the places named are the user's.
        return schedule_reordering(trace, constraints, scheduling_type), None
    compared = compare(trace, constraints, None, scheduling_type)
    if compared.best == SchedReorderStrategy.NONE.value:
        return Scheduled(compared.best, refusals=tuple(compared.refusals.items())), compared
    return schedule_reordering(trace, constraints, scheduling_type, strategy=compared.best), compared
