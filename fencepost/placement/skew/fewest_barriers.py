"""The fewest barriers where groups of waves are skewed, with a proof or without.

A placement is a level at each place: how many barriers stand there, or whether an existing one has a fence. More of
anything never hurts. So if a placement leaves a hazard open, every one that does not has a higher level somewhere;
the higher the levels of the open placement, the fewer places that can be. That is a *constraint*: literals
(`AtLeast`), of which one has to be true. Constraints are made for placements that are still open, each raised as far
as it stays open. The cheapest way to satisfy the constraints so far never costs more than the optimum; once it leaves
nothing open, or costs as much as a placement that is known, that one is the optimum.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from fencepost.analysis.program import Program
from fencepost.analysis.skew.transfer import Skewed
from fencepost.analysis.transfer import Placement, Sync
from fencepost.flow import Position
from fencepost.placement.fallback import FENCE
from fencepost.placement.optimal.costs import FINEST
from fencepost.placement.optimal.open_hazards import OpenHazards
from fencepost.placement.skew.cheapest_levels import AtLeast, CheapestLevels, Levels
from fencepost.placement.skew.choose import FENCE_COST, cost_skewed

MOST_TRIES = 20_000
"""Choices that are looked at for the constraints so far."""
MOST_PLACES = 1000
MOST_ROWS = 2000
UNKNOWN = 1 << 62


class Option(NamedTuple):
    """What can stand at a position: a level, and its price."""

    sync: Sync
    price: int


@dataclass(frozen=True, slots=True)
class FewestSkewed:
    """The best placement that was found."""

    placement: Placement
    cost: float
    proven: bool
    constraints: int
    reason: str = ""
    apart: str = "; waves are skewed"
    """What else there is to say about a proof."""

    def __str__(self) -> str:
        how = f"{self.constraints} constraint{'' if self.constraints == 1 else 's'}"
        if self.proven:
            return f"optimal, proven ({how}{self.apart})"
        return f"not proven to be optimal ({how}; {self.reason})"


def find_fewest(program: Program, known: Placement, seconds: float, enough: float = 0.0) -> FewestSkewed:
    """The cheapest placement without waits of its own; `known` is one that leaves nothing open.

    If that is shown to cost at most `enough` more than the cheapest (0.02 is 2 %), it will do.
    """
    search = Search(program, time.monotonic() + seconds, enough)
    return search.run(known)


@dataclass(slots=True)
class Search:
    """Makes constraints and satisfies them, for any program: see the module."""

    program: Program
    until: float
    enough: float
    options: dict[Position, list[Option]] = field(default_factory=dict)
    """What can stand at each place, from level 1 up."""
    constraints: list[frozenset[AtLeast]] = field(default_factory=list)
    open_hazards: OpenHazards | None = None

    def run(self, known: Placement) -> FewestSkewed:
        """Make constraints and satisfy them, until that leaves nothing open."""
        self.places()
        self.open_hazards = OpenHazards(
            self.program, {at: [g.sync for g in options] for at, options in self.options.items()}
        )
        least = self.price_of(known)
        paid = cost_skewed(self.program, known)
        if not least:
            return FewestSkewed(known, paid, True, 0)
        if len(self.options) > MOST_PLACES:
            return FewestSkewed(known, paid, False, 0, "the kernel is too large")
        if self.is_open({at: len(options) for at, options in self.options.items()}):
            return FewestSkewed(known, paid, False, 0, "not every place was looked at")
        while True:
            chosen, exact = self.cheapest(int(least / (1 + Fraction(self.enough))))
            if chosen is None:
                proven = exact and not self.enough
                stops = f"the search stops within {self.enough:.0%} of the bound"
                reason = stops if exact and self.enough else self.why_not(exact)
                return FewestSkewed(known, paid, proven, len(self.constraints), reason)
            if not self.is_open(chosen):
                found = self.placement(chosen)
                price = cost_skewed(self.program, found)
                return FewestSkewed(found, price, exact, len(self.constraints), self.why_not(exact))
            constraint = self.constraint(chosen) if len(self.constraints) < MOST_ROWS else None
            if constraint is None:
                return FewestSkewed(known, paid, False, len(self.constraints), self.why_not(False))
            self.constraints.append(constraint)

    def why_not(self, exact: bool) -> str:
        """Why a result is not proven, if it is not."""
        if exact:
            return ""
        return "time was up" if time.monotonic() > self.until else "too many choices"

    def places(self) -> None:
        """Where barriers can stand, one place for each stretch in which it does not matter where.

        The levels of a place are: a fence, for a barrier that stands there without; a fence alone, where that can
        be enough; one barrier, two, ... Where one stands already, these come right before it.
        """
        program, skew = self.program, self.program.transfer
        assert isinstance(skew, Skewed)
        most = 1 - min(skew.least)
        for at, sync in program.existing.items():
            if sync.rendezvous and not (sync.counts or sync.completes) and at.block in program.instances_of:
                own = [Option(Sync(), self.price(at, FENCE_COST))] if sync.raw else []
                more = [Option(Sync(times=1 + n), self.price(at, n)) for n in range(1, most + 1)]
                self.options[at] = own + more
        fences = skew.everything | skew.overdue(None, skew.most_owed)
        for instance in program.order:
            block = program.places[instance]
            if block in program.flow.sealed:
                continue
            end = len(program.flow.blocks[program.instances.nodes[instance].block].ops)
            asked: dict[int, bool] = {end: False}
            for step in program.steps[instance]:
                if step.number >= 0 or step.conflicts:
                    asked[step.gap] = asked.get(step.gap, False) or bool(step.conflicts & fences)
            for gap, fence in asked.items():
                self.add_place(Position(block, gap), fence, most)

    def add_place(self, position: Position, fence: bool, most: int) -> None:
        """One place for up to so many barriers."""
        if position in self.program.existing:
            return
        barriers = [Option(Sync(times=n), self.price(position, n)) for n in range(1, most + 1)]
        alone = self.options.get(position, [])[:1]
        if fence:
            alone = [Option(FENCE, self.price(position, FENCE_COST))]
        self.options[position] = [*(option for option in alone if not option.sync.rendezvous), *barriers]

    def placement(self, levels: Levels) -> Placement:
        """What stands in the kernel at these levels."""
        chosen = {at: self.options[at][level - 1].sync for at, level in levels.items() if level}
        return self.program.existing | chosen

    def is_open(self, levels: Levels) -> bool:
        """Whether a hazard is open."""
        assert self.open_hazards is not None
        return self.open_hazards.is_open(levels)

    def constraint(self, levels: Levels) -> frozenset[AtLeast] | None:
        """Literals of which one has to be true, as few as possible; None if there is no time for that.

        The dearest places are raised first.
        """
        high = dict(levels)
        places = sorted(self.options, key=lambda at: (-self.options[at][-1].price, at))
        for _, alike in groupby(places, key=lambda at: self.options[at][-1].price):
            if not self.raise_all(high, list(alike)):
                return None
        return frozenset(
            AtLeast(position, high.get(position, 0) + 1)
            for position, options in self.options.items()
            if high.get(position, 0) < len(options)
        )

    def raise_all(self, high: Levels, places: list[Position]) -> bool:
        """Raise places one after the other, each as far as something stays open; whether there was time for that.

        What is open with many places raised is open with fewer. So all are tried at once; if that closes it, more and
        more as long as something stays open, then fewer and fewer.
        """
        first, many = 0, len(places)
        closed = UNKNOWN
        """That nothing is open with all in front of this one raised is known."""
        while first < len(places):
            if time.monotonic() > self.until:
                return False
            end = min(first + many, len(places))
            if end == first + 1:
                raised = self.raise_one(high, places[first], end >= closed)
                first, many, closed = end, 2 if raised else 1, closed if raised else UNKNOWN
                continue
            tried = {at: len(self.options[at]) for at in places[first:end]}
            if end < closed and self.is_open(high | tried):
                high.update(tried)
                first, many = end, many * 2
            else:
                # The first time, nothing is known about where it closes.
                many, closed = 1 if end - first == len(places) else (end - first) // 2, min(closed, end)
        return True

    def raise_one(self, high: Levels, position: Position, closes: bool) -> bool:
        """Raise one place as far as something stays open; whether to the top, which `closes` says it cannot be."""
        top = len(self.options[position])
        for level in range(high.get(position, 0) + 1, top + (not closes)):
            if not self.is_open(high | {position: level}):
                return False
            high[position] = level
        return not closes

    # ------------------------------------------------------------ prices

    def price(self, position: Position, weight: float) -> int:
        """What something costs at a position."""
        return max(round(self.program.flow.frequency(position) * weight * FINEST), 1)

    def price_of(self, placement: Placement) -> int:
        """What a placement costs on top of what stands in the kernel."""
        existing, paid = self.program.existing, 0
        for position, sync in placement.items():
            if position not in existing:
                paid += self.price(position, sync.times if sync.rendezvous else FENCE_COST)
            elif sync.times > 1:
                paid += self.price(position, sync.times - 1)
            elif existing[position].raw and not sync.raw:
                paid += self.price(position, FENCE_COST)
        return paid

    def cheapest(self, least: int) -> tuple[Levels | None, bool]:
        """The cheapest levels that satisfy the constraints for less than `least`; None if there are none."""
        prices = {at: [0, *(option.price for option in options)] for at, options in self.options.items()}
        choice = CheapestLevels(prices, least, MOST_TRIES, self.until)
        exact = choice.search(list(self.constraints), {}, 0)
        return choice.best, exact
