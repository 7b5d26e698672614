"""Where an operation comes from, as its compiler recorded it: `loc(...)` and the aliases `#loc1`.

Locations nest: a name around a place, a call around both. `place` answers what a diagnostic wants
to know, the line that the user wrote, and `calls` the chain of calls that led there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.hosts.triton.mlir.attributes import unescaped
from fencepost.hosts.triton.mlir.scan import STRING, Unreadable, balanced_end, split_list

ALIAS = re.compile(r"^([#!][\w$.-]+)\s*=\s*(\S(?:[^\n]*\S)?)", re.MULTILINE)
"""A line that gives a type, an attribute or a location a name."""
_FILE = re.compile(rf"({STRING}):(\d+):(\d+)(?:\s+to\s+\d*:\d+)?\s*$")
_NAME = re.compile(rf"({STRING})\s*(?:\((.*)\))?\s*$", re.DOTALL)
_ALIAS = re.compile(r"#[\w$.-]+$")
_BRACKET_OR_AT = re.compile(rf"{STRING}|[(<\[]|\bat\b")


@dataclass(frozen=True, slots=True)
class Location:
    """One location; `kind` is file, name, callsite, fused, unknown or opaque (then `name` is its text).

    A callsite has two children, the callee and the caller; a name has at most one.
    """

    kind: str
    file: str = ""
    line: int = 0
    column: int = 0
    name: str = ""
    children: tuple[Location, ...] = ()

    def place(self) -> Location | None:
        """The file location that the operation was written at: the callee's, where there was a call."""
        if self.kind == "file":
            return self
        return next(filter(None, (child.place() for child in self.children)), None)

    def calls(self) -> Iterator[Location]:
        """The places of the calls that led to `place`, innermost first."""
        if self.kind == "callsite":
            callee, caller = self.children
            yield from callee.calls()
            if place := caller.place():
                yield place
            yield from caller.calls()
        elif self.children:
            yield from self.children[0].calls()

    def __str__(self) -> str:
        place = self.place()
        return f"{place.file}:{place.line}:{place.column}" if place else (self.name or "unknown")


UNKNOWN = Location("unknown")


@dataclass(slots=True, eq=False)
class LocationTable:
    """Parses locations, each text once and when it is asked for; aliases come from the module."""

    aliases: dict[str, str]
    unread: list[str] = field(default_factory=list)
    """Lines with more aliases, one on each."""
    _parsed: dict[str, Location] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)

    def parse(self, text: str) -> Location:
        """The location that the inside of `loc(...)` spells."""
        known = self._parsed.get(text)
        if known is None:
            try:
                known = self._parse(text.strip())
            except Unreadable:
                # A location is a courtesy: one that cannot be read must not keep a kernel from being read.
                known = Location("opaque", name=text)
            self._parsed[text] = known
        return known

    def _parse(self, text: str) -> Location:
        if not text or text == "unknown":
            return UNKNOWN
        if _ALIAS.match(text):
            return self._aliased(text)
        if match := _FILE.match(text):
            return Location("file", unescaped(match[1]), int(match[2]), int(match[3]))
        if match := _NAME.match(text):
            children = (self.parse(match[2]),) if match[2] else ()
            return Location("name", name=unescaped(match[1]), children=children)
        if text.startswith("callsite("):
            callee, caller = self._call(text[len("callsite(") : -1])
            return Location("callsite", children=(self.parse(callee), self.parse(caller)))
        if text.startswith("fused"):
            # Whatever tag stands in angle brackets between the word and its list says nothing about places.
            start = balanced_end(text, 5) if text.startswith("<", 5) else 5
            inside = text[start:].strip()[1:-1]
            return Location("fused", children=tuple(self.parse(item) for item in split_list(inside)))
        if text.startswith("loc(") and text.endswith(")"):
            return self.parse(text[4:-1])
        return Location("opaque", name=text)

    def _aliased(self, alias: str) -> Location:
        while self.unread:
            self.aliases |= dict(ALIAS.findall(self.unread.pop()))
        text = self.aliases.get(alias)
        if text is None or alias in self._open:
            return Location("opaque", name=alias)
        self._open.add(alias)
        try:
            return self.parse(text)
        finally:
            self._open.discard(alias)

    def _call(self, text: str) -> tuple[str, str]:
        """Callee and caller: the word `at` outside of brackets and strings."""
        for match in _BRACKET_OR_AT.finditer(text):
            if match[0] == "at":
                return text[: match.start()], text[match.end() :]
            if match[0] in "(<[":
                return self._call_behind(text, balanced_end(text, match.start()))
        raise Unreadable("a callsite needs the word 'at'", 0)

    def _call_behind(self, text: str, start: int) -> tuple[str, str]:
        callee, caller = self._call(text[start:])
        return text[:start] + callee, caller


NO_LOCATIONS = LocationTable({})
"""For what has none."""
