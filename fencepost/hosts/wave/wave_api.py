"""The names of the seeds on traces of Wave: nodes in, nodes out.

Locations count the nodes of a trace in the order of the program, as Wave's own pass numbers them. What is asked about
a trace is asked about the kernel that it is read as; what is changed is changed in the trace.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from fencepost.analysis.access import MemoryAccessType
from fencepost.analysis.hazards import BarrierType
from fencepost.check import Report
from fencepost.check import check as check_kernel
from fencepost.emit.write import Inserted
from fencepost.hosts.wave.accesses import INTO_SHARED, Accesses, memory_of, origin_of
from fencepost.hosts.wave.barrier_pass import (
    Compilation,
    add_shared_memory_barriers,
    compilations,
    config_for,
    read,
)
from fencepost.hosts.wave.launch import symbols_in_use
from fencepost.hosts.wave.lds import SPACE, may_be_shared
from fencepost.hosts.wave.nodes import (
    ACCESSES,
    ITERATE_INIT,
    REGION_OF,
    Kind,
    Node,
    argument,
    kind_of,
    loop_and_place,
    outermost,
)
from fencepost.hosts.wave.ping_pong import schedule_reordering
from fencepost.hosts.wave.python_lines import name_origins
from fencepost.hosts.wave.thread_numbers import Numbers
from fencepost.hosts.wave.touched_bytes import Footprints
from fencepost.hosts.wave.translate import Translation, translate
from fencepost.hosts.wave.write_back import apply_edits, edits_of
from fencepost.passes.explain import Explanation
from fencepost.passes.explain import explain_barriers as explain_kernel
from fencepost.passes.insert import insert_barriers as insert_into_kernel
from fencepost.passes.prune import Pruned
from fencepost.passes.prune import prune_barriers as prune_kernel
from fencepost.placement import AUTO
from fencepost.reference.wave.windows import READS, WRITES, SyncRequirement, scan
from fencepost.reference.wave.windows import get_barriers_analysis as analyze_kernel
from fencepost.targets import TARGETS

__all__ = ["add_shared_memory_barriers", "schedule_reordering"]

COMPILER = "Wave"
NOT_HERE = {
    "populate_barriers_counters": "its barriers have no counters, they wait for all copies or for none; "
    "`fencepost.hosts.wave.translate` gives the kernel, whose barriers have",
    "add_async_dependencies": "its barriers take no dependencies; `fencepost.hosts.wave.translate` gives the kernel, "
    "whose barriers do",
    "add_signal_wait_to_subgraph": "`add_shared_memory_barriers` puts pairs where they belong",
    "add_conditional_barriers_to_loop": "`schedule_reordering` does it together with the loop's new order",
    "reorder_graph": "`schedule_reordering` puts loops into another order",
    "transform_two_PP_clusters": "`schedule_reordering` puts loops into another order",
}
"""Why some names do nothing here, and what does."""

TYPES = {
    Kind.READ: MemoryAccessType.READ,
    Kind.WRITE: MemoryAccessType.WRITE,
    Kind.GATHER: MemoryAccessType.WRITE,
    Kind.TENSOR_LOAD: MemoryAccessType.WRITE,
}


# ---------------------------------------------------------------- whole traces


def check(trace: Any, **options: Any) -> Report:
    """Look for races and deadlocks in a trace with the barriers that it has."""
    return check_kernel(_named(trace).trace, **options)


def explain_barriers(trace: Any, target: str = "", **options: Any) -> Explanation:
    """For every barrier of a trace, the hazards that it alone covers; and the hazards that are not covered."""
    return explain_kernel(_named(trace, target).trace, target if target in TARGETS else "", **options)


def prune_barriers(trace: Any, target: str = "", **options: Any) -> Pruned:
    """Take the barriers and waits out of a trace that nothing needs."""
    translation = _named(trace, target)
    found = prune_kernel(translation.trace, target if target in TARGETS else "", **options)
    apply_edits(edits_of(translation))
    return found


def insert_barriers(trace: Any, target: str = "", strategy: str = AUTO.name, **options: Any) -> Inserted:
    """Put the barriers into a trace that it lacks, as a strategy chooses them."""
    translation = _named(trace, target)
    found = insert_into_kernel(translation.trace, config_for(target), strategy, **options)
    apply_edits(edits_of(translation))
    return found


def get_barriers_analysis(trace: Any, target: Any = "") -> list[SyncRequirement]:
    """The windows that a trace's barriers leave open, in the order of their consumers: nodes, and their locations.

    A target makes no difference to them; Wave's function of this name takes one.
    """
    del target
    known = compilations.get(trace, Compilation())
    # Each node by itself: windows begin behind the last of several producers.
    translation = translate(trace, known.constraints, timed=True)
    location = {node: number for number, node in enumerate(trace.preorder_walk())}
    return [_of_nodes(each, location) for each in analyze_kernel(translation.trace)]


def _of_nodes(found: SyncRequirement, location: dict[Node, int]) -> SyncRequirement:
    producers: list[Any] = [op.host for op in found.prod_region]
    consumers: list[Any] = [op.host for op in found.cons_region]
    inside = list(consumers[0].graph.nodes)
    resource: Any = get_shared_memory_from_op(consumers[0])
    return replace(
        found,
        resource=resource,
        prod_region=tuple(producers),
        cons_region=tuple(consumers),
        prod_location=max(location[node] for node in producers),
        cons_location=min(location[node] for node in consumers),
        graph_start=inside[0],
        graph_end=inside[-1],
        start_location=location.get(inside[0], -1),
        end_location=location.get(inside[-1], -1),
    )


def _named(trace: Any, target: str = "") -> Translation:
    """A trace as a kernel that knows where the user wrote what."""
    translation = read(trace, config_for(target))
    name_origins(translation.trace)
    return translation


# ---------------------------------------------------------------- nodes


def handle_hazard(
    nodes: Sequence[Node],
    producer_types: Collection[MemoryAccessType] = WRITES,
    consumer_types: Collection[MemoryAccessType] = READS,
    barrier_type: BarrierType = BarrierType.FILL,
    is_nested: bool = False,
) -> list[SyncRequirement]:
    """The episodes of one kind of hazard in a sequence of nodes, as `fencepost.handle_hazard` finds them in ours."""
    kinds = (producer_types, consumer_types)
    found = [_node(each) for each in nodes]
    return scan(found, get_shared_memory_from_op, _type_of, kinds, barrier_type, is_nested=is_nested)


def get_shared_memory_from_op(op: Any, depth: int = 0) -> Node | None:
    """The node that stands for the shared memory which a node or operation touches; None if it touches none.

    What a loop passes on stands for what the loop begins with, or `depth` iterations later for what it has become.
    """
    node = _node(op)
    kind = kind_of(node)
    if kind not in ACCESSES:
        return None
    numbers = Numbers(None, symbols_in_use())
    for memory in memory_of(node, kind):
        origin = origin_of(memory)
        if kind_of(origin) is Kind.ALLOCATE:
            shared = may_be_shared(argument(origin, SPACE), numbers)
        else:
            shared = kind in INTO_SHARED or Accesses(Footprints(numbers), {}).may_be_shared(memory)
        if shared:
            return _carried(memory, depth)
    return None


def is_shared_memory_op(op: Any, depth: int = 0) -> Node | None:
    """The shared memory that a node or operation touches; None if it is no such operation."""
    return get_shared_memory_from_op(op, depth)


def is_reduction_subgraph(graph: Any) -> bool:
    """Whether a region of a trace is the body of a loop."""
    owner = getattr(graph, "parent_op", None)
    return owner is not None and kind_of(owner) is Kind.ITERATE


def _carried(memory: Node, depth: int) -> Node:
    """What a node stands for, so many iterations after a loop's first."""
    seen: set[tuple[Node, int]] = set()
    while (memory, depth) not in seen:
        seen.add((memory, depth))
        memory = outermost(memory)
        carried = loop_and_place(memory)
        if carried is None:
            return memory
        loop, place = carried
        handed = _results(loop) if depth else list(loop.args[ITERATE_INIT])
        depth = max(depth - 1, 0)
        if place >= len(handed) or not hasattr(handed[place], "op"):
            return memory
        memory = handed[place]
    return memory


def _results(loop: Node) -> list[Any]:
    """What the body of a loop passes on to the next iteration."""
    graph = loop.graph
    while not hasattr(graph, "subgraphs"):
        graph = graph.parent_op.graph
    (found,) = graph.subgraphs[loop.args[REGION_OF[Kind.ITERATE]]].output_node().args
    return list(found) if isinstance(found, list | tuple) else [found]


def _type_of(node: Node) -> MemoryAccessType:
    kind = kind_of(node)
    if kind not in ACCESSES:
        return MemoryAccessType.NONE
    return TYPES.get(kind, MemoryAccessType.READ_WRITE)


def _node(op: Any) -> Node:
    """A node, or that of Wave's object for it."""
    return getattr(op, "fx_node", op)
