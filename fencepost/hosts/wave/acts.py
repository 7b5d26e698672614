"""Which writes are parts of one act.

Writes to one memory are one cooperative act as long as they touch different elements, and do not conflict with each
other then. That is looked up, and not taken from where nodes come from: a pipelined loop has copies of its writes in
front of it, and a write that was split for other reasons does not say that it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fencepost.hosts.wave.accesses import Access, Accesses
from fencepost.hosts.wave.footprints import Reach


def find_acts(accesses: Accesses) -> None:
    """Give the writes of each act a group."""
    number = 0
    places: dict[Any, list[Access]] = {}
    for access in accesses.writes:
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
    taken = _Taken()
    for write in writes:
        if write.reach is None:
            yield [write]
            continue
        if taken.meets(write.reach):
            yield act
            act, taken = [], _Taken()
        taken.reaches.append(write.reach)
        act.append(write)
    yield act


@dataclass(slots=True)
class _Taken:
    """The elements that an act touches."""

    reaches: list[Reach] = field(default_factory=list)
    noted: int = 0
    """How many of them have been looked at element by element."""
    elements: Any = field(default_factory=lambda: np.zeros(0, dtype=bool))
    """For each element whether it is one of theirs."""

    def meets(self, reach: Reach) -> bool:
        """Whether another access touches one of the elements: if where it begins and ends does not tell, each one."""
        if not any(reach.lo < other.hi and other.lo < reach.hi for other in self.reaches):
            return False
        for other in self.reaches[self.noted :]:
            elements = _elements(other)
            self._make_room(elements)
            self.elements[elements] = True
        self.noted = len(self.reaches)
        elements = _elements(reach)
        self._make_room(elements)
        return bool(self.elements[elements].any())

    def _make_room(self, elements: Any) -> None:
        missing = int(elements.max()) + 1 - self.elements.size
        if missing > 0:
            self.elements = np.concatenate([self.elements, np.zeros(missing, dtype=bool)])


def _elements(reach: Reach) -> Any:
    """Every element that an access touches."""
    return np.add.outer(np.atleast_1d(reach.first + reach.constant), np.arange(reach.length)).ravel()
