"""Runs of a kernel: the race that a barrier prevents happens without it, and is gone with it."""

from __future__ import annotations

import pytest

from fencepost.view.page_data import Recording
from tests.view.kernels import COPY, HANGS, RACY, RING, SKEWED, SPLIT, TILE, WEAK, WRONG_PHASE, large, shown


def without(text: str, line: int) -> tuple[Recording, Recording]:
    """The run without the barrier on a line, and the same run with it."""
    kernel = shown(text)
    (switch,) = [switch for switch in kernel.switches if line in switch.lines]
    assert switch.off is not None and switch.on is not None
    off, on = kernel.scenarios[switch.off], kernel.scenarios[switch.on]
    assert (off.opposite, on.opposite) == (switch.on, switch.off)
    assert off.switched_off == switch.lines and on.switched_off == ()
    return off.recording, on.recording


def lines_run(recording: Recording) -> set[int]:
    return {line for cells in recording.cells for _, line, action, _ in cells if action not in "xh"}


@pytest.mark.parametrize(
    ("text", "line", "kind", "lines"),
    [
        (TILE, 7, "RAW", (6, 8)),
        (TILE, 5, "WAR", (8, 6)),
        (COPY, 4, "RAW", (3, 6)),
        (COPY, 5, "RAW", (3, 6)),
        (SPLIT, 6, "RAW", (3, 7)),
        (RING, 13, "RAW", (21, 14)),
        (RING, 19, "WAR", (14, 21)),
    ],
)
def test_the_race_happens_without_the_barrier_and_not_with_it(
    text: str, line: int, kind: str, lines: tuple[int, int]
) -> None:
    off, on = without(text, line)
    race = off.races[0]
    assert (race.kind, (race.first[1], race.second[1])) == (kind, lines)
    assert not on.races
    assert line not in lines_run(off) and line in lines_run(on)


def test_the_reader_overtakes_the_writer_who_is_slow() -> None:
    off, on = without(TILE, 7)
    race = off.races[0]
    slow, quick = race.first[0], race.second[0]
    assert race.second[2] < race.first[2], "the read is made before the write that it needs"
    assert f"wave {quick} reads %a (line 8) before wave {slow}'s write of it (line 6)" in race.text
    # The same wave is as slow with the barrier; then the other one waits for it there.
    for recording in (off, on):
        assert any(action == "h" for _, _, action, _ in recording.cells[recording.waves.index(slow)])
    assert any(line == 7 and action == "x" for _, line, action, _ in on.cells[on.waves.index(quick)])


def test_a_copy_that_nobody_waits_for_is_still_under_way() -> None:
    off, _ = without(COPY, 4)
    assert "while" in off.races[0].text and "under way" in off.races[0].text
    (copy, *_) = [access for access in off.accesses if access.action == "c"]
    assert copy.complete is None and copy.visible is None


def test_an_access_is_complete_at_the_fence_and_visible_at_the_rendezvous() -> None:
    recording = shown(TILE).scenarios[0].recording
    write = next(access for access in recording.accesses if access.action == "w")
    assert write.complete is not None and write.visible is not None
    assert write.step < write.complete <= write.visible


def test_the_halves_of_a_split_barrier_go_off_together() -> None:
    (switch,) = shown(SPLIT).switches
    assert switch.lines == (4, 6)


def test_a_redundant_barrier_has_nothing_to_show() -> None:
    kernel = shown(TILE.replace("    mma %x\n", "    mma %x\n    barrier\n"))
    assert [switch.off is None for switch in kernel.switches].count(True) >= 1
    assert all(switch.note for switch in kernel.switches if switch.off is None)


def test_each_cause_has_a_run_of_a_kernel_that_races_as_it_stands() -> None:
    kernel = shown(RACY)
    assert kernel.findings
    for finding in kernel.findings:
        assert finding.scenario is not None
        (first, second) = [mark.line for mark in finding.marks]
        race = kernel.scenarios[finding.scenario].recording.races[0]
        assert (race.first[1], race.second[1]) == (first, second)


def named(text: str) -> tuple[str, str]:
    """What the report says about a kernel's first race, and what its run shows."""
    kernel = shown(text)
    (finding, *_) = kernel.findings
    assert finding.scenario is not None
    return f"{finding.title} {dict(finding.notes)}", kernel.scenarios[finding.scenario].recording.races[
        0
    ].text


@pytest.mark.parametrize("text", [RACY, TILE.replace("    barrier\n    %x", "    %x")])
def test_the_run_shows_the_waves_of_the_report(text: str) -> None:
    kernel = shown(text)
    for finding in kernel.findings:
        assert finding.scenario is not None
        race = kernel.scenarios[finding.scenario].recording.races[0]
        assert race.first[0] == 0 and race.second[0] == 1
        assert finding.title.startswith("wave 1 can") and "before wave 0" in finding.title


def test_without_a_barrier_the_waves_race_that_its_reasons_name() -> None:
    off, _ = without(TILE, 7)
    assert (off.races[0].first[0], off.races[0].second[0]) == (0, 1)
    assert "wave 1's read of %a (line 8) can miss wave 0's write" in shown(TILE).barriers[1].reasons[0]


def test_a_weak_wait_is_shown_letting_the_copy_pass() -> None:
    title, race = named(WEAK)
    assert "wave 0 can read %a[0] while its own copy into it is under way" in title
    assert race.startswith("wave 0 reads %a[0] (line 7) while its own copy (line 3) is still under way")
    assert race.endswith("the wait on line 5 lets it stay in flight")


def test_a_wait_for_the_wrong_phase_is_shown_returning_too_early() -> None:
    title, race = named(WRONG_PHASE)
    assert "wave 0 can read %a[%i % 2] while wave 4's copy into it is under way" in title
    assert race.startswith("wave 0 reads %a[%i % 2] (line 13) before wave 4's copy of it (line 20)")
    assert race.endswith("the wait on line 12 returns at once")


def test_the_run_as_it_stands_names_the_same_waves() -> None:
    (race, *_) = shown(RACY).scenarios[0].recording.races
    assert (race.first[0], race.second[0]) == (0, 1)


def test_waves_that_wait_for_ever_are_named() -> None:
    recording = shown(HANGS).scenarios[0].recording
    assert recording.stuck == ((0, 5), (1, 5))
    assert not recording.cut


def test_waves_that_wait_for_each_others_mbarriers_are_named_however_long_their_loops_are() -> None:
    wrong = RING.replace("  param %n\n", "").replace("%n", "16").replace("(%j // 2 + 1) % 2", "%j // 2 % 2")
    recording = shown(wrong).scenarios[0].recording
    assert recording.stuck == ((0, 12), (1, 12), (2, 12), (3, 12), (4, 18))
    assert recording.hangs == "waves 0 to 3 wait on line 12 for ever; wave 4 waits on line 18 for ever"


def test_without_a_barrier_of_one_group_of_waves_the_others_wait_for_ever() -> None:
    off, on = without(SKEWED, 6)
    assert {wave for wave, _ in off.stuck} == {0, 1} and not off.races
    assert not on.stuck


def test_phases_of_mbarriers_count_arrivals() -> None:
    recording = shown(RING).scenarios[0].recording
    names = {mbarrier.name: mbarrier.phases for mbarrier in recording.mbarriers}
    assert set(names) == {"%full[0]", "%full[1]", "%empty[0]", "%empty[1]"}
    assert {phase.count for phase in names["%empty[0]"]} == {4}
    assert [phase.complete for phase in names["%full[0]"]] == sorted(p.complete for p in names["%full[0]"])
    assert any(phase.bytes == 1024 for phase in names["%full[0]"])


def test_slots_of_a_ring_have_lanes_and_mbarriers_have_none() -> None:
    assert shown(RING).scenarios[0].recording.slots == ("%a[0]", "%a[1]")


def test_waves_that_run_other_operations_are_another_group() -> None:
    assert shown(SKEWED).scenarios[0].recording.groups == (0, 0, 1, 1)
    assert set(shown(TILE).scenarios[0].recording.groups) == {0}


def test_long_kernels_are_run_in_part_and_the_page_says_so() -> None:
    kernel = shown(large(1200))
    assert len(kernel.switches) < len(kernel.barriers)
    assert any("switches of" in text for text in kernel.left_out)
    assert all(scenario.recording.steps <= 600 for scenario in kernel.scenarios)


def test_an_empty_kernel_has_nothing_to_run() -> None:
    kernel = shown("kernel @empty waves=2 {\n  shared %a : 64\n}\n")
    assert kernel.ok and not kernel.switches
