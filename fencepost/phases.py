"""What is being done at the moment: whoever takes long says it, and a terminal may show it.

Nobody listens in a library, in an editor, or where output goes to a file; then it costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Listener(Protocol):
    """Somebody who wants to know."""

    def file(self, name: str, number: int, count: int) -> None:
        """The next file has begun."""

    def phase(self, words: str) -> None:
        """The next phase of the work on it has begun."""


_listeners: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell somebody, for as long as this lasts."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def begin_file(name: str, number: int, count: int) -> None:
    """Say which file is worked on, the first of them being number 1."""
    for listener in _listeners:
        listener.file(name, number, count)


def begin_phase(words: str) -> None:
    """Say what is done: `parsing`, `checking @gemm`."""
    for listener in _listeners:
        listener.phase(words)
