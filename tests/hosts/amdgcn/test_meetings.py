"""Which accesses no rendezvous keeps apart, and how rendezvous follow each other."""

from __future__ import annotations

from fencepost.hosts.amdgcn.meetings import Meetings, meetings
from fencepost.hosts.amdgcn.steps import END, READ, START, WRITE, Access
from tests.hosts.amdgcn.texts import FIRST, program_of

W, R = Access(1, WRITE), Access(2, READ)
STORE, LOAD = "@ 1\nds_write_b32 v0, v1", "@ 2\nds_read_b32 v2, v3"


def followed(body: str, target: str = "gfx942") -> Meetings:
    return meetings(program_of(body, target))


def test_a_barrier_keeps_accesses_apart() -> None:
    assert (W, R) in followed(f"{STORE}\n{LOAD}").together
    assert (W, R) not in followed(f"{STORE}\n@ 3\ns_barrier\n{LOAD}").together


def test_accesses_meet_across_iterations() -> None:
    found = followed(f".LBB0_1:\n{STORE}\n@ 3\ns_barrier\n{LOAD}\ns_cbranch_scc1 .LBB0_1")
    assert (R, W) in found.together
    assert (R, W) not in found.forward
    assert found.follows.keys() == {(START, 3), (3, 3), (3, END)}


def test_a_barrier_on_one_path_is_not_enough() -> None:
    assert (W, R) in followed(f"{STORE}\ns_cbranch_scc1 .LBB0_1\n@ 3\ns_barrier\n.LBB0_1:\n{LOAD}").together


SPLIT = "@ 3\ns_barrier_signal -1\n{}\n@ 3\ns_barrier_wait -1"


def test_between_signal_and_wait_nothing_is_ordered() -> None:
    assert not followed(f"{STORE}\n{SPLIT.format('')}\n{LOAD}", "gfx1201").together
    assert (W, R) in followed(f"{STORE}\n{SPLIT.format(LOAD)}", "gfx1201").together
    assert (W, R) in followed(f"{SPLIT.format(STORE)}\n{LOAD}", "gfx1201").together


def test_signals_and_waits_take_turns() -> None:
    assert not followed(SPLIT.format("s_nop 0"), "gfx1201").unpaired
    assert followed("s_barrier_wait -1", "gfx1201").unpaired == {FIRST: "a wait without a signal"}
    assert list(followed("s_barrier_signal -1", "gfx1201").unpaired.values()) == ["a signal without a wait"]
    twice = followed("s_barrier_signal -1\ns_barrier_signal -1\ns_barrier_wait -1", "gfx1201").unpaired
    assert twice == {FIRST + 1: "a second signal before the wait for the first"}


SIDES = """
    s_and_saveexec_b64 s[0:1], vcc
    s_xor_b64 s[0:1], exec, s[0:1]
    s_cbranch_execz .LBB0_2
    @ 1
    ds_write_b32 v0, v1
    {}
    .LBB0_2:
    s_andn2_saveexec_b64 s[0:1], s[0:1]
    s_cbranch_execz .LBB0_4
    @ 2
    ds_read_b32 v2, v3
    .LBB0_4:
    s_or_b64 exec, exec, s[0:1]
"""


def test_lanes_of_a_wave_can_take_both_sides() -> None:
    assert (W, R) in followed(SIDES.format("s_nop 0")).together


def test_of_two_sides_with_a_barrier_a_wave_takes_one() -> None:
    found = followed(SIDES.format("@ 3\ns_barrier"))
    assert (W, R) not in found.together
    assert found.follows.keys() == {(START, 3), (3, END), (START, END)}


def test_two_iterations_in_one_stretch_are_noticed() -> None:
    # A loop that was unrolled twice, with the rest behind it: each iteration begins with a barrier.
    iteration = f"@ 3\ns_barrier\n{STORE}\n{LOAD}"
    loop = ".LBB0_1:\n{}\n{}\ns_cbranch_scc1 .LBB0_1\n{}"
    assert not followed(loop.format(iteration, iteration, iteration)).has_two_instances(W, R)
    assert followed(loop.format(iteration, f"{STORE}\n{LOAD}", iteration)).has_two_instances(W, R)
