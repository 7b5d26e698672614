"""Warp barriers with masks: lanes that name each other are in order, others are not."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.ir.source import Source
from tests.tiers import sweep

TILES = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
"""


def verdict(body: str, block: int = 64) -> KernelVerdict:
    """The body stores to `s[t]` first. The header takes the compiler a second."""
    text = f"""{TILES if "cg::" in body else ""}
    __global__ void k(const float *in, float *out, int n) {{
        __shared__ float s[64];
        int t = threadIdx.x, lane = t % 32;
        {body}
    }}
    """
    (found,) = check(compile_cuda(Source("k.cu", text)).ptx, block=block)
    return found


def stored_then(sync: str, partner: str) -> str:
    return f"s[t] = in[t + n]; {sync} out[t] = s[{partner}];"


TILE = "auto tile = cg::tiled_partition<{}>(cg::this_thread_block()); tile.sync();"
RIGHT = {
    "a mask for each half": stored_then("__syncwarp(lane < 16 ? 0xffff : 0xffff0000);", "t ^ 15"),
    "tiles of 16": stored_then(TILE.format(16), "t ^ 15"),
    "tiles of 4": stored_then(TILE.format(4), "t ^ 3"),
    "the lanes that are there": (
        "if (lane < 16) { s[t] = in[t + n]; __syncwarp(0xffff); out[t] = s[t ^ 15]; __syncwarp(0xffff); s[t] = 0; }"
    ),
    "tiles in a loop": (
        "auto tile = cg::tiled_partition<16>(cg::this_thread_block());"
        "for (int i = 0; i < n; i++) { s[t] = in[i]; tile.sync(); out[i] = s[t ^ 15]; tile.sync(); }"
    ),
    "lanes that have ended": "if (blockIdx.x * 64 + t >= n) return; " + stored_then("__syncwarp();", "t ^ 1"),
}
WRONG = {
    "the other half": stored_then("__syncwarp(lane < 16 ? 0xffff : 0xffff0000);", "t ^ 31"),
    "another tile": stored_then(TILE.format(16), "t ^ 31"),
    "a tile that is smaller": (
        "s[t] = in[t + n]; auto a = cg::tiled_partition<16>(cg::this_thread_block()); a.sync(); float v = s[t ^ 15];"
        "auto b = cg::tiled_partition<8>(cg::this_thread_block()); b.sync(); s[t ^ 7] = v;"
    ),
    "another warp": stored_then(TILE.format(16), "t ^ 32"),
    "one barrier in a loop": (
        "auto tile = cg::tiled_partition<16>(cg::this_thread_block());"
        "for (int i = 0; i < n; i++) { s[t] = in[i]; tile.sync(); out[i] = s[t ^ 15]; }"
    ),
}


def without(bodies: dict[str, str], name: str) -> list[str]:
    return [body for key, body in bodies.items() if key != name]


@pytest.mark.parametrize("body", sweep(RIGHT.values(), chosen=without(RIGHT, "tiles of 4")), ids=RIGHT)
def test_lanes_that_name_each_other_are_in_order(body: str) -> None:
    found = verdict(body)
    assert (found.verdict, found.findings) == ("proven", ())


@pytest.mark.parametrize("body", sweep(WRONG.values(), chosen=without(WRONG, "another warp")), ids=WRONG)
def test_others_are_not(body: str) -> None:
    assert verdict(body).verdict == "race"


def test_a_mask_that_nobody_knows_orders_nothing() -> None:
    found = verdict("if (t < n) { s[t] = in[t]; __syncwarp(__activemask()); out[t] = s[t ^ 1]; }")
    assert found.verdict == "undecided"


def test_shuffles_hand_on_no_memory() -> None:
    shuffle = "float v = __shfl_xor_sync(0xffffffff, in[t], 1);"
    assert verdict(f"s[t] = in[t]; {shuffle} out[t] = v + s[t ^ 1];").verdict == "race"


def test_a_copy_is_in_order_behind_its_wait_and_a_barrier_of_the_warp() -> None:
    copy = (
        "unsigned to = (unsigned)__cvta_generic_to_shared(&s[t]);"
        'asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(in + t));'
        'asm volatile("cp.async.commit_group;"); {first}'
        'asm volatile("cp.async.wait_group 0;" ::: "memory"); {second}'
        "out[t] = s[t ^ 1];"
    )
    assert verdict(copy.replace("{first}", "").replace("{second}", "__syncwarp();")).verdict == "proven"
    assert verdict(copy.replace("{first}", "__syncwarp();").replace("{second}", "")).verdict == "race"
