"""Slots of rings and other views: which bytes they are, wherever their numbers come from."""

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


def test_a_slot_is_a_stretch_of_the_ring() -> None:
    body = f"""
{NUMBERS}
%m = ttg.local_alloc : () -> <RING>
%v = ttg.memdesc_index %m[%two] : <RING> -> <TILE>
ttg.local_store %x, %v : <TENSOR> -> <TILE>
tt.return
"""
    assert lines(body) == ["write %m4[16384..24576]"]


RING_WITH_SELECT = f"""
{NUMBERS}
%m = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> <RING>
cf.br ^head(%zero, %zero : i32, i32)
^head(%i: i32, %slot: i32):
%more = arith.cmpi slt, %i, %n : i32
cf.cond_br %more, ^body, ^end
^body:
%next = arith.addi %slot, %one : i32
%wraps = arith.cmpi sge, %next, %three : i32
%to = arith.select %wraps, %zero, %next : i32
%v = ttg.memdesc_index %m[%to] : <RING> -> <TILE>
ttg.local_store %x, %v : <TENSOR> -> <TILE>
%w = ttg.memdesc_index %m[%slot] : <RING> -> <TILE>
%y = ttg.local_load %w : <TILE> -> <TENSOR>
%i2 = arith.addi %i, %one : i32
cf.br ^head(%i2, %to : i32, i32)
^end:
tt.return
"""


def test_a_slot_that_blocks_hand_on_is_followed() -> None:
    translation = translated(module(RING_WITH_SELECT, shared=3 * BYTES))
    slot = "select(%b1.1 + 1 >= 3, 0, %b1.1 + 1)"
    assert statements(translation) == [
        f"write %m4[{slot} * 8192..{slot} * 8192 + 8192]",
        "read %m4[%b1.1 * 8192..%b1.1 * 8192 + 8192]",
    ]
    # The number of iterations decides about no byte, and is left out.
    assert "^b1(%b1.1):" in str(translation.trace)
    assert f"br ^b1({slot})" in str(translation.trace)


def test_a_ring_of_three_needs_one_barrier_per_iteration() -> None:
    text, executed = inserted(module(RING_WITH_SELECT, shared=3 * BYTES))
    assert text.count("ttg.barrier local") == 1
    assert executed == pytest.approx(100, rel=0.05)


RING_WITH_REMAINDER = f"""
{NUMBERS}
%m = ttg.local_alloc : () -> <RING>
scf.for %i = %zero to %n step %one : i32 {{
  %next = arith.addi %i, %one : i32
  %to = arith.remui %next, %three : i32
  %v = ttg.memdesc_index %m[%to] : <RING> -> <TILE>
  ttg.local_store %x, %v : <TENSOR> -> <TILE>
  %from = arith.remui %i, %three : i32
  %w = ttg.memdesc_index %m[%from] : <RING> -> <TILE>
  %y = ttg.local_load %w : <TILE> -> <TENSOR>
}}
tt.return
"""


def test_slots_by_remainder_of_a_structured_loop() -> None:
    text, _ = inserted(module(RING_WITH_REMAINDER))
    assert text.count("ttg.barrier local") == 1
    assert check(translated(text).trace).ok


def test_a_counter_that_begins_at_zero_has_the_remainder_that_it_seems_to_have() -> None:
    translation = translated(module(RING_WITH_REMAINDER))
    assert statements(translation)[1] == "read %m4[%body1.0 % 3 * 8192..%body1.0 % 3 * 8192 + 8192]"


def test_a_remainder_that_is_worked_out_from_the_quotient_is_one() -> None:
    """Passes write i - i // 3 * 3 where they have the quotient already, as for the phase of an mbarrier."""
    spelled = "%q = arith.divui %i, %three : i32\n  %t = arith.muli %q, %three : i32\n  "
    body = RING_WITH_REMAINDER.replace(
        "%from = arith.remui %i, %three", f"{spelled}%from = arith.subi %i, %t"
    )
    translation = translated(module(body))
    assert statements(translation)[1] == "read %m4[%body1.0 % 3 * 8192..%body1.0 % 3 * 8192 + 8192]"
    other = translated(module(body.replace("%t = arith.muli %q, %three", "%t = arith.muli %q, %one")))
    assert "%body1.0 - %body1.0 // 3 * 1" in statements(other)[1]


def test_a_remainder_of_what_may_be_below_zero_is_not_known() -> None:
    """Machines round towards zero: the remainder of minus one by three is minus one."""
    body = RING_WITH_REMAINDER.replace("%i = %zero", "%i = %minus").replace(
        "%m =", "%minus = arith.constant -4 : i32\n%m ="
    )
    assert "select(%body1.0 >= 0, %body1.0 % 3, ?)" in str(translated(module(body)).trace)


PERSISTENT = """
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%three = arith.constant 3 : i32
%pid = tt.get_program_id x : i32
%other = tt.get_program_id y : i32
%m = ttg.local_alloc : () -> <RING>
scf.for %i = %zero to %n step %one : i32 {
  %at = arith.addi <START>, %i : i32
  %next = arith.addi %at, %one : i32
  %to = arith.remsi %next, %three : i32
  %v = ttg.memdesc_index %m[%to] : <RING> -> <TILE>
  ttg.local_store %x, %v : <TENSOR> -> <TILE>
  ttg.barrier local
  %from = arith.remsi <READ>, %three : i32
  %w = ttg.memdesc_index %m[%from] : <RING> -> <TILE>
  %y = ttg.local_load %w : <TILE> -> <TENSOR>
}
tt.return
"""

COUNTED = """
%one = arith.constant 1 : i32
%three = arith.constant 3 : i32
%pid = tt.get_program_id x : i32
%step = tt.get_num_programs x : i32
%m = ttg.local_alloc : () -> <RING>
%end = scf.for %i = %pid to %n step %step iter_args(%at = <START>) -> (i32) : i32 {
  %next = arith.addi %at, <STEP> : i32
  %to = arith.remsi %next, %three : i32
  %v = ttg.memdesc_index %m[%to] : <RING> -> <TILE>
  ttg.local_store %x, %v : <TENSOR> -> <TILE>
  ttg.barrier local
  %from = arith.remsi %at, %three : i32
  %w = ttg.memdesc_index %m[%from] : <RING> -> <TILE>
  %y = ttg.local_load %w : <TILE> -> <TENSOR>
  scf.yield %next : i32
}
tt.return
"""


def slots(body: str, **places: str) -> str:
    for place, value in places.items():
        body = body.replace(f"<{place}>", value)
    return body


def test_a_counter_that_begins_at_a_program_id_picks_slots() -> None:
    """Whatever it is, it is one number: two slots that are one step apart are two, and three steps on is the same."""
    for right in (
        slots(PERSISTENT, START="%pid", READ="%at"),
        slots(COUNTED, START="%pid", STEP="%one"),
        slots(COUNTED, START="%step", STEP="%one"),
    ):
        report = check(translated(module(right)).trace)
        assert report.ok and report.explored.complete
        text, _ = inserted(module(right.replace("  ttg.barrier local\n", "")))
        assert text.count("ttg.barrier local") == 1
        assert check(translated(text).trace).ok


@pytest.mark.parametrize(
    "body",
    [
        # Two slots only: the next but one is the one that others may still read.
        slots(PERSISTENT, START="%pid", READ="%at").replace(
            "%three = arith.constant 3", "%three = arith.constant 2"
        ),
        slots(COUNTED, START="%pid", STEP="%one").replace(
            "%three = arith.constant 3", "%three = arith.constant 2"
        ),
        # Three steps on, the slot is the same.
        slots(COUNTED, START="%pid", STEP="%three"),
        # Another number, or one that may be below zero.
        slots(PERSISTENT, START="%pid", READ="%other"),
        slots(PERSISTENT, START="%n", READ="%at"),
        # A step that is not known.
        slots(COUNTED, START="%pid", STEP="%step"),
    ],
)
def test_slots_that_may_be_the_same(body: str) -> None:
    assert not check(translated(module(body)).trace).ok


VIEWS_THAT_ARE_HANDED_ON = f"""
{NUMBERS}
%m = ttg.local_alloc : () -> <RING>
%first = ttg.memdesc_index %m[%zero] : <RING> -> <TILE>
%last = scf.for %i = %zero to %n step %one iter_args(%v = %first) -> (<TILE>) : i32 {{
  ttg.local_store %x, %v : <TENSOR> -> <TILE>
  %to = arith.remui %i, %three : i32
  %w = ttg.memdesc_index %m[%to] : <RING> -> <TILE>
  scf.yield %w : <TILE>
}}
%y = ttg.local_load %last : <TILE> -> <TENSOR>
tt.return
"""


def test_a_view_that_a_loop_hands_on_is_the_byte_that_it_begins_at() -> None:
    translation = translated(module(VIEWS_THAT_ARE_HANDED_ON))
    assert statements(translation) == [
        "write %m4[%body1.1..%body1.1 + 8192]",
        "read %m4[%after2.0..%after2.0 + 8192]",
    ]
    text = str(translation.trace)
    assert "br ^body1(%body1.0 + 1, %body1.0 % 3 * 8192)" in text
    assert "br ^after2(0)" in text


HALF = "!ttg.memdesc<64x32xf16, #s, #smem, mutable, 64x64>"


def test_a_part_of_a_tile_that_a_loop_hands_on_is_the_whole_allocation() -> None:
    """Rows of a tile that is cut across are no stretch of bytes, whatever the type of the view says."""
    body = f"""
{NUMBERS}
{ALLOC}
%l = ttg.memdesc_subslice %m[0, 0] : <TILE> -> {HALF}
%r = ttg.memdesc_subslice %m[0, 32] : <TILE> -> {HALF}
%a, %b = scf.for %i = %zero to %n step %one iter_args(%v = %l, %u = %r) -> ({HALF}, {HALF}) : i32 {{
  %y = ttg.local_load %v : {HALF} -> tensor<64x32xf16, #b>
  ttg.local_store %y, %u : tensor<64x32xf16, #b> -> {HALF}
  scf.yield %u, %v : {HALF}, {HALF}
}}
tt.return
"""
    assert lines(body, shared=BYTES) == ["read %m4", "write %m4"]


def test_views_of_several_allocations_may_be_any_of_them() -> None:
    body = """
%m = ttg.local_alloc : () -> <TILE>
%o = ttg.local_alloc : () -> <TILE>
%v = scf.if %c -> (<TILE>) {
  scf.yield %m : <TILE>
} else {
  scf.yield %o : <TILE>
}
ttg.local_store %x, %v : <TENSOR> -> <TILE>
%y = ttg.local_load %o : <TILE> -> <TENSOR>
tt.return
"""
    assert lines(body) == ["write %m0, %m1", "read %m1"]
    assert races(body) == 1


SELECTED = """
%m = ttg.local_alloc : () -> <TILE>
%o = ttg.local_alloc : () -> <TILE>
%q = ttg.local_alloc : () -> <TILE>
%v = arith.select %c, %m, %o : <TILE>
ttg.local_store %x, %v : <TENSOR> -> <TILE>
%y = ttg.local_load <READ> : <TILE> -> <TENSOR>
tt.return
"""


@pytest.mark.parametrize(("read", "found"), [("%o", 1), ("%v", 1), ("%q", 0)])
def test_one_of_two_views_is_either_of_them_and_no_other(read: str, found: int) -> None:
    body = SELECTED.replace("<READ>", read)
    assert lines(body)[0] == "write %m0, %m1"
    assert races(body) == found
    assert inserted(module(body, shared=3 * BYTES))[0].count("ttg.barrier local") == found


def test_a_slot_of_one_of_two_rings_is_either_ring() -> None:
    body = """
%one = arith.constant 1 : i32
%m = ttg.local_alloc : () -> <RING>
%o = ttg.local_alloc : () -> <RING>
%q = ttg.local_alloc : () -> <TILE>
%r = arith.select %c, %m, %o : <RING>
%v = ttg.memdesc_index %r[%one] : <RING> -> <TILE>
ttg.local_store %x, %v : <TENSOR> -> <TILE>
tt.return
"""
    assert lines(body) == ["write %m1, %m2"]


def test_a_view_that_one_of_two_loops_hands_on_is_of_theirs() -> None:
    """Not of any that the function has: mbarriers, for instance."""
    body = """
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%m = ttg.local_alloc : () -> <TILE>
%o = ttg.local_alloc : () -> <TILE>
%q = ttg.local_alloc : () -> <TILE>
%last:2 = scf.for %i = %zero to %n step %one iter_args(%v = %m, %w = %o) -> (<TILE>, <TILE>) : i32 {
  ttg.local_store %x, %v : <TENSOR> -> <TILE>
  scf.yield %w, %v : <TILE>, <TILE>
}
ttg.local_store %x, %q : <TENSOR> -> <TILE>
tt.return
"""
    assert lines(body) == ["write %m2, %m3", "write %m4"]


ANY_SLOT = f"""
{NUMBERS}
<INDEX>
%m = ttg.local_alloc : () -> <RING>
%v = ttg.memdesc_index %m[%k] : <RING> -> <TILE>
ttg.local_store %x, %v : <TENSOR> -> <TILE>
%w = ttg.memdesc_index %m[<READ>] : <RING> -> <TILE>
%y = ttg.local_load %w : <TILE> -> <TENSOR>
tt.return
"""

ASSEMBLY = """%a = tt.elementwise_inline_asm "mov.u32 $0, %warpid;"
  {constraints = "=r,r", packed_element = 1 : i32, pure = true} %n : i32 -> i32"""


@pytest.mark.parametrize(
    ("index", "read"),
    [
        ("%k = arith.addi %n, %zero : i32", "%one"),
        ("%k = tt.load %q : !tt.ptr<i32>", "%one"),
        ("%k = tt.load %q : !tt.ptr<i32>", "%n"),
        # Threads that each read a number of their own write slots of their own.
        ("%k = ttg.warp_id", "%one"),
        (f"{ASSEMBLY}\n%k = arith.remui %a, %three : i32\n%l = arith.subi %two, %k : i32", "%l"),
        (
            "%id = ttg.warp_id\n%at = tt.addptr %q, %id : !tt.ptr<i32>, i32\n%k = tt.load %at : !tt.ptr<i32>",
            "%one",
        ),
    ],
)
def test_an_index_that_is_not_known_may_be_any_slot(index: str, read: str) -> None:
    text = module(slots(ANY_SLOT, INDEX=index, READ=read), arguments="%q: !tt.ptr<i32>")
    assert len(check(translated(text).trace).races) == 1


def test_a_slot_that_threads_see_as_others_is_not_the_next_one() -> None:
    """One number for all would be a slot, and the next one another."""
    index = "%k = arith.remui {0}, %three : i32\n%o = arith.addi {0}, %one : i32\n%l = arith.remui %o, %three : i32"
    pid = "%a = tt.get_program_id x : i32\n" + index.format("%a")
    for number, found in ((pid, 0), (f"{ASSEMBLY}\n{index.format('%a')}", 1)):
        text = module(slots(ANY_SLOT, INDEX=number, READ="%l"))
        assert len(check(translated(text).trace).races) == found


def test_a_branch_on_what_assembly_computes_is_not_judged() -> None:
    body = f"""
{NUMBERS}
{ASSEMBLY}
%low = arith.cmpi slt, %a, %two : i32
scf.if %low {{
  ttg.barrier local
}}
tt.return
"""
    assert translated(module(body)).not_judged == ["scf.if under a condition that depends on the thread"]


def test_slots_of_a_part_of_a_ring() -> None:
    part = "!ttg.memdesc<2x64x64xf16, #s, #smem, mutable, 3x64x64>"
    body = f"""
{NUMBERS}
%m = ttg.local_alloc : () -> <RING>
%v = ttg.memdesc_subslice %m[1, 0, 0] : <RING> -> {part}
%w = ttg.memdesc_index %v[%one] : {part} -> <TILE>
ttg.local_store %x, %w : <TENSOR> -> <TILE>
tt.return
"""
    assert lines(body) == ["write %m4[16384..24576]"]


def test_a_part_of_a_tile_stands_for_the_tile() -> None:
    body = f"""
{NUMBERS}
%m = ttg.local_alloc : () -> <RING>
%v = ttg.memdesc_index %m[%one] : <RING> -> <TILE>
%h = ttg.memdesc_subslice %v[0, 32] : <TILE> -> {HALF}
%y = ttg.local_load %h : {HALF} -> tensor<64x32xf16, #b>
tt.return
"""
    assert lines(body) == ["read %m4[8192..16384]"]


def test_a_tile_turned_round_is_the_same_bytes() -> None:
    turned = "!ttg.memdesc<64x64xf16, #o, #smem, mutable>"
    body = f"""
{NUMBERS}
%m = ttg.local_alloc : () -> <RING>
%v = ttg.memdesc_index %m[%one] : <RING> -> <TILE>
%h = ttg.memdesc_trans %v {{order = array<i32: 1, 0>}} : <TILE> -> {turned}
%y = ttg.local_load %h : {turned} -> <TENSOR>
tt.return
"""
    assert lines(body) == ["read %m4[8192..16384]"]


def test_slots_are_compared_by_bytes_not_by_numbers() -> None:
    halves = "!ttg.memdesc<6x32x64xf16, #s, #smem, mutable>"
    half = "!ttg.memdesc<32x64xf16, #s, #smem, mutable>"
    body = f"""
{NUMBERS}
%m = ttg.local_alloc : () -> <RING>
%v = ttg.memdesc_index %m[%one] : <RING> -> <TILE>
ttg.local_store %x, %v : <TENSOR> -> <TILE>
%o = ttg.memdesc_reinterpret %m : <RING> -> {halves}
%w = ttg.memdesc_index %o[%two] : {halves} -> {half}
%y = ttg.local_load %w : {half} -> tensor<32x64xf16, #b>
tt.return
"""
    assert lines(body) == ["write %m4[8192..16384]", "read %m4[8192..12288]"]
    assert races(body) == 1


def test_slots_of_several_workgroups_are_not_told_apart() -> None:
    """A cluster shares tiles out among its workgroups: a slot is smaller than its type says."""
    body = RING_WITH_SELECT
    text = module(body, shared=3 * BYTES).replace('"ttg.num-ctas" = 1', '"ttg.num-ctas" = 2')
    for layout in ("warpsPerCTA = [4, 1], order = [1, 0]", "maxPhase = 1, order = [1, 0]"):
        text = text.replace(layout, f"{layout}, CGALayout = [[1, 0]]")
    text = text.replace("tensor<64x64xf16", "tensor<128x64xf16").replace("x64x64xf16, #s", "x128x64xf16, #s")
    text = text.replace("memdesc<64x64xf16, #s", "memdesc<128x64xf16, #s")
    assert "write %m4\n" in str(translated(text).trace)


@pytest.mark.parametrize(
    ("begin", "by", "remainder", "races"),
    [
        ("%zero", "%one", "arith.remsi", 0),
        ("%zero", "%one", "arith.remui", 0),
        # Counting up from 1, what comes before is never below zero.
        ("%one", "%minus", "arith.remsi", 0),
        # From 0 it is, and there the machine rounds the other way.
        ("%zero", "%minus", "arith.remsi", 1),
    ],
)
def test_a_remainder_of_what_is_never_below_zero_is_a_slot(
    begin: str, by: str, remainder: str, races: int
) -> None:
    body = f"""
{NUMBERS}
%minus = arith.constant -1 : i32
%slots = arith.constant 3 : i32
%ring = ttg.local_alloc : () -> <RING>
scf.for %i = {begin} to %n step %one : i32 {{
  %here = {remainder} %i, %slots : i32
  %next = arith.addi %i, {by} : i32
  %there = {remainder} %next, %slots : i32
  %a = ttg.memdesc_index %ring[%here] : <RING> -> <TILE>
  %b = ttg.memdesc_index %ring[%there] : <RING> -> <TILE>
  ttg.local_store %x, %a : <TENSOR> -> <TILE>
  %y = ttg.local_load %b : <TILE> -> <TENSOR>
  ttg.barrier local
}}
tt.return
"""
    text = module(body)
    assert (inserted(text)[1] > 0) == bool(races)
    assert check(translated(text).trace).explored.complete == (not races)


SLOT_BEFORE = """
  %before = arith.addi %i, %minus : i32
  %there = arith.remsi %before, %slots : i32
  %b = ttg.memdesc_index %ring[%there] : <RING> -> <TILE>
  %y = ttg.local_load %b : <TILE> -> <TENSOR>
"""

IN_LOOP = f"""
{NUMBERS}
%minus = arith.constant -1 : i32
%slots = arith.constant 3 : i32
%ring = ttg.local_alloc : () -> <RING>
scf.for %i = %zero to %n step %one : i32 {{
  %here = arith.remsi %i, %slots : i32
  %a = ttg.memdesc_index %ring[%here] : <RING> -> <TILE>
  ttg.local_store %x, %a : <TENSOR> -> <TILE>
  <CONDITION>
  <BRANCH>
  ttg.barrier local
}}
tt.return
"""

IN_BLOCKS = f"""
{NUMBERS}
%minus = arith.constant -1 : i32
%slots = arith.constant 3 : i32
%ring = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> <RING>
cf.br ^head(%zero : i32)
^head(%i: i32):
%goes_on = arith.cmpi slt, %i, %n : i32
cf.cond_br %goes_on, ^body, ^end
^body:
%here = arith.remsi %i, %slots : i32
%a = ttg.memdesc_index %ring[%here] : <RING> -> <TILE>
ttg.local_store %x, %a : <TENSOR> -> <TILE>
<CONDITION>
cf.cond_br %some, ^side, ^latch
^side:
{SLOT_BEFORE}
cf.br ^latch
^latch:
ttg.barrier local
%next = arith.addi %i, %one : i32
cf.br ^head(%next : i32)
^end:
tt.return
"""

THEN = f"scf.if %some {{{SLOT_BEFORE}}}"

ELSE = f"scf.if %some {{\n}} else {{{SLOT_BEFORE}}}"


@pytest.mark.parametrize(
    ("condition", "branch", "known"),
    [
        ("%some = arith.cmpi sgt, %i, %zero : i32", THEN, True),
        ("%some = arith.cmpi slt, %zero, %i : i32", THEN, True),
        ("%some = arith.cmpi sle, %i, %zero : i32", ELSE, True),
        ("%m = arith.addi %i, %minus : i32\n%some = arith.cmpi sge, %m, %zero : i32", THEN, True),
        ("%m = arith.cmpi sgt, %i, %zero : i32\n%some = arith.andi %c, %m : i1", THEN, True),
        # There it may be below zero,
        ("%some = arith.cmpi sge, %i, %zero : i32", THEN, False),
        ("%some = arith.cmpi sgt, %i, %zero : i32", ELSE, False),
        ("%some = arith.cmpi ugt, %i, %zero : i32", THEN, False),
        # and one condition of two need not have failed.
        ("%m = arith.cmpi sle, %i, %zero : i32\n%some = arith.andi %c, %m : i1", ELSE, False),
    ],
)
def test_a_remainder_is_a_slot_where_a_condition_says_that_it_is_not_of_a_number_below_zero(
    condition: str, branch: str, known: bool
) -> None:
    bodies = [IN_LOOP.replace("<BRANCH>", branch)] + [IN_BLOCKS] * (branch == THEN)
    for body in bodies:
        translation = translated(module(body.replace("<CONDITION>", condition), shared=4 * BYTES))
        shown = " ".join(statements(translation))
        assert ("select(" in shown) == (not known)
