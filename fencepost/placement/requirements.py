"""The seed's placement over requirements: positions in a numbered sequence, without a flow.

`Minimize` does the same on any control flow; this form is for callers that hold a list of windows of one
sequence, as Wave's pass does.
"""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.analysis.requirements import SyncRequirement


def minimize_placement_strategy(requirements: Sequence[SyncRequirement]) -> list[int]:
    """Where barriers go: each number means "right before the operation at that location".

    Windows are stabbed in the order of their ends; one that has a barrier already is skipped. A window that
    crosses an iteration is covered by a barrier behind its producer or in front of its consumer, inside the
    loop. A barrier right before the producer is outside of the window and does not count.
    """
    chosen: list[int] = []
    within = sorted(
        (r for r in requirements if not r.is_loop), key=lambda r: (r.cons_location, r.prod_location)
    )
    for window in within:
        if not any(window.prod_location < at <= window.cons_location for at in chosen):
            chosen.append(window.cons_location)
    for window in sorted((r for r in requirements if r.is_loop), key=lambda r: r.cons_location):
        behind = any(window.prod_location < at <= window.end_location for at in chosen)
        before = any(window.start_location <= at <= window.cons_location for at in chosen)
        if not (behind or before):
            chosen.append(window.cons_location)
    return sorted(chosen)
