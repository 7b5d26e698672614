"""Which barriers and waits a kernel gets: the way from a strategy's name to a decision."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from fencepost.analysis.program import Program
from fencepost.analysis.skew.transfer import Skewed
from fencepost.analysis.transfer import Placement
from fencepost.placement.auto import MINIMIZE, operations, strategy_named
from fencepost.placement.eager import Eager
from fencepost.placement.optimal import Optimal, Optimum, find_optimum
from fencepost.placement.optimal.costs import Exposure
from fencepost.placement.optimal.split_search import find_pairs
from fencepost.placement.options import PlacementOptions
from fencepost.placement.redundant import prune
from fencepost.placement.skew.driver import decide_skewed
from fencepost.placement.split_barriers import split_each
from fencepost.placement.strategy import Decision
from fencepost.placement.wait_counts import candidates, choose, is_about_waits, price
from fencepost.targets import TargetConfig
from fencepost.targets.table import Pace, pace_of

SMALL_OPERATIONS = 500
"""In kernels with no more operations it takes so little time to find a bound that it can come first."""
FOR_SPLITTING = 0.25
"""The part of the time that is kept for splitting barriers,"""
FOR_SPLITTING_EACH = 25e-6
"""or seconds for each operation, if that is more."""


def decide(
    program: Program,
    coarse: Callable[[], Program | None],
    config: TargetConfig,
    options: PlacementOptions,
    *,
    splits: bool = False,
) -> Decision:
    """The placement of a strategy, or of the one that is picked for this kernel.

    `coarse` makes the same kernel looked at less closely, if there is such a thing (see `choose`).
    """
    asked = strategy_named(options.strategy)
    if isinstance(program.transfer, Skewed):
        return decide_skewed(program, config, asked, options)
    strategy = asked.picked(program, config)
    if isinstance(strategy, Optimal):
        return _Search(program, coarse, config, strategy, options, splits).run()
    placement = choose(program, strategy, config.widest_waits(), coarse())
    decision = Decision(strategy.name, placement)
    return _split(program, decision, pace_of(config.name)) if splits else decision


@dataclass(slots=True)
class _Search:
    """The way to a placement of least cost: what is known to begin with, the search, barriers split in the end."""

    program: Program
    coarse: Callable[[], Program | None]
    config: TargetConfig
    strategy: Optimal
    options: PlacementOptions
    splits: bool
    started: float = field(default_factory=time.monotonic)
    tried: list[Placement] = field(default_factory=list)

    def run(self) -> Decision:
        """The cheapest placement that is found in time."""
        program, widest = self.program, self.config.widest_waits()
        # Half of the time for what is known to begin with, and a part for splitting barriers in the end.
        until = self.started + self.seconds / 2
        if operations(program) <= SMALL_OPERATIONS:
            # The bound first: most often the first candidate reaches it.
            optimum = self.search(self.noted(candidates(program, MINIMIZE, widest, until)))
        else:
            optimum = self.search([choose(program, MINIMIZE, widest, until=until)])
        if optimum.cost > optimum.bound * (1 + max(self.enough, 1e-9)) and time.monotonic() < until:
            rough = self.coarse()
            if rough is not None:
                again = self.search([choose(program, MINIMIZE, widest, rough, until=until)])
                optimum = min(optimum, again, key=lambda found: found.cost)
        decision = Decision(Optimal.name, optimum.placement, str(optimum), optimum.cost)
        if self.options.near and optimum.placement != program.existing:
            decision = self.right_before(decision, optimum)
        if not self.splits:
            return decision
        if not self.strategy.solver or not optimum.least_executed:
            return _split(program, decision, self.pace)
        return self.pairs(decision, optimum)

    @property
    def seconds(self) -> float:
        """How long all of it may take."""
        return self.strategy.seconds if self.options.seconds is None else self.options.seconds

    @property
    def enough(self) -> float:
        """Within what part of the bound the search may stop."""
        return 0.0 if self.options.exact else self.options.near

    @property
    def pace(self) -> Pace:
        """What decides where an arrive pays, on the target."""
        return pace_of(self.config.name)

    def exposure(self) -> Exposure:
        """The latencies that barriers expose."""
        return Exposure(self.program.flow, self.pace.work, self.pace.fence)

    def search(self, known: Iterable[Placement]) -> Optimum:
        """The optimum, beginning with what is known."""
        kept = 0.0
        if self.splits:
            kept = max(self.seconds * FOR_SPLITTING, operations(self.program) * FOR_SPLITTING_EACH)
        # Where barriers are split one by one afterwards, what whole ones would expose says nothing.
        exposed = self.options.latencies and not (self.splits and not self.strategy.solver)
        return find_optimum(
            self.program,
            self.seconds - kept - (time.monotonic() - self.started),
            widest=self.config.widest_waits(),
            known=known,
            exposure=self.exposure() if exposed else None,
            solver=self.strategy.solver,
            enough=self.enough,
        )

    def noted(self, placements: Iterable[Placement]) -> Iterator[Placement]:
        """Placements, noted when they are asked for."""
        for placement in placements:
            self.tried.append(placement)
            yield placement

    def right_before(self, decision: Decision, optimum: Optimum) -> Decision:
        """Barriers right before their consumers, if they run hardly more often than those of the optimum."""
        program, near = self.program, self.options.near
        # Where nothing is waited for, what `minimize` begins with are the barriers right before consumers.
        if self.tried and not is_about_waits(program):
            placement = self.tried[0]
        else:
            placement = prune(program, choose(program, Eager(), self.config.widest_waits()), program.existing)
        paid = price(program, placement) - price(program, program.existing)
        if paid > optimum.cost * (1 + near):
            return decision
        gap = paid / optimum.bound - 1 if optimum.bound else 0.0
        words = f"within {gap:.1%} of the optimum ({optimum})" if gap > 1e-9 else str(optimum)
        return Decision(Eager.name, placement, words, optimum.cost)

    def pairs(self, decision: Decision, optimum: Optimum) -> Decision:
        """The pairs that expose least; if they are not found in time, the barriers split one by one."""
        until = self.started + self.seconds
        try:
            found = find_pairs(self.program, decision.placement, self.exposure(), until)
        except ImportError:
            found = None
        if found is None:
            return _split(self.program, decision, self.pace)
        several = f" and {found.barriers} split barriers" if found.barriers > 1 else ""
        proof = f"{optimum}; the pairs expose least, proven for {found.places} places{several}"
        return replace(decision, placement=found.whole, proof=proof, split=found.split, halves=found.halves)


def _split(program: Program, decision: Decision, pace: Pace) -> Decision:
    """The barriers of a decision, each split into arrive and wait."""
    split, halves = split_each(program, decision.placement, pace)
    proof = decision.proof and f"{decision.proof}; split"
    return replace(decision, proof=proof, split=split, halves=halves)
