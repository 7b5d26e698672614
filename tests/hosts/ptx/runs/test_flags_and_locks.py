"""Accesses that a flag or a lock puts in order, which runs do not follow, beside those without what it takes."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.ir.source import Source

FLAG = """
__global__ void k(int *out, int n) {
    __shared__ int s[64];
    __shared__ VOLATILE int flag;
    int t = threadIdx.x;
    if (t == 0) flag = 0;
    __syncthreads();
    if (t == 0) {
        s[0] = n;
        RELEASE;
        STORE;
    }
    if (t == 32) {
        while (!LOAD);
        ACQUIRE;
        out[0] = s[0];
    }
}
"""
VOLATILE = {"VOLATILE": "volatile", "STORE": "flag = 1", "LOAD": "flag"}
ATOMIC = {"VOLATILE": "", "STORE": "atomicExch(&flag, 1)", "LOAD": "atomicAdd(&flag, 0)"}
FENCE = "__threadfence_block()"

LOCK = """
__global__ void k(int *out) {
    __shared__ int sum, lock;
    int t = threadIdx.x;
    if (t == 0) sum = lock = 0;
    __syncthreads();
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            FENCE;
            sum = sum + t;
            FENCE;
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    out[t] = sum;
}
"""


def verdict(text: str, **instead: str) -> KernelVerdict:
    for word, by in instead.items():
        text = text.replace(word, by)
    (found,) = check(compile_cuda(Source("k.cu", text)).ptx, block=64)
    return found


@pytest.mark.parametrize("flag", [VOLATILE, ATOMIC], ids=["volatile", "atomic"])
def test_what_a_flag_may_put_in_order_is_no_race(flag: dict[str, str]) -> None:
    found = verdict(FLAG, **flag, RELEASE=FENCE, ACQUIRE=FENCE)
    assert found.verdict == "undecided"
    assert any("a flag or a lock may order this access" in each.message for each in found.reasons)
    assert verdict(FLAG, **flag, RELEASE="", ACQUIRE=FENCE).verdict == "race"
    assert verdict(FLAG, **flag, RELEASE=FENCE, ACQUIRE="").verdict == "race"


def test_runs_of_all_threads_take_it_alike() -> None:
    text = FLAG.replace("__syncthreads()", 'asm volatile("bar.sync 1, 64;" ::: "memory")')
    assert verdict(text, **VOLATILE, RELEASE=FENCE, ACQUIRE=FENCE).verdict == "undecided"
    assert verdict(text, **VOLATILE, RELEASE="", ACQUIRE=FENCE).verdict == "race"


def test_a_flag_that_nobody_waits_for_orders_nothing() -> None:
    found = verdict(FLAG.replace("while", "if"), **ATOMIC, RELEASE=FENCE, ACQUIRE=FENCE)
    assert found.verdict == "race"


def test_a_lock_may_put_its_users_in_order() -> None:
    assert verdict(LOCK, FENCE=FENCE).verdict == "undecided"
    assert verdict(LOCK, FENCE="").verdict == "race"
