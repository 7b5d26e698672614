"""What was taken for granted about how often loops and branches run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fencepost.flow import Assumed
from fencepost.ir.ops import Operation
from fencepost.ir.source import Span
from fencepost.report.words import plural

MOST_LINES = 6


def assumed_json(assumed: Iterable[Assumed], spans: Mapping[Operation, Span]) -> list[dict[str, Any]]:
    """For programs."""
    return [{"line": _line(each, spans), "what": each.what, "number": each.number} for each in assumed]


def assumed_words(assumed: Iterable[Assumed]) -> str:
    """For people, in one line; lines are those of the text that the kernel was read from."""
    lines: dict[tuple[str, float], list[int | None]] = {}
    for each in assumed:
        lines.setdefault((each.what, each.number), []).append(_line(each, {}))
    parts = []
    for (what, number), found in lines.items():
        known = [str(line) for line in found if line is not None]
        where = ", ".join(known[:MOST_LINES]) + (" and more" if len(known) > MOST_LINES else "")
        where = f"line{'s' if len(known) > 1 else ''} {where}" if known else plural(len(found), "place")
        if what == "trip":
            parts.append(f"loops of unknown length run {number:g} times ({where})")
        else:
            parts.append(f"branches are taken {number:.0%} of the time ({where})")
    return "; ".join(parts) + "; `expect=` says otherwise"


def _line(each: Assumed, spans: Mapping[Operation, Span]) -> int | None:
    span = spans.get(each.op) or each.op.span
    return span.line if span is not None else None
