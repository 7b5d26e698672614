"""Verdicts on PTX kernels as JSON."""

from __future__ import annotations

from typing import Any

from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.hosts.ptx.report.quoted_findings import (
    element_of,
    fix_of,
    iteration_at,
    message_of,
)
from fencepost.hosts.ptx.report.quoted_places import (
    name_of_parameter,
    worded,
)
from fencepost.hosts.ptx.verdicts import Finding, Reason, Site
from fencepost.report.allow_comments import silenced_json


def verdict_json(judged: JudgedPtx) -> dict[str, Any]:
    """The verdict on one kernel for programs."""
    verdict = judged.verdict
    return {
        "kernel": judged.name,
        "entry": verdict.kernel,
        "ok": not judged.errors,
        "proven": judged.proven,
        "verdict": verdict.verdict,
        "holds_for": worded(judged, verdict.holds_for),
        "barriers": verdict.barriers,
        "shared_accesses": verdict.shared_accesses,
        "findings": [_finding_json(judged, each) for each in verdict.findings],
        "reasons": [_reason_json(judged, each) for each in verdict.reasons],
        "notes": [worded(judged, each) for each in verdict.notes],
    } | ({"silenced": silenced_json(dict(judged.silenced))} if judged.silenced else {})


def _finding_json(judged: JudgedPtx, finding: Finding) -> dict[str, Any]:
    blocks = finding.blocks or (None, None)
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": message_of(judged, finding),
        **{
            name: site_json(site) | {"thread": list(thread), "block": block} | _loop_json(judged, finding, at)
            for at, (name, site, thread, block) in enumerate(
                zip(
                    ("first", "second"),
                    (finding.first, finding.second),
                    finding.threads,
                    blocks,
                    strict=True,
                )
            )
        },
        "bytes": [finding.bytes[0], sum(finding.bytes)] if finding.bytes else None,
        "element": element_of(judged, finding).replace("`", "") or None,
        "values": {name_of_parameter(judged, name): value for name, value in finding.values.items()},
        "fix": fix_of(judged, finding) or None,
        "build": "unoptimized" if finding.build else "compiled",
        "wait": site_json(finding.wait.site) if finding.wait is not None and finding.wait.wrong else None,
    }


def _loop_json(judged: JudgedPtx, finding: Finding, at: int) -> dict[str, Any]:
    """Where an access is in its loop, if that is known."""
    found = iteration_at(judged, finding, at)
    return {"loop": {"line": found.line, "iteration": found.iteration}} if found is not None else {}


def site_json(site: Site) -> dict[str, Any]:
    """Where an instruction stands, for programs."""
    return {
        "instruction": site.instruction,
        "ptx_line": site.ptx_line,
        "source_file": site.source_file,
        "source_line": site.source_line,
        "inlined_at": list(site.inlined_at),
    }


def _reason_json(judged: JudgedPtx, reason: Reason) -> dict[str, Any]:
    return {
        "message": worded(judged, reason.message),
        "site": site_json(reason.site) if reason.site else None,
    }
