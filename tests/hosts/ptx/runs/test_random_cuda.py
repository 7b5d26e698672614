"""Verdicts on random CUDA kernels, beside what brute force over the source says; and kernels found that way."""

from __future__ import annotations

import random

import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.ir.source import Source
from tests.hosts.ptx.random_cuda.compare import PARAMETERS, How, disagreement, wrong
from tests.hosts.ptx.random_cuda.compare import judged as compared
from tests.hosts.ptx.random_cuda.makers import random_kernel
from tests.tiers import sweep

MANY_WEAK_MEETINGS = """
__global__ void k(int *out, int n) {
    __shared__ volatile short s[100];
    int t = threadIdx.x, sum = 0;
    for (int i = t; i < 256; i += 32) {
        sum += s[t * 33 % 100];
        s[(t + n) % 32] = 7;
        sum += s[t];
    }
    __syncthreads();
    for (int i = 1; i <= n; i += 2) {
        s[i] = t + 1;
        __syncwarp();
        sum += s[t];
    }
    out[t] = sum;
}
"""
"""Lanes of one warp meet at many pairs of instructions, and at last all of them store to one element."""

BARRIER_IN_AN_EMPTY_LOOP = """
__global__ void k(int *out, int n) {
    __shared__ volatile int s[64];
    int t = threadIdx.x, sum = 0;
    s[t] = t;
    __syncthreads();
    if (t >= 32) {
        for (int i = 0; i < n; i++) {
            if (t < i) __syncthreads();
            sum += s[t];
        }
    }
    __syncthreads();
    out[t] = sum + s[63 - t];
}
"""

LOOP_THAT_SOME_THREADS_COULD_LEAVE = """
__global__ void k(int *out, int n) {
    __shared__ volatile int s[96];
    int t = threadIdx.x, sum = 0;
    for (int i = 1; i <= n; i += 2) {
        if (t == 0) sum += s[0];
        else if (i > 2) break;
        __syncthreads();
    }
    s[t] = t;
    __syncthreads();
    out[t] = sum + s[95 - t];
}
"""

RACE_FOR_SOME_N = """
__global__ void k(int *out, int n) {
    __shared__ volatile int s[256];
    int t = threadIdx.x, sum = 0;
    for (int i = t; i < 256; i += 64) {
        if (t == 0) {
            sum += s[i];
            s[0] = 7;
        } else {
            sum += s[(t + n) % 64];
        }
    }
    out[t] = sum;
}
"""
"""Four copies of the body make one iteration; with n = 5, thread 59 reads what thread 0 writes."""


LOAD_BESIDE_AN_ATOMIC = """
__global__ void k(int *out, int n) {
    __shared__ int c;
    int t = threadIdx.x;
    if (t == 0) c = 0;
    __syncthreads();
    if (t == 40) atomicAdd(&c, 1);
    int x = c;
    if (x == n) __syncthreads();
    out[t] = x;
}
"""
"""Threads may load the counter before or after it is incremented, and part at the barrier."""


def judged(text: str, block: int, n: int | None) -> KernelVerdict:
    """The verdict on a kernel, for one value of `n` or for all."""
    params = {} if n is None else {"1": n}
    (verdict,) = check(compile_cuda(Source("k.cu", text)).ptx, block=block, params=params)
    return verdict


def test_a_race_of_one_instruction_is_found_behind_many_within_the_warp() -> None:
    assert judged(MANY_WEAK_MEETINGS, 32, 8).verdict == "race"


def test_loads_beside_an_atomic_may_differ() -> None:
    assert judged(LOAD_BESIDE_AN_ATOMIC, 64, None).verdict != "proven"


def test_the_first_iteration_counts_where_there_is_no_second() -> None:
    assert judged(RACE_FOR_SOME_N, 64, 5).verdict == "race"
    assert judged(RACE_FOR_SOME_N, 64, None).verdict != "proven"


@pytest.mark.parametrize(
    ("text", "block", "n"),
    [(BARRIER_IN_AN_EMPTY_LOOP, 64, 0), (LOOP_THAT_SOME_THREADS_COULD_LEAVE, 96, 2)],
    ids=["empty loop", "loop that nobody leaves early"],
)
def test_threads_that_meet_at_the_next_barrier_have_not_parted(text: str, block: int, n: int) -> None:
    assert judged(text, block, n).verdict != "race"


@pytest.mark.parametrize(
    ("text", "block", "n"),
    [(BARRIER_IN_AN_EMPTY_LOOP, 64, 40), (LOOP_THAT_SOME_THREADS_COULD_LEAVE, 96, 3)],
    ids=["some wait inside", "some leave early"],
)
def test_threads_that_do_part_are_found(text: str, block: int, n: int) -> None:
    verdict = judged(text, block, n)
    assert verdict.verdict == "race"
    assert "FP002" in {finding.code for finding in verdict.findings}


@pytest.mark.parametrize("chunk", sweep(range(40), first=1))
def test_brute_force_agrees(chunk: int) -> None:
    for seed in range(10 * chunk, 10 * chunk + 10):
        n = random.Random(seed).choice([None, *PARAMETERS])
        kernel = random_kernel(seed)
        assert disagreement(kernel, n) is None, kernel.text


@pytest.mark.parametrize("chunk", sweep(range(100), first=1))
def test_brute_force_agrees_on_numbers_that_wrap_around(chunk: int) -> None:
    how = How(wrapping=True, runs=False)
    for seed in range(2 * chunk, 2 * chunk + 2):
        n = random.Random(seed).choice([None, *PARAMETERS])
        kernel = random_kernel(seed, wrapping=True)
        assert wrong(*compared(kernel, n, how)) is None, kernel.text


@pytest.mark.parametrize("seed", [500004, 500008, 500009, 500048])
def test_brute_force_agrees_on_negative_indexes(seed: int) -> None:
    # These were proven while a number whose upper bits the compiler drops was taken as it is.
    n = random.Random(seed).choice([None, *PARAMETERS])
    kernel = random_kernel(seed, wrapping=True, signed=True)
    assert wrong(*compared(kernel, n, How(signed=True, runs=False))) is None, kernel.text
