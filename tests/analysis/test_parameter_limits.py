"""Kernels with more combinations of parameter values than are followed."""

from __future__ import annotations

import pytest

import fencepost as fp

# `%n // 2` and `% 3` repeat together after six, with breaks; times three for `%m`, that is more than 64.
TOO_MANY = """\
kernel @k waves=4 {
  shared %a : 3 x 64
  param %n
  param %m
  if %n // 2 > 0 {
    write %a[%m % 3]
    write %a[%n % 3]
  }
  write %a[(%n + 1) % 3]
}
"""


@pytest.mark.xfail(
    strict=True, reason="one of the parameters is not followed: a barrier before the last write"
)
def test_neighbouring_slots_need_no_barrier() -> None:
    assert len(fp.insert_barriers(fp.parse(TOO_MANY)).barriers) == 1


@pytest.mark.xfail(strict=True, reason="that a parameter is not followed is not among the limits yet")
def test_what_is_not_followed_is_said() -> None:
    assert fp.insert_barriers(fp.parse(TOO_MANY)).limits


def test_the_result_is_right_all_the_same() -> None:
    kernel = fp.parse(TOO_MANY)
    fp.insert_barriers(kernel)
    assert fp.check(kernel).ok
