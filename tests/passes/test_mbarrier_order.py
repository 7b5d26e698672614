"""What `insert` says where mbarriers order everything: whether `check` has proven that."""

from __future__ import annotations

import pytest

import fencepost as fp

KERNEL = """
kernel @k waves=2 {{
  shared %a : 64
  shared %full : 8
  mbarrier_init %full count=1
  barrier
  loop %i in 0..{trips} {{
    if wave == 0 {{
      write %a
      mbarrier_arrive %full
    }}
    if wave == 1 {{
      mbarrier_wait %full phase=%i % 2
      read %a
    }}
    barrier
  }}
}}
"""


@pytest.mark.parametrize(("trips", "said"), [("2", "proven by `check`"), ("?", "not a proof: ")])
def test_a_kernel_with_nothing_wrong_says_how_far_that_is_proven(trips: str, said: str) -> None:
    done = fp.insert_barriers(fp.parse(KERNEL.format(trips=trips)), "sm_90")
    assert done.barriers == ()
    assert f"mbarriers order what barriers do not ({said}" in done.proof
