"""Every access to shared memory of a trace, in bundles of those that behave alike.

Wave expands one tile operation into many nodes. They are one *bundle*: the same kind of access to the same memory,
with one reach for all of them, which keeps the kernel small.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fencepost.hosts.wave.lds import ANYWHERE, Allocation, argument_memory, may_be_shared
from fencepost.hosts.wave.nodes import (
    ACCESSES,
    ATOMICS,
    FIELDS,
    ITERATE_INIT,
    Kind,
    Node,
    kind_of,
    loop_and_place,
    outermost,
)
from fencepost.hosts.wave.touched_bytes import Footprints, Reach
from fencepost.ir.source import FencepostError

HANDING = frozenset((Kind.ALLOCATE, Kind.ITERATE, Kind.CONDITIONAL, Kind.OUTPUT, Kind.GET_RESULT))
"""Nodes that are given shared memory and only hand it on, or take a part of it."""
INTO_SHARED = frozenset((Kind.GATHER, Kind.TENSOR_LOAD))
"""Accesses that are to shared memory whatever their operand says."""
MOST_STEPS = 1000
"""How often memory can be passed on before that counts as a circle."""


@dataclass(slots=True, eq=False)
class Bundle:
    """Accesses of one kind that come from one operation of the user, to one memory."""

    kind: Kind
    memory: Node
    """The allocation, or the name under which a loop carries one."""
    allocation: Allocation
    """The allocation, or one of those that the name stands for: they are all of one shape."""
    lo: int = 0
    """Where it begins,"""
    hi: int | None = None
    """and the byte behind its end; None if that is not known, and it may be all of the allocation."""
    members: list[Access] = field(default_factory=list)
    by_wave: tuple[tuple[int, int], ...] = ()
    """Where it is worth distinguishing waves: where it begins and ends in each one."""

    @property
    def writes(self) -> bool:
        """Whether it changes memory."""
        return self.kind is not Kind.READ

    @property
    def is_allocation(self) -> bool:
        """Whether it always touches the same allocation."""
        return self.memory is self.allocation.node

    def add(self, access: Access) -> None:
        """One more of them."""
        reach = access.reach
        if reach is None:
            self.lo, self.hi = 0, None
        elif not self.members:
            self.lo, self.hi = reach.lo, reach.hi
        elif self.hi is not None:
            if reach.lo < self.lo:
                self.lo = reach.lo
            if reach.hi > self.hi:
                self.hi = reach.hi
        self.members.append(access)

    def overlaps(self, other: Bundle) -> bool:
        """Whether they may have a byte in common, in whatever waves."""
        if self.hi is None or other.hi is None:
            return True
        return self.lo < other.hi and other.lo < self.hi


@dataclass(slots=True, eq=False)
class Access:
    """What one node does to one memory."""

    node: Node
    bundle: Bundle
    reach: Reach | None
    group: str = ""
    ordered: bool = False
    """Whether an atomic update has to keep its place among others: they do not commute, or someone uses a result."""


@dataclass(slots=True)
class Accesses:
    """The accesses of a trace, by node; a node that touches several memories has one for each."""

    footprints: Footprints
    allocations: dict[Node, Allocation]
    of: dict[Node, list[Access]] = field(default_factory=dict)
    bundles: dict[Any, Bundle] = field(default_factory=dict)
    writes: list[Access] = field(default_factory=list)
    """Plain writes and atomic updates, in the order of the program."""
    standing_for: dict[Node, Allocation | None] = field(default_factory=dict)
    """What nodes have been found to stand for."""

    def add(self, node: Node, kind: Kind) -> None:
        """Note what a node does to shared memory, if anything."""
        for memory in memory_of(node, kind):
            allocation = self.allocation(memory)
            if allocation is None and not (kind in INTO_SHARED or self.may_be_shared(memory)):
                continue
            # What is not known to be something else is shared memory, and may be any part of it.
            allocation = allocation or ANYWHERE
            self.note(node, kind, self.key(memory, allocation), allocation)

    def add_users(self, memory: Node) -> None:
        """Note operations that are not known to leave what they are given of shared memory as it is."""
        allocation = self.allocation(memory)
        if allocation is None:
            if not self.is_shared_by_type(memory):
                return
            allocation = ANYWHERE
        for user in memory.users:
            kind = kind_of(user)
            if kind in HANDING or kind is Kind.OTHER:
                continue  # of those that are not known, more is taken to be changed
            if kind not in ACCESSES or memory not in memory_of(user, kind):
                self.note(user, Kind.OTHER, self.key(memory, allocation), allocation)

    def add_unknown(self, node: Node) -> None:
        """Note an operation of which nothing is known: it may change all of shared memory."""
        self.note(node, Kind.OTHER, ANYWHERE.node, ANYWHERE)

    def key(self, memory: Node, allocation: Allocation) -> Node:
        """What a memory is known by: the allocation, or the name under which a loop carries one."""
        return ANYWHERE.node if allocation is ANYWHERE else outermost(memory)

    def note(self, node: Node, kind: Kind, memory: Node, allocation: Allocation) -> None:
        """Put an access into its bundle."""
        expanded = getattr(node, "pre_expansion_id", None)
        key = (kind, memory, node if expanded is None else expanded)
        bundle = self.bundles.get(key)
        if bundle is None:
            bundle = self.bundles[key] = Bundle(kind, memory, allocation)
        reach = None if kind is Kind.OTHER else self.footprints.reach(node, kind, allocation)
        access = Access(node, bundle, reach)
        bundle.add(access)
        self.of.setdefault(node, []).append(access)
        if kind is Kind.WRITE or kind in ATOMICS:
            self.writes.append(access)

    def allocation(self, memory: Node) -> Allocation | None:
        """An allocation that a node stands for; None if it is no shared memory, or not known."""
        try:
            return self.standing_for[memory]
        except KeyError:
            found = self.standing_for[memory] = self._find_allocation(memory)
            return found

    def _find_allocation(self, memory: Node) -> Allocation | None:
        origin = origin_of(memory)
        found = self.allocations.get(origin)
        if found is None and _is_argument(origin) and self.is_shared_by_type(origin):
            found = self.allocations[origin] = argument_memory(origin, self.footprints.numbers)
        return found

    def may_be_shared(self, memory: Node) -> bool:
        """Whether a node that is accessed as memory can stand for shared memory: unless its type says otherwise."""
        space = _space(origin_of(memory))
        space = _space(memory) if space is None else space
        return space is None or may_be_shared(space, self.footprints.numbers)

    def is_shared_by_type(self, node: Node) -> bool:
        """Whether a node is known to be memory, and can be shared memory."""
        return _space(node) is not None and self.may_be_shared(node)

    def join_reads(self) -> None:
        """Make one bundle of reads in one region that do not say where they come from and lie side by side.

        A schedule that cuts operations in pieces makes many; each by itself would be compared with all others.
        """
        places: dict[Any, list[Bundle]] = {}
        for (kind, memory, origin), bundle in self.bundles.items():
            if kind is Kind.READ and bundle.hi is not None and origin is bundle.members[0].node:
                places.setdefault((memory, origin.graph), []).append(bundle)
        for bundles in places.values():
            bundles.sort(key=lambda bundle: bundle.lo)
            first = bundles[0]
            for bundle in bundles[1:]:
                if first.overlaps(bundle):
                    for member in bundle.members:
                        member.bundle = first
                        first.add(member)
                    bundle.members.clear()
                else:
                    first = bundle
        self.bundles = {key: bundle for key, bundle in self.bundles.items() if bundle.members}


def memory_of(node: Node, kind: Kind) -> tuple[Node, ...]:
    """The memory that an access names; copies can have several destinations."""
    named = node.args[FIELDS[kind].memory]
    return tuple(named) if isinstance(named, list | tuple) else (named,)


def origin_of(memory: Node) -> Node:
    """Where memory comes from: what a placeholder stands for, what a loop began with."""
    for _ in range(MOST_STEPS):
        memory = outermost(memory)
        carried = loop_and_place(memory)
        if carried is None:
            return memory
        loop, place = carried
        began = loop.args[ITERATE_INIT]
        if place >= len(began) or not hasattr(began[place], "op"):
            return memory
        memory = began[place]
    raise FencepostError("loops carry this memory in a cycle", code="FP422")


def _is_argument(node: Node) -> bool:
    """Whether a node is an argument of the kernel."""
    return kind_of(node) is Kind.PLACEHOLDER and getattr(node.graph, "parent_op", None) is None


def _space(node: Node) -> Any:
    """The address space of a node's type; None if it has none."""
    return getattr(getattr(node, "type", None), "address_space", None)
