"""Accesses that meet within a thread only: no barrier is needed between them.

Lanes of one wave need no barrier between them. But a compiler that sees none may move the accesses of a thread past
each other where they touch different bytes. So it is not enough that waves keep to their own: each thread has to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fencepost.hosts.wave.accesses import Access, Accesses, Bundle
from fencepost.hosts.wave.thread_numbers import Vector, Workgroup

NOBODY = -1

Stretches = tuple[tuple[int, int], ...]
"""For each wave the first byte and the one behind the last."""


def find_thread_private(accesses: Accesses, group: Workgroup) -> None:
    """Say where it is worth distinguishing waves: where some pair of bundles never meets across waves."""
    threads = Threads(group)
    for one, other in _pairs_to_compare(accesses):
        if threads.keep_apart(one, other):
            one.by_wave, other.by_wave = threads.stretches(one), threads.stretches(other)


def may_stay_apart(accesses: Accesses) -> bool:
    """Whether distinguishing waves could make a difference, as far as a glance tells."""
    return not all(_evidently_not_apart(one, other) for one, other in _pairs_to_compare(accesses))


def _pairs_to_compare(accesses: Accesses) -> Iterator[tuple[Bundle, Bundle]]:
    families: dict[int, list[Bundle]] = {}
    for bundle in accesses.bundles.values():
        # Memory that loops pass on is of one size, so nothing of another size can be the same.
        if bundle.hi is not None:
            families.setdefault(bundle.allocation.size, []).append(bundle)
    for family in families.values():
        for place, one in enumerate(family):
            if one.writes and _alone_in_loop(one, family):
                yield one, one
            for other in family[place + 1 :]:
                if (one.writes or other.writes) and (
                    one.memory is other.memory or not (one.is_allocation and other.is_allocation)
                ):
                    yield one, other


def _evidently_not_apart(one: Bundle, other: Bundle) -> bool:
    """Whether a glance tells that two do not stay apart.

    Another thread of the other touches what the first thread of the one touches first or last.
    """
    if not one.overlaps(other):
        return True  # they do not meet at all
    if one.allocation.bits != other.allocation.bits:
        return False
    mine, theirs = one.members[0].reach, other.members[0].reach
    assert mine is not None and theirs is not None
    if not (isinstance(mine.first, np.ndarray) and isinstance(theirs.first, np.ndarray)):
        return True  # all threads touch the same
    start = int(mine.first[0]) + mine.constant - theirs.constant
    for element in {start, start + mine.length - 1}:
        before = element - theirs.first[1:]
        if ((before >= 0) & (before < theirs.length)).any():
            return True
    return False


def _alone_in_loop(bundle: Bundle, family: list[Bundle]) -> bool:
    """Whether it meets itself without something else to be ordered with: else that is what decides."""
    graphs = {member.node.graph for member in bundle.members}
    return not any(
        member.node.graph in graphs for other in family if other is not bundle for member in other.members
    )


@dataclass(slots=True)
class Threads:
    """What the threads of a workgroup touch, looked up once for each bundle."""

    group: Workgroup
    known_stretches: dict[Bundle, Stretches] = field(default_factory=dict)
    known_owners: dict[Bundle, Any] = field(default_factory=dict)

    def keep_apart(self, one: Bundle, other: Bundle) -> bool:
        """Whether no byte of the one is touched by the other in another wave, nor in another lane."""
        if one.hi is None or other.hi is None or one.allocation.bits != other.allocation.bits:
            return False
        if _evidently_not_apart(one, other) or self.meet_in_other_waves(one, other):
            return False
        owners = self.owners(one)
        return owners is not None and _belongs_to(other, owners)

    def meet_in_other_waves(self, one: Bundle, other: Bundle) -> bool:
        """Whether two different waves may touch a common byte."""
        mine, theirs = self.stretches(one), self.stretches(other)
        return any(
            lo < high and low < hi
            for wave, (lo, hi) in enumerate(mine)
            for another, (low, high) in enumerate(theirs)
            if wave != another
        )

    def stretches(self, bundle: Bundle) -> Stretches:
        """The bytes of a bundle that is known, in each wave: from the first to the last one."""
        if bundle not in self.known_stretches:
            self.known_stretches[bundle] = _stretches(bundle, self.group)
        return self.known_stretches[bundle]

    def owners(self, bundle: Bundle) -> Any:
        """For each element the thread that touches it; None if there are several, or if that is not known."""
        if bundle not in self.known_owners:
            self.known_owners[bundle] = _owners(bundle)
        return self.known_owners[bundle]


def _stretches(bundle: Bundle, group: Workgroup) -> Stretches:
    bits, found = bundle.allocation.bits, None
    for member in bundle.members:
        assert member.reach is not None
        _, _, first, constant, count = member.reach
        by_wave = _by_wave(first, group)
        lows = (by_wave.min(axis=1) + constant) * bits // 8
        highs = -(-(by_wave.max(axis=1) + constant + count) * bits // 8)
        found = (lows, highs) if found is None else (np.minimum(found[0], lows), np.maximum(found[1], highs))
    return tuple(zip(found[0].tolist(), found[1].tolist(), strict=True)) if found is not None else ()


def _by_wave(values: Vector, group: Workgroup) -> Vector:
    """The values of threads, a row for each wave; the last one's missing lanes are like its last."""
    each = values if isinstance(values, np.ndarray) else np.full(group.threads, values)
    short = group.waves * group.lanes - group.threads
    padded = np.concatenate([each, np.repeat(each[-1:], short)]) if short else each
    return padded.reshape(group.waves, group.lanes)


def _owners(bundle: Bundle) -> Any:
    assert bundle.hi is not None
    found = np.full(bundle.hi * 8 // bundle.allocation.bits + 1, NOBODY)
    for member in bundle.members:
        elements, threads = _by_thread(member)
        if elements is None:
            return None
        taken = found[elements]
        if ((taken != NOBODY) & (taken != threads)).any():
            return None
        found[elements] = threads
        if (found[elements] != threads).any():
            return None  # another thread of the same access has it now
    return found


def _belongs_to(bundle: Bundle, owners: Any) -> bool:
    """Whether each thread touches no element that belongs to another."""
    for member in bundle.members:
        elements, threads = _by_thread(member)
        if elements is None:
            return False
        inside = elements < owners.size
        taken = owners[elements[inside]]
        if ((taken != NOBODY) & (taken != threads[inside])).any():
            return False
    return True


def _by_thread(access: Access) -> tuple[Any, Any]:
    """Every element that an access touches, and the thread that does; nothing if that is not known."""
    if access.reach is None or not isinstance(access.reach.first, np.ndarray):
        return None, None
    _, _, first, constant, count = access.reach
    elements = np.add.outer(first + constant, np.arange(count)).ravel()
    return elements, np.arange(first.size).repeat(count)
