"""The two-cluster schedule: the sequence of the default configuration, and what each cluster holds."""

from __future__ import annotations

import pytest

import fencepost as fp
from fencepost.ir import ops
from fencepost.ir.parser import parse
from fencepost.schedule import (
    Constraints,
    SchedReorderStrategy,
    SchedulingType,
    Tile,
    classify,
    constraints_for,
    find_loop,
    schedule_reordering,
    transform_two_PP_clusters,
)
from fencepost.schedule.gemm import async_gemm, prefetch_gemm
from tests.schedule.kernels import in_short, loop_of, small

DEFAULT = [
    *("4 read a", "4 read b", "| sched_barrier"),
    *("2 global_read", "| sched_barrier"),
    *("4 read a", "4 read b", "| sched_barrier"),
    *("4 global_read", "| barrier", "| sched_barrier"),
    *("| set_wave_prio 1", "16 mma", "| set_wave_prio 0", "| workgroup_barrier", "| sched_barrier"),
    *("2 write a", "4 write b", "| barrier", "| sched_barrier"),
    *("| set_wave_prio 1", "16 mma", "| set_wave_prio 0", "| workgroup_barrier", "| sched_barrier"),
    "| next %m28, %m29, %m30, %m31",
]
"""128 × 256 × 64, 8 waves, instructions of 32 × 32 × 8."""


def test_the_default_configuration_works_out_of_the_box() -> None:
    trace = prefetch_gemm()
    result = schedule_reordering(trace, Constraints(), SchedulingType.PREFETCH)
    assert result.strategy == SchedReorderStrategy.TWO_PP_CLUSTER.value
    assert in_short(loop_of(trace).body) == DEFAULT
    assert Constraints().tile == Tile(128, 256, 64)
    assert Constraints().hardware.waves == 8


def test_around_the_loop() -> None:
    trace = prefetch_gemm()
    schedule_reordering(trace)
    loop = loop_of(trace)
    around = list(trace.get_root_graph())
    place = around.index(loop)
    barrier, high, _, low, first_read = around[place - 2 : place + 3]
    assert isinstance(barrier, ops.SharedMemoryBarrier)
    assert isinstance(high, ops.Conditional) and str(high.condition) == "wave >= 4"
    assert isinstance(low, ops.Conditional) and str(low.condition) == "wave < 4"
    assert isinstance(first_read, ops.Read)
    for conditional in (high, low):
        assert [op.mnemonic for op in conditional.then] == ["workgroup_barrier"]
        assert not len(conditional.orelse)


def test_the_first_cluster_has_the_reads_of_both_halves_and_the_others_one_half_each() -> None:
    found = classify(find_loop(small()))
    clusters = transform_two_PP_clusters(
        found.mmas,
        found.lhs.local_reads,
        found.rhs.local_reads,
        found.lhs.global_reads,
        found.rhs.global_reads,
        found.lhs.local_writes,
        found.rhs.local_writes,
    )
    named = [
        [op.name for op in cluster if isinstance(op, ops.ValueOperation) and op.name] for cluster in clusters
    ]
    assert named == [["x0", "y0", "ga", "x1", "y1", "gb"], ["s0"], [], ["s1"]]
    assert [op.view.buffer.name for op in clusters[2] if isinstance(op, ops.Write)] == ["a", "b"]


def test_every_operation_is_still_there_and_the_text_reads_back() -> None:
    trace, original = small(), small()
    before = sorted(str(op.span) for op in loop_of(trace).body)
    schedule_reordering(trace)
    assert sorted(str(op.span) for op in loop_of(trace).body if op.span) == before
    assert str(parse(str(trace))) == str(trace)
    assert str(original) != str(trace)


@pytest.mark.parametrize("waves", [2, 4, 8, 16])
@pytest.mark.parametrize(
    "tile", [Tile(128, 128, 64), Tile(128, 256, 64), Tile(256, 256, 32), Tile(256, 128, 128)]
)
def test_other_waves_and_tiles(waves: int, tile: Tile) -> None:
    constraints = constraints_for(tile, waves)
    trace = prefetch_gemm(constraints)
    result = schedule_reordering(trace, constraints)
    assert result.strategy == "two-pp"
    assert result.report is not None and result.report.ok
    inside = [op for op in result.added if op.graph is loop_of(trace).body]
    barriers = [op for op in inside if isinstance(op, ops.SharedMemoryBarrier | ops.WorkgroupBarrier)]
    assert len(barriers) == 4


def test_none_changes_nothing() -> None:
    trace = small()
    result = schedule_reordering(trace, strategy=SchedReorderStrategy.NONE)
    assert result.strategy == "none" and not result.added
    assert str(trace) == str(small())


def test_a_barrier_that_the_kernel_has_before_its_loop_is_not_doubled() -> None:
    trace = small(before=["barrier"])
    schedule_reordering(trace)
    assert [op.mnemonic for op in trace.get_root_graph()].count("barrier") == 1


def test_an_operation_in_between_moves_to_what_needs_it() -> None:
    body = (
        "%ga = global_read",
        "%gb = global_read",
        "%x0 = read %a",
        "%y0 = read %b",
        "%s0 = mma %x0, %y0, %sum",
        "%wide = compute %ga",
        "%s1 = mma %x0, %y0, %s0",
        "write %a, %wide",
        "write %b, %gb",
    )
    trace = small(body)
    schedule_reordering(trace)
    (wide,) = (op for op in loop_of(trace).body if isinstance(op, ops.Compute))
    assert isinstance(wide.next, ops.Write) and wide.next.view.buffer.name == "a"


# ---------------------------------------------------------------- the other strategies


def test_copies_straight_into_shared_memory() -> None:
    constraints = constraints_for(target="gfx950")
    trace = async_gemm(constraints)
    assert schedule_reordering(trace, constraints).strategy == "two-pp-async"
    assert in_short(loop_of(trace).body) == [
        *("8 read a", "8 read b", "| sched_barrier"),
        *("2 gather_to_lds a", "4 gather_to_lds b", "| sched_barrier"),
        *("| barrier load=6", "| sched_barrier"),
        *("| set_wave_prio 1", "16 mma", "| set_wave_prio 0", "| workgroup_barrier", "| sched_barrier"),
        "| next (%s + 1) % 3, %m12, %m13, %m14, %m15",
    ]


def test_copies_of_the_next_tile_are_waited_for_behind_half_of_the_products() -> None:
    constraints = constraints_for(target="gfx950")
    trace = async_gemm(constraints, ahead=1)
    schedule_reordering(trace, constraints, strategy="two-pp-async")
    multiply = ["| set_wave_prio 1", "8 mma", "| set_wave_prio 0"]
    assert in_short(loop_of(trace).body)[:-1] == [
        *("8 read a", "8 read b", "| sched_barrier"),
        *("2 gather_to_lds a", "4 gather_to_lds b", "| sched_barrier"),
        *(*multiply, "| barrier load=0", "| sched_barrier"),
        *(*multiply, "| workgroup_barrier", "| sched_barrier"),
    ]
    assert fp.check(trace).ok


@pytest.mark.parametrize(("ahead", "left"), [(1, 0), (2, 4), (3, 8)])
def test_the_wait_leaves_all_tiles_but_the_next_in_flight(ahead: int, left: int) -> None:
    constraints = constraints_for(Tile(128, 128, 64), target="gfx950")
    trace = async_gemm(constraints, ahead=ahead)
    schedule_reordering(trace, constraints, strategy="two-pp-async")
    counts = [op.counts for op in loop_of(trace).body if isinstance(op, ops.SharedMemoryBarrier)]
    assert counts == [{"load": left}]
    first = [op.counts for op in trace.get_root_graph() if isinstance(op, ops.MemoryCounterWait)]
    assert first == [{"load": left}, *([{"load": 0}] if ahead > 1 else [])]


def test_four_clusters() -> None:
    constraints = constraints_for(Tile(256, 256, 64))
    trace = prefetch_gemm(constraints)
    schedule_reordering(trace, constraints, strategy=SchedReorderStrategy.FOUR_PP_CLUSTER)
    multiply = ["| set_wave_prio 1", "16 mma", "| set_wave_prio 0", "| workgroup_barrier", "| sched_barrier"]
    reads, fence = ["4 read a", "2 read b", "| sched_barrier"], ["| barrier", "| sched_barrier"]
    fetch, write = ["4 global_read", "| sched_barrier"], ["1 write a", "1 write b", "| sched_barrier"]
    assert in_short(loop_of(trace).body)[:-1] == [
        *(*reads, *fetch, *fence, *multiply),
        *(*reads, *fetch, *write, *fence, *multiply),
        *(*reads, *write, *fence, *multiply),
        *(*reads, *write, *fence, *multiply),
        *write,
    ]
    behind = loop_of(trace).next
    assert isinstance(behind, ops.Conditional) and isinstance(behind.next, ops.SharedMemoryBarrier)


def test_the_names_that_users_know() -> None:
    for name in (
        *("schedule_reordering", "SchedReorderStrategy", "transform_two_PP_clusters"),
        *("add_conditional_barriers_to_loop", "reorder_graph"),
    ):
        assert hasattr(fp, name)
    assert {"NONE", "TWO_PP_CLUSTER"} <= set(fp.SchedReorderStrategy.__members__)
