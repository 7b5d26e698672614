"""Where the numbers of labelled blocks may still be asked for: elsewhere blocks that differ in them are one."""

from __future__ import annotations

from fencepost.flow import Block, Flow
from fencepost.ir import ops
from fencepost.ir.buffers import View
from fencepost.ir.expr import Compare, Condition, Expr, Var, leaves
from fencepost.ir.graph import Graph


def live_numbers(flow: Flow, wanted: set[str]) -> dict[str, set[Graph]]:
    """For each number of a labelled block that matters: the blocks where it is used, or on the way to a use."""
    graphs = flow.trace.blocks
    params = {name.name for graph in graphs for name in graph.params} & wanted
    if not params:
        return {}
    before: dict[Graph, set[Graph]] = {graph: set() for graph in graphs}
    used: dict[str, set[Graph]] = {name: set() for name in params}
    for graph in graphs:
        for name in _used(graph, wanted) & params:
            used[name].add(graph)
    for block in flow.blocks:
        here = labelled(block)
        # The flow, not the branches: of a divergent branch, one side runs after the other.
        for target in block.successors:
            before[labelled(flow.blocks[target])].add(here)
        for guard in block.guards:
            for name in _in(guard.condition) & params:
                used[name].add(here)
    found: dict[str, set[Graph]] = {}
    for name, places in used.items():
        live = set(places)
        todo = list(places)
        while todo:
            graph = todo.pop()
            if any(param.name == name for param in graph.params):
                continue  # it gets its value here
            for source in before[graph] - live:
                live.add(source)
                todo.append(source)
        found[name] = live
    return found


def labelled(block: Block) -> Graph:
    """The labelled block that a block, or the call that it belongs to, stands in."""
    graph = block.calls[0].graph if block.calls else block.graph
    while graph is not None and graph.owner is not None:
        graph = graph.owner.graph
    assert graph is not None
    return graph


def _used(graph: Graph, wanted: set[str]) -> set[str]:
    """The names that a block and what is nested in it asks for."""
    found: set[str] = set()
    todo = [graph]
    while todo:
        for op in todo.pop():
            todo += ops.regions(op)
            if isinstance(op, ops.MemoryOperation):
                for view in op.views:
                    found |= _in_view(view)
            elif isinstance(op, (ops.Conditional, ops.CondBranch)):
                found |= _in(op.condition)
            elif isinstance(op, ops.Branch):
                for name, value in zip(op.names, op.args, strict=True):
                    if name.name in wanted:
                        found |= _in(value)
            elif isinstance(op, (ops.Iterate, ops.Next, ops.Give)):
                values = [name.init for name in op.carried] if isinstance(op, ops.Iterate) else op.values
                for handed in values:
                    if isinstance(handed, Expr):
                        found |= _in(handed)
    return found


def _in_view(view: View) -> set[str]:
    parts = (part for part in (view.slot, view.lo, view.hi) if part is not None)
    return set().union(*(_in(part) for part in parts))


def _in(value: Expr | Condition) -> set[str]:
    if not isinstance(value, (Expr, Compare)):
        return set()
    return {leaf.name for leaf in leaves(value) if isinstance(leaf, Var)}
