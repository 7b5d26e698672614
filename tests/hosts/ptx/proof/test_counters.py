"""Counters with an array each: places that two of them give out are of different arrays only if none is too large."""

from __future__ import annotations

import pytest

from tests.hosts.ptx.random_cuda.compare import agreed, verdict_on
from tests.tiers import FULL, sweep


def judged(text: str) -> str:
    return verdict_on(text, 256)


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
    places: str, first: str, step: str, change: str, expected: str, runs: bool
) -> None:
    text = ONE_PLACE_EACH.replace("PLACES", places).replace("FIRST", first).replace("STEP", step)
    assert agreed(text.replace("CHANGE", change), expected, 256, runs=runs)


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


@FULL
def test_queues_that_are_not_filled_up_in_a_loop() -> None:
    assert judged(PLACES_IN_A_LOOP.replace("CONDITION", "at < 64")) == "proven"
    assert judged(PLACES_IN_A_LOOP.replace("CONDITION", "at < 65")) != "proven"
    assert judged(PLACES_IN_A_LOOP.replace("CONDITION", "n > 0")) != "proven"


IN_ONE_VARIABLE = """
struct Queue { int tail; int items[1024]; };
__global__ void k(const int *in, int *out, int n) {
    __shared__ Queue q;
    int t = threadIdx.x;
    if (t == 0) q.tail = FIRST;
    __syncthreads();
    for (int i = t; i < n; i += 256) {
        if (in[i] <= 0) continue;
        int at = ADD;
        if (at < 1024) q.items[PLACE] = i;
    }
    __syncthreads();
    for (int i = t; i < min(q.tail, 1024); i += 256) out[i] = q.items[i];
}
"""


@pytest.mark.parametrize(
    ("first", "add", "place", "expected"),
    sweep(
        [
            ("0", "atomicAdd(&q.tail, 1)", "at", "proven"),
            # Not at zero: a place may be before the items, where the counter is.
            ("-1", "atomicAdd(&q.tail, 1)", "at", "race"),
            ("in[0]", "atomicAdd(&q.tail, 1)", "at", "undecided"),
            ("0", "atomicSub(&q.tail, 1)", "at", "race"),
            ("0", "atomicAdd(&q.tail, in[i])", "at", "undecided"),
            ("0", "atomicAdd(&q.tail, 1)", "at - 1", "race"),
            # The counter is in reach of other data.
            ("0", "atomicAdd(&q.tail, 1); q.items[in[i]] = 1", "at", "undecided"),
            ("0", "atomicAdd(&q.tail, 1)", "at / 2", "undecided"),
        ],
        first=4,
    ),
)
def test_a_counter_and_its_queue_in_one_variable(
    first: str, add: str, place: str, expected: str, runs: bool
) -> None:
    text = IN_ONE_VARIABLE.replace("FIRST", first).replace("ADD", add).replace("PLACE", place)
    assert agreed(text, expected, 256, runs=runs)


MANY_AT_ONCE = """
__global__ void k(const int *in, int *out) {
    __shared__ int list[4096], count;
    int t = threadIdx.x;
    if (t == 0) count = 0;
    __syncthreads();
    int many = MANY, at = atomicAdd(&count, many);
    for (int i = 0; i < USED; i++) list[at + i] = t;
    __syncthreads();
    out[t] = list[t];
}
"""


@pytest.mark.parametrize(
    ("many", "used", "expected"),
    sweep(
        [
            ("in[t] & 7", "many", "proven"),
            ("in[t] & 7", "(in[t] & 7) + 1", "undecided"),
            # What is used although nothing was added.
            ("in[t] & 1", "1", "undecided"),
            ("(in[t] & 1) + 1", "1", "proven"),
            # It may be less than zero.
            ("in[t]", "many", "undecided"),
            ("(in[t] & 7) - 1", "many", "undecided"),
        ],
        first=3,
    ),
)
def test_several_places_at_once(many: str, used: str, expected: str, runs: bool) -> None:
    assert agreed(MANY_AT_ONCE.replace("MANY", many).replace("USED", used), expected, 256, runs=runs)


BY_WARP = """
__global__ void k(const int *in, int *out, int n) {
    __shared__ int list[1024], count;
    int t = threadIdx.x, lane = t & 31;
    if (t == 0) count = 0;
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < TIMES; i++) {
        bool keep = in[t] > 0;
        unsigned kept = __ballot_sync(~0u, keep);
        int base;
        if (lane == WHO) base = atomicAdd(&count, __popc(kept)MORE);
        base = __shfl_sync(~0u, base, FROM);
        int at = base + __popc(kept & ((1u << lane) - 1));
        if (at < 1024 && IF) list[at] = t;
        END
    }
    __syncthreads();
    if (t < count) out[t] = list[t];
}
"""
RIGHT = {"TIMES": "1", "WHO": "0", "FROM": "0", "MORE": "", "IF": "keep", "END": ""}


@pytest.mark.parametrize(
    ("changes", "expected"),
    sweep(
        [
            ({}, "proven"),
            ({"WHO": "7", "FROM": "7"}, "proven"),
            ({"TIMES": "n", "END": "in += 256; __syncthreads();"}, "proven"),
            # The number of a lane that has drawn none.
            ({"FROM": "1"}, "undecided"),
            ({"MORE": " - 1"}, "undecided"),
            ({"MORE": " / 2"}, "undecided"),
            ({"IF": "t != 5"}, "undecided"),
        ],
        first=4,
    ),
)
def test_a_number_that_one_lane_draws_for_its_warp(
    changes: dict[str, str], expected: str, runs: bool
) -> None:
    text = BY_WARP
    for old, new in (RIGHT | changes).items():
        text = text.replace(old, new)
    assert agreed(text, expected, 256, runs=runs)


DOWN = """
__global__ void k(const int *in, int *out) {
    __shared__ int list[256], top;
    int t = threadIdx.x;
    if (t == 0) top = 256;
    __syncthreads();
    if (in[t] > 0) list[atomicSub(&top, 1) - 1] = t;
    OTHERS
    __syncthreads();
    out[t] = list[t];
}
"""


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ("", "proven"),
        ("if (in[t] < 0) list[atomicSub(&top, 1) - 1] = -t;", "proven"),
        # Given back, a number is handed out again.
        ("if (in[t] == 0) atomicAdd(&top, 1);", "undecided"),
        ("if (in[t] < 0) list[top] = -t;", "undecided"),
    ],
)
def test_a_counter_that_is_taken_down(others: str, expected: str) -> None:
    assert judged(DOWN.replace("OTHERS", others)) in (expected, "race" if "list[top]" in others else expected)


@pytest.mark.parametrize(
    ("most", "expected"), [("0xffffffff", "proven"), ("7", "undecided"), ("n", "undecided")]
)
def test_a_counter_that_wraps_around_at_a_bound(most: str, expected: str, runs: bool) -> None:
    text = DOWN.replace("atomicSub(&top, 1) - 1", f"atomicInc((unsigned *)&top, {most})").replace(
        "OTHERS", ""
    )
    assert agreed(
        text.replace("top = 256", "top = 0").replace("int *out)", "int *out, int n)"),
        expected,
        256,
        runs=runs,
    )
