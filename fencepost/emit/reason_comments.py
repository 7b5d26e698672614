"""The reason for a barrier as the comment behind it."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.analysis.hazards import Hazard


def comment_for(hazards: Sequence[Hazard], most: int = 2) -> str:
    """The reason for a barrier, short enough to stand behind it."""
    shown: dict[str, None] = {}
    for hazard in hazards:
        again = ""
        if hazard.is_loop:
            again = ", next iteration" if hazard.distance <= 1 else f", {hazard.distance} iterations later"
        if hazard.behind:
            again += ", late → early" if hazard.behind > 0 else ", early → late"
        shown.setdefault(f"{hazard.producer.noun} → {hazard.consumer.noun} {_buffers(hazard)}{again}")
    texts = list(shown)
    if not texts:
        return "no hazard needs this one alone"
    more = "; and more" if len(texts) > most else ""
    return "; ".join(texts[:most]) + more


def _buffers(hazard: Hazard) -> str:
    """The buffer that both touch, or both buffers where they share bytes under two names."""
    one = {view.buffer.name for view in hazard.producer.views}
    other = {view.buffer.name for view in hazard.consumer.views}
    if one & other:
        return "%" + sorted(one & other)[0]
    return f"%{sorted(one)[0]}/%{sorted(other)[0]}"
