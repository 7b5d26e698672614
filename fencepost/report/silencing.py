"""Findings that a comment allows are counted and shown with their reason, and are not findings any more.

A finding is allowed by a comment with its code on the line of one of the operations that it is about: in the kernel's
text, or in the Python file that a Triton module says the operation was written in. What it hides is looked for: see
`isolated_accesses`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fencepost.check import Deadlock, Race, Report
from fencepost.check.group_by_fix import Finding, Judge, key_of
from fencepost.ir import ops
from fencepost.ir.source import Source
from fencepost.ir.trace import CapturedTrace
from fencepost.report.allow_comments import UNUSED, Allow, AllowComments, read_allow_comments, warning
from fencepost.report.diagnostics import Diagnostic
from fencepost.report.findings import CODES, Spans, spans_of
from fencepost.report.isolated_accesses import can_be_isolated, isolated

_PYTHON_LINE = re.compile(r"(?P<file>.+?\.py):(?P<line>\d+)(?:,|$)")
"""How a Triton module says where an operation was written."""

Silenced = dict[Allow, list[Finding]]
"""The comments that allow findings, each with those that it allows."""


@dataclass(frozen=True, slots=True)
class Places:
    """A text, and where each operation stands in it."""

    source: Source
    spans: Spans


@dataclass(frozen=True, slots=True)
class Allowed:
    """A finding that a comment allows, and the operation that the comment is about."""

    finding: Finding
    op: ops.Operation
    allow: Allow


@dataclass(slots=True)
class Silencer:
    """The comments of one file, applied to its kernels one after the other."""

    used: set[Allow] = field(default_factory=set)
    complete: bool = True
    """Whether every kernel was judged, and nothing left out: only then does an unused comment silence nothing."""
    _read: dict[str, AllowComments] = field(default_factory=dict)
    """The comments of each text, by its name."""
    _own: str = ""
    """The name of the text of the kernels themselves."""

    def apply(self, kernel: CapturedTrace, report: Report) -> tuple[Report, Silenced]:
        """The report without what is allowed, which it counts, and what is allowed by which comment."""
        source, spans = spans_of(kernel)
        self._own = source.name
        self._comments(source)
        places = Places(source, spans)
        if not self._allowed(report, places):
            self.complete &= report.explored.complete
            return report, {}
        left, allows = self._judged_without(report, places)
        self.complete &= left.explored.complete
        self.used |= set(allows)
        return left, allows

    def heed(self, source: Source, used: Iterable[Allow], *, decided: bool) -> None:
        """Take note of comments that another host has applied to a kernel of a text."""
        self._own = source.name
        self._comments(source)
        self.used |= set(used)
        self.complete &= decided

    def warnings(self) -> list[Diagnostic]:
        """What is wrong with comments: once all kernels of the file have been judged."""
        found = [each for comments in self._read.values() for each in comments.warnings]
        if not self.complete or self._own not in self._read:
            return found
        where = ("help", "take it out, or put it on the line of one of the operations, or right above")
        return found + [
            warning(UNUSED, f"this `allow {allow.code}` silences nothing", allow.source, allow.span, where)
            for allow in self._read[self._own].allows
            if allow not in self.used
        ]

    def _judged_without(self, report: Report, places: Places) -> tuple[Report, Silenced]:
        """Judge the kernel without the accesses that are allowed to race, until no other one turns out to be."""
        kernel, judge = report.kernel, report.judge
        allows: dict[object, Allowed] = {}
        apart: set[ops.MemoryOperation] = set()
        while True:
            found = self._allowed(report, places)
            now = {(*key_of(each.finding), _distance(each.finding)): each for each in found}
            allows = now | allows  # what was found in the kernel as it stands is what is shown
            accesses = {each.op for each in found if isinstance(each.finding, Race)}
            more = {op for op in accesses if can_be_isolated(op)}
            if kernel is None or judge is None or more <= apart:
                break
            apart |= more
            with isolated(apart):
                report = judge(kernel)
        left = _without(report, found)
        left.silenced = len(allows)
        if any(not set(_operations(each.finding)) <= apart for each in found):
            left.explored = replace(left.explored, limits=[*left.explored.limits])
            left.explored.cut("what is silenced may hide more")
        if judge is not None:
            # Fixes are tried on the kernel: what is allowed must not count there either.
            left.judge = lambda changed: self._judged_again(changed, judge, apart, places)
        silenced: Silenced = {}
        for each in allows.values():
            silenced.setdefault(each.allow, []).append(each.finding)
        return left, silenced

    def _judged_again(
        self, kernel: CapturedTrace, judge: Judge, apart: set[ops.MemoryOperation], places: Places
    ) -> Report:
        with isolated(apart):
            report = judge(kernel)
        return _without(report, self._allowed(report, places))

    def _allowed(self, report: Report, places: Places) -> list[Allowed]:
        """The findings that are allowed."""
        findings: list[Finding] = [*report.races, *report.deadlocks, *report.out_of_range]
        found: list[Allowed] = []
        for finding in findings:
            for op in _operations(finding):
                allow = self.allow_at(code_of(finding), op, places)
                if allow is not None:
                    found.append(Allowed(finding, op, allow))
                    break
        return found

    def allow_at(self, code: str, op: ops.Operation, places: Places) -> Allow | None:
        """The comment that allows a code at an operation."""
        span = places.spans.get(op)
        lines = [(self._comments(places.source), span.line)] if span is not None else []
        python = _PYTHON_LINE.match(op.origin)
        if python is not None:
            lines.append((self._python_comments(python["file"]), int(python["line"])))
        for comments, line in lines:
            for allow in comments.allows:
                if (allow.code, allow.line) == (code, line):
                    return allow
        return None

    def _comments(self, source: Source) -> AllowComments:
        if source.name not in self._read:
            self._read[source.name] = read_allow_comments(source)
        return self._read[source.name]

    def _python_comments(self, file: str) -> AllowComments:
        """Those of a Python file that a module names; none if it is not here, as on another machine."""
        if file not in self._read:
            path = Path(file)
            text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
            self._read[file] = read_allow_comments(Source(file, text))
        return self._read[file]


def code_of(finding: Finding) -> str:
    """The code that a finding is reported with."""
    return CODES[finding.kind if isinstance(finding, Race | Deadlock) else "out of range"]


def _operations(finding: Finding) -> Iterator[ops.Operation]:
    """The operations that a finding is about, as they stand in the text."""
    concerned: list[ops.Operation]
    if isinstance(finding, Race):
        concerned = [finding.first.op, finding.second.op]
    elif isinstance(finding, Deadlock):
        concerned = [op for op, _ in finding.ops]
    else:
        concerned = [finding.op]
    for op in concerned:
        yield op.owner or op


def _distance(finding: Finding) -> int:
    return finding.distance if isinstance(finding, Race) else 0


def _without(report: Report, allowed: Sequence[Allowed]) -> Report:
    gone = {id(each.finding) for each in allowed}
    return replace(
        report,
        races=[each for each in report.races if id(each) not in gone],
        deadlocks=[each for each in report.deadlocks if id(each) not in gone],
        out_of_range=[each for each in report.out_of_range if id(each) not in gone],
        silenced=len(gone),
    )


def warning_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """A warning about a comment, for programs."""
    (mark,) = diagnostic.marks
    assert mark.span is not None and diagnostic.source is not None
    return {
        "code": diagnostic.code,
        "message": diagnostic.title,
        "file": diagnostic.source.name,
        "line": mark.span.line,
        "column": mark.span.column,
    }
