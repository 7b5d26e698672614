"""What an audit has found, counted and in words."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fencepost.audit.records import CLEAN, DEADLOCKS, NOT_JUDGED, RACES, VERDICTS, Record
from fencepost.report.words import plural

SHOWN_REASONS = 20
SHOWN_WRONG = 50
SHOWN_FINDINGS = 3
_DETAILS = re.compile(r"0x[0-9a-f]+|\d{4,}|'[^']*'|\"[^\"]*\"")
"""Parts of a reason that differ from entry to entry."""


@dataclass(slots=True)
class Summary:
    """Everything that was found so far."""

    verdicts: Counter[str] = field(default_factory=Counter)
    wrong: list[Record] = field(default_factory=list)
    """Those that race or hang."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why entries are not judged,"""
    examples: dict[str, str] = field(default_factory=dict)
    """and one of them for each reason."""
    not_proven: int = 0
    """Clean kernels for which that is no proof."""
    barriers: int = 0
    redundant: int = 0
    with_redundant: list[Record] = field(default_factory=list)
    not_pruned: int = 0
    """Kernels of which nothing is said about redundant barriers."""

    def add(self, record: Record) -> None:
        """Count one more entry."""
        self.verdicts[record.verdict] += 1
        if record.verdict in (RACES, DEADLOCKS):
            self.wrong.append(record)
        if record.verdict == NOT_JUDGED:
            reason = _DETAILS.sub("…", record.reason)
            self.reasons[reason] += 1
            self.examples.setdefault(reason, record.path)
        redundant = sum(len(kernel.redundant) for kernel in record.kernels)
        self.not_pruned += sum(bool(kernel.not_pruned) for kernel in record.kernels)
        self.barriers += sum(kernel.barriers for kernel in record.kernels)
        self.redundant += redundant
        self.not_proven += record.verdict not in (NOT_JUDGED, RACES, DEADLOCKS) and any(
            kernel.not_proven for kernel in record.kernels
        )
        if redundant:
            self.with_redundant.append(record)

    @property
    def total(self) -> int:
        """How many entries there are."""
        return self.verdicts.total()

    def lines(self) -> list[str]:
        """What there is to say, the table last."""
        lines: list[str] = []
        for record in sorted(self.wrong, key=lambda record: record.path)[:SHOWN_WRONG]:
            lines += _about(record)
        more = len(self.wrong) - SHOWN_WRONG
        if more > 0:
            lines.append(f"and {more} more that race or hang: -o keeps all of them")
        for reason, count in self.reasons.most_common(SHOWN_REASONS):
            lines.append(f"not judged, {count}: {reason}")
            lines.append(f"  such as {self.examples[reason]}")
        more = len(self.reasons) - SHOWN_REASONS
        if more > 0:
            lines.append(f"and {more} other reasons")
        return [*lines, *self.table()]

    def table(self) -> list[str]:
        """How many of each verdict there are, and of barriers."""
        lines = [plural(self.total, "entry", "entries")]
        for verdict in VERDICTS:
            more = f", {self.not_proven} of them not proven" if verdict == CLEAN and self.not_proven else ""
            lines.append(f"  {verdict:<12}{self.verdicts[verdict]:>8}{more}")
        where = f" (in {plural(len(self.with_redundant), 'entry', 'entries')})" if self.redundant else ""
        lines.append(f"  {'barriers':<12}{self.barriers:>8}, {self.redundant} of them redundant{where}")
        if self.not_pruned:
            kernels = plural(self.not_pruned, "kernel")
            lines.append(f"  of {kernels} it is not known which barriers are redundant: -o says why")
        return lines

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "entries": self.total,
            "verdicts": {verdict: self.verdicts[verdict] for verdict in VERDICTS},
            "not_proven": self.not_proven,
            "barriers": self.barriers,
            "redundant": self.redundant,
            "not_pruned": self.not_pruned,
            "wrong": [record.as_json() for record in self.wrong],
            "reasons": dict(self.reasons),
        }


def _about(record: Record) -> list[str]:
    """What is wrong with an entry."""
    found = [
        f"  @{kernel.name}: {each}"
        for kernel in record.kernels
        for each in (*kernel.races, *kernel.deadlocks)
    ]
    more = len(found) - SHOWN_FINDINGS
    rest = [f"  and {more} more"] if more > 0 else []
    return [f"{record.verdict}: {record.path}", *found[:SHOWN_FINDINGS], *rest]
