"""Every access to shared memory of a trace, in bundles of those that behave alike.

Wave expands one tile operation into many nodes. They are one *bundle*: the same kind of access to the same memory,
with one reach for all of them, which keeps the kernel small.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fencepost.hosts.wave.footprints import Footprints, Reach
from fencepost.hosts.wave.memory import Allocation
from fencepost.hosts.wave.nodes import FIELDS, Kind, Node, kind_of, outermost
from fencepost.ir.source import FencepostError


@dataclass(slots=True, eq=False)
class Bundle:
    """Accesses of one kind that come from one operation of the user, to one memory."""

    kind: Kind
    memory: Node
    """The allocation, or the name that a loop hands one on under."""
    allocation: Allocation
    """The allocation, or one of those that the name stands for: they are all of one shape."""
    lo: int = 0
    """Where it begins,"""
    hi: int | None = None
    """and the byte behind its end; None if that is not known, and it may be all of the allocation."""
    members: list[Access] = field(default_factory=list)
    by_wave: tuple[tuple[int, int], ...] = ()
    """Where it is worth telling waves apart: where it begins and ends in each one."""

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


@dataclass(slots=True)
class Accesses:
    """The accesses of a trace, by node; a node that touches several memories has one for each."""

    footprints: Footprints
    allocations: dict[Node, Allocation]
    of: dict[Node, list[Access]] = field(default_factory=dict)
    bundles: dict[Any, Bundle] = field(default_factory=dict)
    writes: list[Access] = field(default_factory=list)
    """Plain writes, in the order of the program."""
    standing_for: dict[Node, Allocation | None] = field(default_factory=dict)
    """What nodes have been found to stand for."""

    def add(self, node: Node, kind: Kind) -> None:
        """Note what a node does to shared memory, if anything."""
        named = node.args[FIELDS[kind].memory]
        for memory in named if isinstance(named, list | tuple) else (named,):
            allocation = self.allocation(memory)
            if allocation is not None:
                self.note(node, kind, outermost(memory), allocation)

    def add_users(self, memory: Node) -> None:
        """Note operations that are not known: what they are given of shared memory, they may change."""
        allocation = self.allocation(memory)
        if allocation is not None:
            for user in memory.users:
                if kind_of(user) is Kind.OTHER:
                    self.note(user, Kind.OTHER, memory, allocation)

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
        if kind is Kind.WRITE:
            self.writes.append(access)

    def allocation(self, memory: Node) -> Allocation | None:
        """An allocation that a node stands for; None if it is no shared memory."""
        try:
            return self.standing_for[memory]
        except KeyError:
            found = self.standing_for[memory] = self._find_allocation(memory)
            return found

    def _find_allocation(self, memory: Node) -> Allocation | None:
        seen = 0
        while True:
            memory = outermost(memory)
            found = self.allocations.get(memory)
            if found is not None:
                return found
            kind = kind_of(memory)
            if kind is Kind.ITER_ARG:
                memory = memory.graph.parent_op.args[1][memory.iter_idx]
            elif kind is Kind.GET_RESULT and kind_of(memory.args[0]) is Kind.ITERATE:
                memory = memory.args[0].args[1][memory.args[1]]
            else:
                return None
            seen += 1
            if seen > 1000:
                raise FencepostError("memory is handed on in a circle", code="FP422")

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
