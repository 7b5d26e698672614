"""Set cover without a solver: constraints are reduced, separated, and satisfied by branch and bound.

Reduced: implied constraints and dominated places are left out, with the same cheapest choice. Constraints that share
no position are solved separately.

Branch and bound, exact and in whole numbers: the constraint that is dearest to satisfy is taken, and each of its
literals is tried; in the branches that follow, a literal that was tried is not allowed any more, nor is what implies
it. A branch is given up when what it has paid, with what the open constraints would pay at least (see `dual_ascent`),
is no less than the best so far.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fencepost.flow import Position
from fencepost.placement.optimal.costs import Prices
from fencepost.placement.optimal.covering_problem import Choice, Constraint, Literal
from fencepost.placement.optimal.dual_ascent import Payments

MOST_COMPARED = 20_000
"""Pairs of places that are compared; beyond that, places are kept."""

Constraints = frozenset[int]
NONE: Constraints = frozenset()


def parts_of(constraints: Iterable[Constraint]) -> list[list[Constraint]]:
    """The constraints in groups that share no position."""
    parent: dict[Position, Position] = {}

    def root(position: Position) -> Position:
        while parent[position] != position:
            parent[position] = position = parent[parent[position]]
        return position

    kept = list(constraints)
    for constraint in kept:
        first: Position | None = None
        for position in (literal.position for literal in constraint):
            parent.setdefault(position, position)
            first = position if first is None else first
            parent[root(position)] = root(first)
    found: dict[Position, list[Constraint]] = {}
    for constraint in kept:
        found.setdefault(root(next(iter(constraint)).position), []).append(constraint)
    return list(found.values())


def reduced(prices: Prices, constraints: Iterable[Constraint]) -> list[Constraint]:
    """Fewer constraints, with fewer literals, that have the same cheapest choice."""
    kept = essential(constraints)
    while True:
        fewer = _without_dominated(prices, kept) or _without_dominated_places(prices, kept)
        if fewer is None:
            return kept
        kept = essential(fewer)


def _without_dominated(prices: Prices, constraints: list[Constraint]) -> list[Constraint] | None:
    """The constraints without rendezvous that another one, no dearer, makes up for; None if there are none."""
    among: dict[Literal, set[int]] = {}
    waiting: set[Position] = set()
    for number, constraint in enumerate(constraints):
        for literal in constraint:
            among.setdefault(literal, set()).add(number)
            if literal.both:
                waiting.add(literal.position)
    gone: set[Literal] = set()
    for constraint in constraints:
        # One that satisfies most and costs least stands for as many others as possible.
        ordered = sorted(
            # A meeting that is there for a wait in any case satisfies what it does for nothing.
            (literal for literal in constraint if not literal.counter and literal not in gone),
            key=lambda literal: (-len(among[literal]), prices.rendezvous(literal.position), literal),
        )
        for place, literal in enumerate(ordered):
            price = prices.rendezvous(literal.position)
            for other in ordered[:place]:
                if (
                    literal.position not in waiting
                    and other not in gone
                    and prices.rendezvous(other.position) <= price
                    and among[literal] <= among[other]
                ):
                    gone.add(literal)
                    break
    return [constraint - gone for constraint in constraints] if gone else None


def essential(constraints: Iterable[Constraint]) -> list[Constraint]:
    """The constraints that none of the others implies: one with fewer literals says more."""
    kept: list[Constraint] = []
    by_position: dict[Position, list[Constraint]] = {}
    for constraint in sorted(constraints, key=len):
        near = {id(other): other for literal in constraint for other in by_position.get(literal.position, ())}
        if any(_implies(other, constraint) for other in near.values()):
            continue
        kept.append(constraint)
        # A constraint that implies another shares all its positions with it: one entry is enough.
        by_position.setdefault(min(constraint).position, []).append(constraint)
    return kept


def _implies(one: Constraint, other: Constraint) -> bool:
    """Whether a choice that satisfies `one` satisfies `other`."""
    if len(one) > len(other):
        return False
    return all(
        literal in other or (bool(literal.counter) and any(literal.implies(each) for each in other))
        for literal in one
    )


@dataclass(slots=True)
class Place:
    """The constraints that have literals of one place, by number."""

    meets: set[int] = field(default_factory=set)
    waits: dict[str, dict[int, set[int]]] = field(default_factory=dict)
    """By counter and count."""
    both: dict[str, dict[int, set[int]]] = field(default_factory=dict)

    def satisfied(self, counter: str, count: int) -> tuple[Constraints, Constraints]:
        """The constraints that a wait satisfies, and those that a barrier with this wait does besides."""
        return _reached(self.waits.get(counter), count), _reached(self.both.get(counter), count)

    def asked_waits(self) -> set[tuple[str, int]]:
        """The waits that constraints ask for."""
        return {
            (counter, count)
            for waits in (self.waits, self.both)
            for counter, by_count in waits.items()
            for count in by_count
        }


def _reached(by_count: dict[int, set[int]] | None, count: int) -> Constraints:
    """The constraints that ask for no longer a wait."""
    return (
        NONE.union(*(constraints for most, constraints in by_count.items() if most >= count))
        if by_count
        else NONE
    )


def _without_dominated_places(prices: Prices, constraints: list[Constraint]) -> list[Constraint] | None:
    """The constraints without the literals of places that others stand for; None if there are none.

    Whatever is put at such a place does as much at the other one, for no more. That is asked of a place as a whole:
    a barrier that waits shares its rendezvous with constraints that need nothing else, and longer waits of a place
    include shorter ones (see `dual_ascent`), so a single literal of a place says little.
    """
    places = _places(constraints)
    gone: set[Position] = set()
    compared = 0
    for position in sorted(places, reverse=True):
        place = places[position]
        if not (place.waits or place.both):
            continue  # Meetings alone are compared more quickly: see `_without_dominated`.
        shortest = min((constraints[number] for number in _all(place)), key=len)
        for other in sorted({literal.position for literal in shortest} - {position} - gone):
            compared += 1
            if compared > MOST_COMPARED:
                break
            if _dominates(prices, other, places[other], position, place):
                gone.add(position)
                break
    return (
        [
            frozenset(literal for literal in constraint if literal.position not in gone)
            for constraint in constraints
        ]
        if gone
        else None
    )


def _places(constraints: list[Constraint]) -> dict[Position, Place]:
    found: dict[Position, Place] = {}
    for number, constraint in enumerate(constraints):
        for literal in constraint:
            place = found.setdefault(literal.position, Place())
            if not literal.counter:
                place.meets.add(number)
            else:
                waits = place.both if literal.both else place.waits
                waits.setdefault(literal.counter, {}).setdefault(literal.most, set()).add(number)
    return found


def _all(place: Place) -> set[int]:
    """Every constraint with a literal of a place."""
    waits = [*place.waits.values(), *place.both.values()]
    return place.meets.union(*(constraints for by_count in waits for constraints in by_count.values()))


def _dominates(prices: Prices, at: Position, one: Place, position: Position, other: Place) -> bool:
    """Whether whatever stands at `position` could as well stand at `at`."""
    if not other.meets <= one.meets:
        return False
    if (other.meets or other.both) and prices.rendezvous(at) > prices.rendezvous(position):
        return False
    for counter, count in other.asked_waits():
        alone, both = other.satisfied(counter, count)
        price = prices.waiting(position, count)
        longest = min(
            (
                most
                for name, most in one.asked_waits()
                if name == counter and prices.waiting(at, most) <= price
            ),
            default=None,
        )
        alone_there, both_there = one.satisfied(counter, longest) if longest is not None else (NONE, NONE)
        if not (alone <= alone_there and both <= alone_there | both_there | one.meets):
            return False
    return True


# ---------------------------------------------------------------- branch and bound


@dataclass(slots=True)
class Branching:
    """A search with a limited number of tries."""

    prices: Prices
    tries: int
    best: frozenset[Literal] | None = None
    least: int = field(default=-1)
    """What the best costs; -1 as long as there is none."""

    def search(self, constraints: list[Constraint], taken: frozenset[Literal], paid: int) -> bool:
        """Look for something better that satisfies `constraints` besides; whether there were tries enough."""
        if not constraints:
            if self.best is None or paid < self.least:
                self.best, self.least = taken, paid
            return True
        if self.tries <= 0:
            return False
        self.tries -= 1
        payments = self.payments(taken)
        for constraint in sorted(constraints, key=len):
            payments.pay(constraint)
        if self.best is not None and paid + payments.total >= self.least:
            return True
        here = self.payments(taken)
        # The constraint that is dearest to satisfy: whatever is tried, much is paid at once.
        first = min(
            constraints,
            key=lambda constraint: (-min(here.left(literal) for literal in constraint), len(constraint)),
        )
        forbidden: set[Literal] = set()
        for literal in sorted(first, key=lambda literal: (here.left(literal), literal)):
            more = taken | {literal}
            open_constraints = _without(constraints, more, forbidden)
            if open_constraints is not None and not self.search(
                open_constraints, more, paid + here.left(literal)
            ):
                return False
            forbidden.add(literal)
        return True

    def payments(self, taken: frozenset[Literal]) -> Payments:
        """What literals cost on top of those that are taken."""
        found = Payments(self.prices)
        for literal in taken:
            position, counter, count, _ = literal
            if counter:
                price = self.prices.waiting(position, count)
                found.had[position] = max(price, found.had.get(position, 0))
            if literal.rendezvous:
                found.rendezvous[position] = 0
        return found


def _without(
    constraints: list[Constraint], taken: frozenset[Literal], forbidden: set[Literal]
) -> list[Constraint] | None:
    """The constraints that literals leave open, without what is forbidden; None if one cannot be satisfied."""
    chosen = Choice.of(taken)
    found: list[Constraint] = []
    for constraint in constraints:
        if any(chosen.holds(other) for other in constraint):
            continue
        if forbidden:
            constraint = frozenset(
                other for other in constraint if not any(other.implies(each) for each in forbidden)
            )
            if not constraint:
                return None
        found.append(constraint)
    return found


def cheapest(
    prices: Prices, constraints: list[Constraint], tries: int, known: frozenset[Literal] | None = None
) -> tuple[frozenset[Literal] | None, bool]:
    """The literals that satisfy all constraints for least, and whether that is proven; `known` ones satisfy them."""
    search = Branching(prices, tries)
    if known is not None:
        search.best, search.least = known, prices.of_choice(Choice.of(known))
    proven = search.search(constraints, frozenset(), 0)
    return search.best, proven
