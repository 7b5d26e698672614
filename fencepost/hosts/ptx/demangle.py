"""Mangled names as C++ spells them, by the function for it in the runtime library of C++ (`__cxa_demangle`)."""

from __future__ import annotations

import ctypes
from functools import cache

_LIBRARY = "libstdc++.so.6"
_RETURNS = "void "
"""What every kernel returns; other functions are mangled without it, or are no templates."""


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
    return _without_parameters(spelled.removeprefix(_RETURNS))


def _without_parameters(spelled: str) -> str:
    depth = 0
    for at in range(len(spelled) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(spelled[at], 0)
        if depth == 0:
            return spelled[:at] if spelled[at] == "(" else spelled
    return spelled


@cache
def _library() -> ctypes.CDLL | None:
    """None where there is no such library: names are then shown as they are."""
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError:
        return None
    library.__cxa_demangle.restype = ctypes.c_void_p
    return library
