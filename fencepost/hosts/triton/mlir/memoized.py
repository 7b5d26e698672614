"""What is read from a short text once, for all modules: many kernels have the same types, layouts and attributes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, TypeVar

MOST = 4096
"""Texts that each reader remembers."""
Text = TypeVar("Text", bound=Hashable)
Read = TypeVar("Read")

_READERS: list[Any] = []


def memoized(read: Callable[[Text], Read]) -> Callable[[Text], Read]:
    """A function whose results are kept; they must not be changed."""
    made = lru_cache(maxsize=MOST)(read)
    _READERS.append(made)
    return made


def forget() -> None:
    """Forget all of it, for whoever measures how long it takes to read."""
    for made in _READERS:
        made.cache_clear()
