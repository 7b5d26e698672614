"""What the user calls the memory of a kernel.

Wave's nodes do not say. The memory that a tile of an argument is copied to goes by the argument's name; memory that
the user allocates goes by the variable that he assigns it to; what neither is known of has the name of its node.
"""

from __future__ import annotations

import re
from typing import Any

from fencepost.hosts.wave.accesses import Access, Accesses, origin_of
from fencepost.hosts.wave.nodes import FIELDS, Kind, Node, argument, kind_of
from fencepost.hosts.wave.python_lines import line_of

ASSIGNED = re.compile(r"\s*([A-Za-z_]\w*)\s*(?::[^=]*)?=[^=].*\ballocate\s*\(")
COPIED_FROM = {Kind.WRITE: 0, Kind.GATHER: 0, Kind.TENSOR_LOAD: 0}
"""Where what goes to shared memory names what it comes from: a value, or memory."""
MOST_STEPS = 16
"""How far a value is followed back."""


def names_of(accesses: Accesses) -> dict[Node, str]:
    """A name for each allocation, and no name twice."""
    copied: dict[Node, str] = {}
    for found in accesses.of.values():
        for access in found:
            node = access.bundle.allocation.node
            name = _copied_from(access) if node not in copied else ""
            if name:
                copied[node] = name
    named: dict[Node, str] = {}
    taken: set[str] = set()
    for node in accesses.allocations:
        assigned = ASSIGNED.match(line_of(node))
        name = copied.get(node) or node.name
        if kind_of(node) is Kind.PLACEHOLDER:
            name = node.name
        elif assigned is not None:
            name = assigned[1]
        named[node] = unused(_spelled(name), taken)
    return named


def unused(name: str, taken: set[str]) -> str:
    """A name that is not taken: the given one, or with a number behind it; it is taken then."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    taken.add(found)
    return found


def _copied_from(access: Access) -> str:
    """The argument that an access copies from; empty if that is not seen."""
    node, place = access.node, COPIED_FROM.get(access.bundle.kind)
    given: Any = argument(node, place) if place is not None else None
    for _ in range(MOST_STEPS):
        if isinstance(given, list | tuple):
            given = given[0] if len(given) == 1 else None
        if not hasattr(given, "op"):
            return ""
        kind = kind_of(given)
        if kind is Kind.READ:
            given = given.args[FIELDS[Kind.READ].memory]
        elif kind is Kind.COMPUTE and len(given.all_input_nodes) == 1:
            given = given.all_input_nodes[0]
        else:
            origin = origin_of(given)
            return str(origin.name) if kind_of(origin) is Kind.PLACEHOLDER else ""
    return ""


def _spelled(name: str) -> str:
    """A name as the text form can spell it."""
    word = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)
    return word if word[:1].isalpha() or word.startswith("_") else f"m{word}"
