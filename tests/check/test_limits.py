"""What `check` says about itself: what it left out, and what it shows of names that are forwarded."""

from __future__ import annotations

import pytest

from fencepost.check import Report, check
from fencepost.ir.parser import parse
from fencepost.report.diagnostics import render
from fencepost.report.findings import diagnostics, report_json


def ring(following: str, *, bound: str = "?", view: str = "%x") -> Report:
    """A ring whose slot is carried from iteration to iteration."""
    return check(
        parse(f"""
        kernel @ring waves=2 {{
          shared %a : 64 x 64
          loop %i in 0..{bound} carry %x = 0 {{
            write %a[{view}]
            barrier
            read %a[{view}]
            next {following}
          }}
        }}
        """)
    )


@pytest.mark.parametrize(
    "following",
    [
        "(%x + 1) % 50",
        "select(%x + 1 < 7, %x + 1, 0)",
        "%x ^ 5",
        "(%x * 3 + 1) % 64",
        "1 - %x",
        "(%x + ?) % 2",
    ],
)
def test_counters_that_come_round_leave_nothing_out(following: str) -> None:
    assert ring(following).explored.complete


def test_a_counter_that_only_grows_is_complete_where_its_remainder_is_asked_for() -> None:
    report = ring("%x + 3", view="%x % 2")
    assert report.ok and report.explored.complete


def test_a_counter_that_grows_is_cut_short_and_the_report_says_so() -> None:
    report = ring("%x + 1")
    assert report.ok and not report.explored.complete
    assert "bounded number of iterations" in str(report.explored)


def test_numbers_that_no_address_can_have_are_unknown() -> None:
    assert ring("(%x + 2) * (%x + 2)").explored.complete


@pytest.mark.parametrize("bound", ["3", "64", "100", "5000"])
def test_known_lengths_leave_nothing_out(bound: str) -> None:
    assert ring("(%x + 1) % 3", bound=bound).explored.complete


FUNCTION = """
func @fill {
  shared %s : 64 at 0
  write %s
}
kernel @two_buffers waves=2 {
  shared %a : 64 at 0
  shared %b : 64 at 64
  loop %i in 0..? carry %u = %a, %v = %b {
    read %v
    call @fill at 64
    barrier
    next %v, %u
  }
}
"""


def test_findings_name_the_buffers_that_names_stand_for_and_the_calls() -> None:
    kernel = parse(FUNCTION, "two_buffers.fp")
    report = check(kernel)
    (text,) = [render(diagnostic).plain for diagnostic in diagnostics(kernel, report)]
    assert "%u = %a, %v = %b" in text
    assert "calls: the first in the kernel itself, the second in @fill (line 11)" in text
    (race,) = report_json(kernel, report)["races"]
    assert [call["line"] for call in race["second"]["calls"]] == [11]
    assert race["first"]["iteration"] == {"u": "%a", "v": "%b"}


def test_an_exchange_is_shown_as_it_stands_in_the_text() -> None:
    kernel = parse("kernel @twice waves=2 {\n  shared %s : 64\n  exchange %s\n  exchange %s\n}\n", "twice.fp")
    report = check(kernel)
    (text,) = [render(diagnostic).plain for diagnostic in diagnostics(kernel, report)]
    assert "exchange %s" in text and "on the path 3 → 4" in text and "a barrier before line 4" in text
    (race,) = report_json(kernel, report)["races"]
    assert race["path"] == [3, 4] and race["first"]["text"] == "exchange %s"


def test_an_engine_that_reads_is_told_from_one_that_copies() -> None:
    text = "kernel @mma waves=2 {\n  shared %a : 64\n  async_mma %a\n  wait_count mma=1\n  write %a\n}\n"
    kernel = parse(text, "mma.fp")
    (found,) = [render(diagnostic).plain for diagnostic in diagnostics(kernel, check(kernel))]
    assert "can write %a while wave 0's engine may still be reading it" in found
    assert (
        "`wait_count mma=1` lets the newest async_mma stay in flight, and that is the one that reads" in found
    )
    assert "fix: `barrier mma=0` before line 5" in found


def test_a_copy_in_no_group_needs_a_commit() -> None:
    text = (
        "kernel @group waves=2 {\n  shared %a : 64\n  commit load\n  gather_to_lds %a\n"
        "  wait_count load=0\n  barrier\n  read %a\n}\n"
    )
    kernel = parse(text, "group.fp")
    (found,) = [render(diagnostic).plain for diagnostic in diagnostics(kernel, check(kernel))]
    assert "no `commit load` closes the group of the copy" in found
    assert "fix: `commit load` before line 5" in found


def persistent(*, first: str = "%program", step: str = "%programs", wait: str = "phase=0") -> Report:
    """A persistent kernel that makes its mbarrier anew for each tile."""
    return check(
        parse(f"""
        kernel @persistent waves=2 {{
          shared %a : 64
          shared %m : 8
          param %tiles
          param %program
          param %programs
          br ^next({first})
        ^next(%tile):
          cond_br %tile < %tiles, ^load, ^end
        ^load:
          barrier
          if wave == 0 {{
            mbarrier_init %m count=1 until=inval
          }}
          barrier
          if wave == 0 {{
            mbarrier_expect %m bytes=64
            tensor_load_to_lds %a counter=tma arrives %m bytes=64
          }}
          mbarrier_wait %m {wait}
          barrier
          if wave == 0 {{
            mbarrier_inval %m
          }}
          read %a
          br ^next(%tile + {step})
        ^end:
          return
        }}
        """)
    )


def test_a_loop_that_never_ends_is_cut_short() -> None:
    report = persistent()
    assert report.ok
    # With no programs at all, a tile is followed by itself: the other combinations have their turn all the same.
    assert report.explored.paths == 64
    assert report.explored.work < 200_000
    assert "loops that never end with some values are cut short" in report.explored.limits


def test_what_goes_wrong_in_a_loop_that_never_ends_is_found() -> None:
    assert not persistent(step="0", wait="phase=1").ok


def test_a_loop_that_ends_late_is_not_taken_to_be_endless() -> None:
    report = persistent(first="0", step="1")
    assert report.ok and not any("never end" in limit for limit in report.explored.limits)


def test_mbarriers_that_are_gone_cost_nothing() -> None:
    def work(tiles: int) -> int:
        text = f"""
        kernel @again waves=2 {{
          shared %m : 8
          loop %i in 0..{tiles} {{
            barrier
            if wave == 0 {{
              mbarrier_init %m count=2
            }}
            barrier
            mbarrier_arrive %m
            mbarrier_wait %m phase=0
          }}
        }}
        """
        report = check(parse(text))
        assert report.ok
        return report.explored.work

    assert work(200) < 2.2 * work(100)


TWO_ENTRIES = """
kernel @k waves=2 {
  shared %b : 64
  write %b
  cond_br %c0, ^two, ^one
^one:
  read %b
  br ^two
^two:
  cond_br %c1, ^one, ^three
^three:
  cond_br %c2, ^two, ^end
^end:
  return
}
"""


def test_a_path_without_end_is_no_proof_and_hides_nothing_from_track() -> None:
    """Always taking the first way goes round for ever in a loop with two entries."""
    simulated = check(parse(TWO_ENTRIES), method="simulate")
    assert not simulated.explored.complete
    assert [race.hazard for race in check(parse(TWO_ENTRIES)).races] == ["RAW"]
