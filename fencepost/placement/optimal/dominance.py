"""Places that another one stands for: whatever is put there does as much at the other place, for no more.

That is asked of a place as a whole. A barrier that waits shares its meeting with constraints that need nothing else,
and the waits of a place share a ladder (see `dual_ascent`), so a single literal of one says little.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.flow import Position
from fencepost.placement.optimal.costs import Prices
from fencepost.placement.optimal.covering_problem import Constraint

MOST_COMPARED = 20_000
"""Pairs of places that are compared; beyond that, places are kept."""

Constraints = frozenset[int]
NONE: Constraints = frozenset()


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

    def rungs(self) -> set[tuple[str, int]]:
        """The waits that constraints ask for."""
        return {
            (counter, count)
            for ladders in (self.waits, self.both)
            for counter, ladder in ladders.items()
            for count in ladder
        }


def _reached(ladder: dict[int, set[int]] | None, count: int) -> Constraints:
    """The constraints that ask for no longer a wait."""
    return (
        NONE.union(*(constraints for most, constraints in ladder.items() if most >= count))
        if ladder
        else NONE
    )


def without_dominated_places(prices: Prices, constraints: list[Constraint]) -> list[Constraint] | None:
    """The constraints without the literals of places that others stand for; None if there are none."""
    places = _places(constraints)
    gone: set[Position] = set()
    compared = 0
    for position in sorted(places, reverse=True):
        place = places[position]
        if not (place.waits or place.both):
            continue  # Meetings alone are compared more quickly: see `components`.
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
                ladders = place.both if literal.both else place.waits
                ladders.setdefault(literal.counter, {}).setdefault(literal.most, set()).add(number)
    return found


def _all(place: Place) -> set[int]:
    """Every constraint with a literal of a place."""
    ladders = [*place.waits.values(), *place.both.values()]
    return place.meets.union(*(constraints for ladder in ladders for constraints in ladder.values()))


def _dominates(prices: Prices, at: Position, one: Place, position: Position, other: Place) -> bool:
    """Whether whatever stands at `position` could as well stand at `at`."""
    if not other.meets <= one.meets:
        return False
    if (other.meets or other.both) and prices.rendezvous(at) > prices.rendezvous(position):
        return False
    for counter, count in other.rungs():
        alone, both = other.satisfied(counter, count)
        price = prices.waiting(position, count)
        longest = min(
            (most for name, most in one.rungs() if name == counter and prices.waiting(at, most) <= price),
            default=None,
        )
        alone_there, both_there = one.satisfied(counter, longest) if longest is not None else (NONE, NONE)
        if not (alone <= alone_there and both <= alone_there | both_there | one.meets):
            return False
    return True
