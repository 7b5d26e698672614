"""Findings that a comment allows are counted and shown with their reason, and are not findings any more.

A finding is allowed by a comment with its code on the line of one of the operations that it is about: in the kernel's
text, or in the Python file that a Triton module says the operation was written in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fencepost.check import Deadlock, Race, Report
from fencepost.check.group_by_fix import Finding
from fencepost.ir import ops
from fencepost.ir.source import Source
from fencepost.ir.trace import CapturedTrace
from fencepost.report.allow_comments import UNUSED, Allow, AllowComments, read_allow_comments, warning
from fencepost.report.diagnostics import Diagnostic
from fencepost.report.findings import CODES, Spans, spans_of
from fencepost.report.words import plural

_PYTHON_LINE = re.compile(r"(?P<file>.+?\.py):(?P<line>\d+)(?:,|$)")
"""How a Triton module says where an operation was written."""

Silenced = Counter[Allow]
"""The comments that allow findings, and how many each."""


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
        """The report without what is allowed, which it counts, and what allows it."""
        source, spans = spans_of(kernel)
        self._own = source.name
        self._comments(source)
        self.complete &= report.explored.complete
        found = self._allowed(report, source, spans)
        if not found:
            return report, Counter()
        self.used |= set(found.values())
        left = self._without(report, source, spans)
        judge = report.judge
        if judge is not None:
            # Fixes are tried on the kernel: what is allowed must not count there either.
            left.judge = lambda changed: self._without(judge(changed), source, spans)
        return left, Counter(found.values())

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

    def _without(self, report: Report, source: Source, spans: Spans) -> Report:
        allowed = self._allowed(report, source, spans)
        return replace(
            report,
            races=[each for each in report.races if id(each) not in allowed],
            deadlocks=[each for each in report.deadlocks if id(each) not in allowed],
            out_of_range=[each for each in report.out_of_range if id(each) not in allowed],
            silenced=len(allowed),
        )

    def _allowed(self, report: Report, source: Source, spans: Spans) -> dict[int, Allow]:
        """What allows each finding, by its identity."""
        findings: list[Finding] = [*report.races, *report.deadlocks, *report.out_of_range]
        found: dict[int, Allow] = {}
        for finding in findings:
            for op in _operations(finding):
                allow = self._allow(code_of(finding), op, source, spans)
                if allow is not None:
                    found[id(finding)] = allow
                    break
        return found

    def _allow(self, code: str, op: ops.Operation, source: Source, spans: Spans) -> Allow | None:
        """The comment that allows a code at an operation."""
        span = spans.get(op)
        places = [(self._comments(source), span.line)] if span is not None else []
        python = _PYTHON_LINE.match(op.origin)
        if python is not None:
            places.append((self._python_comments(python["file"]), int(python["line"])))
        for comments, line in places:
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


def silenced_lines(silenced: Silenced) -> list[str]:
    """What was silenced, a line for each comment."""
    return [
        f"{allow.source.name}:{allow.span}: silenced {allow.code} ({plural(count, 'finding')}): {allow.reason}"
        for allow, count in silenced.items()
    ]


def silenced_json(silenced: Silenced) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "code": allow.code,
            "findings": count,
            "reason": allow.reason,
            "file": allow.source.name,
            "line": allow.span.line,
        }
        for allow, count in silenced.items()
    ]


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
