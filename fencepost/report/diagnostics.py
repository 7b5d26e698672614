"""Errors that underline several places of the source at once.

error[FP001]: wave 1 can read %a[0] before wave 0 has written it
  --> gemm.fp:9:5 and gemm.fp:12:5
   |
 9 |     write %a[0]
   |     ^^^^^^^^^^^ wave 0 writes bytes 0..16384
12 |     read %a[0]
   |     ^^^^^^^^^^ wave 1 reads bytes 0..16384
   |
   = why: no barrier lies between them on the path 9 → 12
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fencepost.ir.source import FencepostError, Mark, Source

if TYPE_CHECKING:
    from rich.text import Text


MOST_COLUMNS = 200
"""Longer lines are shown in part."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message with the places that it is about."""

    code: str
    title: str
    marks: tuple[Mark, ...]
    notes: tuple[tuple[str, str], ...] = ()
    source: Source | None = None
    severity: str = "error"
    primary: int = 0
    """The mark to show where there is room for one: of a race, the access that comes too early."""
    origins: tuple[str, ...] = ()
    """For each mark, where a host says that it was written (`kernel.py:57`); empty where nobody says."""


def from_error(error: FencepostError) -> Diagnostic:
    """An exception as a diagnostic."""
    return Diagnostic(error.code, error.message, error.marks, error.notes, error.source)


def render(diagnostic: Diagnostic) -> Text:
    """The diagnostic as styled text; `.plain` is the same without colour."""
    from rich.text import Text

    accent = "bold red" if diagnostic.severity == "error" else "bold yellow"
    out = Text()
    out.append(f"{diagnostic.severity}[{diagnostic.code}]", accent)
    out.append(f": {diagnostic.title}\n", "bold")
    source = diagnostic.source
    marks = list(dict.fromkeys(mark for mark in diagnostic.marks if mark.span is not None))
    name = source.name if source else "<kernel>"
    places = list(dict.fromkeys(f"{name}:{mark.span}" for mark in marks)) or ([name] if source else [])
    lines = [mark.span.line for mark in marks if mark.span]
    width = max((len(str(line)) for line in lines), default=1)
    margin = " " * (width + 1)
    if places:
        out.append(f"{margin}--> ", "blue").append(f"{_and(places)}\n")
    if source and marks:
        out.append(f"{margin} |\n", "blue")
        _excerpts(out, source, marks, width, accent)
        if diagnostic.notes:
            out.append(f"{margin} |\n", "blue")
    for word, text in diagnostic.notes:
        out.append(f"{margin} = ", "blue").append(f"{word}: ", "bold").append(f"{text}\n")
    return out


def _excerpts(out: Text, source: Source, marks: Sequence[Mark], width: int, accent: str) -> None:
    ordered = sorted(marks, key=lambda mark: (mark.span.line, mark.span.column) if mark.span else (0, 0))
    shown = (-1, 0)
    for mark in ordered:
        span = mark.span
        assert span is not None
        line = source.line(span.line)
        start = _window(line, span.column)
        before, cut = "…" if start else "", "…" if len(line) > start + MOST_COLUMNS else ""
        line = before + line[start : start + MOST_COLUMNS] + cut
        if (span.line, start) != shown:
            out.append(f" {span.line:>{width}} | ", "blue").append(f"{_visible(line)}\n")
            shown = (span.line, start)
        shift = len(before) - start - 1
        indent = _width(line[: span.column + shift])
        end = span.end_column + shift if span.end_line == span.line else len(line)
        length = max(_width(line[span.column + shift : end]), 1)
        out.append(f" {' ' * width} | ", "blue").append(f"{' ' * indent}{'^' * length}", accent)
        out.append(f" {mark.text}\n" if mark.text else "\n", accent)


def _window(line: str, column: int) -> int:
    """Where to start showing a line: of a very long one only the part around `column` is shown."""
    return max(0, column - 1 - MOST_COLUMNS // 4) if len(line) > MOST_COLUMNS else 0


def _visible(line: str) -> str:
    """Tabs as spaces, and control characters as something that a terminal shows and does not obey."""
    return "".join(
        "    " if character == "\t" else "·" if unicodedata.category(character).startswith("C") else character
        for character in line
    )


def _width(text: str) -> int:
    """Columns on a terminal, where some characters of East Asian scripts take two."""
    return sum(1 + (unicodedata.east_asian_width(character) in "WF") for character in _visible(text))


def _and(places: list[str]) -> str:
    return " and ".join([", ".join(places[:-1]), places[-1]]) if len(places) > 1 else places[0]
