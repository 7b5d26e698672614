"""What every kernel must satisfy before anything looks at its control flow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.ir import ops
from fencepost.ir.expect import check_expected
from fencepost.ir.expr import Compare, Expr, Lane, Var, Wave, is_divergent, leaves
from fencepost.ir.graph import Graph
from fencepost.ir.loop_carried import check_end, check_place, names_of
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import Body, CapturedTrace, Function

BRANCHES = (ops.Branch, ops.CondBranch, ops.Return)
VERIFIED = (*BRANCHES, *ops.NESTING, ops.Next, ops.Give, ops.SharedMemoryBarrier)
"""What there is something to say about."""


def verify_trace(trace: CapturedTrace) -> None:
    """Refuse branches that stand in the wrong place or lead nowhere, and regions that forward something else."""
    for body in (*trace.functions(), trace):  # `functions` refuses recursion
        try:
            _verify_body(body)
        except FencepostError as error:
            error.source = body.source
            raise


def _verify_body(body: Body) -> None:
    labels = {graph.name: graph for graph in body.blocks[1:]}
    handing = False
    for op in body.preorder_walk():
        if not isinstance(op, VERIFIED):
            continue
        if isinstance(op, ops.Next | ops.Give):
            check_place(op)
        elif isinstance(op, ops.Iterate | ops.Conditional):
            handing = handing or bool(names_of(op))
            for region in ops.regions(op):
                check_end(region)
        elif isinstance(op, BRANCHES):
            _check_branch(op, body, labels)
            handing = handing or (isinstance(op, ops.Branch) and bool(op.args))
        if isinstance(op, ops.Conditional | ops.CondBranch):
            _check_lanes(op)
        if isinstance(op, ops.Iterate | ops.Conditional | ops.CondBranch):
            check_expected(op)
        if isinstance(op, ops.SharedMemoryBarrier) and op.waves is not None:
            _check_waves(op, op.waves, body)
    if handing:
        _check_conditions(body)
    if len(body.blocks) > 1:
        _check_ends(body)


def _check_ends(body: Body) -> None:
    """Refuse a labelled block that does not say where to go next."""
    for graph in body.blocks:
        if not isinstance(graph.last, BRANCHES):
            name = "the entry block" if graph is body.blocks[0] else f"block ^{graph.name}"
            raise FencepostError(
                f"{name} does not end in br, cond_br or return",
                [Mark(graph.last.span if graph.last else graph.span)],
                code="FP106",
            )


def _check_waves(op: ops.SharedMemoryBarrier, waves: tuple[int, int], body: Body) -> None:
    """Refuse a barrier for waves that the kernel does not have; a function can be called from any."""
    if isinstance(body, CapturedTrace) and waves[1] > body.waves:
        raise FencepostError(
            f"a barrier for waves {waves[0]}..{waves[1]}, and there are {body.waves}", [Mark(op.span)]
        )


def _check_branch(op: ops.Terminator, body: Body, labels: dict[str, Graph]) -> None:
    if isinstance(body, Function):
        raise FencepostError(
            f"{op.mnemonic} in a function, which has no blocks and ends at its brace",
            [Mark(op.span)],
            code="FP106",
        )
    if op.graph is not None and op.graph.owner is not None:
        raise FencepostError(
            f"{op.mnemonic} inside a loop or conditional; branches stand in blocks",
            [Mark(op.span), Mark(op.graph.owner.span, "inside this")],
            code="FP106",
        )
    if op.next is not None:
        raise FencepostError(
            f"{op.mnemonic} ends its block, yet something follows",
            [Mark(op.span), Mark(op.next.span, "this can never run")],
            code="FP106",
        )
    for target in _targets(op):
        if target not in labels:
            raise FencepostError(f"there is no block ^{target}", [Mark(op.span)], code="FP104")
        _check_arguments(op, labels[target])


def _check_arguments(op: ops.Terminator, target: Graph) -> None:
    """A branch forwards as many numbers as its target has; a conditional one forwards none."""
    args = op.args if isinstance(op, ops.Branch) else ()
    if len(args) != len(target.params):
        takes = f"takes {len(target.params)}" if target.params else "takes nothing"
        notes = []
        if isinstance(op, ops.CondBranch):
            notes = [("help", "branch to a block of its own, and from there with `br`")]
        raise FencepostError(
            f"{op.mnemonic} forwards {len(args) or 'nothing'}, and ^{target.name} {takes}",
            [Mark(op.span), Mark(target.span, "the block")],
            code="FP109",
            notes=notes,
        )
    if isinstance(op, ops.Branch):
        op.names = target.params


def _targets(op: ops.Terminator) -> list[str]:
    if isinstance(op, ops.Branch):
        return [op.target]
    return [op.then, op.orelse] if isinstance(op, ops.CondBranch) else []


# ---------------------------------------------------------------- conditions that waves decide differently


def _check_lanes(op: ops.Conditional | ops.CondBranch) -> None:
    """Refuse a condition on the lane: control flow is about waves."""
    if any(isinstance(leaf, Lane) for leaf in leaves(op.condition)):
        raise FencepostError(
            "a condition on `lane`: the lanes of one wave go the same way",
            [Mark(op.span)],
            code="FP109",
            notes=[("help", "what only some lanes access is accessed by their wave: leave the `if` out")],
        )


def _check_conditions(body: Body) -> None:
    """Refuse a condition on a number that differs between waves: only `wave` itself makes a condition divergent."""
    asked = [
        (op, leaf.name)
        for op in body.preorder_walk()
        if isinstance(op, ops.Conditional | ops.CondBranch) and isinstance(op.condition, Compare)
        for leaf in leaves(op.condition)
        if isinstance(leaf, Var)
    ]
    differing = _Differing.of(body) if asked else _Differing()
    for op, name in asked:
        if differing.at(name, _root(op)):
            raise FencepostError(
                f"a condition on %{name}, which is not the same for all waves",
                [Mark(op.span), Mark(differing.names[name].span, "this can differ from wave to wave")],
                code="FP109",
                notes=[("help", "say in the condition itself how it depends on `wave`")],
            )


@dataclass(slots=True)
class _Differing:
    """The numbers that are forwarded, and where they can differ from wave to wave."""

    names: dict[str, ops.Carried] = field(default_factory=dict)
    everywhere: set[str] = field(default_factory=set)
    homes: dict[str, Graph] = field(default_factory=dict)
    """The blocks that numbers of labelled blocks belong to."""
    sides: dict[Graph | None, set[int]] = field(default_factory=dict)
    """The sides of divergent branches that each block lies on: only some waves reach it."""

    @classmethod
    def of(cls, body: Body) -> _Differing:
        """Look at everything that is forwarded."""
        found = cls(sides=_sides(body))
        for graph in body.blocks:
            found.names.update({name.name: name for name in graph.params})
            found.homes.update({name.name: graph for name in graph.params})
        heirs: dict[str, list[tuple[str, Graph | None]]] = {}
        joined: dict[str, set[Expr]] = {}
        for op, name, values in _handed(body):
            found.names[name.name] = name
            here = _root(op)
            if isinstance(op, ops.Branch) and found.beside(name.name, here):
                # It leaves a side for where the waves of another one come, too.
                joined.setdefault(name.name, set()).update(values)
                by_side = len(joined[name.name]) > 1
            else:
                by_side = _is_divergent(op) and len(set(values)) > 1
            inside = [leaf for value in values for leaf in leaves(value)]
            if by_side or any(isinstance(leaf, Wave) for leaf in inside):
                found.everywhere.add(name.name)
            for leaf in inside:
                if isinstance(leaf, Var):
                    heirs.setdefault(leaf.name, []).append((name.name, here))
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

    def beside(self, name: str, graph: Graph | None) -> bool:
        """Whether a block lies on a side that the block which a number belongs to does not lie on."""
        return not self.sides.get(graph, set()) <= self.sides.get(self.homes.get(name), set())


def _handed(body: Body) -> Iterator[tuple[ops.Operation, ops.Carried, list[Expr]]]:
    """Everything that forwards numbers: which ones, and what they can become."""
    for op in body.preorder_walk():
        if isinstance(op, ops.Branch):
            for name, value in zip(op.names, op.args, strict=True):
                yield op, name, [value]
        elif isinstance(op, ops.Iterate | ops.Conditional):
            for number, name in enumerate(names_of(op)):
                yield op, name, _values(op, name, number)


def _root(op: ops.Operation) -> Graph | None:
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
        graph: [labels[target] for target in _targets(graph.last)] if isinstance(graph.last, BRANCHES) else []
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
    return isinstance(op, ops.Conditional | ops.CondBranch) and is_divergent(op.condition)


def _values(op: ops.Iterate | ops.Conditional, name: ops.Carried, number: int) -> list[Expr]:
    """The numbers that a name is given."""
    ends = [region.last for region in ops.regions(op)]
    values = [name.init, *(end.values[number] for end in ends if isinstance(end, ops.Next | ops.Give))]
    return [value for value in values if isinstance(value, Expr)]
