"""Results of divergent conditionals are known where every wave gets the same number; else they are not.

The sides give numbers each to its own waves. Of a slot only the remainder matters, and a side that no wave takes
gives nothing. `check` and `insert` agree: a clean kernel gets no barrier, and a racy one is clean once it has one.
"""

from __future__ import annotations

import pytest

import fencepost as fp
from tests.campaign import inserted

ALIKE_BY_REMAINDER = """\
kernel @k waves=4 {
  shared %b : 2 x 64
  if wave == 0 gives %y {
    give 6
  } else {
    give 8
  }
  write %b[%y % 2]
  atomic %b[1][32..64]
}
"""
ONE_SIDE_ALONE = """\
kernel @k waves=1 {
  shared %b : 3 x 64
  if wave <= select(wave > 10, -7, wave) gives %y {
    give 0 - 2
  } else {
    give 7
  }
  write %b[(%y + 28) % 3][16..32]
  gather_to_lds %b[%y % 3]
}
"""


@pytest.mark.parametrize("text", [ALIKE_BY_REMAINDER, ONE_SIDE_ALONE], ids=["remainder", "one side"])
def test_what_is_alike_for_all_waves_is_known(text: str) -> None:
    kernel = inserted(text, "auto")
    assert kernel is not None
    assert fp.check(kernel).ok


def chosen(condition: str, then: str, orelse: str, after: str, name: str = "%y") -> str:
    """A conditional with one result, and what comes behind it."""
    return f"if {condition} gives {name} {{\ngive {then}\n}} else {{\ngive {orelse}\n}}\n{after}"


def verdicts_agree(body: str, clean: bool) -> None:
    """`check` finds a race or none; `insert` puts a barrier in or none, and then there is no race."""
    kernel = fp.parse(f"kernel @k waves=4 {{\nshared %a : 4 x 64\nshared %b : 4 x 64\n{body}}}\n")
    report = fp.check(kernel)
    assert report.explored.complete
    assert report.ok is clean
    assert bool(fp.insert_barriers(kernel).barriers) is not clean
    assert fp.check(kernel).ok


TOUCH = "write %b[%y % 4]\nread %b[0]\n"
"""A race unless no wave has a multiple of 4."""


@pytest.mark.parametrize(
    ("condition", "then", "orelse", "clean"),
    [
        ("wave == 0", "1", "1", True),
        ("wave == 0", "1", "5", True),
        ("wave == 0", "1", "-3", True),
        ("wave == 0", "1", "4", False),
        ("wave == 0", "4", "1", False),
        ("wave == 0", "0", "4", False),
        # The sides differ, and nobody takes the one that would race.
        ("wave < 4", "1", "0", True),
        ("wave > 3", "0", "1", True),
        ("wave < 3", "1", "0", False),
        ("wave > 2", "0", "1", False),
        # What is not known is a conflict: the number, the condition, or both.
        ("wave == 0", "1", "?", False),
        ("wave == 0", "?", "?", False),
        ("wave == ?", "1", "0", False),
        ("wave == ?", "1", "5", True),
    ],
)
def test_a_slot_that_two_sides_choose(condition: str, then: str, orelse: str, clean: bool) -> None:
    verdicts_agree(chosen(condition, then, orelse, TOUCH), clean)


@pytest.mark.parametrize(
    ("outer", "inner", "numbers", "clean"),
    [
        ("wave < 2", "wave == 0", ("1", "5", "9"), True),
        ("wave < 2", "wave == 0", ("4", "5", "9"), False),
        ("wave < 2", "wave == 0", ("1", "4", "9"), False),
        ("wave < 2", "wave == 0", ("1", "5", "4"), False),
        # Of the waves of the outer side, none takes the second inner one.
        ("wave < 2", "wave < 2", ("1", "0", "5"), True),
        ("wave < 2", "wave < 1", ("1", "0", "5"), False),
    ],
)
def test_one_conditional_in_another(
    outer: str, inner: str, numbers: tuple[str, str, str], clean: bool
) -> None:
    first, second, third = numbers
    nested = chosen(inner, first, second, "give %z\n", "%z")
    verdicts_agree(f"if {outer} gives %y {{\n{nested}}} else {{\ngive {third}\n}}\n{TOUCH}", clean)


@pytest.mark.parametrize(
    ("then", "orelse", "clean"),
    [
        ("%x + 1", "%x + 5", True),
        # Two slots on and none on: what one iteration reads, a wave of the next one writes.
        ("%x + 2", "%x + 4", False),
        ("%x + 4", "%x + 8", False),
    ],
)
def test_a_loop_carries_what_the_sides_give(then: str, orelse: str, clean: bool) -> None:
    inside = chosen("wave == 0", then, orelse, "write %b[%x % 4]\nbarrier\nread %b[%x % 4]\nnext %y\n")
    verdicts_agree(f"loop %i in 0..? carry %x = 0 {{\n{inside}}}\n", clean)


@pytest.mark.parametrize(("iteration", "clean"), [("4", True), ("7", True), ("3", False), ("0", False)])
def test_sides_that_a_loop_variable_empties(iteration: str, clean: bool) -> None:
    """From the fourth iteration on, all waves take the first side."""
    touch = f"if %i == {iteration} {{\nwrite %b[%y]\nread %b[0]\n}}\n"
    verdicts_agree(f"loop %i in 0..8 {{\n{chosen('wave < %i', '1', '0', touch)}}}\n", clean)


@pytest.mark.parametrize(("given", "clean"), [("1", True), ("0", False)])
def test_a_condition_on_what_both_sides_give(given: str, clean: bool) -> None:
    ask = "if %y == 1 {\nbarrier\n}\nread %b[0]\n"
    verdicts_agree("write %b[0]\n" + chosen("wave == 0", given, given, ask), clean)


@pytest.mark.parametrize(("other", "clean"), [("%a", True), ("%b", False)])
def test_buffers_that_two_sides_choose(other: str, clean: bool) -> None:
    verdicts_agree(chosen("wave == 0", "%a", other, "write %y[0]\nread %b[0]\n"), clean)


@pytest.mark.parametrize(("given", "clean"), [("5", True), ("2", False), ("6", False)])
def test_sides_with_a_barrier_each(given: str, clean: bool) -> None:
    """Waves that take different sides are simulated; the numbers are the same to them."""
    body = f"""\
write %b[0]
if wave == 0 gives %y {{
  barrier
  give 1
}} else {{
  barrier
  give {given}
}}
read %b[%y % 4]
write %b[2]
"""
    verdicts_agree(body, clean)


@pytest.mark.parametrize(
    ("then", "orelse", "clean"), [("1", "1", True), ("1", "2", False), ("?", "?", False)]
)
def test_copies_to_what_two_sides_choose(then: str, orelse: str, clean: bool) -> None:
    """Waves share the work of two copies to one place, and each engine keeps its own in order; else nobody does."""
    copies = "gather_to_lds %b[%y]\ngather_to_lds %b[%y]\n"
    verdicts_agree(chosen("wave == 0", then, orelse, copies), clean)


def test_unknown_numbers_of_two_sides_are_two_numbers() -> None:
    """No condition may ask for them: waves would decide it differently."""
    body = chosen("wave == 0", "?", "?", "if %y == 1 {\nbarrier\n}\n")
    with pytest.raises(fp.FencepostError, match="not the same for all waves"):
        fp.check(fp.parse(f"kernel @k waves=4 {{\n{body}}}\n"))
