"""The parts of an operation that repeat within a module: dictionaries and lists of types.

A module of hundreds of operations has a few dozen distinct ones, so each distinct text is taken
apart once. Regular expressions read them as compilers print them; what does not look like that (a
type with parentheses, a location spelled out, operations that share a line) is read bracket by
bracket.
"""

from __future__ import annotations

import re

from fencepost.hosts.triton.mlir.attributes import NO_ATTRIBUTES, Dictionary, dictionary_of
from fencepost.hosts.triton.mlir.extents import ATTRIBUTES, PROPERTIES
from fencepost.hosts.triton.mlir.locations import ALIAS
from fencepost.hosts.triton.mlir.scan import SPACE, Unreadable, balanced_end, split_list, type_end

# With dictionaries in it, as those of a function's arguments are, and strings.
_ENTRIES = r'((?:[^{}"]++|\{[^{}"]*\}|"[^"\\\n]*")*+)'
_PROPERTIES = re.compile(rf"<\{{{_ENTRIES}\}}>\s*")
_ATTRIBUTES = re.compile(rf"\{{{_ENTRIES}\}}\s*")
# The types of one line without parentheses among them. A result must end in a letter or '>', so that
# what follows on the same line is not taken for a part of it; '/' might begin a comment.
_SIGNATURE = re.compile(
    r":\s*\(([^()\n/]*)\)\s*->\s*(?:\(([^()\n/]*)\)|([^()\n/]*?[\w>]))"
    r"(?:\s+loc\(([^()\n]*)\))?(?=[ \t]*(?:\n|\Z))"
)
_LOCATION = re.compile(r"\s*loc(?=\()")
_ALIASES = re.compile(r"(?:[#!][\w$.-]+\s*=\s*[^\n]*\n?)+")
# Types with at most two pairs of angle brackets in each other.
_TYPE = re.compile(r"[^\s,<>()\"]+(?:<[^<>\"]*(?:<[^<>\"]*>[^<>\"]*)*>)?")
_INSIDE = r"(?:[^()\"\n]++|\"[^\"\\\n]*\")"
_PLAIN_ARGUMENT = re.compile(
    r"\s*(%[\w$.-]+): (!?[\w.$]+(?:<[^<>()\"\n]*+(?:<[^<>()\"\n]*+>[^<>()\"\n]*+)*+>)?) "
    rf"loc\(((?:{_INSIDE}|\({_INSIDE}*+\))*+)\)(?=[,)])"
)
_ARGUMENT = re.compile(r"\s*(%[\w$.-]+)\s*:\s*")

Signature = tuple[tuple[str, ...], tuple[str, ...], str, int]
"""Operand types, result types, the inside of `loc(...)`, and the offset behind all that."""


class Pieces:
    """Reads parts of operations from one text; remembers what it has taken apart."""

    def __init__(self, text: str, *, trusted: bool = False) -> None:
        self.text = text
        self.trusted = trusted
        self._types: dict[str, tuple[str, ...]] = {"": ()}
        self.dictionaries: dict[str, Dictionary] = {"": NO_ATTRIBUTES}

    def properties(self, at: int) -> tuple[Dictionary, int]:
        """The dictionary that begins with `<{` at `at`, and the offset of what follows it."""
        if match := _PROPERTIES.match(self.text, at):
            return self.dictionary(match[1], at + 2), match.end()
        end = balanced_end(self.text, at)
        return self.dictionary(self.text[at + 2 : end - 2], at + 2), self.skip(end)

    def attributes(self, at: int) -> tuple[Dictionary, int]:
        """The dictionary that begins with `{` at `at`, and the offset of what follows it."""
        if match := _ATTRIBUTES.match(self.text, at):
            return self.dictionary(match[1], at + 1), match.end()
        end = balanced_end(self.text, at)
        return self.dictionary(self.text[at + 1 : end - 1], at + 1), self.skip(end)

    def dictionary(self, inside: str, at: int) -> Dictionary:
        """What stands between two braces, the first of them right before `at`."""
        known = self.dictionaries.get(inside)
        if known is None:
            known = self.dictionaries[inside] = dictionary_of(inside)
            if not self.trusted and not known.is_plain:
                try:
                    _ = known.entries
                except Unreadable as problem:
                    raise Unreadable(problem.message, at + problem.start) from None
        return known

    def of_line(self, line: re.Match[str]) -> Dictionary:
        """The attributes of an operation that takes one line, and the properties if there are any."""
        properties, at = line[PROPERTIES], line.start(ATTRIBUTES)
        found = self.dictionary(line[ATTRIBUTES], at)
        if properties is None:
            return found
        return self.together(self.dictionary(properties, line.start(PROPERTIES)), found, at)

    def together(self, one: Dictionary, other: Dictionary, at: int) -> Dictionary:
        """The entries of two dictionaries, the second of which begins at `at`."""
        if not one.text.strip() or not other.text.strip():
            return other if not one.text.strip() else one
        return self.dictionary(f"{one.text}, {other.text}", at - len(one.text))

    def signature(self, at: int) -> Signature:
        """`: (types) -> (types) loc(...)`, beginning at `at`."""
        if match := _SIGNATURE.match(self.text, at):
            operands, results, result, location = match.groups()
            return self.types(operands), self.types(result or results or ""), location or "", match.end()
        return self._signature_by_brackets(at)

    def types(self, text: str) -> tuple[str, ...]:
        """The types of a list, without its parentheses."""
        known = self._types.get(text)
        if known is None:
            found = _TYPE.findall(text)
            # Whatever the expression does not cover is missing then.
            known = tuple(found if ", ".join(found) == text else split_list(text))
            self._types[text] = known
        return known

    def location(self, at: int) -> tuple[str, int]:
        """The inside of a `loc(...)` that may stand at `at`, and the offset behind it."""
        match = _LOCATION.match(self.text, at)
        if match is None:
            return "", at
        end = balanced_end(self.text, match.end())
        return self.text[match.end() + 1 : end - 1], end

    def arguments(self, at: int) -> tuple[list[tuple[str, str, str]], int]:
        """Name, type and location of each block argument of the list that begins with `(` at `at`."""
        text, found = self.text, []
        while not text.startswith(")", at):
            if match := _PLAIN_ARGUMENT.match(text, at + 1):
                found.append((match[1], match[2], match[3]))
                at = match.end()
                continue
            match = _ARGUMENT.match(text, at + 1)
            if match is None:
                raise Unreadable("expected a block argument, such as %0: i32", at + 1)
            end = type_end(text, match.end())
            location, at = self.location(end)
            found.append((match[1], text[match.end() : end], location))
            at = self.skip(at)
            if text[at : at + 1] not in (",", ")"):
                raise Unreadable("expected ',' or ')' in a list of block arguments", at)
        return found, at + 1

    def aliases(self, at: int) -> tuple[dict[str, str], str, int]:
        """Aliases that follow one another, each on a line of its own: the meanings of those that are not locations,
        the lines, and the offset behind them."""
        match = _ALIASES.match(self.text, at)
        if match is None:
            raise Unreadable("expected an alias, '#name = ...'", at)
        # Locations are most of them, and are seldom asked for.
        others = "\n".join([line for line in match[0].split("\n") if " = loc(" not in line])
        plain = {name: text for name, text in ALIAS.findall(others) if not text.startswith("loc(")}
        return plain, match[0], match.end()

    def skip(self, at: int) -> int:
        """The offset of what follows white space and comments."""
        match = SPACE.match(self.text, at)
        assert match is not None
        return match.end()

    def _signature_by_brackets(self, at: int) -> Signature:
        text = self.text
        if not text.startswith(":", at):
            raise Unreadable("expected ':' and the types of the operation", at)
        at = self.skip(at + 1)
        if not text.startswith("(", at):
            raise Unreadable("expected '(' and the types of the operands", at)
        end = balanced_end(text, at)
        operands = self.types(text[at + 1 : end - 1])
        at = self.skip(end)
        if not text.startswith("->", at):
            raise Unreadable("expected '->' and the types of the results", at)
        at = self.skip(at + 2)
        if text.startswith("(", at):
            end = balanced_end(text, at)
            # `(i32) -> i32` as the only result is a function; `(i32)` is a list.
            if not text.startswith("->", self.skip(end)):
                return operands, self.types(text[at + 1 : end - 1]), *self.location(end)
        end = type_end(text, at)
        return operands, (text[at:end],), *self.location(end)
