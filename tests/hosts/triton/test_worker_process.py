"""A worker that is ended takes all of its files with it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from fencepost.hosts.triton.worker_process import ask_worker

LEAVES_A_FILE = """
import json, sys, tempfile, time
request = json.loads(sys.stdin.read())
_, name = tempfile.mkstemp()
print(name, flush=True)
time.sleep(request["seconds"])
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / "worker.py").write_text(LEAVES_A_FILE, encoding="utf-8")
    return tmp_path / "worker.py"


def test_temporary_files_of_a_worker_go_with_it(script: Path) -> None:
    made = Path(ask_worker(script, {"seconds": 0}, 20).out.strip())
    assert made.parents[1] == script.parent / "temporary" and not made.exists()
    assert list((script.parent / "temporary").iterdir()) == []


def test_those_of_a_worker_that_is_ended_as_well(script: Path) -> None:
    with pytest.raises(TimeoutError):
        ask_worker(script, {"seconds": 60}, 0.5)
    assert list((script.parent / "temporary").iterdir()) == []
