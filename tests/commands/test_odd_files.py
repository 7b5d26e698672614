"""Files that are not what they seem, and calls that are nearly right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CommandLine

LATIN = b"""\
// d\xe9but
__global__ void reverse(float *x) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = s[63 - threadIdx.x];
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_cuda_in_another_encoding_is_read_and_written_back_byte_by_byte(fencepost: CommandLine) -> None:
    Path("latin.cu").write_bytes(LATIN)
    assert fencepost("check", "latin.cu", "--block", "64").code == 1
    assert fencepost("fix", "-w", "latin.cu", "--block", "64").code == 0
    put_in = LATIN.replace(b"    x[thr", b"    __syncthreads();\n    x[thr")
    assert Path("latin.cu").read_bytes() == put_in
    Path("latin.cu").write_bytes(LATIN)
    assert fencepost("insert", "latin.cu", "--block", "64", "-o", "out.cu").code == 0
    assert Path("out.cu").read_bytes() == put_in


def test_cuda_in_utf_16_is_refused_with_what_helps(fencepost: CommandLine) -> None:
    Path("wide.cu").write_bytes(LATIN.decode("latin-1").encode("utf-16"))
    ran = fencepost("check", "wide.cu")
    assert ran.code == 2 and "help: this is UTF-16: `iconv -f UTF-16 -t UTF-8 wide.cu`" in ran.err


@pytest.mark.parametrize("command", ["check", "insert", "explain", "fix", "view"])
def test_python_is_run_and_not_read(command: str, fencepost: CommandLine) -> None:
    """Also where it holds CUDA in a string."""
    Path("build.py").write_text('import fencepost as fp\nk = fp.Kernel("k", waves=4)\n', encoding="utf-8")
    Path("string.py").write_text('CODE = """\n__global__ void k() {}\n"""\n', encoding="utf-8")
    for name in ("build.py", "string.py"):
        ran = fencepost(command, name)
        assert ran.code == 2 and "error[FP112]: this is Python, which is not read" in ran.err
        assert "help: run it: `fencepost.check(k.trace)` in it checks a kernel that it builds" in ran.err


@pytest.mark.parametrize("command", ["check", "insert", "explain", "fix", "view", "audit"])
def test_a_name_that_is_too_long_cannot_be_read(command: str, fencepost: CommandLine) -> None:
    """It was an error in writing."""
    ran = fencepost(command, "a" * 300 + ".fp")
    assert ran.code == 2 and "error[FP112]: cannot read aaa" in ran.err and "too long" in ran.err


def test_a_link_to_nowhere(fencepost: CommandLine) -> None:
    Path("link.fp").symlink_to("nowhere")
    ran = fencepost("check", "link.fp")
    assert ran.code == 2 and "note: it is a link to nowhere" in ran.err and "did you mean" not in ran.err


@pytest.mark.parametrize("command", ["check", "insert", "explain", "fix", "view"])
def test_a_name_that_is_empty(command: str, fencepost: CommandLine) -> None:
    """It is not the folder that one is in."""
    ran = fencepost(command, "")
    assert ran.code == 2 and "error[FP112]: the name of a file is empty" in ran.err


def test_standard_input_that_is_closed() -> None:
    ran = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m fencepost.cli check - <&-"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stderr == "error[FP112]: cannot read standard input: it is closed\n"


def test_a_mistake_in_a_file_of_many_kernels_is_found_at_once(fencepost: CommandLine) -> None:
    """Lines were counted from the start for each of them: minutes, for so many."""
    Path("many.fp").write_text("kernel @k waves=4 {\n" * 100_000)
    assert "many.fp:2:1" in fencepost("check", "many.fp").err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "`fencepost --help` lists the commands"),
        (("help",), "did you mean `fencepost --help`?"),
        (("check", "k.fp", "-m", "-1"), "must be at least 0, which stands for all"),
    ],
)
def test_calls_that_are_nearly_right(arguments: tuple[str, ...], said: str, fencepost: CommandLine) -> None:
    ran = fencepost(*arguments)
    assert ran.code == 2 and said in ran.err


def test_a_code_by_its_number(fencepost: CommandLine) -> None:
    assert fencepost("explain", "207").out == fencepost("explain", "FP207").out
    assert "there is no code 999" in fencepost("explain", "999").err
