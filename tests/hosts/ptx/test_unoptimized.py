"""CUDA judged as compiled and without optimization: what the optimizer hides is a race of the source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.hosts.ptx import check, unoptimized
from fencepost.hosts.ptx.compiler.nvrtc import Compilation, Compiled, compile_cuda
from fencepost.hosts.ptx.launches.launch import Given
from fencepost.hosts.ptx.unoptimized import Builds, builds_of, together
from fencepost.hosts.ptx.verdicts import Finding, KernelVerdict, Reason, Site
from fencepost.ir.source import FencepostError, Source
from tests.conftest import CommandLine

MOVED = """
__global__ void moved(float *out, const float *in) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    FIRST
    float x = s[255 - t];
    __syncthreads();
    s[t] = 2 * in[t];
    __syncthreads();
    out[t] = s[255 - t] + 0 * int(x);
}
"""
"""The load of x is dead once it is multiplied by zero: the optimizer drops it."""
DEAD = """
__global__ void dead(const float *in) {
    __shared__ float s[256];
    s[threadIdx.x INDEX] = in[threadIdx.x];
}
"""
"""Nobody reads s: the optimizer drops the stores."""
OVERWRITTEN = """
__global__ void overwritten(int *out) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = t;
    FIRST
    s[(t + 64) % 256] = t;
    FIRST
    s[t] = 2 * t;
    __syncthreads();
    out[t] = s[255 - t];
}
"""
FORWARDED = """
__device__ __noinline__ float twice(const float *s, int t) { return s[t] + s[t]; }
__global__ void forwarded(float *out) {
    __shared__ float s;
    int t = threadIdx.x;
    if (t == 0) s = 4;
    FIRST
    float x = twice(&s, 0);
    FIRST
    if (t == 0) s = 5;
    __syncthreads();
    out[t] = x + s;
}
"""


def kernel_name(text: str) -> str:
    return compile_cuda(Source("k.cu", text)).ptx.partition(".entry ")[2].partition("(")[0]


def both(text: str, first: str) -> tuple[KernelVerdict, Builds]:
    text = text.replace("FIRST", first).replace("INDEX", first)
    cuda = Source("k.cu", text)
    builds = builds_of(Source("k.cu (PTX)", compile_cuda(cuda).ptx), cuda, Compilation())
    (verdict,) = builds.judge(kernel_name(text), Given((256, 1, 1)))
    return verdict, builds


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [(MOVED, "", "__syncthreads();"), (DEAD, "/ 2", ""), (OVERWRITTEN, "", "__syncthreads();")],
    ids=["dead load", "dead stores", "overwritten"],
)
def test_what_the_optimizer_hides_is_found(text: str, wrong: str, right: str) -> None:
    verdict, builds = both(text, wrong)
    assert verdict.verdict == "race"
    hidden = all("the optimized one does not show it" in each.build for each in verdict.findings)
    (compiled,) = Builds(builds.compiled).judge(verdict.kernel, Given((256, 1, 1)))
    assert hidden == (compiled.verdict == "proven")
    assert both(text, right)[0].verdict == "proven"


def test_a_race_in_a_function_is_found_in_both_builds() -> None:
    assert both(FORWARDED, "")[0].verdict == "race"
    assert both(FORWARDED, "__syncthreads();")[0].verdict == "proven"


def test_the_command_says_which_build_shows_it(tmp_path: Path, fencepost: CommandLine) -> None:
    file = tmp_path / "dead.cu"
    file.write_text(DEAD.replace("INDEX", "/ 2"), encoding="utf-8")
    ran = fencepost("check", str(file), "--block", "256")
    assert ran.code == 1
    assert "= build: unoptimized; the optimized one does not show it" in ran.out
    ran = fencepost("check", str(file), "--block", "256", "--as-compiled")
    assert ran.code == 0 and "no race" in ran.out
    ran = fencepost("check", str(file), "--block", "256", "--json")
    assert [each["build"] for each in json.loads(ran.out)[0]["findings"]] == ["unoptimized"]


def verdict(what: str, *, findings: tuple[Finding, ...] = ()) -> KernelVerdict:
    reasons = (Reason("why"),) if what == "undecided" else ()
    return KernelVerdict("k", what, findings, reasons, "all", 1, 2)  # type: ignore[arg-type]


RACE = Finding("FP001", "error", "m", Site(1, "st"), Site(2, "ld"), ((0, 0, 0), (1, 0, 0)), None)


@pytest.mark.parametrize(
    ("compiled", "other", "expected", "said"),
    [
        ("proven", "proven", "proven", ""),
        ("proven", "undecided", "proven", "the order of the source was not judged: why"),
        ("proven", "race", "race", ""),
        ("undecided", "race", "race", ""),
        ("undecided", "proven", "proven", "proven in the order of the source; not decided as compiled: why"),
        ("undecided", "undecided", "undecided", ""),
    ],
)
def test_two_verdicts_make_one(compiled: str, other: str, expected: str, said: str) -> None:
    findings = (RACE,) if other == "race" else ()
    found = together(verdict(compiled), verdict(other, findings=findings))
    assert (found.verdict, "; ".join(found.notes)) == (expected, said)
    assert len(found.findings) == len(findings)


def test_a_race_that_a_run_has_shown_as_compiled_is_not_outdone() -> None:
    seen = KernelVerdict("k", "undecided", (), (Reason("there is a race if n = 3", seen=True),), "all", 1, 2)
    assert together(seen, verdict("proven")).verdict == "undecided"


def test_code_that_only_compiles_with_optimization_is_judged_as_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def only_optimized(source: Source, how: Compilation) -> Compiled:
        if not how.optimized:
            raise FencepostError("this does not compile: no room", code="FP431")
        return compile_cuda(source, how)

    monkeypatch.setattr(unoptimized, "compile_cuda", only_optimized)
    verdict, builds = both(DEAD, "")
    assert builds.unoptimized is None and verdict.verdict == "proven"
    said = "the order of the source was not judged: without optimization, this does not compile: no room"
    assert verdict.notes == (said,)


COPY = """
#include <cuda_pipeline.h>
__global__ void k(const float4 *in, float *out) {
    __shared__ float4 tile[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    BARRIER
    out[t] = tile[127 - t].x;
}
"""


@pytest.mark.parametrize(("barrier", "expected"), [("", "race"), ("__syncthreads();", "proven")])
def test_copies_of_an_unoptimized_build_are_followed(barrier: str, expected: str) -> None:
    """It asks whether its pointers are shared or global (`isspacep`) before it copies."""
    source = Source("k.cu", COPY.replace("BARRIER", barrier))
    ptx = compile_cuda(source, Compilation("sm_80", optimized=False)).ptx
    (verdict,) = check(ptx, block=(128, 1, 1), file="k.ptx")
    assert verdict.verdict == expected


def test_a_pointer_that_a_lambda_holds_by_reference() -> None:
    # Its parameter is two loads of local memory away; an array that a loop indexes keeps these from being registers.
    text = """
    __global__ void captured(float *out, const float *in, int n) {
        __shared__ float tile[2][256];
        const int t = threadIdx.x;
        float own[4];
        in += blockIdx.x * n;
        auto load = [&](int at) { for (int i = t; i < 256; i += 256) tile[at][i] = in[at * n + i]; };
        load(0);
        load(1);
        FIRST
        for (int i = 0; i < 4; i++) own[i] = tile[i % 2][(t + i) % 256];
        float sum = 0;
        for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) sum += own[i] * own[(i + j) % 4];
        out[t] = sum;
    }
    """
    assert both(text, "__syncthreads();")[0].verdict == "proven"
    assert both(text, "")[0].verdict == "race"
