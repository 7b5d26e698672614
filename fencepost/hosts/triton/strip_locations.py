"""A module's text without its locations, everything else at its place.

Locations name the kernel's Python source. Without them Triton falls back to where an operation
stands in the module's own file, which is what a message about that file has to show.
"""

from __future__ import annotations

import re

from fencepost.hosts.triton.mlir.scan import Unreadable, balanced_end

# Strings and comments are matched so that nothing inside them is; an alias goes with its whole line.
_PIECE = re.compile(
    r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|//[^\n]*|^#[\w$-]+\s*=\s*(?=loc\()|\bloc(?=\()', re.MULTILINE
)


def without_locations(text: str) -> str:
    """`text` with each `loc(...)` and each alias of one replaced by as many spaces."""
    parts: list[str] = []
    last = 0
    for match in _PIECE.finditer(text):
        start = match.start()
        if start < last or text[start] in '"/':
            continue
        try:
            end = balanced_end(text, text.index("(", match.end()))
        except (Unreadable, ValueError):
            break
        # Line ends stay, so that all that follows keeps its line.
        parts += [text[last:start], re.sub(r"[^\n]", " ", text[start:end])]
        last = end
    return "".join([*parts, text[last:]])
