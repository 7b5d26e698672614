"""Regions of a trace written into a kernel: loops with the memory that they pass on, conditionals, operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fencepost.hosts.wave.accesses import Access, Accesses, Bundle
from fencepost.hosts.wave.byte_views import view_of
from fencepost.hosts.wave.conditions import Conditions
from fencepost.hosts.wave.nodes import (
    ATOMICS,
    ITERATE_INIT,
    LOCAL,
    REGION_OF,
    SILENT,
    Kind,
    Node,
    argument,
    kind_of,
    outermost,
)
from fencepost.hosts.wave.synchronization import SYNCHRONIZE
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View
from fencepost.ir.builder import Kernel
from fencepost.ir.source import FencepostError

ITERATE_STEP, ITERATE_START = 4, 5


@dataclass(frozen=True, slots=True)
class _Result:
    """What a loop passes on to those behind it."""

    loop: Node
    place: int


@dataclass(slots=True)
class RegionWriter:
    """Writes the regions of a trace into a kernel."""

    kernel: Kernel
    wave_trace: Any
    kinds: Mapping[Node, Kind]
    accesses: Accesses
    conditions: Conditions
    memory: dict[Any, Buffer]
    """What stands for shared memory: allocations, and the names that loops hand them on under."""
    without: frozenset[Node] = frozenset()
    """Nodes that are left out."""
    followed: bool = False
    """Whether what uses values out of shared memory is translated: it says when they have arrived."""
    timed: bool = False
    """Whether matrix operations and accesses to global memory are translated: they take their time."""
    counted: bool = False
    """Whether accesses to global memory and copies are all translated: waits count them."""
    values: dict[Node, ops.ValueOperation] = field(default_factory=dict)
    """Reads of shared memory whose values may still be under way."""
    handed_through: dict[Node, list[ops.ValueOperation]] = field(default_factory=dict)
    """Nodes that are given such values and may become no instruction (a slice, a cast): who uses them uses these."""
    views: dict[Bundle, View] = field(default_factory=dict)
    """The bytes of bundles."""
    loops: int = 0

    @property
    def quiet(self) -> bool:
        """Whether only what is about shared memory is translated."""
        return not (self.followed or self.timed or self.counted)

    def region(self, graph: Any) -> None:
        """All that a region does."""
        silent = LOCAL if self.quiet else SILENT
        accessing = self.accesses.of
        for node in graph.nodes:
            kind = self.kinds[node]
            if node in accessing:
                for access in accessing[node]:
                    self.access(node, access.bundle.kind, access)
            elif kind in silent:
                continue
            elif kind is Kind.ITERATE:
                self.loop(node)
            elif kind is Kind.CONDITIONAL:
                self.conditional(node)
            elif node in self.without:
                continue
            elif kind in SYNCHRONIZE:
                for op in SYNCHRONIZE[kind](self.kernel, node):
                    op.host = node
            elif kind is Kind.GET_RESULT:
                self.result(node)
            else:
                self.other(node, kind)

    # ------------------------------------------------------------ operations

    def access(self, node: Node, kind: Kind, access: Access) -> None:
        """An access to shared memory."""
        view = self.views.get(access.bundle)
        if view is None:
            buffer = self.memory.get(access.bundle.memory)
            if buffer is None:
                raise FencepostError(f"it is not known which memory {node.name} touches", code="FP422")
            view = self.views[access.bundle] = view_of(buffer, access.bundle)
        if self.goes_on(kind, view, access.group):
            return
        used = self.arriving(node)
        op: ops.MemoryOperation
        if kind is Kind.READ:
            op = self.kernel.read(view, *used) if used else self.kernel.put(ops.Read((view,)))
            if self.followed:
                self.values[node] = op
        elif kind is Kind.GATHER:
            op = self.kernel.gather_to_lds(view, *used) if used else self.kernel.put(ops.GatherToLDS((view,)))
        elif kind is Kind.TENSOR_LOAD:
            op = self.kernel.put(ops.TensorLoadToLDS((view,)))
        elif kind in ATOMICS and not access.ordered:
            op = self.kernel.atomic(view, *used, group=access.group)
        elif used:
            op = self.kernel.write(view, *used, group=access.group)
        else:
            op = self.kernel.put(ops.Write((view,), group=access.group))
        op.host = node

    def goes_on(self, kind: Kind, view: View, group: str) -> bool:
        """Whether an access does what the last one did: a barrier between the two is of no use to anyone.

        One that has to come before the later access can come before both, one behind the earlier behind both.
        """
        last = self.kernel.last
        if self.timed or self.followed or not isinstance(last, ops.MemoryOperation) or last.views != (view,):
            return False
        if kind is Kind.READ:
            return isinstance(last, ops.Read)
        if kind is Kind.GATHER and not self.counted:
            return isinstance(last, ops.GatherToLDS)
        return kind is Kind.WRITE and isinstance(last, ops.Write) and bool(group) and last.group == group

    def other(self, node: Node, kind: Kind) -> None:
        """Anything else: what happens in registers and in global memory."""
        op: ops.ValueOperation
        if kind not in (Kind.MMA, Kind.READ, Kind.WRITE):
            # Nothing says that it waits for what it is given.
            given = self.given(node)
            if given:
                self.handed_through[node] = given
            return
        used = self.arriving(node)
        if kind is Kind.MMA and (used or self.timed):
            op = self.kernel.mma(*used) if used else self.kernel.put(ops.MMA())
        elif kind is Kind.READ and (self.timed or self.counted):
            op = self.kernel.global_read(*used) if used else self.kernel.put(ops.GlobalRead())
        elif kind is Kind.WRITE and (used or self.timed or self.counted):
            op = self.kernel.global_write(*used) if used else self.kernel.put(ops.GlobalWrite())
        elif used:
            op = self.kernel.compute(*used)
        else:
            return
        op.host = node

    def given(self, node: Node) -> list[ops.ValueOperation]:
        """What was read from shared memory and a node is given, itself or through others."""
        if not self.followed:
            return []
        found: list[ops.ValueOperation] = []
        for each in map(outermost, node.all_input_nodes):
            if each in self.values:
                found.append(self.values[each])
            found += self.handed_through.get(each, ())
        return list(dict.fromkeys(found))

    def arriving(self, node: Node) -> list[ops.ValueOperation]:
        """What was read from shared memory and has arrived once a node runs; what is known to have is left out."""
        if not self.followed:
            return []
        found = self.given(node)
        for each in node.all_input_nodes:
            if each.graph is node.graph:
                self.values.pop(each, None)
                self.handed_through.pop(each, None)
        return found

    # ------------------------------------------------------------ control flow

    def loop(self, node: Node) -> None:
        """A loop. Of what it passes on, shared memory is followed."""
        graph = self.wave_trace.get_subgraph(node.args[REGION_OF[Kind.ITERATE]])
        given = node.args[ITERATE_INIT]
        names: dict[str, Buffer] = {}
        places: dict[str, int] = {}
        for place, init in enumerate(given):
            buffer = self.memory.get(outermost(init)) if hasattr(init, "op") else None
            if buffer is not None:
                # Named after what it begins with; dots are in no name of the user's.
                name = f"{buffer.name.partition('.')[0]}.{self.loops}.{place}"
                names[name], places[name] = buffer, place
        var, self.loops = f"i{self.loops}", self.loops + 1
        trip = self.trip(node)
        if not names:
            with self.kernel.loop(var, trip=trip):
                self.region(graph)
            self.stands_for(node)
            return
        with self.kernel.loop(var, trip=trip, carry=names) as (_, handed):
            arguments = {arg.iter_idx: arg for arg in graph.nodes if self.kinds[arg] is Kind.ITER_ARG}
            for name, place in places.items():
                self.memory[arguments[place]] = handed.buffer(name)
            self.region(graph)
            returned = self.returned(graph)
            end = self.kernel.next(**{name: self.handed(returned[place]) for name, place in places.items()})
            end.host = graph.output_node()
        self.stands_for(node)
        for name, place in places.items():
            self.memory[_Result(node, place)] = handed.buffer(name)

    def stands_for(self, node: Node) -> None:
        """The loop or conditional that was written last stands for a node."""
        made = self.kernel.last
        assert made is not None
        made.host = node

    def trip(self, node: Node) -> int | None:
        """How often a loop runs, if known."""
        if argument(node, ITERATE_START) is not None:
            return None  # a loop that goes on while something holds
        count = self.conditions.numbers.integer(getattr(node, "count", None))
        step = argument(node, ITERATE_STEP) or 1
        return -(-max(count, 0) // int(step)) if count is not None else None

    def returned(self, graph: Any) -> list[Any]:
        """What a loop's body passes on to the next iteration."""
        (found,) = graph.output_node().args
        return list(found) if isinstance(found, list | tuple) else [found]

    def handed(self, node: Node) -> Buffer:
        """The buffer that a node stands for."""
        if kind_of(node) is Kind.GET_RESULT:
            self.result(node)
        found = self.memory.get(outermost(node))
        if found is None:
            raise FencepostError(f"it is not known which memory {node.name} stands for", code="FP422")
        return found

    def result(self, node: Node) -> None:
        """What a loop passes on to those behind it, under a name of its own."""
        buffer = self.memory.get(_Result(node.args[0], node.args[1]))
        if buffer is not None:
            self.memory[node] = buffer

    def conditional(self, node: Node) -> None:
        """A conditional, which has one side."""
        with self.kernel.cond(self.conditions.of(node.args[0])):
            self.region(self.wave_trace.get_subgraph(node.args[REGION_OF[Kind.CONDITIONAL]]))
        self.stands_for(node)
