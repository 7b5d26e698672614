"""Clusters: blocks that reach each other's shared memory, in one run."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import KernelVerdict, PtxError, check
from fencepost.hosts.ptx.launches.launch_sites import cluster_of_launches
from tests.hosts.ptx.exact_kernels import kernel

SYNC = "    barrier.cluster.arrive;\n    barrier.cluster.wait;\n"
PEER = """
    mad.lo.u32 %r5, %r1, 4, %r4;
    mov.u32 %r20, %cluster_ctarank;
    xor.b32 %r21, %r20, 1;
    mapa.shared::cluster.u32 %r22, %r5, %r21;
    mapa.shared::cluster.u32 %r23, %r6, %r21;
    mapa.shared::cluster.u32 %r24, %r7, %r21;
"""
"""%r22 is this thread's word of `s` in the other block of two, %r23 and %r24 `full` and `empty` there."""
STORE, LOAD = "    st.shared.u32 [%r5], %r1;\n", "    ld.shared::cluster.u32 %r12, [%r22];\n"
EXCHANGE = PEER + STORE + SYNC + LOAD + SYNC
INIT = "    @%p2 mbarrier.init.shared.b64 [%r6], {};\n"
WAIT = """
$wait{0}:
    mbarrier.try_wait.parity.shared.b64 %p4, [%r6], {0};
    @!%p4 bra $wait{0};
"""


def verdict(body: str, threads: int = 32, cluster: int | None = 2) -> KernelVerdict:
    (found,) = check(kernel(body, threads, cluster))
    return found


def codes(body: str, threads: int = 32) -> set[str]:
    found = verdict(body, threads)
    assert found.verdict == "race", (found.verdict, found.reasons)
    return {each.code for each in found.findings if each.severity == "error"}


def proven(body: str, threads: int = 32, cluster: int = 2) -> KernelVerdict:
    found = verdict(body, threads, cluster)
    assert (found.verdict, found.findings) == ("proven", ()), (found.findings, found.reasons)
    return found


# ---- the barrier of a cluster


def test_what_a_block_stores_is_read_by_another_behind_the_barrier_of_the_cluster() -> None:
    assert proven(EXCHANGE).holds_for.startswith("blocks of 32 threads, clusters of 2 blocks")


def test_without_it_they_race() -> None:
    found = verdict(PEER + STORE + LOAD + SYNC)
    race = next(each for each in found.findings if each.code == "FP001")
    assert race.blocks is not None and set(race.blocks) == {0, 1}
    assert "of block 1" in race.message and "cluster.sync()" in race.fix


def test_a_barrier_of_the_block_orders_its_own_threads_alone() -> None:
    assert "FP001" in codes(PEER + STORE + "    bar.sync 0;\n" + LOAD + SYNC)
    handed_on = PEER + STORE + "    bar.sync 0;\n" + SYNC + LOAD + SYNC
    assert proven(handed_on, 64)


def test_a_block_may_end_only_once_nobody_reads_its_memory() -> None:
    assert codes(PEER + STORE + SYNC + LOAD) == {"FP009"}


def test_a_block_is_touched_only_once_it_has_started() -> None:
    found = verdict(PEER + "    st.shared::cluster.u32 [%r22], %r1;\n" + SYNC)
    assert [each.code for each in found.findings] == ["FP009"]
    assert "may not have started" in found.findings[0].message


def test_a_relaxed_arrival_hands_on_nothing_unless_a_fence_stands_before_it() -> None:
    relaxed = EXCHANGE.replace("arrive;", "arrive.relaxed;", 1)
    assert codes(relaxed) == {"FP001"}
    assert proven(relaxed.replace(STORE, STORE + "    fence.acq_rel.cluster;\n"))
    assert proven(relaxed.replace(STORE, STORE + "    membar.gl;\n"))
    assert codes(relaxed.replace(STORE, STORE + "    fence.acq_rel.cta;\n")) == {"FP001"}
    assert codes(relaxed.replace(STORE, "    fence.acq_rel.cluster;\n" + STORE)) == {"FP001"}


def test_every_arrival_is_waited_for_before_the_next() -> None:
    assert codes(SYNC + "    barrier.cluster.arrive;\n    barrier.cluster.arrive;\n") == {"FP003"}
    assert "FP003" in codes("    barrier.cluster.wait;\n")


def test_threads_that_have_ended_are_not_waited_for() -> None:
    assert proven("    @%p1 exit;\n" + SYNC, 64)


def test_a_barrier_that_one_block_does_not_reach_never_completes() -> None:
    stuck = (
        PEER
        + INIT.format(1)
        + "    bar.sync 0;\n    setp.eq.u32 %p3, %r20, 0;\n    @%p3 bra $other;\n"
        + WAIT.format(0)
    )
    found = verdict(stuck + "$other:\n" + SYNC, 32)
    assert {each.code for each in found.findings} == {"FP002"}


def test_the_aligned_forms_are_the_same() -> None:
    aligned = EXCHANGE.replace("arrive;", "arrive.aligned;").replace("wait;", "wait.acquire.aligned;")
    assert proven(aligned, 64)


# ---- addresses


def test_a_generic_address_may_be_one_of_another_block() -> None:
    generic = """
    cvt.u64.u32 %rd3, %r5;
    cvta.shared.u64 %rd3, %rd3;
    mapa.u64 %rd4, %rd3, %r21;
"""
    body = PEER + generic + STORE + SYNC + "    ld.u32 %r12, [%rd4];\n" + SYNC
    assert proven(body)
    assert codes(body.replace(STORE + SYNC, STORE)) >= {"FP001"}
    assert proven(body.replace("ld.u32 %r12, [%rd4]", "ld.u32 %r12, [%rd3]"))


def test_every_block_has_its_own_place_in_the_cluster() -> None:
    """Of a cluster of 2x2, each block stores into slots that its registers name; all of them are different."""
    numbers = """
    mov.u32 %r20, %cluster_ctaid.x;
    mov.u32 %r21, %cluster_ctaid.y;
    mov.u32 %r22, %cluster_nctaid.x;
    mad.lo.u32 %r23, %r21, %r22, %r20;
    mov.u32 %r24, %cluster_nctarank;
    rem.u32 %r23, %r23, %r24;
    mad.lo.u32 %r25, %r23, 128, %r5;
    mapa.shared::cluster.u32 %r26, %r25, 0;
"""
    body = SYNC + numbers + "    st.shared::cluster.u32 [%r26], %r21;\n" + SYNC
    (found,) = check(kernel(body, 32), cluster=(2, 2, 1))
    assert found.verdict == "proven" and "clusters of 2x2 blocks" in found.holds_for
    (found,) = check(kernel(body.replace("%r21, %r22, %r20", "%r21, 0, %r20"), 32), cluster=(2, 2, 1))
    assert found.verdict != "proven"


def test_the_rank_of_an_address_is_read_back() -> None:
    """Each block stores to itself by way of the rank that an address of the other one gives."""
    back = "    getctarank.shared::cluster.u32 %r26, %r22;\n    xor.b32 %r26, %r26, 1;\n"
    back += "    mapa.shared::cluster.u32 %r27, %r22, %r26;\n"
    assert proven(PEER + back + "    st.shared::cluster.u32 [%r27], %r1;\n    ld.shared.u32 %r12, [%r5];\n")


def test_a_rank_that_the_cluster_does_not_have_is_not_decided() -> None:
    found = verdict(SYNC + PEER.replace("xor.b32 %r21, %r20, 1", "add.u32 %r21, %r20, 1") + LOAD + SYNC)
    assert found.verdict == "undecided" and "outside" in str(found.reasons[0])


def test_blocks_need_not_be_whole_warps() -> None:
    assert proven(EXCHANGE, 20)
    assert proven(EXCHANGE, 48)


def test_eight_blocks_are_run_together() -> None:
    ring = """
    mov.u32 %r20, %cluster_ctarank;
    add.u32 %r21, %r20, 1;
    and.b32 %r21, %r21, 7;
    mapa.shared::cluster.u32 %r22, %r5, %r21;
"""
    assert proven(ring + STORE + SYNC + LOAD + SYNC, 32, 8)


# ---- mbarriers of other blocks


ARRIVE = "    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];\n"
HAND_OVER = (
    PEER + INIT.format(32) + SYNC + "    st.shared::cluster.u32 [%r22], %r1;\n" + ARRIVE + WAIT.format(0)
)
HAND_OVER += "    xor.b32 %r11, %r5, 4;\n    ld.shared.u32 %r12, [%r11];\n"


def test_an_arrival_at_the_mbarrier_of_another_block_hands_on_what_was_stored() -> None:
    assert proven(HAND_OVER)
    assert "FP001" in codes(HAND_OVER.replace(WAIT.format(0), ""))


def test_an_arrival_at_the_own_mbarrier_tells_the_other_block_nothing() -> None:
    assert "FP001" in codes(HAND_OVER.replace("_, [%r23]", "_, [%r6]"))


def test_a_relaxed_arrival_counts_and_hands_on_nothing() -> None:
    relaxed = HAND_OVER.replace("release.cluster", "relaxed.cluster")
    assert "FP001" in codes(relaxed)
    fenced = relaxed.replace(ARRIVE.replace("release", "relaxed"), "")
    fenced = fenced.replace(WAIT.format(0), "    fence.acq_rel.cluster;\n" + ARRIVE + WAIT.format(0))
    assert proven(fenced.replace("release.cluster", "relaxed.cluster"))


def test_a_relaxed_wait_sees_what_was_handed_on_behind_a_fence() -> None:
    relaxed = HAND_OVER.replace("try_wait.parity.shared", "try_wait.parity.relaxed.cluster.shared::cta")
    assert "FP001" in codes(relaxed)
    assert proven(relaxed.replace("    xor.b32 %r11", "    fence.acq_rel.cluster;\n    xor.b32 %r11"))


def test_an_mbarrier_is_used_by_others_once_its_init_is_handed_on() -> None:
    relaxed = SYNC.replace("arrive", "arrive.relaxed")
    without = HAND_OVER.replace(SYNC, relaxed, 1)
    assert "FP001" in codes(without)
    fence = "    fence.mbarrier_init.release.cluster;\n"
    assert proven(without.replace(relaxed, fence + relaxed, 1))


def test_the_fence_for_inits_hands_on_nothing_else() -> None:
    relaxed = "    fence.mbarrier_init.release.cluster;\n" + SYNC.replace("arrive", "arrive.relaxed")
    assert codes(PEER + STORE + relaxed + LOAD + SYNC) == {"FP001"}


STORES = PEER + INIT.format(1) + SYNC + "    @%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 128;\n"
STORES += "    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r22], %r1, [%r23];\n"
READ = WAIT.format(0) + "    xor.b32 %r11, %r5, 4;\n    ld.shared.u32 %r12, [%r11];\n"


def test_asynchronous_stores_are_there_once_their_bytes_are() -> None:
    assert proven(STORES + READ)
    assert "FP001" in codes(STORES + READ.replace(WAIT.format(0), ""))
    assert codes(STORES.replace(", 128;", ", 132;") + READ) == {"FP002"}


def test_asynchronous_stores_to_one_word_race() -> None:
    same = STORES.replace("bytes.u32 [%r22]", "bytes.u32 [%r25]")
    same = same.replace(SYNC, "    mapa.shared::cluster.u32 %r25, %r4, %r21;\n" + SYNC)
    found = verdict(same + READ)
    assert found.verdict != "proven"


def test_asynchronous_updates_of_one_word_do_not() -> None:
    update = "    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r25], 1, [%r23];\n"
    body = STORES.partition("    st.async")[0] + "    mapa.shared::cluster.u32 %r25, %r4, %r21;\n" + update
    zero = "    @%p2 st.shared.u32 [%r4], 0;\n"
    body = body.replace(SYNC, zero + SYNC)
    assert proven(body + WAIT.format(0) + "    ld.shared.u32 %r12, [%r4];\n")


def test_bytes_are_counted_in_the_block_that_they_go_to() -> None:
    found = verdict(STORES.replace("%r1, [%r23]", "%r1, [%r6]") + READ)
    assert any("has block 0 count the bytes" in each.message for each in found.findings)


COPY = "    @%p2 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r25], [%r4], 128, [%r23];\n"
SENT = STORES.partition("    st.async")[0] + "    add.u32 %r25, %r4, 256;\n"
SENT += (
    "    mapa.shared::cluster.u32 %r25, %r25, %r21;\n"
    + STORE
    + "    fence.proxy.async;\n    bar.sync 0;\n"
    + COPY
)
GOT = WAIT.format(0) + "    ld.shared.u32 %r12, [%r5+256];\n"


def test_a_bulk_copy_between_blocks_reads_here_and_writes_there() -> None:
    assert proven(SENT + GOT + SYNC)
    assert "FP001" in codes(SENT + "    ld.shared.u32 %r12, [%r5+256];\n" + WAIT.format(0) + SYNC)
    assert "FP001" in codes(SENT + STORE.replace("%r1;", "%r2;") + GOT + SYNC)
    assert "FP008" in codes(SENT.replace("    fence.proxy.async;\n", "") + GOT + SYNC)


def test_the_sender_outlives_its_copy() -> None:
    found = verdict(SENT + GOT)
    assert {each.code for each in found.findings} == {"FP009"}


MULTICAST = PEER + INIT.format(1) + SYNC + "    @%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r6], 256;\n"
MULTICAST += "    mad.lo.u32 %r25, %r20, 128, %r4;\n    mov.u16 %rs1, 3;\n"
MULTICAST += "    @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
MULTICAST += "[%r25], [%rd1], 128, [%r6], %rs1;\n"


def multicast(body: str) -> KernelVerdict:
    text = kernel(body, 32, 2).replace(".reg .b64", ".reg .b16 %rs<4>;\n    .reg .b64")
    (found,) = check(text)
    return found


def test_a_multicast_brings_its_bytes_to_every_block_of_its_mask() -> None:
    both = WAIT.format(0) + "    ld.shared.u32 %r12, [%r5];\n    ld.shared.u32 %r13, [%r5+128];\n"
    assert multicast(MULTICAST + both).verdict == "proven"
    found = multicast(MULTICAST.replace("mov.u16 %rs1, 3", "mov.u16 %rs1, 1") + both)
    assert {each.code for each in found.findings} >= {"FP002"}
    assert multicast(MULTICAST.replace("mov.u16 %rs1, 3", "mov.u16 %rs1, 5") + both).verdict == "undecided"


# ---- what is said about the cluster


def test_the_cluster_is_asked_for_where_nothing_names_it() -> None:
    found = verdict(EXCHANGE, 32, None)
    assert found.verdict == "undecided" and "--cluster" in str(found.reasons[0])
    (found,) = check(kernel(EXCHANGE, 32), cluster=2)
    assert found.verdict == "proven"


def test_a_kernel_that_names_a_cluster_and_does_not_use_it_is_judged_by_its_block() -> None:
    found = verdict(STORE + "    bar.sync 0;\n    xor.b32 %r11, %r5, 4;\n    ld.shared.u32 %r12, [%r11];\n")
    assert found.verdict == "proven" and "cluster" not in found.holds_for


def test_a_cluster_has_at_most_sixteen_blocks() -> None:
    with pytest.raises(PtxError, match="1 to 16 blocks"):
        check(kernel(EXCHANGE, 32), cluster=32)


def test_the_cluster_of_a_launch_is_read_from_host_code() -> None:
    host = "#define N 4\nvoid run() { attribute[0].val.clusterDim.x = N; attribute[0].val.clusterDim.y = 1; }"
    assert cluster_of_launches(host) == (4, 1, 1)
    assert cluster_of_launches(host + "void more() { a.val.clusterDim.x = 2; }") is None
    assert cluster_of_launches("a.clusterDim.x = size;") is None


# ---- what reaches the own block alone


@pytest.mark.parametrize("space", ("shared", "shared::cta"))
def test_an_access_to_the_own_block_does_not_reach_another(space: str) -> None:
    found = verdict(EXCHANGE.replace("ld.shared::cluster", f"ld.{space}"))
    assert found.verdict == "undecided" and "another block" in found.reasons[0].message


@pytest.mark.parametrize(
    "use",
    (
        "    @%p2 mbarrier.init.shared.b64 [%r23], 1;\n",
        "    @%p2 mbarrier.arrive.shared.b64 _, [%r23];\n",
        "    @%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r23], 0;\n",
        WAIT.format(1).replace("%r6", "%r23"),
        "    @%p2 cp.async.mbarrier.arrive.noinc.shared.b64 [%r23];\n",
    ),
)
def test_the_mbarrier_of_another_block_is_not_made_and_not_waited_for(use: str) -> None:
    found = verdict(PEER + INIT.format(1) + SYNC + use + SYNC)
    assert found.verdict == "undecided" and "another block" in found.reasons[0].message


def test_a_rank_does_not_wrap_round() -> None:
    assert verdict(EXCHANGE.replace("%r5, %r21", "%r5, 256")).verdict == "undecided"


ATOMICS = "    atom.shared::cluster.add.u32 %r12, [%r22], 1;\n{}    atom.shared.add.u32 %r12, [%r5], 1;\n"


def test_atomics_of_scope_cta_are_none_for_other_blocks() -> None:
    assert proven(PEER + SYNC + ATOMICS.format("") + SYNC)
    near = ATOMICS.replace("atom.shared.add", "atom.relaxed.cta.shared.add")
    assert codes(PEER + SYNC + near.format("") + SYNC) == {"FP001"}
    assert proven(PEER + SYNC + near.format(SYNC) + SYNC)
    far = ATOMICS.replace("atom.shared::cluster", "atom.relaxed.cta.shared::cluster").format("")
    assert verdict(PEER + SYNC + far + SYNC).verdict == "undecided"


def test_a_block_outlives_the_copies_that_it_brings_itself() -> None:
    waits = WAIT.format(0).replace(
        "$wait0:", "    setp.ne.u32 %p3, %r20, {};\n    @%p3 bra $end;\n$wait0:", 1
    )
    for rank in range(2):
        found = multicast(MULTICAST + waits.format(rank) + "$end:\n")
        assert {each.code for each in found.findings} == {"FP001", "FP009"}
        assert any("still writes its shared memory" in each.message for each in found.findings)
    assert multicast(MULTICAST + WAIT.format(0)).verdict == "proven"


def test_an_arrival_of_scope_cta_hands_on_nothing_to_another_block() -> None:
    far = """
    st.shared::cluster.u32 [%r22], %r1;
    mbarrier.arrive{}.shared::cluster.b64 _, [%r23];
$wait0:
    mbarrier.try_wait.parity{}.shared.b64 %p4, [%r6], 0;
    @!%p4 bra $wait0;
    ld.shared.u32 %r12, [%r5];
"""
    start = PEER + INIT.format(32) + SYNC
    assert proven(start + far.format("", "") + SYNC)
    assert proven(start + far.format(".release.cluster", ".acquire.cluster") + SYNC)
    assert codes(start + far.format(".release.cta", ".acquire.cluster") + SYNC) == {"FP001"}
    assert verdict(start + far.format(".release.cluster", ".acquire.cta") + SYNC).verdict == "undecided"


def test_a_cluster_that_is_too_large_to_be_run_is_refused_before_it_takes_the_memory() -> None:
    relaxed = EXCHANGE.replace("arrive;", "arrive.relaxed;", 1)
    found = verdict(relaxed, 1024, 16)
    assert found.verdict == "undecided" and "memory" in found.reasons[0].message
