"""Fixes as sentences and as JSON: what to put in, take out or write otherwise, by the lines of the user's text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fencepost.check.suggested_edits import BEFORE, BEHIND, END, INSTEAD, Edit
from fencepost.ir import ops
from fencepost.ir.source import Source, Span

Spans = Mapping[ops.Operation, Span]
COUNTED = {2: "two", 3: "three"}


def edits_text(edits: Sequence[Edit], spans: Spans, source: Source | None = None) -> str:
    """What to do, in one line; with `source`, what is there is quoted as it is written."""
    steps: list[str] = []
    rest = list(edits)
    while rest:
        edit = rest.pop(0)
        if edit.op is None:
            # Taken out here and put in elsewhere is moved.
            other = rest[0] if rest and type(rest[0].op) is type(edit.at) and rest[0].how != INSTEAD else None
            if other is not None:
                rest.pop(0)
                steps.append(f"the {_name(edit.at)}{_on(edit.at, spans)} belongs {_where(other, spans)}")
            else:
                steps.append(f"take out the {_name(edit.at)}{_on(edit.at, spans)}")
        elif edit.how == INSTEAD:
            steps.append(_instead(edit, _on(edit.at, spans), _written(edit.at, spans, source)))
        else:
            same = [edit]
            while rest and rest[0].op is not None and (rest[0].at, rest[0].how) == (edit.at, edit.how):
                same.append(rest.pop(0))
            steps.append(f"{_together(same)} {_where(edit, spans)}")
    return "; and ".join(steps)


def edits_json(edits: Sequence[Edit], spans: Spans) -> list[dict[str, Any]]:
    """For programs: `how` says where the statement goes, seen from the line; without one, the line is taken out."""
    from fencepost.ir.printer import statement

    return [
        {
            "line": spans[edit.at].line if edit.at in spans else None,
            "how": edit.how if edit.op is not None else "take out",
            "statement": statement(edit.op) if edit.op is not None else None,
        }
        for edit in edits
    ]


def _together(edits: Sequence[Edit]) -> str:
    from fencepost.ir.printer import statement

    found = [edit.op for edit in edits if edit.op is not None]
    if all(type(op) is ops.SharedMemoryBarrier and statement(op) == "barrier" for op in found):
        return "a barrier" if len(found) == 1 else f"{COUNTED.get(len(found), len(found))} barriers"
    text = ", then ".join(f"`{statement(op)}`" for op in found)
    return f"{text}," if len(found) > 1 else text


def _instead(edit: Edit, on: str, written: str) -> str:
    from fencepost.ir.printer import statement

    assert edit.op is not None
    if isinstance(edit.op, ops.MbarrierWait) and isinstance(edit.at, ops.MbarrierWait):
        _, _, phase = written.partition("phase")
        return f"`phase={edit.op.phase}` instead of `phase{phase}`{on}"
    change = f"`{statement(edit.op)}` instead of `{written}`"
    if isinstance(edit.at, ops.WorkgroupBarrier) and statement(edit.op) == "barrier":
        return f"a fence at the workgroup barrier{on}: {change}"
    return f"{change}{on}"


def _written(op: ops.Operation, spans: Spans, source: Source | None) -> str:
    """An operation as it stands in the user's text."""
    from fencepost.ir.printer import statement

    span = spans.get(op)
    if source is None or span is None or op.host is not None or span.line != span.end_line:
        return statement(op)
    return source.line(span.line)[span.column - 1 : span.end_column - 1]


def _where(edit: Edit, spans: Spans) -> str:
    line = _line(edit.at, spans)
    if edit.how == END:
        return f"at the end of the loop that begins on {line}"
    if edit.how == BEHIND and isinstance(edit.at, ops.Iterate | ops.Conditional):
        what = "loop" if isinstance(edit.at, ops.Iterate) else "conditional"
        if spans.get(edit.at) is None:
            # A host's conditional barrier: the conditional has no line of its own.
            return f"outside its {what}, where all waves run it"
        return f"behind the {what} that begins on {line}"
    return f"{'behind' if edit.how == BEHIND else BEFORE} {line}"


def _line(op: ops.Operation, spans: Spans) -> str:
    span = spans.get(op)
    return f"line {span.line}" if span else f"the {op.mnemonic}"


def _on(op: ops.Operation, spans: Spans) -> str:
    span = spans.get(op)
    return f" on line {span.line}" if span else ""


def _name(op: ops.Operation) -> str:
    return {"workgroup_barrier": "workgroup barrier"}.get(op.mnemonic, op.mnemonic)
