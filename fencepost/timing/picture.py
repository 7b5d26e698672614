"""A picture of an estimate: one lane for each wave, time from left to right, as plain SVG.

Each lane has a row for every unit that the kernel uses. A box is a unit at work for this wave, the thin line after it
what is still under way; behind the rows the lane is shaded where the wave stands still. A stroke through the lane is
a barrier that the wave passes, a dotted one a signal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from fencepost.ir import ops
from fencepost.targets.table import UNITS
from fencepost.timing.result import CAVEAT, FOREVER, MEMORY, OPERAND, UNIT, WAVES, Timing, shown

COLOURS = {
    "valu": "#e69f00",
    "mma": "#0072b2",
    "lds": "#009e73",
    "vmem": "#cc79a7",
    "tensor": "#56b4e9",
}
"""Colours that people with any kind of colour vision can distinguish."""
NAMES = {
    "valu": "vector arithmetic",
    "mma": "matrix arithmetic",
    "lds": "shared memory",
    "vmem": "global memory",
    "tensor": "tensor engine",
}
SHADES = {
    MEMORY: ("waits for its own memory operations", "url(#fp-memory)"),
    WAVES: ("waits for other waves", "url(#fp-waves)"),
    OPERAND: ("waits for an operand", "#e4e4e4"),
    UNIT: ("waits for a busy unit", "#cfcfcf"),
    FOREVER: ("waits for ever", "#f3b0a8"),
}
PATTERNS = (
    '<defs><pattern id="fp-memory" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<rect width="6" height="6" fill="#efe6d2"/><path d="M0 6 6 0" stroke="#a98d4b"/></pattern>'
    '<pattern id="fp-waves" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<rect width="6" height="6" fill="#dfe1e8"/><path d="M0 0 6 6" stroke="#6c7286"/></pattern></defs>'
)
LEFT, RIGHT, TOP = 76, 24, 56
LEGEND_ROW = 18
GAP = 5


def draw(
    timing: Timing,
    *,
    title: str = "",
    start: int = 0,
    end: int | None = None,
    width: int = 1200,
    waves: Sequence[int] | None = None,
) -> str:
    """The picture of an estimate between two points of time, as the text of an SVG file; of all waves, or of some."""
    lanes = range(timing.waves) if waves is None else waves
    return _Picture(timing, title, start, timing.cycles if end is None else end, width, lanes).text()


class _Picture:
    def __init__(
        self, timing: Timing, title: str, start: int, end: int, width: int, waves: Sequence[int]
    ) -> None:
        self.timing = timing
        self.places = {wave: place for place, wave in enumerate(waves)}
        self.title = title or f"@{timing.kernel} on {timing.target}"
        self.start, self.end = start, max(end, start + 1)
        self.width = width
        self.units = [unit for unit in UNITS if any(use.unit == unit for use in timing.units)]
        self.row = 9 if len(self.places) <= 8 else 6
        self.lane = max(2, len(self.units)) * self.row + 2
        self.legend = list(self._legend())
        self.top = TOP + LEGEND_ROW * (1 + max((row for row, _, _, _ in self.legend), default=0)) + 6
        self.bottom = self.top + len(self.places) * (self.lane + GAP)

    def text(self) -> str:
        """The whole file."""
        height = self.bottom + 44
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{height}" '
            f'viewBox="0 0 {self.width} {height}" role="img" aria-label="{escape(self.title)}" '
            'font-family="system-ui, Helvetica, Arial, sans-serif" font-size="12" fill="#222">',
            f"<title>{escape(self.title)}</title>",
            f"<desc>{escape(self.timing.describe())}</desc>",
            PATTERNS,
            f'<rect width="{self.width}" height="{height}" fill="#fff"/>',
            f'<text x="{LEFT}" y="24" font-size="16" font-weight="600">{escape(self.title)}</text>',
            f'<text x="{LEFT}" y="42" fill="#555">{escape(self._summary())}</text>',
            *self._draw_legend(),
            *self._axis(),
            *self._lanes(),
            *self._stalls(),
            *self._events(),
            *self._passings(),
            "</svg>",
        ]
        return "\n".join(part for part in parts if part) + "\n"

    def _summary(self) -> str:
        timing = self.timing
        if timing.deadlock:
            text = f"deadlock: {timing.deadlock}"
        else:
            waits = f"{timing.stall_per_wave:,.0f} at synchronization"
            text = f"about {timing.cycles:,} cycles, of which a wave waits {waits}"
        return f"{text}; {CAVEAT}"

    # ------------------------------------------------------------ where things are

    def _x(self, time: int) -> float:
        inside = min(max(time, self.start), self.end) - self.start
        return round(LEFT + inside / (self.end - self.start) * (self.width - LEFT - RIGHT), 2)

    def _y(self, wave: int) -> int:
        return self.top + self.places[wave] * (self.lane + GAP)

    def _box(self, start: int, end: int, y: float, height: float, look: str, says: str) -> str:
        """A rectangle with a text for who points at it; empty if it lies outside of the picture."""
        if end <= self.start or start >= self.end:
            return ""
        x, wide = self._x(start), max(round(self._x(end) - self._x(start), 2), 0.5)
        return f'<rect x="{x}" y="{y}" width="{wide}" height="{height}" {look}><title>{escape(says)}</title></rect>'

    # ------------------------------------------------------------ what is drawn

    def _lanes(self) -> Iterator[str]:
        wide = self.width - LEFT - RIGHT
        for wave in self.places:
            y = self._y(wave)
            middle = y + self.lane / 2 + 4
            yield f'<rect x="{LEFT}" y="{y}" width="{wide}" height="{self.lane}" fill="#f7f7f8"/>'
            yield f'<text x="{LEFT - 8}" y="{middle}" text-anchor="end">wave {wave}</text>'

    def _stalls(self) -> Iterator[str]:
        for stall in self.timing.stalls:
            if stall.wave not in self.places:
                continue
            name, look = SHADES[stall.reason]
            says = f"wave {stall.wave} {name} at {shown(stall.op)}, cycles {stall.start} to {stall.end}"
            yield self._box(stall.start, stall.end, self._y(stall.wave), self.lane, f'fill="{look}"', says)

    def _events(self) -> Iterator[str]:
        for event in self.timing.events:
            if event.unit not in self.units or event.wave not in self.places:
                continue
            y = self._y(event.wave) + 1 + self.units.index(event.unit) * self.row
            colour = COLOURS[event.unit]
            says = f"wave {event.wave}: {shown(event.op)}, {NAMES[event.unit]}, cycles {event.start} to {event.end}"
            if event.done > event.end:
                says += f", complete at {event.done}"
                thin = f'fill="{colour}" fill-opacity="0.55"'
                yield self._box(event.end, event.done, y + self.row / 2 - 0.75, 1.5, thin, says)
            edge = f'fill="{colour}" stroke="#fff" stroke-width="0.4"'
            yield self._box(event.start, event.end, y + 0.5, self.row - 1, edge, says)

    def _passings(self) -> Iterator[str]:
        for passing in self.timing.passings:
            if passing.wave not in self.places:
                continue
            if isinstance(passing.op, ops.MemoryCounterWait) or not self.start <= passing.time <= self.end:
                continue
            x, y = self._x(passing.time), self._y(passing.wave)
            signal = isinstance(passing.op, ops.SharedMemoryBarrierSignal)
            dots = ' stroke-dasharray="2 2"' if signal else ""
            does = "signals" if signal else "passes"
            says = f"wave {passing.wave} {does} at cycle {passing.time}: {shown(passing.op)}"
            yield (
                f'<path d="M{x} {y - GAP / 2} V{y + self.lane + GAP / 2}" stroke="#111" stroke-width="1.4"{dots}>'
                f"<title>{escape(says)}</title></path>"
            )

    def _axis(self) -> Iterator[str]:
        step = _step(self.end - self.start)
        first = -(-self.start // step) * step
        for time in range(first, self.end + 1, step):
            x = self._x(time)
            yield f'<path d="M{x} {self.top - 4} V{self.bottom + 4}" stroke="#e3e3e6"/>'
            yield f'<text x="{x}" y="{self.bottom + 18}" text-anchor="middle" fill="#555">{time:,}</text>'
        middle = LEFT + (self.width - LEFT - RIGHT) / 2
        yield f'<text x="{middle}" y="{self.bottom + 36}" text-anchor="middle" fill="#555">cycles (estimated)</text>'

    # ------------------------------------------------------------ the legend

    def _legend(self) -> Iterator[tuple[int, float, str, str]]:
        """Row, place, look and text of every entry."""
        entries = [(f'fill="{COLOURS[unit]}"', NAMES[unit]) for unit in self.units]
        reasons = {stall.reason for stall in self.timing.stalls}
        entries += [(f'fill="{look}"', name) for reason, (name, look) in SHADES.items() if reason in reasons]
        kinds = {type(passing.op) for passing in self.timing.passings}
        if kinds - {ops.SharedMemoryBarrierSignal, ops.MemoryCounterWait}:
            entries.append(("", "passes a barrier"))
        if ops.SharedMemoryBarrierSignal in kinds:
            entries.append(('stroke-dasharray="2 2"', "signals"))
        row, x = 0, float(LEFT)
        for look, text in entries:
            wide = 36 + 6.8 * len(text)
            if x + wide > self.width - RIGHT:
                row, x = row + 1, float(LEFT)
            yield row, x, look, text
            x += wide

    def _draw_legend(self) -> Iterator[str]:
        for row, x, look, text in self.legend:
            y = TOP + row * LEGEND_ROW
            if look.startswith("fill"):
                yield f'<rect x="{x}" y="{y}" width="14" height="11" {look}/>'
            else:
                yield f'<path d="M{x + 7} {y - 2} V{y + 13}" stroke="#111" stroke-width="1.4" {look}/>'
            yield f'<text x="{x + 19}" y="{y + 10}">{escape(text)}</text>'


def _step(length: int) -> int:
    """A round number of cycles between two marks of the axis, for about ten of them."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if step * factor * 10 >= length:
                return step * factor
        step *= 10
