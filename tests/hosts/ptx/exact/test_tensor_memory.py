"""Tensor memory: what `tcgen05` instructions do to it and to shared memory, and what orders them."""

from __future__ import annotations

import numpy as np
import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.exact.tcgen05_descriptors import copied_units, operand_units, shape_of
from tests.hosts.ptx.exact_kernels import kernel

START = f"""
    setp.eq.u32 %p6, %r1, 0;
    shr.u32 %r11, %r1, 5;
    setp.eq.u32 %p7, %r11, 0;
    @%p7 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r7], 64;
    @%p6 mbarrier.init.shared.b64 [%r6], 1;
    @%p6 mbarrier.init.shared.b64 [%r6+8], 1;
    bar.sync 0;
    ld.shared.u32 %r20, [%r7];
    shl.b32 %r21, %r11, 21;
    add.u32 %r21, %r20, %r21;
    shr.u32 %r22, %r4, 4;
    cvt.u64.u32 %rd4, %r22;
    or.b64 %rd5, %rd4, {64 << 16 | 8 << 32 | 1 << 46};
    or.b64 %rd6, %rd4, {8 << 16 | 8 << 32 | 1 << 46};
"""
"""%r20 is the address of 64 columns, %r21 that of this warp's lanes, %rd5 and %rd6 are operands in `s`."""
SHAPE = 1 << 4 | 1 << 17 | 4 << 24
"""64 rows, 8 columns."""
BEFORE, AFTER = "    tcgen05.fence::before_thread_sync;\n", "    tcgen05.fence::after_thread_sync;\n"
MEET = "    bar.sync 1, 128;\n"
LAST = BEFORE + MEET + "    @%p7 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, 64;\n"
LOADED, STORED = "    tcgen05.wait::ld.sync.aligned;\n", "    tcgen05.wait::st.sync.aligned;\n"
REGISTERS = "{" + ", ".join(f"%r{40 + number}" for number in range(8)) + "}"


def multiply(column: int = 0, guard: str = "@%p6", rest: str = "") -> str:
    return (
        f"    {guard} tcgen05.mma.cta_group::1.kind::f16{rest} [%r20+{column}], %rd5, %rd6, {SHAPE}, %p1;\n"
    )


def commit(at: int = 0) -> str:
    return f"    @%p6 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r6+{at}];\n"


def wait(label: str, at: int = 0, parity: int = 0) -> str:
    try_ = f"    mbarrier.try_wait.parity.shared.b64 %p4, [%r6+{at}], {parity};\n"
    return f"${label}:\n{try_}    @!%p4 bra ${label};\n"


def load(column: int = 0, address: str = "%r21") -> str:
    return f"    tcgen05.ld.sync.aligned.32x32b.x8.b32 {REGISTERS}, [{address}+{column}];\n"


def store(column: int = 0) -> str:
    return f"    tcgen05.st.sync.aligned.32x32b.x8.b32 [%r21+{column}], {REGISTERS};\n"


def copy(column: int = 32, shape: str = "32x128b.warpx4") -> str:
    return f"    @%p6 tcgen05.cp.cta_group::1.{shape} [%r20+{column}], %rd5;\n"


def verdict(body: str, threads: int = 128) -> KernelVerdict:
    (found,) = check(kernel(START + body, threads))
    return found


def proven(body: str) -> bool:
    found = verdict(body)
    assert (found.verdict, found.findings) == ("proven", ()), (found.findings, found.reasons)
    return True


def codes(body: str) -> set[str]:
    found = verdict(body)
    assert found.verdict == "race", (found.verdict, found.reasons)
    return {each.code for each in found.findings if each.severity == "error"}


def only_warns(body: str) -> bool:
    found = verdict(body)
    return found.verdict == "proven" and {(each.code, each.severity) for each in found.findings} == {
        ("FP008", "warning")
    }


# ---- products


RESULT = multiply() + commit() + wait("done") + AFTER + load() + LOADED + LAST


def test_a_result_is_loaded_once_its_commit_has_arrived() -> None:
    assert proven(RESULT)
    assert codes(RESULT.replace(wait("done"), "")) == {"FP001"}
    assert codes(RESULT.replace(commit(), "")) == {"FP002"}


def test_a_barrier_does_not_wait_for_a_product() -> None:
    assert codes(multiply() + MEET + AFTER + load() + LOADED + LAST) == {"FP001"}


def test_products_into_one_accumulator_keep_their_order_and_others_do_not() -> None:
    assert proven(multiply() + RESULT)
    assert codes(multiply(4) + RESULT) == {"FP001"}
    assert proven(multiply(8) + RESULT)


def test_the_operands_are_at_work_until_then() -> None:
    fill = "    st.shared.u32 [%r5], %r1;\n"
    assert codes(multiply() + fill + commit() + wait("done") + LAST) == {"FP001"}
    assert proven(multiply() + commit() + wait("done") + "    @%p1 st.shared.u32 [%r5], %r1;\n" + LAST)


def test_operands_that_threads_store_need_a_proxy_fence() -> None:
    fill = "    @%p1 st.shared.u32 [%r5], %r1;\n"
    assert codes(fill + MEET + multiply() + commit() + wait("done") + LAST) == {"FP008"}
    assert proven(fill + "    fence.proxy.async;\n" + MEET + multiply() + commit() + wait("done") + LAST)


def test_an_operand_in_tensor_memory_is_read_there() -> None:
    product = f"    @%p6 tcgen05.mma.cta_group::1.kind::f16 [%r20], [%r20+8], %rd6, {SHAPE}, %p1;\n"
    right = store(8) + STORED + BEFORE + MEET + AFTER + product + commit() + wait("done") + LAST
    assert proven(right)
    assert codes(right.replace(STORED, "")) == {"FP001"}
    assert codes(right.replace("[%r20+8]", "[%r20+4]")) >= {"FP010"}


def test_another_thread_goes_on_with_an_accumulator_behind_fences_alone() -> None:
    other = multiply(guard="@%p8") + commit().replace("@%p6", "@%p8")
    body = (
        "    setp.eq.u32 %p8, %r1, 64;\n" + multiply() + BEFORE + MEET + AFTER + other + wait("done") + AFTER
    )
    assert proven(body + load() + LOADED + LAST)
    assert only_warns(body.replace(BEFORE, "", 1) + load() + LOADED + LAST)
    assert codes(body.replace(BEFORE + MEET + AFTER, "") + load() + LOADED + LAST) == {"FP001"}


# ---- copies and shifts


def test_a_copy_goes_before_the_products_that_follow_it() -> None:
    scaled = "    @%p6 tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale "
    scaled += f"[%r20], %rd5, %rd6, {SHAPE}, [%r20+32], [%r20+36], %p1;\n"
    rest = commit() + wait("done") + LAST
    assert proven(copy() + copy(36) + scaled + rest)
    assert codes(copy() + copy(36) + scaled + copy() + rest) == {"FP001"}
    assert proven(
        copy()
        + copy(36)
        + scaled
        + commit()
        + wait("done")
        + AFTER
        + copy()
        + commit(8)
        + wait("more", 8)
        + LAST
    )


def test_a_copy_is_not_seen_by_loads_before_its_commit() -> None:
    assert codes(copy(0, "128x256b") + MEET + AFTER + load() + LOADED + LAST) == {"FP001"}
    assert proven(copy(0, "128x256b") + commit() + wait("done") + AFTER + load() + LOADED + LAST)


def test_a_shift_goes_before_and_behind_products() -> None:
    shift = "    @%p6 tcgen05.shift.cta_group::1.down [%r20];\n"
    assert proven(multiply() + shift + multiply() + commit() + wait("done") + LAST)
    assert codes(copy(0, "128x256b") + shift + commit() + wait("done") + LAST) == {"FP001"}


# ---- loads and stores


def test_a_warp_waits_for_its_own_loads_and_stores() -> None:
    assert proven(store() + STORED + load() + LOADED + store() + STORED + LAST)
    assert codes(store() + load() + LOADED + LAST + STORED) >= {"FP001"}
    assert codes(load() + store() + STORED + LOADED + LAST) == {"FP001"}


def test_memory_is_freed_behind_all_loads() -> None:
    assert codes(load() + LAST + LOADED) == {"FP001"}
    assert codes(load() + LOADED + LAST.replace(MEET, "")) == {"FP001"}


def test_loads_of_sixteen_lanes_are_in_one_half_or_the_other() -> None:
    half = "    tcgen05.ld.sync.aligned.16x64b.x4.b32 {{%r40, %r41, %r42, %r43}}, [%r21+{}];\n"
    assert proven(half.format(0) + half.format(1 << 20) + LOADED + LAST)
    assert codes(half.format(24 << 16) + LOADED + LAST) == {"FP010"}
    two = "    tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%r40, %r41}, [%r21], 60;\n"
    assert proven(two + LOADED + LAST)
    assert codes(two.replace(", 60;", ", 63;") + LOADED + LAST) == {"FP010"}


def test_what_only_lacks_tcgen05_fences_is_a_warning() -> None:
    assert only_warns(RESULT.replace(AFTER, ""))


def test_the_result_of_a_load_is_data() -> None:
    body = (
        load()
        + LOADED
        + "    setp.eq.u32 %p8, %r40, 0;\n    @%p8 bra $out;\n    bar.sync 1, 128;\n$out:\n"
        + LAST
    )
    assert verdict(body).verdict == "undecided"


# ---- allocations


def test_memory_is_used_where_it_is_allocated() -> None:
    assert codes(load(60) + LOADED + LAST) == {"FP010"}
    assert codes(load(0, "%r20") + LOADED + LAST) == {"FP010"}
    assert codes(LAST + load() + LOADED) >= {"FP010"}


def test_memory_is_freed_once() -> None:
    free = "    @%p7 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, 64;\n"
    assert codes(LAST.replace(free, "")) == {"FP010"}
    assert codes(LAST + free) == {"FP010"}
    assert codes(LAST.replace(", 64;", ", 32;")) == {"FP010"}


def test_a_warp_waits_for_memory_until_another_frees_some() -> None:
    more = "    @%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r7+8], 64;\n"
    start = "    setp.eq.u32 %p8, %r11, 1;\n"
    end = MEET + "    ld.shared.u32 %r23, [%r7+8];\n"
    end += "    @%p8 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r23, 64;\n"
    full = START.replace(", 64;", ", 512;", 1)
    free = "    @%p7 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, 512;\n"
    (found,) = check(kernel(full + start + more + free + end, 128))
    assert found.verdict == "proven", (found.findings, found.reasons)
    (found,) = check(kernel(full + start + more + MEET + free + end.replace(MEET, ""), 128))
    assert {each.code for each in found.findings} == {"FP002"}


def test_the_right_to_allocate_can_be_given_up() -> None:
    up = "    @%p7 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
    assert proven(up + LAST)
    more = "    @%p7 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r7+8], 32;\n"
    assert "FP010" in codes(up + more + LAST)


def apart(first: str, second: str) -> set[str]:
    """What two warps do with nothing that orders them; they free what they have allocated behind a barrier."""
    parts = "    @%p7 bra $first;\n    @%p8 bra $second;\n    bra $meet;\n"
    parts += f"$first:\n{first}    bra $meet;\n$second:\n{second}$meet:\n    bar.sync 0;\n"
    frees = [
        f"    ld.shared.u32 %r2{number}, [%r7+{8 * number}];\n"
        f"    @%p{7 + number} tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2{number}, {part.rsplit(', ', 1)[1]}"
        for number, part in enumerate(each.partition("\n")[0] + "\n" for each in (first, second))
        if "alloc.cta" in part
    ]
    start = "    shr.u32 %r11, %r1, 5;\n    setp.eq.u32 %p7, %r11, 0;\n    setp.eq.u32 %p8, %r11, 1;\n"
    (found,) = check(kernel(start + parts + "".join(frees), 64))
    return {found.verdict, *(each.code for each in found.findings)}


def allocated(columns: int, at: int = 0) -> str:
    return f"    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r7+{at}], {columns};\n"


def test_warps_that_nothing_orders_allocate_in_any_order() -> None:
    up = "    tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
    assert apart(allocated(64), allocated(64, 8)) == {"proven"}
    assert apart(allocated(64), allocated(128, 8)) == {"race", "FP010"}
    assert apart(allocated(128), allocated(64, 8)) == {"race", "FP010"}
    assert apart(allocated(64) + up, allocated(64, 8)) == {"race", "FP010"}
    assert apart(allocated(64), up) == {"race", "FP010"}


def test_warps_that_hold_memory_and_wait_for_more_are_not_decided() -> None:
    def both(register: str) -> str:
        free = "    tcgen05.dealloc.cta_group::1.sync.aligned.b32 {}, 256;\n"
        parts = (allocated(256, at).replace("%r7", register) for at in (0, 8))
        loads = f"    bar.warp.sync -1;\n    ld.shared.u32 %r20, [{register}];\n"
        loads += f"    ld.shared.u32 %r21, [{register}+8];\n"
        return "".join(parts) + loads + free.format("%r20") + free.format("%r21")

    start = "    @%p1 bra $first;\n"
    body = start + both("%r6") + "    bra $end;\n$first:\n" + both("%r7") + "$end:\n"
    (found,) = check(kernel(body, 64))
    assert found.verdict == "undecided" and "may wait" in found.reasons[0].message
    (alone,) = check(kernel("    @!%p1 bra $end;\n" + both("%r6") + "$end:\n", 64))
    assert alone.verdict == "proven"


def test_two_blocks_that_work_together_allocate_together() -> None:
    body = "    barrier.cluster.arrive;\n    barrier.cluster.wait;\n    mov.u32 %r30, %cluster_ctarank;\n"
    body += "    setp.eq.u32 %p5, %r30, 0;\n{}" + allocated(64).replace("cta_group::1", "cta_group::2")
    body += "    bar.warp.sync -1;\n    ld.shared.u32 %r20, [%r7];\n"
    body += "    tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r20, 64;\n$end:\n"
    (found,) = check(kernel(body.format(""), 32, 2))
    assert found.verdict == "proven", (found.findings, found.reasons)
    (found,) = check(kernel(body.format("    @%p5 bra $end;\n"), 32, 2))
    assert {each.code for each in found.findings} == {"FP010"}


# ---- what is not judged


def test_work_of_one_block_and_of_two_is_not_mixed() -> None:
    found = verdict(RESULT.replace("dealloc.cta_group::1", "dealloc.cta_group::2"))
    assert found.verdict == "undecided" and "cta_group" in found.reasons[0].message


@pytest.mark.parametrize(
    "line",
    [
        f"tcgen05.mma.ws.cta_group::1.kind::f16 [%r20], %rd5, %rd6, {SHAPE}, %p1;",
        f"tcgen05.mma.sp.cta_group::1.kind::f16 [%r20], %rd5, %rd6, [%r20], {SHAPE}, %p1;",
        "tcgen05.cp.cta_group::1.128x256b.b8x16.b4x16_p64 [%r20], %rd5;",
    ],
)
def test_what_is_not_judged_is_refused_by_name(line: str) -> None:
    found = verdict(f"    {line}\n")
    assert found.verdict == "undecided" and "tcgen05" in str(found.reasons[0])


def test_a_swizzle_that_is_not_known_is_not_decided() -> None:
    found = verdict(f"    or.b64 %rd5, %rd5, {1 << 61};\n" + RESULT)
    assert found.verdict == "undecided" and "layout" in str(found.reasons[0])


# ---- descriptors


def test_a_shape_is_read_from_its_descriptor() -> None:
    shape = shape_of(1 << 4 | 1 << 16 | 256 // 8 << 17 | 128 // 16 << 24, False)
    assert (shape.rows, shape.columns, shape.left_transposed, shape.right_transposed) == (
        128,
        256,
        False,
        True,
    )
    assert not shape_of(1 << 2, False).usual and not shape_of(1 << 31, True).usual


def test_operands_take_up_their_rows() -> None:
    plain = 4096 >> 4 | 128 << 16 | 8 << 32 | 1 << 46
    units = operand_units(plain, 128, False, "f16")
    assert units is not None and np.array_equal(units, 4096 + 16 * np.arange(256))
    # 128 bytes of a swizzled row, of which a product takes 32.
    swizzled = operand_units(4096 >> 4 | 64 << 32 | 1 << 46 | 2 << 61, 64, False, "f16")
    assert swizzled is not None and len(swizzled) == 128 and swizzled.max() < 4096 + 64 * 128


def test_a_copy_of_scales_reads_512_bytes() -> None:
    units = copied_units(4096 >> 4 | 8 << 32 | 1 << 46, 32, 1)
    assert units is not None and np.array_equal(np.sort(units), 4096 + 16 * np.arange(32))
