"""Work that is done in a process of its own: a script that is asked with JSON, in a group and a folder of its own.

Whatever happens here (an interrupt, a limit on time), nothing of it goes on running and its folder is gone.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """What a worker printed, and its exit code."""

    out: str
    err: str
    code: int


def ask_worker(script: Path, request: dict[str, Any], limit: float) -> Reply:
    """Run a script on a request, to which the folder that it may use is added; TimeoutError after `limit` seconds."""
    with _temporary_folder() as folder:
        return _run(script, json.dumps(request | {"folder": str(folder)}), limit, folder)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    # Ours, so that it goes away however the worker ends; named before it is there, so that we always know of it.
    folder = Path(tempfile.gettempdir()) / f"fencepost-{os.urandom(8).hex()}"
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(script: Path, request: str, limit: float, folder: Path) -> Reply:
    # The worker must find the same Triton, however this process found it. Its temporary files are in the folder that
    # goes away: even to find out where it can write, Python makes a file, which stays if the worker is ended then.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(folder)}
    # A group of its own: its children end with it, and a terminal's Ctrl-C comes to us alone.
    process = subprocess.Popen(
        [sys.executable, "-P", str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8", env=environment, start_new_session=True,
    )  # fmt: skip
    try:
        out, err = process.communicate(request, limit)
    except BaseException as error:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise TimeoutError from None
        raise
    return Reply(out, err, process.returncode)
