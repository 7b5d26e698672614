"""Findings with their places in files, for whoever shows them beside the code: SARIF, annotations, editors.

A place is a line of the user's own source, where a host says which one that is; otherwise a line of the file that was
checked.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from fencepost.check import Deadlock, Race, Report
from fencepost.check.group_by_fix import Cause, Finding, causes_of
from fencepost.check.suggested_edits import Edit, applied
from fencepost.ir.source import FencepostError, Mark, Source, Span
from fencepost.ir.text_changes import NoLineOfItsOwn, Snapshot, TextChange
from fencepost.ir.trace import CapturedTrace
from fencepost.report.allow_comments import Allow
from fencepost.report.diagnostics import Diagnostic, from_error
from fencepost.report.findings import Spans, cause_diagnostic, finding_diagnostic, spans_of, steps, verdict
from fencepost.report.silencing import Silenced
from fencepost.report.suggestions import edits_text

_ORIGIN = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?:, |$)")


@dataclass(frozen=True, slots=True)
class Place:
    """A file; a line of it, if that is known; and the stretch of text, if that is."""

    file: str
    line: int | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Located:
    """One message with its places."""

    code: str
    title: str
    message: str
    """The title and what else there is to say, as several lines."""
    place: Place
    related: tuple[tuple[Place, str], ...] = ()
    """Other places, each with what to say about it."""
    path: tuple[Place, ...] = ()
    """What is executed between two accesses, both included."""
    kernel: str = ""
    fingerprint: str = ""
    """What makes it the same finding after lines above it have come or gone."""
    file: str = ""
    """The file that `changes` are changes to."""
    fix: str = ""
    changes: tuple[TextChange, ...] = ()
    """What would settle it, in words and as changes to the text, where these are known."""
    allow: Allow | None = None
    """The comment that silences it."""
    level: str = "error"
    """How bad it is: an error, or a warning."""


def located(
    trace: CapturedTrace, report: Report, *, every: bool = False, silenced: Silenced | None = None
) -> list[Located]:
    """What was found in a kernel: one message for each cause, or `every` finding by itself.

    Then what is `silenced`, each finding by itself, for whoever shows that.
    """
    source, spans = spans_of(trace)
    found: list[Located] = []
    before = Snapshot.of([trace]) if trace.source is not None and not report.ok else None
    for cause in causes_of(report):
        fix, changes = edits_text(cause.edits, spans, source), _changes(before, cause.edits)
        for shown in [Cause([each], cause.edits) for each in cause.findings] if every else [cause]:
            first = shown.findings[0]
            if every:
                diagnostic = finding_diagnostic(first, source, spans, fix)
            else:
                diagnostic = cause_diagnostic(shown, source, spans)
            one = _located(diagnostic, trace.name)
            path = _places(first, source, spans)
            found.append(replace(one, path=path, fix=fix, changes=changes))
    for allow, findings in (silenced or {}).items():
        for each in findings:
            one = _located(finding_diagnostic(each, source, spans, ""), trace.name)
            found.append(replace(one, path=_places(each, source, spans), allow=allow))
    return _numbered(found)


def located_error(error: FencepostError, file: str) -> Located:
    """Why a file could not be judged."""
    one = _located(from_error(error), "")
    return one if one.place.file else replace(one, place=Place(file), file=file)


def unproven(file: str, trace: CapturedTrace, report: Report) -> Located:
    """That nothing was found in a kernel, but not everything was looked at."""
    title = f"@{trace.name}: {verdict(report)}, and that is not a proof"
    return Located("", title, f"{title}\n{report.explored}", Place(file), kernel=trace.name, file=file)


def relative(file: str) -> str:
    """A file by its way from the current folder, if it lies below that; otherwise as it is."""
    if not Path(file).is_absolute():
        return file
    below = os.path.relpath(file)
    return file if below.startswith("..") else below


def _located(diagnostic: Diagnostic, kernel: str) -> Located:
    source = diagnostic.source or Source("", "")
    origins = diagnostic.origins or ("",) * len(diagnostic.marks)
    places = [
        (_place(origin, mark.span, source), mark.text)
        for mark, origin in zip(diagnostic.marks, origins, strict=True)
    ]
    first = places.pop(diagnostic.primary) if len(places) > diagnostic.primary else (Place(source.name), "")
    notes = [f"{word}: {text}" for word, text in diagnostic.notes]
    told = [first[1]] if first[1] else []
    if first[0].file != source.name:
        notes.append(f"note: lines without a file are those of {source.name}")
    texts = [_text(source, mark) for mark in diagnostic.marks]
    return Located(
        diagnostic.code,
        diagnostic.title,
        "\n".join([diagnostic.title, *told, *notes]),
        first[0],
        tuple(places),
        kernel=kernel,
        fingerprint="\n".join([diagnostic.code, kernel, *texts]),
        file=source.name,
    )


def _place(origin: str, span: Span | None, source: Source) -> Place:
    match = _ORIGIN.match(origin)
    if match and match["file"] != source.name:
        return Place(match["file"], int(match["line"]))
    return Place(source.name, span.line, span) if span is not None else Place(source.name)


def _places(finding: Finding, source: Source, spans: Spans) -> tuple[Place, ...]:
    """What is executed between the accesses of a finding."""
    path = steps(finding.path) if isinstance(finding, Race | Deadlock) else ()
    return tuple(_place(op.origin, spans.get(op), source) for op in path)


def _changes(before: Snapshot | None, edits: Sequence[Edit]) -> tuple[TextChange, ...]:
    """A fix as changes to the text; none where the text is a host's, or has no place for it."""
    if not edits or before is None or any(edit.at.host is not None for edit in edits):
        return ()
    with applied(edits):
        try:
            return tuple(before.changes())
        except NoLineOfItsOwn:
            return ()


def _text(source: Source, mark: Mark) -> str:
    """The text that a mark underlines, however it is spaced."""
    span = mark.span
    return " ".join(source.line(span.line)[span.column - 1 : span.end_column - 1].split()) if span else ""


def _numbered(found: Sequence[Located]) -> list[Located]:
    """With fingerprints instead of what they are made of; findings that read alike are counted."""
    seen: Counter[str] = Counter()
    result = []
    for each in found:
        seen[each.fingerprint] += 1
        digest = sha256(each.fingerprint.encode()).hexdigest()[:32]
        result.append(replace(each, fingerprint=f"{digest}:{seen[each.fingerprint]}"))
    return result
