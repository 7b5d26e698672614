"""Small kernels in PTX for the tests: a frame around a body."""

from __future__ import annotations

FRAME = """
.version 8.0
.target sm_80
.address_size 64

.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
{{
    .reg .pred %p<20>;
    .reg .f32 %f<20>;
    .reg .b32 %r<60>;
    .reg .b64 %rd<20>;
    .shared .align 4 .b8 s[1024];
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [k_param_1];
    shl.b32 %r3, %r1, 2;
    mov.u32 %r4, s;
    add.s32 %r5, %r4, %r3;
{body}
    ret;
}}
"""
"""%r1 is tid.x, %r2 the parameter n, %r5 the address of s[tid.x]."""


def kernel(body: str) -> str:
    """A kernel `k` with that body."""
    return FRAME.format(body=body)


NEIGHBOUR = """
    st.shared.u32 [%r5], %r1;
    {barrier}
    xor.b32 %r6, %r3, 256;
    add.s32 %r7, %r4, %r6;
    ld.shared.u32 %r8, [%r7];
"""
"""Each thread stores its word and loads that of the thread 64 further on."""

REDUCTION = """
    st.shared.u32 [%r5], %r1;
    bar.sync 0;
    mov.u32 %r10, %ntid.x;
    shr.u32 %r11, %r10, 1;
$loop:
    setp.ge.u32 %p1, %r1, %r11;
    @%p1 bra $skip;
    shl.b32 %r12, %r11, 2;
    add.s32 %r13, %r5, %r12;
    ld.shared.u32 %r14, [%r13];
    ld.shared.u32 %r15, [%r5];
    add.s32 %r16, %r14, %r15;
    st.shared.u32 [%r5], %r16;
$skip:
    {barrier}
    shr.u32 %r11, %r11, 1;
    setp.ne.u32 %p2, %r11, 0;
    @%p2 bra $loop;
"""

COPY = """
    ld.param.u64 %rd1, [k_param_0];
    cp.async.ca.shared.global [%r5], [%rd1], 4, 4;
    cp.async.commit_group;
    {wait}
    bar.sync 0;
    xor.b32 %r6, %r3, 256;
    add.s32 %r7, %r4, %r6;
    ld.shared.u32 %r8, [%r7];
"""
