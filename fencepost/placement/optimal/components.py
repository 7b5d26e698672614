"""Rows that have nothing to do with each other are solved apart, and rows that others imply are left out."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.flow import Position
from fencepost.placement.optimal.costs import Prices
from fencepost.placement.optimal.dominance import without_dominated_places
from fencepost.placement.optimal.literals import Row, Term


def parts_of(rows: Iterable[Row]) -> list[list[Row]]:
    """The rows in groups that share no position."""
    parent: dict[Position, Position] = {}

    def root(position: Position) -> Position:
        while parent[position] != position:
            parent[position] = position = parent[parent[position]]
        return position

    kept = list(rows)
    for row in kept:
        first: Position | None = None
        for position in (term.position for term in row):
            parent.setdefault(position, position)
            first = position if first is None else first
            parent[root(position)] = root(first)
    found: dict[Position, list[Row]] = {}
    for row in kept:
        found.setdefault(root(next(iter(row)).position), []).append(row)
    return list(found.values())


def reduced(prices: Prices, rows: Iterable[Row]) -> list[Row]:
    """Rows with the same cheapest choice, and fewer of them with fewer terms, as far as comparing them shows."""
    kept = essential(rows)
    while True:
        fewer = _without_dominated(prices, kept) or without_dominated_places(prices, kept)
        if fewer is None:
            return kept
        kept = essential(fewer)


def _without_dominated(prices: Prices, rows: list[Row]) -> list[Row] | None:
    """The rows without meetings for which another, no dearer, satisfies all that they do; None if there are none."""
    among: dict[Term, set[int]] = {}
    waiting: set[Position] = set()
    for number, row in enumerate(rows):
        for term in row:
            among.setdefault(term, set()).add(number)
            if term.both:
                waiting.add(term.position)
    gone: set[Term] = set()
    for row in rows:
        # One that satisfies most and costs least stands for as many others as possible.
        ordered = sorted(
            # A meeting that is there for a wait in any case satisfies what it does for nothing.
            (term for term in row if not term.counter and term not in gone),
            key=lambda term: (-len(among[term]), prices.meeting(term.position), term),
        )
        for place, term in enumerate(ordered):
            price = prices.meeting(term.position)
            for other in ordered[:place]:
                if (
                    term.position not in waiting
                    and other not in gone
                    and prices.meeting(other.position) <= price
                    and among[term] <= among[other]
                ):
                    gone.add(term)
                    break
    return [row - gone for row in rows] if gone else None


def essential(rows: Iterable[Row]) -> list[Row]:
    """The rows that none of the others implies: one with fewer terms says more."""
    kept: list[Row] = []
    by_position: dict[Position, list[Row]] = {}
    for row in sorted(rows, key=len):
        near = {id(other): other for term in row for other in by_position.get(term.position, ())}
        if any(_implies(other, row) for other in near.values()):
            continue
        kept.append(row)
        # A row that implies another shares all its positions with it: one entry is enough.
        by_position.setdefault(min(row).position, []).append(row)
    return kept


def _implies(one: Row, other: Row) -> bool:
    """Whether a choice that satisfies `one` satisfies `other`."""
    if len(one) > len(other):
        return False
    return all(
        term in other or (bool(term.counter) and any(term.implies(each) for each in other)) for term in one
    )
