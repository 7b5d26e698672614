"""A wait inside a divergent conditional is for the wave that runs it: what it does next comes behind it."""

from __future__ import annotations

import pytest

import fencepost as fp

WAITS = """\
kernel @random waves=1 {
  shared %a : 3 x 64 at 32
  shared %b : 3 x 64
  shared %c : 2 x 64
  param %n
  param %m
  if %n < %m {
    %r7 = read %a[0]
    wait_count lds=0
    if %m % 3 == 2 {
      wait_count lds=0
      mma %r7
    }
  }
  write %c[?]
  loop %i9 in 0..2 {
    %r10 = atomic %b[(%n + 1) % 3] group=g0
    %r11 = read %b[0][0..64]
    %r12 = read %c[%n % 2]
  }
  cond_br %c13, ^b5, ^b1
^b1:
  if wave == %n {
    wait_count mma=0
    wait_count lds=0  # write → async read %c
    async_mma %c[(%n + 1) % 2][0..16]
  } else {
    tensor_load_to_lds %a[?]
  }
  cond_br %c15, ^b3, ^b2
^b2:
  cond_br %c16, ^b2, ^b3
^b3:
  cond_br %c17, ^b2, ^b4
^b4:
  br ^b5
^b5:
  return
}
"""


@pytest.mark.xfail(strict=True, reason="a false alarm: the wave that multiplies is the one that has waited")
def test_a_wave_that_has_waited_for_its_own_write_may_have_its_engine_read_it() -> None:
    assert fp.check(fp.parse(WAITS)).ok
