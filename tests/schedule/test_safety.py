"""Scheduled kernels have no race and no deadlock, and not one barrier, wait or conditional barrier too many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import pytest

import fencepost as fp
from fencepost.check import Race
from fencepost.ir.parser import parse
from fencepost.ir.trace import CapturedTrace
from fencepost.schedule import Tile, constraints_for, schedule_reordering
from fencepost.schedule.gemm import async_gemm, prefetch_gemm
from tests.schedule.kernels import small
from tests.tiers import FULL, sweep

TILES = {"two-pp": Tile(128, 256, 64), "two-pp-async": Tile(128, 256, 64), "four-pp": Tile(256, 256, 128)}


def scheduled(strategy: str, waves: int = 8, trip: int | None = None, ahead: int = 2) -> CapturedTrace:
    """The kernel of a strategy, scheduled."""
    constraints = constraints_for(TILES[strategy], waves, "gfx950")
    if strategy == "two-pp-async":
        trace = async_gemm(constraints, trip=trip, ahead=ahead)
    else:
        trace = prefetch_gemm(constraints, trip=trip)
    schedule_reordering(trace, constraints, strategy=strategy)
    return trace


@pytest.mark.parametrize("trip", sweep([None, 0, 1, 2, 3, 4], chosen=(None, 1)))
@pytest.mark.parametrize("waves", sweep([2, 4, 8, 16], chosen=(8,)))
@pytest.mark.parametrize("strategy", TILES)
def test_scheduled_kernels_are_clean(strategy: str, waves: int, trip: int | None) -> None:
    report = fp.check(scheduled(strategy, waves, trip))
    assert report.ok
    assert report.explored.complete


def weakened(text: str) -> Iterator[tuple[str, str]]:
    """The kernel with one piece of synchronization dropped or made weaker, and what was done to it."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        code = line.partition("#")[0].strip()
        word, *settings = code.split()

        def instead(*new: str, first: int = number, last: int = number) -> str:
            return "\n".join([*lines[:first], *new, *lines[last + 1 :]]) + "\n"

        if word in ("barrier", "workgroup_barrier", "wait_count"):
            yield f"{number + 1}: no {code}", instead()
        if word == "barrier":
            yield f"{number + 1}: no fence, no wait in {code}", instead("workgroup_barrier")
        if word == "barrier" and settings:
            yield f"{number + 1}: no wait in {code}", instead("barrier")
            waits = " ".join(settings)
            yield f"{number + 1}: no fence in {code}", instead(f"wait_count {waits}", "workgroup_barrier")
        for setting in settings if word in ("barrier", "wait_count") else ():
            counter, _, count = setting.partition("=")
            yield f"{number + 1}: one more in {code}", instead(f"{word} {counter}={int(count) + 1}")
        if code.startswith("if wave"):
            yield f"{number + 1}: no {code}", instead(last=number + 2)


@pytest.mark.parametrize("waves", sweep([2, 8], chosen=[8]))
@pytest.mark.parametrize("strategy", TILES)
def test_whatever_is_dropped_or_weakened_is_reported(strategy: str, waves: int) -> None:
    changes = list(weakened(str(scheduled(strategy, waves))))
    assert len(changes) >= 12
    unseen = [what for what, text in changes if fp.check(parse(text)).ok]
    assert not unseen


@pytest.mark.parametrize("ahead", sweep([1, 3], first=1))
def test_so_are_waits_for_other_distances(ahead: int) -> None:
    changes = list(weakened(str(scheduled("two-pp-async", ahead=ahead))))
    assert not [what for what, text in changes if fp.check(parse(text)).ok]


# ---------------------------------------------------------------- the races that shipped


def races_of(lines: dict[str, str]) -> list[Race]:
    """The races of the small kernel, scheduled, with the in-loop barriers replaced in turn."""
    trace = small()
    schedule_reordering(trace, constraints_for(None))
    head, loop = str(trace).split("  loop ", 1)
    for old, new in lines.items():
        loop = loop.replace(old, new)
    return fp.check(parse(f"{head}  loop {loop}")).races


def test_a_raw_barrier_behind_local_reads_is_a_race_with_the_other_groups_writes() -> None:
    races = races_of({"barrier  # reads are complete": "workgroup_barrier  # reads are not"})
    assert {(race.first.op.mnemonic, race.second.op.mnemonic, race.hazard) for race in races} == {
        ("read", "write", "WAR")
    }
    # The late group reads, and the early one, which has met it once since, writes the next tile.
    late = [race for race in races if race.first.wave >= 4 > race.second.wave]
    assert late
    assert all("runs one rendezvous behind" in race.why for race in late)


def test_a_raw_barrier_behind_local_writes_is_a_race_with_the_other_groups_reads() -> None:
    races = races_of({"barrier  # writes are complete": "workgroup_barrier  # writes are not"})
    assert races
    assert {(race.first.op.mnemonic, race.second.op.mnemonic) for race in races} == {("write", "read")}


@pytest.mark.parametrize("fenced", list(product([True, False], repeat=4)))
def test_fences_behind_reads_and_behind_writes_are_needed_and_enough(fenced: tuple[bool, ...]) -> None:
    lines = str(scheduled("two-pp")).splitlines()
    inside = [number for number, line in enumerate(lines) if re.match(r"    (workgroup_)?barrier", line)]
    # The first and the last stand in the conditionals around the loop.
    for number, fence in zip(inside[1:-1], fenced, strict=True):
        lines[number] = "    barrier" if fence else "    workgroup_barrier"
    assert fp.check(parse("\n".join(lines) + "\n")).ok is (fenced[0] and fenced[2])


def test_fences_where_wave_has_them_are_at_the_wrong_barriers() -> None:
    """Workgroup barrier · LDS barrier · workgroup barrier · LDS barrier: what Wave's template holds."""
    fences = {
        "    barrier  #": "    WORKGROUP  #",
        "    workgroup_barrier  #": "    barrier  #",
        "    WORKGROUP  #": "    workgroup_barrier  #",
    }
    assert {race.hazard for race in races_of(fences)} == {"WAR", "RAW"}


# ---------------------------------------------------------------- the kernel around the loop

PERSISTENT = """kernel @persistent waves=8 {
  shared %a : 1024
  shared %b : 1024
  loop %tile in 0..? {
    write %a
    write %b
    %zero = compute
    loop %i in 0..? carry %sum = %zero {
      %ga = global_read
      %gb = global_read
      %x0 = read %a[0..512]
      %y0 = read %b[0..512]
      %x1 = read %a[512..1024]
      %y1 = read %b[512..1024]
      %s0 = mma %x0, %y0, %sum
      %s1 = mma %x1, %y1, %s0
      write %a, %ga
      write %b, %gb
      next %s1
    }
    %x = read %a
    %y = read %b
    mma %x, %y, %sum
    workgroup_barrier
  }
}
"""


def test_a_loop_over_tiles_around_the_loop() -> None:
    trace = parse(PERSISTENT)
    result = schedule_reordering(trace, constraints_for(None), strategy="two-pp")
    assert result.report is not None and result.report.ok


@FULL
def test_whatever_is_dropped_in_a_loop_over_tiles_is_reported() -> None:
    trace = parse(PERSISTENT)
    schedule_reordering(trace, constraints_for(None), strategy="two-pp")
    assert not [what for what, text in weakened(str(trace)) if fp.check(parse(text)).ok]


def test_what_is_missing_elsewhere_is_left_to_insert_and_told() -> None:
    trace = parse(PERSISTENT.replace("    workgroup_barrier\n", ""))
    result = schedule_reordering(trace, constraints_for(None), strategy="two-pp")
    assert result.report is not None
    found = {(race.first.op.mnemonic, race.second.op.mnemonic) for race in result.report.races}
    assert found == {("read", "write")}
