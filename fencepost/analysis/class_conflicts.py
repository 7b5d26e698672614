"""Which classes of accesses conflict: they share bytes, their order matters, and nothing keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from fencepost.analysis.access_class import ClassTable, all_ages, regions_overlap
from fencepost.analysis.overlap import can_overlap
from fencepost.ir import ops

Filter = Callable[[ops.MemoryOperation, ops.MemoryOperation], bool]
"""Whether a pair of accesses, the earlier one first, is to be left alone."""


class TooMuch(Exception):
    """There are too many classes or pairs of them, or too many questions about them."""


def find_pairs(table: ClassTable, most: float) -> None:
    """The classes that share bytes: a sweep over each address space from low to high."""
    starts: dict[int, list[tuple[int, int, int]]] = {}
    for number, made in enumerate(table.classes):
        for region in made.regions:
            starts.setdefault(region.space, []).append((region.lo, region.hi, number))
    for ranges in starts.values():
        ranges.sort()
        active: list[tuple[int, int]] = []
        for lo, hi, number in ranges:
            active = [entry for entry in active if entry[0] > lo]
            active.append((hi, number))
            table.pairs.update((other, number) for _, other in active)
            if len(table.pairs) > most:
                raise TooMuch


def comparisons(table: ClassTable) -> int:
    """How often classes that share bytes will be compared: where expressions decide, once for each age."""
    ages = [1 + len(made.loops) if made.footprints else 1 for made in table.classes]
    return sum(min(ages[one], ages[other]) for one, other in table.pairs)


def find_conflicts(table: ClassTable, ignore: Filter | None, coarsest: bool) -> None:
    """What each class must not overtake. Raises TooMuch if the solver gave up and a coarser look is possible."""
    table.conflicts = [0] * len(table.classes)
    table.in_flight = [0] * len(table.classes)
    table.own = [0] * len(table.classes)
    for one, other, bits, age in pairs_that_matter(table, ignore):
        _note_conflict(table, one, other, bits, age)
        if table.solver.given_up and not coarsest:
            raise TooMuch
    for one, other in made_before_arrivals(table):
        either = table.classes[one].waves | table.classes[other].waves
        if either & (either - 1):
            table.conflicts[other] |= all_ages(table, one)


def pairs_that_matter(table: ClassTable, ignore: Filter | None) -> Iterator[tuple[int, int, int, int]]:
    """Two classes whose order can matter, the earlier one first, with the bits of it that do, and at which age.

    Only classes that share bytes are compared.
    """
    for one, other in _both_ways(table.pairs):
        earlier, later = table.classes[one], table.classes[other]
        if not earlier.matters(later):
            continue
        if (
            ignore is not None
            and earlier.op is not None
            and later.op is not None
            and ignore(earlier.op, later.op)
        ):
            continue
        first = 1 if earlier.group and earlier.group == later.group else 0
        if earlier.footprints and later.footprints:
            for age in range(first, len(earlier.loops) + 1):
                yield one, other, table.bit[one] << age, age
        else:
            yield one, other, all_ages(table, one) & ~(table.bit[one] if first else 0), 0


def made_before_arrivals(table: ClassTable) -> Iterator[tuple[int, int]]:
    """Plain writes to an mbarrier, and copies whose engine arrives on it: that must come behind them."""
    for other, later in enumerate(table.classes):
        if not later.arrives_on:
            continue
        for one, earlier in enumerate(table.classes):
            plain = earlier.writes and not earlier.engine and not earlier.atomic
            if plain and regions_overlap(earlier.regions, later.arrives_on):
                yield one, other


def _note_conflict(table: ClassTable, one: int, other: int, bits: int, age: int) -> None:
    """See whether two classes meet at an age; if so, the later one must not overtake `bits`."""
    earlier, later, solver = table.classes[one], table.classes[other], table.solver
    others = can_overlap(earlier, later, False, age, solver)
    own = (earlier.engine or later.engine) and can_overlap(earlier, later, True, age, solver)
    if own and not others:
        table.own[other] |= bits
    # Pending: a copy has been waited for, so its own wave knows. What a wave did itself may still be
    # outstanding when it has an engine copy.
    if others or (own and not earlier.engine):
        table.conflicts[other] |= bits
    # In flight: no wave knows, its own no more than the others.
    if earlier.engine and (others or own):
        table.in_flight[other] |= bits


def _both_ways(pairs: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    for one, other in pairs:
        yield one, other
        if one != other:
            yield other, one
