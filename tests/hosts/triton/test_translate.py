"""What a function of a Triton module becomes: allocations, plain accesses, and what is not known."""

from __future__ import annotations

import pytest

from fencepost.ir.source import FencepostError
from tests.hosts.triton.modules import (
    ALLOC,
    BYTES,
    lines,
    module,
    races,
    translated,
)

IMMUTABLE = "!ttg.memdesc<64x64xf16, #s, #smem>"


def test_an_allocation_is_no_access() -> None:
    assert lines(f"{ALLOC}\ntt.return", shared=BYTES) == []


def test_an_allocation_that_is_given_a_tensor_is_a_write() -> None:
    body = f"""
%m = ttg.local_alloc %x {{allocation.offset = 0 : i32}} : (<TENSOR>) -> {IMMUTABLE}
%y = ttg.local_load %m : {IMMUTABLE} -> <TENSOR>
tt.return
"""
    assert lines(body, shared=BYTES) == ["write %m0", "read %m0"]
    assert races(body, shared=BYTES) == 1


def test_loads_and_stores_are_reads_and_writes() -> None:
    body = f"""
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
ttg.barrier local
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    assert lines(body, shared=BYTES) == ["write %m0", "barrier", "read %m0"]
    assert races(body, shared=BYTES) == 0


def test_the_kernel_has_the_waves_and_the_bytes_of_the_module() -> None:
    text = str(translated(module(f"{ALLOC}\ntt.return", warps=8, shared=BYTES)).trace)
    assert "kernel @kernel waves=8 {" in text
    assert "shared %m0 : 8192 at 0" in text


def test_before_memory_is_given_out_no_two_allocations_meet() -> None:
    body = """
%m = ttg.local_alloc : () -> <TILE>
%o = ttg.local_alloc : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%y = ttg.local_load %o : <TILE> -> <TENSOR>
tt.return
"""
    assert races(body) == 0


def test_allocations_at_one_offset_share_their_bytes() -> None:
    body = f"""
{ALLOC}
%y = ttg.local_load %m : <TILE> -> <TENSOR>
%o = ttg.local_alloc {{allocation.offset = 4096 : i32}} : () -> <TILE>
ttg.local_store %x, %o : <TENSOR> -> <TILE>
tt.return
"""
    assert races(body, shared=2 * BYTES) == 1
    apart = body.replace("4096", "8192")
    assert races(apart, shared=2 * BYTES) == 0


def test_a_single_wave_meets_nobody_if_its_threads_run_together() -> None:
    """On NVIDIA's GPUs they may run apart: there, a warp is as good as two."""
    body = f"""
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    assert races(body, shared=BYTES, warps=1, target="hip:gfx1201") == 0
    assert races(body, shared=BYTES, warps=2, target="hip:gfx1201") == 1
    assert races(body, shared=BYTES, warps=1, target="cuda:80") == 1


def test_a_function_that_has_an_operation_without_a_word_about_it_is_not_judged_and_the_operation_is_named() -> (
    None
):
    body = """
%m = ttg.local_alloc : () -> <TILE>
%o = ttg.local_alloc : () -> <TILE>
%v = builtin.unrealized_conversion_cast %m : <TILE> to i32
tt.return
"""
    translation = translated(module(body))
    assert [op.name for op in translation.beyond] == ["builtin.unrealized_conversion_cast"]


@pytest.mark.parametrize(
    ("spaces", "kept"), [("local", True), ("all", True), ("global_read|global_write", False)]
)
def test_only_barriers_for_shared_memory_order_it(spaces: str, kept: bool) -> None:
    assert lines(f"ttg.barrier {spaces}\ntt.return") == (["barrier"] if kept else [])


def test_an_operation_knows_its_lines() -> None:
    text = module(f'{ALLOC}\nttg.local_store %x, %m : <TENSOR> -> <TILE> loc("user.py":12:3)\ntt.return')
    (write,) = [op for op in translated(text).trace.preorder_walk() if op.mnemonic == "write"]
    assert write.origin == "user.py:12"
    assert write.span is not None
    assert text.split("\n")[write.span.line - 1].strip().startswith("ttg.local_store %x, %m")


def test_a_kernel_of_too_many_waves_is_refused() -> None:
    with pytest.raises(FencepostError, match="128 warps; a workgroup has at most 64"):
        translated(module("tt.return", warps=128))


FENCED = """
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
llvm.fence syncscope("workgroup") release
<MEETS>
llvm.fence syncscope("workgroup") acquire
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""


@pytest.mark.parametrize(("meets", "found"), [("", 1), ("rocdl.s.barrier", 1), ("ttg.barrier local", 0)])
def test_a_fence_of_the_compiler_s_brings_no_waves_together(meets: str, found: int) -> None:
    """Ping-pong schedules of gfx950 have them around their unfenced barriers: those stay unfenced here."""
    body = FENCED.replace("<MEETS>", meets)
    assert translated(module(body, target="hip:gfx950")).not_judged == []
    assert races(body, target="hip:gfx950", shared=BYTES) == found
