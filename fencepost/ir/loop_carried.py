"""Names that regions forward: the arguments of loops and the results of conditionals.

A loop's argument begins as what `carry` says and becomes what `next` says; a conditional's result is what the
side that was taken `give`s. Both can be numbers, buffers, or values (completions of async operations).
"""

from __future__ import annotations

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg
from fencepost.ir.expr import Expr
from fencepost.ir.source import FencepostError, Mark, Span
from fencepost.ir.trace import Graph


def kind_of(value: ops.Forwarded) -> str:
    """What is forwarded, in words."""
    if isinstance(value, Buffer):
        return ops.BUFFER
    return ops.NUMBER if isinstance(value, Expr) else ops.VALUE


def spelled(value: ops.Forwarded) -> str:
    """How the text form writes what is forwarded."""
    return str(value) if isinstance(value, Expr) else f"%{value.name}"


def names_of(op: ops.Iterate | ops.Conditional) -> tuple[ops.Carried, ...]:
    """What a loop or conditional forwards."""
    return op.carried if isinstance(op, ops.Iterate) else op.gives


def carry(name: str, init: ops.Forwarded, span: Span | None = None) -> ops.Carried:
    """A loop's argument."""
    carried = ops.Carried(init, name=name, span=span)
    stands_for(carried, init)
    return carried


def stands_for(name: ops.Carried, value: ops.Forwarded) -> None:
    """`name` can stand for `value`, and from now on for nothing of another kind."""
    name.kind = kind_of(value)
    if isinstance(value, Buffer):
        if name.buffer is None:
            name.buffer = BufferArg(name.name, value.slot_bytes, value.slots, span=name.span)
        _can_be(name.buffer, value)


def _can_be(argument: BufferArg, source: Buffer) -> None:
    """Pass on which buffers `argument` can stand for, to all that it is forwarded to."""
    if isinstance(source, BufferArg):
        source.heirs.append(argument)
    todo = [(argument, source.choices if isinstance(source, BufferArg) else (source,))]
    while todo:
        heir, choices = todo.pop()
        new = tuple(choice for choice in choices if choice not in heir.choices)
        if new:
            heir.choices += new
            todo += [(further, new) for further in heir.heirs]


# ---------------------------------------------------------------- the ends of regions


def forward(graph: Graph) -> None:
    """At the end of a region: refuse it, or give the names of its loop or conditional their meaning."""
    check_end(graph)
    owner, last = graph.owner, graph.last
    if isinstance(owner, (ops.Iterate, ops.Conditional)) and isinstance(last, (ops.Next, ops.Give)):
        for name, value in zip(names_of(owner), last.values, strict=True):
            stands_for(name, value)


def check_end(graph: Graph) -> None:
    """Refuse a region that does not forward what its loop or conditional names."""
    owner, last = graph.owner, graph.last
    if not isinstance(owner, (ops.Iterate, ops.Conditional)):
        return
    names = names_of(owner)
    end: type[ops.Next] | type[ops.Give] = ops.Next if isinstance(owner, ops.Iterate) else ops.Give
    if not isinstance(last, end):
        if names:
            raise _nothing_forwarded(graph, owner)
        return
    if len(last.values) != len(names):
        does = "the loop carries" if isinstance(owner, ops.Iterate) else "the conditional gives"
        named = ", ".join(f"%{name.name}" for name in names)
        raise FencepostError(
            f"{end.mnemonic} forwards {len(last.values)}, and {does} {len(names) or 'nothing'}",
            [Mark(last.span), Mark(owner.span, f"names {named}" if named else "names nothing")],
            code="FP109",
        )
    for name, value in zip(names, last.values, strict=True):
        _check_kind(name, value, last)


def _nothing_forwarded(graph: Graph, owner: ops.Iterate | ops.Conditional) -> FencepostError:
    names, last = names_of(owner), graph.last
    what = ", ".join(f"%{name.name}" for name in names)
    if isinstance(owner, ops.Iterate):
        message = f"the loop carries {what} and does not end in `next`"
    else:
        side = "holds" if graph is owner.then else "does not hold"
        message = f"nothing gives {what} where the condition {side}"
    marks = [Mark(owner.span), *([Mark(last.span, "the last statement")] if last and last.span else [])]
    notes = [("help", "both sides end in `give`")] if isinstance(owner, ops.Conditional) else []
    return FencepostError(message, marks, code="FP109", notes=notes)


def _check_kind(name: ops.Carried, value: ops.Forwarded, at: ops.Operation) -> None:
    marks = [Mark(at.span), *([Mark(name.span, "named here")] if name.span else [])]
    # The first side of a conditional decides; until then the kind is open.
    if name.kind and kind_of(value) != name.kind:
        raise FencepostError(
            f"%{name.name} is {name.kind}, and {spelled(value)} is {kind_of(value)}", marks, code="FP109"
        )
    if isinstance(value, Buffer) and name.buffer is not None and _shape(value) != _shape(name.buffer):
        raise FencepostError(
            f"%{name.name} and %{value.name} differ in shape: a name stands for buffers of one shape",
            marks,
            code="FP109",
        )


def _shape(buffer: Buffer) -> tuple[int, int]:
    return buffer.slots, buffer.slot_bytes


def check_place(op: ops.Next | ops.Give) -> None:
    """Refuse `next` and `give` anywhere but at the end of their region."""
    owner = op.graph.owner if op.graph is not None else None
    wanted: type[ops.Operation] = ops.Iterate if isinstance(op, ops.Next) else ops.Conditional
    if not isinstance(owner, wanted):
        raise misplaced(op.mnemonic, op.span)
    if op.next is not None:
        raise follows(op, op.next.span)


def misplaced(mnemonic: str, span: Span | None = None) -> FencepostError:
    """A complaint about `next` outside of a loop's body or `give` outside of a conditional's side."""
    end = "a loop's body" if mnemonic == ops.Next.mnemonic else "a conditional's side"
    return FencepostError(f"{mnemonic} stands at the end of {end} only", [Mark(span)], code="FP109")


def follows(op: ops.Next | ops.Give, span: Span | None = None) -> FencepostError:
    """A complaint about something behind `next` or `give`."""
    return FencepostError(
        f"{op.mnemonic} ends its region, yet something follows",
        [Mark(op.span), *([Mark(span, "this")] if span else [])],
        code="FP109",
    )
