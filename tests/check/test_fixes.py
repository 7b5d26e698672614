"""Every fix that `check` suggests works: made in the text as it says, it leaves a clean kernel.

The edits are taken from the JSON and made line by line, as a user or an editor would.
"""

from __future__ import annotations

import json
import pickle
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import fencepost as fp
from fencepost.report.findings import grouped, report_json
from tests.check.test_corpus import CORPUS, FILES, expectations
from tests.conftest import CommandLine
from tests.random_kernels import Shape, random_text
from tests.tiers import sweep

WRONG = [path for path in FILES if expectations(path.read_text(encoding="utf-8"))]
WAIT = re.compile(r"\b(\w+)=(\d+)")

RING = """kernel @ring waves=4 {
  shared %tile : 2 x 1024
  shared %full : 2 x 8
  shared %empty : 2 x 8
  if wave == 0 {
    mbarrier_init %full[0] count=1
    mbarrier_init %full[1] count=1
    mbarrier_init %empty[0] count=3
    mbarrier_init %empty[1] count=3
  }
  barrier
  if wave == 0 {
    loop %i in 0..8 {
      mbarrier_wait %empty[%i % 2] phase=(%i // 2 + 1) % 2
      mbarrier_expect %full[%i % 2] bytes=1024
      gather_to_lds %tile[%i % 2] arrives %full[%i % 2] bytes=1024
    }
  } else {
    loop %j in 0..8 {
      mbarrier_wait %full[%j % 2] phase=%j // 2 % 2
      read %tile[%j % 2]
      mbarrier_arrive %empty[%j % 2]
    }
  }
}
"""


def judged(text: str) -> dict[str, Any]:
    """What `check --json` says."""
    kernel = fp.parse(text)
    return report_json(kernel, fp.check(kernel))


def edited(text: str, edits: list[dict[str, Any]]) -> str:
    """The text with the edits made; lines are those of `text`."""
    lines = text.splitlines()
    before: dict[int, list[str]] = {}
    gone: set[int] = set()
    for edit in edits:
        line, how, statement = edit["line"], edit["how"], edit["statement"]
        place = {"behind": closing(lines, line) + 1, "at the end of": closing(lines, line)}.get(how, line)
        if statement is not None:
            before.setdefault(place, []).append(statement)
        if how in ("instead of", "take out"):
            gone.add(line)
    result = []
    for number, line in enumerate([*lines, ""], 1):
        result += before.get(number, [])
        result += [] if number in gone else [line]
    return "\n".join(result)


def closing(lines: list[str], line: int) -> int:
    """The line on which what begins on `line` ends."""
    depth = 0
    for number in range(line, len(lines) + 1):
        code = lines[number - 1].partition("#")[0]
        depth += code.count("{") - code.count("}")
        if depth == 0:
            return number
    raise AssertionError(f"line {line} is not closed")


def suggested(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [edit for cause in found["causes"] for edit in cause["edits"]]


# ---------------------------------------------------------------- the corpus


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.relative_to(CORPUS).as_posix())
def test_the_suggested_fixes_leave_a_clean_kernel(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = judged(text)
    after = judged(edited(text, suggested(found)))
    without = [cause for cause in found["causes"] if not cause["edits"]]
    if not without:
        assert after["proven"] or (after["ok"] and not found["proven"])
        return
    # What no fix is claimed for stays; nothing else does, and nothing comes.
    assert sum(len(after[kind]) for kind in ("races", "deadlocks", "out_of_range")) == sum(
        cause["findings"] for cause in without
    )
    assert all(cause["fix"] is None for cause in without)


def test_most_mistakes_have_a_fix() -> None:
    fixed = Counter(
        all(cause["edits"] for cause in judged(path.read_text(encoding="utf-8"))["causes"]) for path in WRONG
    )
    # The others: two sides of a divergent conditional, accesses out of range, loops with unequal barriers, mbarriers
    # that are used beyond their lifetime.
    assert fixed[True] >= 320 and fixed[False] <= 42


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.relative_to(CORPUS).as_posix())
def test_no_suggested_wait_is_stronger_than_it_has_to_be(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = judged(text)
    together = suggested(found)
    for cause in found["causes"]:
        for edit in cause["edits"]:
            statement = edit["statement"] or ""
            if not statement.startswith("wait_count") or "lds=" in statement:
                continue
            weaker = edit | {"statement": WAIT.sub(lambda m: f"{m[1]}={int(m[2]) + 1}", statement)}
            # The fix of another cause may wait for the same copies: each is a fix by itself.
            assert any(
                len(judged(edited(text, [weaker if each is edit else each for each in edits]))["races"])
                > len(judged(edited(text, edits))["races"])
                for edits in (together, cause["edits"])
            )


# ---------------------------------------------------------------- one mistake, one message


@pytest.mark.parametrize(
    ("right", "wrong", "fix"),
    [
        ("phase=%j // 2 % 2", "phase=(%j // 2 + 1) % 2", "`phase=%j // 2 % 2` instead of"),
        ("phase=%j // 2 % 2", "phase=%j % 2", "`phase=%j // 2 % 2` instead of"),
        ("phase=(%i // 2 + 1) % 2", "phase=%i // 2 % 2", "`phase=(%i // 2 + 1) % 2` instead of"),
        ("%empty[0] count=3", "%empty[0] count=2", "`mbarrier_init %empty[0] count=3` instead of"),
        ("%empty[0] count=3", "%empty[0] count=4", "`mbarrier_init %empty[0] count=3` instead of"),
        ("mbarrier_expect %full[%i % 2] bytes=1024", "mbarrier_expect %full[%i % 2] bytes=512", "bytes=1024"),
        ("      mbarrier_expect %full[%i % 2] bytes=1024\n", "", "`mbarrier_expect %full[%i % 2] bytes=1024` before"),
        ("      mbarrier_wait %full[%j % 2] phase=%j // 2 % 2\n", "", "`mbarrier_wait %full[%j % 2] phase="),
        ("      mbarrier_wait %empty[%i % 2] phase=(%i // 2 + 1) % 2\n", "", "`mbarrier_wait %empty[%i % 2] phase="),
        ("  barrier\n", "", "a barrier before line 11"),
    ],
)  # fmt: skip
def test_a_ring_with_one_mistake_has_one_message(
    right: str, wrong: str, fix: str, fencepost: CommandLine
) -> None:
    assert right in RING and fp.check(fp.parse(RING)).proven
    text = RING.replace(right, wrong, 1)
    ran = fencepost("check", "-", stdin=text)
    assert ran.out.count("error[") == 1
    assert f"= fix: {fix}" in ran.out or (fix.startswith("bytes") and fix in ran.out)
    assert judged(edited(text, suggested(judged(text))))["proven"]


CONSUMER_FIRST = """\
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
      mbarrier_wait %full[%i % 2] phase=%i // 2 % 2
      read %a[%i % 2]
      mbarrier_arrive %empty[%i % 2]
    }
  } else {
    loop %j in 0..8 {
      mbarrier_wait %empty[%j % 2] phase=%j // 2 % 2
      mbarrier_expect %full[%j % 2] bytes=1024
      tensor_load_to_lds %a[%j % 2] arrives %full[%j % 2] bytes=1024
    }
  }
}
"""


def test_of_two_waits_that_wait_for_each_other_the_one_before_the_copy_is_wrong(
    fencepost: CommandLine,
) -> None:
    # With the consumer's parity flipped instead, nothing races either: it would read slots that nobody has filled.
    ran = fencepost("check", "-", stdin=CONSUMER_FIRST)
    assert "= fix: `phase=(%j // 2 + 1) % 2` instead of `phase=%j // 2 % 2` on line 18" in ran.out


def test_two_waits_that_are_both_wrong_are_mended_both(fencepost: CommandLine) -> None:
    # The consumer's alone could be given a parity with which nothing races, and all it reads in the first round is
    # what nobody has written.
    text = CONSUMER_FIRST.replace("phase=%i // 2 % 2", "phase=%i // 3 % 2")
    ran = fencepost("check", "-", stdin=text)
    assert (
        "= fix: `phase=(%j // 2 + 1) % 2` instead of `phase=%j // 2 % 2` on line 18; "
        "and `phase=%i // 2 % 2` instead of `phase=%i // 3 % 2` on line 12\n"
    ) in ran.out
    mended = fp.parse(edited(text, suggested(judged(text))))
    assert fp.check(mended, unfilled=True).proven


def test_a_wrong_phase_is_named() -> None:
    kernel = fp.parse(RING.replace("phase=%j // 2 % 2", "phase=(%j // 2 + 1) % 2"))
    report = fp.check(kernel)
    assert len(report.races) + len(report.deadlocks) == 6
    ((message,), left) = grouped(kernel, report)
    assert (message.title, left) == ("this wait for %full[%j % 2] is for the wrong phase", 0)
    assert message.marks[0].span is not None and message.marks[0].span.line == 20


def test_an_mbarrier_shares_no_bytes_with_what_is_copied() -> None:
    text = """kernel @k waves=4 {
  shared %tile : 1024
  shared %full : 8
  if wave == 0 {
    mbarrier_init %full count=1
  }
  if wave == 1 {
    gather_to_lds %tile arrives %full count=1
  }
  barrier
  mbarrier_wait %full phase=0
  read %tile
}
"""
    kernel = fp.parse(text)
    said = str(fp.check(kernel))
    assert "wave 1's engine can arrive at %full before wave 0 has initialized it" in said
    assert "shares bytes" not in said and "= fix: a barrier before line 7" in said


def test_a_barrier_that_some_waves_never_reach() -> None:
    text = (
        "kernel @k waves=4 {\n  shared %a : 64\n  write %a\n  if wave < 2 {\n    barrier\n  }\n  read %a\n}\n"
    )
    found = judged(text)
    ((cause),) = found["causes"]
    assert (len(found["races"]), len(found["deadlocks"]), cause["findings"]) == (1, 1, 2)
    assert cause["fix"] == "the barrier on line 5 belongs behind the conditional that begins on line 4"
    assert judged(edited(text, suggested(found)))["proven"]


def test_no_fix_is_claimed_where_none_helps(fencepost: CommandLine) -> None:
    text = "kernel @k waves=4 {\n  shared %a : 64\n  if wave < 2 {\n    write %a\n  } else {\n    read %a\n  }\n}\n"
    ran = fencepost("check", "-", stdin=text)
    assert "= fix:" not in ran.out and "= note: no barrier can" in ran.out


def test_looking_for_fixes_leaves_the_kernel_as_it_is() -> None:
    for path in WRONG[::7]:
        kernel = fp.parse(path.read_text(encoding="utf-8"))
        before = str(kernel)
        assert fp.causes_of(fp.check(kernel)) and str(kernel) == before


def test_a_report_of_a_kernel_that_has_changed_since() -> None:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", bytes=64)
    k.write(a)
    k.read(a)
    report = fp.check(k)
    fp.insert_barriers(k)
    assert "1 race" in str(report) and "no race" in str(fp.check(k))


def test_a_verdict_can_be_sent_to_another_process() -> None:
    text = "kernel @k waves=2 {\n  shared %a : 8\n" + "  compute\n" * 3000 + "}\n"
    sent = pickle.loads(pickle.dumps(fp.check(fp.parse(text))))
    assert sent.proven and "no race" in str(sent)


# ---------------------------------------------------------------- how much is shown


def many(races: int) -> str:
    pairs = "".join(f"  write %a[{n % 8}]\n  read %a[{n % 8}]\n" for n in range(races))
    return f"kernel @many waves=4 {{\n  shared %a : 8 x 64\n{pairs}}}\n"


def test_twenty_causes_are_shown_and_the_others_counted(fencepost: CommandLine) -> None:
    text = many(40)
    causes = len(judged(text)["causes"])
    ran = fencepost("check", "-", stdin=text)
    assert causes > 20 and ran.out.count("error[") == 20
    assert f"@many: {causes - 20} more causes are not shown (--max-findings 0 shows all)" in ran.out
    assert fencepost("check", "-m", "3", "-", stdin=text).out.count("error[") == 3
    every = fencepost("check", "--max-findings", "0", "-", stdin=text).out
    assert every.count("error[") == causes and "not shown" not in every
    races = len(fp.check(fp.parse(text)).races)
    assert fencepost("check", "--all", "-", stdin=text).out.count("error[") == races
    assert len(json.loads(fencepost("check", "--json", "-", stdin=text).out)[0]["races"]) == races


def test_a_long_racy_kernel_is_not_a_flood(fencepost: CommandLine) -> None:
    ran = fencepost("check", "-", stdin=many(1500))
    assert ran.code == 1 and len(ran.out.splitlines()) < 300


@pytest.mark.parametrize("number", ["-1", "x", "1.5"])
def test_how_many_to_show_is_a_whole_number(number: str, fencepost: CommandLine) -> None:
    assert fencepost("check", "-m", number, "-", stdin=many(1)).code == 2


# ---------------------------------------------------------------- kernels that nobody wrote

SHAPES = (
    Shape(),
    Shape(asynchronous=True, slots=True),
    Shape(functions=True, scratch=True, handing=True),
    Shape(arguments=True),
    Shape(asynchronous=True, groups_of_copies=True),
)


@pytest.mark.parametrize("seed", sweep(range(40), first=8))
def test_fixes_of_random_kernels(seed: int) -> None:
    text = random_text(seed, SHAPES[seed % len(SHAPES)])
    found = judged(text)
    after = judged(edited(text, suggested(found)))
    left = sum(len(after[kind]) for kind in ("races", "deadlocks", "out_of_range"))
    assert left <= sum(cause["findings"] for cause in found["causes"] if not cause["edits"])
