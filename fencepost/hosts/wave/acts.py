"""Which writes are parts of one act.

Writes to one memory are one cooperative act as long as they touch different elements, and do not conflict with each
other then. That is looked up, element by element, and not taken from where nodes come from: a pipelined loop has
copies of its writes in front of it, and a write that was split for other reasons does not say that it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fencepost.hosts.wave.accesses import Access, Accesses
from fencepost.hosts.wave.nodes import Kind


def find_acts(accesses: Accesses) -> None:
    """Give the writes of each act a group."""
    number = 0
    places: dict[Any, list[Access]] = {}
    for found in accesses.of.values():
        for access in found:
            if access.bundle.kind is Kind.WRITE:
                places.setdefault((access.bundle.memory, access.node.graph), []).append(access)
    for writes in places.values():
        for act in _acts(writes) if len(writes) > 1 else ():
            if len(act) > 1:
                number += 1
                for member in act:
                    member.group = f"act{number}"


def _acts(writes: list[Access]) -> Iterator[list[Access]]:
    """Writes to one memory in one region as acts: those that follow each other and touch different elements."""
    act: list[Access] = []
    taken: Any = np.zeros(0, dtype=bool)
    for write in writes:
        mine = _elements(write)
        if mine is None:
            yield [write]
            continue
        if int(mine.max()) >= taken.size:
            taken = np.concatenate([taken, np.zeros(int(mine.max()) + 1 - taken.size, dtype=bool)])
        if taken[mine].any():
            yield act
            act, taken = [], np.zeros(taken.size, dtype=bool)
        taken[mine] = True
        act.append(write)
    yield act


def _elements(access: Access) -> Any:
    """Every element that an access touches; None if that is not known."""
    if access.reach is None or access.reach.threads is None:
        return None
    first, count = access.reach.threads
    return np.add.outer(np.atleast_1d(first), np.arange(count)).ravel()
