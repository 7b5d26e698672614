"""Triton modules in which half of the waves is delayed around a loop (`amdg.cond_barrier`)."""

from __future__ import annotations

import pytest

from fencepost.check import check
from fencepost.hosts.triton.audit import audit
from fencepost.ir.source import FencepostError
from tests.hosts.triton.modules import inserted, line_of, module, translated, tree_of


def ping_pong(*stages: str) -> str:
    """A loop of stages on one tile; the upper four of eight waves run one rendezvous behind."""
    body = "\n".join(f"  {line}" for stage in stages for line in stage.strip().splitlines())
    text = f"""
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%half = arith.constant 128 : i32
%m = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> <TILE>
%thread = rocdl.workitem.id.x : i32
%which = arith.divsi %thread, %half : i32
%early = arith.cmpi eq, %which, %zero : i32
%late = arith.cmpi ne, %which, %zero : i32
amdg.cond_barrier %late
scf.for %i = %zero to %n step %one : i32 {{
{body}
}}
amdg.cond_barrier %early
tt.return"""
    return module(text, warps=8, target="hip:gfx950", shared=8192)


READ = "%v = ttg.local_load %m : <TILE> -> <TENSOR>"
WRITE = "ttg.local_store %x, %m : <TENSOR> -> <TILE>"
BARE, FENCED = "rocdl.s.barrier", "ttg.barrier local"


def of_loop(text: str) -> list[str]:
    """What stands in the loop that touches or orders memory."""
    lines = [line.strip() for line in text.splitlines()]
    inside = lines[next(n for n, line in enumerate(lines) if line.startswith("scf.for")) + 1 :]
    known = {READ: "read", WRITE: "write", BARE: "bare", FENCED: "barrier"}
    spelled = {line.partition(" : ")[0]: name for line, name in known.items()}
    return [spelled[line.partition(" : ")[0]] for line in inside if line.partition(" : ")[0] in spelled]


def clean(text: str) -> None:
    report = check(translated(text).trace)
    assert report.ok and report.explored.complete


def test_two_barriers_go_between_the_halves() -> None:
    text, _ = inserted(ping_pong(READ, WRITE))
    assert sorted(of_loop(text)) == ["barrier"] * 4 + ["read", "write"]
    clean(text)


def test_a_bare_barrier_gets_its_fence_by_becoming_another() -> None:
    """Behind the accesses a fence is needed, at the second of two barriers it is not: that one stays bare."""
    text = ping_pong(READ, BARE, BARE, WRITE, BARE, BARE)
    assert not check(translated(text).trace).ok
    after, executed = inserted(text)
    assert of_loop(after) == ["read", "barrier", "bare", "write", "barrier", "bare"]
    assert not executed
    clean(after)


def test_what_is_right_stays() -> None:
    text = ping_pong(READ, FENCED, BARE, WRITE, FENCED, BARE)
    assert inserted(text) == (text, 0)
    clean(text)


CONVERT = (
    "%w = ttg.convert_layout %x {allocation.offset = 8192 : i32, allocation.size = 8192 : i32} "
    ": <TENSOR> -> tensor<64x64xf16, #t>"
)


def test_a_layout_conversion_in_the_loop_is_refused() -> None:
    """Its own barrier meets another one of the late waves; barriers around it help nobody."""
    text = ping_pong(CONVERT).replace("ttg.shared = 8192", "ttg.shared = 16384")
    (race,) = [race for race in check(translated(text).trace).races if not race.rounds]
    assert race.fix is not None
    assert race.fix.what.startswith("no barrier can")
    with pytest.raises(FencepostError, match="no barrier can order the parts of this operation") as error:
        inserted(text)
    assert error.value.code == "FP205"


def test_an_audit_of_waves_that_lose_step_reports_the_hang() -> None:
    """As Triton 3.7 compiles a warp pipeline: the early waves do not wait for the late ones in the end."""
    text = ping_pong(READ, FENCED, BARE, WRITE, FENCED, BARE).replace("amdg.cond_barrier %early", "")
    found = audit(tree_of(text))
    assert {each.code for each in found.races} == {"FP002"}
    told = str(found)
    assert "redundant barriers were not looked for: " in told
    assert "waves 4 to 7 meet 1 barrier more than waves 0 to 3" in told
    line = line_of(text, "amdg.cond_barrier")
    assert (
        f"the workgroup barrier on line {line} belongs outside its conditional, where all waves run it"
        in told
    )
