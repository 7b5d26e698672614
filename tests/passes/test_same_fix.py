"""What `check` suggests, what `fix` does and what `insert` puts in are one and the same kernel."""

from __future__ import annotations

import re

import pytest

from fencepost.check import check
from fencepost.check.group_by_fix import causes_of
from fencepost.check.suggested_edits import applied
from fencepost.ir.parser import parse
from fencepost.passes.fix import fix_text
from fencepost.passes.insert import insert_barriers
from fencepost.report.findings import spans_of
from fencepost.report.suggestions import edits_text

RING = """  loop %i in 0..61 {
    wait_count load=3
    barrier
    %x = read %a[%i % 4]
    mma %x
    gather_to_lds %a[(%i + 3) % 4]
  }
"""
COPIES = "  gather_to_lds %a[0]\n  gather_to_lds %a[1]\n"
CASES = {
    "a wait in front of the barrier is too weak": (
        COPIES + "  gather_to_lds %a[2]\n" + RING,
        "`wait_count load=2` instead of `wait_count load=3` on line 7",
    ),
    "work lies between the wait and the barrier": (
        COPIES + "  wait_count load=2\n  compute\n  barrier\n  read %a[0]\n",
        "`wait_count load=1` instead of `wait_count load=2` on line 5",
    ),
    "too many commit groups are left": (
        "  gather_to_lds %a[0]\n  commit load\n  gather_to_lds %a[1]\n  commit load\n"
        "  wait_count load=2\n  barrier\n  read %a[0]\n",
        "`wait_count load=1` instead of `wait_count load=2` on line 7",
    ),
    "the barrier does not wait": (
        COPIES + "  barrier\n  read %a[0]\n",
        "`barrier load=1` instead of `barrier` on line 5",
    ),
    "neither a wait nor a barrier": (COPIES + "  read %a[0]\n", "`barrier load=1` before line 5"),
    "a rendezvous that does not wait": (
        COPIES + "  workgroup_barrier\n  read %a[0]\n",
        "`barrier load=1` instead of `workgroup_barrier` on line 5",
    ),
    "a rendezvous without a fence": (
        "  write %a[0]\n  workgroup_barrier\n  read %a[0]\n",
        "a fence at the workgroup barrier on line 4: `barrier` instead of `workgroup_barrier`",
    ),
    "a barrier before the loop is enough": (
        "  write %a[0]\n  loop %i in 0..8 {\n    read %a[0]\n  }\n",
        "a barrier before line 4",
    ),
}


def _lines(text: str) -> list[str]:
    return [re.sub(r"\s+#.*", "", line) for line in text.splitlines()]


@pytest.mark.parametrize("body, words", CASES.values(), ids=CASES)
def test_suggested_fixed_and_inserted_are_the_same(body: str, words: str) -> None:
    text = f"kernel @k waves=4 {{\n  shared %a : 4 x 1024\n{body}}}\n"
    kernel = parse(text)
    (cause,) = causes_of(check(kernel))
    assert edits_text(cause.edits, spans_of(kernel)[1]) == words
    with applied(cause.edits):
        suggested = _lines(str(kernel))
    inserted = parse(text)
    insert_barriers(inserted)
    assert suggested == _lines(fix_text(text).after) == _lines(str(inserted))


def test_a_wait_is_left_alone_where_copies_start_behind_it() -> None:
    """A smaller count there would wait for fewer of the copies that matter, and for none of the new ones."""
    kernel = parse(
        "kernel @k waves=4 {\n  shared %a : 4 x 1024\n  gather_to_lds %a[0]\n  wait_count load=1\n"
        "  gather_to_lds %a[1]\n  barrier\n  read %a[1]\n}\n"
    )
    insert_barriers(kernel)
    assert "  wait_count load=1\n" in str(kernel) and "  barrier load=0\n" in str(kernel)


def test_a_group_that_is_left_open_is_closed() -> None:
    """`insert` puts in no `commit`, so `fix` does what `check` suggests."""
    text = (
        "kernel @k waves=4 {\n  shared %a : 2 x 1024\n  gather_to_lds %a[0]\n  commit load\n"
        "  gather_to_lds %a[1]\n  barrier\n  read %a[1]\n}\n"
    )
    kernel = parse(text)
    (cause,) = causes_of(check(kernel))
    with applied(cause.edits):
        assert _lines(fix_text(text).after) == _lines(str(kernel))
    assert "  commit load\n  barrier load=0\n" in fix_text(text).after
