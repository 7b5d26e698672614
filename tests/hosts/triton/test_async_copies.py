"""Copies that are in flight while waves go on, and the waits for them: by group, by instruction, by AMD's engine."""

from __future__ import annotations

from tests.hosts.triton.modules import (
    ALLOC,
    BYTES,
    NUMBERS,
    lines,
    races,
)

COPY = """
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
%g = ttg.async_commit_group tokens %a
"""


def test_copies_in_groups_and_a_counted_wait() -> None:
    body = f"""
{ALLOC}
{COPY}
%t = ttg.async_commit_group
%w = ttg.async_wait %g {{num = 1 : i32}}
ttg.barrier local
%y = ttg.local_load %m token %w : <TILE> -> <TENSOR>
tt.return
"""
    assert lines(body, shared=BYTES) == [
        "gather_to_lds %m0 counter=copy",
        "commit copy",
        "commit copy",
        "wait_count copy=1",
        "barrier",
        "read %m0",
    ]
    assert races(body, shared=BYTES) == 0
    assert races(body.replace("num = 1", "num = 2"), shared=BYTES) == 1
    assert races(body.replace("ttg.barrier local\n", ""), shared=BYTES) == 1


def test_a_wait_that_counts_instructions() -> None:
    """8 KiB by 128 lanes, 16 bytes each at most: a copy is four instructions or more, and the last one counts."""
    body = f"""
{ALLOC}
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
%g = ttg.async_commit_group tokens %a
%w = amdg.async_wait {{num_inst = 3 : i32}}
tt.return
"""
    assert lines(body, target="hip:gfx1250", shared=BYTES) == [
        *(["global_read counter=copy"] * 3),
        "gather_to_lds %m0 counter=copy",
        "wait_count copy=3",
    ]


def test_groups_do_not_count_where_instructions_do() -> None:
    """A wait for groups among waits for instructions is taken to wait for nothing, unless it waits for everything."""
    body = f"""
{ALLOC}
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
%w = amdg.async_wait {{num_inst = 0 : i32}}
%v = ttg.async_wait {{num = 1 : i32}}
%u = ttg.async_wait {{num = 0 : i32}}
tt.return
"""
    assert lines(body, target="hip:gfx1250", shared=BYTES)[-2:] == ["wait_count copy=0", "wait_count copy=0"]
    assert "wait_count copy=1" not in lines(body, target="hip:gfx1250", shared=BYTES)


def test_a_copy_into_nobody_knows_which_memory_is_one_copy() -> None:
    body = """
%m = ttg.local_alloc : () -> <TILE>
%o = ttg.local_alloc : () -> <TILE>
%v = scf.if %c -> (<TILE>) {
  scf.yield %m : <TILE>
} else {
  scf.yield %o : <TILE>
}
%a = ttg.async_copy_global_to_local %p, %v : <POINTERS> -> <TILE>
%g = ttg.async_commit_group tokens %a
%w = ttg.async_wait %g {num = 0 : i32}
tt.return
"""
    assert lines(body) == [
        "tensor_load_to_lds %m0, %m1 counter=copy",
        "commit copy",
        "wait_count copy=0",
    ]


DESCRIPTOR = "%d: !tt.tensordesc<64x64xf16, #s>"


def test_the_tensor_engine_of_amd() -> None:
    body = f"""
{NUMBERS}
{ALLOC}
%a = amdg.async_tdm_copy_global_to_local %d into %m : !tt.tensordesc<64x64xf16, #s> -> <TILE>
%w = amdg.async_tdm_wait {{num = 0 : i32}}
ttg.barrier local
amdg.async_tdm_copy_local_to_global %d from %m : <TILE> -> !tt.tensordesc<64x64xf16, #s>
%v = amdg.async_tdm_intrinsic_wait {{count = 1 : i32}}
tt.return
"""
    assert lines(body, target="hip:gfx1250", shared=BYTES, arguments=DESCRIPTOR) == [
        "gather_to_lds %m4 counter=tensor",
        "wait_count tensor=0",
        "barrier",
        "tensor_store_from_lds %m4",
        "wait_count tensor=1",
    ]
