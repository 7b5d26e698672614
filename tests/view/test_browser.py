"""Pages in a real browser: they load, play, switch barriers, search, and work by keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.ir.parser import parse_all
from fencepost.view.html_page import html_page
from fencepost.view.kernel_page import page_of
from tests.view.browser import Browser, browser, installed
from tests.view.kernels import COPY, HANGS, RACY, RING, THREE, TILE, WEAK, WRONG_PHASE, large

MOST_NODES = 4_000
"""Elements of the document, however long the kernel is: only what is in view is there."""
PAGES = {
    "tile": TILE,
    "racy": RACY,
    "ring": RING,
    "hangs": HANGS,
    "phase": WRONG_PHASE,
    "weak": WEAK,
    "two": TILE + COPY,
    "three": THREE,
    "large": large(5_000),
    "allowed": RACY.replace("read %a", "read %a  # fencepost: allow FP001: the tile is constant"),
    "nothing": "kernel @nothing waves=2 {\n}\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the pages are."""
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def window(folder: Path) -> Iterator[Browser]:
    """One browser for all tests; each loads its page anew."""
    assert installed(), "chromium and chromedriver are missing: scripts/install_chromium.sh installs them"
    with browser(folder) as opened:
        yield opened


@pytest.fixture
def reader(window: Browser, folder: Path) -> Iterator[Reader]:
    """Somebody who looks at pages; whatever he does, the page has nothing to complain about."""
    window.messages()
    yield Reader(window, folder)
    assert window.messages() == []


class Reader:
    """Opens pages by name."""

    def __init__(self, window: Browser, folder: Path) -> None:
        self.window = window
        self.folder = folder

    def opens(self, name: str) -> Browser:
        path = self.folder / f"{name}.html"
        if not path.exists():
            path.write_text(html_page(page_of(parse_all(PAGES[name], f"{name}.fp"))), encoding="utf-8")
        self.window.open(path)
        return self.window


def test_a_page_shows_the_kernel_its_barriers_and_its_windows(reader: Reader) -> None:
    page = reader.opens("tile")
    assert page.driver.title == "tile.fp · fencepost"
    assert page.text("#verdict").startswith("✓ no race, no deadlock")
    assert len(page.all(".row")) == len(TILE.splitlines())
    assert [row.get_attribute("data-line") for row in page.all(".row.barrier")] == ["5", "7"]
    assert len(page.all("#windows .bar.RAW")) == 1 and len(page.all("#windows .bar.WAR")) == 1
    assert not page.all("#windows .bar.uncovered")
    assert "as it stands" in page.text("#strategies")


def test_the_line_of_a_barrier_says_why_it_is_there(reader: Reader) -> None:
    page = reader.opens("tile")
    page.find('.row[data-line="7"]').click()
    assert "needed" in page.text("#details")
    assert "without it, wave 1's read of %a (line 8) can miss wave 0's write of %a (line 6)" in page.text(
        "#details"
    )


def test_switching_a_barrier_off_shows_the_race_and_on_again_it_is_gone(reader: Reader) -> None:
    page = reader.opens("tile")
    assert "No race in this run" in page.text("#race")
    page.find("#switch-1").click()
    assert "⚡ Race (RAW, read after write): wave" in page.text("#race")
    assert "before wave 0's write of it (line 6)" in page.text("#race")
    assert {row.get_attribute("data-line") for row in page.all(".row.race")} == {"6", "8"}
    assert page.find(".row.off").get_attribute("data-line") == "7"
    assert len(page.all("#lanes .raced")) == 2
    page.find("#switch-1").click()
    assert "✓ No race in this run: with line 7 there" in page.text("#race")
    assert not page.all(".row.race") and not page.all(".row.off")


def test_one_barrier_is_off_at_a_time(reader: Reader) -> None:
    page = reader.opens("tile")
    page.find("#switch-0").click()
    page.find("#switch-1").click()
    assert [box.is_selected() for box in page.all("#switches input")] == [True, False]
    assert page.text("#race").startswith("⚡ Race (RAW")


def test_a_run_plays_and_pauses(reader: Reader) -> None:
    page = reader.opens("tile")
    assert page.text("#step").startswith("Step 1 of")
    page.find("#play").click()
    page.until("Number(document.getElementById('position').value) >= 2")
    page.find("#play").click()
    stopped = page.text("#step")
    assert page.find("#play").get_attribute("aria-label") == "Play"
    page.find("#forward").click()
    assert page.text("#step") != stopped
    page.find("#to-start").click()
    assert page.text("#step").startswith("Step 1 of")
    assert not page.find("#back").is_enabled()


def test_the_waves_stand_on_their_lines(reader: Reader) -> None:
    page = reader.opens("tile")
    chips = page.all('.row[data-line="4"] .chip')
    assert [chip.text for chip in chips] == ["0", "1", "2", "3"]
    assert "wave 0 accesses global memory, line 4" in page.text("#now")


def test_a_kernel_that_races_opens_with_its_race(reader: Reader) -> None:
    page = reader.opens("racy")
    assert page.text("#verdict").startswith("✗ 2 races")
    assert page.text("#race").startswith("⚡ Race (RAW")
    assert len(page.all("#windows .bar.uncovered")) == 2
    assert "fix: a barrier before line" in page.text("#findings")
    page.find("#to-start").click()
    assert "No race so far" in page.text("#race")
    page.all("#findings .finding button:not(.link)")[1].click()
    assert page.text("#race").startswith("⚡ Race")


def lines(page: Browser, selector: str) -> set[int]:
    """The lines of the rows that a selector finds."""
    return {int(row.get_attribute("data-line") or 0) for row in page.all(f".row{selector}")}


def test_each_of_several_findings_can_be_chosen(reader: Reader) -> None:
    """Its two lines, its run and its card; lines of the others are marked less."""
    page = reader.opens("three")
    assert page.text("#findings-title") == "Findings (3)"
    pairs = {(11, 12), (7, 8), (9, 10)}
    shown = set()
    for button in page.all("#findings .choose"):
        button.click()
        assert [each.get_attribute("aria-pressed") for each in page.all(".choose")].count("true") == 1
        (card,) = page.all(".finding.chosen")
        marked = lines(page, ".marked")
        first, second = sorted(marked)
        assert f"line {first} " in card.text and f"line {second} " in card.text and "fix:" in card.text
        assert lines(page, ".race") == marked and page.text("#race").startswith("⚡ Race")
        assert f"line {second}" in page.text("#race")
        assert lines(page, ".elsewhere") == set(range(7, 13)) - marked
        shown.add((first, second))
    assert shown == pairs


def test_a_key_goes_from_finding_to_finding(reader: Reader) -> None:
    page = reader.opens("three")
    seen = []
    for _ in range(4):
        seen.append(page.text(".finding.chosen .title"))
        page.press("n")
    assert len(set(seen)) == 3 and seen[0] == seen[3]
    page.all("#findings .finding button:not(.link)")[1].click()
    assert page.text(".finding.chosen .title") == page.all("#findings .title")[1].text, "Show it happen"


def test_one_finding_needs_no_choice(reader: Reader) -> None:
    page = reader.opens("hangs")
    assert len(page.all(".finding")) == 1 and not page.all(".choose")


def test_the_mended_kernel_is_one_choice_away(reader: Reader) -> None:
    page = reader.opens("racy")
    page.all("#kernel option")[1].click()
    assert page.text("#verdict").startswith("✓ no race")
    assert len(page.all(".row.barrier")) == 2
    assert not page.find("#findings-panel").is_displayed(), "there is nothing to find"


def test_a_button_shows_it_mended_and_as_it_was(reader: Reader) -> None:
    page = reader.opens("racy")
    assert page.text("#other") == "Show it mended"
    page.find("#other").click()
    assert page.text("#verdict").startswith("✓ no race")
    assert [row.get_attribute("data-line") for row in page.all(".row.added")] == ["5", "7"]
    assert "+ new or changed" in page.text("#signs").replace("\n", " ")
    page.find("#other").click()
    assert page.text("#verdict").startswith("✗ 2 races") and not page.all(".row.added")


def test_a_clean_kernel_has_nothing_to_mend(reader: Reader) -> None:
    assert not reader.opens("tile").find("#other").is_displayed()


def test_findings_stand_above_the_kernel(reader: Reader) -> None:
    page = reader.opens("racy")
    below = "document.getElementById('code-panel').getBoundingClientRect().top"
    above = "document.getElementById('findings-panel').getBoundingClientRect().bottom"
    assert page.run(f"return {above} <= {below}")
    assert "line 5 write %a, %g wave 1 writes" in " ".join(page.text("#findings").split())


def test_a_wait_that_is_what_is_wrong_is_marked_and_the_run_shows_why(reader: Reader) -> None:
    page = reader.opens("phase")
    wrong = page.find(".row.wrong")
    assert wrong.get_attribute("data-line") == "12" and "✗" in wrong.text
    assert page.text("#race").endswith("the wait on line 12 returns at once.")
    assert "this is what is wrong" in page.text("#switches .is-wrong")
    wrong.click()
    assert "✗ wrong: with %i = 1 this is parity 1" in page.text("#details")
    page = reader.opens("weak")
    assert page.find(".row.wrong").get_attribute("data-line") == "5"
    assert page.text("#race").endswith("the wait on line 5 lets it stay in flight.")


def test_several_kernels_of_a_file(reader: Reader) -> None:
    page = reader.opens("two")
    assert [option.text for option in page.all("#kernel option")] == ["@tile", "@copy"]
    page.all("#kernel option")[1].click()
    assert page.text("#switches li:first-child") == "line 15\nwait_count load=0"


def test_a_ring_has_lanes_for_slots_and_phases(reader: Reader) -> None:
    page = reader.opens("ring")
    lanes = page.find("#lanes svg").text
    for name in ("wave 4 · B", "%a[0]", "%a[1]", "%full[0]", "%empty[1]"):
        assert name in lanes
    page.find("#switch-1").click()
    assert "reads %a[%i % 2] (line 14) before wave 4's copy of it" in page.text("#race")


def test_a_deadlock_is_seen_at_the_end_of_the_run(reader: Reader) -> None:
    page = reader.opens("hangs")
    page.all("#scenario option")[0].click()
    page.find("#to-end").click()
    assert "waves 0 and 1 wait on line 5 for ever" in page.text("#race")


def test_search_filters_lines_and_buffers(reader: Reader) -> None:
    page = reader.opens("ring")
    page.find("#search").send_keys("%full")
    assert page.text("#matches") == "6 lines"
    assert len(page.all(".row")) == 6
    assert [head.text for head in page.all("#columns span")] == ["%full"]
    page.press("ENTER")
    assert page.focused() == "code"
    page.press("ESCAPE")
    assert len(page.all(".row")) == len(RING.splitlines())


def test_everything_works_by_keyboard_alone(reader: Reader) -> None:
    page = reader.opens("tile")
    page.run("document.body.focus()")
    page.press("/")
    assert page.focused() == "search"
    page.press("ESCAPE")
    assert page.focused() == "code"
    page.press("HOME", "b")
    assert page.text("#details-title") == "Line 5"
    page.press("ARROW_DOWN", "ARROW_DOWN")
    assert page.text("#details-title") == "Line 7"
    assert page.find("#code").get_attribute("aria-activedescendant") == "line-7"
    page.press("ENTER")
    assert page.text("#race").startswith("⚡ Race (RAW")
    before = page.text("#step")
    page.press("ARROW_LEFT")
    assert page.text("#step") != before
    assert "No race so far" in page.text("#race")
    page.press(" ")
    page.until("document.getElementById('play').getAttribute('aria-label') === 'Pause'")
    page.press(" ")
    assert page.find("#play").get_attribute("aria-label") == "Play"


def test_tab_reaches_every_control_and_focus_is_visible(reader: Reader) -> None:
    page = reader.opens("racy")
    page.run(
        "window.reached = []; document.addEventListener("
        "'focusin', e => reached.push(e.target.id || e.target.textContent))"
    )
    for _ in range(40):
        page.press("TAB")
    reached = set(page.run("return reached"))
    assert {"kernel", "search", "theme", "code", "scenario", "play", "position", "Show it happen"} <= reached
    page.run("document.getElementById('code').focus()")
    page.press("TAB")
    assert page.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_names_and_roles_for_screen_readers(reader: Reader) -> None:
    page = reader.opens("ring")
    assert page.find("#code").get_attribute("role") == "listbox"
    assert page.find("#race").get_attribute("role") == "alert"
    unnamed = page.run(
        "return [...document.querySelectorAll('button, input, select, svg[role=img]')].filter("
        "e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels && e.labels.length)).length"
    )
    assert unnamed == 0
    option = page.find('.row[data-line="10"]')
    assert (option.get_attribute("role"), option.get_attribute("aria-posinset")) == ("option", "10")


def test_light_and_dark(reader: Reader) -> None:
    page = reader.opens("tile")

    def paper() -> str:
        return str(page.run("return getComputedStyle(document.body).backgroundColor"))

    before = paper()
    page.find("#theme").click()
    assert paper() != before
    page.find("#theme").click()
    assert paper() == before


def test_a_narrow_window_needs_no_sideways_scrolling(reader: Reader) -> None:
    page = reader.opens("racy")
    page.driver.set_window_size(520, 900)
    try:
        page.until("document.documentElement.clientWidth < 700")
        assert page.run("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    finally:
        page.driver.set_window_size(1400, 1100)


def test_a_large_kernel_keeps_the_document_small(reader: Reader) -> None:
    page = reader.opens("large")
    assert page.run("return document.querySelectorAll('*').length") < MOST_NODES
    page.run("document.getElementById('code').scrollTop = 1e9")
    last = len(PAGES["large"].splitlines())
    page.until(f"document.querySelector('[data-line=\"{last}\"]') !== null")
    assert page.run("return document.querySelectorAll('*').length") < MOST_NODES
    page.find("#search").send_keys("%x1249 =")
    assert page.text("#matches") == "1 line"


def test_a_kernel_with_nothing_in_it(reader: Reader) -> None:
    page = reader.opens("nothing")
    assert page.text("#verdict").startswith("✓")


def test_what_a_comment_allows_is_marked_as_that(reader: Reader) -> None:
    page = reader.opens("allowed")
    assert "allowed" in page.text("#findings-title") and page.all(".finding.allowed")
    assert "○ allowed by a comment: the tile is constant" in page.text("#findings")
