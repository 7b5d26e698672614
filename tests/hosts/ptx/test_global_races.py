"""Races in global memory that happen with every launch are reported; what depends on more is not judged."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.nvrtc import compile_cuda
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


def test_lanes_of_one_warp_are_a_warning() -> None:
    found = verdict("a[t] = a[t + 1];", block=32)
    assert (found.verdict, [each.severity for each in found.findings]) == ("proven", ["warning"])
