"""Kernels that get, or keep, more than they need; each says so, or is refused. Found by random kernels."""

from __future__ import annotations

import pytest

from fencepost.passes.prune import prune_barriers
from tests.campaign import inserted, no_barrier_is_left_to_take, refusals_are_real

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
FUNCTION_OF_ONE_WAVE = """\
func @f0 {
  shared %s : 2 x 64 at 32
  if wave == 0 {
    loop %i2 in 0..3 carry %x3 = 0, %x4 = 0 {
      write %s[%x4 % 2] group=g1
      next (%x3 + 2) % 3, (%x4 + 1) % 3
    }
  }
}
kernel @k waves=2 {
  shared %a : 2 x 64 at 0
  shared %b : 2 x 64
  loop %i4 in 0..? carry %x5 = 1, %p6 = %a, %p7 = %b {
    if wave == %i4 {
      loop %i9 in 0..1 carry %x10 = 1 {
        call @f0 at 64
        atomic %a[%x5 % 2][0..64] group=g1
        next select(%x10 + 1 < 2, %x10 + 1, 0)
      }
    }
    next select(%x5 + 1 < 3, %x5 + 1, 0), %p7, %p6
  }
}
"""


@pytest.mark.xfail(strict=True, reason="%m is not followed, and that is said")
def test_prune_with_two_parameters() -> None:
    assert no_barrier_is_left_to_take(TWO_PARAMETERS) is None


def test_that_it_is_not_exact_is_said() -> None:
    kernel = inserted(TWO_PARAMETERS, "eager")
    assert kernel is not None
    (limit,) = prune_barriers(kernel).limits
    assert limit.endswith("are not followed: %m")


@pytest.mark.xfail(
    strict=True, reason="refused, although the wave that runs the function is the only one there"
)
def test_a_function_that_one_wave_calls() -> None:
    assert refusals_are_real(FUNCTION_OF_ONE_WAVE) is None
