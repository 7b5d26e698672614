"""What a placement is made of: meetings and waits at positions, and the rows that they have to satisfy.

A *term* says one thing about one position: all waves meet there, or a counter is waited for there until at most so
many operations are outstanding. A *row* is a set of terms of which at least one has to hold.

An access that is pending needs a meeting on every way to what must not overtake it. That is one row for each way. A
copy in flight needs a wait first and a meeting behind it (or at the same place: a barrier that waits). "There are
places i and j, i not behind j, with a wait at i and a meeting at j" is the same as: wherever the way is cut in two,
there is a wait in the first part or a meeting in the second. So each cut is a row.

Most waits may as well stand further on: unless all waves meet here, or something here or behind the block's end may
need the wait, it does the same one place later, where it costs no more (`covering_constraints`). Where that is so,
a wait counts only as a *barrier that waits*, which costs what the meeting and the wait do together. A way all of
whose waits are of that kind is a single row, "a barrier that waits, somewhere", and that row can pay for both at
once.
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
    """All waves meet at a position; or at most so many operations of a counter are outstanding behind it; or both."""

    position: Position
    counter: str = ""
    most: int = 0
    both: bool = False
    """A barrier that waits: there is a counter, and all waves meet."""

    @property
    def meeting(self) -> bool:
        """Whether all waves meet."""
        return self.both or not self.counter

    def implies(self, other: Term) -> bool:
        """Whether `other` is true wherever this is."""
        if self.position != other.position or (other.meeting and not self.meeting):
            return False
        return not other.counter or (self.counter == other.counter and self.most <= other.most)


Row = frozenset[Term]


@dataclass(slots=True)
class Choice:
    """Terms that are taken."""

    meets: set[Position] = field(default_factory=set)
    waits: dict[Position, dict[str, int]] = field(default_factory=dict)
    """The least count of each counter that is waited for."""

    @classmethod
    def of(cls, terms: Iterable[Term]) -> Choice:
        """A choice of these terms."""
        made = cls()
        for term in terms:
            made.add(term)
        return made

    def add(self, term: Term) -> None:
        """Take a term."""
        position, counter, count, _ = term
        if counter:
            here = self.waits.setdefault(position, {})
            here[counter] = min(count, here.get(counter, count))
        if term.meeting:
            self.meets.add(position)

    def holds(self, term: Term) -> bool:
        """Whether a term is true of what was taken."""
        position, counter, count, _ = term
        if term.meeting and position not in self.meets:
            return False
        if not counter:
            return True
        here = self.waits.get(position)
        return here is not None and counter in here and here[counter] <= count

    def satisfies(self, row: Iterable[Term]) -> bool:
        """Whether one of the terms is true."""
        return any(self.holds(term) for term in row)

    def placement(self, program: Program) -> Placement:
        """As barriers and waits, with those of the kernel."""
        found = dict(program.existing)
        for position in self.meets | self.waits.keys():
            made = PLAIN if position in self.meets else PLAIN._replace(rendezvous=False)
            counts = self.waits.get(position, {})
            if min(counts.values(), default=0) <= DRAINED:
                made = DRAIN._replace(rendezvous=made.rendezvous)
            elif counts:
                made = program.waiting(counts, rendezvous=made.rendezvous)
            existing = program.existing.get(position)
            found[position] = made if existing is None else made.joined(existing)
        return found
