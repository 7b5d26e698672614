"""Reports that somebody who knows CUDA understands at first sight: a weak wait, a wrong phase, a barrier for some.

(A missing barrier is in the README.)
"""

from __future__ import annotations

import pytest

import fencepost as fp
from fencepost.check import check
from fencepost.ir.parser import parse
from fencepost.report.words import times

RING = """\
kernel @gemm waves=4 {
  shared %a : 4 x 8192
  gather_to_lds %a[0]
  gather_to_lds %a[1]
  gather_to_lds %a[2]
  loop %i in 0..61 {
    wait_count load=3
    barrier
    %x = read %a[%i % 4]
    mma %x
    gather_to_lds %a[(%i + 3) % 4]
  }
}
"""
GROUPS = """\
kernel @gemm waves=4 {
  shared %a : 3 x 8192
  shared %b : 3 x 8192
  gather_to_lds %a[0]
  gather_to_lds %b[0]
  commit load
  gather_to_lds %a[1]
  gather_to_lds %b[1]
  commit load
  wait_count load=2
  barrier
  read %a[0]
}
"""
PHASE = """\
kernel @ring waves=5 {
  shared %a : 2 x 1024
  shared %full : 2 x 8
  shared %empty : 2 x 8
  mbarrier_init %full[0] count=1
  mbarrier_init %full[1] count=1
  mbarrier_init %empty[0] count=4
  mbarrier_init %empty[1] count=4
  barrier
  if wave < 4 {
    loop %i in 0..8 {
      mbarrier_wait %full[%i % 2] phase=%i  %  2
      %x = read %a[%i % 2]
      mma %x
      mbarrier_arrive %empty[%i % 2]
    }
  } else {
    loop %j in 0..8 {
      mbarrier_wait %empty[%j % 2] phase=(%j // 2 + 1) % 2
      mbarrier_expect %full[%j % 2] bytes=1024
      tensor_load_to_lds %a[%j % 2] arrives %full[%j % 2] bytes=1024
    }
  }
}
"""


def report(text: str) -> str:
    return str(check(parse(text, "kernel.fp")))


def test_a_weak_wait_counts_what_it_leaves_and_which_of_it_is_read() -> None:
    assert report(RING).startswith("""\
error[FP001]: wave 0 can read %a[%i % 4] while its own copy into it is under way
  --> kernel.fp:3:3, kernel.fp:9:5 and kernel.fp:7:5
   |
 3 |   gather_to_lds %a[0]
   |   ^^^^^^^^^^^^^^^^^^^ wave 0 copies into bytes 0..8192
 7 |     wait_count load=3
   |     ^^^^^^^^^^^^^^^^^ this wait lets it stay in flight
 9 |     %x = read %a[%i % 4]
   |     ^^^^^^^^^^^^^^^^^^^^ wave 0 reads bytes 0..8192, %i = 0
   |
   = why: `wait_count load=3` lets the 3 newest copies stay in flight; the copy read here is the 3rd newest
   = path: 3 → 4 → 5 → 7 → 8 → 9
   = fix: `wait_count load=2` instead of `wait_count load=3` on line 7""")


def test_commit_groups_are_counted_as_groups() -> None:
    why = "lets the 2 newest commit groups stay in flight; the copy read here is in the 2nd newest"
    assert f"= why: `wait_count load=2` {why}\n" in report(GROUPS)
    last = "lets the newest commit group stay in flight, and the copy read here is in it"
    assert last in report(GROUPS.replace("load=2", "load=1").replace("read %a[0]", "read %a[1]"))


def test_other_operations_on_the_counter_are_not_called_copies() -> None:
    text = RING.replace("  gather_to_lds %a[2]\n", "  %g = global_read\n")
    why = "lets the 3 newest `load` operations stay in flight; the copy read here is the 3rd newest"
    assert why in report(text)


def test_what_an_engine_reads_is_named_by_its_operation() -> None:
    text = """\
kernel @k waves=4 {
  shared %a : 1024
  async_mma %a
  wait_count mma=1
  barrier
  write %a
}
"""
    why = "lets the newest async_mma stay in flight, and that is the one that reads what is overwritten here"
    assert why in report(text)


def test_a_wrong_phase_says_which_parity_it_names_and_who_comes_too_early() -> None:
    assert report(PHASE).startswith("""\
error[FP006]: this wait for %full[%i % 2] is for the wrong phase
   --> kernel.fp:12:7, kernel.fp:13:7 and kernel.fp:21:7
    |
 12 |       mbarrier_wait %full[%i % 2] phase=%i  %  2
    |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ with %i = 1 this is parity 1, but the phase to wait for has \
parity 0: the wait returns at once
 13 |       %x = read %a[%i % 2]
    |       ^^^^^^^^^^^^^^^^^^^^ wave 0 reads bytes 1024..2048, %i = 1
 21 |       tensor_load_to_lds %a[%j % 2] arrives %full[%j % 2] bytes=1024
    |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ wave 4 copies into bytes 1024..2048, %j = 1
    |
    = so: wave 0 can read %a[%i % 2] while wave 4's copy into it is under way
    = fix: `phase=%i // 2 % 2` instead of `phase=%i  %  2` on line 12; it would also settle 5 other findings
""")


def test_a_wait_that_blocks_is_named_beside_whoever_waits_in_vain() -> None:
    text = PHASE.replace("%i  %  2", "%i // 2 % 2").replace("(%j // 2 + 1) % 2", "%j // 2 % 2")
    assert report(text).startswith("""\
error[FP002]: this wait for %empty[%j % 2] is for the wrong phase
   --> kernel.fp:19:7 and kernel.fp:12:7
    |
 12 |       mbarrier_wait %full[%i % 2] phase=%i // 2 % 2
    |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ wave 0 waits here for ever: nothing arrives for that phase
 19 |       mbarrier_wait %empty[%j % 2] phase=%j // 2 % 2
    |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ with %j = 0 this is parity 0, but the phase to wait \
for has parity 1: the wait blocks
    |
    = fix: `phase=(%j // 2 + 1) % 2` instead of `phase=%j // 2 % 2` on line 19
""")


def test_a_barrier_for_some_waves_names_the_conditional() -> None:
    text = """\
kernel @half waves=4 {
  shared %a : 64
  write %a
  if wave < 2 {
    barrier
  }
}
"""
    assert report(text).startswith("""\
error[FP002]: wave 0 waits at a barrier that wave 2 never reaches
  --> kernel.fp:5:5 and kernel.fp:4:3
   |
 4 |   if wave < 2 {
   |   ^^^^^^^^^^^ only waves with `wave < 2` take this side
 5 |     barrier
   |     ^^^^^^^ wave 0 waits here for ever
   |
   = fix:""")


def test_values_of_parameters_are_examples_and_said_once() -> None:
    text = """\
kernel @given waves=2 {
  shared %a : 2 x 1024
  param %n
  write %a[0]
  loop %i in 0..%n {
    if %n % 2 == 1 {
      read %a[%i % 2]
    }
  }
}
"""
    found = report(text)
    assert "wave 0 writes bytes 0..1024, for example with %n = 1\n" in found
    assert "wave 1 reads bytes 0..1024, %i = 0\n" in found


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0 times"),
        (1, "once"),
        (0.01, "about once in 100 runs"),
        (1e-5, "about once in 100,000 runs"),
        (0.5, "about 0.5 times"),
        (128, "about 128 times"),
    ],
)
def test_how_often_is_never_rounded_to_nothing(value: float, words: str) -> None:
    assert times(value) == words


def test_of_a_kernel_without_a_file_it_is_said_whose_lines_are_shown() -> None:
    kernel = parse("kernel @k waves=4 {\n  shared %a : 64\n  write %a\n  read %a\n}\n", "k.fp")
    assert "those that `print` shows" not in str(check(kernel))
    built = fp.Kernel("k", waves=4)
    tile = built.shared("a", bytes=64)
    built.write(tile)
    built.read(tile)
    assert "\n(lines of @k are those that `print` shows of the kernel)\n@k: 1 race" in str(fp.check(built))
