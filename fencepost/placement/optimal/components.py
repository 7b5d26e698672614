"""Constraints that share no position are solved separately, and those that others imply are left out."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.flow import Position
from fencepost.placement.optimal.costs import Prices
from fencepost.placement.optimal.covering_problem import Constraint, Literal
from fencepost.placement.optimal.dominance import without_dominated_places


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
        fewer = _without_dominated(prices, kept) or without_dominated_places(prices, kept)
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
