"""Functions that are called: whether all waves surely meet in one.

Where every way through a function crosses a barrier, the caller's accesses in front of the call and those behind it
are ordered. Barriers of the author count as well: of a private function, none is taken out (`write_back.removable`).
"""

from __future__ import annotations

from collections.abc import Callable

from fencepost.hosts.triton.mlir.attributes import Symbol
from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.ir import ops
from fencepost.ir.trace import CapturedTrace


def callee(module: Module, call: Operation) -> Operation | None:
    """The private function that a call runs, if it is in the module and has a body."""
    symbol = call.attributes.get("callee")
    if not isinstance(symbol, Symbol):
        return None
    named = (each for each in module.functions() if each.string("sym_name") == symbol.name)
    return next((each for each in named if each.string("sym_visibility") == "private"), None)


def always_meets(
    module: Module, call: Operation, trace_of: Callable[[Module, Operation], CapturedTrace | None]
) -> bool:
    """Whether every way through the function that a call runs crosses a barrier of all its waves."""
    function = callee(module, call)
    if function is None:
        return False
    if function not in module.meets:
        # Who calls itself gets no credit for the call.
        module.meets[function] = False
        trace = trace_of(module, function)
        module.meets[function] = trace is not None and _is_crossed(trace)
    return module.meets[function]


def _is_crossed(trace: CapturedTrace) -> bool:
    """Whether no way leads from the first block to an end without a barrier."""
    graphs = {graph.name: graph for graph in trace.blocks}
    seen, todo = {trace.blocks[0].name}, [trace.blocks[0]]
    while todo:
        graph = todo.pop()
        if any(isinstance(op, ops.Exchange) or _is_barrier(op) for op in graph):
            continue
        end = graph.last
        if not isinstance(end, (ops.Branch, ops.CondBranch)):
            return False
        ways = (end.target,) if isinstance(end, ops.Branch) else (end.then, end.orelse)
        todo += [graphs[way] for way in ways if way not in seen]
        seen.update(ways)
    return True


def _is_barrier(op: ops.Operation) -> bool:
    return isinstance(op, ops.SharedMemoryBarrier) and op.waves is None
