"""Triton's parser for the tests, started once: to start it takes longer than to parse a module of a few lines.

`processes` starts a process for every request. Here one process has loaded Triton already and answers each request in
a child, by the same `worker.main`, so that a parser that crashes or leaves its limits costs that child only.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import traceback
from importlib import import_module
from pathlib import Path
from types import ModuleType


class Parser:
    """The process, which starts with the first request."""

    def __init__(self, worker: Path) -> None:
        self.worker = worker
        self.process: subprocess.Popen[str] | None = None

    def run(self, request: str, limit: float) -> tuple[str, str, int]:
        """Stands in for `processes._run`."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(self.worker)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
        with tempfile.TemporaryDirectory(prefix="fencepost-") as name:
            try:
                return self._ask(self.process, request, Path(name))
            except BaseException:
                # A test that is interrupted leaves no answer behind for the next one.
                self.process.kill()
                self.stop()
                raise

    def _ask(self, process: subprocess.Popen[str], request: str, folder: Path) -> tuple[str, str, int]:
        (folder / "in").write_text(request, encoding="utf-8")
        assert process.stdin is not None and process.stdout is not None
        print(folder, file=process.stdin, flush=True)
        code = int(process.stdout.readline())
        out, err = ((folder / each).read_text(encoding="utf-8") for each in ("out", "err"))
        return out, err, code

    def stop(self) -> None:
        """It ends once there is nobody left to ask."""
        if self.process is not None:
            self.process.communicate()
            self.process = None


def main() -> None:
    """One folder a line: answer the request in it, and print the exit code."""
    worker = _load(Path(sys.argv[1]))
    import_module("triton._C.libtriton")
    # Whatever others print goes to standard error.
    codes = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _answer(worker, Path(line.strip()))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=codes, flush=True)


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("worker", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["worker"] = module
    spec.loader.exec_module(module)
    return module


def _answer(worker: ModuleType, folder: Path) -> None:
    code = 1
    try:
        for number, name in enumerate(("in", "out", "err")):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC if number else os.O_RDONLY
            os.dup2(os.open(folder / name, flags, 0o600), number)
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
        worker.main()
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
