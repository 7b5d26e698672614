"""Every schedule of a small program, and a mistake put into one: what the models of exact runs have in common."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    class WithParity(DataclassInstance, Protocol):
        """An act of a warp; of a wait for an mbarrier it has the parity."""

        @property
        def parity(self) -> int: ...


S = TypeVar("S", bound=Hashable)
T = TypeVar("T")
A = TypeVar("A", bound="WithParity")


def shown_by_schedules(
    start: S, look: Callable[[S], tuple[set[str], Iterable[S]]], *, first: bool = False
) -> set[str]:
    """What goes wrong in some schedule, or where one is first found to go wrong. `look` says of a state what goes
    wrong in it, and which ones can come next."""
    found: set[str] = set()
    seen, todo = {start}, [start]
    while todo:
        wrong, following = look(todo.pop())
        found |= wrong
        if first and found:
            return found
        new = [each for each in dict.fromkeys(following) if each not in seen]
        todo += new
        seen.update(new)
    return found


def spoil(rng: random.Random, acts: list[A], changed: Callable[[A], A | None]) -> None:
    """One act is left out, done twice, changed, waits for the other parity, or changes places with the next."""
    at, how = rng.randrange(len(acts)), rng.randrange(5)
    other = changed(acts[at]) if how == 2 else None
    if how == 0 and at + 1 < len(acts):
        acts[at : at + 2] = acts[at + 1], acts[at]
    elif how == 1:
        acts[at] = replace(acts[at], parity=1 - acts[at].parity)
    elif other is not None:
        acts[at] = other
    elif how == 3:
        acts.insert(at, acts[at])
    else:
        acts.pop(at)


def with_item(values: tuple[T, ...], at: int, to: T) -> tuple[T, ...]:
    """A tuple with another value at one place."""
    return (*values[:at], to, *values[at + 1 :])
