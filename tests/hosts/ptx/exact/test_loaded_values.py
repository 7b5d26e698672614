"""When threads that load the same word of global memory are taken to have the same value."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import check
from tests.hosts.ptx import exact_kernels as kernels

LOAD_AND_STORE = """
    cvta.to.global.u64 %rd2, %rd1;
    shr.u32 %r30, %r1, 5;
    setp.eq.u32 %p5, %r30, 2;
    setp.eq.u32 %p6, %r30, 0;
    @%p5 bra $third;
    @%p6 bra $first;
    bar.sync 2, 64;
    bra $load;
$first:
    bar.sync 3, 32;
$load:
    ld.global.u32 %r31, [%rd2];
    @!%p6 bra $store;
    {before}
$store:
    st.shared.u32 [%r4], %r31;
    @!%p6 bra $end;
    {after}
    bra $end;
$third:
    bar.sync 1, 64;
    setp.eq.u32 %p7, %r1, 64;
    @%p7 st.global.u32 [%rd2], 7;
    bar.arrive 2, 64;
$end:
"""
"""Of three warps, the first loads a word and lets the third go on, and that one the second, which loads the word too.
Both have waited at one barrier before."""


@pytest.mark.parametrize(
    ("tells", "expected"),
    [
        ("before", "race"),
        # What the first warp has stored is there when the second stores.
        ("after", "proven"),
    ],
)
def test_a_load_that_comes_before_another_may_have_another_value(tells: str, expected: str) -> None:
    arrival = {"before": "", "after": "", tells: "bar.arrive 1, 64;"}
    (found,) = check(kernels.kernel(LOAD_AND_STORE.format(**arrival), 96))
    assert found.verdict == expected


def test_loads_that_nothing_orders_have_one_value() -> None:
    """A store between them would race with one of them."""
    body = """
    cvta.to.global.u64 %rd2, %rd1;
    setp.lt.u32 %p5, %r1, 32;
    @%p5 bar.sync 2, 32;
    ld.global.u32 %r31, [%rd2];
    @!%p5 bra $on;
    bar.sync 3, 32;
$on:
    bar.sync 1, 64;
    ld.global.u32 %r32, [%rd2+4];
    st.shared.u32 [%r4], %r32;
    """
    (found,) = check(kernels.kernel(body, 64))
    assert found.verdict == "proven"


@pytest.mark.parametrize(("updated", "expected"), [("%rd2", "undecided"), ("%rd3", "proven")])
def test_loads_beside_an_atomic_may_have_several_values(updated: str, expected: str) -> None:
    """Others between them, by the atomics of this block and of all others; an atomic elsewhere says nothing."""
    body = f"""
    cvta.to.global.u64 %rd2, %rd1;
    mov.u64 %rd3, elsewhere;
    red.global.add.u32 [{updated}], 1;
    ld.global.u32 %r31, [%rd2];
    st.shared.u32 [%r4], %r31;
    bar.sync 1, 64;
    """
    text = kernels.kernel(body, 64).replace(".visible", ".global .u32 elsewhere;\n.visible", 1)
    (found,) = check(text)
    assert found.verdict == expected


CHOSEN = """
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.u32 %r31, [%rd2];
    mov.u32 %r40, 5;
    setp.eq.u32 %p5, %r31, 7;
    @!%p5 bra $skip;
    {inside}
$skip:
    st.shared.u32 [%r4], %r40;
    bar.sync 1, 64;
"""
"""All threads load one word, go one of two ways by it, and store what they have assigned there to one place."""


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("mov.u32 %r40, 3;", "proven"),
        ("mov.u32 %r40, %ctaid.x;", "proven"),
        ("mov.u32 %r40, %tid.x;", "undecided"),
        ("mov.u32 %r40, %clock;", "undecided"),
        ("@%p1 bra $other; mov.u32 %r40, 1; bra $skip;\n$other: mov.u32 %r40, 2;", "undecided"),
    ],
)
def test_what_threads_assign_on_a_way_that_data_lead(inside: str, expected: str) -> None:
    """Its values depend on special registers as on others, and on the branches there."""
    (found,) = check(kernels.kernel(CHOSEN.format(inside=inside), 64))
    assert found.verdict == expected
