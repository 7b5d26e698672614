"""Places that the lanes of a warp get which are at `__activemask()` together: one of them draws for all."""

from __future__ import annotations

import pytest

from tests.hosts.ptx.proof.test_scattered import changed
from tests.hosts.ptx.random_cuda.compare import verdict_on
from tests.tiers import sweep

DRAWN = """
__global__ void k(const int *in, int *out, int n) {
    __shared__ int list[1024], count, other;
    int t = threadIdx.x, lane = t & 31;
    if (t == 0) count = other = 0;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) {
        if (in[i] > 3) {
            unsigned m = __activemask();
            int first = __ffs(m) - 1, base = 0;
            if (lane == first) base = atomicAdd(&count, __popc(m));
            base = __shfl_sync(m, base, first);
            list[base + __popc(m & ((1u << lane) - 1))] = in[i];
        }
    }
    __syncthreads();
    if (t < count) out[t] = list[t];
}
"""
DRAW, SHUFFLE = "__popc(m));", "__shfl_sync(m, base, first);"
RANK = "__popc(m & ((1u << lane) - 1))"
RIGHT: dict[str, dict[str, str]] = {
    "drawn for the lanes that are there": {},
    "once": {"for (int i = t; i < n; i += blockDim.x)": "int i = t;"},
    "by the lane that has none before it": {"lane == first": "(m & ((1u << lane) - 1)) == 0"},
    "more than are needed": {DRAW: "32);"},
    "in the opposite order": {RANK: "__popc(m & ~((2u << lane) - 1))"},
}
WRONG: dict[str, dict[str, str]] = {
    "a place for one": {DRAW: "1);"},
    "without the lanes before": {RANK: "0"},
    "one place before that of the lane": {RANK: "__popc(m & ((2u << lane) - 1)) - (lane & 1)"},
    "that of another lane": {RANK: "__popc(m & ((1u << (lane ^ 1)) - 1))"},
    "those of half of the lanes": {RANK: "__popc(m & ((1u << (lane & 15)) - 1))"},
    "fewer than there are": {DRAW: "__popc(m & 0xffff));"},
    "each lane its own number": {SHUFFLE: "base;"},
    "from another lane": {SHUFFLE: "__shfl_sync(m, base, first + 1);"},
    "from the lane before": {SHUFFLE: "__shfl_sync(m, base, lane - 1);"},
    "the last one draws, the first hands on": {"lane == first": "lane == 31 - __clz(m)"},
    "from two counters": {"&count,": "(i & 64 ? &count : &other),"},
    "in halves of the warp": {SHUFFLE: "__shfl_sync(m, base, first, 16);"},
    "one counter in the one way, another in the other": {
        "base = atomicAdd": "base = i & 64 ? atomicAdd(&other, __popc(m)) : atomicAdd"
    },
    "with a mask of the iteration before": {
        "unsigned m = __activemask();": "unsigned m = old; old = __activemask();",
        "for (": "unsigned old = __activemask(); for (",
    },
    "with the mask of a wider way": {
        "unsigned m = __activemask();": "",
        "if (in[i] > 3) {": "unsigned m = __activemask(); if (in[i] > 3) {",
    },
    "drawn for those that were there before": {
        "unsigned m = __activemask();": "unsigned before = __activemask(); if (in[i] > 5) continue; "
        "unsigned m = __activemask();",
        DRAW: "__popc(before));",
        RANK: "__popc(before & ((1u << lane) - 1))",
    },
    "handed on to some of the lanes": {SHUFFLE: "in[i] & 4 ? __shfl_sync(m, base, first) : 0;"},
    "handed on by another shuffle": {
        SHUFFLE: "in[i] & 4 ? __shfl_sync(m, 7, first) : base; base = __shfl_sync(m, base, first);"
    },
    "a counter that starts anew": {SHUFFLE: SHUFFLE + " if (lane == first && i > 500) count = 0;"},
}


@pytest.mark.parametrize("changes", sweep(RIGHT.values(), first=2), ids=RIGHT)
def test_one_lane_draws_for_those_that_are_there(changes: dict[str, str]) -> None:
    assert verdict_on(changed(DRAWN, changes), 64) == "proven"


@pytest.mark.parametrize("changes", sweep(WRONG.values(), first=5), ids=WRONG)
def test_places_that_two_lanes_may_get(changes: dict[str, str], runs: bool) -> None:
    """Data decide who draws, so that what a run shows is no race."""
    assert verdict_on(changed(DRAWN, changes), 64, runs=runs) != "proven"
