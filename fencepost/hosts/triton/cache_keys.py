"""Keys in Triton's caches for releases whose hook is not asked for one: added to those that Triton makes.

A kernel that fencepost has changed must never be found under the key that it has without fencepost, nor the other way
round. There are two caches: compiled kernels in files, and those of this process, which were launched already.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from fencepost.hosts.triton.replaced_functions import ReplacedFunction, replaced


def add_key(key: str) -> tuple[ReplacedFunction, ...]:
    """From here on, `key` is part of every key."""

    def keyed(before: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **named: f"{before(*arguments, **named)}-{key}"

    return (
        replaced(import_module("triton.compiler.compiler"), "get_cache_key", keyed),
        replaced(import_module("triton.runtime.jit"), "compute_cache_key", keyed),
    )
