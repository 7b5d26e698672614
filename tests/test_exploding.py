"""Kernels made to explode are answered, and an answer that leaves something out says so.

What takes long is measured by `bench/explode.py`; here sizes are such that a budget is met all the same.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.cli import main
from tests import exploding_kernels as exploding

BIG = str(exploding.BIG)
SHIFTED = exploding.kernel(
    [
        "if wave >= 2 {",
        "  workgroup_barrier",
        "}",
        *exploding.nest(9, BIG, ["write %a", "barrier", "read %a"]),
        "if wave < 2 {",
        "  workgroup_barrier",
        "}",
    ]
)


@pytest.mark.parametrize("command", ["insert", "insert --strategy optimal", "explain", "prune"])
@pytest.mark.parametrize(
    "text",
    [exploding.deep_loops(9, BIG), exploding.deep_loops(76, "100"), exploding.deep_loops(200, "?"), SHIFTED],
    ids=["huge", "deep", "deeper", "phase-shifted"],
)
def test_costs_that_no_float_holds_are_numbers_in_json(
    text: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    file = tmp_path / "k.fp"
    file.write_text(text)
    assert main([*command.split(), str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out, parse_constant=refuse)
