"""Kernels in PTX whose synchronization only a run follows: numbered barriers, mbarriers, bulk copies, wgmma."""

from __future__ import annotations

FRAME = """
.version 8.6
.target sm_90a
.address_size 64

.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
.reqntid {threads}
{cluster}
{{
    .reg .pred %p<20>;
    .reg .f32 %f<20>;
    .reg .b32 %r<60>;
    .reg .b64 %rd<20>;
    .shared .align 1024 .b8 s[4096];
    .shared .align 8 .b8 full[16];
    .shared .align 8 .b8 empty[16];
    ld.param.u64 %rd1, [k_param_0];
    ld.param.u32 %r2, [k_param_1];
    mov.u32 %r1, %tid.x;
    and.b32 %r3, %r1, 31;
    mov.u32 %r4, s;
    mad.lo.u32 %r5, %r3, 4, %r4;
    mov.u32 %r6, full;
    mov.u32 %r7, empty;
    mov.u32 %r10, 0;
    setp.lt.u32 %p1, %r1, 32;
    setp.eq.u32 %p2, %r1, 0;
{body}
    ret;
}}
"""
"""%r1 is tid.x, %r2 the parameter n, %r5 the address of this lane's word of s, %p1 holds in the first warp."""


def kernel(body: str, threads: int = 64, cluster: int | None = None) -> str:
    """A kernel `k` with that body, for clusters of so many blocks."""
    directive = "" if cluster is None else f".reqnctapercluster {cluster}"
    return FRAME.format(body=body, threads=threads, cluster=directive)


HAND_OVER = """
    @!%p1 bra $consumer;
$fill:
    bar.sync 2, 64;
    st.shared.u32 [%r5], %r10;
    bar.arrive 1, 64;
    add.u32 %r10, %r10, 1;
    setp.lt.u32 %p3, %r10, %r2;
    @%p3 bra $fill;
    bra $end;
$consumer:
    bar.arrive 2, 64;
    bar.sync 1, 64;
    xor.b32 %r11, %r5, 4;
    ld.shared.u32 %r12, [%r11];
    add.u32 %r10, %r10, 1;
    setp.lt.u32 %p3, %r10, %r2;
    @%p3 bra $consumer;
$end:
"""
"""The first warp hands a row to the second, n times: two numbered barriers."""

RING = """
    @!%p2 bra $made;
    mbarrier.init.shared.b64 [%r6], 1;
    mbarrier.init.shared.b64 [%r6+8], 1;
    mbarrier.init.shared.b64 [%r7], 32;
    mbarrier.init.shared.b64 [%r7+8], 32;
$made:
    bar.sync 0;
    @!%p1 bra $consumer;
    @!%p2 bra $end;
$fill:
    and.b32 %r11, %r10, 1;
    shr.u32 %r12, %r10, 1;
    and.b32 %r12, %r12, 1;
    xor.b32 %r13, %r12, 1;
    mad.lo.u32 %r14, %r11, 8, %r6;
    mad.lo.u32 %r15, %r11, 8, %r7;
    mad.lo.u32 %r16, %r11, 128, %r4;
$free:
    mbarrier.try_wait.parity.shared.b64 %p4, [%r15], %r13;
    @!%p4 bra $free;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r14], 128;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r16], [%rd1], 128, [%r14];
    add.u32 %r10, %r10, 1;
    setp.lt.u32 %p3, %r10, %r2;
    @%p3 bra $fill;
    bra $end;
$consumer:
    and.b32 %r11, %r10, 1;
    shr.u32 %r12, %r10, 1;
    and.b32 %r12, %r12, 1;
    mad.lo.u32 %r14, %r11, 8, %r6;
    mad.lo.u32 %r15, %r11, 8, %r7;
    mad.lo.u32 %r16, %r11, 128, %r5;
$filled:
    mbarrier.try_wait.parity.shared.b64 %p4, [%r14], %r12;
    @!%p4 bra $filled;
    ld.shared.u32 %r17, [%r16];
    fence.proxy.async.shared::cta;
    mbarrier.arrive.shared.b64 _, [%r15];
    add.u32 %r10, %r10, 1;
    setp.lt.u32 %p3, %r10, %r2;
    @%p3 bra $consumer;
$end:
"""
"""Two slots that one thread fills with bulk copies and a warp empties, n times."""


def one_slot(roles: str, fill: str, use: str, consumers: int) -> str:
    """One slot that is filled and used n times, with so many arrivals of those who use it. `roles` sends threads to
    `$consumer` and `$end`; the others fill it."""
    return f"""
    @%p2 mbarrier.init.shared.b64 [%r6], 1;
    @%p2 mbarrier.init.shared.b64 [%r7], {consumers};
    bar.sync 0;
{roles}$fill:
    and.b32 %r12, %r10, 1;
    xor.b32 %r13, %r12, 1;
$free:
    mbarrier.try_wait.parity.shared.b64 %p4, [%r7], %r13;
    @!%p4 bra $free;
{fill}    add.u32 %r10, %r10, 1;
    setp.lt.u32 %p3, %r10, %r2;
    @%p3 bra $fill;
    bra $end;
$consumer:
    and.b32 %r12, %r10, 1;
$filled:
    mbarrier.try_wait.parity.shared.b64 %p4, [%r6], %r12;
    @!%p4 bra $filled;
{use}    add.u32 %r10, %r10, 1;
    setp.lt.u32 %p3, %r10, %r2;
    @%p3 bra $consumer;
$end:
"""


STORE = """
    st.shared.u32 [%r5], %r1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @!%p2 bra $copied;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r4], 128;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
$copied:
    bar.sync 0;
    st.shared.u32 [%r5], %r10;
"""
"""A warp stages a row, one thread copies it out, and the row is used again."""

PRODUCT = """
    mad.lo.u32 %r11, %r1, 16, %r4;
    st.shared.v4.u32 [%r11], {%r1, %r1, %r1, %r1};
    st.shared.v4.u32 [%r11+2048], {%r1, %r1, %r1, %r1};
    fence.proxy.async.shared::cta;
    bar.sync 0;
    shr.u32 %r12, %r4, 4;
    cvt.u64.u32 %rd2, %r12;
    or.b64 %rd2, %rd2, 68720001024;
    mov.u64 %rd3, %rd2;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd2, %rd3, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    bar.sync 0;
    st.shared.v4.u32 [%r11], {%r10, %r10, %r10, %r10};
"""
"""A warp group stores 4 KiB, multiplies from the first half, and stores there again."""

COPIES = """
    @!%p2 bra $made;
    mbarrier.init.shared.b64 [%r6], 64;
$made:
    bar.sync 0;
    mad.lo.u32 %r11, %r1, 4, %r4;
    cp.async.ca.shared.global [%r11], [%rd1], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [%r6];
$filled:
    mbarrier.test_wait.parity.shared.b64 %p4, [%r6], 0;
    @!%p4 bra $filled;
    xor.b32 %r12, %r1, 63;
    mad.lo.u32 %r13, %r12, 4, %r4;
    ld.shared.u32 %r14, [%r13];
"""
"""The copies of two warps arrive at an mbarrier, and every thread reads another one's word."""
