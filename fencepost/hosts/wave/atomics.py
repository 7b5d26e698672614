"""Atomic updates that have to keep their order.

Two updates need no barrier between them if they commute and nobody uses a result. Otherwise their order is
that of the program: each of them is read as a write then, which nothing may overtake.
"""

from __future__ import annotations

from typing import Any

from fencepost.hosts.wave.accesses import Access, Accesses
from fencepost.hosts.wave.nodes import ATOMICS, FIELDS, Kind, Node, argument, class_of, kind_of

ADDING = frozenset(("AtomicAddOp", "ScatterAdd"))
"""Classes that do the same."""
DYNAMIC = 3
"""Where a read keeps the values that say what it reads."""


def find_order(accesses: Accesses) -> None:
    """Mark the atomic updates that have to keep their order."""
    families: dict[Any, list[Access]] = {}
    for access in accesses.writes:
        if access.bundle.kind in ATOMICS:
            allocation = access.bundle.allocation
            # Loops pass on memory of one size; what is packed may share bytes with what is not of its size.
            where = "packed" if allocation.offset is not None else allocation.size
            families.setdefault(where, []).append(access)
    for family in families.values():
        if len({_update(each.node) for each in family}) > 1 or any(_used(each.node) for each in family):
            for each in family:
                each.ordered = True


def _update(node: Node) -> str:
    """What an update does to memory."""
    cls = class_of(node)
    name = cls.__name__ if cls is not None else node.name
    return "add" if name in ADDING else str(name)


def _used(node: Node) -> bool:
    """Whether someone uses what memory held before."""
    for user in node.users:
        if kind_of(user) is not Kind.READ or node in (argument(user, DYNAMIC) or ()):
            return True
        if argument(user, FIELDS[Kind.READ].memory) is node:
            return True
    return False
