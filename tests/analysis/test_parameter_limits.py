"""Kernels in which parameters have many values, or many combinations of them."""

from __future__ import annotations

import pytest

import fencepost as fp


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
