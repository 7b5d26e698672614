"""What was not distinguished in a kernel because that would take too long. Each of these can only add conflicts."""

from __future__ import annotations

from fencepost.analysis.access_classes import MOST_GRANULE
from fencepost.analysis.program import Program

SHOWN = 4
"""Names that are listed."""


def limits_of(program: Program) -> tuple[str, ...]:
    """The limits that were met, in words; empty if everything was distinguished that can be."""
    found: list[str] = []
    names = list(dict.fromkeys(program.instances.dropped))
    if names:
        listed = ", ".join(f"%{name}" for name in names[:SHOWN]) + (" and more" if len(names) > SHOWN else "")
        found.append(
            f"numbers with too many values, or too many combinations of them, are not followed: {listed}"
        )
    granule = program.table.granule
    if granule > 1:
        what = "whole buffers" if granule >= MOST_GRANULE else f"steps of {granule} bytes"
        found.append(f"too many different byte ranges: only {what} are distinguished")
    if program.table.solver.given_up:
        many = program.table.solver.given_up
        found.append(f"too many questions about byte ranges: {many} of them count as overlapping")
    return tuple(found)
