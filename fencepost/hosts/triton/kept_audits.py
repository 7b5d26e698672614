"""Audits as plain data: Triton keeps them with a compiled kernel, so that one from its cache is reported on, too."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from fencepost.hosts.triton.audit import Audit
from fencepost.ir.source import Mark, Source, Span
from fencepost.report.diagnostics import Diagnostic


def written(audit: Audit) -> dict[str, Any]:
    """An audit as plain data."""
    # Races of one function share a text, which may be long.
    sources = list(dict.fromkeys(race.source for race in audit.races if race.source is not None))
    data = {each.name: getattr(audit, each.name) for each in fields(audit) if each.name != "cached"}
    data["races"] = [
        {
            "code": race.code,
            "title": race.title,
            "marks": [[asdict(mark.span) if mark.span else None, mark.text] for mark in race.marks],
            "notes": race.notes,
            "source": sources.index(race.source) if race.source is not None else None,
            "severity": race.severity,
        }
        for race in audit.races
    ]
    return {**data, "sources": [[source.name, source.text] for source in sources]}


def read(data: dict[str, Any]) -> Audit:
    """The audit that plain data stands for."""
    sources = [Source(name, text) for name, text in data["sources"]]
    races = tuple(
        Diagnostic(
            race["code"],
            race["title"],
            tuple(Mark(Span(**span) if span else None, text) for span, text in race["marks"]),
            tuple((word, text) for word, text in race["notes"]),
            sources[race["source"]] if race["source"] is not None else None,
            race["severity"],
        )
        for race in data["races"]
    )
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in data.items()
        if name not in ("races", "sources")
    }
    return Audit(**plain, races=races, cached=True)
