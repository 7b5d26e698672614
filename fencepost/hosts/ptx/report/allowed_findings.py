"""Findings in CUDA and PTX that a comment allows: `// fencepost: allow FP001: reason` on the line of an access.

They are counted and shown with their reason. A run that shows a race is not looked at any further, so that what is
left is not decided: something else may be behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.hosts.ptx.report.quoted_places import line_of
from fencepost.hosts.ptx.verdicts import Finding, Reason, Site
from fencepost.report.allow_comments import Allow, read_allow_comments

HIDES = "what is silenced may hide more"


def without_allowed(judged: JudgedPtx) -> JudgedPtx:
    """A kernel without the findings that comments allow, which it keeps apart."""
    comments = read_allow_comments(judged.quoted)
    silenced: dict[Allow, list[Finding]] = {}
    left: list[Finding] = []
    for finding in judged.verdict.findings:
        lines = {line for site in (finding.first, finding.second) for line in _lines(judged, site)}
        fitting = [each for each in comments.allows if each.code == finding.code and each.line in lines]
        if fitting:
            silenced.setdefault(fitting[0], []).append(finding)
        else:
            left.append(finding)
    if not silenced:
        return judged
    verdict = replace(judged.verdict, findings=tuple(left))
    if verdict.verdict == "race" and not any(each.severity == "error" for each in left):
        verdict = replace(verdict, verdict="undecided", reasons=(Reason(HIDES),))
    kept = tuple((allow, tuple(found)) for allow, found in silenced.items())
    return replace(judged, verdict=verdict, silenced=kept)


def _lines(judged: JudgedPtx, site: Site) -> Iterator[int]:
    """The lines of the quoted text that an instruction belongs to: its own, and that of the call that is shown."""
    if judged.quoted is judged.ptx:
        yield site.ptx_line
        return
    shown = line_of(judged, site)
    if shown is not None:
        yield shown
    if site.source_line and Path(site.source_file or "").name == Path(judged.quoted.name).name:
        yield site.source_line
