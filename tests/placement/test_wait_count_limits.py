"""How many operations a wait that is put in, or made weaker, can leave outstanding: all that a counter counts."""

from __future__ import annotations

from typing import Any

import pytest

import fencepost as fp
from tests.campaign import no_wait_can_be_weaker

NESTED = """\
kernel @k waves=4 {
  shared %a : 64
  shared %b : 64
  tensor_load_to_lds %a
  loop %i in 0..8 {
    barrier async
    loop %j in 0..3 {
      tensor_load_to_lds %b
    }
  }
  barrier
  read %a
}
"""
"""In the last iteration, 21 copies have come after the first one."""


@pytest.mark.parametrize(("count", "clean"), [(8, True), (21, True), (22, False)])
def test_how_weak_the_wait_could_be(count: int, clean: bool) -> None:
    assert fp.check(fp.parse(NESTED.replace("async", f"tensor={count}"))).ok is clean


def test_prune_makes_it_that_weak() -> None:
    kernel = fp.parse(NESTED)
    fp.prune_barriers(kernel)
    assert "barrier tensor=21" in str(kernel)
    assert fp.check(kernel).ok
    assert no_wait_can_be_weaker(NESTED) is None


def put_in(text: str, **options: Any) -> str:
    kernel = fp.parse(text)
    fp.insert_barriers(kernel, **options)
    assert fp.check(kernel).ok
    return str(kernel)


@pytest.mark.parametrize("strategy", ["eager", "minimize", "optimal", "auto"])
def test_insert_puts_in_one_that_is_as_weak_as_it_can_be(strategy: str) -> None:
    """Without the barrier in the loop all 24 copies come after the first one."""
    assert "barrier tensor=24\n" in put_in(NESTED.replace("    barrier async\n", ""), strategy=strategy)


def test_a_wait_of_one_wave() -> None:
    kernel = """\
kernel @k waves=4 {
  shared %a : 64
  shared %b : 64
  if wave == 1 {
    gather_to_lds %a
    loop %i in 0..8 {
      loop %j in 0..3 {
        gather_to_lds %b
      }
    }
    read %a
  }
}
"""
    assert "wait_count load=24 " in put_in(kernel)


LOOPS = """\
kernel @k waves=4 {
  shared %a : 64
  shared %b : 64
  tensor_load_to_lds %a
  loop %i in 0..OUTER {
    loop %j in 0..INNER {
      tensor_load_to_lds %b
    }
  }
  read %a
}
"""


@pytest.mark.parametrize(
    ("outer", "inner", "count"), [(1, 3, 3), (1, 9, 9), (2, 8, 16), (4, 8, 32), (7, 9, 63), (8, 8, 63)]
)
@pytest.mark.parametrize("target", ["", "gfx1250"])
def test_a_nest_of_many_copies(outer: int, inner: int, count: int, target: str) -> None:
    """No counter that is known counts further than 63."""
    text = LOOPS.replace("OUTER", str(outer)).replace("INNER", str(inner))
    assert f"barrier tensor={count} " in put_in(text, target=target)


def test_groups() -> None:
    """Of groups, the one that is still open is not counted."""
    kernel = """\
kernel @k waves=4 {
  shared %a : 64
  shared %b : 64
  gather_to_lds %a
  commit load
  loop %i in 0..15 {
    gather_to_lds %b
    commit load
  }
  read %a
}
"""
    assert "barrier load=15 " in put_in(kernel)
