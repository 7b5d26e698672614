"""Small kernels that commands are called with: a clean one, a racy one, and one that takes a while to follow."""

from __future__ import annotations

CLEAN = "kernel @clean waves=4 {\n  shared %a : 64\n  write %a\n  barrier\n  read %a\n}\n"
RACY = "kernel @racy waves=4 {\n  shared %a : 64\n  write %a\n  read %a\n}\n"
LONG = """kernel @long waves=4 {
  shared %a : 8 x 64
  loop %i in 0..100 {
    write %a[%i % 8]
    barrier
    read %a[%i % 8]
    barrier
  }
}
"""
