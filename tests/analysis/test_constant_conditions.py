"""Conditions of nothing but numbers: the side that never runs needs nothing."""

from __future__ import annotations

import pytest

import fencepost as fp


@pytest.mark.parametrize(
    "condition, barriers", [("1 < 12", 0), ("12 < 1", 1), ("%c", 1), ("3 % 2 == 1", 0), ("0 - 7 // 2 < 0", 0)]
)
def test_only_what_can_run_is_ordered(condition: str, barriers: int) -> None:
    kernel = fp.parse(
        f"""\
kernel @k waves=4 {{
  shared %b : 64
  write %b
  if {condition} {{
    %x = compute
  }} else {{
    read %b
  }}
}}
"""
    )
    result = fp.insert_barriers(kernel)
    assert len(result.barriers) == barriers
    assert fp.check(kernel).ok


def test_a_loop_behind_a_side_that_never_runs() -> None:
    kernel = fp.parse(
        """\
kernel @k waves=4 {
  shared %b : 64
  if 1 == 2 {
    loop %i in 0..? {
      write %b
      read %b
    }
  }
  write %b
}
"""
    )
    assert fp.check(kernel).ok
    assert not fp.insert_barriers(kernel).barriers


@pytest.mark.parametrize("strategy", ["auto", "eager", "intersect", "minimize", "optimal", "walk"])
def test_a_workgroup_barrier_that_never_runs_gets_no_fence(strategy: str) -> None:
    kernel = fp.parse(
        """\
kernel @k waves=4 {
  shared %b : 64
  loop %i in 0..0 {
    workgroup_barrier
  }
  write %b
}
"""
    )
    before = str(kernel)
    assert not fp.insert_barriers(kernel, strategy=strategy).fenced
    assert str(kernel) == before
