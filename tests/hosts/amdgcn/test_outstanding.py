"""What may be outstanding: counts in order, on every path, across iterations, and registers used too early."""

from __future__ import annotations

import pytest

from fencepost.hosts.amdgcn.instructions import steps_of
from fencepost.hosts.amdgcn.outstanding import Outstanding, outstanding
from fencepost.hosts.amdgcn.registers import named
from fencepost.hosts.amdgcn.steps import END, WRITE, Access
from tests.hosts.amdgcn.texts import FIRST, kernel_of, program_of


def followed(body: str, target: str = "gfx942") -> Outstanding:
    return outstanding(program_of(body, target))


def uses(found: Outstanding) -> list[tuple[int, str]]:
    """The lines of the body that use a register too early, and which."""
    return [(use.line - FIRST + 1, named(use.registers)) for use in found.early_uses]


def test_a_result_is_not_used_before_the_wait() -> None:
    assert uses(followed("ds_read_b32 v0, v1\nv_add_u32 v2, v0, v3")) == [(2, "v0")]
    assert not uses(followed("ds_read_b32 v0, v1\ns_waitcnt lgkmcnt(0)\nv_add_u32 v2, v0, v3"))


def test_a_wait_leaves_the_last_ones_outstanding() -> None:
    body = "ds_read_b32 v0, v9\nds_read_b32 v1, v9\ns_waitcnt lgkmcnt({})\nv_mov_b32 v2, v0\nv_mov_b32 v3, v1"
    assert uses(followed(body.format(1))) == [(5, "v1")]
    assert uses(followed(body.format(2))) == [(4, "v0"), (5, "v1")]
    assert not uses(followed(body.format(0)))


def test_another_counter_does_not_help() -> None:
    assert uses(followed("ds_read_b32 v0, v1\ns_waitcnt vmcnt(0)\nv_mov_b32 v2, v0"))
    assert uses(followed("ds_load_b32 v0, v1\ns_wait_loadcnt 0x0\nv_mov_b32 v2, v0", "gfx1201"))


def test_scalar_loads_complete_in_any_order() -> None:
    body = "s_load_dword s0, s[8:9], 0x0\nds_read_b32 v0, v1\ns_waitcnt lgkmcnt({})\ns_add_i32 s1, s0, 1"
    assert uses(followed(body.format(1))) == [(4, "s0")]
    assert not uses(followed(body.format(0)))


def test_of_shared_memory_the_order_holds_whatever_scalar_loads_do() -> None:
    reads = "ds_read_b32 v0, v9\nds_read_b32 v1, v9\ns_load_dword s0, s[8:9], 0x0"
    assert not uses(followed(f"{reads}\ns_waitcnt lgkmcnt(1)\nv_mov_b32 v2, v0"))


def test_the_path_with_the_fewest_operations_decides() -> None:
    body = """
        ds_read_b32 v0, v9
        s_cbranch_scc1 .LBB0_2
        ds_read_b32 v1, v9
        .LBB0_2:
        s_waitcnt lgkmcnt(1)
        v_mov_b32 v2, v0
    """
    assert uses(followed(body)) == [(6, "v0")]


def test_what_lanes_may_skip_is_not_counted() -> None:
    body = """
        ds_read_b32 v0, v9
        s_and_saveexec_b64 s[0:1], vcc
        ; %bb.1:
        ds_write_b32 v8, v7
        ; %bb.2:
        s_or_b64 exec, exec, s[0:1]
        s_waitcnt lgkmcnt(1)
        v_mov_b32 v2, v0
    """
    assert uses(followed(body)) == [(8, "v0")]


def test_loads_of_one_order_may_write_the_same_register() -> None:
    assert not uses(followed("ds_read_b32 v0, v1\nds_read_b32 v0, v2"))
    assert uses(followed("ds_read_b32 v0, v1\nglobal_load_dword v0, v[2:3], off")) == [(2, "v0")]


def test_writes_may_be_outstanding_at_a_barrier_without_a_wait() -> None:
    write = "@ 3\nds_write_b32 v0, v1\n"
    at_barrier = followed(f"{write}@ 4\ns_barrier").meetings[4]
    assert at_barrier.accesses == {Access(3, WRITE): FIRST + 1}
    assert not followed(f"{write}s_waitcnt lgkmcnt(0)\n@ 4\ns_barrier").meetings[4].accesses


RING = """
    @ 5
    .LBB0_1:
    global_load_lds_dwordx4 v[0:1], off
    global_load_lds_dwordx4 v[2:3], off
    s_waitcnt vmcnt({})
    @ 6
    s_barrier
    s_cbranch_scc1 .LBB0_1
"""


@pytest.mark.parametrize(("left", "instances"), [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_copies_of_earlier_iterations_are_told_apart(left: int, instances: int) -> None:
    assert followed(RING.format(left)).meetings[6].copies == ({5: instances} if instances else {})


def test_an_unrolled_loop_has_no_more_copies_in_flight() -> None:
    copy = "@ 5\nglobal_load_lds_dwordx4 v[0:1], off\ns_waitcnt vmcnt(1)\n@ 6\ns_barrier\n"
    body = f".LBB0_1:\n{copy}{copy}s_cbranch_scc1 .LBB0_1\n{copy}"
    assert followed(body).meetings[6].copies == {5: 1}


def test_copies_are_known_at_the_end() -> None:
    assert followed("@ 5\ntensor_store_from_lds s[0:3], s[4:11]", "gfx1250").meetings[END].copies == {5: 1}


def called(body: str) -> Outstanding:
    """The same for a function that somebody calls."""
    function = kernel_of(body)
    function.is_kernel = False
    return outstanding(steps_of(function))


def test_a_function_that_is_called_begins_by_waiting_and_returns_with_nothing_outstanding() -> None:
    body = "s_waitcnt {}\nds_read_b32 v0, v1\ns_waitcnt {}\ns_setpc_b64 s[30:31]"
    right = called(body.format("vmcnt(0) lgkmcnt(0)", "lgkmcnt(0)"))
    assert not right.early_uses
    assert not right.returned
    # The caller may have something outstanding that goes to v1.
    assert uses(called(body.format("lgkmcnt(0)", "lgkmcnt(0)")))[0][0] == 2
    assert called(body.format("vmcnt(0) lgkmcnt(0)", "lgkmcnt(1)")).returned == [(FIRST + 3, FIRST + 1)]
