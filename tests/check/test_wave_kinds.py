"""Waves of one kind stand for each other: one of each is followed, whatever a workgroup's size is."""

from __future__ import annotations

import pytest

from fencepost.check import Report, check
from fencepost.check.trusted_mbarriers import TrustingTracker
from fencepost.ir.parser import parse


def judged(body: str, *, waves: int = 64, trusting: bool = False) -> Report:
    """What `check` says of a kernel with some buffers."""
    text = f"kernel @k waves={waves} {{\n shared %a : 4 x 64\n shared %m : 4 x 8\n{body}\n}}"
    return check(parse(text), trusting=trusting)


@pytest.mark.parametrize("waves", [4, 64])
def test_one_wave_of_each_kind_is_followed(waves: int) -> None:
    report = judged("if wave == 0 {\n write %a\n}\nbarrier\nread %a", waves=waves)
    assert report.proven
    # The write of wave 0; the read of wave 0 and of one that stands for the others.
    assert report.explored.accesses == 3


def test_waves_of_one_kind_are_compared_with_each_other() -> None:
    report = judged("if wave >= 1 {\n write %a\n read %a\n}\nbarrier")
    assert [(race.first.wave, race.second.wave) for race in report.races] == [(1, 2)]


def test_a_kind_of_one_wave_has_no_other() -> None:
    assert judged("if wave == 5 {\n write %a\n read %a\n}\nbarrier").proven


def test_waves_are_told_apart_by_all_conditions_together() -> None:
    body = "if wave < 8 {\n if wave >= 6 {\n  write %a\n }\n}\nif wave % 8 == 7 {\n read %a\n}\nbarrier"
    report = judged(body)
    assert [(race.first.wave, race.second.wave) for race in report.races] == [(6, 7)]


@pytest.mark.parametrize(
    "body",
    [
        "write %a[wave % 4]\nread %a[(wave + 1) % 4]\nbarrier",
        "if wave < ? {\n write %a\n}\nread %a\nbarrier",
        "loop %i in 0..4 {\n if wave == %i {\n  write %a\n }\n read %a\n barrier\n}",
    ],
    ids=["bytes", "unknown", "iteration"],
)
def test_waves_that_differ_otherwise_are_all_followed(body: str) -> None:
    report = judged(body, waves=8)
    assert report.races and report.explored.accesses >= 8


def test_phase_shifted_waves_are_followed_once_for_each_half() -> None:
    half = "if wave {} 4 {{\n workgroup_barrier\n}}"
    body = f"{half.format('>=')}\nwrite %a[0]\nbarrier\nbarrier\nread %a[0]\n{half.format('<')}"
    text = f"kernel @k waves=8 {{\n shared %a : 4 x 64\n loop %i in 0..? {{\n{body}\n}}\n}}"
    report = check(parse(text), simulated=False)
    assert report.explored.method == "apart"
    assert report.explored.accesses == 4


RING = """
 if wave == 0 {{
  mbarrier_init %m[0] count=1
  mbarrier_init %m[1] count=1
 }}
 barrier
 loop %i in 0..? {{
  barrier
  if wave == 0 {{
   mbarrier_expect %m[%i % 2] bytes=64
   tensor_load_to_lds %a[%i % 2] counter=tma arrives %m[%i % 2] bytes=64
  }}
  mbarrier_wait %m[%i % 2] phase={}
  read %a[%i % 2]
 }}
"""


def test_phases_are_not_followed_where_mbarriers_are_trusted() -> None:
    one, eight = (
        judged(RING.format(phase), trusting=True).explored for phase in ("0", "%i // 2 % 2 + %i % 8 // 4")
    )
    assert (one.accesses, one.steps) == (eight.accesses, eight.steps)


def test_a_trusting_check_looks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[TrustingTracker] = []
    follow = TrustingTracker.run

    def noted(tracker: TrustingTracker) -> None:
        runs.append(tracker)
        follow(tracker)

    monkeypatch.setattr(TrustingTracker, "run", noted)
    asked = "if %n > 3 {\n write %a[3]\n barrier\n}"
    body = f"param %n\n{RING.format('%i // 2 % 2')}\n{asked}"
    assert judged(body, trusting=True).ok
    assert len(runs) == 1
