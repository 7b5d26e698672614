"""NVRTC runs in a process of its own: whatever happens to it there is a message about one file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fencepost.hosts.ptx.compiler import nvrtc
from fencepost.hosts.ptx.compiler.compiler_process import CompilerProcess
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.ir.source import FencepostError, Source

SQUARE = Source("square.cu", "__global__ void square(int *a) { a[threadIdx.x] *= a[threadIdx.x]; }")
TEMPLATE = Source(
    "scale.cu",
    "template <int N> __global__ void scale(int *a) { a[threadIdx.x] *= N; }\n"
    "int main() { scale<2><<<1, 32>>>(nullptr); }\n",
)
CRASHES = "import os, signal; input(); os.kill(os.getpid(), signal.SIGSEGV)"
HANGS = "import time; input(); time.sleep(100)"


def worker(code: str, limit: float = 60) -> CompilerProcess:
    """A compiler that does what a program says."""
    return CompilerProcess(limit, (sys.executable, "-c", code))


def test_a_crash_is_an_error_in_that_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "COMPILER", worker(CRASHES))
    with pytest.raises(FencepostError, match=r"NVRTC crashed \(SIGSEGV\)") as error:
        compile_cuda(SQUARE)
    assert (error.value.code, error.value.source) == ("FP431", SQUARE)


def test_a_compilation_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "COMPILER", worker(HANGS, 0.2))
    with pytest.raises(FencepostError, match=r"NVRTC took more than 0\.2 s") as error:
        compile_cuda(SQUARE)
    assert (error.value.code, error.value.source) == ("FP431", SQUARE)


def test_the_next_file_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = worker(CRASHES)
    monkeypatch.setattr(nvrtc, "COMPILER", compiler)
    with pytest.raises(FencepostError, match="crashed"):
        compile_cuda(SQUARE)
    compiler.command = CompilerProcess().command
    assert ".entry _Z6squarePi" in compile_cuda(SQUARE).ptx


def test_a_crash_on_host_code_costs_only_what_that_would_have_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host code is compiled to see what it launches; without it, the text of the launch says so."""
    real = CompilerProcess()
    crashes_on_host_code = CompilerProcess(command=worker(CRASHES).command)

    class Compiler:
        def compile(self, request: dict[str, object]) -> object:
            host = nvrtc.WITH_LAUNCHES[0] in request["options"]  # type: ignore[operator]
            return (crashes_on_host_code if host else real).compile(request)

    monkeypatch.setattr(nvrtc, "COMPILER", Compiler())
    assert "scaleILi2E" in compile_cuda(TEMPLATE).ptx
    real.stop()


def test_a_thread_that_ends_leaves_the_compiler_to_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = CompilerProcess()
    monkeypatch.setattr(nvrtc, "COMPILER", compiler)
    for _ in range(3):
        with ThreadPoolExecutor(1) as pool:
            assert "square" in pool.submit(compile_cuda, SQUARE).result().ptx
    compiler.stop()


def test_a_compiler_that_was_ended_meanwhile_is_started_again() -> None:
    ended = "import json; input(); print(json.dumps({'ptx': '', 'log': 'done', 'seconds': 0}), flush=True)"
    compiler = worker(ended)
    for _ in range(2):
        assert compiler.compile({}).log == "done"
        assert compiler._process is not None
        compiler._process.wait()


def test_a_compiler_ends_with_the_process_that_asks() -> None:
    """Also in the middle of a compilation, when it does not read what it is asked."""
    code = (
        "import os, signal\n"
        "from fencepost.hosts.ptx.compiler.compiler_process import CompilerProcess\n"
        "compiler = CompilerProcess()\n"
        "print(compiler._started().pid, flush=True)\n"
        "os.set_inheritable(compiler._process.stdin.fileno(), True)\n"
        "if os.fork():\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "signal.pause()\n"  # It keeps the pipe open.
    )
    asked = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
    assert asked.stdout is not None
    compiler = int(asked.stdout.readline())
    try:
        end = time.monotonic() + 30
        while _is_there(compiler) and time.monotonic() < end:
            time.sleep(0.05)
        assert not _is_there(compiler)
    finally:
        os.killpg(asked.pid, signal.SIGKILL)
        asked.stdout.close()
        asked.wait()


def _is_there(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_forked_process_has_a_compiler_of_its_own() -> None:
    """Otherwise two processes would write into one pipe."""
    code = (
        "import os, sys\n"
        "from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda\n"
        "from fencepost.ir.source import Source\n"
        "def compiled(name):\n"
        "    text = f'__global__ void {name}(int *a) {{ a[0] = 1; }}'\n"
        "    return name in compile_cuda(Source('k.cu', text)).ptx\n"
        "assert compiled('first')\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if compiled('second') else 1)\n"
        "fine = compiled('third')\n"
        "sys.exit(0 if os.waitpid(child, 0)[1] == 0 and fine else 1)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_names_are_relative_to_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process was started somewhere else."""
    compile_cuda(SQUARE)
    for folder, number in (("one", 1), ("two", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "number.h").write_text(f"#define NUMBER {number}\n")
        monkeypatch.chdir(tmp_path / folder)
        found = compile_cuda(
            Source("k.cu", '#include "number.h"\n__global__ void k(int *a) { a[0] = NUMBER; }')
        ).ptx
        assert f", {number};" in found
        assert f'{folder}/k.cu"' in found
