"""What commands print with `--json`, described by JSON Schema: one file for each command.

The version has two numbers. The second one grows when keys are added, which readers of an output need not notice; the
first one when a key goes away or means something else.
"""

from __future__ import annotations

from pathlib import Path

SCHEMA_VERSION = "1.1"
"""What every entry of an output says it follows."""
SCHEMAS = ("audit", "check", "demo", "explain", "fix", "insert", "prune", "schedule", "view")
"""The commands that print JSON of their own; `check --format sarif` follows OASIS's schema of SARIF 2.1.0."""


def schema_text(command: str) -> str:
    """The schema of what a command prints, as JSON."""
    return (Path(__file__).parent / f"{command}.json").read_text(encoding="utf-8")
