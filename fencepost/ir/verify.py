"""What every kernel must satisfy before anything looks at its control flow."""

from __future__ import annotations

from fencepost.ir import ops
from fencepost.ir.expect import check_expected
from fencepost.ir.expr import Compare, Expr, Lane, Var, Wave, is_divergent, leaves
from fencepost.ir.handing import check_end, check_place, names_of
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import Body, CapturedTrace, Function

BRANCHES = (ops.Branch, ops.CondBranch, ops.Return)


def verify_trace(trace: CapturedTrace) -> None:
    """Refuse branches that stand in the wrong place or lead nowhere, and regions that hand on something else."""
    for body in (*trace.functions(), trace):  # `functions` refuses recursion
        try:
            _verify_body(body)
        except FencepostError as error:
            error.source = body.source
            raise


def _verify_body(body: Body) -> None:
    labels = {graph.name for graph in body.blocks[1:]}
    handing = False
    for op in body.preorder_walk():
        if isinstance(op, ops.Next | ops.Give):
            check_place(op)
        elif isinstance(op, ops.Iterate | ops.Conditional):
            handing = handing or bool(names_of(op))
            for region in ops.regions(op):
                check_end(region)
        elif isinstance(op, BRANCHES):
            _check_branch(op, body, labels)
        if isinstance(op, ops.Conditional | ops.CondBranch):
            _check_lanes(op)
        if isinstance(op, ops.Iterate | ops.Conditional | ops.CondBranch):
            check_expected(op)
    if handing:
        _check_conditions(body)
    if len(body.blocks) > 1:
        for graph in body.blocks:
            if not isinstance(graph.last, BRANCHES):
                name = "the entry block" if graph is body.blocks[0] else f"block ^{graph.name}"
                raise FencepostError(
                    f"{name} does not end in br, cond_br or return",
                    [Mark(graph.last.span if graph.last else graph.span)],
                    code="FP106",
                )


def _check_branch(op: ops.Terminator, body: Body, labels: set[str]) -> None:
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
    differing = _differing(body)
    for op in body.preorder_walk() if differing else ():
        if not isinstance(op, ops.Conditional | ops.CondBranch) or not isinstance(op.condition, Compare):
            continue
        for leaf in leaves(op.condition):
            if isinstance(leaf, Var) and leaf.name in differing:
                raise FencepostError(
                    f"a condition on {leaf}, which is not the same for all waves",
                    [Mark(op.span), Mark(differing[leaf.name].span, "this can differ from wave to wave")],
                    code="FP109",
                    notes=[("help", "say in the condition itself how it depends on `wave`")],
                )


def _differing(body: Body) -> dict[str, ops.Carried]:
    """The numbers that are handed on and can differ from wave to wave."""
    found: dict[str, ops.Carried] = {}
    heirs: dict[str, list[ops.Carried]] = {}
    for op in body.preorder_walk():
        if not isinstance(op, ops.Iterate | ops.Conditional):
            continue
        for number, name in enumerate(names_of(op)):
            values = _values(op, name, number)
            sides_differ = (
                isinstance(op, ops.Conditional) and is_divergent(op.condition) and len(set(values)) > 1
            )
            inside = [leaf for value in values for leaf in leaves(value)]
            if sides_differ or any(isinstance(leaf, Wave) for leaf in inside):
                found[name.name] = name
            for leaf in inside:
                if isinstance(leaf, Var):
                    heirs.setdefault(leaf.name, []).append(name)
    todo = list(found)
    while todo:
        for heir in heirs.get(todo.pop(), ()):
            if heir.name not in found:
                found[heir.name] = heir
                todo.append(heir.name)
    return found


def _values(op: ops.Iterate | ops.Conditional, name: ops.Carried, number: int) -> list[Expr]:
    """The numbers that a name is given."""
    ends = [region.last for region in ops.regions(op)]
    values = [name.init, *(end.values[number] for end in ends if isinstance(end, ops.Next | ops.Give))]
    return [value for value in values if isinstance(value, Expr)]
