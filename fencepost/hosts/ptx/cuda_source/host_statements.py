"""Host code, statement by statement: what a compiler for the device stumbles over is left out of it.

Only to find out what the host code launches (`compiled_launches`): a function of the host is compiled as if it were
one of the device, and each error takes out as little as it can: an initial value, an argument, a condition, a
statement, a parameter, and a whole declaration if nothing less helps. The text keeps its lines and columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from fencepost.hosts.ptx.cuda_source.host_code import (
    blanked,
    closing_brace,
    declarations,
    is_function,
    without_comments,
)

_MARK = re.compile(r"[(){};]")
_DEVICE = re.compile(r"__(?:global|device|constant|shared|managed)__")
_HEAD = re.compile(r"\s*(?:(?:else|do|try)\b(?!\s*$)\s*)*(if|for|while|switch|catch)\b\s*(?:constexpr\b\s*)?")
_BARE_HEAD = re.compile(r"\s*(?:\}?\s*(?:else|do|try)\b\s*)+$")
_DECLARED = re.compile(
    r"\s*(?!(?:return|delete|new|else|goto|throw|using|case)\b)[\w:][\w:<>,\s*&]*[\s*&]\w+\s*(?:\[[^\]]*\]\s*)*$"
)
_LAUNCH = re.compile(r"<<<(.*?)>>>\s*\(", re.DOTALL)
_LAUNCHED = re.compile(r"\b(\w+)\s*(?:<[^;{}]*?>)?\s*<<<")
_GRID = re.compile(r"\s*(?:const\s+)?dim3\s+\w+\s*[({]")
_SPACES = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class ErrorPlace:
    """Where a compiler stumbles: the line and the column, counted from 1, and the name that it does not know."""

    line: int
    column: int
    name: str = ""


@dataclass
class HostStatements:
    """A text, and the same without comments, strings and directives."""

    text: str
    seen: str
    changed: set[int] = field(default_factory=set)
    """Where the statements begin that something was left out of since the text was last compiled."""
    lost: set[str] = field(default_factory=set)
    """Kernels whose launches were left out."""

    @classmethod
    def of(cls, text: str) -> HostStatements:
        """A text whose functions of the host may be compiled for the device."""
        plain = re.sub(r"\b__host__\b", " " * len("__host__"), text)
        return cls(plain, without_comments(plain))

    def leave_out(self, places: Iterable[ErrorPlace]) -> bool:
        """Leave out what stands at these lines and columns, unless it is device code; False if nothing was left out.

        Of a statement, the first place counts: errors beside it may follow from that one."""
        starts = [0, *(match.end() for match in re.finditer("\n", self.text))]
        before = self.text
        self.changed.clear()
        for each in dict.fromkeys(places):
            if each.line <= len(starts):
                at = min(starts[each.line - 1] + each.column - 1, len(self.text) - 1)
                self._leave_out_at(at, each.name)
        return self.text != before

    def _leave_out_at(self, at: int, name: str) -> None:
        every = declarations(self.seen, 0, len(self.seen))
        found = next(((head, start, end) for head, start, end in every if start <= at < end), None)
        if found is None or _DEVICE.search(found[0]) is not None:
            return
        head, start, end = found
        body, has_code = start + len(head), is_function(head)
        if not has_code and _DEVICE.search(self.seen, start, end) is not None:
            return  # A type with functions of the device.
        if at >= body:
            self._in_body(body, self._named(body, at, end, name), end)
        elif self._is_first(start) and (not has_code or not self._parameter(start, body, at)):
            self._blank(start, end)

    def _is_first(self, start: int) -> bool:
        """Whether nothing was left out yet of the statement that begins there."""
        if start in self.changed:
            return False
        self.changed.add(start)
        return True

    def _in_body(self, body: int, at: int, end: int) -> None:
        """The statement at a place of a body; all of the body if there is no statement."""
        start = self._start(body, at)
        if not self._is_first(start):
            return
        while True:
            stop, brace = self._stop(start, at, end)
            head = _HEAD.match(self.seen, start, stop)
            if head is None:
                break
            opened = self.seen.find("(", head.end(), stop)
            if opened < 0:
                break  # A macro stands for its parentheses.
            closed = self._closing(opened, end)
            if at <= closed:
                self._condition(head, opened, closed, end)
                return
            start = closed + 1
        if brace is not None and _BARE_HEAD.match(self.seen, start, brace):
            self._blank(start, brace)
        elif not self._part(start, stop, at):
            self._blank(start, stop)

    def _named(self, body: int, at: int, end: int, name: str) -> int:
        """Where an error is about a name: for one in the arguments of a macro, the compiler points at the macro."""
        if not name or self.seen.startswith(name, at):
            return at
        stop, _ = self._stop(self._start(body, at), at, end)
        found = re.compile(rf"\b{name}\b").search(self.seen, at, stop)
        return at if found is None else found.start()

    def _start(self, body: int, at: int) -> int:
        """Where the statement begins that a place is in."""
        start, depth, around = body + 1, 0, [0]
        for match in _MARK.finditer(self.seen, body + 1, at):
            mark = match[0]
            if mark in "()":
                depth += 1 if mark == "(" else -1
            elif mark == "{":
                around.append(depth)
                depth = 0
                start = match.end()
            elif mark == "}":
                depth = around.pop() if around else 0
                start = match.end() if depth == 0 else start
            elif depth == 0:
                start = match.end()
        return start

    def _stop(self, start: int, at: int, end: int) -> tuple[int, int | None]:
        """Where a statement ends, its semicolon not counted, and the brace that it opens there instead."""
        depth, place = 0, start
        while match := _MARK.search(self.seen, place, end):
            mark, place = match[0], match.end()
            if mark in "()":
                depth += 1 if mark == "(" else -1
            elif mark == "{":
                if depth == 0 and self._opens_block(start, match.start()):
                    return match.start(), match.start()
                place = closing_brace(self.seen, match.start(), end) + 1
            elif place > at and (mark == "}" or depth <= 0):
                return match.start(), None
            if depth < 0:
                return match.start(), None
        return end, None

    def _opens_block(self, start: int, brace: int) -> bool:
        return bool(_HEAD.match(self.seen, start, brace) or _BARE_HEAD.match(self.seen, start, brace)) or (
            not self.seen[start:brace].strip()
        )

    def _closing(self, opened: int, end: int) -> int:
        """Where a parenthesis is closed."""
        depth = 0
        for match in re.compile(r"[()]").finditer(self.seen, opened, end):
            depth += 1 if match[0] == "(" else -1
            if depth == 0:
                return match.start()
        return end

    def _condition(self, head: re.Match[str], opened: int, closed: int, end: int) -> None:
        """The condition of a statement that has one. Both sides of a conditional are kept: `constexpr` goes."""
        if head[1] == "catch":
            brace = self.seen.find("{", closed, end)
            self._blank(head.start(1), closing_brace(self.seen, brace, end) + 1 if brace >= 0 else closed + 1)
            return
        constant = {"if": "1", "while": "0", "switch": "0", "for": ";;"}[head[1]]
        self._blank(head.end(1), opened)
        if not self._put(opened + 1, closed, constant):
            self._blank(head.start(1), closed + 1)

    def _part(self, start: int, stop: int, at: int) -> bool:
        """Something less than a whole statement; False if there is nothing less to leave out."""
        launch = _LAUNCH.search(self.seen, start, stop)
        if launch is not None and launch.start(1) <= at < launch.end(1):
            return self._put(launch.start(1), launch.end(1), "1,1")
        if launch is not None and at >= launch.end():
            first, last = self._piece(launch.end(), self._closing(launch.end() - 1, stop), at)
            return self._put(first, last, "{}" if last - first > 1 else "0")
        if _GRID.match(self.seen, start, stop):
            opened = re.compile(r"[({]").search(self.seen, start, stop)
            return opened is not None and at > opened.start() and self._put(opened.end(), stop - 1, "1")
        equals = [each for each in self._top_level(start, stop, "=") if each <= at]
        if not equals or not _DECLARED.match(self.seen[start : equals[0]]):
            return False
        last = next((each for each in self._top_level(start, stop, ",") if each > at), stop)
        return self._put(equals[-1], last, "={}" if last - equals[-1] > 2 else "=0")

    def _parameter(self, start: int, body: int, at: int) -> bool:
        """A parameter of a function."""
        closed = self.seen.rfind(")", start, body)
        depth = 0
        for opened in range(closed, start, -1):
            depth += {")": 1, "(": -1}.get(self.seen[opened], 0)
            if depth == 0:
                break
        else:
            return False
        if not opened < at < closed:
            return False
        first, last = self._piece(opened + 1, closed, at, of_types=True)
        if last < closed:
            last += 1  # The comma behind it.
        elif first > opened + 1:
            first -= 1
        return self._put(first, last, "")

    def _piece(self, start: int, stop: int, at: int, *, of_types: bool = False) -> tuple[int, int]:
        """The piece of a list that a place is in; in lists of types, `<` is a bracket as well."""
        commas = [start - 1, *self._top_level(start, stop, ",", of_types=of_types), stop]
        first = max(each for each in commas[:-1] if each < at or each == start - 1)
        return first + 1, min(each for each in commas if each > first)

    def _top_level(self, start: int, stop: int, mark: str, *, of_types: bool = False) -> list[int]:
        """Where a character stands that is in no brackets of the piece."""
        found, depth = [], 0
        opening, closing = ("({[<", ")}]>") if of_types else ("({[", ")}]")
        for place in range(start, stop):
            letter = self.seen[place]
            depth += (letter in opening) - (letter in closing)
            around = self.seen[place - 1 : place + 2]
            if letter == mark and depth <= 0 and (mark != "=" or not re.search(r"[=!<>+*/|&^-]=|==", around)):
                found.append(place)
        return found

    def _put(self, start: int, stop: int, text: str) -> bool:
        """Something short in place of a piece; False if that changes nothing, or does not fit."""
        start += len(self.seen[start:stop]) - len(self.seen[start:stop].lstrip())
        if stop - start < len(text) or self.seen[start:stop].split() == text.split():
            return False
        if "\n" in self.text[start : start + len(text)]:
            return False
        self._blank(start, stop)
        end = start + len(text)
        self.text = self.text[:start] + text + self.text[end:]
        self.seen = self.seen[:start] + text + self.seen[end:]
        return True

    def _blank(self, start: int, stop: int) -> None:
        self.lost |= set(_LAUNCHED.findall(self.seen[start:stop]))
        text = blanked(self.text[start:stop], inside=True)
        self.text = self.text[:start] + text + self.text[stop:]
        self.seen = self.seen[:start] + _SPACES.sub(" ", text) + self.seen[stop:]
