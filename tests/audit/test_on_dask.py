"""An audit on a real cluster of several workers. One is killed in the middle: nothing is lost, nothing is twice."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import LocalCluster

from fencepost.audit.entries import entries_of
from fencepost.audit.on_dask import judged_on_dask
from fencepost.ir.source import FencepostError
from tests.audit.test_audit import CLEAN, RACY, fencepost


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Three workers, each a process with one thread; one that is lost is started again."""
    with LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as made:  # type: ignore[no-untyped-call]
        yield made


def kernels(folder: Path, count: int) -> Path:
    """Kernels of which every tenth races."""
    for number in range(count):
        text = RACY if number % 10 == 0 else CLEAN
        (folder / f"k{number:03}.fp").write_text(text.replace("64", str(64 + number)))
    (folder / "unreadable.fp").write_bytes(b"\xff")
    return folder


def test_nothing_is_lost_or_twice_when_a_worker_is_killed(cluster: Any, tmp_path: Path) -> None:
    entries = entries_of([str(kernels(tmp_path, 80))])
    found = []
    for record in judged_on_dask(cluster.scheduler_address, entries, 60):
        found.append(record)
        if len(found) == 15:
            victim = next(iter(cluster.workers.values()))
            os.kill(victim.process.pid, signal.SIGKILL)
    assert sorted(record.path for record in found) == sorted(entry.path for entry in entries)
    verdicts = {record.path: record.verdict for record in found}
    assert sum(verdict == "races" for verdict in verdicts.values()) == 8
    assert sum(verdict == "clean" for verdict in verdicts.values()) == 72
    assert verdicts[str(tmp_path / "unreadable.fp")] == "not judged"


def test_the_command_on_a_cluster(cluster: Any, tmp_path: Path) -> None:
    until = time.monotonic() + 30
    while len(cluster.scheduler.workers) < 3 and time.monotonic() < until:
        time.sleep(0.1)
    ran = fencepost("audit", str(kernels(tmp_path, 10)), "--dask", cluster.scheduler_address)
    assert ran.returncode == 1, ran.stderr
    assert ran.stdout.splitlines()[-6:-2] == [
        "11 entries",
        "  clean              9",
        "  races              1",
        "  deadlocks          0",
    ]


def test_jobs_are_for_this_machine(cluster: Any, tmp_path: Path) -> None:
    ran = fencepost("audit", str(kernels(tmp_path, 1)), "--dask", cluster.scheduler_address, "-j", "2")
    assert ran.returncode == 2 and "-j is for this machine" in ran.stderr


def test_no_scheduler_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.audit.on_dask.PATIENCE", 1)
    entries = entries_of([str(kernels(tmp_path, 1))])
    with pytest.raises(FencepostError, match="no dask scheduler at"):
        list(judged_on_dask("tcp://127.0.0.1:9", entries, 60))
