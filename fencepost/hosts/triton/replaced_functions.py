"""Functions of Triton's that others stand in place of, while fencepost is installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol

Make = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Makes the function that stands in the place of another."""


class Replaced(Protocol):
    """Something of Triton's that something else stands in place of."""

    def take_out(self) -> None:
        """Put back what was there."""


@dataclass(frozen=True, slots=True)
class ReplacedFunction:
    """A function of a module or a class, and the one that stands in its place."""

    owner: Any
    name: str
    before: Any
    now: Any

    def take_out(self) -> None:
        """Put back what was there, unless somebody has replaced it since."""
        if getattr(self.owner, self.name) is self.now:
            setattr(self.owner, self.name, self.before)


def replaced(owner: Any, name: str, make: Make) -> ReplacedFunction:
    """Put what `make` makes of a function in its place."""
    before = getattr(owner, name)
    now = wraps(before)(make(before))
    setattr(owner, name, now)
    return ReplacedFunction(owner, name, before, now)
