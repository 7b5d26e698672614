"""The cheapest of the existing barriers and waits that cover everything.

Taking barriers out one by one leaves none that is redundant, but not always the cheapest set: the first that goes may
be the one that could have stood for two others. The search is that of `skew.fewest_barriers`: a place has a barrier
or none.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from fencepost.analysis.program import Program
from fencepost.analysis.transfer import Placement
from fencepost.flow import Position
from fencepost.placement.optimal.costs import STATIC
from fencepost.placement.skew.fewest_barriers import Option, Search
from fencepost.placement.wait_counts import paid_each_time

SECONDS = 2.0
"""How long that may take; on most kernels it is far less."""


def cheapest_of(
    program: Program, placement: Placement, pruned: Placement, keep: Collection[Position]
) -> Placement:
    """The cheapest part of `placement` that contains `keep` and leaves nothing open; `pruned` is such a part."""
    free = {at: sync for at, sync in placement.items() if at not in keep and at.block in program.instances_of}
    if len(free) < 2 or free.keys().isdisjoint(pruned):
        return pruned
    kept = {at: sync for at, sync in placement.items() if at in keep}
    search = _Existing(replace(program, existing=kept, runs=None), time.monotonic() + SECONDS, 0.0, free=free)
    return search.run(pruned).placement


@dataclass(slots=True)
class _Existing(Search):
    """The search over existing barriers and waits that can be taken out."""

    free: Placement = field(default_factory=dict)

    def places(self) -> None:
        """Where barriers and waits stand that can be taken out."""
        for at, sync in self.free.items():
            self.options[at] = [Option(sync, self.price(at, paid_each_time(sync)))]

    def price(self, position: Position, weight: float) -> int:
        """How often something runs, times a weight; of sets that cost the same, the smaller one is better."""
        return Search.price(self, position, weight) * STATIC + 1

    def price_of(self, placement: Placement) -> int:
        """What is left of those that can be taken out."""
        return sum(options[0].price for at, options in self.options.items() if at in placement)
