"""A kernel with more combinations of block arguments than are followed: the one that is missed least is left out."""

from __future__ import annotations

from fencepost.passes.prune import prune_barriers
from tests.campaign import inserted, no_barrier_is_left_to_take

KERNEL = """\
kernel @random waves=2 {
  shared %a : 3 x 64
  br ^head1(0)
^head1(%x4):
  br ^head6(%x4 % 3)
^head6(%x9):
  cond_br %c10, ^body7, ^end8
^body7:
  br ^head11(%x4 * 3 % 2, select(%x4 % 2 == 0, 1, 1))
^head11(%x14, %x15):
  read %a[0]
  write %a[(wave + 1) % 3]
  cond_br %c16, ^body12, ^end13
^body12:
  br ^head11(select(%x14 + 1 < 2, %x14 + 1, 0), select(%x15 == 0, 3 - 1, %x15 - 1))
^end13:
  br ^head17((%x4 + 2) % 4)
^head17(%x20):
  barrier
  barrier
  if %x20 % 3 == 0 {
    read %a[%x4 % 3]
  }
  cond_br %x15 <= 0, ^end19, ^go22
^go22:
  write %a
  loop %i23 in 0..1 {
    write %a[%x15] group=g0
    write %a[(%i23 + 3) % 3][0..48] group=g1
  }
  read %a[1] group=g0
  cond_br %c21, ^body18, ^end19
^body18:
  br ^head17(%x20 + 1)
^end19:
  read %a[%x14][0..64]
  br ^head6(select(%x9 + 1 < 3, %x9 + 1, 0))
^end8:
  cond_br %x9 > 1, ^yes24, ^no25
^yes24:
  write %a[%x9][16..48]
  br ^join26(%x9 % 2, ?)
^no25:
  cond_br %c32, ^yes29, ^no30
^yes29:
  read %a group=g0
  write %a[(wave + 0) % 3]
  br ^join31
^no30:
  read %a[%x4 % 3]
  br ^join31
^join31:
  cond_br %x9 == 2, ^way33, ^way34
^way33:
  br ^head35(1)
^way34:
  br ^head36(%x4 % 3)
^head35(%x40):
  write %a
  cond_br %x40 <= 1, ^again37, ^end39
^again37:
  br ^head36(2)
^head36(%x41):
  cond_br %x4 % 2 == 1, ^again38, ^end39
^again38:
  br ^head35(0)
^end39:
  write %a[(wave + 0) % 3]
  br ^join26(?, 2)
^join26(%y27, %y28):
  cond_br %c5, ^body2, ^end3
^body2:
  br ^head1(%x4 + 1)
^end3:
  return
}
"""


def test_no_barrier_is_left() -> None:
    """Without %x4, from which the others are made, nothing would be known: one that makes nothing is left out."""
    assert no_barrier_is_left_to_take(KERNEL) is None


def test_what_is_not_followed_is_said() -> None:
    kernel = inserted(KERNEL, "eager")
    assert kernel is not None
    (limit,) = prune_barriers(kernel).limits
    assert limit.endswith("are not followed: %x9")
