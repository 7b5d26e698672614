"""Loops of unknown length with first and last iterations of their own are followed to their end: a proof."""

from __future__ import annotations

import pytest

from fencepost.check import check
from fencepost.ir.parser import parse

FIRST = """
kernel @first waves=4 {{
  shared %a : 1024
  param %n
  loop %i in 0..%n {{
    if %i {condition} {{
      barrier
    }}
    write %a
    barrier
    read %a
  }}
}}
"""
LAST = """
kernel @last waves=4 {{
  shared %a : 1024
  param %n
  loop %i in 0..%n {{
    write %a
    barrier
    read %a
    if {condition} {{
      barrier
    }}
  }}
}}
"""


@pytest.mark.parametrize("condition", ["> 0", ">= 1", "!= 0"])
def test_the_first_iteration_needs_no_barrier_before_it(condition: str) -> None:
    assert check(parse(FIRST.format(condition=condition))).proven


@pytest.mark.parametrize("condition", ["> 1", "!= 1", "< 40", ">= 2"])
def test_one_iteration_without_it_is_a_race(condition: str) -> None:
    report = check(parse(FIRST.format(condition=condition)))
    assert [race.hazard for race in report.races] == ["WAR"] and report.explored.complete


@pytest.mark.parametrize("condition", ["%i + 1 < %n", "%i != %n - 1", "%n - %i > 1", "2 * %i + 2 < 2 * %n"])
def test_the_last_iteration_needs_no_barrier_after_it(condition: str) -> None:
    assert check(parse(LAST.format(condition=condition))).proven


@pytest.mark.parametrize("condition", ["%i + 2 < %n", "%i + 2 != %n", "%n == %i + 1"])
def test_one_before_the_last_needs_it(condition: str) -> None:
    report = check(parse(LAST.format(condition=condition)))
    assert [race.hazard for race in report.races] == ["WAR"] and report.explored.complete
