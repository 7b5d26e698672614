"""The two groups in time, as seed 004 tells it: which cluster of one runs beside which of the other."""

from __future__ import annotations

import pytest

from fencepost.ir import ops
from fencepost.ir.trace import CapturedTrace
from fencepost.schedule import schedule_reordering
from fencepost.schedule.gemm import prefetch_gemm
from fencepost.timing import Timing, time_kernel
from tests.schedule.kernels import loop_of

LOW, HIGH = 0, 4
"""Two waves of one SIMD, one of each group."""


@pytest.fixture(scope="module")
def run() -> tuple[CapturedTrace, Timing]:
    """The default kernel, scheduled, on gfx942."""
    trace = prefetch_gemm()
    schedule_reordering(trace)
    return trace, time_kernel(trace, "gfx942", iterations=6)


def cluster(trace: CapturedTrace, half: int) -> list[ops.Operation]:
    """The matrix instructions of one half of the loop."""
    mmas = [op for op in loop_of(trace).body if isinstance(op, ops.MMA)]
    return list(mmas[half * 16 : half * 16 + 16])


def spans(timing: Timing, wave: int, members: list[ops.Operation]) -> list[tuple[int, int]]:
    """From the first to the last of the operations, for each iteration."""
    first = [event.start for event in timing.events if event.wave == wave and event.op is members[0]]
    last = [event.end for event in timing.events if event.wave == wave and event.op is members[-1]]
    return list(zip(first, last, strict=True))


def beside(timing: Timing, wave: int, span: tuple[int, int]) -> set[str]:
    """What another wave starts meanwhile."""
    return {
        event.op.mnemonic
        for event in timing.events
        if event.wave == wave and event.unit and span[0] <= event.start < span[1]
    }


def test_the_high_waves_wait_before_the_loop_until_the_low_ones_have_read(
    run: tuple[CapturedTrace, Timing],
) -> None:
    trace, timing = run
    held = loop_of(trace).prev
    assert isinstance(held, ops.Conditional)
    (released,) = (p.time for p in timing.passings if p.wave == HIGH and p.op is held.then.first)
    reads = [e.done for e in timing.events if e.wave == LOW and isinstance(e.op, ops.Read)][:16]
    first_of_low = min(p.time for p in timing.passings if p.wave == LOW and p.op.graph is loop_of(trace).body)
    assert released == first_of_low
    assert max(reads) <= released


def test_while_the_low_waves_multiply_the_high_ones_read(run: tuple[CapturedTrace, Timing]) -> None:
    trace, timing = run
    for span in spans(timing, LOW, cluster(trace, 0)):
        assert beside(timing, HIGH, span) == {"read", "global_read"}


def test_while_the_high_waves_multiply_the_low_ones_write(run: tuple[CapturedTrace, Timing]) -> None:
    trace, timing = run
    for span in spans(timing, HIGH, cluster(trace, 0)):
        assert beside(timing, LOW, span) == {"write"}


def test_the_two_waves_of_a_simd_never_multiply_at_the_same_time(run: tuple[CapturedTrace, Timing]) -> None:
    trace, timing = run
    clusters = [cluster(trace, half) for half in (0, 1)]
    low, high = ([span for each in clusters for span in spans(timing, wave, each)] for wave in (LOW, HIGH))
    assert len(low) == len(high) == 12
    assert not [(one, two) for one in low for two in high if one[0] < two[1] and two[0] < one[1]]


def test_all_waves_end_in_step(run: tuple[CapturedTrace, Timing]) -> None:
    trace, timing = run
    held = loop_of(trace).next
    assert isinstance(held, ops.Conditional)
    (caught_up,) = (p.time for p in timing.passings if p.wave == LOW and p.op is held.then.first)
    last_of_high = max(p.time for p in timing.passings if p.wave == HIGH)
    assert caught_up == last_of_high
    assert not timing.deadlock
