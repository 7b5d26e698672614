"""Local memory is followed like registers where its offsets are known, and never races."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.expressions import local_memory
from tests.hosts.ptx.kernels import kernel

DEPOT = """
    .local .align 8 .b8 __local_depot0[64];
    .reg .b64 %SP;
    .reg .b64 %SPL;
    mov.u64 %SPL, __local_depot0;
    cvta.local.u64 %SP, %SPL;
    cvt.u64.u32 %rd1, %r5;
    cvta.shared.u64 %rd2, %rd1;
    cvt.u64.u32 %rd3, %r4;
    cvta.shared.u64 %rd3, %rd3;
"""
"""%rd2 is the generic address of s[tid.x], %rd3 that of s."""
LOAD_OF_ANOTHER = """
    xor.b32 %r6, %r3, 256;
    cvt.u64.u32 %rd10, %r6;
    add.s64 %rd11, %rd3, %rd10;
    ld.u32 %r8, [%rd11];
"""


def judge(body: str) -> KernelVerdict:
    (verdict,) = check(kernel(DEPOT + body), block=256)
    return verdict


@pytest.mark.parametrize(("barrier", "expected"), [("bar.sync 0;", "proven"), ("", "race")])
def test_a_pointer_that_lives_in_local_memory(barrier: str, expected: str) -> None:
    body = f"st.u64 [%SP+8], %rd2;\n ld.u64 %rd4, [%SP+8];\n st.u32 [%rd4], %r1;\n {barrier}"
    assert judge(body + LOAD_OF_ANOTHER).verdict == expected


@pytest.mark.parametrize("space", ["", ".local"])
def test_an_index_that_lives_in_local_memory(space: str) -> None:
    base = "%SPL" if space else "%SP"
    body = f"st{space}.u32 [{base}], %r3;\n ld{space}.u32 %r9, [{base}];\n"
    assert judge(body + "add.s32 %r9, %r9, %r4;\n st.shared.u32 [%r9], %r1;").verdict == "proven"


def test_parts_of_a_value_are_followed() -> None:
    """Stored as one 64-bit value, loaded as two halves and as bytes."""
    body = """
    mov.b64 %rd5, {%r3, %r1};
    st.u64 [%SP], %rd5;
    ld.u32 %r9, [%SP];
    ld.u8 %r10, [%SP+4];
    add.s32 %r9, %r9, %r4;
    st.shared.u32 [%r9], %r10;
    setp.ne.u32 %p1, %r10, %r1;
    @%p1 st.shared.u32 [s], %r1;
"""
    assert judge(body).verdict == "proven"


def test_a_vector_is_followed() -> None:
    body = "st.v2.u32 [%SP], {%r1, %r3};\n ld.v2.u32 {%r9, %r10}, [%SP];\n"
    assert judge(body + "add.s32 %r10, %r10, %r4;\n st.shared.u32 [%r10], %r9;").verdict == "proven"


def test_a_store_under_a_predicate_keeps_what_was_there() -> None:
    body = """
    st.u32 [%SP], %r3;
    setp.lt.u32 %p1, %r1, 5;
    @%p1 st.u32 [%SP], 0;
    ld.u32 %r9, [%SP];
    add.s32 %r9, %r9, %r4;
    st.shared.u32 [%r9], %r1;
"""
    assert judge(body).verdict == "race"
    assert judge(body.replace("@%p1 st.u32 [%SP], 0", "@%p1 st.u32 [%SP], %r3")).verdict == "proven"


def test_a_store_at_an_unknown_offset_may_be_anywhere() -> None:
    """The index comes from the user: it may hit the slot that the address is kept in."""
    body = """
    st.u32 [%SP], %r3;
    cvt.u64.u32 %rd5, %r2;
    add.s64 %rd6, %SP, %rd5;
    st.u32 [%rd6], 0;
    ld.u32 %r9, [%SP];
    add.s32 %r9, %r9, %r4;
    st.shared.u32 [%r9], %r1;
"""
    assert judge(body).verdict != "proven"


def test_a_store_in_a_known_range_leaves_the_rest() -> None:
    body = """
    st.u32 [%SP], %r3;
    and.b32 %r7, %r2, 12;
    cvt.u64.u32 %rd5, %r7;
    add.s64 %rd6, %SP, %rd5;
    st.u32 [%rd6+16], 0;
    ld.u32 %r9, [%SP];
    add.s32 %r9, %r9, %r4;
    st.shared.u32 [%r9], %r1;
"""
    assert judge(body).verdict == "proven"


def test_a_store_through_a_pointer_that_was_stored_elsewhere() -> None:
    """The address of the slot went to global memory, and a pointer comes back from there."""
    body = """
    st.u32 [%SP], %r3;
    ld.param.u64 %rd7, [k_param_0];
    st.global.u64 [%rd7], %SP;
    ld.global.u64 %rd8, [%rd7];
    st.u32 [%rd8], 0;
    ld.u32 %r9, [%SP];
    add.s32 %r9, %r9, %r4;
    st.shared.u32 [%r9], %r1;
"""
    assert judge(body).verdict != "proven"
    assert judge(body.replace("st.global.u64 [%rd7], %SP;", "")).verdict == "proven"


def test_local_memory_does_not_race() -> None:
    """All threads store at the same local address."""
    assert judge("st.u32 [%SP], %r1;\n st.local.u32 [%SPL+4], %r1;").verdict == "proven"


def test_what_a_thread_loads_from_local_memory_is_its_own() -> None:
    """The address is the same in every thread, the value is not: two threads may store at one place."""
    body = """
    cvt.u64.u32 %rd5, %r2;
    add.s64 %rd6, %SP, %rd5;
    st.u32 [%rd6], %r1;
    ld.u32 %r9, [%rd6];
    and.b32 %r9, %r9, 4;
    setp.ne.u32 %p1, %r9, 0;
    @%p1 bra $end;
    bar.sync 0;
$end:
    st.shared.u32 [%r5], %r1;
"""
    assert judge(body).verdict != "proven"


def test_a_generic_address_from_a_parameter_is_global() -> None:
    body = "ld.param.u64 %rd7, [k_param_0];\n st.u32 [%rd7], 7;\n st.u64 [%SP], %rd2;"
    assert judge(body).verdict == "proven"


def test_a_generic_address_that_may_be_shared_or_not_is_not_decided() -> None:
    """A pointer to shared memory was stored; whatever is loaded may be that."""
    body = """
    ld.param.u64 %rd7, [k_param_0];
    st.global.u64 [%rd7], %rd2;
    ld.global.u64 %rd8, [%rd7+8];
    st.u32 [%rd8], %r1;
"""
    verdict = judge(body)
    assert verdict.verdict == "undecided" and "shared or not" in str(verdict.reasons[0])


def test_a_pointer_that_is_shuffled_may_be_shared() -> None:
    body = """
    mov.b64 {%r10, %r11}, %rd3;
    shfl.sync.idx.b32 %r12, %r10, 0, 31, -1;
    shfl.sync.idx.b32 %r13, %r11, 0, 31, -1;
    mov.b64 %rd8, {%r12, %r13};
    st.u32 [%rd8], %r1;
"""
    assert judge(body).verdict != "proven"


def test_a_pointer_that_is_one_of_two() -> None:
    """Half of the threads store to shared memory, the others to global memory."""
    body = """
    ld.param.u64 %rd7, [k_param_0];
    setp.lt.u32 %p1, %r1, 64;
    selp.b64 %rd8, {chosen}, %rd7, %p1;
    st.u32 [%rd8], %r1;
"""
    assert judge(body.replace("{chosen}", "%rd2")).verdict == "proven"
    assert judge(body.replace("{chosen}", "%rd3")).verdict == "race"


def test_local_memory_is_given_up_after_some_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_memory, "SECONDS", -1.0)
    found = judge("st.u64 [%SP+8], %rd2;\n ld.u64 %rd4, [%SP+8];\n st.u32 [%rd4], %r1;")
    assert found.verdict == "undecided"
    assert "not followed to its end in time" in str(found.reasons[0])
