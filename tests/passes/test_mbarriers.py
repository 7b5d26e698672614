"""Kernels with mbarriers, and what `insert` puts into them and `prune` takes out."""

from __future__ import annotations

import pytest

import fencepost as fp
from fencepost.placement import STRATEGIES
from tests.mbarrier_kernels import PER_THREAD, RING, SHARED_OBJECT, SOME_MEET
from tests.mbarrier_reference import mistakes

UNORDERED = """\
kernel @ring waves=2 {
  shared %a : 2 x 1024
  shared %full : 2 x 8
  param %n
  if wave == 0 {
    mbarrier_init %full[0] count=1
    mbarrier_init %full[1] count=1
  }
  loop %i in 0..%n {
    if wave == 0 {
      mbarrier_expect %full[%i % 2] bytes=1024
      tensor_load_to_lds %a[%i % 2] counter=tma arrives %full[%i % 2] bytes=1024
    }
    mbarrier_wait %full[%i % 2] phase=%i // 2 % 2
    read %a[%i % 2]
  }
}
"""

ORDERED = UNORDERED.replace(
    "    mbarrier_wait",
    "    barrier  # mbarrier_init → update %full; read → copy %a, 2 iterations later\n    mbarrier_wait",
)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_barrier_is_between_an_mbarrier_and_its_next_use(strategy: str) -> None:
    trace = fp.parse(UNORDERED)
    fp.insert_barriers(trace, strategy=strategy)
    assert str(trace) == ORDERED
    assert fp.check(trace).ok
    assert mistakes(str(trace)) == set()
    fp.prune_barriers(trace)
    assert str(trace) == ORDERED


# (a kernel, how many barriers it lacks)
LACKING = [
    (RING, 0),
    (PER_THREAD, 0),
    (SHARED_OBJECT, 0),
    # An mbarrier that is made is used behind a barrier.
    (SHARED_OBJECT.replace("  barrier\n", ""), 1),
    (PER_THREAD.replace("  barrier\n  loop", "  loop"), 1),
    # What was read is overwritten in the next round.
    (RING.replace("    barrier\n", ""), 1),
    (PER_THREAD.replace("    read %a[%i % 2]\n    barrier\n", "    read %a[%i % 2]\n"), 1),
    # A wait for the mbarrier settles copies, nothing else does: the wave's own writes are met by a barrier.
    (SHARED_OBJECT.replace("  read %b\n", "  read %b\n  write %b\n"), 1),
]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("text", "lacking"), LACKING)
def test_exactly_the_barriers_that_are_lacking_are_put_in(text: str, lacking: int, strategy: str) -> None:
    trace = fp.parse(text)
    inserted = fp.insert_barriers(trace, strategy=strategy)
    assert len(inserted.barriers) == lacking
    assert not inserted.upgraded
    assert fp.check(trace).ok
    assert mistakes(str(trace)) == set()


@pytest.mark.parametrize("text", [RING, PER_THREAD, SHARED_OBJECT])
def test_prune_keeps_what_is_needed_and_check_agrees(text: str) -> None:
    trace = fp.parse(text)
    assert not fp.prune_barriers(trace).removed
    assert str(trace) == text
    for at, line in enumerate(text.splitlines()):
        if line.strip() == "barrier":
            lines = text.splitlines()
            del lines[at]
            assert not fp.check(fp.parse("\n".join(lines) + "\n")).ok


def test_prune_takes_out_what_a_wait_makes_redundant() -> None:
    doubled = fp.parse(SHARED_OBJECT.replace("  read %a\n", "  barrier async\n  read %a\n"))
    fp.prune_barriers(doubled)
    assert str(doubled) == SHARED_OBJECT


def test_barriers_of_some_waves_are_judged_and_not_placed() -> None:
    with pytest.raises(fp.FencepostError) as refused:
        fp.insert_barriers(fp.parse(SOME_MEET))
    assert refused.value.code == "FP201"


def test_a_wait_for_an_mbarrier_settles_a_copy_that_nobody_has_in_flight_any_more() -> None:
    """The wave that copied has waited for its copy: for the others it is pending until they wait for the mbarrier."""
    trace = fp.parse(
        """
        kernel @k waves=2 {
          shared %a : 2 x 64
          shared %full : 2 x 8
          mbarrier_init %full[0] count=1
          mbarrier_init %full[1] count=1
          loop %i in 0..3 {
            if wave == 0 {
              mbarrier_expect %full[%i % 2] bytes=64
              tensor_load_to_lds %a[%i % 2] counter=tma arrives %full[%i % 2] bytes=64
            }
            wait_count tma=0
            mbarrier_wait %full[%i % 2] phase=%i // 2 % 2
            read %a[%i % 2]
            barrier
          }
        }
        """
    )
    inserted = fp.insert_barriers(trace, waits=False)
    assert fp.check(trace).ok
    assert inserted.executed == 1  # behind the mbarrier are made, and none in the loop


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_arrival_of_the_engine_says_nothing_of_copies_that_are_issued_later(strategy: str) -> None:
    trace = fp.parse(
        """
        kernel @k waves=2 {
          shared %a : 64
          shared %b : 64
          shared %o : 8
          mbarrier_init %o count=2
          barrier
          gather_to_lds %a counter=copy
          mbarrier_arrive %o counter=copy
          gather_to_lds %b counter=copy
          mbarrier_wait %o phase=0
          read %a
          read %b
        }
        """
    )
    inserted = fp.insert_barriers(trace, strategy=strategy)
    assert [str(barrier.op.next) for barrier in inserted.barriers] == ["read %b"] or len(
        inserted.barriers
    ) == 1
    assert fp.check(trace).ok
