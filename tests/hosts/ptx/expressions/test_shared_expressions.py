"""Expressions share their parts: what is found about one takes as many steps as it has parts, not as it has paths."""

from __future__ import annotations

from fencepost.hosts.ptx import check
from fencepost.hosts.ptx.expressions.expression_builder import Values
from fencepost.hosts.ptx.expressions.expression_nodes import Leaf

LEVELS = 60
"""With a choice of two at each, that makes 2 ** 60 paths."""


def test_low_zeros_of_choices_of_choices() -> None:
    values = Values()
    number = values.binary("mul", values.leaf(Leaf("opaque", "x"), 32), values.constant(8, 32))
    for level in range(LEVELS):
        condition = values.leaf(Leaf("opaque", f"c{level}"), 1)
        sides = [values.binary("add", number, values.constant(step, 32)) for step in (8, 24)]
        number = values.choose(condition, *sides)
    assert values.low_zeros(number) == 3


def kernel(levels: int) -> str:
    """A generic pointer that goes round a loop, and on each way through it is moved by one of two distances."""
    steps = "\n".join(
        f"""  setp.gt.s32 %q{level}, %r{level + 10}, 0;
  add.s64 %a{level}, %p{level}, 4;
  add.s64 %b{level}, %p{level}, 8;
  selp.b64 %p{level + 1}, %a{level}, %b{level}, %q{level};
  ld.global.u32 %r{level + 11}, [%g+{4 * level}];"""
        for level in range(levels)
    )
    return f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {{
  .reg .pred %q<{levels + 2}>;
  .reg .b32 %r<{levels + 20}>;
  .reg .b64 %p<{levels + 2}>, %a<{levels + 1}>, %b<{levels + 1}>;
  .reg .b64 %g;
  .shared .align 4 .b8 s[4096];
  ld.param.u64 %g, [out];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, s;
  add.s32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
  bar.sync 0;
  mov.u64 %p0, %g;
  mov.u32 %r5, 0;
  ld.global.u32 %r10, [%g];
LOOP:
{steps}
  st.u32 [%p{levels}], %r1;
  mov.u64 %p0, %p{levels};
  add.s32 %r5, %r5, 1;
  setp.lt.s32 %q{levels}, %r5, %r0;
  @%q{levels} bra LOOP;
  ret;
}}
"""


def test_a_pointer_that_is_moved_in_many_ways_in_a_loop() -> None:
    """It stays a pointer to global memory, and the kernel is proven."""
    (verdict,) = check(kernel(LEVELS), block=(64, 1, 1), file="k.ptx")
    assert verdict.verdict == "proven"
