"""Two buffers that take turns through nested loops, with one barrier for each step."""

from __future__ import annotations

import pytest

from tests.hosts.ptx.proof.test_scattered import changed
from tests.hosts.ptx.random_cuda.compare import verdict_on
from tests.tiers import sweep

IN_TURN = """
__global__ void k(int *data, int n, int rounds) {
    __shared__ int s[2][64];
    int t = threadIdx.x, sum = 0, at = 0;
    for (int j = 0; j < rounds; j++) {
        #pragma unroll 1
        for (int i = 0; i < n; i++) {
            s[at][t] = data[i * 64 + t];
            __syncthreads();
            sum += s[at][63 - t];
            at ^= 1;
        }
        data[j] += 1;
    }
    data[t] = sum;
}
"""
END = "data[j] += 1;"
RIGHT: dict[str, dict[str, str]] = {
    "in turn": {},
    "unrolled": {"#pragma unroll 1": ""},
    "counted down": {"int i = 0; i < n; i++": "int i = n; i > 0; i--"},
    "from the end": {"at = 0": "at = 1"},
    "by a difference": {"at ^= 1": "at = 1 - at"},
    "the inner loop in a condition": {"#pragma unroll 1": "if (n > 3)\n#pragma unroll 1"},
    "a barrier between the rounds": {END: "at = 0; __syncthreads();"},
    "rounds of at least one step": {"int i = 0; i < n; i++": "int i = 0; i < n + j || i == 0; i++"},
}
WRONG: dict[str, dict[str, str]] = {
    "from the start in each round": {END: "at = 0;"},
    "from the start in each round, up to the other end": {END: "at = 0;", "i < n;": "i <= n;"},
    "from the end in each round": {END: "at = 1;"},
    "a step more in each round": {END: "at ^= 1;"},
    "a step more in some rounds": {END: "if (j & 1) at ^= 1;"},
    "a step more in one round": {END: "if (j == 2) at ^= 1;"},
    "a step more in the last round": {END: "if (j == rounds - 2) at ^= 1;"},
    "a step more after a round without any": {
        END: "if (i0 == 0) at ^= 1;",
        "at = 0;": "at = 0, i0 = n > 5 ? 0 : 1;",
    },
    "one buffer": {"at ^= 1": "at = 0"},
    "two steps for each": {"at ^= 1": "at = i & 1"},
    "the other buffer": {"sum += s[at]": "sum += s[at ^ 1]"},
    "the other buffer in the last step": {"sum += s[at]": "sum += s[i == n - 1 ? at ^ 1 : at]"},
    "the first buffer in the first step": {"s[at][t] =": "s[i == 0 ? 0 : at][t] ="},
    "a barrier in all steps but the first": {"__syncthreads();": "if (i > 0) __syncthreads();"},
    "a barrier in all rounds but the first": {"__syncthreads();": "if (j > 0) __syncthreads();"},
    "a load behind the loop": {END: "sum += s[0][63 - t];"},
    "a store behind the loop": {END: "s[at ^ 1][t] = sum;"},
}


@pytest.mark.parametrize("changes", sweep(RIGHT.values(), first=1), ids=RIGHT)
def test_two_buffers_that_take_turns(changes: dict[str, str]) -> None:
    assert verdict_on(changed(IN_TURN, changes), 64) == "proven"


@pytest.mark.parametrize("changes", sweep(WRONG.values(), first=7), ids=WRONG)
def test_two_buffers_out_of_turn(changes: dict[str, str], runs: bool) -> None:
    found = verdict_on(changed(IN_TURN, changes), 64, runs=runs)
    assert found == ("race" if runs else "undecided")
