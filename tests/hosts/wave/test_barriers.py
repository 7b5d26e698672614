"""How many barriers kernels get: never more than Wave's own pass gives them, and fewer where fewer do."""

from __future__ import annotations

from typing import Any

import pytest
from wave_lang.kernel.wave.scheduling.schedule_enums import SchedulingType

from fencepost.hosts import wave as host
from fencepost.hosts.wave import Audit
from tests.hosts.wave import kernels
from tests.tiers import sweep

NONE, MODULO, PREFETCH, FOUR_STAGE = (
    SchedulingType.NONE,
    SchedulingType.MODULO,
    SchedulingType.PREFETCH,
    SchedulingType.FOUR_STAGE,
)


def both(make: kernels.Source, again: kernels.Source) -> tuple[Audit, Audit, str]:
    """What Wave's barriers and ours are like, and the kernel with ours."""
    found: list[Audit] = []
    with host.installed("audit", show=found.append):
        make.compiled()
    with host.installed("replace", show=found.append) as made:
        text = again.compiled()
    assert made is not None and all("proven" in each.proof for each in made.inserted)
    return found[0], found[1], text


@pytest.mark.parametrize(
    ("schedule", "wave", "ours"),
    sweep(
        [(NONE, 16, 16), (PREFETCH, 15, 15), (MODULO, 15, 15), (FOUR_STAGE, 13, 8)],
        chosen=[(NONE, 16, 16), (FOUR_STAGE, 13, 8)],
    ),
)
def test_executed(schedule: SchedulingType, wave: float, ours: float) -> None:
    before, after, _ = both(kernels.gemm(schedule=schedule), kernels.gemm(schedule=schedule))
    assert (before.executed, after.executed) == (wave, ours)
    assert not (before.races or after.races or after.redundant)


def test_one_barrier_an_iteration_for_two_buffers() -> None:
    def make() -> kernels.Source:
        return kernels.gemm(schedule=PREFETCH, multi_buffer_count=2)

    before, after, _ = both(make(), make())
    assert (before.executed, after.executed) == (15, 8)
    assert not after.races


def test_copies_are_waited_for() -> None:
    def make() -> kernels.Source:
        return kernels.gemm("gfx950", PREFETCH, (64, 64, 64), use_global_to_shared=True)

    before, after, text = both(make(), make())
    assert after.executed == 4 < before.executed and not after.races
    # Each of the two barriers stands behind a wait for the copies.
    assert text.count("amdgpu.lds_barrier") == text.count("rocdl.s.waitcnt") == 2


def test_engine_is_waited_for() -> None:
    def make() -> kernels.Source:
        return kernels.gemm("gfx1250", NONE, (64, 64, 64), use_global_to_shared=True)

    before, after, text = both(make(), make())
    assert after.executed <= before.executed and not after.races
    assert "llvm.amdgcn.s.wait.tensorcnt" in text


@pytest.mark.parametrize(
    ("target", "block", "most"),
    sweep([("gfx1250", (64, 64, 64), 11), ("gfx1201", (128, 128, 32), 5)], first=1),
)
def test_pairs(target: str, block: tuple[int, int, int], most: int) -> None:
    before, after, text = both(kernels.gemm(target, MODULO, block), kernels.gemm(target, MODULO, block))
    assert before.barriers == most >= after.barriers
    signals, waits = text.count("rocdl.s.barrier.signal"), text.count("rocdl.s.barrier.wait")
    assert 0 < signals == waits <= most
    assert signals + text.count("amdgpu.lds_barrier") == after.barriers
    assert not after.races


def test_barriers_between_allocations_that_share_bytes_are_ours_to_place() -> None:
    before, after, _ = both(kernels.shared_bytes(), kernels.shared_bytes())
    assert before.races and not after.races and not after.redundant


def test_every_new_barrier_has_a_location() -> None:
    # Wave refuses a trace in which an operation has none; this is the pass that looks.
    assert kernels.gemm().options.get("enforce_locations", True)
    both(kernels.gemm(), kernels.gemm())


def test_the_name_of_the_seeds_takes_traces_of_wave() -> None:
    import fencepost

    def add(trace: Any, target: str = "") -> None:
        fencepost.add_shared_memory_barriers(trace, target)

    before = kernels.PIPELINE.add_shared_memory_barriers
    kernels.PIPELINE.add_shared_memory_barriers = add
    try:
        text = kernels.gemm().compiled()
    finally:
        kernels.PIPELINE.add_shared_memory_barriers = before
    assert text.count("amdgpu.lds_barrier") == 2
