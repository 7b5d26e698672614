"""Which way threads go where loaded data decide: a run for every way, as long as these are few.

Threads whose predicates have the same identity go the same way. Predicates of different identities are taken as
independent, even if no data make them differ so: more ways are run than there are, and a race on one of them may
be none.
"""

from __future__ import annotations

import numpy as np

from fencepost.hosts.ptx.exact.made_up_values import Flags
from fencepost.hosts.ptx.exact.problems import DependsOnData
from fencepost.hosts.ptx.expressions.lanes import Bits
from fencepost.hosts.ptx.proof.intervals import Place

MOST = 6
"""Predicates that one run decides: 64 runs."""


class BranchChoices:
    """The ways of one run: the first predicates as given, the others false."""

    def __init__(self, given: tuple[bool, ...] = ()) -> None:
        self.given = given
        self.place: Place | None = None
        """Where data decide first."""
        self._taken: dict[int, bool] = {}

    def __bool__(self) -> bool:
        """Whether data have decided anything."""
        return bool(self._taken)

    def of(self, identities: Bits, place: Place, why: str) -> Flags:
        """What predicates are in this run; `why` says what cannot be judged if there are too many."""
        for each in map(int, np.unique(identities)):
            if each in self._taken:
                continue
            at = len(self._taken)
            if at >= MOST:
                raise DependsOnData(why, place)
            self.place = self.place or place
            self._taken[each] = at < len(self.given) and self.given[at]
        return np.array([self._taken[int(each)] for each in identities], dtype=bool)

    def following(self) -> tuple[bool, ...] | None:
        """The ways of the next run; None if all have been run."""
        ways = list(self._taken.values())
        while ways and ways[-1]:
            ways.pop()
        return (*ways[:-1], True) if ways else None
