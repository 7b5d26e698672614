"""What a wait for an mbarrier settles, and what it does not."""

from __future__ import annotations

import fencepost as fp
from fencepost.analysis.build_program import read_program
from fencepost.analysis.pending import conflicts_left


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


def test_a_copy_behind_the_wait_reaches_it_in_the_next_iteration() -> None:
    """The arrival in the loop is the wave's own: it says nothing about the copy in front of it."""
    kernel = fp.parse("""\
kernel @k waves=2 {
  shared %a : 1024
  shared %b : 8
  mbarrier_init %b count=2
  barrier
  gather_to_lds %a
  mbarrier_arrive %b counter=load
  loop %i in 0..8 {
    mbarrier_wait %b phase=%i % 2
    read %a
    barrier
    gather_to_lds %a
    mbarrier_arrive %b
  }
}
""")
    assert fp.check(kernel).races
    program = read_program(kernel)
    assert conflicts_left(program, program.existing)
    fp.insert_barriers(kernel)
    assert fp.check(kernel).ok
