"""The covering problem: rendezvous and waits at positions that satisfy every constraint, at least cost.

`covering_constraints` makes the constraints, `costs` has the prices, `search` solves it (package docstring: how).

A *literal* says one thing about one position: all waves meet there, or a counter is waited for there until at most so
many operations are outstanding. A *constraint* is a set of literals of which at least one has to hold.

An access that is pending needs a rendezvous on every path to what must not overtake it. That is one constraint for
each path. A copy in flight needs a wait first and a rendezvous behind it (or at the same place: a barrier that
waits). "There are places i and j, i not behind j, with a wait at i and a rendezvous at j" is the same as: wherever
the path is cut in two, there is a wait in the first part or a rendezvous in the second. So each cut is a constraint.

Most waits may as well stand further on: unless all waves meet here, or something here or behind the block's end may
need the wait, it does the same one place later, where it costs no more (`covering_constraints`). Where that is so, a
wait counts only as a *barrier that waits*, which costs what the rendezvous and the wait do together. A path all of
whose waits are of that kind is a single constraint, "a barrier that waits, somewhere", and that constraint can pay
for both at once.
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


class Literal(NamedTuple):
    """All waves meet at a position; or at most so many operations of a counter are outstanding behind it; or both."""

    position: Position
    counter: str = ""
    most: int = 0
    both: bool = False
    """A barrier that waits: there is a counter, and all waves meet."""

    @property
    def rendezvous(self) -> bool:
        """Whether all waves meet."""
        return self.both or not self.counter

    def implies(self, other: Literal) -> bool:
        """Whether `other` is true wherever this is."""
        if self.position != other.position or (other.rendezvous and not self.rendezvous):
            return False
        return not other.counter or (self.counter == other.counter and self.most <= other.most)


Constraint = frozenset[Literal]


@dataclass(slots=True)
class Choice:
    """Literals that are taken."""

    meets: set[Position] = field(default_factory=set)
    waits: dict[Position, dict[str, int]] = field(default_factory=dict)
    """The least count of each counter that is waited for."""

    @classmethod
    def of(cls, literals: Iterable[Literal]) -> Choice:
        """A choice of these literals."""
        made = cls()
        for literal in literals:
            made.add(literal)
        return made

    def add(self, literal: Literal) -> None:
        """Take a literal."""
        position, counter, count, _ = literal
        if counter:
            here = self.waits.setdefault(position, {})
            here[counter] = min(count, here.get(counter, count))
        if literal.rendezvous:
            self.meets.add(position)

    def holds(self, literal: Literal) -> bool:
        """Whether a literal is true of what was taken."""
        position, counter, count, _ = literal
        if literal.rendezvous and position not in self.meets:
            return False
        if not counter:
            return True
        here = self.waits.get(position)
        return here is not None and counter in here and here[counter] <= count

    def satisfies(self, constraint: Iterable[Literal]) -> bool:
        """Whether one of the literals is true."""
        return any(self.holds(literal) for literal in constraint)

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
