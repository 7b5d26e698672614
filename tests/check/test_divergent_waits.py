"""A wait inside a divergent conditional is for the wave that runs it: what it does next comes behind it."""

from __future__ import annotations

import fencepost as fp

# A campaign found it when the parameters had too many combinations to be followed: who multiplies was not known.
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


def test_a_wave_that_has_waited_for_its_own_write_may_have_its_engine_read_it() -> None:
    assert fp.check(fp.parse(WAITS)).ok


COPY_AND_WAIT = """\
kernel @k waves=4 {
  shared %a : 64
  if wave == ? {
    gather_to_lds %a
    wait_count load=0
  }
  barrier
  read %a
}
"""


def test_whoever_has_copied_has_waited() -> None:
    kernel = fp.parse(COPY_AND_WAIT)
    assert fp.check(kernel).ok
    result = fp.insert_barriers(kernel)
    assert not result.barriers
    assert "barrier load=0" not in str(kernel)


def test_another_conditional_may_be_taken_by_another_wave() -> None:
    waits_elsewhere = COPY_AND_WAIT.replace("    wait_count", "  }\n  if wave == ? {\n    wait_count")
    (race,) = fp.check(fp.parse(waits_elsewhere)).races
    assert (race.first.op.mnemonic, race.second.op.mnemonic) == ("gather_to_lds", "read")


def test_the_other_side_waits_for_nothing_of_this_one() -> None:
    waits_elsewhere = COPY_AND_WAIT.replace("    wait_count", "  } else {\n    wait_count")
    assert not fp.check(fp.parse(waits_elsewhere)).ok


def test_in_a_loop_another_wave_may_be_the_next_to_copy() -> None:
    """What it waits for is its own copy; whoever copied the time before has waited then."""
    loop = COPY_AND_WAIT.replace("  if wave", "  loop %i in 0..? {\n  barrier\n  if wave")
    loop = loop.replace("  read %a\n", "  read %a\n  }\n")
    assert fp.check(fp.parse(loop)).ok
    unwaited = loop.replace("    wait_count load=0\n", "")
    assert not fp.check(fp.parse(unwaited)).ok


def test_a_wait_for_what_one_side_may_not_have_written() -> None:
    """Whoever wrote before the conditional may not be the one that waits in it."""
    kernel = fp.parse(
        """\
kernel @k waves=4 {
  shared %a : 64
  gather_to_lds %a
  if wave == ? {
    wait_count load=0
  }
  barrier
  read %a
}
"""
    )
    assert not fp.check(kernel).ok
    fp.insert_barriers(kernel)
    assert fp.check(kernel).ok
