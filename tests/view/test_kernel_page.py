"""What a page shows of a kernel: windows, barriers with their reasons, findings, strategies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.commands.files import read_kernels
from fencepost.ir.builder import Kernel
from fencepost.ir.ops import Compute
from fencepost.ir.parser import parse, parse_all
from fencepost.report.python_lines import written_at
from fencepost.view import kernel_page, recording, strategy_rows
from fencepost.view.kernel_page import page_of
from fencepost.view.page_data import as_json
from tests.view.kernels import COPY, RACY, RING, TILE, WEAK, WRONG_PHASE, large, page, shown

TTGIR = Path(__file__).parent.parent / "filecheck" / "ttgir"


def test_a_window_says_what_covers_it() -> None:
    kernel = shown(TILE)
    found = {(window.kind, window.producer, window.consumer): window for window in kernel.windows}
    raw, war = found["RAW", 6, 8], found["WAR", 8, 6]
    assert (raw.buffer, raw.barriers, raw.distance, raw.loop) == ("%a", (7,), 0, None)
    assert raw.covered == "the barrier or wait on line 7"
    # From one iteration to the next: the loop's lines tell where the bar leaves and enters.
    assert (war.barriers, war.distance, war.loop) == ((5,), 1, (3, 9))


def test_a_window_that_nothing_covers_says_what_can_happen() -> None:
    windows = shown(RACY).windows
    assert windows and all(not window.covered and "can" in window.text for window in windows)


def test_a_copy_needs_a_wait_and_a_barrier() -> None:
    (window,) = shown(COPY).windows
    assert window.in_flight and window.barriers == (4, 5)


def test_what_mbarriers_order_is_covered_by_them() -> None:
    assert any(window.covered == "mbarriers" for window in shown(RING).windows)


def test_a_barrier_says_why_it_is_there_or_that_nothing_needs_it() -> None:
    first, second, third = shown(TILE.replace("mma %x\n", "mma %x\n    barrier\n")).barriers
    assert [barrier.line for barrier in (first, second, third)] == [5, 7, 10]
    assert second.needed and "without it" in second.reasons[0]
    assert not all(barrier.needed for barrier in (first, third))


def test_a_finding_has_its_lines_and_its_fix() -> None:
    kernel = shown(RACY)
    assert not kernel.ok and kernel.verdict.startswith("2 races")
    (finding, *_) = kernel.findings
    assert finding.code == "FP001" and len(finding.marks) == 2
    assert "fix" in dict(finding.notes)


def test_strategies_stand_side_by_side() -> None:
    rows = {row.name: row for row in shown(TILE).strategies}
    assert {"as it stands", "auto", "minimize", "optimal", "eager"} <= set(rows)
    assert (rows["as it stands"].barriers, rows["as it stands"].executed) == (2, 16)
    assert rows["auto"].executed <= rows["eager"].executed
    assert rows["auto"].cycles and len(rows["auto"].lines) == rows["auto"].barriers


def test_a_kernel_that_races_is_shown_again_mended_and_each_leads_to_the_other() -> None:
    both = page_of([parse(RACY)])
    first, second = both.kernels
    assert (first.ok, second.ok) == (False, True)
    assert second.title == "@tile, mended"
    assert (first.other, second.other) == (1, 0) and not first.added
    lines = both.texts[second.text].lines
    assert [lines[line - 1].split("#")[0].strip() for line in second.added] == ["barrier", "barrier"]


def test_what_no_barrier_can_mend_is_shown_mended_as_well() -> None:
    _, mended = page_of([parse(WRONG_PHASE, "phase.fp")]).kernels
    assert mended.ok and mended.added == (12,)


def test_a_file_keeps_its_layout_where_it_is_mended() -> None:
    text = f"# Why.\n\n{RACY}\n# Ends here.\n"
    both = page_of([parse(text, "racy.fp")])
    mended = both.texts[both.kernels[1].text].lines
    assert mended[:2] == ("# Why.", "") and mended[-1] == "# Ends here."


def test_of_several_kernels_the_wrong_one_is_mended_alone() -> None:
    kernels = page_of(parse_all(TILE + RACY.replace("@tile", "@racy"), "two.fp")).kernels
    assert [kernel.title for kernel in kernels] == ["@tile", "@racy", "@racy, mended"]
    assert [kernel.other for kernel in kernels] == [None, 2, 1]


# ---------------------------------------------------------------- a wait that is what is wrong


def test_a_wait_that_is_too_weak_is_what_is_wrong_and_not_redundant() -> None:
    weak, barrier = shown(WEAK).barriers
    assert weak.line == 5 and "lets the 2 newest copies stay in flight" in weak.wrong
    assert not barrier.wrong
    switch, _ = shown(WEAK).switches
    assert switch.wrong and switch.note == "this is what is wrong: see the findings"


def test_a_wait_for_the_wrong_phase_is_what_is_wrong() -> None:
    wrong = {barrier.line: barrier.wrong for barrier in shown(WRONG_PHASE).barriers if barrier.wrong}
    assert list(wrong) == [12] and wrong[12].endswith("the wait returns at once")


def test_the_barriers_of_a_clean_kernel_are_not_wrong() -> None:
    assert not any(barrier.wrong for barrier in shown(TILE).barriers)
    assert not any(switch.wrong for switch in shown(TILE).switches)


def test_a_clean_kernel_is_shown_once() -> None:
    assert len(page_of([parse(TILE)]).kernels) == 1


def test_what_explain_refuses_is_said_and_the_rest_is_shown() -> None:
    text = TILE.replace(
        "    barrier\n    write", "    if wave < 2 {\n      barrier waves 0..2\n    }\n    barrier\n    write"
    )
    kernel = shown(text)
    assert not kernel.windows and kernel.scenarios and kernel.barriers
    assert any(text.startswith("hazard windows and reasons: ") for text in kernel.left_out)


def test_several_kernels_of_a_file_share_its_text() -> None:
    traces = parse_all(TILE + COPY, "two.fp")
    both = page_of(traces)
    assert [kernel.name for kernel in both.kernels] == ["tile", "copy"]
    assert len(both.texts) == 1 and both.title == "two.fp"
    assert both.kernels[1].barriers[0].line == 15


def test_a_kernel_with_functions_and_labelled_blocks() -> None:
    kernel = shown(
        "func @fill {\n  shared %s : 64 at 0\n  write %s\n}\n"
        "kernel @k waves=4 {\n  shared %s : 64 at 0\n  call @fill\n"
        "  br ^next\n^next:\n  barrier\n  read %s\n  return\n}\n"
    )
    assert kernel.ok
    (window, *_) = [window for window in kernel.windows if window.kind == "RAW"]
    assert (window.producer, window.consumer) == (3, 11)
    (switch,) = kernel.switches
    assert switch.off is not None


def test_a_kernel_of_python_is_shown_as_it_prints() -> None:
    k = Kernel("built", waves=4)
    a = k.shared("a", bytes=64)
    k.write(a)
    k.read(a)
    (kernel,) = page_of([k.trace], mended=False).kernels
    assert kernel.findings


def test_a_triton_module_is_shown_by_its_own_lines() -> None:
    kernels = read_kernels(str(TTGIR / "insert_loop.ttgir"))
    made = page_of(kernels.to_check(), kernels.target(None))
    (kernel,) = made.kernels
    lines = made.texts[kernel.text].lines
    race = kernel.scenarios[kernel.findings[0].scenario or 0].recording.races[0]
    assert {"local_store" in lines[line - 1] for line in (race.first[1], race.second[1])} == {True, False}


def test_a_triton_module_is_shown_by_the_lines_of_its_python_as_well(tmp_path: Path) -> None:
    written = tmp_path / "tiles.py"
    written.write_text("import triton\n\n\ndef kernel():\n    store()\n    load()\n", encoding="utf-8")
    text = (TTGIR / "insert_loop.ttgir").read_text(encoding="utf-8")
    text = text.replace("!tensor -> !tile", f'!tensor -> !tile loc("{written}":5:4)')
    text = text.replace("!tile -> !tensor", f'!tile -> !tensor loc("{written}":6:4)')
    module = tmp_path / "module.ttgir"
    module.write_text(text, encoding="utf-8")
    made = page_of(read_kernels(str(module)).to_check())
    by_module, by_python = made.kernels
    assert by_module.origins and by_python.title == "@kernel, in tiles.py"
    assert made.texts[by_python.text].lines[4] == "    store()"
    assert {(window.producer, window.consumer) for window in by_python.windows} == {(5, 6), (6, 5)}
    assert {mark.line for finding in by_python.findings for mark in finding.marks} == {5, 6}
    # Nothing of this stays: the module's own lines are what comes next.
    written.unlink()
    (again,) = page_of(read_kernels(str(module)).to_check()).kernels
    assert again.windows == by_module.windows


def test_the_data_is_json() -> None:
    for text in (TILE, RACY, RING, COPY):
        found = json.loads(json.dumps(as_json(page(text)), allow_nan=False))
        assert found["kernels"][0]["waves"] == shown(text).waves


def test_a_large_kernel_has_its_windows() -> None:
    kernel = shown(large(400))
    assert len(kernel.windows) >= 190


@pytest.mark.parametrize(
    ("origin", "place"),
    [
        ("/home/k.py:12", ("/home/k.py", 12)),
        ("standard.py:3, called from line 9, called from k.py:12", ("k.py", 12)),
        ("k.py:3, called from line 9", ("k.py", 9)),
        ("module.ttgir:4", None),
        ("", None),
    ],
)
def test_of_calls_the_kernels_own_line_is_where_an_operation_was_written(
    origin: str, place: tuple[str, int] | None
) -> None:
    assert written_at(Compute(written=origin)) == place


def test_a_page_that_takes_long_leaves_out_what_it_can_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_page, "MOST_SECONDS", -1.0)
    (kernel,) = page_of([parse(RACY)]).kernels
    assert kernel.findings and kernel.scenarios and not kernel.strategies
    assert [text.partition(":")[0] for text in kernel.left_out[-2:]] == [
        "strategies side by side",
        "the kernel mended",
    ]


# ---------------------------------------------------------------- what takes too long


def test_a_run_ends_where_no_recording_gets_to() -> None:
    """Thousands of accesses behind it would be followed for nothing."""
    lines = ["kernel @long waves=4 {", "  shared %a : 64"]
    lines += [f"  {'write' if number % 2 else 'read'} %a[0..4]" for number in range(4_000)]
    kernel = shown("\n".join([*lines, "}"]) + "\n")
    assert all(run.recording.steps <= recording.MOST_STEPS for run in kernel.scenarios)
    assert kernel.scenarios[0].recording.cut and not kernel.scenarios[0].recording.stuck
    assert any("is shown for its first" in words for words in kernel.left_out)


def test_a_race_before_that_is_shown() -> None:
    lines = ["kernel @late waves=2 {", "  shared %a : 64", "  shared %b : 64"]
    lines += ["  read %b"] * 200 + ["  write %a", "  read %a"] + ["  read %b"] * 3_000
    (finding,) = shown("\n".join([*lines, "}"]) + "\n").findings
    assert finding.scenario is not None


def test_where_auto_is_slow_the_other_strategies_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategy_rows, "FIRST_SECONDS", -1.0)
    (kernel,) = page_of([parse(TILE)]).kernels
    assert [row.name for row in kernel.strategies] == ["as it stands", "auto"]
    assert any("would take too long" in words for words in kernel.left_out)


def test_a_kernel_that_took_long_is_shown_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(page_of([parse(RACY)]).kernels) == 2
    monkeypatch.setattr(kernel_page, "MOST_SECONDS", 0.0)
    (kernel,) = page_of([parse(RACY)]).kernels
    assert any("the kernel mended" in words for words in kernel.left_out)
