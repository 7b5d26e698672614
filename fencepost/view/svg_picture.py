"""A kernel as one static picture: its text, its hazard windows, and a run that shows a race or how none happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

from fencepost.report.words import plural
from fencepost.view.page_data import Barrier, KernelPage, Page, Recording, RunRace, Scenario, Window
from fencepost.view.recording import ACTIONS, BLOCKED, HELD

MOST_LINES = 90
"""Of a longer text, those around what matters are shown."""
MOST_COLUMNS = 110
MOST_BARS = 6
"""Windows that stand side by side for each buffer."""
MOST_SHOWN_STEPS = 44
MOST_LANES = 16
MOST_FINDINGS = 4
"""Findings that are written out below a kernel that is not played."""
ROW, CHARACTER, BAR, CELL, LANE, LEFT = 18, 7.3, 12, 20, 22, 14
KINDS = {"RAW": "#0969c8", "WAR": "#b35900", "WAW": "#8250a8"}
RACE = "#c4122f"
FILLS = {
    **dict.fromkeys("re", "#cfe3f7"), **dict.fromkeys("wu", "#ffdfb8"), "c": "#e8d5f2",
    **dict.fromkeys("mgk", "#e3e7ea"), **dict.fromkeys("bts", "#bfe8da"), **dict.fromkeys("ov", "#f9d3e0"),
    BLOCKED: "#ffffff", HELD: "#ffffff",
}  # fmt: skip
LETTERS = {"m": "·", "k": "–", BLOCKED: "…", HELD: "z"}
"""Other actions are their own letter."""
SANS = "font-family=\"system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif\""
MONO = "font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\""


def svg_picture(page: Page, kernel: KernelPage) -> str:
    """The text of an SVG file."""
    return _Picture(page.texts[kernel.text].lines, kernel).text()


@dataclass(frozen=True, slots=True)
class _Bar:
    """A window, and where it stands."""

    window: Window
    x: float


class _Picture:
    """One picture, from top to bottom."""

    def __init__(self, lines: Sequence[str], kernel: KernelPage) -> None:
        self.kernel = kernel
        self.lines = lines
        self.scenario = _most_telling(kernel)
        self.rows = _rows(lines, kernel, self.scenario)
        longest = max((len(lines[line - 1]) for line in self.rows if line), default=0)
        self.text_width = 60 + min(max(longest, 30), MOST_COLUMNS) * CHARACTER + 20
        self.heads: list[tuple[str, float]] = []
        self.left_out = 0
        self.bars = self._place_bars()
        self.top = 84
        self.width = max(self.text_width + self.bars_width + LEFT, 560, self._run_width())
        self.bottom = self.top + len(self.rows) * ROW

    def text(self) -> str:
        """The whole file."""
        parts = [*self._head(), *self._code(), *self._windows()]
        height = float(self.bottom + 12)
        if self.scenario is not None:
            parts += self._run(self.scenario)
            height = self._run_bottom(self.scenario.recording)
        elif self.kernel.findings:
            parts += self._findings()
            height = self.bottom + 34 + len(self._sentences()) * ROW
        title = escape(f"{self.kernel.title}: {self.kernel.verdict}")
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:.0f}" height="{height:.0f}" '
                f'viewBox="0 0 {self.width:.0f} {height:.0f}" role="img" aria-label="{title}" {SANS} '
                'font-size="12" fill="#1c2128">',
                f"<title>{title}</title>",
                f'<rect width="{self.width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
                *parts,
                "</svg>",
                "",
            ]
        )

    # ------------------------------------------------------------ the head

    def _head(self) -> Iterator[str]:
        kernel = self.kernel
        sign, colour = ("✓", "#1a7f37") if kernel.ok else ("✗", RACE)
        yield f'<text x="{LEFT}" y="24" font-size="16" font-weight="600">{escape(kernel.title)}</text>'
        words = kernel.verdict.partition(" (")[0]
        count = plural(len(kernel.windows), "hazard window")
        who = escape(kernel.launch) or plural(kernel.waves, "wave")
        yield f'<text x="{LEFT}" y="44" fill="{colour}">{sign} {escape(words)}'
        yield f'<tspan fill="#57606a"> · {who} · {count}</tspan></text>'
        x = float(LEFT)
        for kind, name in (
            ("RAW", "RAW read after write"),
            ("WAR", "WAR write after read"),
            ("WAW", "WAW write after write"),
        ):
            if any(window.kind == kind for window in kernel.windows):
                yield from _stem(kind, x + 5, 54, 68, dashed=False)
                yield f'<text x="{x + 14}" y="65" font-size="11" fill="#57606a">{name}</text>'
                x += 32 + 6.3 * len(name)
        if any(not window.covered for window in kernel.windows):
            yield f'<text x="{x}" y="65" font-size="11" fill="{RACE}">dashed: nothing covers it</text>'

    # ------------------------------------------------------------ the kernel and its windows

    def _y(self, line: int) -> float:
        return self.top + self.rows.index(line) * ROW

    def _code(self) -> Iterator[str]:
        barriers = {barrier.line: barrier for barrier in self.kernel.barriers}
        off = set(self.scenario.switched_off) if self.scenario else set()
        racing = _racing(self.kernel, self.scenario)
        for number, line in enumerate(self.rows):
            y = self.top + number * ROW
            if not line:
                yield f'<text x="{LEFT + 46}" y="{y + 13}" fill="#57606a">⋮</text>'
                continue
            barrier = barriers.get(line)
            wrong = barrier is not None and bool(barrier.wrong)
            fill = "#ffe3e6" if line in racing or wrong else "#dcf3ec" if line in barriers else ""
            if fill:
                yield f'<rect x="{LEFT}" y="{y}" width="{self.text_width - 16:.0f}" height="{ROW}" fill="{fill}"/>'
            sign = "✗" if line in off or wrong else "⚡" if line in racing else _sign(barrier)
            text = self.lines[line - 1]
            cut = text[: MOST_COLUMNS - 1] + "…" if len(text) > MOST_COLUMNS else text
            strike = ' text-decoration="line-through"' if line in off else ""
            bold = ' font-weight="600"' if line in barriers else ""
            yield (
                f'<text x="{LEFT + 26}" y="{y + 13}" text-anchor="end" {MONO} fill="#57606a" font-size="11">'
                f"{line}</text>"
                f'<text x="{LEFT + 31}" y="{y + 13}" fill="{"#0a6b58" if sign in "●○" else RACE}">{sign}</text>'
                f'<text x="{LEFT + 46 + CHARACTER * _indent(cut):.1f}" y="{y + 13}" {MONO}{bold}{strike}>'
                f"{escape(_printable(cut.strip()))}</text>"
            )

    def _place_bars(self) -> list[_Bar]:
        """Windows, side by side in the column of their buffer."""
        placed: list[_Bar] = []
        left = self.text_width + 8
        shown = {line: number for number, line in enumerate(self.rows)}
        for name in self.kernel.buffers:
            ends: list[int] = []
            for window in self.kernel.windows:
                if window.buffer != name:
                    continue
                reached = [window.producer, window.consumer, *(window.loop or ())]
                if any(line not in shown for line in reached[:2]):
                    self.left_out += 1
                    continue
                rows = [shown[line] for line in reached if line in shown]
                place = next((number for number, end in enumerate(ends) if end < min(rows)), len(ends))
                if place == MOST_BARS:
                    self.left_out += 1
                    continue
                ends[place : place + 1] = [max(rows)]
                placed.append(_Bar(window, left + place * BAR + 7))
            if ends:
                self.heads.append((name, left))
                left += max(len(ends) * BAR + 6, 7 * len(name) + 8)
        self.bars_width = left - self.text_width + 8
        return placed

    def _windows(self) -> Iterator[str]:
        for name, x in self.heads:
            yield f'<text x="{x}" y="{self.top - 4}" font-size="11" fill="#57606a">{escape(name)}</text>'
            yield f'<path d="M{x - 3} {self.top - 14}V{self.bottom}" stroke="#d0d7de"/>'
        for bar in self.bars:
            window, middle = bar.window, ROW / 2
            start, end = self._y(window.producer) + middle, self._y(window.consumer) + middle
            dashed = not window.covered
            words = f"covered by {window.covered}" if window.covered else window.text
            yield f"<g><title>{escape(f'{window.kind} of {window.buffer}: {words}')}</title>"
            if window.loop is not None and all(line in self.rows for line in window.loop):
                last, first = self._y(window.loop[1]) + ROW - 3, self._y(window.loop[0]) + ROW
                yield from _stem(window.kind, bar.x, start, last, dashed, head=False)
                yield from _stem(window.kind, bar.x, first, end, dashed, tail=False)
            else:
                yield from _stem(window.kind, bar.x, start, end, dashed)
            yield "</g>"
        if self.left_out:
            words = f"{plural(self.left_out, 'more hazard window')} not shown"
            x, y = self.width - LEFT, self.bottom + 12
            yield f'<text x="{x}" y="{y}" font-size="11" text-anchor="end" fill="#57606a">{words}</text>'

    # ------------------------------------------------------------ what was found, where there is no run

    def _findings(self) -> Iterator[str]:
        """What goes wrong and what mends it, in the words of `check`."""
        for number, (text, colour) in enumerate(self._sentences()):
            y = self.bottom + 34 + number * ROW
            yield f'<text x="{LEFT}" y="{y}" fill="{colour}">{escape(text)}</text>'

    def _sentences(self) -> list[tuple[str, str]]:
        """The lines of that, each with its colour."""
        wide = int((self.width - 2 * LEFT) / 6.4)
        shown: list[tuple[str, str]] = []
        for finding in self.kernel.findings[:MOST_FINDINGS]:
            said = [(f"⚡ {finding.title}", RACE)]
            said += [
                (f"{word}: {text}", "#57606a")
                for word, text in finding.notes
                if word in ("so", "also", "fix")
            ]
            shown += [
                (line, colour) for text, colour in said for line in wrap(text, wide, subsequent_indent="   ")
            ]
        more = len(self.kernel.findings) - MOST_FINDINGS
        return [*shown, (plural(more, "more finding"), "#57606a")] if more > 0 else shown

    # ------------------------------------------------------------ the run

    def _run_width(self) -> float:
        if self.scenario is None:
            return 0
        steps = min(self.scenario.recording.steps, MOST_SHOWN_STEPS)
        race = _race(self.scenario)
        return max(90 + steps * CELL + LEFT, 2 * LEFT + 6.7 * len(race.text if race else "") + 50)

    def _run_top(self) -> float:
        return self.bottom + 34

    def _run_bottom(self, recording: Recording) -> float:
        return self._run_top() + 30 + min(len(recording.waves), MOST_LANES) * LANE + 26

    def _run(self, scenario: Scenario) -> Iterator[str]:
        recording, race, top = scenario.recording, _race(scenario), self._run_top()
        title = "Waves over time" + (f", {scenario.title}" if scenario.switched_off else "")
        yield f'<text x="{LEFT}" y="{top}" font-weight="600">{escape(title)}</text>'
        hangs = recording.hangs
        words = (
            f"⚡ {race.kind}: {race.text}" if race else f"⚡ {hangs}" if hangs else "✓ no race in this run"
        )
        colour = RACE if race or hangs else "#1a7f37"
        yield f'<text x="{LEFT}" y="{top + 18}" fill="{colour}">{escape(words)}</text>'
        # The race in the middle, where the run is longer than the picture.
        middle = race.second[2] if race else 0
        first = min(max(middle - MOST_SHOWN_STEPS // 2, 0), max(recording.steps - MOST_SHOWN_STEPS, 0))
        for place, wave in enumerate(recording.waves[:MOST_LANES]):
            y = top + 30 + place * LANE
            yield f'<text x="{LEFT}" y="{y + 15}">wave {wave}</text>'
            for start, line, action, steps in recording.cells[place]:
                begin, end = max(start, first), min(start + steps, first + MOST_SHOWN_STEPS)
                if begin < end:
                    yield from _cell(90 + (begin - first) * CELL, y, (end - begin) * CELL, action, line)
        if race:
            yield from self._race_marks(race, recording, first)
        y = self._run_bottom(recording) - 10
        used = {cell[2] for cells in recording.cells for cell in cells}
        legend = ", ".join(
            f"{LETTERS.get(action, action.upper())} {words}"
            for action, words in ACTIONS.items()
            if action in used
        )
        yield f'<text x="{LEFT}" y="{y}" font-size="11" fill="#57606a">{legend}</text>'

    def _race_marks(self, race: RunRace, recording: Recording, first: int) -> Iterator[str]:
        spots = []
        for wave, _, step in (race.first, race.second):
            place = recording.waves.index(wave)
            if place < MOST_LANES and first <= step < first + MOST_SHOWN_STEPS:
                x, y = 90 + (step - first) * CELL, self._run_top() + 30 + place * LANE
                spots.append((x + CELL / 2, y + LANE / 2 - 1))
                yield (
                    f'<rect x="{x + 1}" y="{y}" width="{CELL - 2}" height="{LANE - 2}" rx="3" fill="none" '
                    f'stroke="{RACE}" stroke-width="3"/>'
                )
        if len(spots) == 2:
            (x1, y1), (x2, y2) = spots
            yield f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{RACE}" stroke-width="2" stroke-dasharray="2 3"/>'


def _race(scenario: Scenario | None) -> RunRace | None:
    return scenario.recording.races[0] if scenario is not None and scenario.recording.races else None


def _most_telling(kernel: KernelPage) -> Scenario | None:
    """The run that a picture shows: what goes wrong in the kernel, or else what would without one of its barriers."""
    ordered = sorted(kernel.findings, key=lambda each: bool(each.allowed))
    findings = [kernel.scenarios[each.scenario] for each in ordered if each.scenario is not None]
    shown = [
        scenario for scenario in kernel.scenarios if scenario.recording.races or scenario.recording.stuck
    ]
    wrong = [scenario for scenario in shown if not scenario.switched_off and scenario.opposite is None]
    without = [scenario for scenario in shown if scenario.switched_off and scenario.recording.races]
    for found in (findings, wrong, without):
        found.sort(key=lambda scenario: [race.kind for race in scenario.recording.races[:1]] != ["RAW"])
    return next(iter([*findings, *wrong, *without, *kernel.scenarios]), None)


def _racing(kernel: KernelPage, scenario: Scenario | None) -> set[int]:
    """The lines of the race that is shown; without a run, those of all findings."""
    if scenario is None:
        return {mark.line for finding in kernel.findings for mark in finding.marks}
    race = _race(scenario)
    return {race.first[1], race.second[1]} if race else set()


def _rows(lines: Sequence[str], kernel: KernelPage, scenario: Scenario | None) -> list[int]:
    """The lines that are shown; 0 stands for those that are not."""
    if len(lines) <= MOST_LINES:
        return list(range(1, len(lines) + 1))
    race = _race(scenario)
    wanted = [race.first[1], race.second[1]] if race else []
    wanted += [mark.line for finding in kernel.findings for mark in finding.marks]
    wanted += [barrier.line for barrier in kernel.barriers] + [kernel.first_line]
    chosen: set[int] = set()
    for line in wanted:
        if len(chosen) > MOST_LINES - 8:
            break
        chosen |= set(range(max(line - 3, 1), min(line + 4, len(lines) + 1)))
    rows: list[int] = []
    for line in sorted(chosen):
        if line - 1 not in chosen and line > 1:
            rows.append(0)
        rows.append(line)
    return rows if rows and rows[-1] == len(lines) else [*rows, 0]


# many parameters because a stem is a shape with two optional ends
def _stem(
    kind: str, x: float, start: float, end: float, dashed: bool, *, head: bool = True, tail: bool = True
) -> Iterator[str]:
    """A bar from the first access (dot, ring or square) to the second (arrow)."""
    colour, dash = KINDS[kind], ' stroke-dasharray="4 3"' if dashed else ""
    yield f'<path d="M{x} {start}V{end}" stroke="{colour}" stroke-width="2.5"{dash}/>'
    if tail:
        if kind == "WAW":
            yield f'<rect x="{x - 3}" y="{start - 3}" width="6" height="6" fill="{colour}"/>'
        else:
            inside = colour if kind == "RAW" else "#ffffff"
            yield f'<circle cx="{x}" cy="{start}" r="3.2" fill="{inside}" stroke="{colour}" stroke-width="1.8"/>'
    if head:
        down = 1 if end >= start else -1
        base = end - 6 * down
        yield f'<path d="M{x - 4.5} {base}L{x} {end + down}L{x + 4.5} {base}Z" fill="{colour}"/>'
    else:
        yield f'<path d="M{x - 4} {end}H{x + 4}" stroke="{colour}" stroke-width="2.5"/>'


def _cell(x: float, y: float, width: float, action: str, line: int) -> Iterator[str]:
    dash = ' stroke-dasharray="3 3"' if action in (BLOCKED, HELD) else ""
    yield (
        f'<g><title>line {line}</title><rect x="{x + 1}" y="{y}" width="{width - 2}" height="{LANE - 3}" rx="3" '
        f'fill="{FILLS[action]}" stroke="#d0d7de"{dash}/><text x="{x + width / 2}" y="{y + 14}" font-size="11" '
        f'text-anchor="middle">{LETTERS.get(action, action.upper())}</text></g>'
    )


def _sign(barrier: Barrier | None) -> str:
    """What stands beside a line: a barrier, or one that nothing needs."""
    return "" if barrier is None else "○" if barrier.needed is False else "●"


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _printable(text: str) -> str:
    """Text that XML can hold: control characters as a dot."""
    return "".join(character if character.isprintable() or character == "\t" else "·" for character in text)
