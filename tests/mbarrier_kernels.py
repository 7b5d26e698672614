"""Kernels with mbarriers in which nothing is wrong."""

from __future__ import annotations

RING = """\
kernel @ring waves=2 {
  shared %a : 2 x 1024
  shared %full : 2 x 8
  param %n
  mbarrier_init %full[0] count=1
  mbarrier_init %full[1] count=1
  barrier
  loop %i in 0..%n {
    if wave == 0 {
      mbarrier_expect %full[%i % 2] bytes=1024
      tensor_load_to_lds %a[%i % 2] counter=tma arrives %full[%i % 2] bytes=1024
    }
    mbarrier_wait %full[%i % 2] phase=%i // 2 % 2
    read %a[%i % 2]
    barrier
  }
}
"""

# cp.async: each wave copies its part, and the engine of each arrives.
PER_THREAD = """\
kernel @per_thread waves=2 {
  shared %a : 2 x 1024
  shared %full : 2 x 8
  mbarrier_init %full[0] count=2
  mbarrier_init %full[1] count=2
  barrier
  loop %i in 0..4 {
    gather_to_lds %a[%i % 2] counter=copy
    mbarrier_arrive %full[%i % 2] counter=copy
    mbarrier_wait %full[%i % 2] phase=%i // 2 % 2
    read %a[%i % 2]
    barrier
  }
}
"""

# Two copies, one mbarrier: the phase is complete when both have come.
SHARED_OBJECT = """\
kernel @shared_object waves=2 {
  shared %a : 1024
  shared %b : 512
  shared %full : 8
  mbarrier_init %full count=1
  barrier
  if wave == 0 {
    mbarrier_expect %full bytes=1536
    tensor_load_to_lds %a counter=tma arrives %full bytes=1024
    tensor_load_to_lds %b counter=tma arrives %full bytes=512
  }
  mbarrier_wait %full phase=0
  read %a
  read %b
}
"""

# Some waves meet among themselves; the third one only waits for the mbarrier.
SOME_MEET = """\
kernel @some_meet waves=3 {
  shared %a : 2 x 512
  shared %done : 8
  mbarrier_init %done count=1
  barrier
  if wave < 2 {
    write %a[wave]
    barrier waves 0..2
    read %a[1 - wave]
    barrier waves 0..2
    if wave == 0 {
      mbarrier_arrive %done
    }
  } else {
    mbarrier_wait %done phase=0
    write %a[0]
  }
}
"""
