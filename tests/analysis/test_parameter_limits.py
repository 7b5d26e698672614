"""Kernels in which parameters have many values, or many combinations of them."""

from __future__ import annotations

import pytest

import fencepost as fp
from tests.campaign import no_barrier_is_left_to_take


def neighbours(slots: int) -> str:
    """Writes to a slot and to the next; `%n // 2` and the remainder repeat together, times as many for `%m`."""
    return f"""\
kernel @k waves=4 {{
  shared %a : {slots} x 64
  param %n
  param %m
  if %n // 2 > 0 {{
    write %a[%m % {slots}]
    write %a[%n % {slots}]
  }}
  write %a[(%n + 1) % {slots}]
}}
"""


@pytest.mark.parametrize("slots", [2, 3, 4, 5])
def test_neighbouring_slots_need_no_barrier(slots: int) -> None:
    kernel = fp.parse(neighbours(slots))
    result = fp.insert_barriers(kernel)
    assert len(result.barriers) == 1
    assert not result.limits
    assert fp.check(kernel).ok


@pytest.mark.parametrize("slots", [16, 65])
def test_what_is_not_followed_is_said(slots: int) -> None:
    kernel = fp.parse(neighbours(slots))
    result = fp.insert_barriers(kernel)
    assert any("%n" in limit and "not followed" in limit for limit in result.limits)
    assert fp.check(kernel).ok


def test_a_race_that_may_need_values_that_do_not_occur_says_so() -> None:
    # With all values followed there would be the one race of `%m` and `%n`.
    report = fp.check(fp.parse(neighbours(65)))
    assert len(report.races) == 2
    assert report.explored.not_followed == ("m", "n")
    assert "too many values to follow: %m, %n" in str(report.explored)


def test_a_clean_kernel_needs_no_such_remark() -> None:
    kernel = fp.parse(neighbours(65))
    fp.insert_barriers(kernel)
    report = fp.check(kernel)
    assert report.ok and report.explored.complete and not report.explored.not_followed


# The copies are shared by waves that nobody knows: after 67 values the conditions repeat, and not all are tried.
WHO_COPIES = """\
kernel @k waves=4 {
  shared %a : 2 x 64
  param %n
  if (wave + %n) % 67 < 60 {
    gather_to_lds %a[%n % 2]
  }
  if (wave + 2 * %n) % 67 < 60 {
    gather_to_lds %a[%n % 2]
  }
  wait_count load=0
  barrier
  read %a
}
"""


def test_who_shares_a_copy_is_not_known_where_a_parameter_is_not_followed() -> None:
    """The two conditions are asked with `%n` as 0 and 1 for the slots, which says nothing about who copies."""
    kernel = fp.parse(WHO_COPIES)
    assert not fp.check(kernel).ok
    assert fp.insert_barriers(kernel).barriers
    assert fp.check(kernel).ok


TWO_PARAMETERS = """\
kernel @k waves=4 {
  shared %c : 3 x 64
  param %n
  param %m
  loop %i1 in 0..%n {
    if %m % 2 == 1 {
      loop %i3 in 0..%m {
        atomic %c[%n % 3][0..48]
      }
    } else {
      write %c[(%m + 3) % 3]
    }
  }
}
"""


def test_two_parameters_with_many_combinations() -> None:
    """72 of them matter: in a loop with `%m` odd there are only atomics, with `%m` even only writes."""
    assert no_barrier_is_left_to_take(TWO_PARAMETERS) is None


def conditions(first: str, second: str, third: str) -> str:
    """A write and a read under conditions on two parameters that repeat after 60 and 32 values."""
    return f"""\
kernel @k waves=4 {{
  shared %a : 64
  param %n
  param %m
  if {first} {{
    write %a
  }}
  if {third} {{
    compute
  }}
  if {second} {{
    read %a
  }}
}}
"""


@pytest.mark.parametrize(
    ("first", "second", "clean"),
    [
        ("%n % 60 == 7", "%n % 60 == 8", True),
        ("%n % 60 == 7", "%n % 60 != 7", True),
        ("%n % 60 == 7", "%n % 12 == 7", False),
        ("%n % 60 == 7", "%n % 60 != 8", False),
        ("%n > 100", "%n % 60 == 7", False),
        ("%n > 100", "%n < 100", True),
        ("%n > 100", "%n < 102", False),
        ("%n % 60 == 7", "%m % 32 == 8", False),
        ("%m % 32 == 7", "%m % 16 == 8", True),
        ("%m % 32 == 7", "%m % 16 == 7", False),
    ],
)
def test_values_that_nothing_tells_from_each_other_are_one(first: str, second: str, clean: bool) -> None:
    """Of 1,920 combinations a few matter."""
    kernel = fp.parse(conditions(first, second, "%m % 32 == 1"))
    report = fp.check(kernel)
    assert report.ok is clean
    assert report.explored.complete and not report.explored.not_followed
    result = fp.insert_barriers(kernel)
    assert bool(result.barriers) is not clean
    assert not result.limits
    assert fp.check(kernel).ok


@pytest.mark.parametrize(("slot", "clean"), [("(%n + 60 - %i) % 60", True), ("(%n + 60 + %i) % 60", False)])
def test_values_that_only_a_loop_variable_tells_from_each_other(slot: str, clean: bool) -> None:
    """With every iteration taken into account no two values of `%n` are the same."""
    kernel = fp.parse(f"""\
kernel @k waves=4 {{
  shared %a : 60 x 64
  param %n
  write %a[(%n + 3) % 60]
  loop %i in 0..4 {{
    read %a[{slot}]
  }}
}}
""")
    assert fp.check(kernel).ok is clean
    fp.insert_barriers(kernel)
    assert fp.check(kernel).ok
