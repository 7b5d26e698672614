"""A loop's body in another order: what stands before the cluster, the cluster, what stands behind it.

Operations of the body that no cluster names but that stand between its first and last one (an address, a
conversion) go right in front of what first needs them. Nothing is lost, nothing is doubled, and an order that
breaks a dependency is refused with the two operations.
"""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.ir import ops
from fencepost.ir.printer import statement
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import Graph
from fencepost.schedule.iteration_dependencies import Dependency, broken, dependencies

New = ops.SyncOperation | ops.SchedulingBarrier | ops.SetWavePrio
"""What a schedule may add: everything else has to be there already."""


def reorder_graph(graph: Graph, clusters: Sequence[Sequence[ops.Operation]]) -> Graph:
    """Put the operations of `clusters` one behind the other; new ones among them stand where they are named."""
    members = list(graph)
    wanted = [op for cluster in clusters for op in cluster]
    _check_members(graph, wanted)
    named = {op for op in wanted if op.graph is graph}
    if not named:
        raise _not_the_same("the clusters hold no operation of the loop")
    places = [number for number, op in enumerate(members) if op in named]
    before, between, behind = (
        members[: places[0]],
        members[places[0] : places[-1] + 1],
        members[places[-1] + 1 :],
    )
    needed = dependencies(graph)
    order = [*before, *_arranged(wanted, [op for op in between if op not in named], needed), *behind]
    edge = broken(needed, [op for op in order if op.graph is graph])
    if edge is not None:
        raise _refused(edge)
    put_in_order(graph, order)
    return graph


def put_in_order(graph: Graph, order: Sequence[ops.Operation]) -> None:
    """Make `graph` hold exactly these operations, in this order."""
    for op in graph:
        graph.remove(op)
    for op in order:
        graph.append(op)


def _arranged(
    wanted: list[ops.Operation], others: list[ops.Operation], needed: list[Dependency]
) -> list[ops.Operation]:
    """The clusters with the operations that they do not name: each as late as what needs it allows."""
    left = dict.fromkeys(others)
    above: dict[ops.Operation, list[ops.Operation]] = {}
    for each in needed:
        if each.first in left:
            above.setdefault(each.second, []).append(each.first)
    order: list[ops.Operation] = []
    for op in wanted:
        todo = [op]
        while todo:
            missing = [each for each in above.get(todo[-1], ()) if each in left]
            if missing:
                todo.append(missing[0])
                continue
            ready = todo.pop()
            if ready is not op:
                del left[ready]
            order.append(ready)
    return [*order, *left]


def _check_members(graph: Graph, wanted: list[ops.Operation]) -> None:
    seen: set[ops.Operation] = set()
    for op in wanted:
        if op in seen:
            raise _not_the_same(f"`{_shown(op)}` is in the clusters twice", op)
        seen.add(op)
        if op.graph is not graph and not (op.graph is None and isinstance(op, New)):
            raise _not_the_same(f"`{_shown(op)}` is in the clusters and not in the loop", op)


def _not_the_same(message: str, op: ops.Operation | None = None) -> FencepostError:
    return FencepostError(
        message,
        [Mark(op.span)] if op is not None else [],
        code="FP509",
        exit_code=1,
        notes=[("condition", "reordering keeps every operation of the loop, and each once")],
    )


def _refused(edge: Dependency) -> FencepostError:
    first, second = _shown(edge.first), _shown(edge.second)
    return FencepostError(
        f"the order puts `{second}` in front of `{first}`",
        [Mark(edge.first.span, "has to stay above"), Mark(edge.second.span, edge.why)],
        code="FP508",
        exit_code=1,
        notes=[("dependency", f"`{first}` → `{second}`: {edge.why}")],
    )


def _shown(op: ops.Operation) -> str:
    return statement(op).removesuffix(" {")
