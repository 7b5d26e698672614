"""Mbarriers in modules: who arrives, when objects end, and what predicates and loops agree about.

A right form and a wrong one of each; what is found is what `check` says of all waves together.
"""

from __future__ import annotations

import pytest

from fencepost.check import check
from fencepost.hosts.triton.joint_kernel import judged
from fencepost.hosts.triton.module_files import read_sources
from fencepost.hosts.triton.translate import translations
from fencepost.hosts.triton.unfollowed_values import TRIED
from fencepost.ir.source import Source
from tests.hosts.triton.modules import BYTES, module
from tests.tiers import sweep

OBJECT = "!ttg.memdesc<1xi64, #r1, #smem, mutable>"
DESC = "!tt.tensordesc<64x64xf16, #n>"
NTILE = "!ttg.memdesc<64x64xf16, #n, #smem, mutable>"
ROW = "#r1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"


def findings(
    body: str, *, target: str = "cuda:90", arguments: str = f"%d: {DESC}", warps: int = 4
) -> set[str]:
    """The kinds of what is found in a module."""
    spelled = body.replace("<OBJECT>", OBJECT).replace("<DESC>", DESC).replace("<NTILE>", NTILE)
    text = ROW + module(spelled, arguments=arguments, warps=warps, shared=4 * BYTES, target=target)
    (tree,) = read_sources([Source("kernel.ttgir", text)])
    found = translations(tree)
    assert not any(each.not_judged for each in found)
    reports = [check(trace) for trace in judged(found)]
    return {f"{race.kind} {race.hazard}" for report in reports for race in report.races} | {
        each.kind for report in reports for each in report.deadlocks
    }


# ---------------------------------------------------------------- predicates and loops that ask about one number

PREDICATED = """
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%true = arith.constant true
<NUMBER>
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
ttng.init_barrier %bar, 1 : <OBJECT>
ttg.barrier local
<PREDICATE>
ttng.barrier_expect %bar, 8192, %some : <OBJECT>
ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %some : <DESC>, <OBJECT> -> <NTILE>
<BRANCH>
^body:
ttng.wait_barrier %bar, %zero : <OBJECT>
cf.br ^after
^after:
ttg.barrier local
ttng.inval_barrier %bar : <OBJECT>
tt.return
"""
PROGRAM = "%k = tt.get_program_id x : i32"
LOADED = "%k = tt.load %q : !tt.ptr<i32>"
MORE = "%some = arith.cmpi sgt, %k, %zero : i32"
ASK = "cf.cond_br %some, ^body, ^after"
NOT = "%none = arith.xori %some, %true : i1\ncf.cond_br %none, ^after, ^body"
ASK_AGAIN = "%again = arith.cmpi slt, %zero, %k : i32\ncf.cond_br %again, ^body, ^after"
CEILING = """
%k = tt.get_program_id x : i32
%c132 = arith.constant 132 : i32
%behind = arith.subi %n, %k : i32
%tiles = arith.ceildivsi %behind, %c132 : i32
%least = arith.maxsi %tiles, %zero : i32
"""
QUOTIENT = """
%program = tt.get_program_id x : i32
%programs = tt.get_num_programs x : i32
%behind = arith.subi %n, %program : i32
%tiles = arith.ceildivsi %behind, %programs : i32
%k = arith.muli %tiles, %n : i32
"""
MORE_TILES = "%some = arith.cmpi sgt, %least, %zero : i32"
TILES_AGAIN = "%again = arith.cmpi slt, %zero, %tiles : i32\ncf.cond_br %again, ^body, ^after"
FLOATS = (
    "%f = tt.load %g : !tt.ptr<f32>\n%h = tt.load %g : !tt.ptr<f32>\n%some = arith.cmpf olt, %f, %h : f32"
)


def predicated(number: str, predicate: str, branch: str) -> set[str]:
    """A copy under a predicate, and a wait under a branch."""
    body = (
        PREDICATED.replace("<NUMBER>", number).replace("<PREDICATE>", predicate).replace("<BRANCH>", branch)
    )
    return findings(body, arguments=f"%d: {DESC}, %q: !tt.ptr<i32>, %g: !tt.ptr<f32>")


@pytest.mark.parametrize(
    ("number", "predicate", "branch"),
    [
        (PROGRAM, MORE, ASK),
        (PROGRAM, MORE, ASK_AGAIN),
        (LOADED, MORE, ASK),
        (LOADED, MORE, NOT),
        (LOADED, MORE, ASK_AGAIN),
        (CEILING, MORE_TILES, TILES_AGAIN),
        (QUOTIENT, MORE, ASK_AGAIN),
        ("", FLOATS, ASK),
        ("", FLOATS, NOT),
    ],
)
def test_what_is_not_followed_is_the_same_wherever_it_is_asked_for(
    number: str, predicate: str, branch: str
) -> None:
    assert predicated(number, predicate, branch) == set()


@pytest.mark.parametrize(
    ("number", "predicate"), [(PROGRAM, MORE), (LOADED, MORE), (QUOTIENT, MORE), ("", FLOATS)]
)
def test_a_wait_under_the_other_condition_is_found(number: str, predicate: str) -> None:
    # Who waits has copied nothing, and who copied ends the object while the engine will tell it.
    found = predicated(number, predicate, "cf.cond_br %some, ^after, ^body")
    assert "stuck" in found
    assert found & {"race WAR", "race WAW"}


PRODUCTS = """
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
ttng.init_barrier %bar, 1 : <OBJECT>
ttg.barrier local
%end = scf.for %g = %zero to %n step %one iter_args(%begins = %zero) -> (i32) : i32 {
  %at = tt.addptr %q, %g : !tt.ptr<i32>, i32
  %k = tt.load %at : !tt.ptr<i32>
  %some = arith.cmpi sgt, %k, %zero : i32
  ttng.barrier_expect %bar, 8192, %some : <OBJECT>
  ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %some : <DESC>, <OBJECT> -> <NTILE>
  %ends = scf.for %i = %zero to %k step %one iter_args(%phase = %begins) -> (i32) : i32 {
    ttng.wait_barrier %bar, %phase : <OBJECT>
    %y = ttg.local_load %m : <NTILE> -> <TENSOR>
    ttg.barrier local
    %next = arith.addi %i, %one : i32
    %more = arith.cmpi slt, %next, %k : i32
    ttng.barrier_expect %bar, 8192, %more : <OBJECT>
    ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %more : <DESC>, <OBJECT> -> <NTILE>
    %turned = arith.xori %phase, %one : i32
    scf.yield %turned : i32
  }
  scf.yield %ends : i32
}
ttng.inval_barrier %bar : <OBJECT>
tt.return
"""
"""Products one after the other, each of a length of its own: its tiles are copied as it needs them."""


def products(was: str = "", becomes: str = "") -> set[str]:
    """What is found in them, with one line changed."""
    assert was in PRODUCTS
    return findings(PRODUCTS.replace(was, becomes, 1), arguments=f"%d: {DESC}, %q: !tt.ptr<i32>")


def test_a_copy_and_a_loop_agree_about_a_length_that_an_outer_loop_computes() -> None:
    assert products() == set()


@pytest.mark.parametrize(
    ("was", "becomes", "found"),
    sweep(
        [
            ("%more = arith.cmpi slt", "%more = arith.cmpi sle", "race WAW"),
            ("%some = arith.cmpi sgt, %k, %zero", "%some = arith.cmpi sgt, %k, %one", "stuck"),
            ("scf.yield %ends", "scf.yield %begins", "race RAW"),
            ("ttng.wait_barrier %bar, %phase", "ttng.wait_barrier %bar, %zero", "race RAW"),
        ],
        first=2,
    ),
)
def test_mistakes_in_a_loop_of_a_length_that_an_outer_loop_computes_are_found(
    was: str, becomes: str, found: str
) -> None:
    assert found in products(was, becomes)


def test_lengths_that_are_tried_are_no_proof() -> None:
    text = PRODUCTS.replace("<OBJECT>", OBJECT).replace("<DESC>", DESC).replace("<NTILE>", NTILE)
    text = ROW + module(text, arguments=f"%d: {DESC}, %q: !tt.ptr<i32>", shared=4 * BYTES, target="cuda:90")
    (tree,) = read_sources([Source("kernel.ttgir", text)])
    (trace,) = judged(translations(tree))
    explored = check(trace).explored
    assert TRIED in explored.limits and not explored.complete


# ---------------------------------------------------------------- the life of an object

LIFE = """
%zero = arith.constant 0 : i32
%true = arith.constant true
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
ttng.init_barrier %bar, 1 : <OBJECT>
ttg.barrier local
ttng.barrier_expect %bar, <BYTES>, %true : <OBJECT>
ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %true : <DESC>, <OBJECT> -> <NTILE>
<BEFORE>
ttng.wait_barrier %bar, %zero : <OBJECT>
<BEHIND>
tt.return
"""
INVAL = "ttg.barrier local\nttng.inval_barrier %bar : <OBJECT>\nttg.barrier local"
INIT = "ttng.init_barrier %bar, 1 : <OBJECT>\nttg.barrier local"
DATA = """
ttg.barrier local
%other = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <TILE>
ttg.local_store %x, %other : <TENSOR> -> <TILE>
ttg.barrier local
"""


@pytest.mark.parametrize(
    ("bytes_", "before", "behind", "expected"),
    [
        ("8192", "", "", set()),
        ("8192", "", INVAL, set()),
        ("8192", "", f"{INVAL}\n{INIT}", set()),
        ("8192", "", f"{INVAL}\n{DATA}", set()),
        ("8192", "", f"ttg.barrier local\n{INIT}", {"lifetime"}),
        ("8192", "", DATA, {"lifetime"}),
        ("8192", "", f"{INVAL}\nttng.wait_barrier %bar, %zero : <OBJECT>", {"lifetime"}),
        ("8192", "", f"{INVAL}\n{INVAL}", {"lifetime"}),
        ("16384", "", "", {"stuck"}),
        ("8192", "ttg.barrier local\nttng.inval_barrier %bar : <OBJECT>\nttg.barrier local", "", None),
    ],
)
def test_mbarriers_are_used_within_their_lifetime(
    bytes_: str, before: str, behind: str, expected: set[str] | None
) -> None:
    found = findings(LIFE.replace("<BYTES>", bytes_).replace("<BEFORE>", before).replace("<BEHIND>", behind))
    assert found == expected if expected is not None else found


# ---------------------------------------------------------------- copies of two partitions

TWO = """
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%more = ttg.local_alloc {allocation.offset = 16392 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
ttng.init_barrier %bar, 1 : <OBJECT>
ttng.init_barrier %more, 1 : <OBJECT>
ttg.barrier local
ttg.warp_specialize(%d, %m, %bar, %more) attributes {warpGroupStartIds = array<i32: 4, 5>}
default {
  %z = arith.constant 0 : i32
  ttng.wait_barrier %more, %z : <OBJECT>
  ttng.wait_barrier %bar, %z : <OBJECT>
  ttg.warp_yield
}
partition0(%e: <DESC>, %a: <NTILE>, %b: <OBJECT>, %c2: <OBJECT>) num_warps(1) {
  %z = arith.constant 0 : i32
  %t = arith.constant true
  ttng.barrier_expect %b, 8192, %t : <OBJECT>
  ttng.async_tma_copy_global_to_local %e[%z, %z] %a, %b, %t : <DESC>, <OBJECT> -> <NTILE>
  ttg.warp_return
}
partition1(%e: <DESC>, %a: <NTILE>, %b: <OBJECT>, %c2: <OBJECT>) num_warps(1) {
  %z = arith.constant 0 : i32
  %t = arith.constant true
  <WAIT>
  ttng.barrier_expect %c2, 8192, %t : <OBJECT>
  ttng.async_tma_copy_global_to_local %e[%z, %z] %a, %c2, %t : <DESC>, <OBJECT> -> <NTILE>
  ttg.warp_return
} : (<DESC>, <NTILE>, <OBJECT>, <OBJECT>) -> ()
tt.return
"""


def test_copies_of_two_partitions_have_no_order() -> None:
    assert findings(TWO.replace("<WAIT>", "")) == {"race WAW"}
    assert findings(TWO.replace("<WAIT>", "ttng.wait_barrier %b, %z : <OBJECT>")) == set()


# ---------------------------------------------------------------- AMD's data mover

TDM = """
%zero = arith.constant 0 : i32
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%o = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <TILE>
amdg.init_barrier %bar, 4 : <OBJECT>
<COPIES>
amdg.wait_barrier %bar, %zero : <OBJECT>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
%z = ttg.local_load %o : <TILE> -> <TENSOR>
tt.return
"""
PLAIN = "%a{0} = amdg.async_tdm_copy_global_to_local %e into %{0} : !tt.tensordesc<64x64xf16, #s> -> <TILE>"
TELLING = (
    "%a{0} = amdg.async_tdm_copy_global_to_local %e into %{0}, barrier = %bar : "
    "!tt.tensordesc<64x64xf16, #s>, <OBJECT> -> <TILE>"
)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (PLAIN.format("m"), TELLING.format("o"), set()),
        (TELLING.format("m"), PLAIN.format("o"), {"race RAW"}),
        (PLAIN.format("m"), PLAIN.format("o"), {"stuck"}),
    ],
)
def test_a_wave_s_engine_works_in_order(first: str, second: str, expected: set[str]) -> None:
    body = TDM.replace("<COPIES>", f"{first}\n{second}")
    found = findings(body, target="hip:gfx1250", arguments="%e: !tt.tensordesc<64x64xf16, #s>")
    assert found == expected
