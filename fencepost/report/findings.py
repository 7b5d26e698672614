"""What `check` found, as diagnostics and as JSON."""

from __future__ import annotations

from typing import Any

from fencepost.check import Deadlock, OutOfRange, Race, Report, Touch
from fencepost.check.report import Fix
from fencepost.ir import ops
from fencepost.ir.printer import locate
from fencepost.ir.source import Mark, Source, Span
from fencepost.ir.trace import CapturedTrace
from fencepost.report.diagnostics import Diagnostic
from fencepost.report.words import NAMES, access, noun, place

CODES = {
    "race": "FP001", "stuck": "FP002", "wait without signal": "FP003", "signalled twice": "FP003",
    "left signalled": "FP003", "too many barriers": "FP003", "wrong order": "FP004", "out of range": "FP005",
    "early arrival": "FP006", "missed phase": "FP006",
}  # fmt: skip

Spans = dict[ops.Operation, Span]


def spans_of(trace: CapturedTrace) -> tuple[Source, Spans]:
    """The text that messages about `trace` refer to: the user's, or else the kernel printed."""
    if trace.source is not None:
        bodies = (trace, *trace.functions())
        operations = (op for body in bodies for op in body.preorder_walk())
        return trace.source, {op: op.span for op in operations if op.span is not None}
    return locate(trace)


def diagnostics(trace: CapturedTrace, report: Report) -> list[Diagnostic]:
    """Everything that was found, each with the places that it concerns."""
    source, spans = spans_of(trace)
    found = [_race(race, source, spans) for race in report.races]
    found += [_deadlock(deadlock, source, spans) for deadlock in report.deadlocks]
    found += [_out_of_range(finding, source, spans) for finding in report.out_of_range]
    return found


def _race(race: Race, source: Source, spans: Spans) -> Diagnostic:
    marks = [
        Mark(spans.get(_shown(race.first.op)), _touch(race.first)),
        Mark(spans.get(_shown(race.second.op)), _touch(race.second, race)),
    ]
    if race.weak is not None:
        marks.append(Mark(spans.get(race.weak), "this wait may leave it outstanding"))
    path = _lines(race.path, spans)
    if path and race.why.endswith("between them"):
        notes = [("why", f"{race.why} on the path {path}")]
    else:
        notes = [("why", race.why), *([("path", path)] if path else [])]
    if race.first.calls or race.second.calls:
        notes.append(
            ("calls", f"the first {_called(race.first.calls)}, the second {_called(race.second.calls)}")
        )
    written = [op.origin for op in (_shown(race.first.op), _shown(race.second.op))]
    if all(written):
        notes.append(("written", f"the first in {written[0]}; the second in {written[1]}"))
    if race.weak is not None and race.weak.origin:
        notes.append(("waited", f"in {race.weak.origin}"))
    if race.fix is not None:
        notes.append(("fix", fix_text(race.fix, spans)))
    return Diagnostic(CODES[race.kind], _title(race), tuple(marks), tuple(notes), source)


def _shown(op: ops.Operation) -> ops.Operation:
    """The operation that stands in the text: itself, or the one that it is a part of."""
    return op.owner or op


def _called(calls: tuple[ops.Call, ...]) -> str:
    """How execution came to where an access stands."""
    if not calls:
        return "in the kernel itself"
    steps = [f"@{call.function.name}" + (f" (line {call.span.line})" if call.span else "") for call in calls]
    return "in " + " → ".join(steps)


def _both_called(first: tuple[ops.Call, ...], second: tuple[ops.Call, ...]) -> str:
    if first == second:
        return f"both {_called(first)}"
    return f"the first {_called(first)}, the second {_called(second)}"


def _title(race: Race) -> str:
    first, second = race.first, race.second
    one, two = f"wave {first.wave}", f"wave {second.wave}"
    if race.kind == "wrong order":
        late = f"{two}'s {access(second.op)}"
        return f"{late} comes before {one}'s {noun(first.op)}, which it must follow"
    same = place(first.op) == place(second.op)
    what = "it" if same else f"{place(first.op)}, which shares bytes with it"
    if _engine_reads(second):
        two += "'s engine"
    if _engine_reads(first):
        return (
            f"{two} can {_verb(second)} {place(second.op)} while {one}'s engine may still be reading {what}"
        )
    if first.by_engine:
        return f"{two} can {_verb(second)} {place(second.op)} while {one}'s copy into it is under way"
    done = "read" if race.hazard == "WAR" else _participle(first)
    return f"{two} can {_verb(second)} {place(second.op)} before {one} has {done} {what}"


def _engine_reads(touch: Touch) -> bool:
    return touch.by_engine and touch.verb == "reads"


def _verb(touch: Touch) -> str:
    return {"reads": "read", "writes": "write", "updates": "update", "copies into": "start a copy into"}[
        touch.verb
    ]


def _participle(touch: Touch) -> str:
    return {"writes": "written", "updates": "updated"}.get(touch.verb, touch.verb)


def _touch(touch: Touch, race: Race | None = None) -> str:
    when = ""
    if touch.iteration:
        when = ", " + ", ".join(f"{name} = {value}" for name, value in touch.iteration)
    elif race is not None and race.distance:
        when = ", in the next iteration" if race.distance == 1 else f", {race.distance} iterations later"
    bytes_ = f"bytes {touch.bytes.lo}..{touch.bytes.hi}"
    who = f"wave {touch.wave}'s engine" if _engine_reads(touch) else f"wave {touch.wave}"
    return f"{who} {touch.verb} {bytes_}{when}"


def fix_text(fix: Fix, spans: Spans) -> str:
    """The fix as a sentence."""
    if fix.before is None:
        return fix.what
    span = spans.get(_shown(fix.before))
    where = f"line {span.line}" if span else f"the {fix.before.mnemonic}"
    text = f"{fix.what} before {where}"
    if fix.also:
        other = fix.also[0]
        pair = f"{_lines((other.first.op, other.second.op), spans)}"
        when = " of the next iteration" if other.distance else ""
        more = f" and {len(fix.also) - 1} more" if len(fix.also) > 1 else ""
        text += f"; it would also cover the {NAMES[other.hazard]} {pair}{when}{more}"
    return text


def _lines(path: tuple[ops.Operation, ...], spans: Spans, most: int = 9) -> str:
    lines = [str(spans[op].line) for op in _steps(path) if op in spans]
    if len(lines) > most:
        lines = [*lines[: most - 4], "…", *lines[-3:]]
    return " → ".join(lines)


def _steps(path: tuple[ops.Operation, ...]) -> list[ops.Operation]:
    """A path as the text has it: the parts of one operation are one step."""
    return [
        _shown(op)
        for number, op in enumerate(path)
        if op.owner is None or number == 0 or path[number - 1].owner is not op.owner
    ]


def _deadlock(deadlock: Deadlock, source: Source, spans: Spans) -> Diagnostic:
    marks = tuple(Mark(spans.get(_shown(op)), text) for op, text in deadlock.ops)
    path = _lines(deadlock.path, spans)
    notes = [("path", path)] if path else []
    written = [origin for op, _ in deadlock.ops if (origin := _shown(op).origin)]
    if written:
        notes.append(("written", "; ".join(dict.fromkeys(written))))
    return Diagnostic(CODES[deadlock.kind], deadlock.message, marks, tuple(notes), source)


def _out_of_range(finding: OutOfRange, source: Source, spans: Spans) -> Diagnostic:
    when = ", ".join(f"{name} = {value}" for name, value in finding.iteration)
    mark = Mark(spans.get(_shown(finding.op)), when and f"with {when}")
    notes = (("calls", _called(finding.calls)),) if finding.calls else ()
    return Diagnostic(CODES["out of range"], finding.message, (mark,), notes, source)


# ---------------------------------------------------------------- JSON


def report_json(trace: CapturedTrace, report: Report) -> dict[str, Any]:
    """The verdict on one kernel for programs."""
    _, spans = spans_of(trace)
    return {
        "kernel": trace.name,
        "ok": report.ok,
        "races": [_race_json(race, spans) for race in report.races],
        "deadlocks": [
            {
                "code": CODES[deadlock.kind],
                "kind": deadlock.kind,
                "message": deadlock.message,
                "operations": [op_json(op, spans) | {"note": text} for op, text in deadlock.ops],
                "path": _path_json(deadlock.path, spans),
            }
            for deadlock in report.deadlocks
        ],
        "out_of_range": [
            {"code": "FP005", "operation": op_json(finding.op, spans), "iteration": dict(finding.iteration)}
            for finding in report.out_of_range
        ],
        "explored": {
            "method": report.explored.method,
            "complete": report.explored.complete,
            "accesses": report.explored.accesses,
            "steps": report.explored.steps,
            "paths": report.explored.paths,
            "limits": report.explored.limits,
            **({"unjudged": list(report.explored.unjudged)} if report.explored.unjudged else {}),
        },
    }


def op_json(op: ops.Operation, spans: Spans) -> dict[str, Any]:
    """An operation: what it is and where it stands."""
    from fencepost.ir.printer import statement

    op = _shown(op)
    span = spans.get(op)
    place_ = {"line": span.line, "column": span.column} if span else {"line": None, "column": None}
    return {"text": statement(op).removesuffix(" {"), **place_}


def _touch_json(touch: Touch, spans: Spans) -> dict[str, Any]:
    found = op_json(touch.op, spans) | {
        "wave": touch.wave,
        "iteration": dict(touch.iteration),
        "bytes": [touch.bytes.lo, touch.bytes.hi],
        "by_engine": touch.by_engine,
    }
    return found | {"calls": [op_json(call, spans) for call in touch.calls]} if touch.calls else found


def _race_json(race: Race, spans: Spans) -> dict[str, Any]:
    return {
        "code": CODES[race.kind],
        "kind": race.kind,
        "hazard": race.hazard,
        "first": _touch_json(race.first, spans),
        "second": _touch_json(race.second, spans),
        "distance": race.distance,
        "why": race.why,
        "path": _path_json(race.path, spans),
        "weak_wait": op_json(race.weak, spans) if race.weak else None,
        "fix": fix_text(race.fix, spans) if race.fix else None,
    }


def _path_json(path: tuple[ops.Operation, ...], spans: Spans) -> list[int]:
    return [spans[op].line for op in _steps(path) if op in spans]
