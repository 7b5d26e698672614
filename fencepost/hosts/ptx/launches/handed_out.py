"""Variables of the host that something else may change: whose address is taken, that a reference is bound to, or that
are passed to a function of the file which takes them by reference."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from fencepost.hosts.ptx.launches.argument_lists import inside, pieces

_TYPE = r"(?:int|long|short|unsigned|size_t|u?int\d*_t|uint|auto|dim3|[A-Z]\w*)"
_PARAMETERS = re.compile(r"\b(\w+)\s*(?:=\s*\[[^\]]*\]\s*)?\(((?:[^(){};]|\([^(){};]*\))*)\)")
_REFERENCE = re.compile(rf"(?!.*\bconst\b).*\b{_TYPE}\s*&&?\s*\w*\s*", re.DOTALL)
_CHANGES_ITS_ARGUMENTS = re.compile(r"\b(?:swap|tie|exchange)\s*\(([^;{}]*?)\)")
References = Mapping[str, frozenset[int]]
"""By function, the places of parameters that it may change."""


@lru_cache(maxsize=4)
def references(seen: str) -> References:
    """The functions of a text that take numbers by reference."""
    found: dict[str, set[int]] = {}
    for match in _PARAMETERS.finditer(seen):
        for place, each in enumerate(pieces(match[2]) if "&" in match[2] else ()):
            if _REFERENCE.fullmatch(each):
                found.setdefault(match[1], set()).add(place)
    return {name: frozenset(places) for name, places in found.items()}


def is_handed_out(name: str, text: str, seen: str) -> bool:
    """Whether a variable may be changed by another name in a text, which is the whole file or a part of it."""
    address = rf"(?:[^\w\s)\]&]|\breturn\b|\*\s*\))\s*&\s*{name}\b"
    bound = rf"\b{_TYPE}\s*&&?\s*\w+\s*[=({{]\s*{name}\b"
    if re.search(f"{address}|{bound}", text) is not None:
        return True
    if re.search(rf"[(,]\s*{name}\s*[,)]", text) is None:
        return False
    if any(name in pieces(each) for each in _CHANGES_ITS_ARGUMENTS.findall(text)):
        return True
    return any(
        any(place < len(given) and given[place] == name for place in places)
        for function, places in references(seen).items()
        for call in re.finditer(rf"\b{function}\s*(?:<(?!<)[^;{{}}()]*?>\s*)?\(", text)
        if (given := pieces(inside(text, call.end() - 1)))
    )
