"""Ctrl-C at any moment: exit code 130, one line, no traceback, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.commands.kernels import RACY
from tests.exploding_kernels import KERNELS
from tests.lsp.test_server import MODULE

START = """
import sys
from fencepost import cli

run = cli._run_to_its_end

def begun(arguments):
    print("ready", flush=True)
    return run(arguments)

cli._run_to_its_end = begun
sys.exit(cli.main())
"""
"""As `fencepost` starts, with a word once `main` has begun; before that, Python itself is loading."""
SLOW = KERNELS["accesses-20k"]()
CACHED = MODULE.replace("ttg.shared = 8192 : i32, ", "").replace(" {allocation.offset = 0 : i32}", "")
"""From before membar: it is parsed in one process, and lowered in another."""


@dataclass(frozen=True)
class Interrupted:
    """How a command ended, and what there is of it then."""

    code: int
    out: str
    err: str
    left: list[str]


def interrupt(folder: Path, moment: float, *arguments: str, times: int = 1) -> Interrupted:
    """Run a command and press Ctrl-C some seconds after it has begun."""
    mark, temporary = uuid.uuid4().hex, folder / "temporary"
    temporary.mkdir(exist_ok=True)
    environment = os.environ | {"FENCEPOST_TEST": mark, "TMPDIR": str(temporary)}
    process = subprocess.Popen(
        [sys.executable, "-c", START, *arguments], cwd=folder, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None and process.stdin is not None, "nobody writes to it: it waits for `-`"
    assert process.stdout.readline() == "ready\n"
    time.sleep(moment)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    out, err = process.communicate(timeout=60)
    left = [f"process {each}" for each in processes_with(mark)]
    left += [path.name for path in temporary.iterdir()]
    left += [path.name for path in folder.iterdir() if path.name.startswith(".")]
    return Interrupted(process.returncode, out, err, left)


def processes_with(mark: str) -> list[str]:
    """Processes that a command has started, and that are still there a moment later."""
    patience = time.monotonic() + 5
    while found := [path.name for path in Path("/proc").glob("[0-9]*") if is_marked(path, mark)]:
        if time.monotonic() > patience:
            break
        time.sleep(0.05)
    return found


def is_marked(path: Path, mark: str) -> bool:
    try:
        return mark.encode() in (path / "environ").read_bytes()
    except OSError:
        return False


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "slow.fp").write_text(SLOW)
    (tmp_path / "racy.fp").write_text(RACY)
    (tmp_path / "cached.ttgir").write_text(CACHED)
    return tmp_path


MOMENTS = (0.0, 0.1, 0.5)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "slow.fp"],
        ["insert", "slow.fp", "-w"],
        ["fix", "slow.fp", "racy.fp", "-w"],
        ["view", "slow.fp", "-o", "slow.html"],
        ["explain", "slow.fp", "--json"],
    ],
    ids=lambda arguments: str(arguments[0]),
)
def test_a_command_ends_at_once_and_leaves_nothing(arguments: list[str], moment: float, folder: Path) -> None:
    found = interrupt(folder, moment, *arguments)
    assert (found.code, found.err, found.left) == (130, "interrupted\n", [])
    assert (folder / "slow.fp").read_text() == SLOW and (folder / "racy.fp").read_text() == RACY
    assert not (folder / "slow.html").exists()


@pytest.mark.parametrize("moment", (0.2, 0.6, 1.2))
def test_processes_of_a_module_end_with_the_command(moment: float, folder: Path) -> None:
    found = interrupt(folder, moment, "check", "cached.ttgir", "slow.fp", "-")
    assert (found.code, found.err, found.left) == (130, "interrupted\n", [])


def test_pressing_it_twice_is_as_clean(folder: Path) -> None:
    for moment in (0.3, 0.8):
        found = interrupt(folder, moment, "check", "cached.ttgir", "slow.fp", times=4)
        assert (found.code, found.err, found.left) == (130, "interrupted\n", [])


def test_what_was_found_before_is_printed(folder: Path) -> None:
    found = interrupt(folder, 2.5, "check", "racy.fp", "-")
    assert found.code == 130 and "error[FP001]" in found.out and "@racy: 1 race" in found.out


def test_the_language_server_ends_like_everything_else(folder: Path) -> None:
    found = interrupt(folder, 2.0, "lsp")
    assert (found.code, found.err, found.left) == (130, "interrupted\n", [])


def test_a_job_in_the_background_goes_on(folder: Path) -> None:
    command = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{START}"
    process = subprocess.Popen(
        [sys.executable, "-c", command, "check", "racy.fp"], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1 and "@racy: 1 race" in out


def test_an_interrupt_that_a_destructor_swallows_is_raised_again() -> None:
    code = """
import os, signal, time
from fencepost import cli

class Slow:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)

vars(cli)["_handle_signals"]()
try:
    Slow()
    time.sleep(20)
except KeyboardInterrupt:
    print("interrupted")
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=15, check=True)
    assert (ran.stdout, ran.stderr) == ("interrupted\n", "")


def test_a_file_that_is_being_written_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fencepost.commands.files import write_text

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "k.fp").write_text(RACY)
    for step in ("chmod", "replace"):
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(Path, step, interrupted)
            write_text(str(tmp_path / "k.fp"), "half")
        assert [path.name for path in tmp_path.iterdir()] == ["k.fp"]
        assert (tmp_path / "k.fp").read_text() == RACY


def test_a_cuda_file_that_takes_the_compiler_minutes(tmp_path: Path) -> None:
    """NVRTC hears no signal while it compiles: it is in a process of its own, which is ended."""
    statements = "".join(f"s[{each % 32}] += a[{each}];\n" for each in range(60_000))
    (tmp_path / "long.cu").write_text(
        f"__global__ void k(int *a) {{ __shared__ int s[32];\n{statements} }}\n"
    )
    found = interrupt(tmp_path, 2.0, "check", "long.cu", "--block", "32")
    assert (found.code, found.out, found.err, found.left) == (130, "", "interrupted\n", [])
