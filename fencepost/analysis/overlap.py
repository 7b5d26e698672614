"""Whether two accesses can touch a common byte: slots of a ring, parts of buffers, bytes of each wave.

The cheap answers come first. Which slot of a ring an access touches is known wherever `block_instances` follows the
loop: then bytes are compared. Where bytes are expressions of loops that are not followed, their intervals are
compared, and if those overlap, the solver is asked (`isl_overlap`).
"""

from __future__ import annotations

from functools import lru_cache

from fencepost.analysis.access_class import AccessClass, has_two, numbered, regions_overlap
from fencepost.analysis.isl_overlap import ANY, LATER, SAME, Side, Solver


def can_overlap(earlier: AccessClass, later: AccessClass, same_wave: bool, age: int, solver: Solver) -> bool:
    """Whether they touch a common byte in one and the same wave, or else in two different ones.

    `age` is the loop that has taken its back edge since the earlier access: see `access_classes`.
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
