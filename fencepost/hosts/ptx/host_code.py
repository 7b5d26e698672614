"""Host code in a CUDA file: NVRTC compiles device code alone, so functions of the host are blanked out.

The text keeps its lines and columns: what NVRTC says about the rest, and what line tables name, is still right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_UNSEEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'"""
    r"""|^[ \t]*\#(?:[^\n\\]|\\.)*""",
    re.DOTALL | re.MULTILINE,
)
_SPACES = re.compile(r"[^\n]")
_DEVICE = re.compile(r"__(?:global|device|constant|shared|managed)__|\bconstexpr\b")
_TEMPLATE = re.compile(r"\s*template\s*<")
_NO_FUNCTION = re.compile(r"\s*(?:struct|class|union|enum|using|typedef|static_assert|friend|concept|asm)\b")
_SCOPE = re.compile(r"\s*(?:(?:inline\s+)?namespace\b[\w\s:]*|extern\s*)$")
_LAUNCH = re.compile(r"(\b[A-Za-z_][\w:]*\s*<(?!<)[^;{}()]*?>)\s*<<<")
_NAME = re.compile(r"([~\w:]+)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*$")


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """A CUDA file without its host functions."""

    text: str
    left_out: tuple[str, ...]
    """The names of the functions that were blanked out."""


def device_code(text: str) -> DeviceCode:
    """The file with the functions blanked out that only the host can call."""
    seen = without_comments(text)
    left_out: list[str] = []
    pieces: list[str] = []
    at = 0
    for head, start, end in _declarations(seen, 0, len(seen)):
        if not _is_host_function(head):
            continue
        name = _NAME.search(head.rstrip(" \n\t;"))
        left_out.append(name[1] if name else head.split()[-1])
        pieces += [text[at:start], _SPACES.sub(" ", text[start:end])]
        at = end
    return DeviceCode("".join([*pieces, text[at:]]), tuple(left_out))


def launched_instances(text: str) -> tuple[str, ...]:
    """The kernels of templates that a file launches, as `reduce<256>`: compilers make what is used of a template."""
    found = (" ".join(match[1].split()) for match in _LAUNCH.finditer(without_comments(text)))
    return tuple(dict.fromkeys(found))


def without_comments(text: str) -> str:
    """The text with comments, strings and directives blanked out."""
    return _UNSEEN.sub(lambda match: _SPACES.sub(" ", match[0]), text)


def _declarations(seen: str, start: int, stop: int) -> Iterator[tuple[str, int, int]]:
    """The declarations of a file and of its namespaces: what is before the body, where each begins and ends."""
    at = start
    while at < stop:
        match = re.compile(r"[;{}]").search(seen, at, stop)
        if match is None:
            return
        head, end = seen[start : match.start()], match.end()
        if match[0] == "{" and _SCOPE.match(head):
            closing = _closing(seen, match.start(), stop)
            yield from _declarations(seen, end, closing)
            start = at = closing + 1
            continue
        if match[0] == "{":
            end = _closing(seen, match.start(), stop) + 1
            if not _is_function(head):
                # A type or an initializer goes on up to its semicolon.
                semicolon = seen.find(";", end, stop)
                end = semicolon + 1 if semicolon >= 0 else stop
        yield head, start, min(end, stop)
        start = at = end


def _closing(seen: str, brace: int, stop: int) -> int:
    """Where the brace at `brace` is closed; the end if nothing closes it."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(seen, brace, stop):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return stop


def _without_template(head: str) -> str:
    """A declaration without `template <…>` in front of it."""
    while match := _TEMPLATE.match(head):
        depth, at = 1, match.end()
        while at < len(head) and depth:
            depth += {"<": 1, ">": -1}.get(head[at], 0)
            at += 1
        head = head[at:]
    return head


def _is_function(head: str) -> bool:
    """Whether a declaration is that of a function: parentheses, and nothing that is assigned in front of them."""
    bare = _without_template(head)
    before, parenthesis, _ = bare.partition("(")
    if not parenthesis or _NO_FUNCTION.match(bare):
        return False
    return "=" not in before or "operator" in before


def _is_host_function(head: str) -> bool:
    return _is_function(head) and _DEVICE.search(head) is None
