"""Assembly as functions of blocks: labels, branches, places, and blocks that lanes may not need."""

from __future__ import annotations

import pytest

from fencepost.hosts.amdgcn.reader import read_assembly
from fencepost.ir.source import FencepostError
from tests.hosts.amdgcn.texts import FIRST, file_of, kernel_of


def test_a_loop_has_an_edge_back() -> None:
    function = kernel_of("""
        s_mov_b32 s0, 0
        .LBB0_1:
        s_add_i32 s0, s0, 1
        s_cbranch_scc1 .LBB0_1
        s_nop 0
    """)
    assert function.target == "gfx942"
    assert [block.successors for block in function.blocks] == [[1], [2, 1], []]


def test_instructions_know_their_line_and_the_operation_that_they_were_made_from() -> None:
    function = kernel_of("""
        @ 12
        ds_read_b32 v0, v1 ; a comment
        @ 13
        s_barrier
    """)
    read, barrier, _ = function.instructions()
    assert (read.mnemonic, read.operands, read.place.column) == ("ds_read_b32", "v0, v1", 12)
    assert (barrier.line, barrier.place.column) == (FIRST + 3, 13)


def test_line_0_is_no_place() -> None:
    # LLVM keeps the column of the line before, to make the table shorter.
    text = file_of("@ 12\ns_nop 0\nds_read_b32 v0, v1").replace("\tds_read", "\t.loc\t1 0 12\n\tds_read")
    (function,) = read_assembly(text)
    assert [each.place.column for each in function.instructions()][:2] == [12, 0]


def test_nothing_goes_on_behind_an_unconditional_branch() -> None:
    function = kernel_of("s_branch .LBB0_2\n.LBB0_1:\ns_nop 1\n.LBB0_2:\ns_nop 2")
    assert [block.successors for block in function.blocks] == [[2], [2], []]


def test_a_block_for_some_lanes_may_be_skipped_although_its_branch_is_gone() -> None:
    function = kernel_of("""
        s_and_saveexec_b64 s[0:1], vcc
        ; %bb.1:
        ds_write_b32 v0, v1
        ; %bb.2:
        s_or_b64 exec, exec, s[0:1]
    """)
    assert function.blocks[0].successors == [1, 2]


def test_a_block_with_a_barrier_is_never_skipped() -> None:
    function = kernel_of("s_and_saveexec_b64 s[0:1], vcc\n; %bb.1:\ns_barrier\n; %bb.2:\ns_nop 0")
    assert function.blocks[0].successors == [1]


@pytest.mark.parametrize("text", ["", "hello", "\t.text\n\ts_nop 0\n", "\x00\x01"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(FencepostError, match="not the assembly of an AMD kernel") as error:
        read_assembly(text)
    assert error.value.code == "FP440"


def test_a_branch_to_nowhere_is_refused_with_its_line() -> None:
    with pytest.raises(FencepostError, match=r"no label \.LBB0_9") as error:
        kernel_of("s_nop 0\ns_branch .LBB0_9")
    assert error.value.marks[0].span is not None
    assert error.value.marks[0].span.line == FIRST + 1


def test_several_functions_are_told_apart() -> None:
    other = file_of("s_nop 0").replace("kernel", "helper").replace("\t.amdhsa_helper helper\n", "")
    found = read_assembly(file_of("s_barrier") + other)
    assert [(each.name, each.is_kernel) for each in found] == [("kernel", True), ("helper", False)]
