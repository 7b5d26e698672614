"""What an editor shows of a text: findings with their fixes, the reasons of barriers, and what comments allow.

A text in the form of fencepost has all of these. Of a Triton module, findings and reasons are shown; its text is not
changed, since barriers of a cached module are not what gets compiled. Of CUDA and PTX, findings are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fencepost.check import Report, check
from fencepost.check.group_by_fix import Cause, causes_of
from fencepost.check.suggested_edits import applied
from fencepost.hosts.kernel_files import (
    NO_KERNEL,
    Kernels,
    is_host_code,
    is_thread_level,
    is_triton,
    read_triton,
)
from fencepost.ir.ops import Operation
from fencepost.ir.parser import parse_all
from fencepost.ir.source import FencepostError, Source, Span
from fencepost.ir.text_changes import NoLineOfItsOwn, Snapshot, TextChange
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.explain import Explain, Explained
from fencepost.report.diagnostics import Diagnostic, from_error
from fencepost.report.findings import finding_diagnostic, grouped, spans_of
from fencepost.report.silencing import Silenced, Silencer
from fencepost.report.suggestions import edits_text
from fencepost.report.words import NAMES, consequence

MOST_REASONS = 8
"""Reasons of one barrier that are shown."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that settles a finding: `check` has tried it."""

    title: str
    changes: tuple[TextChange, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A message, and its fix if one is known."""

    diagnostic: Diagnostic
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a barrier or wait is there, or why a finding is allowed."""

    span: Span
    markdown: str


@dataclass(frozen=True, slots=True)
class Document:
    """All that there is to say about a text."""

    findings: tuple[Finding, ...] = ()
    reasons: tuple[Reason, ...] = ()

    def reason_at(self, line: int) -> Reason | None:
        """What there is to say about a line, which is counted from 1: its barrier, and what is allowed there."""
        here = [reason for reason in self.reasons if reason.span.line == line]
        return Reason(here[0].span, "\n\n".join(reason.markdown for reason in here)) if here else None


def read_document(name: str, text: str) -> Document:
    """What there is to say about a text; a text that cannot be read is a finding."""
    try:
        if is_thread_level(name, text):
            return Document(tuple(_thread_findings(name, text)))
        if is_triton(name, text):
            kernels = read_triton(Source(name, text), compiled=True)
        else:
            kernels = Kernels(parse_all(text, name))
    except FencepostError as error:
        if error.code == NO_KERNEL and is_thread_level(name, text) and is_host_code(text):
            return Document()
        return Document((Finding(from_error(error)),))
    findings: list[Finding] = []
    reasons = [*_reasons(kernels)]
    silencer = Silencer()
    for kernel in kernels.to_check():
        try:
            report, silenced = silencer.apply(kernel, check(kernel))
        except FencepostError as error:
            silencer.complete = False
            findings.append(Finding(from_error(error)))
            continue
        findings += _findings(kernel, report, kernels)
        reasons += _allowed(kernel, silenced)
    warnings = (each for each in silencer.warnings() if each.source is not None and each.source.name == name)
    findings += [Finding(each) for each in warnings]
    return Document(tuple(findings), tuple(reasons))


def _thread_findings(name: str, text: str) -> Iterator[Finding]:
    """What there is to say about CUDA or PTX, for every launch: that is all that an editor knows."""
    from fencepost.hosts.ptx.files import UserOptions, judgements, read_file
    from fencepost.hosts.ptx.report.shown_findings import finding_diagnostics

    for each in judgements(read_file(name, Source(name, text), UserOptions())):
        if isinstance(each, FencepostError):
            yield Finding(from_error(each))
        else:
            yield from map(Finding, finding_diagnostics(each, by_barrier=False))


def _findings(kernel: CapturedTrace, report: Report, kernels: Kernels) -> Iterator[Finding]:
    shown, _ = grouped(kernel, report)
    for diagnostic, cause in zip(shown, causes_of(report), strict=True):
        yield Finding(diagnostic, None if kernels.translations else _fix(kernel, kernels.traces, cause))


def _allowed(kernel: CapturedTrace, silenced: Silenced) -> Iterator[Reason]:
    """What comments allow, on the line of each access that takes part, and on that of the comment."""
    source, spans = spans_of(kernel)
    lines: dict[int, tuple[Span, list[str]]] = {}
    for allow, findings in silenced.items():
        here = allow.source.name == source.name
        where = f"line {allow.span.line}" if here else f"{allow.source.name}:{allow.span.line}"
        for finding in findings:
            found = finding_diagnostic(finding, source, spans, "")
            text = f"**allowed** {allow.code}: {found.title}\n\n{allow.reason} ({where})"
            for span in [*(mark.span for mark in found.marks), allow.span if here else None]:
                if span is not None and text not in lines.setdefault(span.line, (span, []))[1]:
                    lines[span.line][1].append(text)
    for span, texts in lines.values():
        yield Reason(span, "\n\n".join(texts[:MOST_REASONS]))


def _fix(kernel: CapturedTrace, traces: Sequence[CapturedTrace], cause: Cause) -> Fix | None:
    """The edits of a cause as changes to the text."""
    if not cause.edits:
        return None
    before = Snapshot.of(traces)
    try:
        with applied(cause.edits):
            changes = before.changes()
    except NoLineOfItsOwn:
        return None
    return Fix(edits_text(cause.edits, spans_of(kernel)[1]), tuple(changes))


def _reasons(kernels: Kernels) -> Iterator[Reason]:
    for kernel in kernels.traces:
        try:
            explained = Explain().apply(kernel)
        except FencepostError:
            continue  # why it cannot be analysed is among the findings of `check`, or it checks well without
        _, spans = spans_of(kernel)
        for entry in explained.barriers:
            span = spans.get(entry.op)
            if span is not None:
                yield Reason(span, "\n".join(_lines(entry, spans)))


def _lines(entry: Explained, spans: dict[Operation, Span]) -> Iterator[str]:
    """A barrier and what it is for, in Markdown."""
    if entry.redundant:
        yield f"**redundant**: {entry.redundant}"
        return
    if not entry.hazards:
        yield entry.note or "nothing depends on it alone"
        return
    yield "**needed**"
    if entry.note:
        yield f"\n{entry.note}"
    yield ""
    for hazard in entry.hazards[:MOST_REASONS]:
        yield f"- {NAMES[hazard.kind]}: without this, {consequence(hazard, spans)}"
    if len(entry.hazards) > MOST_REASONS:
        yield f"- and {len(entry.hazards) - MOST_REASONS} more"
