"""Mangled names as C++ spells them, by the function for it in the runtime library of C++ (`__cxa_demangle`)."""

from __future__ import annotations

import ctypes
from functools import cache

_LIBRARY = "libstdc++.so.6"
_UNNAMED = "(anonymous namespace)::"
"""What is in such a namespace goes by its plain name in its file."""


def demangled(mangled: str) -> str | None:
    """A function without its parameters, as `app::reduce<(app::Mode)1, 256>`; None if that is not known."""
    library = _library()
    if library is None:
        return None
    status = ctypes.c_int()
    found = library.__cxa_demangle(mangled.encode(), None, None, ctypes.byref(status))
    if status.value != 0 or not found:
        return None
    try:
        spelled = ctypes.string_at(found).decode()
    finally:
        library.free(ctypes.c_void_p(found))
    return _without_result(_without_parameters(spelled))


def _without_parameters(spelled: str) -> str:
    depth = 0
    for at in range(len(spelled) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(spelled[at], 0)
        if depth == 0:
            return spelled[:at] if spelled[at] == "(" else spelled
    return spelled


def _without_result(spelled: str) -> str:
    """The name alone: templates are mangled with the type of their result, `void` or what is computed to be that."""
    plain = spelled.replace(_UNNAMED, "")
    depth = 0
    for at in range(len(plain) - 1, -1, -1):
        depth += {">": 1, ")": 1, "<": -1, "(": -1}.get(plain[at], 0)
        if plain[at] == " " and depth == 0:
            return plain[at + 1 :]
    return plain


@cache
def _library() -> ctypes.CDLL | None:
    """None where there is no such library: names are then shown as they are."""
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError:
        return None
    library.__cxa_demangle.restype = ctypes.c_void_p
    return library
