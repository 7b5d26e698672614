"""Conditions of C written as Python writes them, so that `ast` reads them: only where both group them alike."""

from __future__ import annotations

import re

_INNERMOST = re.compile(r"\(([^()]*)\)")
_PIECE = re.compile(r"&&|\|\||[?:,]")
"""What separates expressions that are grouped by themselves."""
_COMPARES, _BINDS_OTHERWISE = re.compile(r"[<>]|[=!]="), re.compile(r"[&|^]|!(?!=)")


def as_python(text: str) -> str:
    """Operators and numbers of C as Python writes them. Raises `ValueError` where Python groups them differently."""
    _refuse_other_grouping(text)
    plain = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text).replace("/", "//")
    return re.sub(r"!(?!=)", " not ", plain).replace("&&", " and ").replace("||", " or ")


def _refuse_other_grouping(text: str) -> None:
    """C compares before `&`, `^` and `|`, and after `!`; Python the other way round: `a & 1 == 0`, `!a == b`."""
    flat = text
    while (inner := _INNERMOST.search(flat)) is not None:
        _refuse_in(inner[1])
        flat = f"{flat[: inner.start()]}x{flat[inner.end() :]}"
    _refuse_in(flat)


def _refuse_in(text: str) -> None:
    """The same of a text without parentheses."""
    for piece in _PIECE.split(text):
        bare = piece.replace("<<", "").replace(">>", "")
        if _COMPARES.search(bare) and _BINDS_OTHERWISE.search(bare):
            raise ValueError("grouped differently")
