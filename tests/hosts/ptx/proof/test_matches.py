"""Counts that the first of all lanes with one value keeps for these: `__match_any_sync`."""

from __future__ import annotations

import pytest

from tests.hosts.ptx.proof.test_scattered import changed
from tests.hosts.ptx.random_cuda.compare import verdict_on
from tests.tiers import sweep

COUNTED = """
__global__ void k(int *data, int n) {
    __shared__ int counts[2][64];
    int t = threadIdx.x, lane = t & 31, warp = t / 32;
    for (int i = t; i < 128; i += 64) counts[i / 64][i % 64] = 0;
    __syncthreads();
    for (int k = 0; k < n; k++) {
        int bin = data[k * 64 + t] & 63;
        unsigned m = __match_any_sync(~0u, bin);
        int before = __popc(m & ((1u << lane) - 1)), old = counts[warp][bin];
        __syncwarp();
        if (lane == __ffs(m) - 1) counts[warp][bin] = old + __popc(m);
        __syncwarp();
        data[k * 64 + t] = old + before;
    }
    __syncthreads();
    data[t] = counts[0][t];
}
"""
FIRST, STORE = "lane == __ffs(m) - 1", "counts[warp][bin] = old"
RIGHT: dict[str, dict[str, str]] = {
    "the first lane": {},
    "the one with none before it": {FIRST: "before == 0"},
    "the last lane": {FIRST: "(m >> lane) == 1"},
    "once": {"for (int k = 0; k < n; k++)": "int k = n;"},
    "of a place for each": {STORE: "counts[warp][63 - bin] = old", "old = counts[warp][bin]": "old = 0"},
}
WRONG: dict[str, dict[str, str]] = {
    "all lanes, each its own count": {FIRST: "n > 3", "__popc(m);": "before;"},
    "the first two": {FIRST: "before < 2", "__popc(m);": "before;"},
    "of all warps": {"counts[warp][bin] = old": "counts[0][bin] = old + warp"},
    "of half of the bins": {STORE: "counts[warp][bin / 2] = old"},
    "by another value": {"__match_any_sync(~0u, bin)": "__match_any_sync(~0u, bin / 2)", "+ __popc(m)": "+ lane",
                         FIRST: "before < 2"},
    "by a wider value": {"__match_any_sync(~0u, bin)": "__match_any_sync(~0u, data[k * 64 + t])",
                         "+ __popc(m)": "+ lane"},
    "by the lanes of a mask": {"__match_any_sync(~0u, bin)": "__match_any_sync(0xffffu << (lane & 16), bin)",
                               "+ __popc(m)": "+ lane"},
    "of the bin before": {STORE: "counts[warp][last] = old", "for (int k": "int last = 0; for (int k",
                          "data[k * 64 + t] = old + before;": "last = bin;", "+ __popc(m)": "+ lane"},
    "no barrier behind the loads": {"old = counts[warp][bin];\n        __syncwarp();": "old = counts[warp][bin];"},
    "no barrier behind the stores": {"__popc(m);\n        __syncwarp();": "__popc(m);"},
}  # fmt: skip


@pytest.mark.parametrize("changes", sweep(RIGHT.values(), first=1), ids=RIGHT)
def test_one_lane_of_each_value_keeps_its_count(changes: dict[str, str]) -> None:
    assert verdict_on(changed(COUNTED, changes), 64) == "proven"


@pytest.mark.parametrize("changes", sweep(WRONG.values(), first=4), ids=WRONG)
def test_places_that_two_lanes_may_have(changes: dict[str, str], runs: bool) -> None:
    """Data decide who stores, so that what a run shows may be no race."""
    assert verdict_on(changed(COUNTED, changes), 64, runs=runs) != "proven"
