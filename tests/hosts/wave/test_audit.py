"""What an audit tells: in the user's names and lines, and nothing that it meets is lost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import wave_lang.kernel.wave as tkw
from wave_lang.kernel.lang.global_symbols import THREAD_0

from fencepost.hosts import wave as host
from fencepost.hosts.wave import Audit, audit
from fencepost.hosts.wave import audit as auditing
from fencepost.ir.source import FencepostError
from tests.hosts.wave import kernels
from tests.tiers import sweep


def judged(source: kernels.Source) -> Audit:
    with host.installed("audit", show=lambda _: None) as made:
        source.compiled()
    assert made is not None
    (found,) = made.audits
    return found


def barrier_for_some(memory: Any, a: Any, b: Any) -> None:
    tkw.write(tkw.read(a), memory)

    @tkw.conditional(THREAD_0 < 64)
    def first_wave() -> None:
        tkw.shared_memory_barrier()

    tkw.write(tkw.read(memory, mapping=kernels.mapped(kernels.other, kernels.same)), b)


def barrier_for_some_lanes(memory: Any, a: Any, b: Any) -> None:
    tkw.write(tkw.read(a), memory)

    @tkw.conditional(THREAD_0 < 32)
    def some_lanes() -> None:
        tkw.shared_memory_barrier()

    tkw.write(tkw.read(memory, mapping=kernels.mapped(kernels.other, kernels.same)), b)


def test_a_hang_is_a_finding() -> None:
    found = judged(kernels.rows(barrier_for_some, "gfx942"))
    first, *_ = found.races
    assert first.code == "FP002" and first.title == "wave 0 waits at a barrier that wave 1 never reaches"
    assert ", 1 hang" in str(found).splitlines()[0]
    assert not found.ok


def test_a_barrier_that_nobody_knows_who_meets_is_never_passed_in_silence() -> None:
    found = judged(kernels.rows(barrier_for_some_lanes, "gfx942"))
    assert found.races or found.not_judged
    assert not found.ok


@pytest.mark.parametrize("step", ["read", "check", "prune_barriers", "_frequencies"])
@pytest.mark.parametrize(
    "error", sweep([FencepostError("it does not work", code="FP999"), KeyError("it does not work")], first=1)
)
def test_what_goes_wrong_on_the_way_is_recorded(
    monkeypatch: pytest.MonkeyPatch, step: str, error: Exception
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise error

    import sys

    monkeypatch.setattr(sys.modules[auditing.__module__], step, broken)
    with pytest.warns(RuntimeWarning, match="cannot judge this kernel: .*it does not work"):
        found = judged(kernels.gemm())
    assert found.kernel == "gemm" and not found.ok
    (failed,) = found.not_judged
    assert failed.code == ("FP999" if isinstance(error, FencepostError) else "FP424")
    assert str(found).startswith("fencepost: @gemm (gfx942): not judged")
    assert "it does not work" in str(found)


def test_a_trace_that_cannot_be_read_is_not_judged() -> None:
    found: list[Audit] = []

    def look(trace: Any, _: list[Any]) -> None:
        hardware = SimpleNamespace(threads_per_wave=64, waves_per_block=(1000, 1, 1))
        found.append(audit(trace, "gfx942", [hardware]))

    kernels.gemm().looked_at(look)
    (failed,) = found[0].not_judged
    assert failed.code == "FP422" and "1000 waves" in failed.title


def test_a_report_quotes_the_users_line_and_names_his_memory() -> None:
    found = judged(kernels.write_then_write())
    (race,) = found.races
    assert race.title == "wave 1 can write %memory before wave 0 has written it"
    text = str(found)
    assert "tests/hosts/wave/kernels.py:" in text
    assert "tkw.write(tkw.read(b), memory, mapping=mapped(same, other))" in text
    assert "shared %" not in text  # nothing of the kernel that it was read as


def test_memory_of_a_promoted_argument_goes_by_its_name() -> None:
    names: list[list[str]] = []
    kernels.gemm().looked_at(
        lambda trace, constraints: names.append(sorted(host.translate(trace, constraints).trace.buffers))
    )
    assert names == [["a", "b"]]


def test_two_memories_have_two_names() -> None:
    from wave_lang.kernel.wave.scheduling.schedule_enums import SchedulingType

    names: list[list[str]] = []
    kernels.gemm(schedule=SchedulingType.PREFETCH, multi_buffer_count=2).looked_at(
        lambda trace, constraints: names.append(sorted(host.translate(trace, constraints).trace.buffers))
    )
    assert names == [["a", "a_2", "b", "b_2"]]
