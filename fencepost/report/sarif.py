"""Findings as SARIF 2.1.0, the format that code hosts and editors read results of static analysis in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fencepost.ir.source import Span
from fencepost.report.allow_comments import Allow
from fencepost.report.located import Located, Place, relative
from fencepost.report.rule_texts import NAMES, rule_of
from fencepost.version import __version__

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "fencepost/v1"
"""Whose fingerprints they are, and of which making: another way to make them gets another name."""
CODES = list(NAMES)


def sarif_log(
    found: Sequence[Located], errors: Sequence[Located] = (), unproven: Sequence[Located] = ()
) -> dict[str, Any]:
    """One run of `check`: what was found, which files could not be judged, which kernels are not proven."""
    notifications = [_notification(each, "error") for each in errors]
    notifications += [_notification(each, "warning") for each in unproven]
    rules = [
        {
            "id": code,
            "name": rule.name,
            "shortDescription": {"text": rule.title},
            "fullDescription": {"text": rule.meaning},
            "help": {"text": rule.help},
            "defaultConfiguration": {"level": "error"},
        }
        for code, rule in ((code, rule_of(code)) for code in CODES)
    ]
    run = {
        "tool": {"driver": {"name": "fencepost", "semanticVersion": __version__, "rules": rules}},
        "invocations": [
            {"executionSuccessful": not errors, "toolExecutionNotifications": notifications},
        ],
        # Columns count characters, not the halves of surrogate pairs.
        "columnKind": "unicodeCodePoints",
        "results": [_result(each) for each in found],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def uri(file: str) -> str:
    """A file as a URI reference: relative where it lies below the current folder, as code hosts want it."""
    path = Path(relative(file))
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _result(found: Located) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": CODES.index(found.code),
        "level": found.level,
        "message": {"text": found.message},
        "locations": [_location(found.place, found.kernel)],
        "partialFingerprints": {FINGERPRINT: found.fingerprint},
        # Empty for what is not silenced: the standard wants it in all results of a run, or in none.
        "suppressions": [_suppression(found.allow)] if found.allow is not None else [],
    }
    if found.related:
        result["relatedLocations"] = [
            _location(place) | {"id": number, "message": {"text": text or "also here"}}
            for number, (place, text) in enumerate(found.related, 1)
        ]
    if found.path:
        steps = [{"location": _location(place)} for place in found.path]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if found.changes:
        replacements = [
            {
                "deletedRegion": _region(change.span),
                **({"insertedContent": {"text": change.text}} if change.text else {}),
            }
            for change in found.changes
        ]
        change = {"artifactLocation": {"uri": uri(found.file)}, "replacements": replacements}
        result["fixes"] = [{"description": {"text": found.fix}, "artifactChanges": [change]}]
    return result


def _suppression(allow: Allow) -> dict[str, Any]:
    """The comment that silences a finding; code hosts then show it as dismissed, with the reason."""
    place = Place(allow.source.name, allow.span.line, allow.span)
    return {"kind": "inSource", "justification": allow.reason, "location": _location(place)}


def _location(place: Place, kernel: str = "") -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri(place.file)}}
    if place.span is not None:
        physical["region"] = _region(place.span)
    elif place.line is not None:
        physical["region"] = {"startLine": place.line}
    location: dict[str, Any] = {"physicalLocation": physical}
    if kernel:
        location["logicalLocations"] = [{"name": kernel, "kind": "function"}]
    return location


def _region(span: Span) -> dict[str, int]:
    """A stretch of text; both count from 1, and both ends are exclusive."""
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _notification(found: Located, level: str) -> dict[str, Any]:
    code = {"descriptor": {"id": found.code}} if found.code else {}
    return {
        "level": level,
        "message": {"text": found.message},
        "locations": [_location(found.place, found.kernel)],
        **code,
    }
