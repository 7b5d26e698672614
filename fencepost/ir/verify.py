"""What every kernel must satisfy before anything looks at its control flow."""

from __future__ import annotations

from fencepost.ir import ops
from fencepost.ir.differing_names import BRANCHES, Differing, root_of, targets_of
from fencepost.ir.expr import Compare, Lane, Var, leaves
from fencepost.ir.limits import check_expected
from fencepost.ir.loop_carried import check_end, check_place, names_of
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import Body, CapturedTrace, Function, Graph

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
        if isinstance(op, (ops.Next, ops.Give)):
            check_place(op)
        elif isinstance(op, (ops.Iterate, ops.Conditional)):
            handing = handing or bool(names_of(op))
            for region in ops.regions(op):
                check_end(region)
        elif isinstance(op, BRANCHES):
            _check_branch(op, body, labels)
            handing = handing or (isinstance(op, ops.Branch) and bool(op.args))
        if isinstance(op, (ops.Conditional, ops.CondBranch)):
            _check_lanes(op)
        if isinstance(op, (ops.Iterate, ops.Conditional, ops.CondBranch)):
            check_expected(op)
        if isinstance(op, ops.SharedMemoryBarrier) and op.waves is not None:
            check_waves(op, op.waves, body)
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


def check_waves(op: ops.SharedMemoryBarrier, waves: tuple[int, int], body: Body) -> None:
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
    for target in targets_of(op):
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
        if isinstance(op, (ops.Conditional, ops.CondBranch)) and isinstance(op.condition, Compare)
        for leaf in leaves(op.condition)
        if isinstance(leaf, Var)
    ]
    differing = Differing.of(body) if asked else Differing()
    for op, name in asked:
        if differing.at(name, root_of(op)):
            raise FencepostError(
                f"a condition on %{name}, which is not the same for all waves",
                [Mark(op.span), Mark(differing.names[name].span, "this can differ from wave to wave")],
                code="FP109",
                notes=[("help", "say in the condition itself how it depends on `wave`")],
            )
