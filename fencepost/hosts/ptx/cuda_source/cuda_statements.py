"""Where statements of CUDA code begin, as far as a barrier can be put before them.

No parser of C++: braces, parentheses and semicolons are followed. A body without braces (`for (...) x += s[i];`) is
part of its statement, so that nothing gets between the two. Whatever is put in is compiled and judged again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from fencepost.hosts.ptx.cuda_source.host_code import without_comments

_MARK = re.compile(r"[(){};]")
_GOES_ON = re.compile(r"\s*(?:else\b|while\b|case\b|default\b|catch\b|[,;)}\]:?.=&|<>+*/-]|$)")
"""What continues the statement before, or is a place that is jumped to."""
_LOOP = re.compile(r"\s*(?:for|while|do)\b|.*\)\s*(?:for|while|do)\b", re.DOTALL)
_SCOPE = re.compile(r"\b(?:namespace|extern|struct|class|union|enum)\b[^()=]*$")
"""What stands before braces around declarations."""
_VALUES = re.compile(r"(?:[=,(\]]|\breturn)\s*$")
"""What stands before braces with values in them."""
SYNC = "__syncthreads();"
WARP_SYNC = "__syncwarp();"
CLUSTER_SYNC = "cooperative_groups::this_cluster().sync();"
CLUSTER_ASSEMBLY = (
    'asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");'
)
_CALL = re.compile(r"\b__syncthreads\s*\(\s*\)")


@dataclass
class Braces:
    """What stands between two braces: where it begins and ends, and the statements in it."""

    start: int
    end: int
    is_loop: bool
    is_code: bool = True
    """Whether it is a function or part of one, and no namespace or class."""
    statements: list[int] = field(default_factory=list)


def braces_of(text: str) -> list[Braces]:
    """Every pair of braces of a text, with the statements right inside of it."""
    seen = without_comments(text)
    found: list[Braces] = []
    open_: list[tuple[Braces, int]] = []
    depth = began = 0
    for match in _MARK.finditer(seen):
        mark, behind = match[0], match.end()
        if mark in "()":
            depth += 1 if mark == "(" else -1
            continue
        if mark == "{":
            head = seen[began : match.start()]
            is_loop = _LOOP.match(head) is not None
            open_.append((Braces(behind, len(text), is_loop, _SCOPE.search(head) is None), depth))
            found.append(open_[-1][0])
            depth = 0
        elif mark == "}" and open_:
            closed, depth = open_.pop()
            closed.end = match.start()
        if depth == 0:
            began = behind
        if mark == "{" and _VALUES.search(seen[: match.start()].rstrip()[-8:]):
            continue
        if open_ and depth == 0 and not _GOES_ON.match(seen, behind):
            word = re.compile(r"\s*").match(seen, behind)
            assert word is not None
            open_[-1][0].statements.append(word.end())
    return found


def places_before(text: str, line: int, after: int | None = None) -> list[int]:
    """Where a barrier may go before a line: in the fewest loops first, then near it, then where its loops begin.

    With `after`, only what lies behind that line as well, or in a loop with both."""
    start, end = _extent(text, line)
    every = braces_of(text)
    around = [each for each in every if each.start < end and start < each.end]
    found: dict[int, int] = {}
    for each in sorted(around, key=lambda each: each.start, reverse=True):
        before = [place for place in each.statements if place < end]
        for place in [place for place in reversed(before) if place >= start] or before[-1:]:
            found[place] = sum(other.is_loop and other.start <= place <= other.end for other in around)
    for each in around:
        if each.is_loop and each.statements and each.statements[0] < start:
            loops = sum(other.is_loop and other.start < each.end <= other.end for other in around)
            found.setdefault(each.statements[0], loops)
    kept = found if after is None else _behind(found, _extent(text, after), around)
    return sorted(kept, key=lambda place: found[place])


def end_of_function(text: str, line: int) -> list[int]:
    """The closing brace of the function that a line is in."""
    start, end = _extent(text, line)
    around = [each for each in braces_of(text) if each.is_code and each.start < end and start < each.end]
    return [max(each.end for each in around)] if around else []


@lru_cache(maxsize=1024)
def length_of_function(text: str, line: int) -> int:
    """How many lines the function has that a line is in."""
    start, end = _extent(text, line)
    around = [each for each in braces_of(text) if each.is_code and each.start < end and start < each.end]
    return max((text.count("\n", each.start, each.end) + 1 for each in around), default=0)


def _behind(places: Iterable[int], other: tuple[int, int], around: Sequence[Braces]) -> list[int]:
    """The places behind another statement, or in a loop with it."""
    start, end = other
    loops = [each for each in around if each.is_loop and each.start < end and start < each.end]
    return [
        place for place in places if start < place or any(each.start <= place <= each.end for each in loops)
    ]


def _extent(text: str, line: int) -> tuple[int, int]:
    """Where a line begins and ends."""
    lines = text.split("\n")
    start = sum(len(each) + 1 for each in lines[: line - 1])
    return start, start + len(lines[line - 1]) if line <= len(lines) else len(text)


def without_barrier(text: str, line: int) -> str | None:
    """The text with the barrier of a line commented out; None if there is not one such call on it.

    The semicolon stays: the barrier may be all that an `if` or a loop has as its body."""
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        return None
    found = list(_CALL.finditer(without_comments(text).split("\n")[line - 1]))
    if len(found) != 1:
        return None
    start, end = found[0].span()
    old = lines[line - 1]
    lines[line - 1] = f"{old[:start]}/* {old[start:end]} */{old[end:]}"
    return "\n".join(lines)
