"""Where barriers and waits go in a kernel, and why: what placement gives to `emit`."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.analysis.sync import Placement
from fencepost.flow import Position
from fencepost.placement.split_barriers import Halves


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
    """For each barrier that was split, its halves."""

    def added(self, existing: Placement) -> Placement:
        """What has to be put in besides the barriers and waits that exist."""
        found = {at: sync for at, sync in self.placement.items() if at not in existing}
        # Several where there is one already: the new ones come in front of it, and it stays as it is.
        return found | {
            at: sync._replace(times=sync.times - 1)
            for at, sync in self.placement.items()
            if at in existing and sync.times > 1
        }

    def changed(self, existing: Placement) -> list[Position]:
        """The existing barriers and waits that have to do something else."""
        several = {at for at, sync in self.placement.items() if sync.times > 1}
        return [at for at, sync in existing.items() if self.placement[at] != sync and at not in several]
