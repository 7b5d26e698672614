"""Loops among labelled blocks: what structured control flow says by itself.

Loops are found as strongly connected components, then again inside each with its header taken away,
so that irreducible control flow (a loop entered in two places) has loops too; its header is the entry
that comes first. Which block is called the header decides costs, wording and what one instance of a group is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.flow.blocks import Loop, reverse_postorder
from fencepost.ir import ops
from fencepost.ir.trace import CapturedTrace


@dataclass(slots=True)
class Shape:
    """Control flow between labelled blocks, which are numbered as in the trace."""

    successors: list[list[int]]
    loop_of: list[int]
    loops: list[Loop] = field(default_factory=list)
    """`header` and `latches` are numbers of labelled blocks here; each loop comes after the one around it."""
    inside: dict[int, list[int | Loop]] = field(default_factory=dict)
    """For each loop, and -1 for the kernel: the blocks and loops directly in it, in the order of one pass."""


def read_shape(trace: CapturedTrace) -> Shape:
    """The edges and loops of a kernel's labelled blocks."""
    number = {graph.name: index for index, graph in enumerate(trace.blocks) if index}
    successors: list[list[int]] = []
    for graph in trace.blocks:
        end = graph.last
        if isinstance(end, ops.Branch):
            successors.append([number[end.target]])
        elif isinstance(end, ops.CondBranch):
            successors.append(list(dict.fromkeys([number[end.then], number[end.orelse]])))
        else:
            successors.append([])
    count = len(successors)
    shape = Shape(successors, [-1] * count)
    _find_loops(shape, trace, reverse_postorder(successors))
    return shape


def _find_loops(shape: Shape, trace: CapturedTrace, order: list[int]) -> None:
    place = {block: number for number, block in enumerate(order)}
    predecessors: list[list[int]] = [[] for _ in shape.successors]
    for block in order:
        for following in shape.successors[block]:
            predecessors[following].append(block)
    todo: list[tuple[set[int], set[int], int]] = [(set(order), set(), -1)]
    while todo:
        blocks, headers, parent = todo.pop()
        inside: list[int | Loop] = []
        for component in _components(shape.successors, blocks, headers):
            first = min(component)
            if len(component) == 1 and (first in headers or first not in shape.successors[first]):
                inside.append(first)
                continue
            entries = [b for b in component if b == 0 or any(p not in component for p in predecessors[b])]
            header = min(entries, key=place.__getitem__)
            latches = sorted(block for block in predecessors[header] if block in component)
            loop = _new_loop(shape, trace, parent, header, latches)
            inside.append(loop)
            for block in component:
                shape.loop_of[block] = loop.index
            todo.append((component, headers | {header}, loop.index))
        inside.reverse()  # components come with those first that lead to no other
        shape.inside[parent] = inside


def _new_loop(shape: Shape, trace: CapturedTrace, parent: int, header: int, latches: list[int]) -> Loop:
    depth = 1 if parent < 0 else shape.loops[parent].depth + 1
    ends = [trace.blocks[latch].last for latch in latches]
    trips = [end.trip for end in ends if isinstance(end, ops.CondBranch) and end.trip is not None]
    loop = Loop(len(shape.loops), parent, header, depth, max(trips, default=None), None, latches)
    shape.loops.append(loop)
    return loop


def _components(successors: list[list[int]], blocks: set[int], headers: set[int]) -> Iterator[set[int]]:
    """Tarjan's strongly connected components of `blocks`, edges into `headers` left out."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    for root in sorted(blocks):
        if root in index:
            continue
        todo: list[tuple[int, Iterator[int]]] = []
        following: int | None = root
        while following is not None or todo:
            if following is not None:
                index[following] = low[following] = len(index)
                stack.append(following)
                on_stack.add(following)
                todo.append((following, iter(successors[following])))
            block, rest = todo[-1]
            following = None
            for candidate in rest:
                if candidate not in blocks or candidate in headers:
                    continue
                if candidate not in index:
                    following = candidate
                    break
                if candidate in on_stack:
                    low[block] = min(low[block], index[candidate])
            if following is not None:
                continue
            todo.pop()
            if todo:
                low[todo[-1][0]] = min(low[todo[-1][0]], low[block])
            if low[block] == index[block]:
                component: set[int] = set()
                while block not in component:
                    component.add(stack.pop())
                on_stack -= component
                yield component
