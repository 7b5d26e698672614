"""Which tests guard a commit, and which are left to `make full`.

`make quick` reads kernels and compares outputs, `make test` runs everything that is not marked `full`, `make full`
runs it all. A test is marked `full` if it is one of many of its kind: further seeds of a random sweep, further
combinations, further files of a corpus. What is kept for every commit has each mechanism at least once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

FULL = pytest.mark.full


def sweep(values: Iterable[Any], *, first: int = 0, chosen: Collection[Any] = ()) -> list[Any]:
    """A sweep of which the first few, or those chosen, guard a commit; the others are for `make full`."""
    every = list(values)
    assert all(value in every for value in chosen), [value for value in chosen if value not in every]
    return [
        value if index < first or value in chosen else _in_full(value) for index, value in enumerate(every)
    ]


def _in_full(value: Any) -> Any:
    """A value, or the values of several arguments, for `make full`."""
    return pytest.param(*value, marks=FULL) if isinstance(value, tuple) else pytest.param(value, marks=FULL)
