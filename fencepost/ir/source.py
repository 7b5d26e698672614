"""Where things stand in the user's text, and the error that points there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lark.lexer import Token


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of source text; lines and columns count from 1, the end column is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


def token_span(token: Token) -> Span:
    """Where a token of the text form stands."""
    return Span(token.line or 1, token.column or 1, token.end_line or 1, token.end_column or 1)


@dataclass(frozen=True, slots=True)
class Source:
    """A named text; `name` is what a user would call it (a path, or `<stdin>`)."""

    name: str
    text: str
    _lines: list[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Not splitlines(): that also breaks at form feeds and the like, which count as no line elsewhere.
        object.__setattr__(self, "_lines", self.text.split("\n"))

    def line(self, number: int) -> str:
        """Line `number` without its end; empty past the last line."""
        return self._lines[number - 1].rstrip("\r") if 0 < number <= len(self._lines) else ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the source and what to say about it."""

    span: Span | None
    text: str = ""


class FencepostError(Exception):
    """A mistake in the input or its use; the command line prints it and exits with `exit_code`."""

    def __init__(
        self,
        message: str,
        marks: Sequence[Mark] = (),
        *,
        code: str = "FP100",
        notes: Sequence[tuple[str, str]] = (),
        source: Source | None = None,
        exit_code: int = 2,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.marks = tuple(marks)
        self.code = code
        self.notes = tuple(notes)
        self.source = source
        self.exit_code = exit_code

    def __str__(self) -> str:
        spans = [mark.span for mark in self.marks if mark.span]
        if not spans:
            return self.message
        name = self.source.name if self.source else "<kernel>"
        return f"{name}:{spans[0]}: {self.message}"


class UsageError(FencepostError, TypeError):
    """Something was asked of Python that means nothing for a kernel, or was given where something else belongs."""

    def __str__(self) -> str:
        # It ends in a traceback more often than on the command line, and there nobody prints the notes.
        return "; ".join([self.message, *(text for _, text in self.notes)])


def described(value: object) -> str:
    """A value as it was written, shortened, with its kind."""
    shown = repr(value)
    return f"{shown if len(shown) <= 40 else shown[:37] + '...'} ({type(value).__name__})"
