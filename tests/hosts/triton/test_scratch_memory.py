"""Operations with scratch memory, and atomics: what they write, which barriers they bring, what keeps its order."""

from __future__ import annotations

import pytest

from fencepost.check import check
from tests.hosts.triton.modules import (
    ALLOC,
    BYTES,
    NUMBERS,
    inserted,
    lines,
    module,
    races,
    statements,
    translated,
)


def scratch(to: str, attributes: str = "allocation.offset = 0 : i32, allocation.size = 8192 : i32") -> str:
    return f"%y = ttg.convert_layout %x {{{attributes}}} : <TENSOR> -> tensor<64x64xf16, {to}>\ntt.return"


def test_a_change_of_layout_writes_meets_and_reads() -> None:
    assert lines(scratch("#t"), shared=BYTES) == ["exchange %convert_layout"]


def test_a_change_of_layout_within_waves_meets_nobody() -> None:
    """It becomes `bar.warp.sync`: no other access may rely on a barrier in it."""
    assert lines(scratch("#w"), shared=BYTES) == [
        "write %convert_layout group=g1",
        "read %convert_layout group=g1",
    ]


def test_the_threads_of_a_single_wave_meet_in_a_change_of_layout() -> None:
    assert lines(scratch("#t"), shared=BYTES, warps=1) == ["exchange %convert_layout"]


def test_nobody_says_how_much_scratch_memory_there_is() -> None:
    translation = translated(module(scratch("#t", "allocation.offset = 64 : i32"), shared=BYTES))
    assert "shared %convert_layout : 8128 at 64" in str(translation.trace)


def test_without_its_size_and_that_of_all_memory_scratch_reaches_everything_behind_it() -> None:
    body = f"""
{ALLOC.replace("= 0", "= 8192")}
%r = ttg.local_load %m : <TILE> -> <TENSOR>
{scratch("#t", "allocation.offset = 64 : i32")}
"""
    assert races(body) == 1


def test_scratch_that_is_not_there_is_no_barrier() -> None:
    """Before memory is given out nobody knows whether waves meet in a change of layout."""
    body = """
%m = ttg.local_alloc : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%y = ttg.convert_layout %x : <TENSOR> -> tensor<64x64xf16, #t>
%v = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    assert races(body) == 1


REDUCE = """
%r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
^bb0(%u: f16, %v: f16):
  %s = arith.addf %u, %v : f16
  tt.reduce.return %s : f16
}) {allocation.offset = 0 : i32, allocation.size = 512 : i32} : (<TENSOR>) -> tensor<64xf16, #r>
tt.return
"""


def test_a_reduction_across_waves_is_an_exchange() -> None:
    assert lines(REDUCE, shared=512) == ["exchange %reduce"]


def test_scratch_memory_is_used_again_in_the_next_iteration() -> None:
    body = f"""
{NUMBERS}
scf.for %i = %zero to %n step %one : i32 {{
  {scratch("#t").removesuffix("tt.return")}
}}
tt.return
"""
    text, executed = inserted(module(body, shared=BYTES))
    assert text.count("ttg.barrier local") == 1
    assert executed > 10


def atomic(order: str, attributes: str = "") -> str:
    return f"""
{ALLOC}
%q = tt.splat %gp : !tt.ptr<i32> -> tensor<64x64x!tt.ptr<i32>, #b>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%o = arith.constant 1 : i32
%t = arith.constant true
%old = tt.atomic_rmw add, {order}, gpu, %gp, %o, %t {attributes}: (!tt.ptr<i32>, i32, i1) -> i32
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""


@pytest.mark.parametrize(
    ("order", "barriers"), [("relaxed", 0), ("acquire", 1), ("release", 1), ("acq_rel", 2)]
)
def test_an_atomic_that_releases_begins_with_a_barrier_and_one_that_acquires_ends_in_one(
    order: str, barriers: int
) -> None:
    body = atomic(order)
    assert races(body, shared=BYTES, arguments="%gp: !tt.ptr<i32>") == (not barriers)
    assert lines(body, shared=BYTES, arguments="%gp: !tt.ptr<i32>").count("barrier") == barriers


def test_an_atomic_hands_its_result_round_through_scratch_memory() -> None:
    body = atomic("relaxed", "{allocation.offset = 8192 : i32, allocation.size = 4 : i32} ")
    found = lines(body, shared=BYTES + 4, arguments="%gp: !tt.ptr<i32>")
    assert found == ["write %m0", "exchange %atomic_rmw", "read %m0"]


def test_the_barrier_of_an_atomic_that_acquires_is_the_one_of_its_scratch_memory() -> None:
    body = atomic("acq_rel", "{allocation.offset = 8192 : i32, allocation.size = 4 : i32} ")
    found = lines(body, shared=BYTES + 4, arguments="%gp: !tt.ptr<i32>")
    assert found == ["write %m0", "barrier", "exchange %atomic_rmw", "read %m0"]


UPDATE = "(!ttg.memdesc<256xi32, #s1, #smem, mutable>, tensor<64xi32, #r>, tensor<64xi32, #r>) -> tensor<64xi32, #r>"


def updates(first: str, second: str, last: str = "") -> str:
    """Two atomics on one table of bins."""
    head = "#s1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
    body = f"""
%bins = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> !ttg.memdesc<256xi32, #s1, #smem, mutable>
%where = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #r>
%one = ttg.local_atomic_scatter_rmw {first}, %bins[%where], %where {{axis = 0 : i32}} : {UPDATE}
%two = ttg.local_atomic_scatter_rmw {second}, %bins[%where], %where {{axis = 0 : i32}} : {UPDATE}
{last}
tt.return
"""
    return head + module(body, shared=1024)


@pytest.mark.parametrize("update", ["and", "or", "xor", "add", "max", "min", "umax", "umin"])
def test_the_same_update_twice_needs_no_order(update: str) -> None:
    translation = translated(updates(update, update))
    assert statements(translation) == [f"atomic %m0 update={update}"] * 2
    assert check(translation.trace).ok
    assert inserted(updates(update, update))[1] == 0


@pytest.mark.parametrize(
    ("first", "second", "last"),
    [
        ("exch", "exch", ""),
        ("add", "max", ""),
        ("min", "umin", ""),
        ("add", "add", "%sum = arith.addi %one, %where : tensor<64xi32, #r>"),
        ("add", "add", "%sum = arith.addi %two, %where : tensor<64xi32, #r>"),
    ],
)
def test_updates_that_do_not_commute_or_whose_result_is_used_keep_their_order(
    first: str, second: str, last: str
) -> None:
    text = updates(first, second, last)
    assert [race.hazard for race in check(translated(text).trace).races] == ["RAW"]
    fixed, executed = inserted(text)
    assert executed == 1
    assert check(translated(fixed).trace).ok


@pytest.mark.parametrize("order", ["relaxed", "acquire"])
def test_a_poll_ends_in_a_barrier(order: str) -> None:
    body = f"""
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%o = arith.constant 1 : i32
%done = tt.atomic_poll {order}, gpu, %gp, %o : !tt.ptr<i32>, i32 -> i1
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    assert lines(body, shared=BYTES, arguments="%gp: !tt.ptr<i32>") == ["write %m0", "barrier", "read %m0"]
