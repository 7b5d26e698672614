"""Keys in Triton's caches for releases whose hook is not asked for one: added to those that Triton makes.

A kernel that fencepost has changed must never be found under the key that it has without fencepost, nor the other way
round. There are two caches: compiled kernels in files, and those of this process, which were launched already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.replaced_functions import Replaced, replaced

CACHES = "device_caches"
"""Where a function keeps its kernels that were launched, by device."""


def add_key(key: str) -> tuple[Replaced, ...]:
    """From here on, `key` is part of every key."""

    def keyed(before: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **named: f"{before(*arguments, **named)}-{key}"

    compiler, jit = (import_module(f"triton.{name}") for name in ("compiler.compiler", "runtime.jit"))
    if installed_release().has_key_functions:
        return replaced(compiler, "get_cache_key", keyed), replaced(jit, "compute_cache_key", keyed)
    # The version is part of every key of a file; that of a launched kernel is made in the middle of a function.
    return replaced(compiler, "triton_key", keyed), own_caches(jit.JITFunction, key)


@dataclass(frozen=True, slots=True)
class OwnCaches:
    """Stands in the place of the caches of all functions: each has others meanwhile."""

    functions: type
    name: str
    """What others are kept under."""

    def __get__(self, function: Any, _: type | None = None) -> Any:
        """Those of a function."""
        if function is None:
            return self
        return function.__dict__.setdefault(self.name, defaultdict(function.create_binder))

    def __set__(self, function: Any, caches: Any) -> None:
        """A function that is made gets those that it has without this as well."""
        function.__dict__[CACHES] = caches

    def take_out(self) -> None:
        """Give functions their own back, unless somebody has put something else there since."""
        if self.functions.__dict__.get(CACHES) is self:
            delattr(self.functions, CACHES)


def own_caches(functions: type, key: str) -> OwnCaches:
    """Have functions keep launched kernels apart from all that have another key."""
    found = OwnCaches(functions, f"{CACHES}-{key}")
    setattr(functions, CACHES, found)
    return found
