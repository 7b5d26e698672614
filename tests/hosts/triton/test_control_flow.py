"""Calls, branches, loops and regions: what is on which path, and what a function does to its caller."""

from __future__ import annotations

import pytest

from fencepost.check import check
from fencepost.hosts.triton.write_back import removable
from fencepost.ir.source import FencepostError
from tests.hosts.triton.modules import (
    ALLOC,
    BYTES,
    NUMBERS,
    inserted,
    lines,
    module,
    races,
    translated,
)

CALLED = """
tt.func private @called(%x: <TENSOR>) attributes {noinline = true} {
  %y = ttg.convert_layout %x {allocation.offset = 0 : i32, allocation.size = 8192 : i32}
       : <TENSOR> -> tensor<64x64xf16, #t>
  tt.return
}
"""

CALL = "tt.call @called(%x) {allocation.offset = 8192 : i32, allocation.size = 8192 : i32} : (<TENSOR>) -> ()"


def test_a_call_writes_the_frame_of_the_function() -> None:
    body = f"{ALLOC}\nttg.local_store %x, %m : <TENSOR> -> <TILE>\n{CALL}\ntt.return"
    assert lines(body, shared=2 * BYTES, more=CALLED) == [
        "write %m1",
        "write %call",
        "barrier",
        "write %call",
    ]
    assert races(body, shared=2 * BYTES, more=CALLED) == 0


AROUND = f"""
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
tt.call @called(%c) : (i1) -> ()
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""


@pytest.mark.parametrize(
    ("called", "found"),
    [
        ("ttg.barrier local", 0),
        ("scf.if %c {\n  ttg.barrier local\n}", 1),
        ("scf.if %c {\n  ttg.barrier local\n} else {\n  ttg.barrier local\n}", 0),
        ("ttg.barrier global_read", 1),
        ("tt.call @inner() : () -> ()", 0),
        ("tt.call @called(%c) : (i1) -> ()\nttg.barrier local", 0),
        ("tt.call @called(%c) : (i1) -> ()", 1),
        ("", 1),
    ],
)
def test_barriers_in_a_function_count_for_its_caller(called: str, found: int) -> None:
    more = f"""
tt.func private @called(%c: i1) attributes {{noinline = true}} {{
  {called}
  tt.return
}}
tt.func private @inner() attributes {{noinline = true}} {{
  ttg.barrier local
  tt.return
}}
"""
    assert races(AROUND, shared=BYTES, more=more) == found
    text, executed = inserted(module(AROUND, shared=BYTES, more=more))
    assert executed == found
    assert check(translated(text).trace).ok


def test_a_barrier_that_callers_rely_on_is_kept() -> None:
    more = (
        "tt.func private @called(%c: i1) attributes {noinline = true} {\n  ttg.barrier local\n  tt.return\n}"
    )
    text = module(AROUND, shared=BYTES, more=more)
    (barrier,) = [op for op in translated(text).module.walk() if op.name == "ttg.barrier"]
    assert not removable(barrier)
    assert removable(
        next(
            op
            for op in translated(module("ttg.barrier local\ntt.return")).module.walk()
            if op.name == "ttg.barrier"
        )
    )


def test_two_calls_in_a_row_meet_in_the_frame() -> None:
    text, _ = inserted(module(f"{CALL}\n{CALL}\ntt.return", shared=2 * BYTES, more=CALLED))
    before, _, after = text.partition("ttg.barrier local")
    assert (before.count("tt.call"), after.count("tt.call")) == (1, 1)


def test_a_function_that_is_given_memory_cannot_be_followed() -> None:
    takes = "tt.func private @takes(%m: <TILE>) attributes {noinline = true} {\n  tt.return\n}"
    text = module(f"{ALLOC}\ntt.call @takes(%m) : (<TILE>) -> ()\ntt.return", shared=BYTES, more=takes)
    assert [op.name for op in translated(text).beyond] == ["tt.call"]
    with pytest.raises(FencepostError, match=r"tt\.call, which cannot be followed yet"):
        inserted(text)


def test_a_barrier_in_one_branch_covers_that_branch_only() -> None:
    body = f"""
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
scf.if %c {{
  ttg.barrier local
}}
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    assert races(body, shared=BYTES) == 1
    other = body.replace("}\n%y", "} else {\n  ttg.barrier local\n}\n%y")
    assert races(other, shared=BYTES) == 0


def test_a_loop_that_may_not_run_covers_nothing() -> None:
    body = f"""
{NUMBERS}
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
scf.for %i = %zero to %n step %one : i32 {{
  ttg.barrier local
}}
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    assert races(body, shared=BYTES) == 1


def test_what_decides_about_a_while_loop_runs_once_more() -> None:
    body = f"""
{NUMBERS}
{ALLOC}
%r = scf.while (%i = %zero) : (i32) -> i32 {{
  %y = ttg.local_load %m : <TILE> -> <TENSOR>
  %more = arith.cmpi slt, %i, %n : i32
  scf.condition(%more) %i : i32
}} do {{
^bb0(%j: i32):
  ttg.local_store %x, %m : <TENSOR> -> <TILE>
  %k = arith.addi %j, %one : i32
  scf.yield %k : i32
}}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
tt.return
"""
    assert lines(body, shared=BYTES) == ["read %m4", "write %m4", "write %m4"]
    text, _ = inserted(module(body, shared=BYTES))
    assert check(translated(text).trace).ok
    # Read and written in turns, each needs one in front of it, and so does what follows the loop.
    assert text.count("ttg.barrier local") in (2, 3)


def test_a_region_that_is_left_in_several_places() -> None:
    body = f"""
{ALLOC}
scf.execute_region {{
  cf.cond_br %c, ^one, ^other
^one:
  ttg.local_store %x, %m : <TENSOR> -> <TILE>
  scf.yield
^other:
  scf.yield
}}
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    assert races(body, shared=BYTES) == 1


def test_one_of_many_ways() -> None:
    body = f"""
{NUMBERS}
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
cf.switch %n : i32, [
  default: ^bb1(%zero : i32),
  0: ^bb1(%one : i32),
  1: ^bb2,
  2: ^bb3
]
^bb1(%k : i32):
%y = ttg.local_load %m : <TILE> -> <TENSOR>
cf.br ^bb3
^bb2:
ttg.barrier local
cf.br ^bb3
^bb3:
%v = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    # What follows meets the write by way of the last case, which goes there at once.
    assert races(body, shared=BYTES) == 2


def test_a_loop_whose_memory_is_read_behind_it() -> None:
    """A barrier can only stand where an operation of the module stands: there is none between body and end."""
    body = f"""
{NUMBERS}
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
scf.for %i = %zero to %n step %one : i32 {{
  %y = ttg.local_load %m : <TILE> -> <TENSOR>
  ttg.local_store %y, %m : <TENSOR> -> <TILE>
}}
%v = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    text, _ = inserted(module(body, shared=BYTES))
    assert text.count("ttg.barrier local") in (2, 3)
    assert check(translated(text).trace).ok


def test_a_region_that_is_no_control_flow_cannot_be_followed() -> None:
    body = f"""
{ALLOC}
"ttg.mask"(%c) ({{
  ttg.local_store %x, %m : <TENSOR> -> <TILE>
  "ttg.mask.return"() : () -> ()
}}) : (i1) -> ()
tt.return
"""
    assert [op.name for op in translated(module(body, shared=BYTES)).beyond] == ["ttg.mask"]
