"""Ping-pong in the place of Wave's: the loop's new order in the trace, and kernels that stay as they are."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

import pytest
from wave_lang.kernel.wave.constraints import MMAType
from wave_lang.kernel.wave.scheduling.schedule_enums import SchedulingType
from wave_lang.kernel.wave.templates.gemm import get_gemm_kernel

from fencepost.hosts import wave as host
from fencepost.hosts.wave import Audit, Installation, reordered_loop
from fencepost.ir.source import FencepostError
from tests.hosts.wave import kernels
from tests.tiers import sweep

SHOWN = {
    "scf.for ": "loop",
    "scf.if ": "if",
    "scf.yield": "end",
    "amdgpu.lds_barrier": "barrier",
    "rocdl.s.barrier": "plain barrier",
    "rocdl.s.setprio": "priority",
    "amdgpu.memory_counter_wait": "wait",
    "rocdl.s.waitcnt": "wait",
    "gather_to_lds": "copy",
    "amdgpu.mfma": "mma",
    "vector.load .*workgroup": "read",
    "vector.load": "load",
    "vector.store": "store",
}


@pytest.fixture(autouse=True)
def untouched() -> object:
    def functions() -> dict[str, Any]:
        return {name: each for name, each in vars(kernels.PIPELINE).items() if callable(each)}

    before = functions()
    yield
    host.uninstall()
    assert functions() == before


def product(
    block: tuple[int, int, int] = (128, 256, 64),
    waves: tuple[int, int] = (4, 2),
    target: str = "gfx942",
    schedule: SchedulingType = SchedulingType.PREFETCH,
    mma: MMAType | None = None,
    **options: Any,
) -> kernels.Source:
    kernel, sizes, _ = get_gemm_kernel(
        (512, 512, 1024), False, mma or kernels.MATRIX[target], block_shape=block, waves_per_block=waves
    )
    return kernels.Source(kernel, sizes, target, schedule, options)


def scheduled(source: kernels.Source) -> tuple[str, Installation, Audit]:
    """A kernel in fencepost's order and with its barriers, and what is found about it."""
    found: list[Audit] = []
    with host.installed("replace", schedule=True, show=found.append) as made:
        text = source.compiled()
    assert made is not None
    return text, made, found[0]


def words(text: str) -> list[str]:
    """What a kernel does, one after the other."""
    found = (
        next((word for part, word in SHOWN.items() if re.search(part, line)), "")
        for line in text.splitlines()
    )
    return [word for word in found if word]


def steps(text: str) -> list[str]:
    """What a kernel does, with how often where that is more than once."""
    counts = ((word, len(list(same))) for word, same in groupby(words(text)))
    return [f"{count} {word}" if count > 1 else word for word, count in counts]


def loop_of(found: list[str]) -> list[str]:
    return found[found.index("loop") + 1 : found.index("end")]


def barriers_an_iteration(text: str) -> int:
    return sum(word.endswith("barrier") for word in loop_of(words(text)))


def around(text: str) -> list[str]:
    """Synchronization outside the loop."""
    found = words(text)
    outside = [*found[: found.index("loop")], "loop", *found[found.index("end") + 1 :]]
    return [step for step in outside if step in ("barrier", "plain barrier", "wait", "if", "loop")]


def test_two_clusters() -> None:
    text, made, audit = scheduled(product())
    assert [each.strategy for each in made.scheduled] == ["two-pp"]
    # Half of the reads of shared memory, the left operand, the other half, the right operand; two clusters, writes
    # between them. Each pair that meets has a fenced barrier behind it and a plain one before it.
    assert loop_of(steps(text)) == [
        "20 read",
        "2 load",
        "20 read",
        "4 load",
        "barrier",
        "priority",
        "32 mma",
        "priority",
        "plain barrier",
        "6 store",
        "barrier",
        "priority",
        "32 mma",
        "priority",
        "plain barrier",
    ]
    assert around(text) == ["barrier", "if", "plain barrier", "loop", "if", "plain barrier"]
    # Nothing was missing, and the check of the trace as it is now finds no race.
    assert not made.inserted[0].barriers and not audit.races and not audit.redundant


def test_waves_own_order_takes_six_barriers() -> None:
    assert barriers_an_iteration(product().compiled()) == 6


def test_copies() -> None:
    text, made, audit = scheduled(product(target="gfx950", use_global_to_shared=True))
    assert [each.strategy for each in made.scheduled] == ["two-pp-async"]
    assert loop_of(steps(text)) == [
        "20 read",
        "6 copy",
        "priority",
        "16 mma",
        "priority",
        "wait",
        "barrier",
        "priority",
        "16 mma",
        "priority",
        "plain barrier",
    ]
    assert around(text) == ["wait", "plain barrier", "if", "plain barrier", "loop", "if", "plain barrier"]
    assert not made.inserted[0].barriers and not audit.races


@pytest.mark.parametrize(
    ("block", "waves", "mma"),
    sweep(
        [
            ((128, 128, 64), (2, 4), None),
            ((128, 128, 128), (8, 1), None),
            ((128, 128, 64), (4, 2), MMAType.F32_32x32x8_F16),
        ],
        first=1,
    ),
)
def test_other_tiles(block: tuple[int, int, int], waves: tuple[int, int], mma: MMAType | None) -> None:
    text, made, audit = scheduled(product(block, waves, mma=mma))
    assert [each.strategy for each in made.scheduled] == ["two-pp"]
    assert barriers_an_iteration(text) == 4
    assert not audit.races


@pytest.mark.parametrize(
    ("source", "code", "why"),
    sweep(
        [
            (lambda: product((128, 128, 32)), "FP506", "a tile of 128 × 128 × 32"),
            (
                lambda: product((128, 128, 64), use_scheduling_barriers=True),
                "FP510",
                "the loop has a SchedulingGroupBarrier",
            ),
            (lambda: product(waves=(2, 2)), "FP505", "4 waves of 64 lanes"),
            (lambda: product((64, 128, 64)), "FP506", "a tile of 64 × 128 × 64"),
        ],
        first=2,
    ),
)
def test_what_does_not_fit_stays_as_it_is(source: Any, code: str, why: str) -> None:
    text, made, audit = scheduled(source())
    (found,) = made.scheduled
    assert found.strategy == "none"
    (name, refused), *_ = found.refusals
    assert (name, refused.code) == ("ping-pong", code) and str(refused).startswith(why)
    with host.installed("replace"):
        kernels.PIPELINE.schedule_reordering = lambda *_: None
        try:
            assert source().compiled() == text
        finally:
            kernels.PIPELINE.schedule_reordering = STOCK
    assert not audit.races


STOCK = kernels.PIPELINE.schedule_reordering


@pytest.mark.parametrize("schedule", [SchedulingType.NONE, SchedulingType.MODULO])
def test_other_schedules_are_left_to_wave(schedule: SchedulingType) -> None:
    _, made, _ = scheduled(kernels.gemm(schedule=schedule))
    assert not made.scheduled


def test_called_as_wave_calls_its_own() -> None:
    def instead(*given: Any) -> None:
        assert host.schedule_reordering(*given).strategy == "two-pp"

    kernels.PIPELINE.schedule_reordering = instead
    try:
        text = product((128, 128, 64)).compiled()
    finally:
        kernels.PIPELINE.schedule_reordering = STOCK
    assert "rocdl.s.barrier" in text


def test_uninstall_restores() -> None:
    host.install(schedule=True)
    assert kernels.PIPELINE.schedule_reordering is not STOCK
    host.uninstall()
    assert kernels.PIPELINE.schedule_reordering is STOCK


def test_audit_changes_no_order() -> None:
    with host.installed("audit", schedule=True, show=lambda _: None):
        assert kernels.PIPELINE.schedule_reordering is STOCK


def test_what_goes_wrong_leaves_the_loop_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def order(trace: Any) -> list[list[str]]:
        return [[node.name for node in graph.nodes] for graph in trace.region_graph.subgraphs.values()]

    seen: list[list[list[str]]] = []
    put, calls = reordered_loop._put, []

    def breaks_at_the_end(plan: Any, item: Any, region: Any) -> Any:
        calls.append(item)
        if sum(isinstance(each, reordered_loop.Shift) for each in calls) == 2:
            raise FencepostError("it does not work")
        return put(plan, item, region)

    def look(trace: Any, *_: Any) -> None:
        seen.append(order(trace))

    kernels.PIPELINE.schedule_reordering = look
    try:
        product((128, 128, 64)).compiled()
        monkeypatch.setattr(reordered_loop, "_put", breaks_at_the_end)
        why = "left the order of this kernel's loop to Wave: it does not work"
        with host.installed("replace", schedule=True), pytest.warns(RuntimeWarning, match=why):
            product((128, 128, 64)).compiled()
    finally:
        kernels.PIPELINE.schedule_reordering = STOCK
    plain, after = seen
    assert after == plain
