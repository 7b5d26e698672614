"""Bytes of each wave as an expression in its number."""

from __future__ import annotations

import pytest

from fencepost.hosts.wave.byte_views import by_wave
from fencepost.ir.expr import evaluate


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([7, 7, 7, 7], "7"),
        ([0, 1152, 2304, 3456], "wave * 1152 + 0"),
        ([0, 0, 64, 64], "wave // 2 * 64 + 0"),
        ([5, 69, 5, 69], "wave % 2 * 64 + 5"),
        ([0, 8, 100, 108], "wave // 2 * 100 + (wave % 2 * 8 + 0)"),
        ([3, 1, 4, 1], None),
    ],
)
def test_expression(values: list[int], wanted: str | None) -> None:
    found = by_wave(values)
    assert [evaluate(found, {}, wave) for wave in range(len(values))] == values
    assert wanted is None or str(found) == wanted
