"""Accesses that meet within a thread only: no barrier is needed between them.

Lanes of one wave need no barrier between them. But a compiler that sees none may move the accesses of a thread past
each other where they touch different bytes. So it is not enough that waves keep to their own: each thread has to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fencepost.hosts.wave.accesses import Access, Accesses, Bundle

NOBODY = -1


def find_waves_apart(accesses: Accesses, waves: int) -> None:
    """Say where it is worth telling waves apart: where some pair of bundles never meets across waves."""
    families: dict[int, list[Bundle]] = {}
    for bundle in accesses.bundles.values():
        # Memory that loops hand on is of one size, so nothing of another size can be the same.
        if bundle.reach is not None:
            families.setdefault(bundle.allocation.size, []).append(bundle)
    for family in families.values():
        for one, other in _pairs_to_compare(family):
            if stays_apart(one, other, waves):
                one.by_wave = other.by_wave = True


def _pairs_to_compare(family: list[Bundle]) -> Iterator[tuple[Bundle, Bundle]]:
    for place, one in enumerate(family):
        if one.writes and _alone_in_loop(one, family):
            yield one, one
        for other in family[place + 1 :]:
            if (one.writes or other.writes) and (
                one.memory is other.memory or not (one.is_allocation and other.is_allocation)
            ):
                yield one, other


def _alone_in_loop(bundle: Bundle, family: list[Bundle]) -> bool:
    """Whether it meets itself without something else to be ordered with: else that is what decides."""
    graphs = {member.node.graph for member in bundle.members}
    return not any(
        member.node.graph in graphs for other in family if other is not bundle for member in other.members
    )


def stays_apart(one: Bundle, other: Bundle, waves: int) -> bool:
    """Whether no byte of the one is touched by the other in another wave, nor in another lane."""
    if one.reach is None or other.reach is None or one.reach.meets_other_waves(other.reach, waves):
        return False
    owners = _owners(one)
    return owners is not None and one.reach.overlaps(other.reach) and _belongs_to(other, owners)


def _owners(bundle: Bundle) -> Any:
    """For each element the thread that touches it; None if there are several, or if that is not known."""
    assert bundle.reach is not None
    found = np.full(bundle.reach.hi * 8 // bundle.allocation.bits + 1, NOBODY)
    for member in bundle.members:
        elements, threads = _by_thread(member)
        if elements is None:
            return None
        taken = found[elements]
        if ((taken != NOBODY) & (taken != threads)).any() or np.unique(elements).size != elements.size:
            return None
        found[elements] = threads
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
    first, count = (access.reach.threads if access.reach is not None else None) or (None, 0)
    if not isinstance(first, np.ndarray):
        return None, None
    elements = np.add.outer(first, np.arange(count)).ravel()
    return elements, np.arange(first.size).repeat(count)
