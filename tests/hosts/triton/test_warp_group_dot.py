"""Products of Hopper's matrix unit, which reads its operands until it is waited for."""

from __future__ import annotations

import pytest

from tests.hosts.triton.modules import (
    BYTES,
    MMA,
    NVMMA,
    lines,
    races,
)

TOTAL = f"tensor<64x64xf32, {MMA % 4}>"


def hopper(wait: str, asynchronous: str = ", isAsync = true") -> str:
    return f"""
%a = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> {NVMMA}
%b = ttg.local_alloc {{allocation.offset = 8192 : i32}} : () -> {NVMMA}
%z = arith.constant dense<0.0> : {TOTAL}
%d = ttng.warp_group_dot %a, %b, %z {{inputPrecision = 0 : i32{asynchronous}}} : {NVMMA} * {NVMMA} -> {TOTAL}
%w = ttng.warp_group_dot_wait %d {{{wait}}} : {TOTAL}
ttg.local_store %x, %a : <TENSOR> -> {NVMMA}
tt.return
"""


def test_an_async_multiplication_reads_until_it_has_been_waited_for() -> None:
    body = hopper("pendings = 0 : i32")
    assert lines(body, target="cuda:90", shared=2 * BYTES) == [
        "async_mma %m0, %m1",
        "wait_count mma=0",
        "write %m0",
    ]


def test_a_multiplication_that_is_not_async_reads_at_once() -> None:
    body = hopper("pendings = 0 : i32", asynchronous="")
    assert lines(body, target="cuda:90", shared=2 * BYTES)[0] == "read %m0, %m1"


@pytest.mark.parametrize(
    ("warps", "wait", "barrier"),
    [
        (4, "pendings = 0 : i32", False),
        (8, "pendings = 0 : i32", True),
        (8, "pendings = 0 : i32, warpGroupLocal", False),
    ],
)
def test_a_wait_of_several_warp_groups_ends_in_a_barrier_unless_it_says_otherwise(
    warps: int, wait: str, barrier: bool
) -> None:
    body = hopper(wait).replace("warpsPerCTA = [4, 1]", f"warpsPerCTA = [{warps}, 1]")
    assert ("barrier" in lines(body, target="cuda:90", shared=2 * BYTES, warps=warps)) == barrier


def test_a_wait_that_leaves_one_pending_leaves_the_slot_in_use() -> None:
    body = hopper("pendings = 1 : i32").replace("ttg.local_store", "ttg.barrier local\nttg.local_store")
    assert races(body, target="cuda:90", shared=2 * BYTES) == 1
    assert races(body.replace("pendings = 1", "pendings = 0"), target="cuda:90", shared=2 * BYTES) == 0


def test_a_wait_hands_views_on() -> None:
    """Results of a wait are what it was given: a tile that is used behind it is no unknown one."""
    body = hopper("pendings = 0 : i32").replace(
        "%w = ttng.warp_group_dot_wait %d {", "%w:2 = ttng.warp_group_dot_wait %d, %a {"
    )
    body = body.replace(f"}} : {TOTAL}\nttg", f"}} : {TOTAL}, {NVMMA}\nttg")
    body = body.replace("ttg.local_store %x, %a", "ttg.local_store %x, %w#1")
    assert lines(body, target="cuda:90", shared=2 * BYTES)[-1] == "write %m0"
