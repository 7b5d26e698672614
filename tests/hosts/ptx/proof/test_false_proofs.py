"""Kernels that were proven although they race, beside right ones; runs with usual numbers do not show the races."""

from __future__ import annotations

import re
from unittest.mock import Mock

import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.compiler.nvrtc import Compilation, compile_cuda
from fencepost.hosts.ptx.proof.global_atomics import every_load
from fencepost.ir.source import Source
from tests.hosts.ptx.random_cuda.compare import proof_alone
from tests.tiers import FULL


def verdict(text: str, block: int = 64, optimized: bool = True) -> KernelVerdict:
    ptx = compile_cuda(Source("k.cu", text), Compilation(optimized=optimized)).ptx
    (found,) = check(ptx, block=block)
    return found


def is_proven_without_runs(text: str, block: int = 64, optimized: bool = True) -> bool:
    """Whether the proof alone holds: runs would look for a race until their time is up."""
    ptx = compile_cuda(Source("k.cu", text), Compilation(optimized=optimized)).ptx
    return proof_alone(ptx, (block, 1, 1), {}).verdict == "proven"


def is_proven(text: str, runs: bool, block: int = 64, optimized: bool = True) -> bool:
    """Whether a kernel is proven, by the proof alone or by everything that there is."""
    if not runs:
        return is_proven_without_runs(text, block, optimized)
    return verdict(text, block, optimized).verdict == "proven"


# ---- one pair of accesses, reached from two barriers

TWO_BARRIERS = """
__global__ void k(int *out, int n) {
    __shared__ int s[300];
    int t = threadIdx.x;
    if (n == 2048) __syncthreads();
    s[t] = t;
    out[t] = s[n == OTHER ? t + 33 : t];
}
"""


def test_what_keeps_accesses_apart_after_one_barrier_says_nothing_about_another() -> None:
    # From the entry, n is not 2048 on the way to both accesses; from the barrier, it is.
    assert verdict(TWO_BARRIERS.replace("OTHER", "2048"), 256).verdict != "proven"
    assert verdict(TWO_BARRIERS.replace("OTHER", "2048 && n == 0"), 256).verdict == "proven"


# ---- clocks

CLOCKS = """
__global__ void k(int *out) {
    __shared__ int s[96];
    int t = threadIdx.x;
    int begin = clock();
    out[t] = 1;
    s[t + ((int)clock() - begin) % 32] = t;
    __syncthreads();
    out[t] = s[t];
}
"""


def test_two_readings_of_a_clock_differ() -> None:
    assert verdict(CLOCKS).verdict != "proven"
    assert verdict(CLOCKS.replace("(int)clock()", "begin")).verdict == "proven"


# ---- copies that are waited for under a condition

COPY = """
__global__ void k(int *out, const int *in, int n) {
    __shared__ __align__(16) int s[256];
    int t = threadIdx.x;
    unsigned place = __cvta_generic_to_shared(s + 4 * t);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(place), "l"(in + 4 * t) : "memory");
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 2048; COMMIT; WAIT; }" :: "r"(n) : "memory");
    __syncthreads();
    out[t] = s[255 - t];
}
"""


@pytest.mark.parametrize(
    ("commit", "wait"),
    [
        ("@p cp.async.commit_group", "cp.async.wait_group 0"),
        ("cp.async.commit_group", "@p cp.async.wait_all"),
    ],
)
def test_a_copy_that_some_number_leaves_in_flight(commit: str, wait: str) -> None:
    assert verdict(COPY.replace("COMMIT", commit).replace("WAIT", wait)).verdict != "proven"


def test_a_copy_that_is_always_waited_for() -> None:
    text = COPY.replace("COMMIT", "cp.async.commit_group").replace("WAIT", "cp.async.wait_group 0")
    assert verdict(text).verdict == "proven"


# ---- bits that are shifted out

MASK = """
__global__ void k(int *out, unsigned bits) {
    __shared__ int s[64];
    int t = threadIdx.x, steps = 0;
    do { steps++; bits <<= 1; out[steps] = bits; } while (bits);
    s[(t * steps) & 63] = t;
    __syncthreads();
    out[t] = s[t];
}
"""


def test_a_loop_that_ends_when_all_bits_are_shifted_out() -> None:
    # Taken as a stride that never becomes zero, the loop would not end, and all after it would be right.
    assert verdict(MASK).verdict != "proven"
    assert verdict(MASK.replace("t * steps", "t + steps")).verdict == "proven"


COUNTED = """
__global__ void k(int *out, int n) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    unsigned mask = 1;
    for (int i = 0; i < n; i++) { out[i] = mask; s[mask == 0 && n == 2048 ? 0 : t] = t; mask <<= 1; __syncthreads(); }
}
"""


def test_a_mask_that_becomes_zero_in_a_counted_loop() -> None:
    assert not is_proven_without_runs(COUNTED)
    assert is_proven_without_runs(COUNTED.replace("i < n", "i < n && i < 32"))


@FULL
def test_with_runs_it_is_not_proven_either() -> None:
    assert verdict(COUNTED).verdict != "proven"


FIRST = """
__global__ void k(int *out, int n) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    for (unsigned stride = 1; stride < n; stride *= 2) {
        s[stride == SOME && n == 2048 ? 0 : t] = t;
        out[stride] = 1;
        __syncthreads();
    }
}
"""


@pytest.mark.parametrize("some", [1, 4])
def test_the_first_iterations_of_a_loop_that_doubles_its_stride(some: int) -> None:
    # What is known of the iteration before was taken to hold in the first one, too, which then had no thread.
    assert verdict(FIRST.replace("SOME", str(some))).verdict != "proven"
    assert verdict(FIRST.replace("SOME", "3")).verdict == "proven"


HASH = """
__global__ void k(int *out, int n) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        unsigned hash = i * 2654435769u >> 26;
        s[hash == 60 && n == 2048 ? 0 : t] = t;
        __syncthreads();
    }
}
"""


def test_a_hash_of_a_loop_counter_wraps_around() -> None:
    assert not is_proven_without_runs(HASH)
    assert is_proven_without_runs(HASH.replace("n == 2048", "n == 0"))


@FULL
def test_with_runs_a_hash_is_not_proven_either() -> None:
    assert verdict(HASH).verdict != "proven"


SHIFTED = """
__global__ void k(int *out, unsigned n) {
    __shared__ int s[1024];
    unsigned t = threadIdx.x;
    for (unsigned i = 22; i < 32; i++) {
        s[n == 2048 ? (t << i) >> 22 & MASK : t] = t;
        __syncthreads();
    }
    out[t] = s[t];
}
"""


def test_bits_that_a_counter_shifts_out(runs: bool) -> None:
    # Of 128 << 25, nothing is left, as of 0 << 25.
    for optimized in (True, False):
        assert not is_proven(SHIFTED.replace("MASK", "1023"), runs, 256, optimized)
    assert (
        verdict(SHIFTED.replace("(t << i) >> 22 & MASK", "(t << (i - 22)) >> (i - 22)"), 256).verdict
        == "proven"
    )


# ---- negative indices

NEGATIVE = """
__global__ void k(int *out, int n) {
    __shared__ int s[256];
    int t = threadIdx.x;
    if (n == 2048) s[INDEX] = t;
    __syncthreads();
    out[t] = s[t];
}
"""


@pytest.mark.parametrize(
    ("racy", "right"),
    [
        ("(t - 32) % 32 + 31", "(t - 64) % 64 + 64"),
        ("128 + ((t - 32) & ~3)", "128 + ((t - 32) & ~0)"),
        ("128 + ((t - 32) >> 1)", "128 + ((t - 32) << 1 >> 1)"),
        ("128 + (t > 40 ? -1 : -t)", "128 + (t > 40 ? -t : -t)"),
    ],
)
def test_numbers_that_are_negative_for_some_threads(racy: str, right: str) -> None:
    # Of a multiple of four, the compiler drops the upper bits: -32 becomes 0x3FFFFFE0, which was taken as it is.
    assert verdict(NEGATIVE.replace("INDEX", racy)).verdict != "proven"
    assert verdict(NEGATIVE.replace("INDEX", right)).verdict == "proven"


STEPS = """
__global__ void k(int *out, int n) {
    __shared__ int s[256];
    int t = threadIdx.x;
    for (int i = 1; i < n; i++) if (t < 5) s[INDEX] = t;
    __syncthreads();
    out[t] = s[t];
}
"""


def test_products_of_counters_that_are_negative(runs: bool) -> None:
    # -4 is twice -2: without a sign, both wrap around, and were taken not to be.
    assert not is_proven(STEPS.replace("INDEX", "128 + (t - 5) * i"), runs, optimized=False)
    assert verdict(STEPS.replace("INDEX", "128 + (t - 5) * 8"), optimized=False).verdict == "proven"


# ---- what is taken for granted of parameters

LARGE = """
__global__ void k(int *out, int n) {
    __shared__ int s[SIZE];
    int t = threadIdx.x;
    if (t < 32) s[200 + (t - 32) STEP + n] = t;
    s[0] = 1;
    __syncthreads();
    out[t] = s[t];
}
"""


def test_a_parameter_for_which_no_access_is_inside_of_its_array() -> None:
    # Threads 29 and 31 always meet; with n of 64 and more, there would be nothing that meets.
    assert verdict(LARGE.replace("SIZE", "256").replace("STEP", "/ 4")).verdict != "proven"
    found = verdict(LARGE.replace("SIZE", "300").replace("STEP", "- 200"))
    assert found.verdict == "proven"
    assert "_param_1 >= 64" in found.holds_for


# ---- counters that are set anew, or whose address was loaded

ANEW = """
__global__ void k(int *out) {
    __shared__ int count, q[64];
    int t = threadIdx.x;
    if (t == 0) count = 0;
    __syncthreads();
    int first = atomicAdd(&count, 1);
    __syncwarp();
    if (t == 0) count = ANEW;
    __syncwarp();
    int second = atomicAdd(&count, 1);
    q[t & 1 ? first : second] = t;
    __syncthreads();
    out[t] = q[t];
}
"""


def test_a_counter_that_is_set_anew_between_barriers_of_the_warp() -> None:
    assert verdict(ANEW.replace("ANEW", "0"), 32).verdict != "proven"
    right = ANEW.replace("if (t == 0) count = ANEW;", "")
    assert verdict(right, 32).verdict == "proven"


LOADED = """
struct Queue { int *count; };
__global__ void k(int *out, Queue *queue, const int *limits, int n) {
    int *count = queue->count;
    __shared__ int *shared;
    if (threadIdx.x == 0) shared = out + n;
    __syncthreads();
    for (int i = 0; PLACE < n; i++) {
        __syncthreads();
        atomicAdd(COUNT, 1);
    }
    __syncthreads();
}
"""


def test_a_plain_load_beside_an_atomic_is_not_one_value_for_all() -> None:
    text = LOADED.replace("COUNT", "queue->count")
    assert not is_proven_without_runs(text.replace("PLACE", "*queue->count"))
    assert is_proven_without_runs(text.replace("PLACE", "limits[i]"))


@FULL
@pytest.mark.parametrize("place", ["*count", "*queue->count", "*shared"])
def test_a_plain_load_beside_an_atomic_through_a_pointer_that_was_loaded(place: str) -> None:
    text = LOADED.replace("COUNT", place[1:])
    assert verdict(text.replace("PLACE", place)).verdict != "proven"
    assert verdict(text.replace("PLACE", "limits[i]")).verdict == "proven"


# ---- a thread that does not wait for its own copy

OWN_COPY = """
__global__ void k(int *out, const int *in, int n) {
    __shared__ __align__(16) int s[2][256];
    int t = threadIdx.x;
    unsigned even = __cvta_generic_to_shared(s[0] + 4 * t), odd = __cvta_generic_to_shared(s[1] + 4 * t);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(even), "l"(in) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (int i = 0; i < n; i++) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(i & 1 ? even : odd), "l"(in) : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group LEFT;" ::: "memory");
        out[t] += s[i & 1][4 * t];
    }
}
"""


def test_a_thread_waits_for_its_own_copies() -> None:
    assert verdict(OWN_COPY.replace("LEFT", "1")).verdict == "proven"
    found = verdict(OWN_COPY.replace("LEFT", "2"))
    assert found.verdict == "race"
    message = found.findings[0].message
    assert re.match("thread .* reads bytes of `.*`, which its own copy may not have written", message)
    # No usual number lets the loop run: the proof must see it.
    rarely = OWN_COPY.replace("LEFT", "2").replace("i < n", "i < n && n == 2048")
    assert verdict(rarely).verdict != "proven"


# ---- what lanes find together

TOGETHER = """
__global__ void k(int *out, int n) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = t;
    if (VOTE) s[0] = t;
    out[t] = s[t];
}
"""


@pytest.mark.parametrize(
    ("vote", "held"),
    [
        ("!__any_sync(~0u, t % 32 == 3)", False),
        ("__any_sync(~0u, t % 32 == 40)", False),
        ("__all_sync(~0u, t % 32 < 40)", True),
        ("__reduce_add_sync(~0u, 1) == 32", True),
        ("__reduce_max_sync(~0u, -t) > 0", False),
        ("__reduce_and_sync(~0u, t) > 31", True),
    ],
)
def test_votes_of_known_values(vote: str, held: bool) -> None:
    assert verdict(TOGETHER.replace("VOTE", vote)).verdict == ("race" if held else "proven")


WAITS = """
__global__ void k(int *out, const int *in) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    if (VOTE) __syncthreads();
    out[t] = s[t];
    __syncthreads();
}
"""


@pytest.mark.parametrize("vote", ["__any_sync(~0u, GIVEN)", "__reduce_add_sync(~0u, GIVEN) > 4"])
def test_warps_that_vote_for_different_barriers(vote: str) -> None:
    # Runs for every outcome ended, as a barrier does not tell which instruction threads arrive by.
    text = WAITS.replace("VOTE", vote)
    assert verdict(text.replace("GIVEN", "in[t]")).verdict != "proven"
    assert verdict(text.replace("GIVEN", "in[0]")).verdict == "proven"


# ---- narrow registers

NARROW = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_param_0) {
    .reg .b16 %h<4>; .reg .b32 %r<9>;
    .shared .align 4 .b8 s[4096];
    mov.u32 %r1, %tid.x;
    cvt.u8.s32 %h1, %r1;
    cvt.u32.u16 %r2, %h1;
    and.b32 %r3, %r2, 511;
    shl.b32 %r4, %r3, 2;
    mov.u32 %r5, s;
    add.s32 %r6, %r5, %r4;
    st.shared.u32 [%r6], %r1;
    bar.sync 0;
    ld.shared.u32 %r7, [%r5];
    ret;
}
"""


def test_a_narrow_result_is_extended_by_its_own_type() -> None:
    # Thread 128 stores to s[128]: if the eight bits were taken as signed, to s[384].
    right, racy = NARROW, NARROW.replace("%r1;\n    bar", "%r1;\n    st.shared.u32 [s+512], %r1;\n    bar")
    assert check(right, block=256)[0].verdict == "proven"
    assert check(racy, block=256)[0].verdict == "race"
    only_one = racy.replace("st.shared.u32 [s+512]", "st.shared.u32 [s+1536]").replace(
        ", %r1;\n    bar", ", 7;\n    bar"
    )
    assert check(only_one, block=256)[0].verdict == "proven"


# ---- volatile loads of shared memory

ROUNDS = """
__global__ void k(volatile int *list, int *next, int limit) {
    volatile __shared__ int count[1];
    while (1) {
        if (threadIdx.x == 0) count[0] = 0;
        __syncthreads();
        if (list[threadIdx.x] > 0) atomicAdd((int *)&count[0], 1);
        COUNTED
        if (count[0] == 0) return;
        if (count[0] > limit) { next[threadIdx.x] = 1; return; }
        __syncthreads();
    }
}
"""


def test_a_volatile_load_of_shared_memory_is_the_same_for_all_threads_if_nothing_changes_it() -> None:
    assert verdict(ROUNDS.replace("COUNTED", "__syncthreads();")).verdict == "proven"


def test_a_proof_does_not_hold_beside_atomics() -> None:
    assert not is_proven_without_runs(ROUNDS.replace("COUNTED", ""))
    assert is_proven_without_runs(ROUNDS.replace("COUNTED", "__syncthreads();"))


@FULL
def test_beside_atomics_threads_read_different_numbers_and_part_before_the_barrier() -> None:
    assert verdict(ROUNDS.replace("COUNTED", "")).verdict != "proven"


# ---- loads beside atomics


def test_loads_that_are_met_while_others_are_looked_at_are_looked_at_as_well() -> None:
    evaluator = Mock(loads={"first": 1})
    seen: list[object] = []
    for load, _ in every_load(evaluator):
        seen.append(load)
        evaluator.loads.setdefault("second", 2)
    assert seen == ["first", "second"]


# ---- atomics of different sizes

SIZES = """
__global__ void k(unsigned *out, const unsigned *in) {
    __shared__ unsigned long long s[32];
    int t = threadIdx.x;
    if (t < 32) s[t] = 0;
    FIRST;
    atomicAdd(&s[AT & 31], 1ULL);
    SECOND;
    atomicAdd((WORD *)&s[(t + 1) & 31], (WORD)1);
    __syncthreads();
    out[t] = (unsigned)s[t & 31];
}
"""
NUMBERED = 'asm volatile("bar.sync 1, 64;" ::: "memory")'


@pytest.mark.parametrize("barrier", ["__syncthreads()", NUMBERED])
@pytest.mark.parametrize("at", ["t", "in[t]"])
def test_atomics_of_different_sizes_are_none_for_each_other(barrier: str, at: str) -> None:
    # PTX: they are morally strong only if they overlap completely. NUMBERED has it from runs of all threads.
    text = SIZES.replace("FIRST", barrier).replace("AT", at)
    racy = verdict(text.replace("SECOND", "").replace("WORD", "unsigned"))
    assert racy.verdict == "race"
    assert "(atomics of different sizes)" in racy.findings[0].message
    assert verdict(text.replace("SECOND", barrier).replace("WORD", "unsigned")).verdict == "proven"
    assert verdict(text.replace("SECOND", "").replace("WORD", "unsigned long long")).verdict == "proven"


PACKED = """
#include <cuda_fp16.h>
__global__ void k(float *out) {
    __shared__ __half2 s[32];
    int t = threadIdx.x;
    if (t < 32) s[t] = __floats2half2_rn(0, 0);
    __syncthreads();
    if (t < 32) atomicAdd(&s[t], __floats2half2_rn(1, 1));
    else atomicAdd((WORD *)&s[t - 32], (WORD)1);
    __syncthreads();
    out[t] = __low2float(s[t & 31]);
}
"""


def test_an_atomic_of_packed_numbers_is_one_for_each_of_them() -> None:
    assert verdict(PACKED.replace("WORD", "__half")).verdict == "proven"
    assert verdict(PACKED.replace("WORD", "unsigned")).verdict == "race"
