"""CUDA and PTX wherever kernels are taken: audits, editors, tests, pre-commit hooks."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml

from fencepost.audit.entries import Entry, entries_of, read
from fencepost.audit.judge import judge
from fencepost.lsp.document import read_document
from fencepost.pytest_plugin import assert_race_free
from tests.conftest import CommandLine
from tests.hosts.ptx.kernels import NEIGHBOUR, kernel

ROOT = Path(__file__).parents[3]
REQUIRED = ".reqntid 256, 1, 1\n{\n    .reg .pred"
RIGHT, RACY = (
    kernel(NEIGHBOUR.format(barrier=each)).replace("{\n    .reg .pred", REQUIRED)
    for each in ("bar.sync 0;", "")
)
"""The block stands in the file: nobody says it."""
CUDA = """\
__global__ void __launch_bounds__(256) k(int *a) {
    __shared__ int s[256];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
"""
SCATTER = """\
__global__ void __launch_bounds__(256) k(int *a) {
    __shared__ int s[256];
    s[a[threadIdx.x]] = threadIdx.x;
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x];
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("right.ptx", RIGHT), ("racy.ptx", RACY), ("k.cu", CUDA)):
        Path(name).write_text(text, encoding="utf-8")
    return tmp_path


def test_audits_judge_every_file(folder: Path) -> None:
    found = {Path(entry.path).name: judge(read(entry)) for entry in entries_of(["."])}
    assert {name: record.verdict for name, record in found.items()} == {
        "right.ptx": "clean",
        "racy.ptx": "races",
        "k.cu": "races",
    }
    (record,) = found["k.cu"].kernels
    assert (record.name, record.barriers, record.races[0][:5]) == ("k", 0, "FP001")


def test_what_is_not_decided_is_no_proof(folder: Path) -> None:
    """Where each thread stores depends on what it has loaded."""
    Path("any.cu").write_text(SCATTER, encoding="utf-8")
    (record,) = judge(read(Entry("any.cu"))).kernels
    assert record.not_proven and not record.races


def test_ptx_in_tritons_cache_is_not_judged_twice(folder: Path) -> None:
    Path("right.ttgir").write_text("module {}", encoding="utf-8")
    assert "right.ptx" not in {Path(entry.path).name for entry in entries_of(["."])}


def test_audit_on_the_command_line(folder: Path, fencepost: CommandLine) -> None:
    ran = fencepost("audit", "-j", "1", "right.ptx")
    assert ran.code == 0 and "clean              1\n" in ran.out


def test_editors_show_findings_at_their_lines() -> None:
    (found,) = read_document("k.cu", CUDA).findings
    assert [mark.span.line for mark in found.diagnostic.marks if mark.span] == [3, 4]
    assert read_document("right.ptx", RIGHT).findings == ()
    (found,) = read_document("k.cu", "__global__ void k() { words }").findings
    assert found.diagnostic.code == "FP431"


def test_tests_fail_with_the_report(folder: Path) -> None:
    assert_race_free(Path("right.ptx"))
    assert_race_free(RIGHT)
    with pytest.raises(AssertionError, match=r"(?s)error\[FP001\].*k\.cu: k: 1 race"):
        assert_race_free("k.cu", block=256)
    with pytest.raises(AssertionError, match="error"):
        assert_race_free(folder)
    fixed = CUDA.replace("    a[t", "    __syncthreads();\n    a[t")
    assert_race_free(fixed, block=256)
    assert_race_free(fixed.replace("__syncthreads", "SYNC"), block=(256,), defines=("SYNC=__syncthreads",))


def test_the_hook_for_cuda_brings_what_it_needs() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (hook,) = [each for each in hooks if each["id"] == "fencepost-check-cuda"]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert hook["additional_dependencies"] == extras["optional-dependencies"]["cuda"]
