"""PTX as no compiler of CUDA writes it, and sums that a prover may get wrong: each racy kernel beside a right one."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import check
from tests.hosts.ptx.random_cuda.compare import proof_alone

FRAME = """
.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1, .param .u64 k_param_2) {
    .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>;
    .shared .align 16 .b8 s[4096];
    .shared .align 4 .b8 count[4];
    .local .align 4 .b8 l[16];
    ld.param.u64 %rd1, [k_param_0];
    ld.param.u32 %r2, [k_param_1];
    ld.param.u64 %rd3, [k_param_2];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mov.u32 %r3, s;
    shl.b32 %r4, %r1, 2;
    add.u32 %r5, %r3, %r4;
BODY
    ret;
}
"""
"""%r1 is threadIdx.x, %r2 the number n, %rd2 a global pointer, %rd3 a long number, %r5 the address of s[%r1]."""


def verdict(body: str) -> str:
    """What is said of a kernel with that body, for a block of two warps."""
    (found,) = check(FRAME.replace("BODY", body), block=64)
    return found.verdict


def proof(body: str) -> str:
    """What is proven without runs, and without anything taken for granted about n."""
    return proof_alone(FRAME.replace("BODY", body), (64, 1, 1), {}).verdict


# ---- control flow

INDEXED = """
tab: .branchtargets $a, $b;
    st.shared.u32 [%r5], %r1;
    setp.ne.u32 %p1, %r2, 2048;
    mov.u32 %r10, 0;
    GUARD brx.idx %r10, tab;
    ld.shared.u32 %r20, [%r5+132];
    bra $b;
$a: bar.sync 0;
$b:
"""


def test_a_predicated_indexed_branch_falls_through() -> None:
    assert verdict(INDEXED.replace("GUARD", "@%p1")) != "proven"
    assert verdict(INDEXED.replace("GUARD", "")) == "proven"


ENDLESS = """
    setp.ge.u32 %p1, COUNT, 32;
$again:
    @%p1 bra $other;
    add.u32 %r10, %r10, 1;
$join:
    bar.sync 0;
    bra $again;
$other: bra $again;
"""


def test_a_barrier_in_a_loop_that_never_ends() -> None:
    assert proof(ENDLESS.replace("COUNT", "%r1")) != "proven"
    assert proof(ENDLESS.replace("COUNT", "%r2")) == "proven"


TWO_LOADS = """
    st.shared.u32 [%r5], %r1;
    setp.eq.u32 %p1, %r2, 2048;
    mov.u32 %r11, 0;
    @%p1 bra $before;
$meet:
    setp.ge.u32 %p2, %r11, %r2;
    @%p2 bra $behind;
$loop:
    bar.sync 0;
    add.u32 %r11, %r11, 1;
    setp.lt.u32 %p3, %r11, %r2;
    @%p3 bra $loop;
$behind:
    @%p1 bra $after;
    bra $end;
$before:
    BEFORE
    bra $meet;
$after:
    ld.shared.u32 %r21, [%r5+132];
    st.global.u32 [%rd2], %r21;
$end:
"""


def test_of_two_loads_alike_the_one_with_another_way_to_it_counts_too() -> None:
    # The load after the loop has a barrier before it, as n is 2048 there.
    assert verdict(TWO_LOADS.replace("BEFORE", "ld.shared.u32 %r20, [%r5+132];")) != "proven"
    assert verdict(TWO_LOADS.replace("BEFORE", "")) == "proven"


# ---- loads

CARRIED_LOAD = """
    mov.u32 %r10, 0; mov.u32 %r11, 0;
$loop:
    shl.b32 %r12, %r10, 2; add.u32 %r13, %r5, %r12;
    st.shared.u32 [%r13], %r1;
    bar.sync 0;
    setp.eq.u32 %p1, %r11, 0;
    selp.b32 %r14, INDEX, 0, %p1;
    mul.wide.u32 %rd10, %r14, 4; add.u64 %rd11, %rd2, %rd10;
    ld.global.u32 %r10, [%rd11];
    add.u32 %r11, %r11, 1;
    setp.lt.u32 %p2, %r11, %r2;
    @%p2 bra $loop;
"""


def test_what_was_loaded_in_the_iteration_before_came_from_an_address_of_then() -> None:
    assert verdict(CARRIED_LOAD.replace("INDEX", "%r1")) != "proven"
    assert verdict(CARRIED_LOAD.replace("INDEX", "%r2")) == "proven"


FLAG = """
    st.shared.u32 [%r5], %r1;
    HOW %r10, [%rd2];
    setp.eq.u32 %p1, %r10, 0;
    @%p1 bra $skip;
    bar.sync 0;
$skip:
    st.shared.u32 [%r5], %r2;
"""


@pytest.mark.parametrize(
    "how", ["ld.acquire.gpu.global.u32", "ld.relaxed.gpu.global.u32", "ld.volatile.global.u32"]
)
def test_a_flag_that_others_set_meanwhile(how: str) -> None:
    assert verdict(FLAG.replace("HOW", how)) != "proven"
    assert verdict(FLAG.replace("HOW", "ld.global.u32")) == "proven"


DONE = """
$loop:
    ld.global.u32 %r10, [%rd2];
    setp.ge.u32 %p1, %r10, %r2;
    @%p1 bra $end;
    bar.sync 0;
    ADD
    bra $loop;
$end:
    st.shared.u32 [%r5], %r1;
"""


def test_a_plain_load_beside_the_atomics_of_the_kernel() -> None:
    assert proof(DONE.replace("ADD", "red.global.add.u32 [%rd2], 1;")) != "proven"
    assert proof(DONE.replace("ADD", "red.global.add.u32 [%rd3], 1;")) == "proven"


OWN_COPY = """
    atom.shared.add.u32 %r10, [count], 1;
    shl.b32 %r11, %r10, 4; add.u32 %r12, %r3, %r11;
    cp.async.cg.shared.global [%r12], [%rd2], 16;
    WAIT
    ld.shared.u32 %r13, [%r12];
    cp.async.wait_all;
"""


def test_a_copy_to_a_place_from_a_counter_is_waited_for_by_its_own_thread() -> None:
    assert proof(OWN_COPY.replace("WAIT", "")) != "proven"
    assert proof(OWN_COPY.replace("WAIT", "cp.async.wait_all;")) == "proven"


# ---- registers that loops carry

MASKED = """
    mov.u32 %r11, 0; and.b32 %r10, %r2, 252;
$loop:
    setp.ne.u32 %p1, %r11, 2; @%p1 bra $next;
    setp.ne.u32 %p1, %r2, 2048; @%p1 bra $next;
    shl.b32 %r12, %r10, 2; add.u32 %r13, %r3, %r12;
    setp.ne.u32 %p3, %r1, 0; @%p3 bra $other;
    and.b32 %r20, %r2, 252; shl.b32 %r20, %r20, 2; add.u32 %r20, %r20, %r3;
    st.shared.u32 [%r20], %r2;
    bra $next;
$other:
    ld.shared.u32 %r21, [%r13];
$next:
    add.u32 %r10, %r10, STEP; and.b32 %r10, %r10, 0xfc;
    add.u32 %r11, %r11, 1;
    setp.lt.u32 %p2, %r11, 4;
    @%p2 bra $loop;
"""


def test_bits_that_are_masked_in_each_iteration_do_not_add_up() -> None:
    assert proof(MASKED.replace("STEP", "3")) != "proven"
    assert proof(MASKED.replace("STEP", "4")) == "proven"


COUNTED = """
    mov.u32 %r10, 1; mov.u32 %r11, 0; mov.u64 %rd10, 0;
    and.b32 %r12, %r2, 1;
$loop:
    CONDITION
    selp.b32 %r20, %r3, %r5, %p1;
    st.shared.u32 [%r20], %r1;
    bar.sync 0;
    shl.b32 %r10, %r10, 1;
    add.u32 %r12, %r12, 60000; rem.u32 %r12, %r12, 4999;
    add.u64 %rd10, %rd10, 1;
    add.u32 %r11, %r11, 1;
    AGAIN
    @%p3 bra $loop;
"""
LESS = "setp.lt.u32 %p3, %r11, %r2;"


@pytest.mark.parametrize(
    ("condition", "again"),
    [
        ("cvt.u16.u32 %h1, %r11; mul.lo.u16 %h2, %h1, 181; setp.eq.u16 %p1, %h2, 40001;", LESS),
        (
            "cvt.u16.u32 %h1, %r11; cvt.u16.u32 %h3, %r2; mul.lo.u16 %h2, %h1, %h3; setp.eq.u16 %p1, %h2, 3;"
            "setp.gt.and.u32 %p1, %r11, 0x10000, %p1;",
            LESS,
        ),
        ("div.s32 %r13, %r10, 2; setp.lt.s32 %p1, %r13, 0;", LESS),
        ("setp.gt.u32 %p1, %r11, 100000; setp.gt.and.u32 %p1, %r12, 3000, %p1;", LESS),
        (
            "setp.eq.u64 %p1, %rd10, 9; setp.eq.and.u64 %p1, %rd3, 0x100000005, %p1;",
            "setp.ne.u64 %p3, %rd10, %rd3;",
        ),
    ],
    ids=[
        "narrow product",
        "product of two narrow",
        "sign of a doubled one",
        "remainders",
        "a long way to go",
    ],
)
def test_iterations_in_which_numbers_wrap_around(condition: str, again: str) -> None:
    text = COUNTED.replace("AGAIN", again)
    assert proof(text.replace("CONDITION", condition)) != "proven"
    never = "setp.lt.u32 %p1, %r1, 0;"
    assert proof(text.replace("CONDITION", never)) == "proven"


PASSES = """
    FIRST mov.u32 %r10, 0;
$loop:
    setp.eq.u32 %p1, %r10, SOME;
    setp.eq.and.u32 %p1, %r2, 6, %p1;
    @%p1 st.shared.u32 [%r3], %r1;
    bar.sync 0;
    add.u32 %r10, %r10, STEP;
    setp.ne.u32 %p2, %r10, %r2;
    @%p2 bra $loop;
"""


@pytest.mark.parametrize(("step", "some"), [("4", "16"), ("5", "10")])
def test_a_counter_that_passes_by_its_end(step: str, some: str) -> None:
    text = PASSES.replace("STEP", step).replace("SOME", some)
    assert proof(text.replace("FIRST", "")) != "proven"
    # It comes to its end, and no further.
    first = f"and.b32 %r2, %r2, 63; mul.lo.u32 %r2, %r2, {step};"
    assert proof(text.replace("FIRST", first).replace("6, %p1", "8, %p1")) == "proven"


# ---- loops that were left

LEFT = """
    LAST mov.u32 %r10, 0;
$outer:
    mov.u32 %r11, 0;
    mul.wide.u32 %rd10, %r10, 4; add.u64 %rd11, %rd2, %rd10; ld.global.u32 %r12, [%rd11];
$inner:
    add.u32 %r11, %r11, 1; setp.lt.u32 %p1, %r11, %r12; @%p1 bra $inner;
    add.u32 %r10, %r10, 1; setp.le.u32 %p2, %r10, %r20; @%p2 bra $outer;
    bar.sync 0;
    shl.b32 %r13, %r11, 2; add.u32 %r14, %r5, %r13;
    st.shared.u32 [%r14], %r1;
"""


def test_the_last_iteration_of_a_loop_in_the_last_one_of_another() -> None:
    # Each thread comes to the barrier with what the inner loop gave it in the last iteration of its own.
    assert proof(LEFT.replace("LAST", "and.b32 %r20, %r1, 1;")) != "proven"
    assert proof(LEFT.replace("LAST", "and.b32 %r20, %r2, 1;")) == "proven"


# ---- local memory

TWO_BYTES = """
    st.local.u8 [l], 255; st.local.u8 [l+1], HIGH;
    ld.local.s16 %r10, [l];
    setp.lt.s32 %p1, %r10, 0;
    setp.eq.and.u32 %p1, %r2, 2048, %p1;
    @%p1 st.shared.u32 [%r3], %r1;
"""


def test_a_number_of_two_bytes_has_a_sign() -> None:
    assert verdict(TWO_BYTES.replace("HIGH", "255")) != "proven"
    assert verdict(TWO_BYTES.replace("HIGH", "127")) == "proven"


# ---- forms that PTX does not have


def test_an_asynchronous_copy_to_another_block_is_refused_by_name() -> None:
    body = "cp.async.ca.shared::cluster.global [%r5], [%rd2], 4;\n    cp.async.wait_all;"
    (found,) = check(FRAME.replace("BODY", body), block=64)
    assert found.verdict == "undecided"
    assert "a form of cp.async that is not known" in found.reasons[0].message


@pytest.mark.parametrize(("count", "expected"), [("48", "undecided"), ("64", "proven")])
def test_a_barrier_counts_whole_warps(count: str, expected: str) -> None:
    body = f"st.shared.u32 [%r5], %r1;\n    bar.sync 1, {count};\n    ld.shared.u32 %r10, [%r5+4];"
    assert verdict(body) == expected
