"""Races that are there whatever numbers a kernel is given, and those that the numbers are to blame for."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.ir.source import Source

# Rows of blocks that overlap by a border: which threads compute, and which neighbours they have, is up to numbers.
PYRAMID = """
__global__ void k(int steps, const int *wall, const int *from, int *to, int cols, int border) {
    __shared__ int prev[256], result[256];
    int t = threadIdx.x, first = (256 - steps * 2) * blockIdx.x - border, last = first + 255, x = first + t;
    int low = first < 0 ? -first : 0, high = last > cols - 1 ? 255 - (last - cols + 1) : 255;
    int west = t - 1 < low ? low : t - 1, east = t + 1 > high ? high : t + 1;
    if (x >= 0 && x < cols) prev[t] = from[x];
    __syncthreads();
    bool computed = false;
    for (int i = 0; i < steps; i++) {
        computed = false;
        if (t > i && t < 255 - i && t >= low && t <= high) {
            computed = true;
            result[t] = min(prev[t], min(prev[west], prev[east])) + wall[cols * i + x];
        }
        __syncthreads();
        if (i == steps - 1) break;
        if (computed) prev[t] = result[t];
        AGAIN;
    }
    if (computed) to[x] = result[t];
}
"""

# Right if the stride is large enough: that is up to the caller.
STRIDE = """
__global__ void k(float *out, const float *in, int stride) {
    extern __shared__ float s[];
    int t = threadIdx.x;
    s[(t * stride) & 1023] = in[t];
    out[t] = s[(t * stride) & 1023];
}
"""

# Right if the size is a power of two.
MASKED = """
__global__ void k(float *out, const float *in, int size) {
    __shared__ float s[512];
    int t = threadIdx.x, at = 2 * t - (t & (size - 1));
    s[at & 511] = in[t];
    s[(at + size) & 511] = in[t + 1];
    out[t] = s[at & 511];
}
"""


def verdict(text: str) -> KernelVerdict:
    (found,) = check(compile_cuda(Source("k.cu", text)).ptx, block=256)
    return found


def test_a_missing_barrier_between_the_steps_of_a_pyramid() -> None:
    found = verdict(PYRAMID.replace("AGAIN", ""))
    assert found.verdict == "race"
    assert "prev`" in found.findings[0].message


def test_with_the_barrier_it_is_proven() -> None:
    assert verdict(PYRAMID.replace("AGAIN", "__syncthreads()")).verdict == "proven"


@pytest.mark.parametrize("text", [STRIDE, MASKED])
def test_numbers_that_may_be_chosen_so_that_nothing_meets_are_no_race(text: str) -> None:
    assert verdict(text).verdict != "race"
