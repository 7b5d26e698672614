"""Tensor maps that a kernel makes by itself, in shared memory, and copies to global memory."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import check
from tests.hosts.ptx.exact_kernels import kernel

MAKES = """
    setp.ge.u32 %p5, %r1, 32;
    @%p5 bra $filled;
    st.shared.u32 [%r5], 0;
$filled:
    bar.sync 1, 64;
    setp.ne.u32 %p6, %r1, 32;
    cvt.u64.u32 %rd3, %r4;
    @%p6 bra $made;
    tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%rd3], %rd1;
    tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd3], 0x1;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd3], 0x0, 16;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd3], 0x1, 8;
    tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%rd3], 0x6;
$made:
    bar.sync 2, 64;
    @%p1 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%rd3], 0x80;
    bar.sync 1, 64;
    mad.lo.u32 %r20, %r1, 4, %r4;
    st.shared.u32 [%r20+1024], %r1;
    fence.proxy.async.shared::cta;
    bar.sync 2, 64;
    add.u32 %r21, %r4, 1024;
    @%p2 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r10, %r10}], [%r21];
    cp.async.bulk.commit_group;
    st.shared.u32 [%r20+1280], %r1;
    cp.async.bulk.wait_group.read 0;
    bar.sync 1, 64;
"""
"""A box of 16 x 8 half-precision numbers: 256 bytes, from 1024 on."""


def verdict(body: str) -> str:
    (found,) = check(kernel(body, 64))
    return found.verdict


def test_the_box_of_a_map_is_what_was_put_into_it() -> None:
    assert verdict(MAKES) == "proven"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # 512 bytes: the last store overwrites what the copy reads.
        ("0x1, 8;", "0x1, 16;"),
        ("[%rd3], 0x6;", "[%rd3], 0x7;"),
        # Replaced and read by different warps.
        ("$made:\n    bar.sync 2, 64;", "$made:"),
    ],
)
def test_a_larger_box_and_accesses_to_the_map_that_nothing_orders(before: str, after: str) -> None:
    assert before in MAKES
    assert verdict(MAKES.replace(before, after)) == "race"


def test_what_fills_a_map_comes_before_what_is_put_into_it() -> None:
    # Two writes; whether they write the same is not known.
    assert verdict(MAKES.replace("$filled:\n    bar.sync 1, 64;", "$filled:")) == "undecided"


def test_a_box_of_data_is_not_known() -> None:
    body = MAKES.replace("0x1, 8;", "0x1, %r30;")
    assert verdict("    ld.global.u32 %r30, [%rd1];" + body) == "undecided"


LOADS = """
    @%p2 mbarrier.init.shared.b64 [%r6], 1;
    bar.sync 0;
    @%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r6], {};
    @%p2 cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1, {{%r10}}], [%r6];
$filled:
    mbarrier.try_wait.parity.shared.b64 %p4, [%r6], 0;
    @!%p4 bra $filled;
    ld.shared.u32 %r12, [%r5];
"""


def test_a_box_that_leaves_out_what_threads_read_is_not_believed() -> None:
    """With half of the bytes expected, the wait is over when half of the tile is there, whatever its box is."""
    assert verdict(LOADS.format(128)) == "proven"
    (found,) = check(kernel(LOADS.format(64), 64))
    assert found.verdict == "undecided" and "nothing has written" in found.reasons[0].message
    # What threads have stored or only updated is there.
    stores = "    @%p1 {}.shared{}.u32 [%r5], 1;\n    fence.proxy.async;\n    bar.sync 0;\n"
    for store in (stores.format("st", ""), stores.format("red", ".add")):
        before = LOADS.format(64).replace("    @%p2 mbarrier.arrive", f"{store}    @%p2 mbarrier.arrive", 1)
        assert verdict(before) == "proven"
