"""What `check` found, as diagnostics and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fencepost.check import Deadlock, OutOfRange, Race, Report, Touch
from fencepost.check.group_by_fix import Cause, Finding, causes_of
from fencepost.check.report import UNFILLED
from fencepost.ir import ops
from fencepost.ir.expr import is_divergent
from fencepost.ir.printer import locate
from fencepost.ir.source import Mark, Source, Span
from fencepost.ir.trace import CapturedTrace
from fencepost.report.diagnostics import Diagnostic, render
from fencepost.report.race_words import iteration_words, race_title, shown_op, touch_words
from fencepost.report.suggestions import edits_json, edits_text
from fencepost.report.weak_waits import LEFT, reason
from fencepost.report.words import NAMES, plural
from fencepost.report.wrong_phase_words import shown_finding, wrong_phase_diagnostic, wrong_wait

CODES = {
    "race": "FP001", "stuck": "FP002", "wait without signal": "FP003", "signalled twice": "FP003",
    "left signalled": "FP003", "too many barriers": "FP003", "wrong order": "FP004", "out of range": "FP005",
    "early arrival": "FP006", "missed phase": "FP006", "lifetime": "FP006", UNFILLED: "FP007",
}  # fmt: skip

MANY = {
    "mbarrier out of step": "mbarriers out of step",
    "read of unfilled memory": "reads of unfilled memory",
    "access out of range": "accesses out of range",
}
"""What more than one of a kind is called, where that is not an `s` at the end."""

Spans = dict[ops.Operation, Span]
MOST_TITLES = 4
MOST_SHOWN = 20
"""Causes that are shown of one kernel, unless somebody asks for more."""


def spans_of(trace: CapturedTrace) -> tuple[Source, Spans]:
    """The text that messages about `trace` refer to: the user's, or else the kernel printed."""
    if trace.source is not None:
        bodies = (trace, *trace.functions())
        operations = (op for body in bodies for op in body.preorder_walk())
        return trace.source, {op: op.span for op in operations if op.span is not None}
    return locate(trace)


def diagnostics(trace: CapturedTrace, report: Report) -> list[Diagnostic]:
    """Everything that was found, each with the places that it concerns and the fix of its cause."""
    if report.ok:
        return []
    source, spans = spans_of(trace)
    fixes = {
        id(finding): edits_text(cause.edits, spans, source)
        for cause in causes_of(report)
        for finding in cause.findings
    }
    every: list[Finding] = [*report.races, *report.deadlocks, *report.out_of_range]
    return [finding_diagnostic(finding, source, spans, fixes.get(id(finding), "")) for finding in every]


def grouped(trace: CapturedTrace, report: Report, most: int = 0) -> tuple[list[Diagnostic], int]:
    """One message for each cause, `most` of them at most, and how many causes are left out."""
    source, spans = spans_of(trace)
    causes = causes_of(report)
    shown = causes[:most] if most else causes
    return [cause_diagnostic(cause, source, spans) for cause in shown], len(causes) - len(shown)


def verdict(report: Report) -> str:
    """What was found, in a few words."""
    if report.ok and not report.silenced:
        return "no race, no deadlock" if report.proven else "nothing found"
    parts = ["nothing else found"] if report.ok else []
    parts += [
        plural(number, name, MANY.get(name, "")) for name, number in numbers_of(report).items() if number
    ]
    if report.silenced:
        parts.append(f"{report.silenced} silenced")
    return ", ".join(parts)


def numbers_of(report: Report) -> dict[str, int]:
    """How much was found, by what it is."""
    unfilled = sum(each.kind == UNFILLED for each in report.deadlocks)
    out_of_step = sum(CODES[each.kind] == "FP006" for each in report.deadlocks)
    return {
        "race": len(report.races),
        "deadlock": len(report.deadlocks) - unfilled - out_of_step,
        "mbarrier out of step": out_of_step,
        "read of unfilled memory": unfilled,
        "access out of range": len(report.out_of_range),
    }


def printed(report: Report) -> str:
    """A report as the command line prints it."""
    if report.kernel is None:
        return f"{verdict(report)} ({report.explored})"
    shown, left = grouped(report.kernel, report, MOST_SHOWN)
    parts = [f"{render(diagnostic).plain}\n" for diagnostic in shown]
    parts += [f"{not_shown(left)}\n"] if left else []
    if shown and report.kernel.source is None:
        # Whoever has built it in Python has never seen these lines.
        parts.append(f"(lines of @{report.kernel.name} are those that `print` shows of the kernel)\n")
    return "".join([*parts, f"@{report.kernel.name}: {verdict(report)} ({report.explored})"])


def not_shown(causes: int) -> str:
    """That there is more."""
    return plural(causes, "more cause is not shown", "more causes are not shown")


def cause_diagnostic(cause: Cause, source: Source, spans: Spans) -> Diagnostic:
    """One message for all that has the same cause."""
    first = cause.findings[0]
    found = finding_diagnostic(first, source, spans, edits_text(cause.edits, spans, source))
    wrong = wrong_wait(cause)
    if wrong is not None:
        found = wrong_phase_diagnostic(found, cause, wrong, spans)
    notes = list(found.notes)
    said = shown_finding(cause)
    others = [each for each in cause.findings if each is not said]
    if others and cause.edits:
        word, text = notes.pop()
        notes.append((word, f"{text}; it would also {_settles(others, spans)}"))
    elif others:
        titles = [_title_with_lines(other, source, spans) for other in others[:MOST_TITLES]]
        more = [f"{len(others) - MOST_TITLES} more"] if len(others) > MOST_TITLES else []
        notes.append(("also", "; ".join([*dict.fromkeys(titles), *more])))
    return replace(found, notes=tuple(notes))


def _title_with_lines(finding: Finding, source: Source, spans: Spans) -> str:
    """What a finding is, where no excerpt shows it: of a race, with the lines of the two accesses."""
    title = finding_diagnostic(finding, source, spans, "").title
    lines = _lines((finding.first.op, finding.second.op), spans) if isinstance(finding, Race) else ""
    return f"{title} ({lines})" if lines else title


def _settles(findings: Sequence[Finding], spans: Spans) -> str:
    """What else a fix settles: the first of them, and how many more."""
    first = findings[0]
    more = f" and {len(findings) - 1} more" if len(findings) > 1 else ""
    if not isinstance(first, Race):
        return f"settle {plural(len(findings), 'other finding')}"
    when = " of the next iteration" if first.distance else ""
    return f"cover the {NAMES[first.hazard]} {_lines((first.first.op, first.second.op), spans)}{when}{more}"


def finding_diagnostic(finding: Finding, source: Source, spans: Spans, fix: str) -> Diagnostic:
    """One finding by itself; `fix` is what would settle it, in words."""
    if isinstance(finding, Race):
        return _race(finding, source, spans, fix)
    if isinstance(finding, Deadlock):
        return _deadlock(finding, source, spans, fix)
    return _out_of_range(finding, source, spans)


def _race(race: Race, source: Source, spans: Spans, fix: str) -> Diagnostic:
    marks = [
        Mark(spans.get(shown_op(race.first.op)), touch_words(race.first)),
        Mark(spans.get(shown_op(race.second.op)), touch_words(race.second, race)),
    ]
    written = [op.origin for op in (shown_op(race.first.op), shown_op(race.second.op))]
    origins = [*written]
    if race.weak is not None:
        marks.append(Mark(spans.get(race.weak), LEFT))
        origins.append(race.weak.origin)
    path, why = _lines(race.path, spans), reason(race)
    if path and why.endswith("between them"):
        notes = [("why", f"{why} on the path {path}")]
    else:
        notes = [("why", why), *([("path", path)] if path else [])]
    if race.first.calls or race.second.calls:
        notes.append(
            ("calls", f"the first {_called(race.first.calls)}, the second {_called(race.second.calls)}")
        )
    here = {f"{source.name}:{mark.span.line}" for mark in marks if mark.span is not None}
    if all(written) and not here.issuperset(written):
        notes.append(("written", f"the first in {written[0]}; the second in {written[1]}"))
    if race.weak is not None and race.weak.origin:
        notes.append(("waited", f"in {race.weak.origin}"))
    if fix:
        notes.append(("fix", fix))
    elif race.fix is not None and race.fix.before is None and race.kind == "race" and race.unfenced is None:
        notes.append(("note", race.fix.what))
    found = Diagnostic(CODES[race.kind], race_title(race), tuple(marks), tuple(notes), source)
    return replace(found, primary=1, origins=tuple(origins))


def _called(calls: tuple[ops.Call, ...]) -> str:
    """The path to an access."""
    if not calls:
        return "in the kernel itself"
    steps = [f"@{call.function.name}" + (f" (line {call.span.line})" if call.span else "") for call in calls]
    return "in " + " → ".join(steps)


def _lines(path: tuple[ops.Operation, ...], spans: Spans, most: int = 9) -> str:
    lines = [str(spans[op].line) for op in steps(path) if op in spans]
    if len(lines) > most:
        lines = [*lines[: most - 4], "…", *lines[-3:]]
    return " → ".join(lines)


def steps(path: Sequence[ops.Operation]) -> list[ops.Operation]:
    """A path as the text has it: the parts of one operation are one step."""
    return [
        shown_op(op)
        for number, op in enumerate(path)
        if op.owner is None or number == 0 or path[number - 1].owner is not op.owner
    ]


def _deadlock(deadlock: Deadlock, source: Source, spans: Spans, fix: str) -> Diagnostic:
    ops_ = [*deadlock.ops, *_who_gets_there(deadlock)]
    marks = tuple(Mark(spans.get(shown_op(op)), text) for op, text in ops_)
    # Where a conditional keeps the others away, the path of the wave that waits says nothing.
    path = _lines(deadlock.path, spans) if len(ops_) == len(deadlock.ops) else ""
    notes = [("path", path)] if path else []
    written = [origin for op, _ in deadlock.ops if (origin := shown_op(op).origin)]
    if written:
        notes.append(("written", "; ".join(dict.fromkeys(written))))
    if fix:
        notes.append(("fix", fix))
    origins = tuple(shown_op(op).origin for op, _ in ops_)
    return Diagnostic(CODES[deadlock.kind], deadlock.message, marks, tuple(notes), source, origins=origins)


def _who_gets_there(deadlock: Deadlock) -> list[tuple[ops.Operation, str]]:
    """For a barrier that some waves never reach: the conditional around it that they do not enter."""
    if deadlock.kind != "stuck" or len(deadlock.ops) > 1:
        return []
    here = shown_op(deadlock.ops[0][0])
    while here.graph is not None and here.graph.owner is not None:
        inside, here = here.graph, here.graph.owner
        if isinstance(here, ops.Conditional) and is_divergent(here.condition):
            side = "this" if inside is here.then else "the other"
            return [(here, f"only waves with `{here.condition}` take {side} side")]
    return []


def _out_of_range(finding: OutOfRange, source: Source, spans: Spans) -> Diagnostic:
    when = iteration_words(finding.op, finding.iteration, finding.calls)
    mark = Mark(spans.get(shown_op(finding.op)), when.removeprefix(", "))
    notes = (("calls", _called(finding.calls)),) if finding.calls else ()
    origins = (shown_op(finding.op).origin,)
    return Diagnostic(CODES["out of range"], finding.message, (mark,), notes, source, origins=origins)


# ---------------------------------------------------------------- JSON


def report_json(trace: CapturedTrace, report: Report) -> dict[str, Any]:
    """The verdict on one kernel for programs."""
    source, spans = spans_of(trace)
    causes = causes_of(report)
    fixes = [edits_text(cause.edits, spans, source) or None for cause in causes]
    number = {id(finding): place for place, cause in enumerate(causes) for finding in cause.findings}
    return {
        "kernel": trace.name,
        "ok": report.ok,
        "proven": report.proven,
        "causes": [
            {
                "findings": len(cause.findings),
                "fix": fix,
                "edits": edits_json(cause.edits, spans),
            }
            for cause, fix in zip(causes, fixes, strict=True)
        ],
        "races": [
            _race_json(race, spans, number[id(race)], fixes[number[id(race)]]) for race in report.races
        ],
        "deadlocks": [
            {
                "cause": number[id(deadlock)],
                "code": CODES[deadlock.kind],
                "kind": deadlock.kind,
                "message": deadlock.message,
                "operations": [op_json(op, spans) | {"note": text} for op, text in deadlock.ops],
                "path": _path_json(deadlock.path, spans),
            }
            for deadlock in report.deadlocks
        ],
        "out_of_range": [
            {
                "cause": number[id(finding)],
                "code": "FP005",
                "operation": op_json(finding.op, spans),
                "iteration": dict(finding.iteration),
            }
            for finding in report.out_of_range
        ],
        "explored": {
            "method": report.explored.method,
            "complete": report.explored.complete,
            "accesses": report.explored.accesses,
            "steps": report.explored.steps,
            "paths": report.explored.paths,
            "limits": report.explored.limits,
            **({"not_followed": list(report.explored.not_followed)} if report.explored.not_followed else {}),
            **({"unjudged": list(report.explored.unjudged)} if report.explored.unjudged else {}),
        },
    }


def op_json(op: ops.Operation, spans: Spans) -> dict[str, Any]:
    """An operation: what it is and where it stands."""
    from fencepost.ir.printer import statement

    op = shown_op(op)
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


def _race_json(race: Race, spans: Spans, number: int, fix: str | None) -> dict[str, Any]:
    return {
        "cause": number,
        "code": CODES[race.kind],
        "kind": race.kind,
        "hazard": race.hazard,
        "first": _touch_json(race.first, spans),
        "second": _touch_json(race.second, spans),
        "distance": race.distance,
        "why": reason(race),
        "path": _path_json(race.path, spans),
        "weak_wait": op_json(race.weak, spans) if race.weak else None,
        "fix": fix,
    }


def _path_json(path: tuple[ops.Operation, ...], spans: Spans) -> list[int]:
    return [spans[op].line for op in steps(path) if op in spans]
