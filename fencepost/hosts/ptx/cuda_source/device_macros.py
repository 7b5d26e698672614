"""Macros that make kernels and functions of the device: `#define KERNEL(N) __global__ void k##N(int *a) { … }`.

What such a macro stands for is not seen where it is used, and must not be taken for code of the host there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_DEFINE = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^()\n]*\))?((?:[^\n\\]|\\.)*)", re.MULTILINE | re.DOTALL
)
_DEVICE = re.compile(r"__(?:global|device)__")

DeviceMacros = Mapping[str, bool]
"""By name, whether a macro is a declaration from beginning to end."""


def device_macros(text: str) -> DeviceMacros:
    """The macros of a text that say something of the device, themselves or through others."""
    bodies: dict[str, str] = {}
    for match in _DEFINE.finditer(text):
        bodies[match[1]] = bodies.get(match[1], "") + " " + match[2]
    found = {name for name, body in bodies.items() if _DEVICE.search(body)}
    changed = bool(found)
    while changed:
        using = {
            name
            for name, body in bodies.items()
            if name not in found and found.intersection(re.findall(r"\w+", body))
        }
        found |= using
        changed = bool(using)
    return {name: _is_whole(bodies[name], found) for name in found}


def _is_whole(body: str, macros: set[str]) -> bool:
    """Whether nothing has to follow: braces or a semicolon at the end, or a use of another such macro."""
    text = re.sub(r"\\\s*\n", " ", body).rstrip()
    return text.endswith(("}", ";")) or (
        text.endswith(")") and bool(macros.intersection(re.findall(r"\w+", text)))
    )


def behind_device_macros(head: str, macros: DeviceMacros) -> int | None:
    """Where a declaration begins, behind macros that are declarations themselves; None if one is a part of it."""
    at = 0
    for match in re.finditer(r"\w+", head):
        if match.start() < at or match[0] not in macros:
            continue
        if not macros[match[0]]:
            return None
        at = _end_of_use(head, match.end())
    return at


def _end_of_use(head: str, at: int) -> int:
    """Where the arguments of a macro end."""
    opening = re.compile(r"\s*\(").match(head, at)
    if opening is None:
        return at
    depth = 1
    for place in range(opening.end(), len(head)):
        depth += {"(": 1, ")": -1}.get(head[place], 0)
        if not depth:
            return place + 1
    return len(head)
