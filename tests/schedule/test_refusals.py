"""What is not scheduled: each refusal names the condition that failed, and leaves the kernel as it was."""

from __future__ import annotations

import pytest

from fencepost.ir.parser import parse
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.schedule import (
    STRATEGIES,
    Arrangement,
    Constraints,
    HardwareConstraint,
    LoopOperations,
    SchedulingType,
    Strategy,
    Tile,
    add_conditional_barriers_to_loop,
    constraints_for,
    register,
    schedule_reordering,
)
from fencepost.schedule.arrangement import fenced
from fencepost.schedule.gemm import async_gemm, prefetch_gemm
from fencepost.schedule.two_pp import arrange_two_pp
from tests.schedule.kernels import BODY, changed, loop_of, small

UNSHARED = (
    "%ga = global_read",
    "%x0 = read %a",
    "%s0 = mma %x0, %ga, %sum",
    "%s1 = mma %x0, %ga, %s0",
    "write %a, %ga",
)
INNER = ("loop %j in 0..2 {", "  compute", "}")
REFUSED: list[tuple[str, CapturedTrace, str, str]] = [
    ("no loop that multiplies", small(["%s1 = compute %sum"]), "FP501", "no loop of this kernel"),
    (
        "two loops that multiply",
        small(behind=["%x = read %a", "loop %j in 0..4 {", "  mma %x, %x", "}"]),
        "FP501",
        "2 loops of this kernel",
    ),
    (
        "an operand that does not come from shared memory",
        small(UNSHARED),
        "FP502",
        "the right operand is not read from shared memory",
    ),
    (
        "a tile that never changes",
        small([line for line in BODY if line != "write %b, %gb"]),
        "FP502",
        "nothing in the loop brings the next tile of the right operand in",
    ),
    (
        "a tile that does not come from global memory",
        small(changed(BODY, "write %b, %gb", "%w = compute", "write %b, %w")),
        "FP502",
        "no global read of the loop feeds the local writes of the right operand",
    ),
    (
        "an instruction with one operand",
        small(changed(BODY, "%s1 = mma %x1, %y1, %s0", "%s1 = mma %x1")),
        "FP503",
        "without a left and a right operand",
    ),
    (
        "an access of both operands",
        small(changed(BODY, "%s1 = mma %x1, %y1, %s0", "%s1 = mma %x1, %x1, %s0")),
        "FP503",
        "serves the left and the right operand",
    ),
    (
        "an access of neither operand",
        small([*BODY, "atomic %a[0..4]"]),
        "FP503",
        "serves neither operand",
    ),
    (
        "one step along the reduction",
        small(changed(BODY, "%s1 = mma %x1, %y1, %s0", "%s1 = mma %x1, %y1, %sum")),
        "FP504",
        "1 step along the reduction cannot be divided into 2 slices",
    ),
    ("an odd number of waves", small(waves=7), "FP505", "7 waves cannot be divided"),
    ("one wave", small(waves=1), "FP505", "1 wave cannot be divided"),
    ("a barrier in the loop", small([*BODY, "barrier"]), "FP510", "synchronization of its own: `barrier`"),
    ("a wait in the loop", small([*BODY, "wait_count load=0"]), "FP510", "synchronization of its own"),
    ("control flow in the loop", small([*BODY, *INNER]), "FP510", "control flow inside"),
    (
        "a write that the reads of its own iteration come behind",
        small([*BODY[:2], "write %a, %ga", "write %b, %gb", *BODY[2:8]]),
        "FP508",
        "in front of",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("trace", "code", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_a_kernel_that_does_not_qualify(trace: CapturedTrace, code: str, message: str) -> None:
    before, constraints = str(trace), constraints_for(None, trace.waves)
    with pytest.raises(FencepostError, match=message) as caught:
        schedule_reordering(trace, constraints, strategy="two-pp")
    assert caught.value.code == code
    assert caught.value.exit_code == 1
    assert dict(caught.value.notes).keys() & {"condition", "dependency"}
    assert str(trace) == before


def test_without_a_strategy_the_kernel_stays_as_it_is_and_every_reason_is_told() -> None:
    trace = small(waves=7)
    result = schedule_reordering(trace, constraints_for(None, 7))
    assert result.strategy == "none"
    assert [(name, error.code) for name, error in result.refusals] == [
        ("two-pp", "FP505"), ("two-pp-async", "FP505"), ("four-pp", "FP505"),
    ]  # fmt: skip
    assert str(trace) == str(small(waves=7))


@pytest.mark.parametrize("kind", [SchedulingType.NONE, SchedulingType.MODULO])
def test_only_prefetch(kind: SchedulingType) -> None:
    with pytest.raises(FencepostError, match="the kernel is scheduled as") as caught:
        schedule_reordering(small(), scheduling_type=kind, strategy="two-pp")
    assert caught.value.code == "FP507"
    assert schedule_reordering(small(), Constraints(), kind).strategy == "none"


def test_a_loop_that_only_some_waves_run() -> None:
    text = str(small())
    head, rest = text.split("  loop ", 1)
    body, behind = rest.split("\n  }\n", 1)
    trace = parse(f"{head}  if wave < 4 {{\n  loop {body}\n  }}\n  }}\n{behind}")
    with pytest.raises(FencepostError, match="only some of the waves run this loop") as caught:
        schedule_reordering(trace, constraints_for(None), strategy="two-pp")
    assert caught.value.code == "FP501"


def test_waves_of_the_constraints_that_the_kernel_does_not_have() -> None:
    with pytest.raises(FencepostError, match="@small has 8 waves, not 4") as caught:
        schedule_reordering(small(), constraints_for(None, 4), strategy="two-pp")
    assert caught.value.code == "FP505"
    trace = small()
    with pytest.raises(FencepostError, match="not 16"):
        add_conditional_barriers_to_loop(loop_of(trace), trace, HardwareConstraint((4, 4)))


@pytest.mark.parametrize(
    ("tile", "axis"), [(Tile(96, 256, 64), "m"), (Tile(128, 200, 64), "n"), (Tile(128, 256, 24), "k")]
)
def test_tiles_that_waves_and_instructions_do_not_divide(tile: Tile, axis: str) -> None:
    with pytest.raises(FencepostError, match=f"along {axis}") as caught:
        schedule_reordering(small(), Constraints(tile), strategy="two-pp")
    assert caught.value.code == "FP506"


def test_a_grid_of_waves_that_there_is_none_of() -> None:
    with pytest.raises(FencepostError, match="do not divide a tile of 32 × 32 × 64 evenly") as caught:
        constraints_for(Tile(32, 32, 64), 8)
    assert caught.value.code == "FP506"
    with pytest.raises(FencepostError, match="along k"):
        prefetch_gemm(constraints_for(Tile(128, 256, 24)))


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100"])
def test_targets_without_a_plain_barrier(target: str) -> None:
    with pytest.raises(FencepostError, match=f"{target} has no barrier without a fence") as caught:
        schedule_reordering(small(), constraints_for(None, 8, target), strategy="two-pp")
    assert caught.value.code == "FP511"


def test_copies_where_writes_are_wanted_and_the_other_way_round() -> None:
    constraints = constraints_for(target="gfx950")
    with pytest.raises(FencepostError, match="come in by local writes") as caught:
        schedule_reordering(prefetch_gemm(constraints), constraints, strategy="two-pp-async")
    assert caught.value.code == "FP502"
    with pytest.raises(FencepostError, match="come in by copies"):
        schedule_reordering(async_gemm(constraints), constraints, strategy="two-pp")


def test_copies_over_the_tile_that_is_being_read() -> None:
    body = [*BODY[2:8], "gather_to_lds %a", "gather_to_lds %b"]
    with pytest.raises(FencepostError, match="copies into bytes that the same iteration reads") as caught:
        schedule_reordering(small(body), constraints_for(None), strategy="two-pp-async")
    assert caught.value.code == "FP512"


def test_quarters_that_the_writes_do_not_come_in() -> None:
    with pytest.raises(FencepostError, match="reaches 2 quarters") as caught:
        schedule_reordering(prefetch_gemm(), Constraints(), strategy="four-pp")
    assert caught.value.code == "FP504"


def test_an_unknown_strategy() -> None:
    with pytest.raises(FencepostError, match="unknown schedule 'three-pp'") as caught:
        schedule_reordering(small(), strategy="three-pp")
    assert caught.value.code == "FP111"


# ---------------------------------------------------------------- strategies of one's own


def test_a_strategy_of_ones_own() -> None:
    def arrange(found: LoopOperations) -> Arrangement:
        return arrange_two_pp(found)

    strategy = register(Strategy("mine", "as two-pp", arrange, slices=2))
    try:
        trace = small()
        assert schedule_reordering(trace, constraints_for(None), strategy="mine").strategy == "mine"
        with pytest.raises(FencepostError, match="already"):
            register(strategy)
    finally:
        del STRATEGIES["mine"]


def test_a_strategy_that_leaves_a_race_is_refused_and_changes_nothing() -> None:
    def arrange(found: LoopOperations) -> Arrangement:
        """One barrier fewer than it takes."""
        moves = (found.lhs, found.rhs)
        reads = [op for side in moves for op in side.local_reads]
        fetched = [op for side in moves for op in side.global_reads]
        writes = [op for side in moves for op in side.local_writes]
        return Arrangement(
            [[*reads, *fetched, fenced("")], [*found.mmas], [*writes, fenced("")]], [fenced("")]
        )

    register(Strategy("hasty", "races", arrange, slices=1))
    try:
        trace = small()
        with pytest.raises(FencepostError, match="the schedule leaves a race") as caught:
            schedule_reordering(trace, constraints_for(None), strategy="hasty")
        assert caught.value.code == "FP513"
        assert str(trace) == str(small())
    finally:
        del STRATEGIES["hasty"]


@pytest.mark.parametrize("name", ["none", "auto", "two-pp"])
def test_names_that_are_taken(name: str) -> None:
    with pytest.raises(FencepostError, match="already"):
        register(Strategy(name, "", arrange_two_pp, slices=2))
