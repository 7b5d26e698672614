"""A loop's new order carried back to its trace: nodes are moved, and what is new is added as Wave's own operations.

Everything is worked out, and looked at, before the first node is moved.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fencepost.hosts.wave.nodes import REGION_OF, Kind, Node, class_of, kind_of
from fencepost.hosts.wave.thread_numbers import Workgroup
from fencepost.hosts.wave.translate import Translation
from fencepost.hosts.wave.write_back import Written, written
from fencepost.ir import ops
from fencepost.ir.expr import Compare, Const, Wave
from fencepost.ir.source import FencepostError
from fencepost.schedule.loop_refusals import refusal

AT_THE_TOP = frozenset((Kind.ITER_ARG, Kind.PLACEHOLDER, Kind.SCALAR))
"""Nodes that need nothing of their region."""
MOVABLE = frozenset((Kind.READ, Kind.WRITE, Kind.GATHER, Kind.MMA))
RELATIONS = {">=": operator.ge, "<": operator.lt}


@dataclass(frozen=True, slots=True)
class Shift:
    """A conditional: what only the waves from, or up to, a given one do."""

    relation: str
    wave: int
    operations: tuple[Written, ...]


Item = Node | Written | Shift


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done to a trace."""

    trace: Any
    loop: Node
    order: tuple[Item, ...]
    """All of the loop's region but its end."""
    before: tuple[Item, ...]
    behind: tuple[Item, ...]
    workgroup: Workgroup


def check_movable(translation: Translation, loop: ops.Iterate) -> None:
    """Refuse a loop with nodes of which more is to be known than the values that they use."""
    known = {op.host for op in loop.body}.difference(translation.unknown)
    for node in _region(translation.wave_trace, loop).nodes:
        kind = kind_of(node)
        if kind in AT_THE_TOP or kind is Kind.OUTPUT:
            continue
        if node not in known or not (kind in MOVABLE or _only_computes(node, kind)):
            cls = class_of(node)
            raise refusal(
                "FP510",
                f"the loop has a {cls.__name__ if cls is not None else node.op}: {node.name}",
                "the loop reads, writes, multiplies and computes, and nothing else",
            )


def _only_computes(node: Node, kind: Kind) -> bool:
    """Whether all that a node does is to have a value."""
    from wave_lang.kernel.ops.wave_ops import get_custom

    return (
        kind in (Kind.COMPUTE, Kind.COMPARISON) and bool(node.users) and not get_custom(node).has_side_effects
    )


def plan_of(translation: Translation, loop: ops.Iterate, added: tuple[ops.Operation, ...]) -> Plan:
    """What has to be done to the trace so that its loop is as the kernel's is now."""
    assert translation.workgroup is not None
    new = set(added)
    region = _region(translation.wave_trace, loop)
    order: list[Item] = [node for node in region.nodes if kind_of(node) in AT_THE_TOP]
    # They stay at the top, as the end of the region stays at its end.
    fixed = {*order, region.output_node()}
    order += [item for op in loop.body if op in new or op.host not in fixed for item in _items(op, new)]
    _check_order(region, order)
    before: list[Item] = []
    behind: list[Item] = []
    op = loop.prev
    while op is not None and op in new:
        before[:0] = _items(op, new)
        op = op.prev
    op = loop.next
    while op is not None and op in new:
        behind += _items(op, new)
        op = op.next
    host: Node = loop.host
    return Plan(
        translation.wave_trace, host, tuple(order), tuple(before), tuple(behind), translation.workgroup
    )


def _items(op: ops.Operation, new: set[ops.Operation]) -> Iterator[Item]:
    if op not in new:
        yield op.host
    elif isinstance(op, ops.Conditional):
        condition = op.condition
        assert isinstance(condition, Compare) and isinstance(condition.lhs, Wave)
        assert isinstance(condition.rhs, Const) and condition.op in RELATIONS
        inside = [each for inner in op.then for each in _written(inner)]
        yield Shift(condition.op, condition.rhs.value, tuple(inside))
    else:
        yield from _written(op)


def _written(op: ops.Operation) -> Iterator[Written]:
    """Operations of Wave that do what a new one does: those that only schedules add, and those that barriers need."""
    if isinstance(op, ops.WorkgroupBarrier):
        yield "WorkgroupBarrier", ()
    elif isinstance(op, ops.SchedulingBarrier):
        yield "SchedulingBarrier", ([],)
    elif isinstance(op, ops.SetWavePrio):
        yield "SetWavePrio", (op.priority,)
    else:
        yield from written([op])


def _check_order(region: Any, order: list[Item]) -> None:
    """Refuse an order that has not each node once, behind all that it is given."""
    nodes: list[Node] = [item for item in order if _is_node(item)]
    wanted = {node for node in region.nodes if kind_of(node) is not Kind.OUTPUT}
    if len(nodes) != len(wanted) or set(nodes) != wanted:
        raise FencepostError("an order that loses or doubles nodes of the loop", code="FP509")
    seen: set[Node] = set()
    for node in nodes:
        for given in node.all_input_nodes:
            if given.graph is region and given not in seen:
                raise FencepostError(f"an order with {node.name} in front of {given.name}", code="FP508")
        seen.add(node)


def _is_node(item: Item) -> bool:
    return not isinstance(item, Shift | tuple)


def apply(plan: Plan) -> None:
    """Change the trace; if that fails, it is as it was."""
    region = plan.trace.get_subgraph(plan.loop.args[REGION_OF[Kind.ITERATE]])
    around, end = plan.loop.graph, region.output_node()
    was = [node for node in region.nodes if node is not end]
    regions = plan.trace.region_graph.subgraphs
    known = set(regions)
    made: list[Node] = []
    try:
        with region.inserting_before(end):
            for item in plan.order:
                if _is_node(item):
                    end.prepend(item)
                else:
                    made.append(_put(plan, item, region))
        with around.inserting_before(plan.loop):
            made += [_put(plan, item, around) for item in plan.before]
        with around.inserting_before(plan.loop.next):
            made += [_put(plan, item, around) for item in plan.behind]
    except Exception:
        for node in made:
            node.graph.erase_node(node)
        for node in was:
            end.prepend(node)
        for name in [name for name in regions if name not in known]:
            del regions[name]
        raise


def _put(plan: Plan, item: Item, region: Any) -> Node:
    from wave_lang.kernel.ops import wave_ops

    if isinstance(item, Shift):
        return _put_conditional(plan, item, region)
    name, arguments = item
    return getattr(wave_ops, name)(*arguments).add_to_graph(region, loc=_location(plan))


def _put_conditional(plan: Plan, item: Shift, region: Any) -> Node:
    from torch import fx
    from wave_lang.kernel.ops import wave_ops

    inner = fx.Graph()
    for each in item.operations:
        _put(plan, each, inner)
    name = f"fencepost_waves_{len(plan.trace.region_graph.subgraphs)}"
    condition = RELATIONS[item.relation](_number_of_wave(plan.workgroup), item.wave)
    made = wave_ops.Conditional(condition, subgraph_name=name, implicit_captures=[])
    inner.parent_op = made.add_to_graph(region, loc=_location(plan))
    plan.trace.add_subgraph(name, inner)
    return inner.parent_op


def _location(plan: Plan) -> Any:
    """What is new is there for the loop."""
    return getattr(plan.loop, "location", None)


def _number_of_wave(workgroup: Workgroup) -> Any:
    """The number of the wave as an expression of Wave: the threads of a workgroup count up dimension by dimension."""
    from wave_lang.kernel.lang.global_symbols import THREAD_0, THREAD_1, THREAD_2

    wide, high, _ = workgroup.block
    return (THREAD_0 + THREAD_1 * wide + THREAD_2 * wide * high) // workgroup.lanes


def _region(trace: Any, loop: ops.Iterate) -> Any:
    host: Node = loop.host
    return trace.get_subgraph(host.args[REGION_OF[Kind.ITERATE]])
