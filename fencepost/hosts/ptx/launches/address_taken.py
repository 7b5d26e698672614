"""Kernels whose address host code takes: who has it may launch them with any block.

`cudaLaunchKernel((void *)k, …)`, `cudaLaunchKernelEx(&config, k, …)`, `auto f = k`, `run(k, 256)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
_HARMLESS = re.compile(r"\bcuda(?:Func|Occupancy|Get)\w*\s*(?:<[^;<>]*>\s*)?\([^;{}]*$")
"""A call of a function that asks for, or sets, a property of a kernel."""
_DECLARES = re.compile(r"\b__global__\b[^;{}]*$")
_NEAR = 300
"""So many characters before a name tell what it is there for."""


def with_address_taken(host: str, kernels: Iterable[str]) -> set[str]:
    """Those of some kernels that a text of the host names for something else than a launch of its own."""
    text = _STRING.sub(lambda each: " " * len(each[0]), host)
    return {name for name in kernels if _is_address_taken(text, name)}


def _is_address_taken(text: str, name: str) -> bool:
    if re.search(rf"\b[A-Za-z_]\w*[\s*&]+{name}\s*(?:[=;,)\[{{])", _without_returns(text)) is not None:
        return False  # A variable goes by the same name.
    for match in re.finditer(rf"\b{name}\s*(?:<(?!<)[^;{{}}()<>]*>)?\s*(?=[,);}}\]:?])", text):
        before = text[max(0, match.start() - _NEAR) : match.start()]
        member = before.rstrip().endswith((".", "->"))
        if not member and _HARMLESS.search(before) is None and _DECLARES.search(before) is None:
            return True
    return False


def _without_returns(text: str) -> str:
    return re.sub(r"\breturn\b", "(", text)
