"""Changes to a kernel that a finding suggests: what would be put in, taken out or written otherwise, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from fencepost.ir import ops
from fencepost.ir.expr import Var, leaves
from fencepost.ir.trace import CapturedTrace, Graph

BEFORE, BEHIND, INSTEAD, END = "before", "behind", "instead of", "at the end of"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change. Without an `op`, what stands at `at` is taken out."""

    at: ops.Operation
    op: ops.Operation | None = None
    how: str = BEFORE
    """Before `at`, behind it, instead of it, or at the end of its body, if it is a loop."""


def in_scope(trace: CapturedTrace, edit: Edit) -> bool:
    """Whether the names that a new operation uses can be used where it goes."""
    if not isinstance(edit.op, ops.MbarrierOperation):
        return True
    known = _names(edit.at) | set(trace.numbers)
    around = edit.at.graph.owner if edit.at.graph is not None else None
    while around is not None:
        if isinstance(around, ops.Iterate):
            known.add(around.var)
        around = around.graph.owner if around.graph is not None else None
    return _names(edit.op) <= known


def _names(op: ops.Operation) -> set[str]:
    """The numbers that an operation uses."""
    views = op.views if isinstance(op, ops.MemoryOperation) else ()
    parts = [part for view in views for part in (view.slot, view.lo, view.hi) if part is not None]
    parts += [op.phase] if isinstance(op, ops.MbarrierWait) else []
    return {leaf.name for part in parts for leaf in leaves(part) if isinstance(leaf, Var)}


@contextmanager
def applied(edits: Sequence[Edit]) -> Iterator[None]:
    """The kernel with these changes, for as long as it is looked at."""
    with ExitStack() as undo:
        for edit in edits:
            _apply(edit, undo)
        yield


def _apply(edit: Edit, undo: ExitStack) -> None:
    at = edit.at
    graph = at.graph
    assert graph is not None
    if edit.how == END:
        assert isinstance(at, ops.Iterate) and edit.op is not None
        graph, last = at.body, at.body.last
        if isinstance(last, ops.Next):
            graph.insert_before(last, edit.op)
        else:
            graph.append(edit.op)
        undo.callback(graph.remove, edit.op)
        return
    if edit.op is not None:
        (graph.insert_after if edit.how == BEHIND else graph.insert_before)(at, edit.op)
        undo.callback(graph.remove, edit.op)
    if edit.op is None or edit.how == INSTEAD:
        behind = at.next
        graph.remove(at)
        undo.callback(_put_back, graph, at, behind)


def _put_back(graph: Graph, op: ops.Operation, behind: ops.Operation | None) -> None:
    if behind is None:
        graph.append(op)
    else:
        graph.insert_before(behind, op)
