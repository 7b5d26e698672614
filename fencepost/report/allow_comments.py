"""Comments that allow a finding of `check` at a place, with the reason.

write %done  # fencepost: allow FP001: all waves write the same value

Such a comment is about the statement on its own line, or, on a line of its own or behind a brace or label, about the
next statement. In Triton modules it begins with `//`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fencepost.ir.source import Mark, Source, Span
from fencepost.report.diagnostics import Diagnostic
from fencepost.report.words import plural

INVALID, UNUSED = "FP302", "FP303"
"""The codes of warnings about such comments."""
OF_CUDA = ("FP008", "FP009", "FP010")
"""Findings in CUDA and PTX alone."""
FORM = "# fencepost: allow FP001: reason"
MARK = "fencepost:"
"""What such a comment begins with."""
_COMMENT = re.compile(r"(?:#|//)\s*fencepost:\s*allow\b(?P<rest>.*)$")
_REST = re.compile(r"\s*(?P<code>\w*)\s*(?P<colon>:?)\s*(?P<reason>.*?)\s*$")
# Nothing, a brace that opens a region or a label of the text form: rewriting a file moves such a comment below.
_NO_ACCESS = re.compile(r"(?:.*\{|\s*\^.*:)?\s*")
_NO_STATEMENT = re.compile(r"\s*(?:#|//|$)")


@dataclass(frozen=True, slots=True)
class Allow:
    """One comment that can be honoured."""

    code: str
    reason: str
    source: Source
    span: Span
    """Where the comment stands."""
    line: int
    """The line that it is about."""


@dataclass(frozen=True, slots=True)
class AllowComments:
    """The comments of one text: those that can be honoured, and warnings about the others."""

    allows: tuple[Allow, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


def read_allow_comments(source: Source) -> AllowComments:
    """The comments of a text."""
    if MARK not in source.text:
        return AllowComments()
    allows: list[Allow] = []
    warnings: list[Diagnostic] = []
    for number in range(1, source.text.count("\n") + 2):
        found = _COMMENT.search(source.line(number))
        if found is None:
            continue
        span = Span(number, found.start() + 1, number, len(source.line(number).rstrip()) + 1)
        parts = _REST.match(found["rest"])
        assert parts is not None
        code = parts["code"].upper()
        problem = _problem(code, parts["colon"], parts["reason"])
        if problem:
            warnings.append(warning(INVALID, problem, source, span, ("help", f"write `{FORM}`")))
            continue
        is_alone = _NO_ACCESS.fullmatch(found.string, 0, found.start()) is not None
        about = _next_statement(source, number) if is_alone else number
        allows.append(Allow(code, parts["reason"], source, span, about))
    return AllowComments(tuple(allows), tuple(warnings))


def _problem(code: str, colon: str, reason: str) -> str:
    """Why a comment cannot be honoured; empty if it can."""
    from fencepost.codes.lookup import known_codes
    from fencepost.report.findings import CODES

    if not code:
        return "this `allow` names no code"
    if code not in known_codes():
        return f"this `allow` names {code}, which is no code"
    if code not in (*CODES.values(), *OF_CUDA):
        return f"this `allow` names {code}, which is no finding of `check`: it cannot be silenced"
    if not (colon and reason):
        return f"this `allow {code}` has no reason"
    return ""


def _next_statement(source: Source, line: int) -> int:
    """The first line below one that has more than a comment; past the end if there is none."""
    last = source.text.count("\n") + 1
    line += 1
    while line <= last and _NO_STATEMENT.match(source.line(line)):
        line += 1
    return line


def warning(code: str, title: str, source: Source, span: Span, note: tuple[str, str]) -> Diagnostic:
    """A warning about a comment."""
    return Diagnostic(code, title, (Mark(span),), (note,), source, "warning")


def silenced_lines(silenced: Mapping[Allow, Sequence[object]]) -> list[str]:
    """What was silenced, a line for each comment."""
    return [
        f"{allow.source.name}:{allow.span}: silenced {allow.code} ({plural(len(found), 'finding')}): {allow.reason}"
        for allow, found in silenced.items()
    ]


def silenced_json(silenced: Mapping[Allow, Sequence[object]]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "code": allow.code,
            "findings": len(found),
            "reason": allow.reason,
            "file": allow.source.name,
            "line": allow.span.line,
        }
        for allow, found in silenced.items()
    ]
