"""The seed's placement over requirements: positions in a numbered sequence, without a flow.

`Minimize` and `Intersect` do the same on any control flow; this form is for callers that hold a list of windows of
one sequence, as Wave's pass does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fencepost.reference.wave.windows import SyncRequirement


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


class SplitPair(NamedTuple):
    """A signal right behind the operation at one location, a wait right before the one at another.

    Where both fall into one place, the signal comes first. A wait at a graph's end is right before the location that
    follows the graph's last one. A wait that comes before its signal waits for that of the iteration before.
    """

    signal: int
    wait: int


class SplitPlacement(NamedTuple):
    """What `find_intersecting_interval_strategy` chooses."""

    pairs: list[SplitPair]
    around: list[tuple[int, int]]
    """The graphs, by their first and last location, whose loop gets a signal in front of it and a wait behind it:
    the first iteration has something to wait for then, and what the last one signals is waited for."""


def find_intersecting_interval_strategy(requirements: Sequence[SyncRequirement]) -> SplitPlacement:
    """Signals and waits for the windows of one graph: a pair for each group of windows that have places in common.

    Within an iteration, windows are taken by their starts. For those that cross into the next iteration: if there is
    a wait before the consumer and a signal behind the producer, nothing; if there is only the wait, a signal behind
    the producer and a wait at the graph's end, which then serve all of them; otherwise they share one pair that the
    loop carries. Pairs of one barrier must not overlap (the seed does not look at that): where they would, the signal
    of the new one moves down behind the other's wait, and its wait up before the other's signal.
    """
    pairs = _intersections((r.prod_location, r.cons_location) for r in requirements if not r.is_loop)
    around: list[tuple[int, int]] = []
    crossing: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for r in requirements:
        if r.is_loop:
            windows = crossing.setdefault((r.start_location, r.end_location), [])
            windows.append((r.prod_location, r.cons_location))
    for (start, end), windows in crossing.items():
        inside = [pair for pair in pairs if start <= pair.signal <= end]
        signals, waits = [pair.signal for pair in inside], [pair.wait for pair in inside]
        waited = [(p, c) for p, c in windows if any(start <= wait <= c for wait in waits)]
        uncovered = [found for found in windows if found not in waited]
        if any(not any(p <= signal <= end for signal in signals) for p, _ in waited):
            latest = max(producer for producer, _ in windows)
            pairs.append(SplitPair(max([latest, *waits]), end + 1))
        elif uncovered:
            carried = _carried(uncovered, end + 1 - start)
            pairs.append(SplitPair(max([carried.signal, *waits]), min([carried.wait, *signals])))
            around.append((start, end))
    return SplitPlacement(sorted(pairs), around)


def _intersections(windows: Iterable[tuple[int, int]]) -> list[SplitPair]:
    """Groups of windows with something in common: the latest start and the earliest end of each."""
    found: list[SplitPair] = []
    for start, end in sorted(windows):
        pair = SplitPair(start, end)
        if found:
            common = SplitPair(max(start, found[-1].signal), min(end, found[-1].wait))
            if common.signal < common.wait:
                pair = common
                found.pop()
        found.append(pair)
    return found


def _carried(windows: list[tuple[int, int]], length: int) -> SplitPair:
    """The pair for windows across iterations; all have the end of the iteration in common.

    The consumers are moved an iteration on, so that they stand behind their producers.
    """
    (shared,) = _intersections((producer, consumer + length) for producer, consumer in windows)
    return SplitPair(shared.signal, shared.wait - length)
