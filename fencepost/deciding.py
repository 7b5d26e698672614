"""Which barriers and waits a kernel gets: a strategy by name, or the best that is found quickly."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from fencepost.analysis.covers import Placement
from fencepost.analysis.program import Program
from fencepost.flow import Position
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark
from fencepost.placement import STRATEGIES
from fencepost.placement.apart import choose_apart
from fencepost.placement.choose import candidates, choose, is_about_waits, price
from fencepost.placement.intersect import Halves, Intersect, pull_apart
from fencepost.placement.lean import without_repeats
from fencepost.placement.optimal import Optimal, Optimum, find_optimum
from fencepost.placement.optimal.apart import find_fewest
from fencepost.placement.optimal.exposure import Exposure
from fencepost.placement.optimal.pairs import find_pairs
from fencepost.placement.prune import prune
from fencepost.placement.spacing import spaced
from fencepost.placement.stretches import Pace
from fencepost.targets import TargetConfig, latencies_for

AUTOMATIC = "auto"
"""`optimal` as far as it is found without the solver; for kernels too large for that, `minimize` or `intersect`."""

QUICK_OPERATIONS = 4000
"""Kernels with more operations are not looked at for an optimum unless that is asked for."""
SMALL_OPERATIONS = 500
"""In kernels with no more operations it takes so little time to find a bound that it can come first."""
QUICK_SECONDS = 0.5
"""How long that may take at most."""
AS_WRITTEN = ("eager", "walk")
"""Strategies that stand for an algorithm of someone else, and keep its positions."""
APART = 0.25
"""The part of the time that is kept for pulling barriers apart,"""
APART_EACH = 25e-6
"""or seconds for each operation, if that is more."""
ASKED_SECONDS = 2.0
"""How long `optimal` takes at most, if nothing else is said."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Where barriers and waits go."""

    strategy: str
    placement: Placement
    """With whole barriers."""
    proof: str = ""
    """For `optimal`: whether it is, or how far from it the result can be."""
    best: float | None = None
    """What the optimum costs, if it was looked for."""
    split: Placement | None = None
    """The same with signals and waits, where barriers are split."""
    halves: dict[Position, Halves] | None = None
    """For each barrier that was pulled apart, its halves."""


def decide(
    program: Program,
    coarse: Callable[[], Program | None],
    config: TargetConfig,
    strategy: str,
    *,
    splits: bool,
    seconds: float | None = None,
    latencies: bool = True,
    near: float = 0.0,
    exact: bool = True,
) -> Decision:
    """The placement of a strategy, or of the one that is chosen for this kernel.

    `coarse` makes the same kernel looked at less closely, if there is such a thing (see `choose`).
    """
    if program.shift is not None:
        return _decide_apart(program, config, strategy, seconds, 0.0 if exact else near)
    started = time.monotonic()
    name = strategy
    if strategy == AUTOMATIC:
        name = "optimal" if is_quick(program) else "intersect" if config.prefers_split else "minimize"
    pace = pace_of(config.name)
    if name != Optimal.name:
        placement = choose(program, STRATEGIES[name], config.widest_waits(), coarse())
        return _split(program, Decision(name, placement), pace) if splits else Decision(name, placement)
    limit = seconds if seconds is not None else QUICK_SECONDS if strategy == AUTOMATIC else ASKED_SECONDS
    # Where barriers are pulled apart afterwards, what whole ones would expose says nothing.
    exposed = latencies and not (splits and strategy == AUTOMATIC)
    exposure = Exposure(program.flow, pace.work, pace.fence) if exposed else None
    # Half of the time for what is known to begin with, and a part for pulling barriers apart in the end.
    widest, until = config.widest_waits(), started + limit / 2
    kept = max(limit * APART, operations(program) * APART_EACH) if splits else 0.0
    enough = 0.0 if exact else near

    def search(known: Iterable[Placement]) -> Optimum:
        return find_optimum(
            program,
            limit - kept - (time.monotonic() - started),
            widest=widest,
            known=known,
            exposure=exposure,
            solver=strategy != AUTOMATIC,
            enough=enough,
        )

    minimize = STRATEGIES["minimize"]
    tried: list[Placement] = []
    if operations(program) <= SMALL_OPERATIONS:
        # The bound first: most often the first candidate reaches it.
        optimum = search(_noted(candidates(program, minimize, widest, until), tried))
    else:
        optimum = search([choose(program, minimize, widest, until=until)])
    if optimum.cost > optimum.bound * (1 + max(enough, 1e-9)) and time.monotonic() < until:
        rough = coarse()
        if rough is not None:
            again = search([choose(program, minimize, widest, rough, until=until)])
            optimum = min(optimum, again, key=lambda found: found.cost)
    decision = Decision(name, optimum.placement, str(optimum), optimum.cost)
    if near and optimum.placement != program.standing:
        # Where nothing is waited for, what `minimize` begins with are the barriers right before consumers.
        simple = tried[0] if tried and not is_about_waits(program) else None
        decision = _right_before(program, decision, optimum, widest, near, simple)
    if not splits:
        return decision
    if strategy == AUTOMATIC or not optimum.least_executed:
        return _split(program, decision, pace)
    exposure = exposure or Exposure(program.flow, pace.work, pace.fence)
    return _pairs(program, decision, optimum, exposure, pace, started + limit)


def _decide_apart(
    program: Program, config: TargetConfig, strategy: str, seconds: float | None, enough: float
) -> Decision:
    """The same where groups of waves run apart, or it matters when each wave's accesses are complete."""
    assert program.shift is not None
    in_step = len(program.shift.groups.masks) == 1
    if strategy == Intersect.name and not in_step:
        raise FencepostError(
            "barriers cannot be split in a kernel whose waves run apart",
            [Mark(op.span, "some waves are held back here") for op in program.held_back_at()][:1],
            code="FP201",
            notes=[
                ("help", "`--strategy auto`, `optimal`, `minimize`, `eager` and `walk` use whole barriers")
            ],
            source=program.flow.trace.source,
        )
    looked_for = strategy == Optimal.name or (strategy == AUTOMATIC and is_quick(program))
    # A barrier that is split says nothing about what is complete: here, whole ones are used.
    name = "minimize" if strategy in (AUTOMATIC, Optimal.name, Intersect.name) else strategy
    # What stands for an algorithm of someone else may put barriers anywhere.
    lean = program if name in AS_WRITTEN else without_repeats(program)
    placement = choose_apart(lean, STRATEGIES[name], config.widest_waits())
    if not looked_for:
        return Decision(name, placement if name in AS_WRITTEN else spaced(program, placement))
    if in_step and placement == program.standing:
        return Decision(Optimal.name, placement, "optimal, proven (0 rows)", 0.0)
    if program.table.engines and not program.waits_fixed:
        apart = "completion matters" if in_step else "waves run apart"
        reason = f"how long to wait for copies is not part of the optimum where {apart}"
        return Decision(name, spaced(program, placement), f"not proven to be optimal ({reason})")
    limit = seconds if seconds is not None else QUICK_SECONDS if strategy == AUTOMATIC else ASKED_SECONDS
    fewest = find_fewest(lean, placement, limit, enough)
    if in_step:
        fewest = replace(fewest, apart="")
    best = fewest.cost if fewest.proven else None
    return Decision(Optimal.name, spaced(program, fewest.placement), str(fewest), best)


def _noted(placements: Iterable[Placement], tried: list[Placement]) -> Iterator[Placement]:
    """Placements, noted when they are asked for."""
    for placement in placements:
        tried.append(placement)
        yield placement


def _right_before(
    program: Program,
    decision: Decision,
    optimum: Optimum,
    widest: Mapping[str, int],
    near: float,
    placement: Placement | None,
) -> Decision:
    """Barriers right before their consumers, if they run hardly more often than those of the optimum."""
    if placement is None:
        placement = prune(program, choose(program, STRATEGIES["eager"], widest), program.standing)
    paid = price(program, placement) - price(program, program.standing)
    if paid > optimum.cost * (1 + near):
        return decision
    gap = paid / optimum.bound - 1 if optimum.bound else 0.0
    words = f"within {gap:.1%} of the optimum ({optimum})" if gap > 1e-9 else str(optimum)
    return Decision("eager", placement, words, optimum.cost)


def is_quick(program: Program) -> bool:
    """Whether an optimum is looked for without being asked for."""
    return operations(program) <= QUICK_OPERATIONS


def operations(program: Program) -> int:
    """How many operations a kernel has, those of functions once for each call."""
    return sum(len(block.ops) for block in program.flow.blocks)


def _split(program: Program, decision: Decision, pace: Pace) -> Decision:
    """The barriers of a decision, each pulled apart."""
    split, halves = pull_apart(program, decision.placement, pace)
    proof = decision.proof and f"{decision.proof}; pulled apart"
    return replace(decision, proof=proof, split=split, halves=halves)


def _pairs(
    program: Program, decision: Decision, optimum: Optimum, exposure: Exposure, pace: Pace, until: float
) -> Decision:
    """The pairs that expose least; if they are not found in time, the barriers pulled apart one by one."""
    try:
        found = find_pairs(program, decision.placement, exposure, until)
    except ImportError:
        found = None
    if found is None:
        return _split(program, decision, pace)
    several = f" and {found.barriers} split barriers" if found.barriers > 1 else ""
    proof = f"{optimum}; the pairs expose least, proven for {found.places} places{several}"
    return replace(decision, placement=found.whole, proof=proof, split=found.split, halves=found.halves)


def pace_of(target: str) -> Pace:
    """What decides where a signal pays, on a target."""
    latencies = latencies_for(target)

    def work(op: ops.Operation) -> tuple[int, int]:
        cost = latencies.of(op)
        # A wave goes on once an operation has issued, unless it is many instructions; the next may find a busy unit.
        return (cost.busy, 0) if cost.stays else (latencies.issue, max(cost.busy - latencies.issue, 0))

    return Pace(work, latencies.of(ops.Write()).result)
