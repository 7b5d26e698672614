"""Loops of labelled blocks with mbarriers: how often they run is worked out, however long they are.

Compilers lower `scf.for` to blocks. A loop may ask at its beginning or at its end whether to go on, and the loops of
two partitions may leave straight to the block where the waves come together again.
"""

from __future__ import annotations

import pytest

import fencepost as fp

CONSUMER = """\
  mbarrier_wait %full[{i} % {slots}] phase={i} // {slots} % 2
  read %a[{i} % {slots}]
  mbarrier_arrive %empty[{i} % {slots}]
"""
PRODUCER = """\
  mbarrier_wait %empty[{i} % {slots}] phase=({i} // {slots} + 1) % 2
  mbarrier_expect %full[{i} % {slots}] bytes=64
  tensor_load_to_lds %a[{i} % {slots}] counter=tma arrives %full[{i} % {slots}] bytes=64
"""


def loop(name: str, body: str, trip: int, slots: int, leave: str, *, at_end: bool) -> str:
    """A loop of blocks that goes round `trip` times and leaves to block `leave`."""
    i = f"%{name}i"
    inside = body.format(i=i, slots=slots)
    if at_end:
        again = (
            f"  cond_br {i} + 1 < {trip}, ^{name}again, ^{leave}\n^{name}again:\n  br ^{name}head({i} + 1)\n"
        )
        return f"  br ^{name}head(0)\n^{name}head({i}):\n{inside}{again}"
    asks = f"  cond_br {i} < {trip}, ^{name}body, ^{leave}\n^{name}body:\n"
    return f"  br ^{name}head(0)\n^{name}head({i}):\n{asks}{inside}  br ^{name}head({i} + 1)\n"


def ring(
    consumed: int, produced: int, *, slots: int = 2, at_end: bool = False, straight: bool = False
) -> str:
    """A producer and a consumer; with `straight`, their loops leave to the block where they meet."""
    inits = "".join(
        f"  mbarrier_init %{name}[{slot}] count=1\n" for name in ("full", "empty") for slot in range(slots)
    )
    leave = ("join", "join") if straight else ("cend", "pend")
    ends = ("", "") if straight else ("^cend:\n  br ^join\n", "^pend:\n  br ^join\n")
    return (
        f"kernel @ring waves=2 {{\n  shared %a : {slots} x 64\n  shared %full : {slots} x 8\n"
        f"  shared %empty : {slots} x 8\n{inits}  barrier\n  cond_br wave < 1, ^cstart, ^pstart\n^cstart:\n"
        + loop("c", CONSUMER, consumed, slots, leave[0], at_end=at_end)
        + f"{ends[0]}^pstart:\n"
        + loop("p", PRODUCER, produced, slots, leave[1], at_end=at_end)
        + f"{ends[1]}^join:\n  barrier\n  return\n}}\n"
    )


@pytest.mark.parametrize("straight", [False, True])
@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("trip", [1, 2, 8, 9, 64])
def test_loops_run_as_often_as_they_say(trip: int, at_end: bool, straight: bool) -> None:
    report = fp.check(fp.parse(ring(trip, trip, at_end=at_end, straight=straight)))
    assert report.ok
    assert report.explored.complete


@pytest.mark.parametrize("straight", [False, True])
@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize(
    ("trip", "slots"), [(257, 2), (1000, 3), (10**6, 4), (10**6 + 1, 3), (10**12 + 5, 7)]
)
def test_long_loops_are_cut_short_alike(trip: int, slots: int, at_end: bool, straight: bool) -> None:
    report = fp.check(fp.parse(ring(trip, trip, slots=slots, at_end=at_end, straight=straight)))
    assert report.ok
    assert report.explored.limits == ["long loops are cut short"]


@pytest.mark.parametrize("straight", [False, True])
@pytest.mark.parametrize(
    ("consumed", "produced"), [(3, 2), (10, 9), (64, 60), (1001, 1000), (10**6 + 1, 10**6)]
)
def test_a_consumer_that_goes_round_once_more_waits_for_ever(
    consumed: int, produced: int, straight: bool
) -> None:
    (found,) = fp.check(fp.parse(ring(consumed, produced, straight=straight))).deadlocks
    assert found.kind == "stuck"


def test_the_last_iteration_of_a_long_loop_is_the_real_one() -> None:
    # What is read behind the loop is the slot that was filled last, of three.
    right = ring(1000, 1000, slots=3).replace("^cend:\n", "^cend:\n  read %a[0]\n")
    assert fp.check(fp.parse(right)).ok
    # Nobody has released that slot for the producer's next copy.
    wrong = right.replace("^pend:\n", "^pend:\n  tensor_load_to_lds %a[0] counter=tma\n")
    assert not fp.check(fp.parse(wrong)).ok


def test_a_path_that_is_cut_off_says_nothing_about_who_waits() -> None:
    # The slots never come round, so nothing of the loops can be skipped.
    text = ring(10**6, 10**6).replace("read %a[%ci % 2]", "read %a[%ci % 2][%ci..%ci + 1]")
    report = fp.check(fp.parse(text))
    assert not report.deadlocks
    assert not report.explored.complete


def test_the_sides_of_a_divergent_branch_may_leave_straight_to_the_join() -> None:
    """What stands behind the join is looked at, though the first side leads to the second in between."""
    text = """
    kernel @k waves=2 {
      shared %a : 64
      shared %b : 64
      cond_br wave < 1, ^one, ^other
    ^one:
      cond_br 1 < 0, ^one.more, ^join
    ^one.more:
      read %a
      br ^one
    ^other:
      cond_br 1 < 0, ^other.more, ^join
    ^other.more:
      read %a
      br ^other
    ^join:
      write %b
      read %b
      return
    }
    """
    trace = fp.parse(text)
    (race,) = fp.check(trace).races
    assert race.hazard == "RAW"
    assert len(fp.insert_barriers(trace).barriers) == 1
    assert fp.check(trace).ok
