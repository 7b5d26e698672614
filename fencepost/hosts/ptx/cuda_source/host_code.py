"""Host code in a CUDA file: NVRTC compiles device code alone, so functions of the host are blanked out.

The text keeps its lines and columns: what NVRTC says about the rest, and what line tables name, is still right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fencepost.hosts.ptx.cuda_source.conditional_braces import ConditionalBraces
from fencepost.hosts.ptx.cuda_source.device_macros import DeviceMacros, behind_device_macros, device_macros

_UNSEEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'"""
    r"""|^[ \t]*\#(?:[^\n\\]|\\.)*""",
    re.DOTALL | re.MULTILINE,
)
_SPACES = re.compile(r"[^\n]")
_DIRECTIVE = re.compile(r"^[ \t]*\#(?:[^\n\\]|\\.)*", re.DOTALL | re.MULTILINE)
_CONDITIONAL = re.compile(r"[ \t]*\#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b([^\n]*)")
_NUMBERS = {"0": "off", "false": "off", "1": "on", "true": "on"}
_OF_A_BODY = re.compile(r"[ \t]*\#[ \t]*(?:include|pragma)\b")
"""Directives that mean nothing outside of the function that they stand in."""
_OF_A_LAMBDA = re.compile(r"(\])((?:\s|__host__)*__device__(?:\s|__host__)*)(?=[({])")
"""What a lambda in device code need not say, and NVRTC does not let it say."""
DEVICE = re.compile(r"__(?:global|device|constant|shared|managed)__|\bconstexpr\b")
_TEMPLATE = re.compile(r"\s*template\s*<")
_NO_FUNCTION = re.compile(r"\s*(?:struct|class|union|enum|using|typedef|static_assert|concept|asm)\b")
_SCOPE = re.compile(r"\s*(?:(?:inline\s+)?namespace\b[\w\s:]*|extern\s*)$")
_ASSIGNED = re.compile(r"(?<![=!<>])=(?!=)[^=;]*$")
_MEMBER_INITIALIZED = re.compile(r"\)[\w\s]*:(?!:)(?:[^;]*,)?\s*\w+(?:\s*<[^;{}()]*>)?\s*$")
_NAME = re.compile(r"([~\w:]+)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*$")


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """A CUDA file without its host functions."""

    text: str
    left_out: tuple[str, ...]
    """The names of the functions that were blanked out."""


def device_code(text: str, macros: DeviceMacros | None = None) -> DeviceCode:
    """The file with the functions blanked out that only the host can call.

    Uses of macros that make code of the device stay: of these, or of the file's own."""
    macros = device_macros(text) if macros is None else macros
    text = _OF_A_LAMBDA.sub(lambda found: found[1] + " " * len(found[2]), text)
    seen, kept = without_comments(text), with_directives(text)
    left_out: list[str] = []
    pieces: list[str] = []
    at = 0
    for head, start, end in declarations(seen, 0, len(seen)):
        made = behind_device_macros(head, macros)
        if made is None or not _is_host_function(head[made:]):
            continue
        body, start = start + len(head), start + made
        left_out.append(name_of(head[made:]))
        pieces += [
            text[at:start],
            blanked(kept[start:body], inside=False),
            blanked(kept[body:end], inside=True),
        ]
        at = end
    return DeviceCode("".join([*pieces, text[at:]]), tuple(left_out))


def function_name(head: str) -> str | None:
    """The name of the function that a declaration declares."""
    name = _NAME.search(head.rstrip(" \n\t;"))
    return name[1] if name else None


def template_parameters(head: str) -> list[str]:
    """The parameters of the template that a declaration is, as they are written; none if it is no template."""
    match = _TEMPLATE.match(head)
    if match is None:
        return []
    depth, at, found = 1, match.end(), [""]
    while at < len(head):
        depth += {"<": 1, ">": -1}.get(head[at], 0)
        if not depth:
            break
        if head[at] == "," and depth == 1:
            found.append("")
        else:
            found[-1] += head[at]
        at += 1
    return [each.strip() for each in found if each.strip()]


def name_of(head: str) -> str:
    """What a declaration declares, as far as that is told from its text."""
    words = re.findall(r"[\w:~]+", head.partition("=")[0])
    return function_name(head) or (words[-1] if words else "a declaration")


def blanked(text: str, *, inside: bool) -> str:
    """Spaces for a text, in as many lines. Directives stay: macros are for what follows, too."""
    pieces, at = [], 0
    for match in _DIRECTIVE.finditer(text):
        if inside and _OF_A_BODY.match(match[0]):
            continue
        pieces += [_SPACES.sub(" ", text[at : match.start()]), match[0]]
        at = match.end()
    return "".join([*pieces, _SPACES.sub(" ", text[at:])])


def without_comments(text: str) -> str:
    """The text with comments, strings, directives and what `#if 0` leaves out blanked out."""
    pieces: list[str] = []
    branches: list[str] = []
    braces = ConditionalBraces()
    at = 0
    for match in _UNSEEN.finditer(text):
        pieces += [_compiled(text[at : match.start()], branches), _SPACES.sub(" ", match[0])]
        directive = _CONDITIONAL.match(match[0])
        if directive is not None:
            _branch(branches, directive[1], re.split(r"/[/*]", directive[2])[0].strip())
            braces.directive(directive[1], match.span(), branches[-1] if branches else "")
        at = match.end()
    return braces.balanced("".join([*pieces, _compiled(text[at:], branches)]))


def _compiled(text: str, branches: Sequence[str]) -> str:
    return _SPACES.sub(" ", text) if {"off", "done"}.intersection(branches) else text


def _branch(branches: list[str], word: str, condition: str) -> None:
    """Follows a conditional directive: a branch is `on`, may be (`maybe`), or is not (`off`; `done` if one before it
    was on)."""
    if word.startswith("if"):
        branches.append(_NUMBERS.get(condition, "maybe") if word == "if" else "maybe")
    elif word == "endif":
        del branches[-1:]
    elif branches:
        following = {"on": "done", "off": "on" if word == "else" else "maybe"}
        branches[-1] = following.get(branches[-1], branches[-1])


def with_directives(text: str) -> str:
    """The text with comments and strings blanked out, but not directives."""
    return _UNSEEN.sub(
        lambda match: match[0] if match[0].lstrip().startswith("#") else _SPACES.sub(" ", match[0]), text
    )


def declarations(seen: str, start: int, stop: int) -> Iterator[tuple[str, int, int]]:
    """The declarations of a file and of its namespaces: what is before the body, where each begins and ends."""
    at = start
    while at < stop:
        match = re.compile(r"[;{}]").search(seen, at, stop)
        if match is None:
            return
        head, end = seen[start : match.start()], match.end()
        if match[0] == "{" and _begins_a_value(head):
            at = closing_brace(seen, match.start(), stop) + 1
            continue
        if match[0] == "{" and _SCOPE.match(head):
            closing = closing_brace(seen, match.start(), stop)
            yield from declarations(seen, end, closing)
            start = at = closing + 1
            continue
        if match[0] == "{":
            end = closing_brace(seen, match.start(), stop) + 1
            if not is_function(head):
                # A type or an initializer goes on up to its semicolon.
                semicolon = seen.find(";", end, stop)
                end = semicolon + 1 if semicolon >= 0 else stop
        yield head, start, min(end, stop)
        start = at = end


def _begins_a_value(head: str) -> bool:
    """Whether the brace behind a text is that of a default argument, or of what a constructor gives a member."""
    opened = [0]
    for match in re.finditer(r"[()]", head):
        opened = [*opened, match.end()] if match[0] == "(" else opened[:-1] or [0]
    if len(opened) > 1:
        return _ASSIGNED.search(head, opened[-1]) is not None
    return _MEMBER_INITIALIZED.search(head) is not None


def closing_brace(seen: str, brace: int, stop: int) -> int:
    """Where the brace at `brace` is closed; the end if nothing closes it."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(seen, brace, stop):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return stop


def without_template(head: str) -> str:
    """A declaration without `template <…>` in front of it."""
    while match := _TEMPLATE.match(head):
        depth, at = 1, match.end()
        while at < len(head) and depth:
            depth += {"<": 1, ">": -1}.get(head[at], 0)
            at += 1
        head = head[at:]
    return head


def is_function(head: str) -> bool:
    """Whether a declaration is that of a function: parentheses, and nothing that is assigned in front of them."""
    bare = without_template(head)
    before, parenthesis, _ = bare.partition("(")
    if not parenthesis or _NO_FUNCTION.match(bare):
        return False
    return "=" not in before or "operator" in before


def _is_host_function(head: str) -> bool:
    return is_function(head) and DEVICE.search(head) is None
