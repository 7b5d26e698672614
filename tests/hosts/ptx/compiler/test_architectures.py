"""Which GPU a CUDA file is compiled for if nobody says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import CommandLine

CLUSTER = """\
#include <cooperative_groups.h>
__global__ void __cluster_dims__(2, 1, 1) exchange(float *x) {
    __shared__ float s[128];
    auto cluster = cooperative_groups::this_cluster();
    s[threadIdx.x] = x[threadIdx.x];
    cluster.sync();
    x[threadIdx.x] = cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[threadIdx.x];
    cluster.sync();
}
"""
NEWER = """\
__global__ void newer(float *x) {
    __shared__ float s[256];
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = s[255 - threadIdx.x];
#endif
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cluster.cu").write_text(CLUSTER, encoding="utf-8")
    Path("newer.cu").write_text(NEWER, encoding="utf-8")


def test_a_cluster_is_compiled_for_a_gpu_that_has_them(fencepost: CommandLine) -> None:
    found = fencepost("check", "cluster.cu", "--block", "128")
    assert found.code == 0 and "no race" in found.out
    assert "note: compiled for sm_90: it does not compile for sm_80" in found.out


def test_the_gpu_that_is_asked_for_is_taken(fencepost: CommandLine) -> None:
    found = fencepost("check", "cluster.cu", "--block", "128", "--target", "sm_80")
    assert found.code == 2 and "FP431" in found.err


def test_a_file_that_compiles_for_none_is_told_with_the_errors_for_the_usual_one(
    fencepost: CommandLine,
) -> None:
    Path("cluster.cu").write_text(CLUSTER.replace("s[threadIdx.x] =", "s[threadIdx.x] = wrong +"))
    found = fencepost("check", "cluster.cu", "--block", "128")
    assert found.code == 2 and "__cluster_dims__ is not supported" in found.err


def test_code_for_newer_gpus_is_not_left_out_without_a_word(fencepost: CommandLine) -> None:
    """For sm_80 nothing is left of this kernel, and nothing is wrong with that."""
    out = fencepost("check", "newer.cu", "--block", "256").out
    said = "what stands behind `__CUDA_ARCH__ >= 900` is not compiled for sm_80, and not judged"
    assert f"note: {said}; --target sm_90 has it" in out
    newer = fencepost("check", "newer.cu", "--block", "256", "--target", "sm_90")
    assert newer.code == 1 and "not compiled for" not in newer.out


def test_a_gpu_that_does_not_exist(fencepost: CommandLine) -> None:
    found = fencepost("check", "newer.cu", "--target", "sm_9")
    assert found.code == 2 and "error[FP110]: sm_9 is no GPU that CUDA is compiled for" in found.err
