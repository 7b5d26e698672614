"""Numbers that host code computes from constants."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx.cuda_source.host_expressions import number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("32 * N / 3", 42),
        ("(N & 3) == 0 ? 128 : 256", 128),
        ("N & 3 ? 128 : 256", 256),
        ("1 << 3 == 8", 1),
        ("!(N > 3) || N >= 4 && N < 5", 1),
        ("min(N, 3) | 8", 11),
        ("static_cast<int>(sizeof(float)) * 64u", 256),
        ("-7 / 2", None),
        ("N + M", None),
    ],
)
def test_numbers(text: str, value: int | None) -> None:
    assert number(text, {"N": 4}) == value


@pytest.mark.parametrize(
    "text",
    [
        "N & 1 == 0 ? 128 : 256",  # In C, 256 for every N: `1 == 0` comes first. Python tests the last bit.
        "!N == 1 ? 128 : 256",  # In C, `!N` comes first.
        "(N | 4 != 4) + 32",
        "32 * (1 + (2 ^ N < 3))",
    ],
)
def test_what_python_groups_differently_has_no_value(text: str) -> None:
    assert number(text, {"N": 4}) is None
