"""Places that all threads of a block work out together: sums of flags, by shared memory, shuffles and ballots."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest

from fencepost.hosts.ptx import check
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.hosts.ptx.proof import scattered
from fencepost.ir.source import Source
from tests.hosts.ptx.random_cuda.compare import agreed, verdict_on
from tests.tiers import sweep


def changed(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


COMPACT = """
__global__ void k(const int *in, int *out) {
    __shared__ int s[64], r[64];
    int t = threadIdx.x, v = in[t], f = v > 0;
    s[t] = f;
    __syncthreads();
    for (int o = 1; o < 64; o *= 2) {
        int x = t >= o ? s[t - o] : 0;
        __syncthreads();
        s[t] += x;
        __syncthreads();
    }
    CHANGE
    if (f) r[s[t] - 1] = v;
    __syncthreads();
    if (t < s[63]) out[t] = r[t];
}
"""


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "proven"),
        ({"r[s[t] - 1]": "r[s[t] - f]"}, "proven"),
        # The flag in other words.
        ({"if (f)": "if (v >= 1)"}, "proven"),
        ({"f = v > 0": "f = (v >> 3) & 1"}, "proven"),
        # A thread without a flag has the place of the one before it.
        ({"if (f) ": ""}, "undecided"),
        ({"if (f)": "if (f || t == 5)"}, "undecided"),
        ({"if (f)": "if (v >= 0)"}, "undecided"),
        ({"if (f)": "if (in[t + 64])"}, "undecided"),
        ({"f = v > 0": "f = v"}, "undecided"),
        ({"f = v > 0": "f = (v > 0) - (v > 9)"}, "undecided"),
        # Not all of the flags before, or some of them twice.
        ({"o *= 2": "o *= 4"}, "undecided"),
        # What was summed up is changed.
        ({"CHANGE": "if (t == 5) s[t] -= 1; __syncthreads();"}, "undecided"),
        ({"CHANGE": "atomicSub(&s[5], 1); __syncthreads();"}, "undecided"),
        ({"CHANGE": "s[in[t] & 63] = 1; __syncthreads();"}, "undecided"),
    ],
)
def test_places_by_a_scan_in_shared_memory(changes: dict[str, str], expected: str, runs: bool) -> None:
    text = changed(COMPACT, changes).replace("CHANGE", "")
    assert agreed(text, expected, 64, runs=runs)


def test_a_scan_without_a_barrier_is_a_race() -> None:
    text = changed(COMPACT, {"s[t] += x;\n        __syncthreads();": "s[t] += x;", "CHANGE": ""})
    assert verdict_on(text, 64) == "race"


SPLIT = """
__global__ void k(const unsigned *in, unsigned *out) {
    __shared__ unsigned s[64], r[64], total;
    unsigned t = threadIdx.x, v = in[t];
    for (int b = 0; b < 3; b++) {
        unsigned e = !((v >> b) & 1);
        s[t] = e;
        __syncthreads();
        for (int o = 1; o < 64; o *= 2) {
            unsigned x = t >= o ? s[t - o] : 0;
            __syncthreads();
            s[t] += x;
            __syncthreads();
        }
        if (t == 63) total = s[t];
        __syncthreads();
        unsigned before = s[t] - e, at = e ? before : t - before + total;
        r[at] = v;
        __syncthreads();
        v = r[t];
        __syncthreads();
    }
    out[t] = v;
}
"""


@pytest.mark.parametrize(
    ("changes", "expected"),
    sweep(
        [
            ({}, "proven"),
            ({" + total": ""}, "undecided"),
            ({" + total": " + total - 1"}, "undecided"),
            ({"t == 63": "t == 62"}, "undecided"),
            ({"e ? before": "(v & 4) ? before"}, "undecided"),
            # The next store of sums may come before all threads have read.
            ({"v = r[t];\n        __syncthreads();": "v = r[t];"}, "proven"),
            ({"r[at] = v;\n        __syncthreads();": "r[at] = v;"}, "race"),
        ],
        first=3,
    ),
)
def test_a_split_by_one_bit(changes: dict[str, str], expected: str, runs: bool) -> None:
    assert agreed(changed(SPLIT, changes), expected, 64, runs=runs)


IN_TILES = """
__global__ void k(const int *in, int *out, int n) {
    __shared__ int sums[2], r[64];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    for (int b = 0; b < n; b += 64) {
        int v = b + t < n ? in[b + t] : 0, f = v > 0, x = f;
        for (int o = 1; o < 32; o *= 2) {
            int y = __shfl_up_sync(~0u, x, o);
            if (lane >= o) x += y;
        }
        if (lane == 31) sums[warp] = x;
        __syncthreads();
        int at = x - f + (warp ? sums[0] : 0);
        if (f) r[at] = v;
        __syncthreads();
        out[b + t] = r[t];
        if (v < -5) out[b] = 1;
        AGAIN
    }
}
"""


@pytest.mark.parametrize(
    ("changes", "expected"),
    sweep(
        [
            ({"AGAIN": "__syncthreads();"}, "proven"),
            ({"AGAIN": "__syncthreads();", "(warp ? sums[0] : 0)": "0"}, "undecided"),
            ({"AGAIN": "__syncthreads();", "(warp ? sums[0] : 0)": "sums[0]"}, "undecided"),
            ({"AGAIN": "__syncthreads();", "lane >= o": "lane > o"}, "undecided"),
            # Two tiles at once.
            ({"AGAIN": "if (f) r[at] = 0;"}, "race"),
        ],
        first=2,
    ),
)
def test_places_in_each_tile_of_many(changes: dict[str, str], expected: str, runs: bool) -> None:
    assert agreed(changed(IN_TILES, changes), expected, 64, runs=runs)


BALLOTS = """
__global__ void k(const int *in, int *out, int n) {
    __shared__ int count[4], r[128];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    int i = blockIdx.x * 128 + t;
    bool f = i < n && in[i] > 0;
    unsigned m = __ballot_sync(~0u, f);
    if (lane == 0) count[warp] = __popc(m);
    __syncthreads();
    int at = 0;
    for (int w = 0; w < warp; w++) at += count[w];
    if (f) r[at + __popc(m & ((1u << lane) - 1))] = i;
    __syncthreads();
    out[i] = r[t];
}
"""


@pytest.mark.parametrize(
    ("changes", "expected"),
    sweep(
        [
            ({}, "proven"),
            ({"if (f)": "if (i < n)"}, "undecided"),
            ({"w < warp": "w < warp - 1"}, "undecided"),
            ({"__popc(m)": "__popc(m) - 1"}, "undecided"),
            ({"(1u << lane) - 1": "(1u << lane) - 2"}, "undecided"),
            ({"bool f": "if (i >= n) return; bool f"}, "undecided"),
        ],
        chosen=[({"w < warp": "w < warp - 1"}, "undecided")],
    ),
)
def test_places_by_ballots_of_all_warps(changes: dict[str, str], expected: str, runs: bool) -> None:
    assert agreed(changed(BALLOTS, changes), expected, 128, runs=runs)


AGAIN = """
__global__ void k(const int *in, int *out, int n) {
    __shared__ int s[64], r[64];
    int t = threadIdx.x, v = in[t], f = v > 0;
    s[t] = f;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i <= t; i++) sum += s[i];
    if (f) r[sum - 1] = v;
    BETWEEN
    if (!f) r[t - sum] = v;
    __syncthreads();
    out[t] = r[t];
}
"""


@pytest.mark.parametrize(
    ("between", "expected"),
    sweep(
        [
            ("__syncthreads();", "proven"),
            ("", "undecided"),
            # A barrier that is not always passed: where it is not, both stores are in one interval.
            ("if (n > 5) __syncthreads();", "undecided"),
            ("for (int i = 0; i < n; i++) __syncthreads();", "undecided"),
            ("for (int i = 0; i < n; i++) { __syncthreads(); out[i] = r[t]; }", "race"),
            ("for (int i = 0; i < n; i++) { __syncthreads(); out[i] = r[t]; } __syncthreads();", "proven"),
            ("for (int i = 0; i < 3; i++) __syncthreads();", "proven"),
            ("__syncthreads(); for (int i = 0; i < n; i++) { if (f) r[sum - 1] = i; }", "undecided"),
            (
                "__syncthreads(); for (int i = 0; i < n; i++) { __syncthreads(); if (f) r[sum - 1] = i; }",
                "undecided",
            ),
            (
                "for (int i = 0; i < n; i++) { if (i == out[0]) break; __syncthreads(); } ",
                "undecided",
            ),
        ],
        first=3,
    ),
)
def test_barriers_that_are_not_always_passed(between: str, expected: str, runs: bool) -> None:
    assert agreed(AGAIN.replace("BETWEEN", between), expected, 64, runs=runs)


OF_LANES = """
__global__ void k(const int *in, int *out, int n, signed char c) {
    __shared__ int p[64], r[512];
    int t = threadIdx.x, v = in[t], half = (t & 31) < 16 ? 0xffff : 0xffff0000, at = 0;
    p[t] = t;
    __syncthreads();
    STEP
    r[at] = v;
    __syncthreads();
    out[t] = r[t];
}
"""


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        # What all lanes of a warp are told is the same for them.
        ("at = t + t / 32 * 32 + __any_sync(~0u, v > 0);", "proven"),
        ("at = t + t / 32 * 32 + __any_sync(half, v > 0);", "undecided"),
        ("at = t + t / 32 * 32 + (__ballot_sync(half, v > 0) & 31);", "undecided"),
        # Lanes that drift apart find each other at different times.
        ("if (v > 0) at = __any_sync(__activemask(), v > 5); at += t + t / 32 * 32;", "undecided"),
        # A lane that the mask does not name tells nothing.
        ("at = 2 * t + (v > 0) - __shfl_sync(~0u, v > 0, t & 31);", "proven"),
        ("at = 2 * t + (v > 0) - __shfl_sync(0xfffff, v > 0, t & 31);", "undecided"),
        # By more lanes than a warp has.
        ("at = 2 * t + (v > 0) - __shfl_up_sync(~0u, v > 0, 33);", "undecided"),
        # A parameter of eight bits with a sign.
        ("at = p[t] >> ((unsigned char)c >> 8);", "proven"),
        ("at = p[t] >> ((unsigned)(c * 8) >> 28);", "undecided"),
        # Where a compiler puts an array is not known.
        ("at = p[t] >> ((size_t)__cvta_generic_to_shared(r) >> 7 & (v > 3));", "undecided"),
        (
            "if (v > 3 && (__cvta_generic_to_shared(p) & 128)) p[t] = 0; __syncthreads(); at = p[t];",
            "undecided",
        ),
    ],
)
def test_what_is_one_value_for_all_and_what_is_not(step: str, expected: str, runs: bool) -> None:
    assert agreed(OF_LANES.replace("STEP", step), expected, 64, runs=runs)


CARVED = """
extern __shared__ int d[];
__global__ void k(const int *in, int *out) {
    short *s = (short *)d;
    int *r = d + 32, t = threadIdx.x, v = in[t], f = v > 0, x = 0;
    s[t] = f;
    __syncthreads();
    for (int i = 0; i < t; i++) x += s[i];
    if (f) r[x] = v;
    __syncthreads();
    out[t] = r[t];
}
"""


@pytest.mark.parametrize(
    ("changes", "expected"),
    sweep(
        [
            # Many threads read one flag: that is no question about the store and a load.
            ({}, "proven"),
            # The first place is that of the last two flags.
            ({"d + 32": "d + 31"}, "race"),
            ({"d + 32": "d + 31", "if (f)": "__syncthreads(); if (f)"}, "proven"),
            ({"r[x] = v": "r[x] = r[x + 1] = v"}, "undecided"),
            ({"= f;": "= 2 * f;", "r[x] = v": "r[x] = r[x + 1] = v"}, "proven"),
        ],
        first=2,
    ),
)
def test_arrays_carved_out_of_one(changes: dict[str, str], expected: str, runs: bool) -> None:
    assert agreed(changed(CARVED, changes), expected, 64, runs=runs)


IN_STEP = """
__global__ void k(const int *in, int *out) {
    __shared__ volatile int p[64], r[96];
    int t = threadIdx.x, x;
    p[t] = 0;
    __syncthreads();
    BODY
    r[t + 1 - x] = in[t];
    __syncthreads();
    out[t] = r[t];
}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("p[t] = 1; x = p[t ^ 1];", "proven"),
        # Which side comes first is not known.
        ("x = 0; if (in[t / 2] > 0) if (t & 1) p[t ^ 1] = 1; else x = p[t];", "undecided"),
    ],
)
def test_warps_that_run_in_step(body: str, expected: str) -> None:
    ptx = compile_cuda(Source("k.cu", IN_STEP.replace("BODY", body))).ptx
    (found,) = check(ptx, block=64, warp_synchronous=True)
    assert found.verdict == expected


def test_places_that_are_compared_for_too_long_are_not_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count(0, 1000)
    monkeypatch.setattr(scattered, "time", SimpleNamespace(thread_time=lambda: next(ticks)))
    assert verdict_on(COMPACT.replace("CHANGE", ""), 64) == "undecided"
