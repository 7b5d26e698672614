"""Tables of the device that the host stores other values in: their initial values say nothing."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import check
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.ir.source import Source

ROWS = """
namespace rows { __constant__ int start[4] = {0, 64, 128, 192}; }
template <class T> void upload(T &table) {}
__global__ void k(int *a) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[rows::start[t / 64] + t % 64] = a[t];
    __syncthreads();
    a[t] = s[t ^ 1];
}
int main() {
    int other[4] = {};
    HOST;
    k<<<1, 256>>>(nullptr);
}
"""


@pytest.mark.parametrize(
    ("host", "verdict"),
    [
        ("", "proven"),
        # With zeros, four threads store to each word.
        ("cudaMemcpyToSymbol(rows::start, other, sizeof other)", "undecided"),
        ("void *at; cudaGetSymbolAddress(&at, rows::start)", "undecided"),
        ("upload(rows::start)", "undecided"),
        ('cuModuleGetGlobal(nullptr, nullptr, module, "start")', "undecided"),
    ],
)
def test_values_that_the_host_may_change_are_not_taken(host: str, verdict: str) -> None:
    text = ROWS.replace("HOST", host)
    (found,) = check(compile_cuda(Source("k.cu", text)).ptx, block=256)
    assert found.verdict == verdict
