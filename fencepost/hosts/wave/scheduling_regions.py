"""Regions of a trace with all that they do: what moves operations has to know about every value.

Barriers are placed by what happens to shared memory, and the rest of a trace is left out for them. To put a loop's
operations into another order, each node is an operation of its own, which names the values that it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fencepost.hosts.wave.accesses import Access
from fencepost.hosts.wave.graph_regions import RegionWriter
from fencepost.hosts.wave.nodes import Kind, Node, outermost
from fencepost.ir import ops
from fencepost.ir.source import FencepostError

FACTORS_AND_SUM = 3
"""The arguments of a matrix operation that are values: left, right, and what is added to."""


@dataclass(slots=True)
class WholeWriter(RegionWriter):
    """Writes all operations of a trace, with the values that they use."""

    def region(self, graph: Any) -> None:
        """All that a region does. What a loop passes on in registers is there when an iteration begins."""
        for node in graph.nodes:
            if self.kinds[node] is Kind.ITER_ARG and node not in self.memory:
                self.note(node, self.kernel.compute())
        RegionWriter.region(self, graph)

    def access(self, node: Node, kind: Kind, access: Access) -> None:
        """An access to shared memory."""
        RegionWriter.access(self, node, kind, access)
        made = self.kernel.last
        if isinstance(made, ops.Read):
            self.note(node, made)

    def other(self, node: Node, kind: Kind) -> None:
        """Anything else: what happens in registers and in global memory."""
        if kind is Kind.MMA:
            self.note(node, self.kernel.mma(*self.factors(node)))
        elif kind is Kind.READ:
            self.note(node, self.kernel.global_read(*self.arriving(node)))
        elif kind is Kind.WRITE:
            self.note(node, self.kernel.global_write(*self.arriving(node)))
        else:
            self.note(node, self.kernel.compute(*self.arriving(node)))

    def result(self, node: Node) -> None:
        """What a loop passes on to those behind it."""
        RegionWriter.result(self, node)
        if node not in self.memory and node not in self.values:
            self.note(node, self.kernel.compute())

    def arriving(self, node: Node) -> list[ops.ValueOperation]:
        """The values that a node is given."""
        given = map(outermost, node.all_input_nodes)
        return list(dict.fromkeys(self.values[each] for each in given if each in self.values))

    def factors(self, node: Node) -> list[ops.ValueOperation]:
        """What a matrix operation is given, each in its place, also where two are the same."""
        found = [self.values.get(outermost(given)) for given in node.args[:FACTORS_AND_SUM]]
        known = [value for value in found if value is not None]
        if len(known) != FACTORS_AND_SUM:
            raise FencepostError(f"it is not known what {node.name} multiplies", code="FP422")
        return known

    def note(self, node: Node, made: ops.ValueOperation) -> None:
        """An operation stands for a node, and for its value."""
        made.host = node
        self.values[node] = made
