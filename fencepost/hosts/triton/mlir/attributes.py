"""Attribute values as Python values: numbers, strings, lists, dictionaries, dense constants.

What has no plain counterpart (layouts, enumerations, types, affine maps) stays raw text in an
`Opaque`, so a string attribute and unread text cannot be taken for one another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TypeAlias

from fencepost.hosts.triton.mlir.memoized import memoized
from fencepost.hosts.triton.mlir.scan import STRING, Unreadable, split_list


class _Unit(Enum):
    UNIT = "unit"


UNIT = _Unit.UNIT
"""The value of an attribute that says all by being there."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """An attribute or type that is kept as it was written; aliases in it stand as they are."""

    text: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """`@name`, without the sign; a nested one keeps its inner signs."""

    name: str


@dataclass(frozen=True, slots=True)
class Dense:
    """`dense<...> : type`: one value for all elements (a splat) or nested lists of values."""

    value: Attribute
    type: str


Attribute: TypeAlias = """
    int | float | bool | str | _Unit | Opaque | Symbol | Dense | tuple[Attribute, ...] | Mapping[str, Attribute]
"""

_INTEGER = re.compile(r"-?\d+(?=\s*(?::\s*(?:index|[su]?i\d+)\s*)?$)")
_FLOAT = re.compile(r"-?\d+\.\d*(?:[eE][-+]?\d+)?(?=\s*(?::\s*\w+\s*)?$)")
_TEXT = re.compile(rf"({STRING})\s*(?::[^\"]*)?$", re.DOTALL)
_ARRAY = re.compile(r"array<\s*\w+\s*(?::([^>]*))?>$")
_INTEGERS = re.compile(r"array<i\d+: (-?\d+(?:, -?\d+)*)>\Z")
_DENSE = re.compile(r"dense<(.*)>\s*:\s*(\S.*)$", re.DOTALL)
_SYMBOL = re.compile(rf"@(?:[\w$.-]+|{STRING})(?:::@(?:[\w$.-]+|{STRING}))*$")
_ENTRY = re.compile(rf"\s*([\w$.-]+|{STRING})\s*(?:=\s*(.*))?$", re.DOTALL)
# Names and values in which angle brackets close what they open; arrows and comparisons have such signs as well.
_FLAT = r'[^,"<>()\[\]{}]*'
_ANGLE = r'<(?!=)[^"<>()\[\]{}]*(?<!-)>(?!=)'
_PLAIN_ENTRY = rf"[\w$.-]+(?: = {_FLAT}(?:{_ANGLE}{_FLAT})*)?"
_PLAIN = re.compile(rf"(?:{_PLAIN_ENTRY}(?:, {_PLAIN_ENTRY})*)?\Z")
# Entries as compilers print them, with brackets in each other to a depth that is usual.
_INSIDE = r'(?:->|[<>]=|[^"<>()\[\]{}-]++|-|"[^"\\]*"'
_BRACKETS = ""
for _ in range(4):
    _PARTS = _INSIDE + (f"|{_BRACKETS}" if _BRACKETS else "") + ")*+"
    _BRACKETS = rf"\[{_PARTS}\]|\{{{_PARTS}\}}|\({_PARTS}\)|<{_PARTS}>"
_USUAL_VALUE = rf'(?:->|[<>]=|[^,"<>()\[\]{{}}-]++|-|"[^"\\]*"|{_BRACKETS})++'
_USUAL_ENTRY = re.compile(rf'(?:([\w$.-]+)|"([^"\\]*)")(?: = ({_USUAL_VALUE}))?(?:, |\Z)')
_ESCAPE = re.compile(rb'\\([nt"\\]|[0-9a-fA-F]{2})')
_WORDS: Mapping[str, Attribute] = {"true": True, "false": False, "unit": UNIT}


def parse_attribute(text: str) -> Attribute:
    """The value that `text` spells; `Opaque` for all that has no plain counterpart."""
    text = text.strip()
    if match := _INTEGERS.match(text):  # how terminators share their operands out
        return tuple(map(int, match[1].split(", ")))
    if match := _INTEGER.match(text):
        return int(match[0])
    if text in _WORDS:
        return _WORDS[text]
    if match := _TEXT.match(text):
        return unescaped(match[1])
    if match := _FLOAT.match(text):
        return float(match[0])
    if text.startswith("[") and text.endswith("]"):
        return tuple(parse_attribute(item) for item in split_list(text[1:-1]))
    if text.startswith("{") and text.endswith("}"):
        return parse_dictionary(text[1:-1])
    if match := _ARRAY.match(text):
        return tuple(parse_attribute(item) for item in split_list(match[1] or ""))
    if match := _DENSE.match(text):
        return Dense(parse_attribute(match[1]) if match[1] else (), match[2])
    if _SYMBOL.match(text):
        return Symbol(unescaped(text[1:]) if text.startswith('@"') and text.endswith('"') else text[1:])
    return Opaque(text)


def parse_dictionary(text: str) -> Mapping[str, Attribute]:
    """The entries between the braces of a dictionary; an entry without a value is a unit."""
    return MappingProxyType({name: _value(spelled) for name, spelled in _spelled(text).items()})


def _spelled(text: str) -> dict[str, str | None]:
    """The names between the braces of a dictionary, and how the value of each is spelled, if it has one."""
    found: dict[str, str | None] = {}
    end = 0
    for match in _USUAL_ENTRY.finditer(text):
        if match.start() != end:
            break
        name, quoted, found[name or quoted] = match.groups()
        end = match.end()
    return found if end == len(text) else _spelled_in_full(text)


def _spelled_in_full(text: str) -> dict[str, str | None]:
    """The same, however it is written."""
    found: dict[str, str | None] = {}
    for item in split_list(text):
        match = _ENTRY.match(item)
        if match is None:
            raise Unreadable(f"expected 'name = value', not {item[:40]!r}", max(text.find(item), 0))
        found[unescaped(match[1]) if match[1].startswith('"') else match[1]] = match[2]
    return found


def _value(spelled: str | None) -> Attribute:
    return UNIT if spelled is None else parse_attribute(spelled)


@dataclass(slots=True, eq=False)
class Dictionary:
    """The entries between two braces, read when one of them is asked for: most never are."""

    text: str
    _entries: Mapping[str, Attribute] | None = field(default=None, init=False)
    _spelled: dict[str, str | None] | None = field(default=None, init=False)
    _known: dict[str, Attribute | None] = field(default_factory=dict, init=False)
    """Entries that were asked for."""

    @property
    def entries(self) -> Mapping[str, Attribute]:
        """All of them."""
        if self._entries is None:
            self._entries = parse_dictionary(self.text)
        return self._entries

    def get(self, name: str) -> Attribute | None:
        """The value of an entry; None if there is none."""
        if name not in self._known:
            self._known[name] = self._read(name)
        return self._known[name]

    def _read(self, name: str) -> Attribute | None:
        if self._entries is not None:
            return self._entries.get(name)
        if not self.mentions(name):
            return None
        if self._spelled is None:
            self._spelled = _spelled(self.text)
        # One of them is cheaper than all: a function has a dictionary for each of its arguments.
        return _value(self._spelled[name]) if name in self._spelled else None

    def mentions(self, part: str) -> bool:
        """Whether the name of an entry may have this part: it stands as it is where nothing is escaped."""
        return part in self.text or "\\" in self.text

    @property
    def is_plain(self) -> bool:
        """Whether its entries are names and values without much inside, which can surely be read."""
        return _PLAIN.match(self.text) is not None


NO_ATTRIBUTES = Dictionary("")


@memoized
def dictionary_of(text: str) -> Dictionary:
    """The entries between two braces: most texts are those of many modules."""
    return Dictionary(text)


def unescaped(quoted: str) -> str:
    """A quoted string without its quotes, its escapes replaced; what is not ASCII is UTF-8, byte by byte."""
    inside = quoted[1:-1]
    if "\\" not in inside:
        return inside
    return _ESCAPE.sub(_replacement, inside.encode()).decode("utf-8", "replace")


def _replacement(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes.fromhex(code.decode()) if len(code) == 2 else {b"n": b"\n", b"t": b"\t"}.get(code, code)
