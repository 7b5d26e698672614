"""The barriers of `minimize`, each split over the intersection of its windows: see `split_barriers`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fencepost.placement.minimize import Minimize
from fencepost.placement.strategy import Splits


@dataclass(frozen=True)
class Intersect(Minimize):
    """The barriers of `minimize`, each split into a signal and a wait."""

    name: ClassVar[str] = "intersect"
    summary: ClassVar[str] = "minimize's barriers, split into signal and wait (Wave on gfx12)"
    splits: ClassVar[Splits] = Splits.ALWAYS
