"""The parser's tables between runs: kept where that is possible, and never relied on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = "kernel @k waves=2 {\n  shared %a : 64\n  write %a\n}\n"
PARSE = f"import fencepost as fp; print(fp.parse({TEXT!r}), end='')"


def parsed(cache: Path) -> str:
    """What a process of its own parses, with a cache folder."""
    run = subprocess.run(
        [sys.executable, "-c", PARSE],
        env=os.environ | {"XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
    )
    assert run.stderr == ""
    return run.stdout


def test_tables_are_kept_and_used_again(tmp_path: Path) -> None:
    assert parsed(tmp_path) == TEXT
    (kept,) = (tmp_path / "fencepost").iterdir()
    before = kept.stat().st_mtime_ns
    assert parsed(tmp_path) == TEXT
    assert kept.stat().st_mtime_ns == before


@pytest.mark.parametrize("left", [0, 100, 40_000])
def test_a_file_that_was_cut_off_is_written_anew(left: int, tmp_path: Path) -> None:
    parsed(tmp_path)
    (kept,) = (tmp_path / "fencepost").iterdir()
    kept.write_bytes(kept.read_bytes()[:left])
    assert parsed(tmp_path) == TEXT
    assert len(kept.read_bytes()) > left
    assert [kept] == list((tmp_path / "fencepost").iterdir())


def test_without_a_folder_nothing_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    assert parsed(file) == TEXT
    assert file.read_text() == "no folder"
