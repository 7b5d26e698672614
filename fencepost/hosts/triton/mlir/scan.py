"""Finding where things end in MLIR text: brackets that may nest, lists with commas inside, types.

Only brackets and strings matter for that, so one regular expression steps from one to the next and
everything between is skipped at the speed of the expression engine.
"""

from __future__ import annotations

import re

from fencepost.ir.source import FencepostError, Mark, Source, Span

STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'

SPACE = re.compile(r"\s*(?://[^\n]*\s*)*")
"""White space and comments."""

# Arrows and comparisons come first: their angle brackets close nothing.
_BRACKET = re.compile(rf"{STRING}|->|[<>]=|[<>()\[\]{{}}]")
_BRACKET_OR_COMMA = re.compile(rf"{STRING}|->|[<>]=|[<>()\[\]{{}},]")
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_TYPE_NAME = re.compile(r"!?[\w.$]+")


class Unreadable(Exception):
    """What is wrong with the text, and the offset where."""

    def __init__(self, message: str, start: int, end: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end


def located(problem: Unreadable, name: str, text: str) -> FencepostError:
    """The error that users see for a place in `text`."""
    end = problem.end if problem.end is not None else problem.start + 1
    mark = Mark(span_of(text, problem.start, end))
    return FencepostError(problem.message, [mark], code="FP401", source=Source(name, text))


def span_of(text: str, start: int, end: int) -> Span:
    """Offsets as lines and columns; linear in the text, meant for errors."""
    line, end_line = text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1
    return Span(line, start - text.rfind("\n", 0, start), end_line, end - text.rfind("\n", 0, end))


def balanced_end(text: str, start: int) -> int:
    """The offset behind the bracket that closes the one at `start`."""
    opened = [(_CLOSING[text[start]], start)]
    for match in _BRACKET.finditer(text, start + 1):
        token = match.group()
        if closing := _CLOSING.get(token):
            opened.append((closing, match.start()))
        elif token in ">)]}":
            expected, _ = opened[-1]
            if token != expected:
                break
            opened.pop()
            if not opened:
                return match.end()
    raise Unreadable(f"this {text[opened[-1][1]]!r} is never closed", opened[-1][1])


def split_list(text: str) -> list[str]:
    """The items of a list, split at the commas that stand outside of all brackets and strings."""
    if not text.strip():
        return []
    if "," not in text:
        return [text.strip()]
    items: list[str] = []
    depth = begin = 0
    for match in _BRACKET_OR_COMMA.finditer(text):
        token = match.group()
        if token == ",":
            if not depth:
                items.append(text[begin : match.start()].strip())
                begin = match.end()
        elif token in "<([{":
            depth += 1
        elif token in ">)]}":
            depth -= 1
    items.append(text[begin:].strip())
    return items


def type_end(text: str, start: int) -> int:
    """The offset behind the type that begins at `start`: `i32`, `!d.t<...>`, `(...) -> ...`."""
    if text.startswith("(", start):
        arrow = SPACE.match(text, balanced_end(text, start)).end()  # type: ignore[union-attr]
        if not text.startswith("->", arrow):
            raise Unreadable("expected '->' and the results of a function type", arrow)
        results = SPACE.match(text, arrow + 2).end()  # type: ignore[union-attr]
        return balanced_end(text, results) if text.startswith("(", results) else type_end(text, results)
    name = _TYPE_NAME.match(text, start)
    if name is None:
        raise Unreadable("expected a type", start)
    return balanced_end(text, name.end()) if text.startswith("<", name.end()) else name.end()
