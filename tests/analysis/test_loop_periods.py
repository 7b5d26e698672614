"""Iterations that look alike stand for each other: only where everything in them is alike."""

from __future__ import annotations

import pytest

import fencepost as fp


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
