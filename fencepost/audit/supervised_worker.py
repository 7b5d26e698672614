"""A worker in a process of its own, supervised: an entry that crashes it or hangs costs nothing but itself."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO

from fencepost.audit.entries import Work
from fencepost.audit.records import NOT_JUDGED, Record

MOST_ENTRIES = 400
"""After so many a worker is replaced, so that nothing that leaks grows without end."""


@dataclass(slots=True)
class SupervisedWorker:
    """One worker; started when it is needed, and again after it has ended."""

    timeout: float
    """Seconds that one entry may take."""
    command: tuple[str, ...] = (sys.executable, "-P", "-m", "fencepost.audit.worker")
    _process: subprocess.Popen[bytes] | None = None
    _answered: int = 0
    _rest: bytes = b""
    _said: IO[bytes] | None = field(default=None, repr=False)
    """What it, or a compiler in it, has printed."""

    def judge(self, work: Work) -> Record:
        """What the worker says about an entry, or what became of the worker."""
        began = time.perf_counter()
        process = self._started()
        try:
            assert process.stdin is not None
            process.stdin.write(json.dumps(work.as_json()).encode() + b"\n")
            process.stdin.flush()
            line = self._line(process, time.monotonic() + self.timeout)
        except BrokenPipeError:
            line = b""
        except BaseException:
            self.stop()
            raise
        if line is not None and line.endswith(b"\n"):
            self._answered += 1
            if self._answered >= MOST_ENTRIES:
                self.stop()
            return Record.of_json(json.loads(line))
        reason = f"it took more than {self.timeout:g} s" if line is None else self._cause()
        self.stop()
        seconds = round(time.perf_counter() - began, 3)
        return Record(work.path, work.digest, NOT_JUDGED, reason, (), seconds)

    def stop(self) -> None:
        """End the worker and everything that it has started."""
        process, self._process, self._answered, self._rest = self._process, None, 0, b""
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(BrokenPipeError):
                        stream.close()
        if self._said is not None:
            self._said.close()
            self._said = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._said = tempfile.TemporaryFile(prefix="fencepost-")  # noqa: SIM115 (it lives as long as the worker)
            # The worker must find the same packages, however this process found them; a group of its own, so that
            # Ctrl-C reaches this process only, and its children end with it.
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
                start_new_session=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )  # fmt: skip
        return self._process

    def _line(self, process: subprocess.Popen[bytes], until: float) -> bytes | None:
        """The next line of the worker; without its end if the worker has ended, None if time is up."""
        assert process.stdout is not None
        while b"\n" not in self._rest:
            left = until - time.monotonic()
            if left <= 0:
                return None
            ready, _, _ = select.select([process.stdout], [], [], left)
            if ready:
                more = os.read(process.stdout.fileno(), 1 << 16)
                if not more:
                    return self._rest
                self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        return line + b"\n"

    def _cause(self) -> str:
        """Why a worker has ended."""
        assert self._process is not None and self._said is not None
        code = self._process.wait()
        self._said.seek(0)
        said = self._said.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
        how = f"crashed ({signal.Signals(-code).name})" if code < 0 else f"ended with exit code {code}"
        return f"the process that judged it {how}" + (f": {said[:300]}" if said else "")
