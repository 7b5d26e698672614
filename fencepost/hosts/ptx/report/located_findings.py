"""Findings in CUDA and PTX with their places in files: for SARIF and annotations."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.hosts.ptx.report.quoted_findings import (
    fix_of,
)
from fencepost.hosts.ptx.report.shown_findings import _diagnostic, distinct, reason_lines
from fencepost.hosts.ptx.verdicts import Finding, Site
from fencepost.ir.source import Mark
from fencepost.report.located import Located, Place


def located_findings(judged: JudgedPtx, *, every: bool = False) -> list[Located]:
    """Findings with their places in files, for SARIF and annotations; each pair of lines once, unless `every` one."""
    found = [
        _located(judged, each)
        for each in (judged.verdict.findings if every else distinct(judged, by_barrier=False))
    ]
    allowed = ((allow, each) for allow, findings in judged.silenced for each in findings)
    return found + [replace(_located(judged, each), allow=allow) for allow, each in allowed]


def _located(judged: JudgedPtx, finding: Finding) -> Located:
    diagnostic = _diagnostic(judged, finding)
    second, first = (
        _place(judged, site, mark)
        for site, mark in zip((finding.second, finding.first), reversed(diagnostic.marks[:2]), strict=True)
    )
    notes = [f"{word}: {text}" for word, text in diagnostic.notes]
    said = [each.text for each in diagnostic.marks[:2]]
    text = "\n".join([finding.code, judged.name, finding.first.instruction, finding.second.instruction])
    return Located(
        finding.code,
        diagnostic.title,
        "\n".join([diagnostic.title, said[1], *notes]),
        second,
        ((first, said[0]),) if (first, said[0]) != (second, said[1]) else (),
        kernel=judged.name,
        fingerprint=sha256(text.encode()).hexdigest()[:32] + ":1",
        file=judged.file,
        fix=fix_of(judged, finding),
        level=finding.severity,
    )


def _place(judged: JudgedPtx, site: Site, mark: Mark) -> Place:
    if judged.quoted is judged.ptx and site.source_line and site.source_file:
        return Place(site.source_file, site.source_line)
    span = mark.span
    return Place(judged.quoted.name, span.line if span else None, span)


def located_undecided(judged: JudgedPtx) -> Located:
    """That a kernel is not decided, and why."""
    title = f"{judged.name}: not decided"
    lines = [title, *reason_lines(judged)]
    return Located("", title, "\n".join(lines), Place(judged.file), kernel=judged.name, file=judged.file)
