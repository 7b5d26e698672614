"""Races in global memory that happen with every launch are reported; what depends on more is not judged."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.hosts.ptx.files import UserOptions, judgements, read_file
from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.ir.source import Source


def verdict(body: str, block: int = 64) -> KernelVerdict:
    text = f"__global__ void k(int *a, int *b, int n) {{ int t = threadIdx.x, i = blockIdx.x * 64 + t; {body} }}\n"
    (found,) = check(compile_cuda(Source("k.cu", text)).ptx, block=block)
    return found


@pytest.mark.parametrize(
    "body",
    [
        "a[t] = a[t + 1];",
        "a[i] = a[i + 1];",
        "a[i + n] = a[i + n + 32];",
        "a[0] = t;",
        "a[t / 2 % 16] = t;",
        "if (t < 32) a[t] = 1; else a[t - 32] = 2;",
        "if (t == 0) a[5] = 7; b[t] = a[5];",
        "b[t] = a[63 - t]; a[t] = n;",
        "__syncthreads(); a[t] = a[t + 32]; __syncthreads();",
    ],
)
def test_a_race_with_every_launch(body: str) -> None:
    found = verdict(body)
    assert found.verdict == "race"
    assert "the same bytes of global memory, counted from" in found.findings[0].message


@pytest.mark.parametrize(
    "body",
    [
        "a[i] = a[i] + 1;",
        "a[t] = b[t + 1];",  # two pointers, which may be apart
        "a[0] = 3;",
        "a[blockIdx.x] = n;",
        "int v = a[t + 1]; __syncthreads(); a[t] = v;",
        "if (t < 32) a[t] = 1; else a[t] = 2;",
        "atomicAdd(a, 1);",
        "a[b[t]] = t;",  # places that data decide
        "if (t < n) a[0] = t;",  # parameters decide
        "for (int j = 0; j < n; j++) a[j * 64 + t] = a[j * 64 + t] + 1;",
        "*(volatile int *)a = t;",  # a flag for other blocks
        "if (t == 0) { a[5] = 7; b[0] = a[5]; }",
        "if (t < 32) a[t] = t; __syncthreads(); if (t >= 32) b[t] = a[t - 32];",
    ],
)
def test_what_is_right_or_not_known_is_not_reported(body: str) -> None:
    assert verdict(body).findings == ()


def test_lanes_of_one_warp_race_as_well() -> None:
    found = verdict("a[t] = a[t + 1];", block=32)
    assert (found.verdict, len(found.findings)) == ("race", 1)
    assert "__syncwarp()" in found.findings[0].fix


# ---- between blocks


def of_blocks(body: str, grid: str = "64") -> KernelVerdict:
    text = (
        f"//--blockDim=64 --gridDim={grid}\n"
        f"__global__ void k(int *a, int *b, int n) {{ int t = threadIdx.x, i = blockIdx.x * 64 + t; {body} }}\n"
    )
    (found,) = judgements(read_file("k.cu", Source("k.cu", text), UserOptions()))
    assert isinstance(found, JudgedPtx)
    return found.verdict


@pytest.mark.parametrize(
    "body",
    [
        "a[t] = blockIdx.x;",
        "if (t == 0) a[0] = blockIdx.x;",
        "int v = a[i + 64]; __syncthreads(); a[i] = v;",
        "a[blockIdx.x * 32 + t] = t;",
        "if (blockIdx.x == 0) a[64] = 3; else b[i] = a[i];",
        "b[i] = a[gridDim.x]; if (i == 0) a[64] = 5;",
    ],
)
def test_a_race_of_two_blocks(body: str) -> None:
    found = of_blocks(body)
    assert found.verdict == "race" and "nothing orders blocks" in found.findings[0].message
    assert of_blocks(body, "1").verdict == "proven"
    assert of_blocks(body, "64 --only-intra-group").verdict == "proven"


@pytest.mark.parametrize(
    "body",
    [
        "a[i] = i;",
        "a[blockIdx.x] = n;",
        "a[t] = 7;",
        "a[t] = n;",
        "a[blockIdx.x * 32 + t] = blockIdx.x * 32 + t;",  # both store the same
        "a[i * n] = i;",  # parameters decide
        "atomicAdd(a + t, 1);",
        "b[i] = a[t]; __threadfence(); if (atomicAdd(b, 1) == 63) a[t] = 1;",
        "if (blockIdx.x == 70) a[64] = 3; b[i] = a[i];",
    ],
)
def test_blocks_that_do_not_meet_for_certain(body: str) -> None:
    assert of_blocks(body).findings == ()


# ---- in files that state what launches keep to: with some input


def stated(body: str, comment: str = "--blockDim=64 --gridDim=1") -> KernelVerdict:
    text = (
        f"//{comment}\n__device__ int seen;\n"
        f"__global__ void k(int *a, const int *b, int n) {{ int t = threadIdx.x, i = blockIdx.x * 64 + t; {body} }}\n"
    )
    (found,) = judgements(read_file("k.cu", Source("k.cu", text), UserOptions()))
    assert isinstance(found, JudgedPtx)
    return found.verdict


@pytest.mark.parametrize(
    "body",
    [
        "if (b[t] > 3) a[0] = t;",  # data let several threads get there
        "a[b[t]] = t;",
        "a[t + n] = a[t + 64];",  # n = 32
        "if (t < n) a[0] = t;",
        "seen = t;",
        "atomicAdd(a, 1); if (t == 40) a[0] = 7;",
        "for (int j = 0; j < n; j++) a[t + 63 * j] = t;",
        "for (int j = 0; j < 4; j++) a[3 * t + j] = t;",
        "__shared__ int s; if (t == 0) s = 0; __syncthreads(); if (b[t] == n) s = t; __syncthreads(); a[t] = s;",
    ],
)
def test_a_race_with_some_input(body: str) -> None:
    assert stated(body).verdict == "race"
    assert stated(body, "blocks of 64 threads").verdict != "race"


@pytest.mark.parametrize(
    "body",
    [
        "__requires(n >= 64); a[t + n] = a[t];",
        "if (b[t] > 3) a[0] = 1;",  # all store the same
        "if (b[t] > 3) a[t] = b[t + 1];",
        "for (int j = 0; j < n; j++) a[64 * j + t] = t;",
        "for (int j = 0; j < n; j++) { int v = a[t + 1]; __syncthreads(); a[t] = v; __syncthreads(); }",
        "atomicAdd(a, b[t]); atomicAdd(&seen, 1);",
        "a[atomicAdd(&seen, 1)] = t;",  # places that no other thread draws
        "__requires(n == 1 || b[0] == 3); if (t < n) a[0] = t;",  # what is required is not read
        "if (t < n) a[0] = t; __threadfence();",  # fences may be there for an order
    ],
)
def test_no_race_with_any_input(body: str) -> None:
    assert stated(body).findings == ()


def test_two_blocks_with_some_input() -> None:
    grid = "--blockDim=64 --gridDim=4"
    for body in (
        "if (b[i] > 3) a[0] = i;",
        "a[i + n] = a[i];",
        "a[t] = b[i];",  # the data of two blocks differ
        "if (i < n) a[t] = i;",
        "atomicAdd(a + t, 1); b[0] ? a[i] = i : 0;",
    ):
        assert stated(body, grid).verdict == "race"
    for body in ("if (b[i] > 3) a[i] = b[0];", "a[atomicAdd(&seen, 1)] = i;", "atomicAdd(a + t, 1);"):
        assert stated(body, grid).findings == ()
