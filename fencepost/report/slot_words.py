"""Why two accesses need no barrier of their own: their slots, in a user's words."""

from __future__ import annotations

from fencepost.ir import ops
from fencepost.ir.source import Span
from fencepost.passes.explain import SlotsApart
from fencepost.report.words import access, line_of, plural


def apart_sentence(pair: SlotsApart, spans: dict[ops.Operation, Span]) -> str:
    """When two accesses meet, and what lies between them then."""
    first = f"{access(pair.first)}{line_of(pair.first, spans)}"
    second = f"{access(pair.second)}{line_of(pair.second, spans)}"
    both = f"{first} and {second}" if pair.first is not pair.second else f"{first} and itself"
    if not pair.distances:
        return f"{both} never meet"
    least = pair.distances[0]
    when = (
        "in the same iteration"
        if least == 0
        else f"only after {plural(least, 'iteration')} of %{pair.loop.var}"
    )
    if pair.barrier is None:
        return f"{both} meet {when}, and no barrier lies between"
    return f"{both} meet {when}, and the barrier{line_of(pair.barrier, spans)} lies between"
