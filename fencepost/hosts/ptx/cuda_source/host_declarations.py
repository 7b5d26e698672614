"""Declarations that the compiler stumbles over, and that only the host can use: they are left out one by one.

Of a type that kernels may use, members go alone: what the host does with it (`void load(const std::vector<T> &)`)
stands beside what the device does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fencepost.hosts.ptx.cuda_source.device_macros import DeviceMacros, behind_device_macros, device_macros
from fencepost.hosts.ptx.cuda_source.host_code import (
    DEVICE,
    DeviceCode,
    blanked,
    declarations,
    is_function,
    name_of,
    with_directives,
    without_comments,
    without_template,
)

_SPECIALIZATION = re.compile(r"\s*template\s*<\s*>|[\s\S]*\b(?:struct|class|union)\s+\w+\s*<")
_TYPE = re.compile(r"\s*(?:typedef\s+)?(?:struct|class|union)\b")
_ACCESS = re.compile(r"(?:\s*(?:public|private|protected)\s*:(?!:))+")
_VIRTUAL = re.compile(r"\bvirtual\b|\boverride\b|\bfinal\b")
_WORD = re.compile(r"\w+")
_POINTER = re.compile(r"((?:(?:mutable|const)\s+)*)([\w:]+(?:\s*<[^;{}()]*>)?)(\s*\*[^;{}()]*;)\s*")


_PLAIN = re.compile(
    r"(?:[\s*]|\b(?:const|volatile|unsigned|signed|char|short|int|long|float|double|bool|size_t|void)\b)+"
    r"\w+(?:[\s,*]+\w+)*\s*;"
)
"""A member that nothing can be wrong with: what is, stands on the same line."""
_CONSTANT = re.compile(r"\s*(?:(?:static|inline|const)\s+)*constexpr\b[^(]*(?:=|;|\{|$)")


@dataclass(frozen=True, slots=True)
class _Place:
    """A declaration that goes."""

    start: int
    stop: int
    name: str
    type_: str = ""
    """The type that it is a member of."""

    @property
    def full_name(self) -> str:
        """Its name, with that of its type."""
        return f"{self.type_}::{self.name}" if self.type_ else self.name


@dataclass(frozen=True, slots=True)
class _File:
    """A file, and the lines of it that do not compile."""

    seen: str
    """Its text without comments, strings and directives."""
    lines: frozenset[int]
    macros: DeviceMacros

    def is_wrong(self, start: int, stop: int) -> bool:
        """Whether one of the lines is in a part of the file."""
        first = self.seen.count("\n", 0, start) + 1
        return not self.lines.isdisjoint(range(first, self.seen.count("\n", 0, stop) + 2))

    def is_of_the_device(self, start: int, stop: int) -> bool:
        """Whether a part of the file says something of the device, itself or by a macro."""
        part = self.seen[start:stop]
        return DEVICE.search(part) is not None or not self.macros.keys().isdisjoint(_WORD.findall(part))

    def is_a_constant(self, head: str, start: int, stop: int) -> bool:
        """Whether a part of the file is a constant, which says nothing of the device but that it is one."""
        rest = self.seen[start:stop].replace("constexpr", "")
        return (
            _CONSTANT.match(head) is not None
            and DEVICE.search(rest) is None
            and self.macros.keys().isdisjoint(_WORD.findall(rest))
        )


def without_host_declarations(
    text: str, lines: Iterable[int], macros: DeviceMacros | None = None
) -> DeviceCode:
    """The file without the declarations on some lines: those that say nothing of the device.

    What the device uses of them, the compiler misses. Specializations of templates stay: without one, another would
    be used, and nothing missed.
    """
    macros = device_macros(text) if macros is None else macros
    file = _File(without_comments(text), frozenset(lines), macros)
    kept = with_directives(text)
    left_out: list[str] = []
    pieces: list[str] = []
    at = 0
    for place in _wrong(file, 0, len(text)):
        left_out.append(place.full_name)
        pieces += [text[at : place.start], _left(kept, place)]
        at = place.stop
    return DeviceCode("".join([*pieces, text[at:]]), tuple(left_out))


def _wrong(file: _File, start: int, stop: int, type_: str = "") -> Iterator[_Place]:
    """The declarations in a part of a file that go: members of a type, where they alone are wrong."""
    for head, begin, end in declarations(file.seen, start, stop):
        made = behind_device_macros(head, file.macros)
        if made is None:
            continue
        access = _ACCESS.match(head, made) if type_ else None
        made = access.end() if access is not None else made
        head, begin = head[made:], begin + made
        brace = begin + len(head)
        begin += len(head) - len(head.lstrip())
        if not file.is_wrong(begin, end) or not file.seen[begin:end].strip(" \n\t;"):
            continue
        if _SPECIALIZATION.match(head) is not None:
            continue
        if file.seen[brace] == "{" and _TYPE.match(without_template(head)) and not is_function(head):
            closing = file.seen.rfind("}", brace, end)
            members = list(_wrong(file, brace + 1, closing, _type_name(head)))
            yield from members
            if members:
                continue
        if type_ and (_VIRTUAL.search(head) or _PLAIN.fullmatch(file.seen, begin, end)):
            continue
        if not file.is_of_the_device(begin, end) or file.is_a_constant(head, begin, end):
            yield _Place(begin, end, name_of(head), type_)


def _type_name(head: str) -> str:
    """The name of a type that is defined, without its bases."""
    words = _WORD.findall(without_template(head).partition(":")[0])
    return next((each for each in reversed(words) if each != "final"), "")


def _left(kept: str, place: _Place) -> str:
    """What is left of a declaration: lines, directives, and of a member that is a pointer its place."""
    text = kept[place.start : place.stop]
    pointer = _POINTER.fullmatch(text) if place.type_ else None
    if pointer is not None:
        return f"{pointer[1]}{'void':<{len(pointer[2])}}{pointer[3]}"
    return blanked(text, inside=True)
