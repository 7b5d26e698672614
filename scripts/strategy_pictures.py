"""The pictures of docs/strategy-*.md: a kernel, its hazard windows, and where each strategy puts its barriers.

    python scripts/strategy_pictures.py

Kernels are read from the pages, so that a picture shows what its page shows. tests/test_strategy_pages.py compares.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

import fencepost as fp
from fencepost.ir import ops
from fencepost.ir.printer import locate
from fencepost.view.kernel_page import page_of
from fencepost.view.page_data import Window

DOCS = Path(__file__).parent.parent / "docs"
SECONDS = 60
"""How long a search may take: long enough on a busy machine, so that a picture is always the same."""
WHOLE = ("walk", "eager", "minimize", "optimal")
SPLIT = ("minimize", "intersect", "optimal")


@dataclass(frozen=True, slots=True)
class Picture:
    """What a picture shows: a kernel of a page, on a target, with some strategies beside each other."""

    page: str
    kernel: str
    strategies: tuple[str, ...] = WHOLE
    target: str = "gfx942"

    @property
    def path(self) -> Path:
        """Where it stands."""
        return DOCS / f"{self.page}-{self.kernel}.svg"


PICTURES = (
    Picture("strategy-eager", "hoist"),
    Picture("strategy-walk", "two"),
    Picture("strategy-minimize", "ring"),
    Picture("strategy-optimal", "rare"),
    Picture("strategy-intersect", "pair", SPLIT, "gfx1201"),
    Picture("strategy-auto", "stages", ("intersect", "auto", "optimal"), "gfx1201"),
)


def kernel_text(page: str, name: str) -> str:
    """The kernel that a page shows as a file."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    found = re.search(rf"^`{name}\.fp`:\n\n```fp\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert found is not None, f"{page}.md shows no {name}.fp"
    return found[1]


# ---------------------------------------------------------------- what a strategy puts in


@dataclass(frozen=True, slots=True)
class Mark:
    """An operation that a strategy puts in."""

    kind: str
    """barrier, signal or wait."""
    line: int
    """The line of the kernel, as it was, that it stands in front of."""


@dataclass(frozen=True, slots=True)
class Column:
    """A strategy, and what it puts in."""

    strategy: str
    marks: tuple[Mark, ...]
    executed: float


def column(text: str, strategy: str, target: str) -> Column:
    """What a strategy makes of a kernel."""
    kernel = fp.parse(text)
    done = fp.insert_barriers(kernel, target, strategy=strategy, comments=False, seconds=SECONDS)
    _, spans = locate(kernel)
    kinds = {spans[op].line: _kind(op) for op in kernel.preorder_walk() if isinstance(op, ops.SyncOperation)}
    marks, line = [], 1
    for number, _ in enumerate(str(kernel).splitlines(), 1):
        if number in kinds:
            marks.append(Mark(kinds[number], line))
        else:
            line += 1
    assert line == len(text.splitlines()) + 1, "the kernel of a picture is printed as it is written"
    return Column(strategy, tuple(marks), done.executed)


def _kind(op: ops.SyncOperation) -> str:
    if isinstance(op, ops.SharedMemoryBarrierSignal):
        return "signal"
    return "wait" if isinstance(op, ops.SharedMemoryBarrierWait) else "barrier"


# ---------------------------------------------------------------- the picture

ROW, CHARACTER, BAR, WIDE, LEFT, TOP = 19, 7.3, 13, 86, 14, 58
KINDS = {"RAW": "#0969c8", "WAR": "#b35900", "WAW": "#8250a8"}
BARRIER, INK, GREY = "#0a7f68", "#1c2128", "#57606a"
SANS = "font-family=\"system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif\""
MONO = "font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\""


def draw(picture: Picture) -> str:
    """The text of the SVG file."""
    text = kernel_text(picture.page, picture.kernel)
    lines = text.splitlines()
    windows = page_of([fp.parse(text)], picture.target, mended=False).kernels[0].windows
    columns = [column(text, name, picture.target) for name in picture.strategies]
    first = LEFT + 34 + CHARACTER * max(map(len, lines)) + 14
    second = first + max(BAR * len(windows) + 22, 58)
    width, low = second + WIDE * len(columns) + 6, TOP + ROW * len(lines)
    body = [*_code(lines, first), *_windows(windows, first)]
    for number, each in enumerate(columns):
        body += _column(each, second + WIDE * number, low)
    body += _legend(sorted({window.kind for window in windows}), columns, low + 46)
    title = f"@{picture.kernel} on {picture.target}: " + "; ".join(_told(each) for each in columns)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{low + 56}" '
            f'viewBox="0 0 {width:.0f} {low + 56}" role="img" {SANS} font-size="12" fill="{INK}">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width:.0f}" height="{low + 56}" fill="#ffffff"/>',
            f'<text x="{LEFT}" y="24" font-size="15" font-weight="600">@{picture.kernel} on {picture.target}</text>',
            *body,
            "</svg>",
            "",
        ]
    )


def _told(found: Column) -> str:
    return f"{found.strategy} executes {found.executed:g}"


def _code(lines: list[str], end: float) -> Iterator[str]:
    for number, line in enumerate(lines):
        y = TOP + ROW * number
        if number % 2:
            yield f'<rect x="{LEFT}" y="{y}" width="{end - LEFT:.0f}" height="{ROW}" fill="#f6f8fa"/>'
        indent = len(line) - len(line.lstrip())
        yield (
            f'<text x="{LEFT + 22}" y="{y + 14}" text-anchor="end" {MONO} fill="{GREY}" font-size="11">{number + 1}'
            f'</text><text x="{LEFT + 34 + CHARACTER * indent:.1f}" y="{y + 14}" {MONO}>{escape(line.strip())}</text>'
        )


def _windows(windows: tuple[Window, ...], left: float) -> Iterator[str]:
    yield f'<text x="{left}" y="{TOP - 8}" font-size="11" fill="{GREY}">windows</text>'
    for number, window in enumerate(windows):
        x, middle = left + BAR * number + 8, ROW / 2
        start = TOP + ROW * (window.producer - 1) + middle
        end = TOP + ROW * (window.consumer - 1) + middle
        colour = KINDS[window.kind]
        yield f"<g><title>{escape(f'{window.kind} of {window.buffer}: {window.text}')}</title>"
        if window.loop is None:
            yield f'<path d="M{x} {start}V{end}" stroke="{colour}" stroke-width="2.5"/>'
        else:
            # From the producer to the end of the body, and from its beginning to the consumer.
            last, first = TOP + ROW * window.loop[1] - 2, TOP + ROW * window.loop[0] + 2
            yield (
                f'<path d="M{x} {start}V{last}M{x - 4} {last}h8M{x - 4} {first}h8M{x} {first}V{end}" '
                f'stroke="{colour}" stroke-width="2.5" fill="none"/>'
            )
        inside = "#ffffff" if window.kind == "WAR" else colour
        yield f'<circle cx="{x}" cy="{start}" r="3.4" fill="{inside}" stroke="{colour}" stroke-width="1.8"/>'
        yield f'<path d="M{x - 4.5} {end - 6}L{x} {end + 1}L{x + 4.5} {end - 6}Z" fill="{colour}"/></g>'


def _column(found: Column, x: float, low: float) -> Iterator[str]:
    middle = x + WIDE / 2
    yield f'<path d="M{x} {TOP - 22}V{low + 22}" stroke="#d0d7de"/>'
    yield f'<text x="{middle}" y="{TOP - 8}" text-anchor="middle" font-weight="600">{found.strategy}</text>'
    yield f'<text x="{middle}" y="{low + 16}" text-anchor="middle" fill="{GREY}">runs {found.executed:g}</text>'
    for mark in found.marks:
        y = TOP + ROW * (mark.line - 1)
        yield f'<path d="M{x + 8} {y}H{x + WIDE - 8}" stroke="#bfe8da"/>'
        fill, ink = ("#ffffff", BARRIER) if mark.kind == "signal" else (BARRIER, "#ffffff")
        yield (
            f'<rect x="{x + 14}" y="{y - 7.5}" width="{WIDE - 28}" height="15" rx="4" fill="{fill}" '
            f'stroke="{BARRIER}" stroke-width="1.5"/><text x="{middle}" y="{y + 4}" text-anchor="middle" '
            f'font-size="11" fill="{ink}">{mark.kind}</text>'
        )


def _legend(kinds: list[str], columns: list[Column], y: float) -> Iterator[str]:
    words = {"RAW": "read after write", "WAR": "write after read", "WAW": "write after write"}
    x = float(LEFT)
    for kind in kinds:
        inside = "#ffffff" if kind == "WAR" else KINDS[kind]
        yield (
            f'<circle cx="{x + 5}" cy="{y - 4}" r="3.4" fill="{inside}" stroke="{KINDS[kind]}" stroke-width="1.8"/>'
            f'<text x="{x + 14}" y="{y}" font-size="11" fill="{GREY}">{words[kind]}</text>'
        )
        x += 24 + 6.2 * len(words[kind])
    halves = "; signal and wait are one" if _are_split(columns) else ""
    yield f'<text x="{x}" y="{y}" font-size="11" fill="{GREY}">runs: barriers executed, estimated{halves}</text>'


def _are_split(columns: list[Column]) -> bool:
    return any(mark.kind != "barrier" for each in columns for mark in each.marks)


def main() -> int:
    """Write all pictures."""
    for picture in PICTURES:
        picture.path.write_text(draw(picture), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
