"""Kernels whose address host code takes: who has it may launch them with any block.

`cudaLaunchKernel((void *)k, …)`, `cudaLaunchKernelEx(&config, k, …)`, `auto f = k`, `run(k, 256)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
_HARMLESS = re.compile(r"\bcuda(?:Func|Occupancy|Get)\w*\s*(?:<[^;<>]*>\s*)?\([^;{}]*$")
"""A call of a function that asks for, or sets, a property of a kernel."""
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(((?:[^\n\\]|\\.)*)", re.MULTILINE | re.DOTALL)
_ASKS = re.compile(r"\bcuda(?:Func|Occupancy)\w*\s*\(")
_LAUNCHES = re.compile(r"<<<|\bcudaLaunch\w*|\bcu(?:da)?Graph\w*")
_DECLARES = re.compile(r"\b__global__\b[^;{}]*$")
_NEAR = 300
"""So many characters before a name tell what it is there for."""


def with_address_taken(host: str, kernels: Iterable[str], macros: str = "") -> set[str]:
    """Those of some kernels that a text of the host names for something else than a launch of its own.

    Macros that it uses are defined in another text, from which directives were not taken out."""
    text = _STRING.sub(lambda each: " " * len(each[0]), host)
    asking = _asking_macros(macros)
    return {name for name in kernels if _is_address_taken(text, name, asking)}


def _asking_macros(text: str) -> re.Pattern[str] | None:
    """Uses of macros that ask for properties of what they are given, or set them, up to the end of a text."""
    bodies: dict[str, str] = {}
    for match in _MACRO.finditer(text):
        bodies[match[1]] = bodies.get(match[1], "") + match[2]
    names = [name for name, body in bodies.items() if _ASKS.search(body) and not _LAUNCHES.search(body)]
    return re.compile(rf"\b(?:{'|'.join(names)})\s*\([^;{{}}]*$") if names else None


def _is_address_taken(text: str, name: str, asking: re.Pattern[str] | None) -> bool:
    if re.search(rf"\b[A-Za-z_]\w*[\s*&]+{name}\s*(?:[=;,)\[{{])", _without_returns(text)) is not None:
        return False  # A variable goes by the same name.
    for match in re.finditer(rf"\b{name}\s*(?:<(?!<)[^;{{}}()<>]*>)?\s*(?=[,);}}\]:?])", text):
        before = text[max(0, match.start() - _NEAR) : match.start()]
        member = before.rstrip().endswith((".", "->"))
        harmless = _HARMLESS.search(before) or _DECLARES.search(before) or (asking and asking.search(before))
        if not member and not harmless:
            return True
    return False


def _without_returns(text: str) -> str:
    return re.sub(r"\breturn\b", "(", text)
