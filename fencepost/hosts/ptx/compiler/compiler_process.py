"""NVRTC, asked in a process of its own.

The library is given whatever users write. It can crash on it, or take minutes in which it hears no signal. In another
process, a crash is a message about one file, a limit on time holds, and Ctrl-C ends it at once. That process is
started with the first file, and kept for the next ones.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fencepost.ir.source import FencepostError

WORKER = Path(__file__).with_name("compiler_worker.py")
SECONDS = 120.0
"""How long one compilation may take. Whole programs of benchmark suites take one to five seconds."""
_CHUNK = 1 << 16


class CompilerEnded(FencepostError):
    """The compiler crashed, or was ended because it took too long."""

    def __init__(self, how: str) -> None:
        advice = "compile it with nvcc -ptx -lineinfo, and check the .ptx"
        super().__init__(f"NVRTC {how}", code="FP431", notes=[("help", advice)])


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of one compilation."""

    ptx: str | None
    """None if it failed."""
    log: str
    """What the compiler said."""
    seconds: float
    """Processor time that it took."""


@dataclass(slots=True)
class CompilerProcess:
    """The process; started when it is needed, and again after it has ended."""

    limit: float = SECONDS
    command: tuple[str, ...] = (sys.executable, "-I", "-S", str(WORKER))
    _process: subprocess.Popen[bytes] | None = None
    _owner: int = 0
    """The process that has started it: one that is forked later must not write into the same pipe."""
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def compile(self, request: dict[str, Any]) -> Attempt:
        """What NVRTC makes of a request; FP431 if it crashes or takes too long, FP430 if it cannot be loaded."""
        with self._one_at_a_time:
            try:
                line = self._ask(json.dumps(request).encode() + b"\n")
            except BaseException:
                self.stop()
                raise
        reply = json.loads(line)
        if "unloadable" in reply:
            raise FencepostError(f"NVRTC cannot be loaded: {reply['unloadable']}", code="FP430")
        if "failure" in reply:
            raise FencepostError(f"NVRTC: {reply['failure']}", code="FP431")
        return Attempt(reply["ptx"], reply["log"], reply["seconds"])

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def _ask(self, request: bytes) -> bytes:
        process = self._started()
        deadline = time.monotonic() + self.limit
        assert process.stdin is not None and process.stdout is not None
        with suppress(BrokenPipeError):  # It has crashed; that it does not answer is seen below.
            process.stdin.write(request)
            process.stdin.flush()
        found = b""
        while not found.endswith(b"\n"):
            left = max(deadline - time.monotonic(), 0)
            if not select.select([process.stdout], [], [], left)[0]:
                raise CompilerEnded(f"took more than {self.limit:g} s")
            chunk = os.read(process.stdout.fileno(), _CHUNK)
            if not chunk:
                raise CompilerEnded(f"crashed ({_how_it_ended(process)})")
            found += chunk
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._owner == os.getpid() and self._process.poll() is not None:
            self.stop()  # Something has ended it since.
        if self._process is None or self._owner != os.getpid():
            # A group of its own: a terminal's Ctrl-C comes to us alone, and we end it.
            self._process = subprocess.Popen(
                (*self.command, str(os.getpid())),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            self._owner = os.getpid()
            atexit.register(self.stop)
        return self._process


def _how_it_ended(process: subprocess.Popen[bytes]) -> str:
    code = process.wait()
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


COMPILER = CompilerProcess()
"""The one that all files of this process are compiled by."""
