"""Launches in macros: `#define LAUNCH(N) case N: k<N><<<grid, N>>>(data); break`.

What a macro launches stands where it is used, with the arguments that it has there. The text that comes of it is
only searched for launches; it is not compiled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FUNCTION_LIKE = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^()\n]*)\)((?:[^\n\\]|\\.)*)", re.MULTILINE | re.DOTALL
)
_REST = "__VA_ARGS__"
DEEPEST = 2
"""Macros that use one another, that are followed."""


@dataclass(frozen=True)
class _Macro:
    parameters: tuple[str, ...]
    body: str

    def used(self, arguments: list[str]) -> str:
        """The body with arguments in the place of parameters."""
        values = dict(zip(self.parameters, arguments, strict=False))
        if self.parameters and self.parameters[-1] == _REST:
            values[_REST] = ", ".join(arguments[len(self.parameters) - 1 :])
        joined = re.sub(r"\s*##\s*", "", self.body)
        return re.sub(r"\w+", lambda word: values.get(word[0], word[0]), joined)


def with_launches_of_macros(text: str) -> str:
    """The text with the uses of macros that launch kernels written out."""
    for _ in range(DEEPEST):
        macros = {
            match[1]: _Macro(_parameters(match[2]), " ".join(re.sub(r"\\\n", " ", match[3]).split()))
            for match in _FUNCTION_LIKE.finditer(text)
            if "<<<" in match[3]
        }
        if not macros:
            break
        text = _written_out(text, macros)
    return text


def _parameters(text: str) -> tuple[str, ...]:
    return tuple(each.strip().replace("...", _REST) for each in text.split(",") if each.strip())


def _written_out(text: str, macros: dict[str, _Macro]) -> str:
    uses = re.compile(
        rf"^[ \t]*#[ \t]*define[ \t]+(?:{'|'.join(macros)})\(|\b({'|'.join(macros)})\s*\(", re.MULTILINE
    )
    pieces, at = [], 0
    for match in uses.finditer(text):
        if match[1] is None or match.start() < at:
            continue
        arguments, end = _arguments(text, match.end())
        pieces += [text[at : match.start()], macros[match[1]].used(arguments)]
        at = end
    return "".join([*pieces, text[at:]])


def _arguments(text: str, at: int) -> tuple[list[str], int]:
    """The arguments of a macro from its parenthesis on, and where they end."""
    found, depth = [""], 1
    for place in range(at, len(text)):
        char = text[place]
        depth += {"(": 1, ")": -1}.get(char, 0)
        if not depth:
            return [each.strip() for each in found], place + 1
        if char == "," and depth == 1:
            found.append("")
        else:
            found[-1] += char
    return [each.strip() for each in found], len(text)
