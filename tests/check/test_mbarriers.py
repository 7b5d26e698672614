"""Mbarriers by example: small kernels, with what `check` finds in each."""

from __future__ import annotations

import pytest

import fencepost as fp
from fencepost.check.group_by_fix import causes_of
from fencepost.check.trusted_mbarriers import TRUSTED
from fencepost.ir.printer import statement
from tests.mbarrier_kernels import PER_THREAD, RING, SHARED_OBJECT, SOME_MEET
from tests.mbarrier_reference import mistakes, read_unwritten

SPECIALIZED = """\
kernel @specialized waves=3 {
  shared %a : 2 x 1024
  shared %full : 2 x 8
  shared %empty : 2 x 8
  param %n
  mbarrier_init %full[0] count=1
  mbarrier_init %full[1] count=1
  mbarrier_init %empty[0] count=2
  mbarrier_init %empty[1] count=2
  barrier
  if wave < 2 {
    loop %i in 0..%n {
      mbarrier_wait %full[%i % 2] phase=%i // 2 % 2
      read %a[%i % 2]
      mbarrier_arrive %empty[%i % 2]
    }
  } else {
    loop %j in 0..%n {
      mbarrier_wait %empty[%j % 2] phase=(%j // 2 + 1) % 2
      mbarrier_expect %full[%j % 2] bytes=1024
      tensor_load_to_lds %a[%j % 2] counter=tma arrives %full[%j % 2] bytes=1024
    }
  }
}
"""

# Mbarriers without bytes: engines and waves arrive, and are counted.
COUNTED = """\
kernel @counted waves=2 {
  shared %a : 2 x 1024
  shared %full : 2 x 8
  shared %empty : 2 x 8
  param %n
  mbarrier_init %full[0] count=1
  mbarrier_init %full[1] count=1
  mbarrier_init %empty[0] count=1
  mbarrier_init %empty[1] count=1
  barrier
  if wave == 0 {
    loop %i in 0..%n {
      mbarrier_wait %full[%i % 2] phase=%i // 2 % 2
      async_mma %a[%i % 2] arrives %empty[%i % 2] count=1
    }
  } else {
    loop %j in 0..%n {
      mbarrier_wait %empty[%j % 2] phase=(%j // 2 + 1) % 2
      tensor_load_to_lds %a[%j % 2] arrives %full[%j % 2] count=1
    }
  }
}
"""

# Waves hand over what they wrote themselves: an arrival comes behind it.
HANDED_OVER = """\
kernel @handed_over waves=2 {
  shared %a : 1024
  shared %full : 8
  shared %empty : 8
  param %n
  mbarrier_init %full count=1
  mbarrier_init %empty count=1
  barrier
  if wave == 0 {
    loop %i in 0..%n {
      mbarrier_wait %empty phase=(%i + 1) % 2
      write %a
      mbarrier_arrive %full
    }
  } else {
    loop %j in 0..%n {
      mbarrier_wait %full phase=%j % 2
      read %a
      mbarrier_arrive %empty
    }
  }
}
"""

CORRECT = [RING, SPECIALIZED, PER_THREAD, COUNTED, SHARED_OBJECT, HANDED_OVER, SOME_MEET]


@pytest.mark.parametrize("text", CORRECT, ids=lambda text: text.split()[1])
def test_nothing_is_found_in_correct_kernels(text: str) -> None:
    assert fp.check(fp.parse(text)).ok
    assert mistakes(text) == set()


BOTH_OFF = (
    ("phase=%i // 2 % 2", "phase=(%i // 2 + 1) % 2"),
    ("phase=(%j // 2 + 1) % 2", "phase=%j // 2 % 2"),
)
"""Consumer and producer of `SPECIALIZED`, each with the other's parity."""

# All waves fill, and wave 0 waits for the engine and lets the others know.
ELECTED = """\
kernel @elected waves=4 {
  shared %a : 1024
  shared %full : 8
  mbarrier_init %full count=1
  barrier
  if wave == 0 {
    mbarrier_wait %full phase=1
  }
  barrier
  read %a
  barrier
  if wave == 0 {
    mbarrier_expect %full bytes=1024
    tensor_load_to_lds %a counter=tma arrives %full bytes=1024
    mbarrier_wait %full phase=0
  }
}
"""


def both_off(text: str) -> str:
    for this, that in BOTH_OFF:
        text = text.replace(this, that)
    return text


@pytest.mark.parametrize("text", [both_off(SPECIALIZED), ELECTED], ids=["both off", "one waits for all"])
def test_reads_of_what_nobody_has_written_are_found(text: str) -> None:
    # Nothing races: the brute force, which knows orders only, finds nothing.
    assert mistakes(text) == set()
    assert read_unwritten(text, 2)
    assert findings(text) == {"unfilled"}
    assert fp.check(fp.parse(text)).ok


def test_that_both_sides_are_a_phase_off_is_mended_on_both() -> None:
    report = fp.check(fp.parse(both_off(SPECIALIZED)), unfilled=True)
    (cause,) = causes_of(report)
    assert [statement(edit.op) for edit in cause.edits if edit.op] == [
        "mbarrier_wait %full[%i % 2] phase=%i // 2 % 2",
        "mbarrier_wait %empty[%j % 2] phase=(%j // 2 + 1) % 2",
    ]
    assert "the wait returns at once" in str(report)


@pytest.mark.parametrize(
    ("this", "that"),
    [
        # Something is there before: an earlier content is what the reader may want.
        (
            "  barrier\n  if wave == 0 {\n    mbarrier_wait",
            "  write %a\n  barrier\n  if wave == 0 {\n    mbarrier_wait",
        ),
        # Nobody fills it: what is read is not what the mbarrier is for.
        (" arrives %full bytes=1024", "\n    mbarrier_arrive %full"),
        # The wait is not one that passes at once.
        ("    mbarrier_wait %full phase=1\n", ""),
    ],
    ids=["written before", "another copy", "no wait"],
)
def test_other_reads_of_unwritten_memory_are_nobodys_business(this: str, that: str) -> None:
    assert ELECTED.count(this) == 1
    assert "unfilled" not in findings(ELECTED.replace(this, that))


MISTAKES = [
    # (what is wrong, in which kernel, this text, becomes that, what is found)
    (
        "nobody waits for the copy",
        RING,
        "    mbarrier_wait %full[%i % 2] phase=%i // 2 % 2\n",
        "",
        {"race RAW", "early arrival"},
    ),
    (
        "the wait comes after the read",
        SHARED_OBJECT,
        "  mbarrier_wait %full phase=0\n  read %a\n",
        "  read %a\n  mbarrier_wait %full phase=0\n",
        {"race RAW"},
    ),
    ("the phase before is waited for", SHARED_OBJECT, "phase=0", "phase=1", {"race RAW", "missed phase"}),
    (
        "the phase never turns",
        RING,
        "phase=%i // 2 % 2",
        "phase=0",
        {"race RAW", "missed phase", "early arrival"},
    ),
    (
        "the phase turns too soon",
        RING,
        "phase=%i // 2 % 2",
        "phase=%i % 2",
        {"race RAW", "missed phase", "early arrival"},
    ),
    (
        "consumers begin with the wrong phase",
        SPECIALIZED,
        "phase=%i // 2 % 2",
        "phase=(%i // 2 + 1) % 2",
        {"race WAR", "missed phase", "early arrival"},
    ),
    (
        "the producer waits for what comes after it",
        SPECIALIZED,
        "phase=(%j // 2 + 1) % 2",
        "phase=%j // 2 % 2",
        {"stuck"},
    ),
    ("consumers never arrive", SPECIALIZED, "      mbarrier_arrive %empty[%i % 2]\n", "", {"stuck"}),
    (
        "nobody says that bytes will come",
        SPECIALIZED,
        "      mbarrier_expect %full[%j % 2] bytes=1024\n",
        "",
        {"stuck"},
    ),
    (
        "nothing is copied",
        SPECIALIZED,
        "      tensor_load_to_lds %a[%j % 2] counter=tma arrives %full[%j % 2] bytes=1024\n",
        "",
        {"stuck"},
    ),
    ("the copy tells nobody", SPECIALIZED, " arrives %full[%j % 2] bytes=1024", "", {"stuck"}),
    (
        "more arrivals are wanted than there are waves",
        SPECIALIZED,
        "%empty[1] count=2",
        "%empty[1] count=3",
        {"stuck"},
    ),
    (
        "one wave's arrival is enough",
        SPECIALIZED,
        "%empty[1] count=2",
        "%empty[1] count=1",
        {"race WAR", "missed phase", "early arrival"},
    ),
    (
        "a wave arrives twice at a time",
        SPECIALIZED,
        "mbarrier_arrive %empty[%i % 2]",
        "mbarrier_arrive %empty[%i % 2] count=2",
        {"race WAR", "missed phase", "early arrival"},
    ),
    ("more bytes are expected than come", SHARED_OBJECT, "bytes=1536", "bytes=2048", {"stuck"}),
    (
        "fewer bytes are expected than come",
        SHARED_OBJECT,
        "bytes=1536",
        "bytes=1024",
        {"race RAW", "early arrival"},
    ),
    ("one of two copies brings too few", SHARED_OBJECT, "bytes=512\n", "bytes=256\n", {"stuck"}),
    (
        "the slot is free before it was read",
        SPECIALIZED,
        "      read %a[%i % 2]\n      mbarrier_arrive %empty[%i % 2]\n",
        "      mbarrier_arrive %empty[%i % 2]\n      read %a[%i % 2]\n",
        {"race WAR"},
    ),
    (
        "written behind the arrival",
        HANDED_OVER,
        "      write %a\n      mbarrier_arrive %full\n",
        "      mbarrier_arrive %full\n      write %a\n",
        {"race RAW"},
    ),
    (
        "the slot is used again without waiting",
        SPECIALIZED,
        "      mbarrier_wait %empty[%j % 2] phase=(%j // 2 + 1) % 2\n",
        "",
        {"race WAR", "missed phase", "early arrival"},
    ),
    (
        "nothing keeps the next round back",
        RING,
        "    read %a[%i % 2]\n    barrier\n",
        "    read %a[%i % 2]\n",
        {"race WAR", "missed phase"},
    ),
    (
        "the next slot is freed",
        SPECIALIZED,
        "%empty[%i % 2]",
        "%empty[(%i + 1) % 2]",
        {"missed phase", "early arrival"},
    ),
    (
        "the copy arrives on the other mbarrier",
        SPECIALIZED,
        "arrives %full[%j % 2]",
        "arrives %full[(%j + 1) % 2]",
        {"race WAR", "stuck", "early arrival"},
    ),
    (
        "the copy goes into the other slot",
        SPECIALIZED,
        "tensor_load_to_lds %a[%j % 2]",
        "tensor_load_to_lds %a[(%j + 1) % 2]",
        {"race WAR"},
    ),
    ("no barrier behind the first use of shared memory", SHARED_OBJECT, "  barrier\n", "", {"race RAW"}),
    ("an mbarrier is never initialized", SPECIALIZED, "  mbarrier_init %empty[1] count=2\n", "", {"stuck"}),
    (
        "an mbarrier is initialized by one wave, while another arrives",
        HANDED_OVER,
        "  mbarrier_init %full count=1\n  mbarrier_init %empty count=1\n  barrier\n",
        "  if wave == 0 {\n    mbarrier_init %full count=1\n    mbarrier_init %empty count=1\n  }\n",
        {"race RAW"},
    ),
    (
        "the engine arrives before it is done with the copy",
        PER_THREAD,
        "    mbarrier_arrive %full[%i % 2] counter=copy\n",
        "    mbarrier_arrive %full[%i % 2]\n",
        {"race RAW"},
    ),
    (
        "the engine is told to arrive before it is told to copy",
        PER_THREAD,
        "    gather_to_lds %a[%i % 2] counter=copy\n    mbarrier_arrive %full[%i % 2] counter=copy\n",
        "    mbarrier_arrive %full[%i % 2] counter=copy\n    gather_to_lds %a[%i % 2] counter=copy\n",
        {"race RAW"},
    ),
    (
        "another engine arrives",
        PER_THREAD,
        "mbarrier_arrive %full[%i % 2] counter=copy",
        "mbarrier_arrive %full[%i % 2] counter=tma",
        {"race RAW"},
    ),
    (
        "the matrix engine reads on",
        COUNTED,
        "async_mma %a[%i % 2] arrives %empty[%i % 2] count=1",
        "async_mma %a[%i % 2]\n      mbarrier_arrive %empty[%i % 2]",
        {"race WAR"},
    ),
    (
        "only one of two waves met",
        SOME_MEET,
        "    read %a[1 - wave]\n    barrier waves 0..2\n",
        "    read %a[1 - wave]\n",
        {"race WAR"},
    ),
]


def findings(text: str) -> set[str]:
    report = fp.check(fp.parse(text), unfilled=True)
    return {f"{race.kind} {race.hazard}" for race in report.races} | {each.kind for each in report.deadlocks}


@pytest.mark.parametrize(
    ("text", "this", "that", "expected"), [each[1:] for each in MISTAKES], ids=[each[0] for each in MISTAKES]
)
def test_what_is_found(text: str, this: str, that: str, expected: set[str]) -> None:
    assert text.count(this) == 1
    wrong = text.replace(this, that)
    assert findings(wrong) == expected


@pytest.mark.parametrize(
    ("text", "this", "that"), [each[1:4] for each in MISTAKES], ids=[each[0] for each in MISTAKES]
)
def test_they_are_mistakes(text: str, this: str, that: str) -> None:
    assert mistakes(text.replace(this, that), 4)


def test_findings_say_who_and_why() -> None:
    def messages(text: str) -> list[str]:
        return [each.message for each in fp.check(fp.parse(text)).deadlocks]

    assert messages(SHARED_OBJECT.replace("bytes=1536", "bytes=2048")) == [
        "wave 0 waits for %full for ever: 512 bytes that were expected have not come"
    ]
    assert messages(SPECIALIZED.replace("%empty[1] count=2", "%empty[1] count=3")) == [
        "wave 0 waits for %full[%i % 2] for ever: nothing arrives for that phase"
    ]
    assert messages(HANDED_OVER.replace("  mbarrier_init %full count=1\n", "")) == [
        "wave 0 waits for %full for ever: no mbarrier_init has made it"
    ]


def test_too_many_arrivals_are_told_from_early_ones() -> None:
    text = SHARED_OBJECT.replace("bytes=1536\n", "bytes=1536\n    mbarrier_arrive %full\n")
    (found,) = fp.check(fp.parse(text)).deadlocks
    assert (found.kind, found.message) == (
        "early arrival",
        "wave 0 arrives at %full more often than a phase takes",
    )


def test_bytes_that_nobody_expects_count_for_some_phase() -> None:
    # If the copy takes long, the arrival alone completes the phase, and who waits for the one before hangs.
    text = """\
kernel @k waves=2 {
  shared %a : 64
  shared %full : 8
  mbarrier_init %full count=1
  barrier
  if wave == 0 {
    mbarrier_wait %full phase=1
  } else {
    tensor_load_to_lds %a arrives %full bytes=64
    mbarrier_arrive %full
  }
}
"""
    assert findings(text) == {"early arrival"}
    assert mistakes(text) == {"hang"}


def test_an_engine_that_arrives_on_an_mbarrier_uses_it() -> None:
    text = """\
kernel @k waves=2 {
  shared %a : 64
  shared %full : 8
  if wave == 0 {
    mbarrier_init %full count=1
    mbarrier_wait %full phase=0
    read %a
  } else {
    tensor_load_to_lds %a arrives %full count=1
  }
}
"""
    (race,) = fp.check(fp.parse(text)).races
    assert (race.first.op.mnemonic, race.second.op.mnemonic) == ("mbarrier_init", "tensor_load_to_lds")
    assert findings(text.replace("wave == 0", "wave == 1")) == {"race RAW"}
    assert findings(text.replace("    mbarrier_init %full count=1\n", "")) == {"early arrival", "stuck"}


def test_a_phase_that_is_known_can_be_waited_for_again() -> None:
    again = "  mbarrier_wait %full phase=0\n"
    assert findings(SHARED_OBJECT.replace(again, again * 3)) == set()
    # The phase before the first counts as complete, but not for long.
    late = SHARED_OBJECT.replace("  if wave == 0", "  mbarrier_wait %full phase=1\n  if wave == 0")
    assert findings(late) == {"missed phase"}
    assert mistakes(late) == {"hang"}


def test_what_is_not_known_is_no_proof() -> None:
    unknown = fp.check(fp.parse(SHARED_OBJECT.replace("phase=0", "phase=?")))
    assert not unknown.ok
    assert not unknown.explored.complete
    assert (
        str(fp.check(fp.parse(RING)).explored) == "simulated 9 paths; not a proof: %n was tried from 0 to 8"
    )
    assert fp.check(fp.parse(SHARED_OBJECT)).explored.complete


COUNTED_IN_STEPS = """\
kernel @steps waves=2 {
  shared %a : 2 x 1024
  shared %full : 2 x 8
  param %k
  mbarrier_init %full[0] count=1
  mbarrier_init %full[1] count=1
  barrier
  br ^head(0, 0)
^head(%at, %i):
  cond_br %at < %k, ^body, ^end
^body:
  if wave == 0 {
    mbarrier_expect %full[%i % 2] bytes=1024
    tensor_load_to_lds %a[%i % 2] counter=tma arrives %full[%i % 2] bytes=1024
  }
  mbarrier_wait %full[%i % 2] phase=%i // 2 % 2
  read %a[%i % 2]
  barrier
  br ^head(%at + 64, %i + 1)
^end:
  return
}
"""


def test_a_loop_that_counts_in_steps_runs_several_times() -> None:
    report = fp.check(fp.parse(COUNTED_IN_STEPS))
    assert report.ok
    assert "%k was tried from 0 to 512 by 64" in str(report.explored)
    # The third round of a slot would be wrong.
    wrong = COUNTED_IN_STEPS.replace("phase=%i // 2 % 2", "phase=%i // 2 % 2 ^ %i // 4")
    assert not fp.check(fp.parse(wrong)).ok


def test_loops_up_to_one_number_run_equally_often() -> None:
    assert findings(HANDED_OVER) == set()
    apart = HANDED_OVER.replace("  param %n\n", "").replace("0..%n", "0..?")
    assert "stuck" in findings(apart)


def test_an_engine_needs_an_mbarrier_to_arrive_on() -> None:
    text = (
        "kernel @k waves=4 {\n  shared %a : 64\n  shared %o : 8\n  gather_to_lds %a arrives %o count=1\n}\n"
    )
    assert findings(text) == {"early arrival"}
    # Nor does it help to make the mbarrier when the copy is done.
    late = text.replace(
        "count=1\n}", "count=1\n  wait_count load=0\n  barrier\n  mbarrier_init %o count=1\n}"
    )
    assert findings(late) == {"early arrival"}
    assert mistakes(late) == {"race"}


REFILLED = """kernel @k waves=4 {{
  shared %a : 2 x 64
  shared %full : 16
  if wave == 0 {{
    mbarrier_init %full[0..8] count=1
    mbarrier_init %full[8..16] count=1
  }}
  barrier
  loop %i in 0..? {{
    mbarrier_wait %full[%i % 2 * 8..%i % 2 * 8 + 8] phase=%i // 2 % 2
    read %a[%i % 2]
    {before}
    if wave == 0 {{
      mbarrier_expect %full[%i % 2 * 8..%i % 2 * 8 + 8] bytes=64
      tensor_load_to_lds %a[%i % 2] counter=tma arrives %full[%i % 2 * 8..%i % 2 * 8 + 8] bytes=64
    }}
  }}
}}
"""


@pytest.mark.parametrize(("before", "races"), [("barrier", 0), ("compute", 1)])
def test_barriers_alone_are_judged_where_mbarriers_are_trusted(before: str, races: int) -> None:
    """Nobody fills the ring first, so all waves would wait for ever; that is not what is asked."""
    trace = fp.parse(REFILLED.format(before=before))
    assert fp.check(trace).deadlocks
    report = fp.check(trace, trusting=True)
    assert len(report.races) == races
    assert not report.deadlocks
    assert report.explored.limits == [TRUSTED]


def test_without_mbarriers_nothing_has_to_be_trusted() -> None:
    trace = fp.parse("kernel @k waves=4 {\n  shared %a : 64\n  write %a\n  barrier\n  read %a\n}\n")
    assert fp.check(trace, trusting=True).explored.complete
