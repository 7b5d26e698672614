"""Every opcode of the PTX ISA is followed, known to be harmless, handled, or refused by a name that says why."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx.reading.effects import effect
from fencepost.hosts.ptx.reading.module import Instruction
from fencepost.hosts.ptx.reading.parse import parse
from tests.hosts.ptx.kernels import kernel

COMPUTING = """
    add.s32 %r6, %r1, 1; add.cc.u32 %r6, %r1, 1; addc.u32 %r6, %r1, 0; sub.s32 %r6, %r1, 1;
    sub.cc.u32 %r6, %r1, 1; subc.u32 %r6, %r1, 0; mul.lo.s32 %r6, %r1, 3; mul.hi.u32 %r6, %r1, %r2;
    mul.wide.u32 %rd3, %r1, %r2; mad.lo.s32 %r6, %r1, 3, %r2; mad.wide.s32 %rd3, %r1, 3, %rd1;
    mad.lo.cc.u32 %r6, %r1, 3, %r2; madc.hi.u32 %r6, %r1, 3, %r2; mul24.lo.u32 %r6, %r1, 3;
    mul24.hi.u32 %r6, %r1, 3; mad24.lo.u32 %r6, %r1, 3, %r2; sad.u32 %r6, %r1, %r2, %r3; div.u32 %r6, %r1, 3;
    rem.u32 %r6, %r1, 3; abs.s32 %r6, %r1; neg.s32 %r6, %r1; min.s32 %r6, %r1, 3; max.s32 %r6, %r1, 3;
    max.s32.relu %r6, %r1, %r2; popc.b32 %r6, %r1; clz.b32 %r6, %r1; bfind.u32 %r6, %r1; fns.b32 %r6, %r1, 0, 1;
    brev.b32 %r6, %r1; bfe.u32 %r6, %r1, 2, 3; bfi.b32 %r6, %r1, %r2, 4, 5; szext.wrap.u32 %r6, %r1, %r2;
    bmsk.clamp.b32 %r6, %r1, %r2; dp4a.u32.u32 %r6, %r1, %r2, %r3; dp2a.lo.u32.u32 %r6, %r1, %r2, %r3;
    testp.finite.f32 %p1, %f1; copysign.f32 %f2, %f1, %f1; fma.rn.f32 %f2, %f1, %f1, %f1;
    rcp.approx.f32 %f2, %f1; sqrt.rn.f32 %f2, %f1; rsqrt.approx.f32 %f2, %f1; sin.approx.f32 %f2, %f1;
    cos.approx.f32 %f2, %f1; lg2.approx.f32 %f2, %f1; ex2.approx.f32 %f2, %f1; tanh.approx.f32 %f2, %f1;
    set.eq.u32.f32 %r6, %f1, %f1; set.lt.f32.s32 %f2, %r1, %r2; setp.eq.s32 %p1, %r1, 1;
    setp.lt.and.s32 %p1|%p2, %r1, 1, !%p3; selp.b32 %r6, %r1, %r2, %p1; slct.u32.s32 %r6, %r1, %r2, %r3;
    and.b32 %r6, %r1, 3; or.b32 %r6, %r1, 3; xor.b32 %r6, %r1, 3; not.b32 %r6, %r1; cnot.b32 %r6, %r1;
    lop3.b32 %r6, %r1, %r2, %r3, 0x3f; lop3.or.b32 %r6|%p1, %r1, %r2, %r3, 0x3f, %p2;
    shf.l.wrap.b32 %r6, %r1, %r2, 3; shl.b32 %r6, %r1, 2; shr.u32 %r6, %r1, 2; mov.u32 %r6, %r1;
    mov.b64 %rd3, {%r1, %r2}; prmt.b32 %r6, %r1, %r2, 0x5410; isspacep.shared %p1, %rd1;
    cvta.shared.u64 %rd3, %rd1; cvta.to.global.u64 %rd3, %rd1; cvt.u64.u32 %rd3, %r1;
    cvt.pack.sat.s16.s32 %r6, %r1, %r2;
    getctarank.shared::cluster.u32 %r6, %r1;
"""
HARMLESS = """
    shfl.sync.down.b32 %r6|%p1, %r1, 1, 31, -1; vote.sync.ballot.b32 %r6, %p1, -1; vote.ballot.b32 %r6, %p1;
    match.any.sync.b32 %r6, %r1, -1; activemask.b32 %r6; redux.sync.add.s32 %r6, %r1, -1;
    elect.sync %r6|%p1, -1; prefetch.global.L2 [%rd1]; prefetchu.L1 [%rd1];
    applypriority.global.L2::evict_normal [%rd1], 128; discard.global.L2 [%rd1], 128;
    createpolicy.fractional.L2::evict_last.b64 %rd3, 1.0; tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}];
    tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f1, %f2}]; txq.width.b32 %r6, [t];
    istypep.texref %p1, %rd1; suld.b.1d.b32.trap %r6, [t, {%r1}]; sust.b.1d.b32.trap [t, {%r1}], %r6;
    sured.b.add.1d.u32.trap [t, {%r1}], %r6; suq.width.b32 %r6, [t]; membar.cta; fence.acq_rel.gpu;
    fence.proxy.async; griddepcontrol.wait; nanosleep.u32 20; pmevent 1; brkpt;
    setmaxnreg.inc.sync.aligned.u32 64; stacksave.u32 %r6; stackrestore.u32 %r6; alloca.u64 %rd3, %rd1;
    mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};
    movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r1;
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %r1; vadd.s32.s32.s32 %r6, %r1.b0, %r2.h1;
    vsub.s32.s32.s32 %r6, %r1, %r2; vabsdiff.s32.s32.s32 %r6, %r1, %r2; vmin.s32.s32.s32 %r6, %r1, %r2;
    vmax.s32.s32.s32 %r6, %r1, %r2; vshl.u32.u32.u32.clamp %r6, %r1, %r2; vshr.u32.u32.u32.clamp %r6, %r1, %r2;
    vmad.s32.s32.s32 %r6, %r1, %r2, %r3; vset.s32.u32.lt %r6, %r1, %r2; vadd2.s32.s32.s32 %r6, %r1, %r2, %r3;
    vsub2.s32.s32.s32 %r6, %r1, %r2, %r3; vavrg2.s32.s32.s32 %r6, %r1, %r2, %r3;
    vabsdiff2.s32.s32.s32 %r6, %r1, %r2, %r3; vmin2.s32.s32.s32 %r6, %r1, %r2, %r3;
    vmax2.s32.s32.s32 %r6, %r1, %r2, %r3; vset2.s32.u32.lt %r6, %r1, %r2, %r3;
    vadd4.s32.s32.s32 %r6, %r1, %r2, %r3; vsub4.s32.s32.s32 %r6, %r1, %r2, %r3;
    vavrg4.s32.s32.s32 %r6, %r1, %r2, %r3; vabsdiff4.u32.u32.u32.add %r6, %r1, %r2, %r3;
    vmin4.s32.s32.s32 %r6, %r1, %r2, %r3; vmax4.s32.s32.s32 %r6, %r1, %r2, %r3;
    vset4.s32.u32.lt %r6, %r1, %r2, %r3; ld.global.u32 %r6, [%rd1]; ld.const.u32 %r6, [%rd1];
    ld.local.u32 %r6, [%rd1]; ldu.global.u32 %r6, [%rd1]; st.global.u32 [%rd1], %r6;
    atom.global.add.u32 %r6, [%rd1], 1; red.global.add.u32 [%rd1], 1; cp.async.commit_group;
    cp.async.wait_group 0; cp.async.wait_all; tensormap.replace.tile.rank.global.b1024.b32 [%rd1], 2;
    wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f1};
"""
TOUCHES_SHARED_MEMORY = """
    ld.shared.u32 %r6, [%r5]; ld.shared::cta.v2.u32 {%r6, %r7}, [%r5]; st.shared.u32 [%r5], %r6;
    ld.u32 %r6, [%rd1]; st.u32 [%rd1], %r6; atom.shared.add.u32 %r6, [%r5], 1; red.shared.add.u32 [%r5], 1;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r5];
    stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r6}; cp.async.ca.shared.global [%r5], [%rd1], 4, 4;
    tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd1], 2;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%rd2], 128;
"""
WAITS = (
    "bar.sync 0; barrier.sync.aligned 0; barrier.cta.sync 0; bar.red.popc.u32 %r6, 0, %p1; bar.warp.sync -1;"
)
REFUSED = """
    ld.shared::cluster.u32 %r6, [%r5]; mapa.shared::cluster.u32 %r6, %r1, 0;
    st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], %r6, [%r7];
    st.bulk.weak.shared::cta [%r5], 16, 0; red.async.relaxed.cluster.global.add.u32 [%r5], %r6, [%r7];
    multimem.ld_reduce.add.u32 %r6, [%rd1]; multimem.red.add.u32 [%rd1], %r6; multimem.st.u32 [%rd1], %r6;
    tensormap.replace.tile.rank.b1024.b32 [%rd1], 2;
    tcgen05.alloc.cta_group::1.sync.aligned.b32 [%r5], 32;
    clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r5], [%r7];
    call (r), unknown, (p);
"""
"""What the proof refuses: runs follow the cluster, what is left is not judged."""


def instructions(body: str) -> list[Instruction]:
    (routine,) = parse(kernel(body)).kernels
    return [each for each in routine.body if isinstance(each, Instruction)][5:-1]


def ids(body: str) -> list[str]:
    return [each.opcode for each in instructions(body)]


@pytest.mark.parametrize("instruction", instructions(COMPUTING + HARMLESS), ids=ids(COMPUTING + HARMLESS))
def test_what_only_computes_has_no_effect(instruction: Instruction) -> None:
    found = effect(instruction)
    assert (found.accesses, found.barrier, found.refused) == ((), None, None)


@pytest.mark.parametrize("instruction", instructions(TOUCHES_SHARED_MEMORY), ids=ids(TOUCHES_SHARED_MEMORY))
def test_what_touches_memory_says_which(instruction: Instruction) -> None:
    found = effect(instruction)
    assert found.accesses and found.refused is None


@pytest.mark.parametrize("instruction", instructions(WAITS), ids=ids(WAITS))
def test_barriers_are_barriers(instruction: Instruction) -> None:
    assert effect(instruction).barrier is not None


@pytest.mark.parametrize("instruction", instructions(REFUSED), ids=ids(REFUSED))
def test_what_is_not_judged_is_refused_by_a_name(instruction: Instruction) -> None:
    refused = effect(instruction).refused
    assert refused is not None and "not known" not in refused.replace("memory access that is not known", "")


def test_an_opcode_that_does_not_exist_is_refused() -> None:
    (instruction,) = instructions("frobnicate.b32 %r6, %r1;")
    assert effect(instruction).refused == "`frobnicate`, which is not known"


ENDS = ("bra", "brx", "ret", "exit", "trap")


@pytest.mark.parametrize("name", ENDS)
def test_control_flow_has_no_effect_by_itself(name: str) -> None:
    (instruction,) = instructions(f"{name} %r1, $L;" if name == "brx" else f"{name} $L;")
    assert effect(instruction).refused is None
