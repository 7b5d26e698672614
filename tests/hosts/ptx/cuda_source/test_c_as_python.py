"""Conditions of C as Python writes them."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx.cuda_source.c_as_python import as_python


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("n % 16 == 0 && n > 0u", "n % 16 == 0  and  n > 0"),
        ("!(n > 3) || n / 2 < 5", " not (n > 3)  or  n // 2 < 5"),
        ("(n & 3) == 0", "(n & 3) == 0"),
    ],
)
def test_operators(text: str, python: str) -> None:
    assert as_python(text) == python


@pytest.mark.parametrize("text", ["n & 1 == 0", "!n == 1", "(n | 4 != 4) + 32", "32 * (1 + (2 ^ n < 3))"])
def test_what_python_groups_differently_is_refused(text: str) -> None:
    """In C, `n & 1 == 0` is 0 for every n: `1 == 0` comes first. Python tests the last bit."""
    with pytest.raises(ValueError):
        as_python(text)
