"""Which accesses conflict: they can touch a common byte, their order matters, and nothing keeps it.

Whether they can touch a common byte (`can_overlap`): slots of a ring, parts of buffers, bytes of each wave. The cheap
answers come first. Which slot of a ring an access touches is known wherever `block_instances` follows the loop: then
bytes are compared. Where bytes are expressions of loops that are not followed, their intervals are compared, and if
those overlap, the solver is asked (`isl_overlap`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from fencepost.analysis.access_class import (
    AccessClass,
    ClassTable,
    all_ages,
    has_two,
    numbered,
    regions_overlap,
)
from fencepost.analysis.isl_overlap import ANY, LATER, SAME, Side, Solver
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


def can_overlap(earlier: AccessClass, later: AccessClass, same_wave: bool, age: int, solver: Solver) -> bool:
    """Whether they touch a common byte in one and the same wave, or else in two different ones.

    `age` is the loop that has taken its back edge since the earlier access: see `classify_accesses`.
    """
    if earlier.kept_in_order(later) and (same_wave or not earlier.issued_separately(later)):
        return False
    if earlier.footprints or later.footprints:
        return _footprints_can_overlap(earlier, later, same_wave, age, solver)
    if not (earlier.by_wave or later.by_wave):
        # Every wave touches the same bytes, so only which waves there are decides.
        there = earlier.waves & later.waves if same_wave else has_two(earlier.waves, later.waves)
        return bool(there) and regions_overlap(earlier.regions, later.regions)
    if same_wave:
        return any(
            regions_overlap(earlier.at(wave), later.at(wave)) and not earlier.cooperate(later, wave, wave)
            for wave in numbered(earlier.waves & later.waves)
        )
    if not _overlap_of_two_waves(earlier, later):
        return False
    return not earlier.kept_in_order(later) or any(
        one != other
        and regions_overlap(earlier.at(one), later.at(other))
        and not earlier.cooperate(later, one, other)
        for one in numbered(earlier.waves)
        for other in numbered(later.waves)
    )


def _footprints_can_overlap(
    earlier: AccessClass, later: AccessClass, same_wave: bool, age: int, solver: Solver
) -> bool:
    """The same where expressions decide: the intervals first, then the solver."""
    if not (earlier.waves & later.waves if same_wave else has_two(earlier.waves, later.waves)):
        return False
    common = 0
    for mine, theirs in zip(earlier.ranges, later.ranges, strict=False):
        if mine.loop != theirs.loop:
            break
        common += 1
    relations = [SAME] * common
    if 0 < age <= common:
        relations[age - 1 :] = [LATER] + [ANY] * (common - age)
    # Waves that are listed one by one, or that take part only sometimes, are not distinguished here.
    distinguished = None if earlier.by_wave or later.by_wave else same_wave
    return any(
        one.within.overlaps(other.within)
        and solver.can_meet(
            Side(one, earlier.ranges), Side(other, later.ranges), tuple(relations), distinguished
        )
        for one in earlier.expressions()
        for other in later.expressions()
    )


def _overlap_of_two_waves(one: AccessClass, other: AccessClass) -> bool:
    """Whether two different waves touch a common byte: a sweep over the bytes of all waves from low to high."""
    # Both are in order, so putting them in order together takes one pass.
    ends = sorted([*_by_address(one, False), *_by_address(other, True)])
    active: list[tuple[int, int, int, int]] = []
    for space, lo, hi, wave, second in ends:
        active = [entry for entry in active if entry[0] == space and entry[1] > lo]
        if lo < hi and any(entry[3] != second and entry[2] != wave for entry in active):
            return True
        active.append((space, hi, wave, second))
    return False


@lru_cache(maxsize=1024)
def _by_address(made: AccessClass, second: bool) -> list[tuple[int, int, int, int, bool]]:
    """The bytes of all waves in order: space, first and last byte, wave, and which of two accesses it is."""
    return sorted(
        (region.space, region.lo, region.hi, wave, second)
        for wave in numbered(made.waves)
        for region in made.at(wave)
    )
