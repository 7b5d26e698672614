"""From a kernel back to its trace: barriers, halves of barriers and waits as Wave's own operations.

Each goes into the region that it belongs to, in front of the node that its successor stands for, with that node's
location. Wave's barriers wait for all copies or for none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from fencepost.hosts.wave.nodes import Kind, Node, argument, kind_of
from fencepost.hosts.wave.synchronization import COUNTERS, LOADS, TENSORS
from fencepost.hosts.wave.translate import Translation
from fencepost.ir import ops
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import Graph

STANDS_FOR: dict[Kind, type[ops.Operation] | tuple[type[ops.Operation], ...]] = {
    Kind.BARRIER: ops.SharedMemoryBarrier,
    Kind.WORKGROUP_BARRIER: ops.WorkgroupBarrier,
    Kind.SIGNAL: (ops.SharedMemoryBarrierSignal, ops.MemoryCounterWait),
    Kind.WAIT: ops.SharedMemoryBarrierWait,
    Kind.COUNTER_WAIT: ops.MemoryCounterWait,
}
"""What nodes were read as."""

Written = tuple[str, tuple[Any, ...]]
"""An operation of Wave: the name of its class, and its arguments."""


@dataclass(frozen=True, slots=True)
class InsertNodes:
    """Operations that are new, one behind the other: in front of a node, or else at the end of a region."""

    operations: tuple[Written, ...]
    region: Any
    before: Node | None
    location: Any


@dataclass(frozen=True, slots=True)
class Update:
    """A node that stands already gets other arguments."""

    node: Node
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Remove:
    """A node that something else stands for now."""

    node: Node


Edit = InsertNodes | Update | Remove


def edits_of(translation: Translation) -> list[Edit]:
    """What has to be done to the trace so that it has the barriers that the kernel has now."""
    found: list[Edit] = []
    existing: set[Node] = set()
    for graph in translation.trace.graphs():
        op = graph.first
        while op is not None:
            new: list[ops.Operation] = []
            while op is not None and op.host is None and isinstance(op, ops.SyncOperation):
                new.append(op)
                op = op.next
            if new:
                found.append(_insert(new, graph, translation))
            if op is not None:
                if isinstance(op, ops.SyncOperation):
                    existing.add(op.host)
                    found += _changes(op, translation.region(graph))
                op = op.next
    removed = (node for node in translation.synchronization if node not in existing)
    return [*found, *(Remove(node) for node in removed)]


def apply_edits(edits: Sequence[Edit]) -> list[Node]:
    """Change a trace; the new nodes."""
    from wave_lang.kernel.ops import wave_ops

    made: list[Node] = []
    for edit in edits:
        if isinstance(edit, Update):
            for place, value in enumerate(edit.arguments):
                edit.node.update_arg(place, value)
        elif isinstance(edit, InsertNodes):
            before = edit.before if edit.before is not None else _output(edit.region)
            where = nullcontext() if before is None else edit.region.inserting_before(before)
            with where:
                for name, arguments in edit.operations:
                    operation = getattr(wave_ops, name)(*arguments)
                    made.append(operation.add_to_graph(edit.region, loc=edit.location))
    for edit in edits:
        # Last, since others stand in front of them.
        if isinstance(edit, Remove):
            edit.node.graph.erase_node(edit.node)
    return made


def _insert(new: list[ops.Operation], graph: Graph, translation: Translation) -> InsertNodes:
    region = translation.region(graph)
    if region is None:
        raise FencepostError("a barrier in a side that the trace does not have", code="FP423")
    behind = new[-1].next
    while behind is not None and behind.host is None:
        behind = behind.next
    before = behind.host if behind is not None else None
    return InsertNodes(tuple(written(new)), region, before, _location(before, graph, translation))


def written(new: Sequence[ops.Operation]) -> Iterator[Written]:
    """Operations of Wave that do what some that follow each other do."""
    engine = False
    for place, op in enumerate(new):
        if isinstance(op, ops.SharedMemoryBarrier):
            yield from _barrier(op)
        elif isinstance(op, ops.SharedMemoryBarrierSignal):
            yield "SharedMemoryBarrierSignal", (op.bar_id, engine)
            engine = False
        elif isinstance(op, ops.SharedMemoryBarrierWait):
            yield "SharedMemoryBarrierWait", (op.bar_id,)
        elif isinstance(op, ops.MemoryCounterWait):
            counts = dict(op.counts)
            if counts.pop(TENSORS, None) is not None:
                # Only a signal can wait for the tensor engine.
                engine = True
                if not any(isinstance(other, ops.SharedMemoryBarrierSignal) for other in new[place:]):
                    raise FencepostError("Wave cannot wait for the tensor engine by itself", code="FP423")
            if counts:
                yield "MemoryCounterWait", _counter_arguments(counts)
        else:
            raise FencepostError(f"Wave has nothing that does what {op.mnemonic} does", code="FP423")


def _barrier(op: ops.SharedMemoryBarrier) -> Iterator[Written]:
    if op.drains or TENSORS in op.counts:
        # Its two halves, of which the first can wait for the tensor engine.
        if op.drains or LOADS in op.counts:
            yield "MemoryCounterWait", _counter_arguments({LOADS: 0})
        yield "SharedMemoryBarrierSignal", (ops.WORKGROUP, True)
        yield "SharedMemoryBarrierWait", (ops.WORKGROUP,)
    else:
        yield "SharedMemoryBarrier", (LOADS in op.counts,)


def _counter_arguments(counts: dict[str, int]) -> tuple[Any, ...]:
    unknown = counts.keys() - set(COUNTERS)
    if unknown:
        raise FencepostError(f"Wave cannot wait for {', '.join(sorted(unknown))}", code="FP423")
    return tuple(counts.get(name) for name in COUNTERS)


def _changes(op: ops.SyncOperation, region: Any) -> list[Edit]:
    """What is different about an operation that stood in the trace."""
    host: Node = op.host
    if not isinstance(op, STANDS_FOR[kind_of(host)]):
        return _instead(op, host, region)
    if isinstance(op, ops.SharedMemoryBarrier):
        if TENSORS in op.counts or op.drains:
            return _instead(op, host, region)
        if (LOADS in op.counts) != bool(argument(host, 0)):
            return [Update(host, (LOADS in op.counts,))]
    if isinstance(op, ops.MemoryCounterWait) and kind_of(host) is Kind.COUNTER_WAIT:
        wanted = _counter_arguments(op.counts)
        if wanted != tuple(argument(host, place) for place in range(len(COUNTERS))):
            return [Update(host, wanted)]
    return []


def _instead(op: ops.SyncOperation, host: Node, region: Any) -> list[Edit]:
    """Something else in the place of a node: it has to do more than the node can."""
    put = InsertNodes(tuple(written([op])), region, host, getattr(host, "location", None))
    return [put, Remove(host)]


def _output(region: Any) -> Node | None:
    """The node that a region ends with, if it passes on anything."""
    last = next(iter(reversed(region.nodes)), None)
    return last if last is not None and last.op == "output" else None


def _location(before: Node | None, graph: Graph, translation: Translation) -> Any:
    """Where the user's source says what a new operation is there for."""
    around = graph.owner.host if graph.owner is not None else None
    for node in (before, around):
        found = getattr(node, "location", None)
        if found is not None:
            return found
    return getattr(translation.wave_trace, "location", None)
