"""Keys in Triton's caches for releases whose hook is not asked for one: added to those that Triton makes.

A kernel that fencepost has changed must never be found under the key that it has without fencepost, nor the other way
round. There are two caches: compiled kernels in files, and those of this process, which were launched already.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class AddedKey:
    """A function of Triton's that makes keys, and the one that stands in its place."""

    module: Any
    name: str
    before: Any
    now: Any

    def take_out(self) -> None:
        """Put back what was there, unless somebody has replaced it since."""
        if getattr(self.module, self.name) is self.now:
            setattr(self.module, self.name, self.before)


def add_key(key: str) -> tuple[AddedKey, ...]:
    """From here on, `key` is part of every key."""
    return (
        _replaced("triton.compiler.compiler", "get_cache_key", key),
        _replaced("triton.runtime.jit", "compute_cache_key", key),
    )


def _replaced(module_name: str, name: str, key: str) -> AddedKey:
    module = import_module(module_name)
    before = getattr(module, name)

    @wraps(before)
    def keyed(*arguments: Any, **named: Any) -> Any:
        return f"{before(*arguments, **named)}-{key}"

    setattr(module, name, keyed)
    return AddedKey(module, name, before, keyed)
