"""A wait inside a divergent conditional is for the wave that runs it: what it does next comes behind it."""

from __future__ import annotations

import pytest

import fencepost as fp

# The parameters have too many combinations to be followed, so who takes the conditional is not known.
WAITS = """\
kernel @k waves=1 {
  shared %b : 3 x 64
  shared %c : 2 x 64
  param %n
  param %m
  if %n < %m {
    if %m % 3 == 2 {
    }
  }
  write %c[?]
  %r = atomic %b[(%n + 1) % 3] group=g0
  cond_br %p, ^b5, ^b1
^b1:
  if wave == %n {
    wait_count lds=0
    async_mma %c[(%n + 1) % 2][0..16]
  }
  cond_br %q, ^b3, ^b2
^b2:
  cond_br %s, ^b2, ^b3
^b3:
  cond_br %t, ^b2, ^b4
^b4:
  br ^b5
^b5:
  return
}
"""


@pytest.mark.xfail(strict=True, reason="a false alarm: the wave that multiplies is the one that has waited")
def test_a_wave_that_has_waited_for_its_own_write_may_have_its_engine_read_it() -> None:
    assert fp.check(fp.parse(WAITS)).ok
