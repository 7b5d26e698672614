"""PTX text cut into statements: comments are dropped, every statement keeps the line it begins on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from fencepost.hosts.ptx.reading.module import PtxError

LINE_DIRECTIVE = re.compile(r"\.(?:version|target|address_size|file|loc)\b")
"""Directives that end with their line, not with a semicolon."""
LABEL = re.compile(r"\s*([\w$%.]+)\s*:(?!:)")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)


@dataclass(frozen=True)
class Statement:
    """A piece of PTX: what it is, its text without the terminator, and the line it begins on."""

    kind: Literal["directive", "label", "open", "close", "code"]
    text: str
    line: int
    column: int = 1
    span: tuple[int, int] = (0, 0)
    """Where an instruction stands in the text, its semicolon included."""

    def error(self, message: str) -> PtxError:
        """What is wrong with it, and where it begins."""
        return PtxError(message, self.line, self.column)


def without_comments(text: str) -> str:
    """The text with every comment replaced by blanks, so that lines and columns stay."""

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

    return COMMENT.sub(blank, text)


class Cutter:
    """Goes through a text once and yields its statements."""

    def __init__(self, text: str) -> None:
        self.text = without_comments(text)
        self.at = 0
        self.line = 1

    def _move(self, to: int) -> None:
        self.line += self.text.count("\n", self.at, to)
        self.at = to

    def _skip_blanks(self) -> None:
        match = re.compile(r"\s*").match(self.text, self.at)
        assert match is not None
        self._move(match.end())

    def _matching_brace(self, start: int) -> int:
        depth = 0
        for match in re.compile(r'[{}]|"(?:\\.|[^"\\\n])*"').finditer(self.text, start):
            depth += {"{": 1, "}": -1}.get(match[0], 0)
            if depth == 0:
                return match.end()
        raise self._error("a `{` is not closed")

    def _error(self, message: str) -> PtxError:
        return PtxError(message, self.line, self._column(self.at))

    def _column(self, at: int) -> int:
        return at - self.text.rfind("\n", 0, at)

    def statements(self) -> Iterator[Statement]:
        """The statements of the text, in order."""
        while True:
            self._skip_blanks()
            if self.at >= len(self.text):
                return
            yield from self._next()

    def _next(self) -> Iterator[Statement]:
        char, line, column = self.text[self.at], self.line, self._column(self.at)
        if char in "{}":
            self._move(self.at + 1)
            yield Statement("open" if char == "{" else "close", char, line, column)
        elif char == ";":
            self._move(self.at + 1)
        elif LINE_DIRECTIVE.match(self.text, self.at):
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            text = self.text[self.at : end].strip().rstrip(";")
            self._move(end)
            yield Statement("directive", text, line, column)
        elif self.text.startswith((".section", "@@DWARF"), self.at):
            self._skip_section()
        elif (label := LABEL.match(self.text, self.at)) is not None:
            self._move(label.end())
            yield Statement("label", label[1], line, column)
        else:
            yield self._code(line, column)

    def _skip_section(self) -> None:
        brace = self.text.find("{", self.at)
        if brace < 0 or self.text.startswith("@@DWARF", self.at):
            end = self.text.find("\n", self.at)
            self._move(len(self.text) if end < 0 else end)
        else:
            self._move(self._matching_brace(brace))

    def _code(self, line: int, column: int) -> Statement:
        """One instruction, declaration or the head of a routine; a `{` of a body is left for the next call."""
        start = self.at
        end = start
        while True:
            match = re.compile(r'[;{}]|"(?:\\.|[^"\\\n])*"').search(self.text, end)
            if match is None:
                raise self._error("a statement does not end with `;`")
            if match[0] == ";":
                text = self.text[start : match.start()]
                self._move(match.end())
                break
            if match[0] == "}":
                raise self._error("a statement does not end with `;`")
            if match[0] == "{" and re.search(r"\.(entry|func)\b", self.text[start : match.start()]):
                text = self.text[start : match.start()]
                self._move(match.start())
                break
            end = self._matching_brace(match.start()) if match[0] == "{" else match.end()
        return Statement("code", " ".join(text.split()), line, column, (start, self.at))
