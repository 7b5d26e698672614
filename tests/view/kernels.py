"""The kernels that the tests of pages look at."""

from __future__ import annotations

from functools import lru_cache

from fencepost.ir.parser import parse
from fencepost.view.kernel_page import page_of
from fencepost.view.page_data import KernelPage, Page

TILE = """\
kernel @tile waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    %g = global_read
    barrier
    write %a, %g
    barrier
    %x = read %a
    mma %x
  }
}
"""
RACY = TILE.replace("    barrier\n", "")
RING = """\
kernel @ring waves=5 {
  shared %a : 2 x 1024
  shared %full : 2 x 8
  shared %empty : 2 x 8
  param %n
  mbarrier_init %full[0] count=1
  mbarrier_init %full[1] count=1
  mbarrier_init %empty[0] count=4
  mbarrier_init %empty[1] count=4
  barrier
  if wave < 4 {
    loop %i in 0..%n {
      mbarrier_wait %full[%i % 2] phase=%i // 2 % 2
      read %a[%i % 2]
      mbarrier_arrive %empty[%i % 2]
    }
  } else {
    loop %j in 0..%n {
      mbarrier_wait %empty[%j % 2] phase=(%j // 2 + 1) % 2
      mbarrier_expect %full[%j % 2] bytes=1024
      tensor_load_to_lds %a[%j % 2] arrives %full[%j % 2] bytes=1024
    }
  }
}
"""
WRONG_PHASE = RING.replace("  param %n\n", "").replace("%n", "8").replace("phase=%i // 2 % 2", "phase=%i % 2")
"""The parity of the iteration, where that of the lap round the ring is meant."""
THREE = """\
kernel @three waves=4 {
  shared %a : 1024
  shared %b : 1024
  shared %c : 1024
  loop %i in 0..8 {
    %g = global_read
    write %a, %g
    %x = read %a
    write %b, %x
    %y = read %b
    gather_to_lds %c
    %z = read %c
    mma %z
  }
}
"""
"""Three races, each of which a barrier or wait of its own mends."""
WEAK = """\
kernel @weak waves=4 {
  shared %a : 2 x 1024
  gather_to_lds %a[0]
  gather_to_lds %a[1]
  wait_count load=2
  barrier
  read %a[0]
}
"""
COPY = """\
kernel @copy waves=4 {
  shared %a : 1024
  gather_to_lds %a
  wait_count load=0
  barrier
  read %a
}
"""
SPLIT = """\
kernel @split waves=4 {
  shared %a : 1024
  write %a
  signal
  %x = compute
  wait
  read %a
}
"""
HANGS = """\
kernel @hangs waves=4 {
  shared %a : 64
  write %a
  if wave < 2 {
    barrier
  }
  read %a
}
"""
SKEWED = """\
kernel @skewed waves=4 {
  shared %a : 64
  write %a
  barrier
  if wave >= 2 {
    workgroup_barrier
  }
  read %a
  barrier
  if wave < 2 {
    workgroup_barrier
  }
}
"""


def large(operations: int) -> str:
    """A kernel of so many operations, a quarter of them barriers."""
    lines = ["kernel @large waves=8 {", "  shared %a : 3 x 8192"]
    for number in range(operations // 4):
        slot = number % 3
        lines += [f"  write %a[{slot}]", "  barrier", f"  %x{number} = read %a[{slot}]", f"  mma %x{number}"]
    return "\n".join([*lines, "}", ""])


@lru_cache
def page(text: str) -> Page:
    """The page of one kernel, as it stands."""
    return page_of([parse(text, "kernel.fp")], mended=False)


def shown(text: str) -> KernelPage:
    """What the page shows of that kernel."""
    (kernel,) = page(text).kernels
    return kernel
