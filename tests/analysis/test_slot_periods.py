"""Iterations that look alike stand for each other: only where everything in them is alike."""

from __future__ import annotations

import pytest

import fencepost as fp
from tests.campaign import refusals_are_real


@pytest.mark.parametrize(
    "condition",
    [
        # It changes at 20. On a line without the step at 5 that would be at 10.
        "select(%i < 5, %i, %i - 10) < 10",
        "10 > select(%i >= 5, %i - 10, %i)",
        "select(%i < 5, 0, 10) + 10 > %i",
        "select(select(%i < 5, %i, %i - 10) < 10, 0, 1) == 0",
    ],
)
@pytest.mark.parametrize("upto", ["100", "?"])
def test_a_comparison_of_something_that_changes_its_course(condition: str, upto: str) -> None:
    kernel = fp.parse(f"""\
kernel @k waves=4 {{
  shared %a : 1024
  loop %i in 0..{upto} {{
    if {condition} {{
      compute
    }} else {{
      read %a
      write %a
    }}
  }}
}}
""")
    assert not fp.check(kernel).ok
    fp.insert_barriers(kernel)
    assert not fp.check(kernel).races


FUNCTION_OF_ONE_WAVE = """\
func @f0 {
  shared %s : 2 x 64 at 32
  if wave == 0 {
    loop %i2 in 0..3 carry %x3 = 0, %x4 = 0 {
      write %s[%x4 % 2] group=g1
      next (%x3 + 2) % 3, (%x4 + 1) % 3
    }
  }
}
kernel @k waves=2 {
  shared %a : 2 x 64 at 0
  shared %b : 2 x 64
  loop %i4 in 0..? carry %x5 = 1, %p6 = %a, %p7 = %b {
    if wave == %i4 {
      loop %i9 in 0..1 carry %x10 = 1 {
        call @f0 at 64
        atomic %a[%x5 % 2][0..64] group=g1
        next select(%x10 + 1 < 2, %x10 + 1, 0)
      }
    }
    next select(%x5 + 1 < 3, %x5 + 1, 0), %p7, %p6
  }
}
"""


def test_a_function_that_one_wave_calls() -> None:
    """Wave 0 is in the conditional in iteration 0, wave 1 in iteration 1, and by then with another slot."""
    assert refusals_are_real(FUNCTION_OF_ONE_WAVE) is None


@pytest.mark.parametrize("upto", ["100", "?"])
@pytest.mark.parametrize(
    ("condition", "slot", "clean"),
    [
        ("wave == %i", "0", False),
        # Each wave in an iteration of its own, with a slot of its own.
        ("wave == %i", "%i % 4", True),
        ("%i - wave == 0", "(3 * %i) % 4", True),
        ("wave == %i", "%i % 3", False),
        ("wave == %i - 90", "%i % 4", True),
        ("wave == 1 - %i", "0", False),
        # Waves 2 and 3 together, in iteration 1; one wave at a time, with two slots for two waves.
        ("wave // 2 == %i", "%i", False),
        ("wave + 2 == %i", "(%i // 2) % 4", False),
        ("wave >= %i", "%i % 4", False),
        ("3 * wave == %i", "%i % 4", True),
        ("3 * wave == %i", "%i % 3", False),
    ],
)
def test_conditions_on_the_wave_and_the_iteration(upto: str, condition: str, slot: str, clean: bool) -> None:
    """Each changes its answer at some iteration, another one for each wave."""
    text = f"""\
kernel @k waves=4 {{
  shared %a : 4 x 64
  loop %i in 0..{upto} {{
    if {condition} {{
      write %a[{slot}]
      atomic %a[{slot}]
    }}
  }}
}}
"""
    kernel = fp.parse(text)
    assert fp.check(kernel).ok is clean
    assert (refused(text) or bool(fp.insert_barriers(kernel).barriers)) is not clean


def refused(text: str) -> bool:
    """Whether a barrier would have to stand inside a divergent conditional."""
    try:
        fp.insert_barriers(fp.parse(text))
    except fp.FencepostError as error:
        assert error.code == "FP203"
        return True
    return False
