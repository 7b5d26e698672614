"""Two estimates of one kernel in one picture, one above the other: the waves of one SIMD, to the same scale."""

from __future__ import annotations

import re
from html import escape

from fencepost.ir.ops import Iterate
from fencepost.timing.picture import draw
from fencepost.timing.result import Timing

SHOWN = 1
"""How many iterations of the slower version are shown."""
FIRST = 4
"""The first of them: by then the waves have found their beat."""
GAP = 8


def draw_comparison(
    before: tuple[Timing, Iterate], after: tuple[Timing, Iterate], titles: tuple[str, str], width: int = 1200
) -> str:
    """A few iterations of a loop, in two versions."""
    windows = [window(timing, loop) for timing, loop in (before, after)]
    length = max(end - start for start, end in windows)
    parts, top = [], 0
    for (timing, _), (start, _), title in zip((before, after), windows, titles, strict=True):
        # All SIMDs do the same: the waves of the first show how its units are shared.
        waves = range(0, timing.waves, timing.simds)
        picture = draw(timing, title=title, start=start, end=start + length, width=width, waves=waves)
        parts.append(picture.replace("<svg ", f'<svg y="{top}" ', 1))
        top += _height(picture) + GAP
    name = escape(f"{titles[0]}; {titles[1]}")
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" viewBox="0 0 {width} {top}" '
        f'role="img" aria-label="{name}">'
    )
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def window(timing: Timing, loop: Iterate) -> tuple[int, int]:
    """From when to when the first wave runs the iterations that are shown; the whole run if there are too few."""
    begun: dict[object, list[int]] = {}
    for event in timing.events:
        if event.wave == 0 and event.op.graph is loop.body:
            begun.setdefault(event.op, []).append(event.start)
    starts = min(begun.values(), default=[])
    if len(starts) <= FIRST + SHOWN:
        return 0, timing.cycles
    return starts[FIRST], starts[FIRST + SHOWN]


def _height(picture: str) -> int:
    found = re.search(r'height="(\d+)"', picture)
    assert found is not None
    return int(found.group(1))
