"""Small kernels and the verdict on each."""

from __future__ import annotations

import time

import pytest

from fencepost.hosts.ptx import KernelVerdict, PtxError, check
from fencepost.hosts.ptx.checking import check_text
from fencepost.hosts.ptx.launches.launch import Given
from tests.hosts.ptx.kernels import COPY, NEIGHBOUR, REDUCTION, kernel


def verdict(body: str, block: int | None = 256) -> KernelVerdict:
    (found,) = check(kernel(body), block=block)
    return found


def test_a_barrier_between_store_and_load_is_enough() -> None:
    found = verdict(NEIGHBOUR.format(barrier="bar.sync 0;"))
    assert (found.verdict, found.findings, found.barriers, found.shared_accesses) == ("proven", (), 1, 2)
    assert found.holds_for == "blocks of 256 threads; every value of the parameters"


def test_without_a_barrier_two_threads_of_two_warps_race() -> None:
    found = verdict(NEIGHBOUR.format(barrier=""))
    assert found.verdict == "race"
    race = found.findings[0]
    assert (race.code, race.severity) == ("FP001", "error")
    assert race.first.instruction.startswith("st.shared")
    assert race.second.instruction.startswith("ld.shared")
    (first, _, _), (second, _, _) = race.threads
    assert first ^ second == 64
    assert "__syncthreads" in race.fix


def test_threads_of_one_warp_race_too() -> None:
    found = verdict(NEIGHBOUR.format(barrier="").replace("256;", "4;"))
    assert found.verdict == "race"
    assert found.findings[0].message.endswith("(both threads are in one warp)")
    assert "__syncwarp()" in found.findings[0].fix


def test_threads_of_one_warp_do_not_race_if_they_run_in_step() -> None:
    (found,) = check(
        kernel(NEIGHBOUR.format(barrier="").replace("256;", "4;")), block=256, warp_synchronous=True
    )
    assert (found.verdict, found.findings) == ("proven", ())
    assert found.holds_for.endswith("; if the threads of a warp run in step")


def test_two_warps_race_even_if_the_threads_of_each_run_in_step() -> None:
    (found,) = check(kernel(NEIGHBOUR.format(barrier="")), block=256, warp_synchronous=True)
    assert found.verdict == "race"
    assert "__syncthreads()" in found.findings[0].fix


def test_a_warp_barrier_orders_a_warp() -> None:
    found = verdict(NEIGHBOUR.format(barrier="bar.warp.sync -1;").replace("256;", "4;"))
    assert (found.verdict, found.findings) == ("proven", ())


def test_a_warp_barrier_does_not_order_two_warps() -> None:
    assert verdict(NEIGHBOUR.format(barrier="bar.warp.sync -1;")).verdict == "race"


def test_a_reduction_is_proven_for_every_block() -> None:
    found = verdict(REDUCTION.format(barrier="bar.sync 0;"), None)
    assert found.verdict == "proven"
    assert found.holds_for.startswith("every one-dimensional block of up to 1024 threads")


def test_a_reduction_without_its_barrier_races() -> None:
    assert verdict(REDUCTION.format(barrier="")).verdict == "race"


def test_a_copy_is_waited_for_before_the_barrier() -> None:
    assert verdict(COPY.format(wait="cp.async.wait_group 0;")).verdict == "proven"


@pytest.mark.parametrize("wait", ["", "cp.async.wait_group 1;"])
def test_a_copy_that_is_in_flight_at_the_barrier_races(wait: str) -> None:
    found = verdict(COPY.format(wait=wait))
    assert found.verdict == "race"
    assert found.findings[0].first.instruction.startswith("cp.async")


def test_many_threads_may_store_the_same_constant() -> None:
    assert verdict("mov.u32 %r9, 7;\n st.shared.u32 [s], %r9;").verdict == "proven"
    assert verdict("st.shared.u32 [s], %r1;").verdict == "race"


@pytest.mark.parametrize("access", ["st.shared.u32 [s], 0;", "ld.shared.u32 %r11, [s];"])
def test_an_atomic_races_with_plain_accesses(access: str) -> None:
    assert verdict(f"atom.shared.add.u32 %r10, [s], 1; {access}").verdict == "race"


@pytest.mark.parametrize("strength", ["volatile", "relaxed.cta", "acquire.gpu"])
def test_a_load_that_polls_what_atomics_change_is_a_warning(strength: str) -> None:
    found = verdict(f"atom.shared.add.u32 %r10, [s], 1; ld.{strength}.shared.u32 %r11, [s];")
    assert found.verdict == "proven"
    assert {each.severity for each in found.findings} == {"warning"}


def test_atomics_do_not_race_with_each_other() -> None:
    assert verdict("atom.shared.add.u32 %r9, [s], 1;").verdict == "proven"


def test_a_barrier_in_a_condition_is_missed_by_some() -> None:
    body = """
    setp.gt.u32 %p1, %r1, 100;
    @%p1 bra $past;
    bar.sync 0;
$past:
    st.shared.u32 [%r5], %r1;
    bar.sync 0;"""
    found = verdict(body)
    assert found.verdict == "race"
    assert found.findings[0].code == "FP002"


def test_threads_that_leave_early_miss_no_barrier() -> None:
    body = """
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 ret;
    st.shared.u32 [%r5], %r1;
    bar.sync 0;
    ld.shared.u32 %r8, [s];"""
    assert verdict(body).verdict == "proven"


def test_what_is_not_judged_is_named() -> None:
    found = verdict("multimem.red.add.u32 [%rd1], %r1;")
    assert found.verdict == "undecided"
    assert "`multimem` is not judged" in str(found.reasons[0])


def test_an_unknown_instruction_is_named() -> None:
    found = verdict("frobnicate.u32 %r9, [s];")
    assert found.verdict == "undecided"
    assert "`frobnicate`" in str(found.reasons[0])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "this is not PTX"),
        ("int main() { return 0; }", "line 1"),
        (".version 8.0\n.target sm_80\n.address_size 64", "there is no kernel"),
        (kernel("")[:-10], "is not closed"),
    ],
)
def test_what_is_not_ptx_is_refused(text: str, said: str) -> None:
    with pytest.raises(PtxError, match=said):
        check(text, file="x.ptx")


def test_kernels_and_launches_that_cannot_be_are_refused() -> None:
    with pytest.raises(PtxError, match="no kernel `other`; there is k"):
        check(kernel(""), kernel="other")
    with pytest.raises(PtxError, match="1 to 1024 threads"):
        check(kernel(""), block=(64, 64, 1))
    with pytest.raises(PtxError, match="no kernel has a parameter `m`"):
        check(kernel(""), params={"m": 1})


def test_a_shuffle_of_what_all_threads_have_changes_nothing() -> None:
    """CuTe DSL passes the address of shared memory through lane 0."""
    passed = "shfl.sync.idx.b32 %r4, %r4, 0, 31, -1; add.s32 %r5, %r4, %r3;"
    assert verdict(passed + NEIGHBOUR.format(barrier="bar.sync 0;")).verdict == "proven"
    assert verdict(passed + NEIGHBOUR.format(barrier="")).verdict == "race"


def test_a_shuffle_of_what_differs_is_not_followed() -> None:
    found = verdict("shfl.sync.idx.b32 %r5, %r5, 0, 31, -1;" + NEIGHBOUR.format(barrier="bar.sync 0;"))
    assert found.verdict != "proven"


OUT_OF_STEP = """
    mov.u32 %r10, 0;
$outer:
    and.b32 %r11, %r1, {odd};
    add.s32 %r11, %r11, %r10;
$inner:
    setp.eq.u32 %p1, %r11, 0;
    @%p1 bra $next;
    bar.sync 0;
    sub.s32 %r11, %r11, 1;
    bra $inner;
$next:
    add.s32 %r10, %r10, 1;
    setp.lt.u32 %p2, %r10, %r2;
    @%p2 bra $outer;
    st.shared.u32 [%r5], %r1;
"""
"""for (i = 0; i < n; i++) for (j = i + (tid & odd); j > 0; j--) __syncthreads();"""


def test_threads_in_different_iterations_do_not_meet_at_a_barrier() -> None:
    # All wait at the same instruction, but odd threads in an earlier iteration of the outer loop.
    found = verdict(OUT_OF_STEP.format(odd=1))
    assert (found.verdict, {each.code for each in found.findings}) == ("race", {"FP002"})
    assert verdict(OUT_OF_STEP.format(odd=0)).verdict == "proven"


LONG = """
    st.shared.u32 [%r5], %r1;
    bar.sync 0;
    mov.u32 %r10, 0;
$loop:
    and.b32 %r11, %r10, 1020;
    add.s32 %r12, %r4, %r11;
    ld.shared.u32 %r13, [%r12];
    add.s32 %r14, %r14, %r13;
    add.s32 %r10, %r10, 4;
    setp.lt.u32 %p1, %r10, 4194304;
    @%p1 bra $loop;
    {barrier}
    st.shared.u32 [%r5], %r14;
"""
"""A million loads of shared memory before the next store: no run gets there in time."""


def test_runs_that_take_too_long_leave_a_kernel_undecided_and_say_so() -> None:
    begin = time.process_time()
    (found,) = check_text(kernel(LONG.format(barrier="")), Given((256, 1, 1)), "k", "k.ptx", seconds=1.0)
    assert found.verdict == "undecided"
    assert "but no run has shown it in time" in str(found.reasons[0])
    assert time.process_time() - begin < 6


def test_a_proof_needs_no_run_to_come_to_an_end() -> None:
    text = kernel(LONG.format(barrier="bar.sync 0;"))
    (found,) = check_text(text, Given((256, 1, 1)), "k", "k.ptx", seconds=1.0)
    assert found.verdict == "proven"
