"""Barriers in a condition that all iterations but the last meet: no two of them are in one interval."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import check
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.ir.source import Source

TWO_TILES = """
__global__ void k(const float *in, float *out, TYPE n) {
    __shared__ float tile[2][64];
    int t = threadIdx.x, fill = 1;
    float sum = 0, next;
    tile[0][t] = in[t];
    __syncthreads();
    for (TYPE k = 64; k <= n; k += 64) {
        if (k < n) next = in[k + t];
        for (int i = 0; i < 64; i++) sum += tile[fill ^ 1][i];
        if (WHEN) {
            tile[fill][t] = next;
            __syncthreads();
            fill ^= 1;
        }
        OTHER
    }
    out[t] = sum;
}
"""


def judged(text: str) -> str:
    (found,) = check(compile_cuda(Source("k.cu", text)).ptx, block=64)
    return found.verdict


@pytest.mark.parametrize(
    ("kind", "when", "other", "proven"),
    [
        ("int", "k < n", "", True),
        ("unsigned", "k < n", "", True),
        ("long long", "k < n", "", True),
        ("int", "k + 64 <= n", "", True),
        # There is another iteration in which the tile that was read is stored to.
        ("int", "k < n - 64", "if (k == n - 64) tile[fill ^ 1][t] = next;", False),
        ("int", "k < n - 64", "else if (k < n) { tile[fill][t] = next; fill ^= 1; }", False),
        # Data decide.
        ("int", "in[k] > 0", "else { tile[fill][t] = next; fill ^= 1; }", False),
        ("int", "k < n", "tile[fill ^ 1][t] = 0;", False),
    ],
)
def test_two_tiles_in_turn(kind: str, when: str, other: str, proven: bool) -> None:
    text = TWO_TILES.replace("TYPE", kind).replace("WHEN", when).replace("OTHER", other)
    assert (judged(text) == "proven") is proven
