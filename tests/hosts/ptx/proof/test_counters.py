"""Counters with an array each: places that two of them give out are of different arrays only if none is too large."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import check
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.ir.source import Source


def judged(text: str) -> str:
    (found,) = check(compile_cuda(Source("k.cu", text)).ptx, block=256)
    return found.verdict


ONE_PLACE_EACH = """
__global__ void k(const int *in, int *out) {
    __shared__ int count[2], list[2][PLACES];
    int t = threadIdx.x, side = t & 1;
    if (t < 2) count[t] = FIRST;
    __syncthreads();
    if (in[t] > 0) list[side][atomicAdd(&count[side], STEP)] = t;
    __syncthreads();
    CHANGE
    if (t < count[0]) out[t] = list[0][t];
    if (t < count[1]) out[t + 256] = list[1][t];
}
"""


@pytest.mark.parametrize(
    ("places", "first", "step", "change", "expected"),
    [
        ("256", "0", "1", "", "proven"),
        # Of 256 threads, 128 take places in each array: if enough data are above zero, two threads store to one word.
        ("100", "0", "1", "", "undecided"),
        ("256", "0", "4", "", "undecided"),
        # Not at zero, or not known.
        ("256", "200 - 200 * t", "1", "", "undecided"),
        ("256", "in[t]", "1", "", "undecided"),
        # What one side gives back may make its counter negative.
        ("256", "0", "1", "atomicSub(&count[side], in[t]); __syncthreads();", "undecided"),
        ("256", "0", "1", "if (t == 0) count[1] = in[t]; __syncthreads();", "undecided"),
    ],
)
def test_two_counters_with_an_array_each(
    places: str, first: str, step: str, change: str, expected: str
) -> None:
    text = ONE_PLACE_EACH.replace("PLACES", places).replace("FIRST", first).replace("STEP", step)
    assert judged(text.replace("CHANGE", change)) == expected


def test_counters_that_one_store_of_64_bits_sets() -> None:
    text = ONE_PLACE_EACH.replace("int count[2]", "__align__(8) int count[2]")
    text = text.replace("if (t < 2) count[t] = FIRST", "if (t == 0) *(long long *)count = FIRST")
    text = text.replace("PLACES", "256").replace("STEP", "1").replace("CHANGE", "")
    assert judged(text.replace("FIRST", "0")) == "proven"
    # The second counter begins at -200.
    assert judged(text.replace("FIRST", "0xffffff3800000000LL")) == "undecided"


PLACES_IN_A_LOOP = """
__global__ void k(const int *in, int *out, int n) {
    __shared__ int count[8], queue[8][64];
    int t = threadIdx.x, mine = t & 7;
    if (t < 8) count[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += 256) {
        if (in[i] <= 0) continue;
        int at = atomicAdd(&count[mine], 1);
        if (CONDITION) queue[mine][at] = i;
    }
    __syncthreads();
    out[t] = queue[mine][t >> 3];
}
"""


def test_queues_that_are_not_filled_up_in_a_loop() -> None:
    assert judged(PLACES_IN_A_LOOP.replace("CONDITION", "at < 64")) == "proven"
    assert judged(PLACES_IN_A_LOOP.replace("CONDITION", "at < 65")) != "proven"
    assert judged(PLACES_IN_A_LOOP.replace("CONDITION", "n > 0")) != "proven"
