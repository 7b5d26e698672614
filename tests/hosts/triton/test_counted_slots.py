"""Loops whose counter picks a slot as it is: `for i in range(3)` that stores to slot `i`."""

from __future__ import annotations

import pytest

from fencepost.check import check
from tests.hosts.triton.modules import BYTES, inserted, module, statements, translated

NUMBERS = """
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%two = arith.constant 2 : i32
%three = arith.constant 3 : i32
%four = arith.constant 4 : i32
"""
SLOT_BY_SLOT = f"""
{NUMBERS}
%m = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> <RING>
scf.for %i = %zero to %three step %one : i32 {{
  %v = ttg.memdesc_index %m[%i] : <RING> -> <TILE>
  ttg.local_store %x, %v : <TENSOR> -> <TILE>
}}
%w = ttg.memdesc_index %m[%one] : <RING> -> <TILE>
%y = ttg.local_load %w : <TILE> -> <TENSOR>
tt.return
"""
"""Each slot is written once, and one is read afterwards."""
IN_BLOCKS = f"""
{NUMBERS}
%m = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> <RING>
cf.br ^head(%zero : i32)
^head(%i: i32):
%more = arith.cmpi slt, %i, %three : i32
cf.cond_br %more, ^body, ^end
^body:
%v = ttg.memdesc_index %m[%i] : <RING> -> <TILE>
ttg.local_store %x, %v : <TENSOR> -> <TILE>
%next = arith.addi %i, %one : i32
cf.br ^head(%next : i32)
^end:
%w = ttg.memdesc_index %m[%one] : <RING> -> <TILE>
%y = ttg.local_load %w : <TILE> -> <TENSOR>
tt.return
"""
TO_N = SLOT_BY_SLOT.replace("%zero to %three", "%zero to %n")


@pytest.mark.parametrize("body", [SLOT_BY_SLOT, IN_BLOCKS])
def test_slots_that_are_written_one_after_the_other_need_no_barrier_between_them(body: str) -> None:
    text, executed = inserted(module(body, shared=3 * BYTES))
    assert text.count("ttg.barrier local") == 1
    assert text.index("ttg.barrier local") > text.index("memdesc_index %m[%one]")
    assert executed == 1
    report = check(translated(text).trace)
    assert report.ok
    assert report.explored.complete


@pytest.mark.parametrize("body", [SLOT_BY_SLOT, IN_BLOCKS])
def test_without_that_barrier_there_is_one_race_and_nothing_out_of_range(body: str) -> None:
    report = check(translated(module(body, shared=3 * BYTES)).trace)
    assert [len(report.races), len(report.out_of_range)] == [1, 0]


def test_a_loop_that_goes_too_far_asks_for_bytes_that_are_not_there() -> None:
    text, _ = inserted(module(SLOT_BY_SLOT.replace("%zero to %three", "%zero to %four"), shared=3 * BYTES))
    assert len(check(translated(text).trace).out_of_range) == 1


def test_a_loop_that_ends_nobody_knows_where_asks_for_slots_of_the_ring() -> None:
    translation = translated(module(TO_N, shared=3 * BYTES))
    assert statements(translation)[0] == "write %m5[%body1.0 % 3 * 8192..%body1.0 % 3 * 8192 + 8192]"
    text, _ = inserted(module(TO_N, shared=3 * BYTES))
    report = check(translated(text).trace)
    assert report.ok
    assert report.explored.complete


def test_the_slot_before_the_one_that_is_written_is_read_without_a_word_of_where_the_loop_ends() -> None:
    """What was written an iteration ago is read: that takes a barrier in every iteration."""
    body = (
        TO_N.replace(
            "%v = ttg",
            "%b = arith.subi %i, %one : i32\n  %u = ttg.memdesc_index %m[%b] : <RING> -> <TILE>\n  %v = ttg",
        )
        .replace("-> <TILE>\n}", "-> <TILE>\n  %z = ttg.local_load %u : <TILE> -> <TENSOR>\n}")
        .replace("%zero to", "%one to")
    )
    assert len(check(translated(module(body, shared=3 * BYTES)).trace).races) > 0
    text, _ = inserted(module(body, shared=3 * BYTES))
    assert text.count("ttg.barrier local") == 1
    assert text.index("ttg.barrier local") < text.index("%w = ")
    assert check(translated(text).trace).ok


def test_a_counter_of_which_only_the_remainder_is_asked_for_is_not_followed_to_its_end() -> None:
    """A ring is the same every third time: a loop of thousands takes no longer than one of three."""
    body = (
        SLOT_BY_SLOT.replace("%v = ttg", "%s = arith.remui %i, %three : i32\n  %v = ttg")
        .replace("%m[%i]", "%m[%s]")
        .replace("%zero to %three", "%zero to %thousands")
        .replace("%four = arith.constant 4", "%thousands = arith.constant 9000")
    )
    translation = translated(module(body, shared=3 * BYTES))
    assert not any("9000" in line for line in str(translation.trace).splitlines())
