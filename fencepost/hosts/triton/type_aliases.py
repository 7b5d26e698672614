"""A module's text with its costly types said once.

Triton checks a layout with padding each time its parser meets a view that has it, and that is most of what parsing
such a module takes. Said once, under a name, it is checked once; the module is the same.
"""

from __future__ import annotations

import re

_COSTLY = "#ttg.padded_shared"
_MODULE = '\n"builtin.module"()'
# Strings are matched so that nothing inside them is.
_PIECE = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|!ttg\.memdesc<[^<>"\n]*>')


def with_types_once(text: str) -> str:
    """`text`, in generic form, with a name for each type of a view, if that pays."""
    at = text.find(_MODULE) + 1
    if not at or _COSTLY not in text or "!fencepost_" in text:
        return text
    names: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        piece = match[0]
        if piece.startswith('"'):
            return piece
        return names.setdefault(piece, f"!fencepost_{len(names)}")

    body = _PIECE.sub(named, text[at:])
    return "".join([text[:at], *(f"{name} = {piece}\n" for piece, name in names.items()), body])
