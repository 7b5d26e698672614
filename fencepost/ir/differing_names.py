"""Which names differ from wave to wave: made from `wave`, or given on one side of a divergent branch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg, View
from fencepost.ir.expr import Expr, Unknown, Var, Wave, is_divergent, leaves
from fencepost.ir.loop_carried import names_of
from fencepost.ir.trace import Body, Graph

BRANCHES = (ops.Branch, ops.CondBranch, ops.Return)


@dataclass(slots=True)
class Differing:
    """The numbers and buffers that are forwarded, and where they can differ from wave to wave."""

    names: dict[str, ops.Carried] = field(default_factory=dict)
    everywhere: set[str] = field(default_factory=set)
    homes: dict[str, Graph] = field(default_factory=dict)
    """The blocks that numbers of labelled blocks belong to."""
    sides: dict[Graph | None, set[int]] = field(default_factory=dict)
    """The sides of divergent branches that each block lies on: only some waves reach it."""

    @classmethod
    def of(cls, body: Body) -> Differing:
        """Look at everything that is forwarded."""
        found = cls(sides=_sides(body))
        for graph in body.blocks:
            found.names.update({name.name: name for name in graph.params})
            found.homes.update({name.name: graph for name in graph.params})
        heirs: dict[str, list[tuple[str, Graph | None]]] = {}
        joined: dict[str, set[Expr | Buffer]] = {}
        for op, name, values in _handed(body):
            found.names[name.name] = name
            here = root_of(op)
            if isinstance(op, ops.Branch) and found.beside(name.name, here):
                # It leaves a side for where the waves of another one come, too.
                joined.setdefault(name.name, set()).update(values)
                by_side = _can_differ(joined[name.name])
            else:
                by_side = _is_divergent(op) and _can_differ(set(values))
            if by_side or any(map(_by_wave, values)):
                found.everywhere.add(name.name)
            for value in values:
                for used in _names_in(value):
                    heirs.setdefault(used, []).append((name.name, here))
        todo = list(found.names)
        while todo:
            source = todo.pop()
            for heir, there in heirs.get(source, ()):
                if heir not in found.everywhere and found.at(source, there):
                    found.everywhere.add(heir)
                    todo.append(heir)
        return found

    def at(self, name: str, graph: Graph | None) -> bool:
        """Whether waves that reach a block can disagree about a number there.

        What is forwarded within one side is news to the waves that are not on it.
        """
        home = self.sides.get(self.homes.get(name), set())
        return name in self.everywhere or not home <= self.sides.get(graph, set())

    def through(self, view: View, op: ops.Operation) -> bool:
        """Whether waves can touch different bytes through a view of an operation."""
        parts = [part for part in (view.slot, view.lo, view.hi, view.buffer) if part is not None]
        graph = root_of(op)
        return any(_by_wave(part) or any(self.at(name, graph) for name in _names_in(part)) for part in parts)

    def beside(self, name: str, graph: Graph | None) -> bool:
        """Whether a block lies on a side that the block which a number belongs to does not lie on."""
        return not self.sides.get(graph, set()) <= self.sides.get(self.homes.get(name), set())


def _can_differ(values: set[Expr | Buffer]) -> bool:
    """Whether what the sides of a branch give can be different numbers; each `?` is one of its own."""
    return len(values) > 1 or any(
        isinstance(value, Expr) and any(isinstance(leaf, Unknown) for leaf in leaves(value))
        for value in values
    )


def _by_wave(value: Expr | Buffer) -> bool:
    """Whether `wave` is in an expression."""
    return isinstance(value, Expr) and any(isinstance(leaf, Wave) for leaf in leaves(value))


def _names_in(value: Expr | Buffer) -> list[str]:
    """The names in an expression, or the one that stands for a buffer."""
    if isinstance(value, Buffer):
        return [value.name] if isinstance(value, BufferArg) else []
    return [leaf.name for leaf in leaves(value) if isinstance(leaf, Var)]


def _handed(body: Body) -> Iterator[tuple[ops.Operation, ops.Carried, list[Expr | Buffer]]]:
    """Everything that forwards numbers or buffers: which ones, and what they can become."""
    for op in body.preorder_walk():
        if isinstance(op, ops.Branch):
            for name, value in zip(op.names, op.args, strict=True):
                yield op, name, [value]
        elif isinstance(op, (ops.Iterate, ops.Conditional)):
            for number, name in enumerate(names_of(op)):
                yield op, name, _values(op, name, number)


def root_of(op: ops.Operation) -> Graph | None:
    """The block that an operation lies in."""
    graph = op.graph
    while graph is not None and graph.owner is not None:
        graph = graph.owner.graph
    return graph


def _sides(body: Body) -> dict[Graph | None, set[int]]:
    """For each block, the sides of divergent branches that it lies on, by number.

    A side is what can be reached from one target and not from the other before the branch is reached again.
    """
    labels = {graph.name: graph for graph in body.blocks[1:]}
    following = {
        graph: [labels[target] for target in targets_of(graph.last)]
        if isinstance(graph.last, BRANCHES)
        else []
        for graph in body.blocks
    }
    found: dict[Graph | None, set[int]] = {}
    for number, graph in enumerate(body.blocks):
        if isinstance(graph.last, ops.CondBranch) and _is_divergent(graph.last):
            ways = [_reached(target, following, graph) for target in following[graph]]
            for side, (mine, other) in enumerate((ways, ways[::-1])):
                for block in mine - other:
                    found.setdefault(block, set()).add(2 * number + side)
    return found


def _reached(start: Graph, following: dict[Graph, list[Graph]], end: Graph) -> set[Graph]:
    """The blocks that can be reached from `start`, not going on from `end`."""
    seen, todo = {start, end}, [start]
    while todo:
        for graph in following[todo.pop()]:
            if graph not in seen:
                seen.add(graph)
                todo.append(graph)
    return seen


def _is_divergent(op: ops.Operation) -> bool:
    return isinstance(op, (ops.Conditional, ops.CondBranch)) and is_divergent(op.condition)


def _values(op: ops.Iterate | ops.Conditional, name: ops.Carried, number: int) -> list[Expr | Buffer]:
    """The numbers or buffers that a name is given."""
    ends = [region.last for region in ops.regions(op)]
    values = [name.init, *(end.values[number] for end in ends if isinstance(end, (ops.Next, ops.Give)))]
    return [value for value in values if isinstance(value, (Expr, Buffer))]


def targets_of(op: ops.Terminator) -> list[str]:
    """The labels that a branch can lead to."""
    if isinstance(op, ops.Branch):
        return [op.target]
    return [op.then, op.orelse] if isinstance(op, ops.CondBranch) else []
