"""What `check` found, as a page shows it: each cause with the run that shows it, and the waits that are wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fencepost.check import Race, Report
from fencepost.check.group_by_fix import Cause, causes_of
from fencepost.check.suggested_edits import INSTEAD
from fencepost.ir import ops
from fencepost.ir.source import Source, Span
from fencepost.report.diagnostics import Diagnostic
from fencepost.report.findings import CODES, cause_diagnostic, finding_diagnostic
from fencepost.report.silencing import Silenced
from fencepost.report.suggestions import edits_text
from fencepost.report.weak_waits import reason
from fencepost.report.wrong_phase_words import as_it_happens, parity_words, shown_finding, wrong_wait
from fencepost.view.page_data import Finding, Mark
from fencepost.view.scenarios import ReportedRace, Scenarios, is_switchable

MOST_FINDINGS = 50

Spans = Mapping[ops.Operation, Span]


@dataclass(frozen=True, slots=True)
class Found:
    """One message, and the race that it is about."""

    diagnostic: Diagnostic
    race: ReportedRace | None = None
    allowed: str = ""

    def shown(self, runs: Scenarios) -> Finding:
        """As the page has it, with the run that shows it."""
        diagnostic = self.diagnostic
        marks = tuple(Mark(mark.span.line, mark.text) for mark in diagnostic.marks if mark.span is not None)
        scenario = runs.of_race.get(self.race) if self.race is not None else None
        if diagnostic.code == CODES["stuck"] and runs.runs and runs.runs[0].recording.stuck:
            scenario = 0
        return Finding(
            diagnostic.code, diagnostic.title, marks, diagnostic.notes, scenario, allowed=self.allowed
        )


@dataclass(frozen=True, slots=True)
class PageFindings:
    """Everything that was found in a kernel."""

    shown: tuple[Found, ...]
    wrong: Mapping[ops.Operation, str]
    """Barriers and waits of the kernel that are what is wrong, and in which way."""
    left_out: tuple[str, ...]

    @property
    def races(self) -> list[ReportedRace]:
        """The races that want a run."""
        return [found.race for found in self.shown if found.race is not None]


def findings_of(report: Report, silenced: Silenced, source: Source, spans: Spans) -> PageFindings:
    """One message for each cause, then what comments allow."""
    known = dict(spans)
    causes = causes_of(report)
    shown = [
        Found(cause_diagnostic(cause, source, known), _race_of(cause, spans))
        for cause in causes[:MOST_FINDINGS]
    ]
    allowed = [
        Found(
            finding_diagnostic(finding, source, known, ""),
            _reported(finding, "", spans) if isinstance(finding, Race) else None,
            allow.reason,
        )
        for allow, findings in silenced.items()
        for finding in findings
    ]
    left_out = []
    if len(causes) > MOST_FINDINGS:
        left_out.append(f"{len(causes) - MOST_FINDINGS} more causes that `check` found")
    if len(allowed) > MOST_FINDINGS:
        left_out.append(f"{len(allowed) - MOST_FINDINGS} more findings that comments allow")
    every = (*shown, *allowed[:MOST_FINDINGS])
    return PageFindings(every, _wrong(causes, source, spans), tuple(left_out))


def _race_of(cause: Cause, spans: Spans) -> ReportedRace | None:
    """The race that a message shows, in the order in which it happens."""
    finding, wrong = shown_finding(cause), wrong_wait(cause)
    if not isinstance(finding, Race):
        return None
    if wrong is not None:
        because = f"the wait on line {_line(wrong[0], spans)} returns at once"
        return _reported(as_it_happens(finding, wrong), because, spans)
    because = ""
    if finding.weak is not None:
        because = f"the wait on line {_line(finding.weak, spans)} lets it stay in flight"
    return _reported(finding, because, spans)


def _reported(race: Race, because: str, spans: Spans) -> ReportedRace:
    first, second = race.first, race.second
    lines = _line(first.op, spans), _line(second.op, spans)
    return ReportedRace(lines, (first.wave, second.wave), because)


def _wrong(causes: Sequence[Cause], source: Source, spans: Spans) -> dict[ops.Operation, str]:
    """The barriers and waits that findings are about: too weak, of the wrong phase, or in the wrong place."""
    found: dict[ops.Operation, str] = {}
    for cause in causes:
        wrong = wrong_wait(cause)
        if wrong is not None:
            found.setdefault(wrong[0], parity_words(*wrong, cause))
        for finding in cause.findings:
            if isinstance(finding, Race) and finding.weak is not None:
                found.setdefault(finding.weak, reason(finding))
        for edit in cause.edits:
            if is_switchable(edit.at) and (edit.op is None or edit.how == INSTEAD):
                found.setdefault(edit.at, edits_text(cause.edits, spans, source))
    return found


def _line(op: ops.Operation, spans: Spans) -> int:
    span = spans.get(op.owner or op)
    return span.line if span else 0
