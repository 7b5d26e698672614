"""Kernels whose synchronization only a run follows: proven as they are, and not with any of it taken out."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.expressions.lanes import Lane, compute
from fencepost.hosts.ptx.reading.arithmetic import signed
from tests.hosts.ptx import exact_kernels as kernels

KERNELS = {
    "hand over": (kernels.HAND_OVER, 64),
    "ring": (kernels.RING, 64),
    "store": (kernels.STORE, 32),
    "product": (kernels.PRODUCT, 128),
    "copies": (kernels.COPIES, 64),
}
SYNCHRONIZES = re.compile(
    r"\s*(bar\.|mbarrier\.(?!try_wait|test_wait)|fence\.proxy|cp\.async\.mbarrier|wgmma\.wait|cp\.async\.bulk\.wait)"
)
WAIT = re.compile(r"mbarrier\.t\w+\.parity\.shared\.b64 (%p\d+), .*;")


def verdict(body: str, threads: int) -> KernelVerdict:
    (found,) = check(kernels.kernel(body, threads))
    return found


def mutants() -> list[tuple[str, int, str]]:
    """Every kernel with one synchronization instruction taken out, or one wait that is over at once."""
    found = []
    for name, (body, _) in KERNELS.items():
        lines = body.split("\n")
        for number, line in enumerate(lines):
            if SYNCHRONIZES.match(line):
                found.append((name, number, ""))
            elif match := WAIT.search(line):
                found.append((name, number, f"    setp.eq.u32 {match[1]}, 0, 0;"))
    return found


@pytest.mark.parametrize("name", KERNELS)
def test_a_right_kernel_is_proven(name: str) -> None:
    found = verdict(*KERNELS[name])
    assert (found.verdict, found.findings) == ("proven", ()), (found.findings, found.reasons)


@pytest.mark.parametrize(("name", "number", "instead"), mutants())
def test_without_one_of_its_synchronization_instructions_it_is_not(
    name: str, number: int, instead: str
) -> None:
    body, threads = KERNELS[name]
    lines = body.split("\n")
    lines[number] = instead
    found = verdict("\n".join(lines), threads)
    assert found.verdict == "race" or found.findings, lines[number]


def test_a_verdict_names_the_parameters_that_it_was_run_with() -> None:
    assert verdict(*KERNELS["ring"]).holds_for == (
        "blocks of 64 threads; run with k_param_1 = 24, and for other ways with k_param_1 = 29; "
        "loops of up to 29 iterations; every value of the other parameters"
    )
    (found,) = check(kernels.kernel(kernels.RING), params={"k_param_1": 7})
    assert found.verdict == "proven" and "run with k_param_1 = 7;" in found.holds_for


def test_where_nothing_depends_on_parameters_every_value_is_meant() -> None:
    assert verdict(*KERNELS["copies"]).holds_for == "blocks of 64 threads; every value of the parameters"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("[%r14], 128;", "[%r14], 64;"), "FP002"),
        (("[%r7], 32;", "[%r7], 33;"), "FP002"),
        (("[%r7], 32;", "[%r7], 16;"), "FP006"),
        (("[%r14], %r12;", "[%r14], 0;"), "FP006"),
        (("and.b32 %r11, %r10, 1;", "mov.u32 %r11, 0;"), "FP006"),
    ],
)
def test_a_ring_that_is_out_of_step_is_found(change: tuple[str, str], code: str) -> None:
    body = kernels.RING.replace(*change, 1)
    assert body != kernels.RING
    assert code in {each.code for each in verdict(body, 64).findings}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("bar.sync 1, 64;", "bar.sync 1, 96;"), "FP003"),
        (("bar.sync 1, 64;", "bar.sync 3, 64;"), "FP002"),
        (("bar.sync 2, 64;", "bar.sync 2, 32;"), "FP003"),
    ],
)
def test_numbered_barriers_with_a_wrong_number_or_count(change: tuple[str, str], code: str) -> None:
    found = verdict(kernels.HAND_OVER.replace(*change), 64)
    assert found.verdict == "race" and code in {each.code for each in found.findings}


def test_a_missing_proxy_fence_has_a_code_of_its_own() -> None:
    found = verdict(kernels.STORE.replace("fence.proxy.async.shared::cta;", ""), 32)
    assert {(each.code, each.severity) for each in found.findings} == {("FP008", "error")}


def test_one_fence_of_the_issuing_thread_is_enough() -> None:
    body = kernels.STORE.replace("    fence.proxy.async.shared::cta;\n", "")
    body = body.replace("bra $copied;", "bra $copied;\n    fence.proxy.async.shared::cta;")
    assert verdict(body, 32).verdict == "proven"


def test_a_fence_behind_the_barrier_in_other_threads_is_not() -> None:
    body = kernels.STORE.replace("    fence.proxy.async.shared::cta;\n", "")
    body = body.replace(
        "@!%p2 bra $copied;", "@%p2 bra $go;\n fence.proxy.async.shared::cta;\n bra $copied;\n$go:"
    )
    assert "FP008" in {each.code for each in verdict(body, 32).findings}


def test_a_block_must_not_end_while_its_memory_is_copied_out() -> None:
    body = kernels.STORE.partition("    cp.async.bulk.wait_group")[0] + "$copied:\n"
    found = verdict(body, 32)
    assert found.verdict == "race" and "the block can end" in found.findings[0].message
    assert (
        verdict(body.replace("$copied:", "    cp.async.bulk.wait_group.read 0;\n$copied:"), 32).verdict
        == "proven"
    )


def test_a_block_must_not_end_while_a_copy_comes_in() -> None:
    copied = """
    @!%p2 bra $end;
    mbarrier.init.shared.b64 [%r6], 1;
    fence.proxy.async.shared::cta;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 128;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], 128, [%r6];
{}$end:
"""
    wait = "$wait:\n    mbarrier.try_wait.parity.shared.b64 %p4, [%r6], 0;\n    @!%p4 bra $wait;\n"
    assert verdict(copied.format(wait), 32).verdict == "proven"
    found = verdict(copied.format(""), 32)
    assert found.verdict == "race" and "still writes its shared memory" in found.findings[0].message


def test_generic_reads_before_a_refill_need_a_fence_as_a_warning() -> None:
    found = verdict(kernels.RING.replace("fence.proxy.async.shared::cta;", ""), 64)
    assert found.verdict == "proven"
    assert {(each.code, each.severity) for each in found.findings} == {("FP008", "warning")}


def test_a_branch_on_a_thread_s_own_data_that_decides_over_a_barrier_is_not_decided() -> None:
    body = """
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    ld.global.u32 %r11, [%rd2];
    setp.eq.u32 %p5, %r11, 0;
    @%p5 bra $e;
    bar.sync 1, 64;
$e:"""
    found = verdict(body, 64)
    assert found.verdict == "undecided" and "depends on data" in str(found.reasons[0])


def test_a_wait_that_is_tried_once_is_not_decided() -> None:
    body = kernels.COPIES.replace("    @!%p4 bra $filled;\n", "    @!%p4 bra $out;\n") + "$out:\n"
    found = verdict(body, 64)
    assert found.verdict == "undecided" and "not repeated" in str(found.reasons[0])


def test_a_state_that_is_handed_over_in_shared_memory_is_followed() -> None:
    body = """
    @!%p2 bra $told;
    st.shared.u32 [%r4], 7;
$told:
    bar.sync 0;
    ld.shared.u32 %r11, [%r4];
    setp.ne.u32 %p5, %r11, 7;
    @%p5 bra $end;
    bar.sync 1, 64;
$end:
"""
    assert verdict(body, 64).verdict == "proven"
    assert verdict(body.replace("st.shared.u32 [%r4], 7;", ""), 64).verdict == "undecided"


STORE_AND_MEET = " st.shared.u32 [%r5], %r1;\n bar.sync 1, 64;\n$end:"


def test_code_that_no_run_reaches_is_not_proven() -> None:
    """Only a negative number leads there, for which there is a race: it is left out."""
    decides = "brev.b32 %r30, %r2;\n setp.ne.u32 %p5, %r30, 77;\n @%p5 bra $end;\n"
    found = verdict(decides + STORE_AND_MEET, 64)
    assert found.verdict == "undecided" and "no run reaches" in str(found.reasons[0])


def test_numbers_for_which_a_branch_goes_another_way_are_run() -> None:
    text = kernels.kernel("setp.ne.u32 %p5, %r2, 77;\n @%p5 bra $end;\n" + STORE_AND_MEET)
    (found,) = check(text)
    assert found.verdict == "race" and found.findings[0].values["k_param_1"] == 77
    (found,) = check(text, params={"k_param_1": 77})
    assert found.verdict == "race"
    (found,) = check(text, params={"k_param_1": 78})
    assert found.verdict == "proven" and "run with k_param_1 = 78" in found.holds_for


REMAINDER = """
    setp.eq.u32 %p6, %r2, 0;
    @%p6 bra $end;
    setp.lt.u32 %p5, %r1, {first};
    @%p5 bra $meet;
    st.shared.u32 [%r5], %r1;
$meet:
    bar.sync 1, 64;
$end:
"""
"""Threads from `first` on store, in a kernel that does nothing if n is 0."""


def test_code_that_no_thread_can_reach_does_not_matter() -> None:
    assert verdict(REMAINDER.format(first=64), 64).verdict == "proven"


def test_code_that_threads_reach_if_parameters_let_them_does() -> None:
    body = REMAINDER.replace("setp.eq.u32 %p6, %r2, 0;", "setp.ne.u32 %p6, %r2, 77;")
    found = verdict(body.format(first=63), 64)
    assert (
        found.verdict == "proven"
        and "for other ways with k_param_1 = 29 and k_param_1 = 77;" in found.holds_for
    )
    assert verdict(body.format(first=31), 64).verdict == "race"


HANDED_OVER = """
    setp.{holds} %p5, {what};
    mov.u32 %r31, %ctaid.x;
    mov.u32 %r35, %nctaid.x;
    sub.u32 %r36, %r35, %r31;
    mad.lo.u32 %r32, %r1, 4, %r4;
    st.shared.u32 [%r32], %r1;
    {barrier}
    xor.b32 %r33, %r32, 4;
    ld.shared.u32 %r34, [%r33];
"""
"""Threads read what their neighbours have stored."""


@pytest.mark.parametrize(
    ("holds", "what", "number"),
    [
        ("ne.u32", "%r2, 12345", "k_param_1 = 12345"),
        ("lt.s32", "%r2, 5000", "k_param_1 = "),
        ("ne.u32", "%r31, 7", "ctaid.x = 7"),
        ("ne.u32", "%r36, 5", "nctaid.x = "),
    ],
)
@pytest.mark.parametrize("barrier", ["@%p5 bar.sync 1, 64;", "@!%p5 bra $on;\n bar.sync 1, 64;\n$on:"])
def test_a_barrier_that_a_number_skips(holds: str, what: str, number: str, barrier: str) -> None:
    """With the numbers that runs are usually made with, all of them wait."""
    body = HANDED_OVER.format(holds=holds, what=what, barrier=barrier).split("\n")
    body.insert(4, body.pop(1))
    found = verdict("\n".join(body), 64)
    assert found.verdict == "race"
    name, _, value = number.partition(" = ")
    assert any(str(each).startswith(value) for key, each in found.findings[0].values.items() if key == name)


def test_numbers_that_may_not_go_with_each_other_leave_a_kernel_open() -> None:
    """A launch may keep to what the two have to do with each other."""
    body = "ld.param.u32 %r40, [k_param_2];\n mad.lo.u32 %r41, %r40, 3, %r2;\n" + HANDED_OVER.format(
        holds="ne.u32", what="%r41, 12345", barrier="@%p5 bar.sync 1, 64;"
    )
    text = kernels.kernel(body).replace("k_param_1)", "k_param_1, .param .u32 k_param_2)")
    (found,) = check(text)
    assert found.verdict == "undecided" and "there is a race if k_param_1 = " in str(found.reasons[0])


@pytest.mark.parametrize(("holds", "left_out"), [("ne.u32", 0), ("ge.s32", -1)])
def test_numbers_that_are_no_sizes_are_left_out(holds: str, left_out: int) -> None:
    """What goes wrong with nothing to do may not be meant; the verdict says that it is not proven."""
    barrier = "@!%p5 bra $on;\n bar.sync 1, 64;\n$on:"
    found = verdict(HANDED_OVER.format(holds=holds, what="%r2, 0", barrier=barrier), 64)
    assert found.verdict == "proven" and f"; not with k_param_1 = {left_out};" in found.holds_for


def test_a_number_that_skips_a_barrier_in_some_iteration() -> None:
    loop = HANDED_OVER.format(holds="ne.u32", what="%r40, 300", barrier="@%p5 bar.sync 1, 64;")
    head = "mov.u32 %r40, 0;\n$loop:\n"
    tail = "bar.sync 1, 64;\n add.u32 %r40, %r40, 1;\n setp.lt.u32 %p6, %r40, %r2;\n @%p6 bra $loop;\n"
    assert verdict(head + loop + tail, 64).verdict == "race"
    assert verdict(head + loop.replace("@%p5 ", "") + tail, 64).verdict == "proven"


@pytest.mark.parametrize("is_right", [True, False])
def test_a_ring_that_does_not_come_out_even(is_right: bool) -> None:
    """With multiples of four, the slot that is stored to is one that nobody reads."""
    first, second = ("bar.sync 1, 64;", "") if is_right else ("", "bar.sync 1, 64;")
    body = f"""
    and.b32 %r30, %r2, 3;
    mad.lo.u32 %r31, %r30, 256, %r4;
    mad.lo.u32 %r32, %r1, 4, %r31;
    st.shared.u32 [%r32], %r1;
    {first}
    sub.u32 %r33, 63, %r1;
    mad.lo.u32 %r34, %r33, 4, %r4;
    ld.shared.u32 %r35, [%r34+256];
    {second}
    """
    found = verdict(body, 64)
    assert found.verdict == ("proven" if is_right else "undecided")
    assert is_right or "there is a race if k_param_1 = 29" in str(found.reasons[0])


def test_a_warp_whose_last_lane_ends_before_all_others_do() -> None:
    """Nobody is left to go on when they arrive."""
    body = "setp.eq.u32 %p5, %r1, 40;\n @%p5 exit;\n bar.arrive 1, 64;\n st.shared.u32 [%r5], 7;\n"
    assert verdict(body, 64).verdict == "proven"


def test_findings_of_every_kind_are_told_however_often_one_repeats() -> None:
    """A consumer that does not wait is out of step in every iteration; the race is told as well."""
    waits = "mbarrier.try_wait.parity.shared.b64 %p4, [%r14], %r12;"
    body = kernels.RING.replace(waits, "setp.eq.u32 %p4, 0, 0;")
    codes = {each.code for each in verdict(body, 64).findings}
    assert {"FP001", "FP006"} <= codes


def test_the_upper_half_of_a_product_is_exact() -> None:
    rng = random.Random(1)
    numbers = [0, 1, 1 << 63, (1 << 64) - 1, *(rng.getrandbits(64) for _ in range(50))]
    left, right = zip(*((one, other) for one in numbers for other in numbers), strict=True)
    lanes = [Lane(np.array(each, dtype=np.uint64), 64) for each in (left, right)]
    for kind, read in (("u64", lambda each: each), ("s64", lambda each: signed(each, 64))):
        found = compute(f"mul.hi.{kind}", lanes)
        assert found is not None
        wanted = [
            read(one) * read(other) >> 64 & (1 << 64) - 1 for one, other in zip(left, right, strict=True)
        ]
        assert [int(each) for each in found] == wanted


# ---- waits that are tried once

PEEK = """
    @!%p2 bra $made;
    mbarrier.init.shared.b64 [%r6], 32;
    mbarrier.init.shared.b64 [%r6+8], 32;
$made:
    bar.sync 0;
    @!%p1 bra $consumer;
    st.shared.u32 [%r5], %r1;
    mbarrier.arrive.shared.b64 _, [%r6];
    bra $end;
$consumer:
    mbarrier.test_wait.parity.shared.b64 %p4, [%r6], 0;
    selp.b32 %r12, 1, 0, %p4;
    {between}
    setp.ne.u32 %p5, %r12, 0;
    @%p5 bra $read;
$wait:
    mbarrier.try_wait.parity.shared.b64 %p6, [%r6{at}], 0;
    @!%p6 bra $wait;
$read:
    xor.b32 %r11, %r5, 4;
    ld.shared.u32 %r13, [%r11];
$end:
"""
"""The second warp looks whether the first has stored, and waits if it has not."""


def test_a_wait_that_was_tried_before_may_be_left_out() -> None:
    assert verdict(PEEK.format(between="", at=""), 64).verdict == "proven"


def test_what_is_done_between_is_not_ordered_by_it() -> None:
    found = verdict(PEEK.format(between="ld.shared.u32 %r14, [%r5];", at=""), 64)
    assert found.verdict == "race"


def test_what_was_tried_is_what_is_waited_for() -> None:
    assert verdict(PEEK.format(between="", at="+8"), 64).verdict != "proven"


def test_a_result_that_is_turned_round_is_not_taken_for_a_wait() -> None:
    body = PEEK.format(between="", at="").replace("@%p5 bra $read", "@!%p5 bra $read")
    assert verdict(body, 64).verdict != "proven"


def test_a_result_that_decides_over_anything_else_is_not_decided() -> None:
    body = PEEK.format(between="", at="").replace("$read:\n", "    st.shared.u32 [%r5+128], %r1;\n$read:\n")
    assert verdict(body, 64).verdict == "undecided"


def test_a_relaxed_look_shows_less_than_the_wait_that_it_lets_threads_pass() -> None:
    body = PEEK.format(between="", at="").replace("test_wait.parity", "test_wait.parity.relaxed.cta")
    assert verdict(body, 64).verdict == "race"
    both = body.replace("try_wait.parity", "try_wait.parity.relaxed.cta")
    fenced = both.replace("$read:\n", "$read:\n    fence.acq_rel.cta;\n")
    assert verdict(fenced, 64).verdict == "proven"


def test_a_result_that_lanes_hand_to_each_other_is_still_one() -> None:
    handed = "shfl.sync.idx.b32 %r12, %r12, 0, 31, -1;"
    assert verdict(PEEK.format(between=handed, at=""), 64).verdict == "undecided"
    voted = "setp.ne.u32 %p7, %r12, 0;\n    vote.sync.ballot.b32 %r12, %p7, -1;"
    assert verdict(PEEK.format(between=voted, at=""), 64).verdict == "undecided"


def test_a_result_that_decides_what_a_register_holds_is_still_one() -> None:
    assigned = """
    mov.u32 %r15, 0;
    @!%p4 bra $join;
    mov.u32 %r15, 1;
$join:
    setp.eq.u32 %p7, %r15, 0;
    @%p7 bra $wait;
    st.shared.u32 [%r5+128], %r1;
"""
    assert verdict(PEEK.format(between=assigned, at=""), 64).verdict == "undecided"


@pytest.mark.parametrize(
    "leaves",
    (
        "or.pred %p7, %p6, %p1;",
        "setp.eq.u32 %p8, %r1, 40;\n    or.pred %p7, %p6, %p8;",
        "setp.eq.or.u32 %p7, %r2, 7, %p6;",
        "selp.b32 %r15, 1, 1, %p6;\n    setp.eq.u32 %p7, %r15, 1;",
        "mov.u64 %rd5, %clock64;\n    setp.gt.u64 %p8, %rd5, %rd6;\n    or.pred %p7, %p6, %p8;",
    ),
)
def test_a_loop_that_is_left_by_anything_else_does_not_wait(leaves: str) -> None:
    body = PEEK.format(between="bra $wait;", at="").replace("@!%p6 bra", f"{leaves}\n    @!%p7 bra")
    assert verdict(body, 64).verdict != "proven"


@pytest.mark.parametrize(
    "leaves",
    (
        "not.pred %p8, %p6;\n    not.pred %p7, %p8;",
        "selp.b32 %r15, 0, 7, %p6;\n    setp.eq.u32 %p7, %r15, 0;",
        "selp.b32 %r15, 1, 0, %p6;\n    and.b32 %r16, %r15, 255;\n    setp.ne.u32 %p7, %r16, 0;",
        "mov.pred %p7, %p6;",
    ),
)
def test_a_loop_that_is_left_by_the_wait_alone_waits(leaves: str) -> None:
    body = PEEK.format(between="bra $wait;", at="").replace("@!%p6 bra", f"{leaves}\n    @!%p7 bra")
    assert verdict(body, 64).verdict == "proven"


@pytest.mark.parametrize(("again", "expected"), [("7", "proven"), ("8", "race")])
def test_threads_may_store_one_value_again(again: str, expected: str) -> None:
    body = f"""
    .shared .align 4 .b8 s[4];
    mov.u32 %r1, 7;
    mov.u32 %r2, {again};
    st.shared.u32 [s], %r1;
    st.shared.u32 [s], %r2;
    bar.sync 1, 64;
    ld.shared.u32 %r3, [s];
    """
    assert verdict(body, 64).verdict == expected


def test_a_thread_that_has_ended_counts_as_arrived() -> None:
    """Thread 32 reads what thread 0 overwrites behind a barrier that the former ends before."""
    body = """
    .shared .align 4 .b8 s[4];
    setp.gt.u32 %p1, %r3, 31;
    @%p1 bra $last;
    bar.sync 0;
    setp.ne.u32 %p2, %r3, 0;
    mov.u32 %r1, 7;
    @%p2 bra $end;
    st.shared.u32 [s], %r1;
$end:
    ret;
$last:
    ld.shared.u32 %r2, [s];
    {arrives}
    """
    assert verdict(body.replace("{arrives}", ""), 64).verdict == "proven"
    assert (
        verdict(body.replace("bar.sync 0;", "bar.sync 1, 32;").replace("{arrives}", ""), 64).verdict == "race"
    )


RELEASE = """
    fence.proxy.async.shared::cta;
    bar.sync 0;
"""
FILLED = """
    @%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 128;
    @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], 128, [%r6];
$filled{0}:
    mbarrier.try_wait.parity.shared.b64 %p4, [%r6], {0};
    @!%p4 bra $filled{0};
    ld.shared.u32 %r12, [%r5];
"""
MADE = "    @%p2 mbarrier.init.shared.b64 [%r6], 1;\n    bar.sync 0;\n"


@pytest.mark.parametrize(
    "store",
    (
        "    @%p2 st.shared.u32 [%r6+4], %r10;\n",
        "    @%p2 atom.shared.add.u32 %r12, [%r6], 1;\n",
        "    @%p2 cp.async.ca.shared.global [%r6], [%rd1], 4;\n    cp.async.wait_all;\n",
    ),
)
def test_an_mbarrier_that_something_is_stored_over_is_none_any_more(store: str) -> None:
    """As where the last step of a kernel reuses all of its shared memory, and then goes on with the next tile."""
    again = FILLED.format(0) + RELEASE
    assert verdict(MADE + again + FILLED.format(1), 64).verdict == "proven"
    found = verdict(MADE + again + store + RELEASE + FILLED.format(1), 64)
    assert found.findings[0].code == "FP006" and "stored something else over" in found.findings[0].message
    # Nobody uses it any more, or it is ended and made again.
    assert verdict(MADE + again + store, 64).verdict == "proven"
    ended = "    @%p2 mbarrier.inval.shared.b64 [%r6];\n"
    made = MADE + again + ended + store + RELEASE + MADE + FILLED.format(0).replace("filled0", "anew")
    assert verdict(made, 64).verdict == "proven"


def test_an_mbarrier_is_initialized_by_one_thread() -> None:
    every = (MADE + FILLED.format(0)).replace("@%p2 mbarrier.init", "mbarrier.init")
    found = verdict(every, 64)
    assert found.verdict == "race" and "as other threads do at once" in found.findings[0].message


def test_a_thread_that_stores_where_a_copy_comes_in_races_with_it() -> None:
    store = "    st.shared.u32 [%r5], %r1;\n"
    body = FILLED.format(0).replace("$filled0:", store + "$filled0:")
    found = verdict(MADE + body, 32)
    assert [each.code for each in found.findings] == ["FP001"]
    words = "    cp.async.ca.shared.global [%r5], [%rd1], 4;\n"
    found = verdict(MADE + words + store + "    cp.async.wait_all;\n" + body.replace("%r4]", "%r4+128]"), 32)
    assert {each.code for each in found.findings} == {"FP001"}


def test_parameters_that_are_made_up_are_not_all_the_same() -> None:
    """A ring goes round a quotient of two parameters: with one number for both, it would go round once."""
    quotient = "    ld.param.u32 %r40, [k_param_2];\n    div.u32 %r2, %r2, %r40;\n"
    text = kernels.kernel(quotient + kernels.RING, 64)
    text = text.replace(".param .u32 k_param_1)", ".param .u32 k_param_1, .param .u32 k_param_2)")
    (found,) = check(text)
    assert found.verdict == "proven" and "k_param_2 = 3 (the others 200)" in found.holds_for
    freed = "    mbarrier.try_wait.parity.shared.b64 %p4, [%r15], %r13;\n    @!%p4 bra $free;\n"
    (found,) = check(text.replace(freed, ""))
    assert found.verdict == "race"


def test_a_wait_for_an_mbarrier_that_is_made_anew_meanwhile_is_out_of_step() -> None:
    anew = "    @%p2 mbarrier.inval.shared.b64 [%r6];\n    @%p2 mbarrier.init.shared.b64 [%r6], 1;\n"
    wait = "$again:\n    mbarrier.try_wait.parity.shared.b64 %p4, [%r6], 0;\n    @!%p4 bra $again;\n"
    found = verdict(MADE + anew + "    @%p1 bra $end;\n" + wait + "$end:\n", 64)
    assert found.verdict == "race" and "FP001" in {each.code for each in found.findings}


@pytest.mark.parametrize(
    "line",
    (
        "cp.async.ca.shared.global [%r5], 4;",
        "mbarrier.try_wait.parity.shared.b64 %p4, [%r6];",
        "mbarrier.arrive.shared.b64 _;",
        "cp.async.mbarrier.arrive.noinc.shared.b64 %r6;",
        "cp.async.wait_group;",
        "cp.async.bulk.wait_group.read;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4};",
        "wgmma.wait_group.sync.aligned;",
        "tcgen05.cp.cta_group::1.128x256b [%r6];",
    ),
)
def test_an_instruction_with_too_few_operands_is_refused_by_name(line: str) -> None:
    found = verdict(MADE + f"    {line}\n", 64)
    assert found.verdict == "undecided" and found.reasons


ELECT = "    elect.sync _|%p8, -1;\n"
FILL = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1],"
ELECTED = kernels.one_slot(
    "    @!%p1 bra $consumer;\n",
    f"{ELECT}    @%p8 mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 128;\n    @%p8 {FILL} 128, [%r6];\n",
    "    ld.shared.u32 %r17, [%r5];\n    fence.proxy.async.shared::cta;\n    mbarrier.arrive.shared.b64 _, [%r7];\n",
    consumers=32,
)


def test_lanes_that_elect_one_wait_for_each_other() -> None:
    """All lanes wait for a free slot, and one of them fills it: none is left behind at the wait."""
    assert verdict(ELECTED, 64).verdict == "proven"
    first = "    setp.eq.u32 %p8, %r3, 0;\n"
    assert verdict(ELECTED.replace(ELECT, first), 64).verdict == "race"
    early = ELECTED.replace(ELECT, "").replace("$free:\n", ELECT + "$free:\n")
    assert verdict(early, 64).verdict == "race"


def test_the_elected_lane_sees_nothing_of_the_others() -> None:
    stored = "    st.shared.u32 [%r5], %r1;\n    fence.proxy.async.shared::cta;\n{}"
    out = "    @%p8 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r4], 128;\n"
    out += "    @%p8 cp.async.bulk.commit_group;\n    @%p8 cp.async.bulk.wait_group.read 0;\n"
    found = verdict(stored.format(ELECT) + out, 32)
    assert [each.code for each in found.findings if each.severity == "error"] == ["FP001"]
    assert verdict(stored.format("    bar.warp.sync -1;\n" + ELECT) + out, 32).verdict == "proven"


def test_lanes_that_multiply_together_wait_for_each_other() -> None:
    """All lanes of a warp wait for a tile, wgmma reads it, and one lane arrives for the warp: none is left behind."""
    arrive = "    @%p8 mbarrier.arrive.shared.b64 _, [%r7];\n"
    multiply = (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd2, %rd2, 1, 1, 1, 0, 0;"
    )
    ends = "wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;"
    roles = """
    setp.eq.u32 %p8, %r3, 0;
    setp.ge.u32 %p9, %r1, 128;
    shr.u32 %r12, %r4, 4;
    cvt.u64.u32 %rd2, %r12;
    or.b64 %rd2, %rd2, 68720001024;
    wgmma.fence.sync.aligned;
    @!%p9 bra $consumer;
    setp.ne.u32 %p9, %r1, 128;
    @%p9 bra $end;
"""
    fill = f"    mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 2048;\n    {FILL} 2048, [%r6];\n"
    tile = kernels.one_slot(roles, fill, f"    {multiply}\n    {ends}\n{arrive}", consumers=4)
    assert verdict(tile, 160).verdict == "proven"
    assert (
        verdict(tile.replace("wait_group.sync.aligned 0", "wait_group.sync.aligned 1"), 160).verdict == "race"
    )
    # A lane that arrives before it multiplies may be ahead of others.
    early = tile.replace(arrive, "").replace("    wgmma.mma", arrive + "    wgmma.mma")
    assert verdict(early, 160).verdict == "race"
