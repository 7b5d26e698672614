"""Layouts that Triton 3.9 prints and cannot parse, rewritten so that it can.

The matrix layout of RDNA GPUs loses two things when it is printed, and the parser ends the whole
process where it misses them:

    #mma = #ttg.amd_wmma<{..., ctaLayout = {}}>                         one warp: no bases to print
    #mma = #ttg.amd_wmma<{..., ctaLayout = {warp = [[1, 0, 0]]}}>       three dimensions: no rank

The parser takes `ctaLayout = {warp = []}` and `rank = 3` instead, and what it makes of them is
printed as before. All repairs are insertions, so a place in the repaired text is easily traced back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_KIND = "#ttg.amd_wmma<"
_LAYOUT = re.compile(
    r"(#[\w$-]+)\s*=\s*#ttg\.amd_wmma<\{[^<>\n]*?\b(ctaLayout\s*=\s*\{([^{}\n]*))\}[^<>\n]*\}>"
)
_BASIS = re.compile(r"\[([-\d,\s]+)\]")
_RANK = re.compile(r"\brank\s*=")
_USUAL_RANK = 2


@dataclass(frozen=True, slots=True)
class Repaired:
    """A text that can be parsed, and what was put in: offsets in the repaired text, and how much."""

    text: str
    inserted: tuple[tuple[int, int], ...] = ()

    def original_offset(self, offset: int) -> int:
        """Where a character of the repaired text stands in the original one."""
        shift = 0
        for at, length in self.inserted:
            if offset < at:
                break
            shift += min(length, offset - at)
        return offset - shift


def repaired(text: str) -> Repaired:
    """`text` with every layout in a form that the parser takes."""
    parts: list[str] = []
    inserted: list[tuple[int, int]] = []
    last = length = 0
    for at, addition in _additions(text):
        parts += [text[last:at], addition]
        length += at - last
        inserted.append((length, len(addition)))
        length += len(addition)
        last = at
    return Repaired("".join([*parts, text[last:]]), tuple(inserted)) if parts else Repaired(text)


def _additions(text: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for match in _layouts(text):
        bases = _BASIS.search(match[3])
        rank = bases[1].count(",") + 1 if bases else _rank_in_use(text, match[1])
        if rank != _USUAL_RANK and not _RANK.search(match[0]):
            found.append((match.start(2), f"rank = {rank}, "))
        if not match[3].strip():
            found.append((match.end(2), "warp = []"))
    return found


def _layouts(text: str) -> Iterator[re.Match[str]]:
    """The layouts that have a name: only where they are mentioned is the text looked at, which may be long."""
    at = text.find(_KIND)
    while at >= 0:
        match = _LAYOUT.match(text, text.rfind("\n#", 0, at) + 1)
        if match is not None:
            yield match
        at = text.find(_KIND, at + 1 if match is None else match.end())


def _rank_in_use(text: str, alias: str) -> int:
    """How many dimensions the tensors with this layout have; the usual two where there are none."""
    tensor = re.search(rf"tensor<((?:\d+x)+)[^#\n]*, {re.escape(alias)}>", text)
    return tensor[1].count("x") if tensor else _USUAL_RANK
