"""Functions and their callers may use the same names: each means its own."""

from __future__ import annotations

import pytest

import fencepost as fp


def called_by_one_wave(variable: str) -> str:
    """In each iteration another wave writes both slots; the function's own loop counts 0, 1."""
    return f"""\
func @f {{
  shared %s : 2 x 64
  loop %i in 0..2 {{
    write %s[%i]
  }}
}}
kernel @k waves=4 {{
  loop %{variable} in 2..4 {{
    if wave == %{variable} {{
      call @f
    }}
  }}
}}
"""


@pytest.mark.parametrize("variable", ["i", "j"])
def test_the_condition_around_a_call_is_the_caller_s(variable: str) -> None:
    kernel = fp.parse(called_by_one_wave(variable))
    assert not fp.check(kernel).ok
    result = fp.insert_barriers(kernel)
    assert [barrier.executed for barrier in result.barriers] == [2]
    assert fp.check(kernel).ok


def test_one_wave_alone_needs_no_barrier() -> None:
    kernel = fp.parse(called_by_one_wave("i").replace("wave == %i", "wave == %i * 0 + 3"))
    assert fp.check(kernel).ok
    assert not fp.insert_barriers(kernel).barriers
