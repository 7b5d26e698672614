"""The loops of CUDA code as they are written: where their bodies begin and end, with braces or without.

No parser of C++: parentheses, braces and semicolons are followed, and words that begin statements.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from fencepost.hosts.ptx.cuda_source.cuda_statements import braces_of
from fencepost.hosts.ptx.cuda_source.host_code import without_comments

_LOOP = re.compile(r"\b(?:for|while|do)\b")
_HEAD = re.compile(r"\s*(?:for|while|switch|if(?:\s+constexpr)?)\s*(?=\()")
_DO, _ELSE = re.compile(r"\s*do\b"), re.compile(r"\s*else\b")
_AFTER = re.compile(r"\s*")
_JUMP = re.compile(r"\b(?:continue|goto)\b")
_UNDER = re.compile(r"\b(?:if|else|switch|case|default)\b[^;{}]*$")
"""Before a statement: what decides whether it is reached, without braces of its own."""
_PAIRS = {"(": ")", "{": "}", "[": "]"}
_MOST_NESTED = 50


@dataclass(frozen=True)
class SourceLoop:
    """A loop, by the lines of its head, of the first statement of its body, and of the end of its body."""

    line: int
    first: int
    last: int
    start: int
    """Where its body begins in the text."""
    has_room: bool
    """Whether a line can be put before the first statement, and before the closing brace."""


def loops_around(text: str, line: int) -> list[SourceLoop]:
    """The loops around a line, outermost first."""
    return [each for each in _loops(text) if each.first <= line <= each.last]


def loop_around_both(text: str, one: int, other: int) -> SourceLoop | None:
    """The innermost loop around two lines."""
    both = [each for each in loops_around(text, one) if each in loops_around(text, other)]
    return both[-1] if both else None


def is_in_every_iteration(text: str, loop: SourceLoop, line: int) -> bool:
    """Whether each iteration of a loop comes to a line, once, as far as the text shows."""
    seen = without_comments(text)
    here = seen.split("\n")[line - 1]
    begin = sum(len(each) + 1 for each in seen.split("\n")[: line - 1]) + len(here) - len(here.lstrip())
    before = seen[loop.start : max(begin, loop.start)]
    nested = any(
        loop.start < each.start and _line_at(text, each.start) <= line <= _line_at(text, each.end)
        for each in braces_of(text)
    )
    return not (
        nested or _JUMP.search(before) or _UNDER.search(before) or _UNDER.search(here.partition(";")[0])
    )


@lru_cache(maxsize=64)
def _loops(text: str) -> tuple[SourceLoop, ...]:
    """Every loop, in the order of the text."""
    seen = without_comments(text)
    found = []
    for word in _LOOP.finditer(seen):
        body = word.end() if word[0] == "do" else _behind_head(seen, word.start())
        if body is None:
            continue
        body = _next(seen, body)
        if word[0] == "while" and seen[body : body + 1] == ";":
            # It waits, or is the end of a `do`.
            continue
        found.append(_loop(seen, word.start(), body))
    return tuple(found)


def _loop(seen: str, head: int, body: int) -> SourceLoop:
    """A loop whose body begins somewhere."""
    end = _statement_end(seen, body)
    braced = seen[body : body + 1] == "{"
    first = _next(seen, body + braced)
    lines = _line_at(seen, head), _line_at(seen, first), _line_at(seen, max(end - 1, body))
    alone = not seen[seen.rfind("\n", 0, end - 1) + 1 : end - 1].strip()
    fresh = not seen[seen.rfind("\n", 0, first) + 1 : first].strip()
    return SourceLoop(*lines, body + braced, braced and alone and fresh)


def _statement_end(seen: str, at: int, depth: int = 0) -> int:
    """Where the statement ends that begins somewhere."""
    at = _next(seen, at)
    if seen[at : at + 1] == "{":
        return _closing(seen, at)
    if depth < _MOST_NESTED and _HEAD.match(seen, at):
        behind = _behind_head(seen, at)
        end = _statement_end(seen, len(seen) if behind is None else behind, depth + 1)
        other = _ELSE.match(seen, end) if seen.startswith("if", at) else None
        return end if other is None else _statement_end(seen, other.end(), depth + 1)
    if (begin := _DO.match(seen, at)) is not None and depth < _MOST_NESTED:
        at = _statement_end(seen, begin.end(), depth + 1)
    while at < len(seen) and seen[at] not in ";}":
        at = _closing(seen, at) if seen[at] in _PAIRS else at + 1
    return min(at + 1, len(seen))


def _behind_head(seen: str, at: int) -> int | None:
    """Behind the parentheses of `for (...)` and the like."""
    head = _HEAD.match(seen, at)
    return _closing(seen, head.end()) if head is not None else None


def _closing(seen: str, at: int) -> int:
    """Behind what closes an opening bracket."""
    opening, depth = seen[at], 0
    for place in range(at, len(seen)):
        depth += (seen[place] == opening) - (seen[place] == _PAIRS[opening])
        if depth == 0:
            return place + 1
    return len(seen)


def _next(seen: str, at: int) -> int:
    """The next place that is no space."""
    found = _AFTER.match(seen, at)
    return found.end() if found is not None else at


def _line_at(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
