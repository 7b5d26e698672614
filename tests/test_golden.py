"""Whole outputs of the command line, kept in files: a change in any word of them shows up as a diff.

`pytest --update-golden` writes them anew; whoever does that reads the diff before committing it.
"""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import pytest

from tests.conftest import UPDATE, CommandLine

FOLDER = Path(__file__).parent / "golden"
KERNELS = sorted(path.stem for path in FOLDER.glob("*.fp"))
COMMANDS = {
    "check.txt": ("check",),
    "check.json": ("check", "--json"),
    "explain.txt": ("explain",),
    "insert.json": ("insert", "--json"),
}
# `insert` refuses a kernel whose waves are skewed, and has no JSON to show for it.
CASES = [
    (kernel, output)
    for kernel in KERNELS
    for output in COMMANDS
    if (kernel, output) != ("apart", "insert.json")
]


@pytest.mark.parametrize(("kernel", "output"), CASES)
def test_output_is_the_golden_one(
    kernel: str,
    output: str,
    update_golden: bool,
    fencepost: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Outputs name the file; from its own folder that name is the same on every machine.
    monkeypatch.chdir(FOLDER)
    ran = fencepost(*COMMANDS[output], f"{kernel}.fp")
    if output.endswith(".json"):
        text = ran.out
        assert json.loads(text)
    else:
        text = f"{ran.out}{ran.err}exit code {ran.code}\n"
    golden = FOLDER / f"{kernel}.{output}"
    if update_golden:
        golden.write_text(text, encoding="utf-8")
    expected = golden.read_text(encoding="utf-8") if golden.exists() else ""
    assert text == expected, f"{_diff(golden.name, expected, text)}\n`pytest {UPDATE}` accepts the new output"


def test_no_golden_file_is_left_over() -> None:
    known = {f"{kernel}.fp" for kernel in KERNELS} | {f"{kernel}.{output}" for kernel, output in CASES}
    assert {path.name for path in FOLDER.iterdir()} <= known


def _diff(name: str, expected: str, text: str) -> str:
    lines = difflib.unified_diff(
        expected.splitlines(keepends=True), text.splitlines(keepends=True), f"golden/{name}", "now"
    )
    return "".join(lines)
