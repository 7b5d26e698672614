"""Lists in parentheses, and what stands between the commas."""

from __future__ import annotations


def inside(text: str, begin: int) -> str:
    """What stands between a parenthesis and the one that closes it."""
    depth = 0
    for at in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[begin + 1 : at]
    return ""


def pieces(text: str) -> list[str]:
    """The pieces of a list, commas in brackets not counted."""
    found, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(char, 0)
        if char == "," and depth == 0:
            found.append(text[start:at])
            start = at + 1
    return [piece.strip() for piece in [*found, text[start:]]]
