"""The bytes of a bundle as a view: numbers for all waves together, or expressions in the number of the wave."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.hosts.wave.accesses import Bundle
from fencepost.ir.buffers import Buffer, View
from fencepost.ir.expr import Binary, Compare, Const, Expr, Select, Wave


def view_of(buffer: Buffer, bundle: Bundle) -> View:
    """The part of a buffer that a bundle touches."""
    if bundle.hi is None:
        return View(buffer)
    if bundle.by_wave:
        lows, highs = zip(*bundle.by_wave, strict=True)
        return View(buffer, None, by_wave(lows), by_wave(highs))
    if bundle.lo == 0 and bundle.hi >= buffer.size:
        return View(buffer)
    return View(buffer, None, Const(bundle.lo), Const(bundle.hi))


def by_wave(values: Sequence[int]) -> Expr:
    """An expression in the number of the wave that has a given value for each wave."""
    for every in range(1, len(values) + 1):
        # Waves stand in a grid: `every` of them in a row, and the rows one behind the other.
        step = values[1] - values[0] if every > 1 else 0
        row = values[every] - values[0] if every < len(values) else 0
        wanted = [values[0] + wave % every * step + wave // every * row for wave in range(len(values))]
        if wanted == list(values):
            return _grid(values[0], every, step, row)
    found: Expr = Const(values[-1])
    for wave in range(len(values) - 2, -1, -1):
        found = Select(Compare("==", Wave(), Const(wave)), Const(values[wave]), found)
    return found


def _grid(first: int, every: int, step: int, row: int) -> Expr:
    found: Expr = Const(first)
    if step:
        found = Binary("+", Binary("*", Binary("%", Wave(), Const(every)), Const(step)), found)
    if row:
        along = Wave() if every == 1 else Binary("//", Wave(), Const(every))
        found = Binary("+", Binary("*", along, Const(row)), found)
    return found
