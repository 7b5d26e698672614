"""Numbers that both sides of a divergent conditional give, each to its own waves: `check` takes them as unknown.

`insert` asks whether all waves get the same; where they do, it needs no barrier that `check` would ask for.
"""

from __future__ import annotations

import pytest

from fencepost.check import check
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


@pytest.mark.xfail(strict=True, reason="what sides of a divergent conditional give is unknown to `check`")
@pytest.mark.parametrize("text", [ALIKE_BY_REMAINDER, ONE_SIDE_ALONE], ids=["remainder", "one side"])
def test_what_is_alike_for_all_waves_is_known(text: str) -> None:
    kernel = inserted(text, "auto")
    assert kernel is not None
    assert check(kernel).ok
