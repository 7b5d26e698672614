"""Which writes are parts of one act.

The nodes that one operation of the user was expanded into are one cooperative act, wherever their values say that
they write. So are writes to one memory that touch different elements: that is looked up, and not taken from where
nodes come from, since a write that was split for other reasons does not always say that it was.

A pipelined loop has copies of its writes in front of it and behind it, and nodes of one operation may have come to
belong to different iterations. What belongs together is of one stage, and each node is in it once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fencepost.hosts.wave.accesses import Access, Accesses
from fencepost.hosts.wave.nodes import ATOMICS, FIELDS, Kind, Node, argument, class_of
from fencepost.hosts.wave.touched_bytes import Reach

SLICE = "ExtractSlice"
"""What the parts of a value are taken by that is written piece by piece."""
COPY = re.compile(r"_mapped_\d+_\d+")
"""What Wave's names say about the iteration and the stage that a copy of a node is for."""


def find_acts(accesses: Accesses) -> None:
    """Give the writes of each act a group, and so the atomic updates."""
    number = 0
    places: dict[Any, list[Access]] = {}
    for access in accesses.writes:
        places.setdefault((access.bundle.memory, access.node.graph), []).append(access)
    for writes in places.values():
        if len(writes) == 1:
            continue
        plain = [write for write in writes if write.bundle.kind is Kind.WRITE]
        atomics = [write for write in writes if write.bundle.kind in ATOMICS]
        for act in (*_acts(_instances(plain)), *_instances(atomics)):
            if len(act) > 1:
                number += 1
                for member in act:
                    member.group = f"act{number}"


def _instances(writes: list[Access]) -> list[list[Access]]:
    """Writes as instances of the user's operations, in the order in which they begin."""
    found: dict[Any, list[Access]] = {}
    copies: dict[Any, int] = {}
    for write in writes:
        operation, part = _operation(write.node)
        copy = copies[operation, part] = copies.get((operation, part), 0) + 1
        found.setdefault((operation, copy), []).append(write)
    return list(found.values())


def _operation(node: Node) -> tuple[Any, Any]:
    """The operation of the user that a write is part of, and which part; one of unknown origin is one by itself."""
    origin, part = getattr(node, "pre_expansion_id", None), _part(node)
    if origin is None:
        sliced = node.args[0]
        cls = class_of(sliced) if hasattr(sliced, "op") else None
        if cls is None or cls.__name__ != SLICE:
            return node, None
        # Split by registers: the slices of one value, or of the nodes that one value was expanded into.
        value, *rest = sliced.args
        origin = (
            "slices",
            getattr(value, "pre_expansion_id", None) or value,
            str(getattr(node, "location", None)),
            id(argument(node, FIELDS[Kind.WRITE].mapping)),
        )
        part = (_part(value), str(rest))
    return (class_of(node), origin, *_iteration(node)), part


def _part(node: Node) -> Any:
    """Which part of its operation a node is: by the tile that it was expanded for, or else by where it writes."""
    tile = getattr(node, "expanded_dims", None)
    if tile:
        return frozenset(tile.items())
    index = getattr(node, "index", None)
    return index and tuple((dim, getattr(at, "start", at)) for dim, at in index.items())


def _iteration(node: Node) -> tuple[Any, ...]:
    """What a pipelined loop says about the iteration that its copy of a node belongs to."""
    schedule = getattr(node, "scheduling_parameters", None)
    stage = schedule.get("stage") if isinstance(schedule, dict) else None
    copy = COPY.search(node.name)
    return stage, str(node.meta.get("pipeline_stage")), copy and copy.group()


def _acts(instances: list[list[Access]]) -> Iterator[list[Access]]:
    """Instances to one memory in one region as acts: those that follow each other and touch different elements."""
    act: list[Access] = []
    taken = _Taken()
    for instance in instances:
        reaches = [write.reach for write in instance if write.reach is not None]
        if len(reaches) < len(instance):
            yield instance  # it may touch anything
            continue
        if any(taken.meets(reach) for reach in reaches):
            yield act
            act, taken = [], _Taken()
        taken.reaches += reaches
        act += instance
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
