"""Two races that lack one barrier are one finding; two that lack two are two."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.test_schemas import entries
from tests.conftest import CommandLine
from tests.tiers import sweep

GEMM = """\
__global__ void gemm(const float *A, const float *B, float *C, int n) {
    __shared__ float As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    float acc = 0.0f;
    for (int k0 = 0; k0 < n; k0 += 16) {
        As[ty][tx] = A[ty * n + k0 + tx];
        Bs[ty][tx] = B[(k0 + ty) * n + tx];
        FIRST
        for (int k = 0; k < 16; ++k)
            acc += As[ty][k] * Bs[k][tx];
        SECOND
    }
    C[ty * n + tx] = acc;
}
"""
SYNC = "__syncthreads();"
APART = """\
__global__ void apart(const float *in, float *out) {
    __shared__ float a[128], b[128];
    int t = threadIdx.x;
    a[t] = in[t];
    float x = a[127 - t];
    b[t] = x;
    out[t] = b[127 - t];
}
"""
UNDER = """\
__global__ void under(const float *in, float *out, int n) {
    __shared__ float a[128], b[128];
    int t = threadIdx.x;
    a[t] = in[t];
    if (n > 3) {
        b[t] = in[t];
        out[t] = b[127 - t];
    }
    out[t + 128] = a[127 - t];
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def gemm(first: str = "", second: str = "") -> tuple[str, ...]:
    Path("gemm.cu").write_text(GEMM.replace("FIRST", first).replace("SECOND", second), encoding="utf-8")
    return "check", "gemm.cu", "--block", "16x16"


@pytest.mark.parametrize(
    ("first", "second", "fix", "also"),
    [
        (
            "",
            SYNC,
            "put __syncthreads() between line 7 and the loop of line 9\n",
            "thread (0, 0) writes and thread (1, 0) reads `As[0][0]` (lines 6 and 10): the same barrier mends it\n",
        ),
        (
            SYNC,
            "",
            "put __syncthreads() at the end of the loop of line 5 (before line 12), or at its start (before line 6): "
            "between line 10 and line 6 of the next iteration\n",
            "thread (1, 0) reads and thread (0, 0) writes `As[0][0]` in the next iteration (lines 10 and 6): the "
            "same barrier mends it\n",
        ),
    ],
)
def test_two_tiles_that_lack_one_barrier(
    fencepost: CommandLine, first: str, second: str, fix: str, also: str
) -> None:
    """One finding that names both."""
    ran = fencepost(*gemm(first, second))
    assert ran.out.count("error[") == 1 and ": gemm: 1 race (" in ran.out
    assert f"= fix: {fix}" in ran.out and f"= also: {also}" in ran.out
    assert "`Bs[0][0]`" in ran.out.splitlines()[0] and "__syncwarp" not in ran.out


@pytest.mark.parametrize(("first", "second"), sweep([("", SYNC), (SYNC, "")], first=1))
def test_what_is_for_programs_has_each_of_them(fencepost: CommandLine, first: str, second: str) -> None:
    call = gemm(first, second)
    (kernel,) = entries("check", fencepost(*call, "--json").out)
    assert {each["element"] for each in kernel["findings"]} >= {"As[0][0]", "Bs[0][0]"}
    assert len(json.loads(fencepost(*call, "--format", "sarif").out)["runs"][0]["results"]) == 2
    assert fencepost(*call, "--format", "github").out.count("::error") == 2


def test_with_both_barriers_there_is_nothing_to_find(fencepost: CommandLine) -> None:
    assert fencepost(*gemm(SYNC, SYNC)).code == 0


def test_the_iteration_is_that_of_the_loop_that_tells_both_apart(fencepost: CommandLine) -> None:
    """And not of the one inside, which the read is in."""
    call = gemm(SYNC)
    text = Path("gemm.cu").read_text(encoding="utf-8")
    rolled = text.replace("        for (int k = 0", "        #pragma unroll 1\n        for (int k = 0")
    Path("gemm.cu").write_text(rolled, encoding="utf-8")
    out = fencepost(*call).out
    assert "in the next iteration" in out.splitlines()[0] and "of the loop of line 10" not in out
    assert (
        " in the 1st iteration of the loop of line 5\n" in out
        and " in the 2nd iteration of the loop of line 5\n" in out
    )


@pytest.mark.parametrize("text", [APART, UNDER])
def test_two_barriers_are_two_findings(fencepost: CommandLine, text: str) -> None:
    """No place is between both pairs, or it is under a condition."""
    Path("k.cu").write_text(text, encoding="utf-8")
    out = fencepost("check", "k.cu", "--block", "128").out
    assert out.count("error[") == 2 and "= also: " not in out
