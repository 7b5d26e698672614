"""Barriers taken out of and put into PTX text."""

from __future__ import annotations

from fencepost.hosts.ptx.edits import Launch, insert, prune
from tests.hosts.ptx.kernels import NEIGHBOUR, kernel

LAUNCH = Launch((256, 1, 1))


def test_a_second_barrier_is_taken_out_and_all_else_stays() -> None:
    text = kernel(NEIGHBOUR.format(barrier="bar.sync 0; bar.sync 0;"))
    edited = prune(text, "k", LAUNCH)
    assert edited.after.verdict == "proven"
    assert len(edited.changed) == 1
    assert edited.text.replace("/* bar.sync 0; */", "bar.sync 0;") == text


def test_a_barrier_that_is_needed_stays() -> None:
    text = kernel(NEIGHBOUR.format(barrier="bar.sync 0;"))
    assert prune(text, "k", LAUNCH).text == text


def test_a_barrier_is_put_between_the_two_accesses() -> None:
    text = kernel(NEIGHBOUR.format(barrier=""))
    edited = insert(text, "k", LAUNCH)
    assert (edited.before.verdict, edited.after.verdict) == ("race", "proven")
    assert edited.text.replace("bar.sync 0; ", "") == text
    assert edited.text.index("st.shared") < edited.text.index("bar.sync") < edited.text.index("ld.shared")


def test_what_cannot_be_mended_whole_comes_back_as_it_was() -> None:
    """Barriers order the neighbours; all threads still write their own number to one word."""
    last = "mov.u32 %r9, %tid.x; st.shared.u32 [s], %r9;"
    text = kernel(NEIGHBOUR.format(barrier="") + last)
    edited = insert(text, "k", LAUNCH)
    assert edited.before.verdict == edited.after.verdict == "race"
    assert (edited.text, edited.changed) == (text, ())
