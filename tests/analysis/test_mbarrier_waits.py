"""What a wait for an mbarrier settles, and what it does not."""

from __future__ import annotations

import fencepost as fp


def test_an_arrival_does_not_count_on_the_counter_that_it_is_for() -> None:
    kernel = fp.parse("""\
kernel @k waves=4 {
  shared %a : 1024
  shared %b : 8
  mbarrier_init %b count=4
  barrier
  gather_to_lds %a
  mbarrier_arrive %b counter=load
  wait_count load=1
  barrier
  read %a
}
""")
    assert fp.check(kernel).races
    fp.insert_barriers(kernel)
    assert fp.check(kernel).ok
