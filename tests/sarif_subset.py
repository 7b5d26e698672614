"""The part of SARIF 2.1.0 that fencepost writes, as a strict JSON Schema: a key that SARIF does not have fails.

No Python package has the standard's own schema. The classes of `sarif_om` are made from it, and a test compares this
part with them, name by name.
"""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

LINE = {"type": "integer", "minimum": 1}
TEXT = {"type": "string", "minLength": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def _list(name: str, least: int = 0) -> dict[str, Any]:
    return {"type": "array", "minItems": least, "items": _ref(name)}


OBJECTS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "SarifLog": (
        {
            "$schema": {"type": "string", "format": "uri"},
            "version": {"const": "2.1.0"},
            "runs": _list("Run"),
        },
        ("version", "runs"),
    ),
    "Run": (
        {
            "tool": _ref("Tool"),
            "invocations": _list("Invocation"),
            "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
            "results": _list("Result"),
        },
        ("tool",),
    ),
    "Tool": ({"driver": _ref("ToolComponent")}, ("driver",)),
    "ToolComponent": (
        {
            "name": TEXT,
            "semanticVersion": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
            "rules": _list("ReportingDescriptor"),
        },
        ("name",),
    ),
    "ReportingDescriptor": (
        {
            "id": TEXT,
            "name": TEXT,
            "shortDescription": _ref("MultiformatMessageString"),
            "fullDescription": _ref("MultiformatMessageString"),
            "help": _ref("MultiformatMessageString"),
            "defaultConfiguration": _ref("ReportingConfiguration"),
        },
        ("id",),
    ),
    "MultiformatMessageString": ({"text": TEXT}, ("text",)),
    "ReportingConfiguration": ({"level": LEVEL}, ()),
    "Invocation": (
        {"executionSuccessful": {"type": "boolean"}, "toolExecutionNotifications": _list("Notification")},
        ("executionSuccessful",),
    ),
    "Notification": (
        {
            "level": LEVEL,
            "message": _ref("Message"),
            "locations": _list("Location"),
            "descriptor": _ref("ReportingDescriptorReference"),
        },
        ("message",),
    ),
    "ReportingDescriptorReference": ({"id": TEXT}, ()),
    "Message": ({"text": TEXT}, ()),
    "Result": (
        {
            "ruleId": TEXT,
            "ruleIndex": {"type": "integer", "minimum": 0},
            "level": LEVEL,
            "message": _ref("Message"),
            "locations": _list("Location"),
            "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
            "relatedLocations": _list("Location"),
            "codeFlows": _list("CodeFlow"),
            "fixes": _list("Fix"),
            "suppressions": _list("Suppression"),
        },
        ("message",),
    ),
    "Suppression": (
        {
            "kind": {"enum": ["inSource", "external"]},
            "justification": TEXT,
            "location": _ref("Location"),
        },
        ("kind",),
    ),
    "Location": (
        {
            "id": {"type": "integer", "minimum": -1},
            "physicalLocation": _ref("PhysicalLocation"),
            "logicalLocations": _list("LogicalLocation"),
            "message": _ref("Message"),
        },
        (),
    ),
    "PhysicalLocation": (
        {"artifactLocation": _ref("ArtifactLocation"), "region": _ref("Region")},
        ("artifactLocation",),
    ),
    "ArtifactLocation": (
        {"uri": {"type": "string", "pattern": r"^[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+$"}},
        ("uri",),
    ),
    "LogicalLocation": ({"name": TEXT, "kind": TEXT}, ()),
    "Region": (
        {"startLine": LINE, "startColumn": LINE, "endLine": LINE, "endColumn": LINE},
        ("startLine",),
    ),
    "CodeFlow": ({"threadFlows": _list("ThreadFlow", 1)}, ("threadFlows",)),
    "ThreadFlow": ({"locations": _list("ThreadFlowLocation", 1)}, ("locations",)),
    "ThreadFlowLocation": ({"location": _ref("Location")}, ()),
    "Fix": (
        {"description": _ref("Message"), "artifactChanges": _list("ArtifactChange", 1)},
        ("artifactChanges",),
    ),
    "ArtifactChange": (
        {"artifactLocation": _ref("ArtifactLocation"), "replacements": _list("Replacement", 1)},
        ("artifactLocation", "replacements"),
    ),
    "Replacement": (
        {"deletedRegion": _ref("Region"), "insertedContent": _ref("ArtifactContent")},
        ("deletedRegion",),
    ),
    "ArtifactContent": ({"text": {"type": "string"}}, ()),
}
"""Objects by the names of their classes in `sarif_om`: their properties, and those that must be there."""

SCHEMA: dict[str, Any] = {
    "$ref": "#/$defs/SarifLog",
    "$defs": {
        name: {
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        }
        for name, (properties, required) in OBJECTS.items()
    },
}


def sarif_mistakes(log: Any) -> list[str]:
    """What is wrong with a log."""
    return [error.message for error in Draft202012Validator(SCHEMA).iter_errors(log)]
