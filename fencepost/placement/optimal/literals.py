"""What a placement is made of: meetings and waits at positions, and the rows that they have to satisfy.

A *term* says one thing about one position: all waves meet there, or a counter is waited for there until at most so
many operations are outstanding. A *row* is a set of terms of which at least one has to hold.

An access that is pending needs a meeting on every way to what must not overtake it. That is one row for each way. A
copy in flight needs a wait first and a meeting behind it (or at the same place: a barrier that waits). "There are
places i and j, i not behind j, with a wait at i and a meeting at j" is the same as: wherever the way is cut in two,
there is a wait in the first part or a meeting in the second. So each cut is a row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.analysis.program import Program
from fencepost.analysis.sync import DRAIN, PLAIN, Placement
from fencepost.flow import Position

DRAINED = -1
"""The count of a wait for everything, even for what no count waits for: a group that is still open."""


class Term(NamedTuple):
    """All waves meet at a position; or at most so many operations of a counter are outstanding behind it."""

    position: Position
    counter: str = ""
    most: int = 0


Row = frozenset[Term]


@dataclass(slots=True)
class Choice:
    """Terms that are taken."""

    meets: set[Position] = field(default_factory=set)
    waits: dict[Position, dict[str, int]] = field(default_factory=dict)
    """The least count of each counter that is waited for."""

    def add(self, term: Term) -> None:
        """Take a term."""
        position, counter, count = term
        if counter:
            here = self.waits.setdefault(position, {})
            here[counter] = min(count, here.get(counter, count))
        else:
            self.meets.add(position)

    def holds(self, term: Term) -> bool:
        """Whether a term is true of what was taken."""
        position, counter, count = term
        if not counter:
            return position in self.meets
        here = self.waits.get(position)
        return here is not None and counter in here and here[counter] <= count

    def satisfies(self, row: Iterable[Term]) -> bool:
        """Whether one of the terms is true."""
        return any(self.holds(term) for term in row)

    def placement(self, program: Program) -> Placement:
        """As barriers and waits, with those of the kernel."""
        found = dict(program.standing)
        for position in self.meets | self.waits.keys():
            made = PLAIN if position in self.meets else PLAIN._replace(rendezvous=False)
            counts = self.waits.get(position, {})
            if min(counts.values(), default=0) <= DRAINED:
                made = DRAIN._replace(rendezvous=made.rendezvous)
            elif counts:
                made = program.waiting(counts, rendezvous=made.rendezvous)
            standing = program.standing.get(position)
            found[position] = made if standing is None else made.joined(standing)
        return found
