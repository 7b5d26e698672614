"""Kernels written in Python: the same kernels as in text, and the same mistakes refused."""

from __future__ import annotations

import pytest

import fencepost as fp
from fencepost.ir.ops import SharedMemoryBarrier

DESIGN_EXAMPLE = """kernel @gemm waves=8 {
  shared %a : 3 x 16384
  shared %b : 3 x 16384
  loop %i in 0..64 {
    gather_to_lds %a[(%i + 2) % 3]
    gather_to_lds %b[(%i + 2) % 3]
    %r0 = read %a[%i % 3]
    %r1 = read %b[%i % 3]
    mma %r0, %r1
  }
}
"""


def test_the_example_of_a_pipelined_gemm() -> None:
    k = fp.Kernel("gemm", waves=8)
    a = k.shared("a", slots=3, bytes=16384)
    b = k.shared("b", slots=3, bytes=16384)
    with k.loop("i", trip=64) as i:
        k.gather_to_lds(a[(i + 2) % 3])
        k.gather_to_lds(b[(i + 2) % 3])
        x = k.read(a[i % 3])
        y = k.read(b[i % 3])
        k.mma(x, y)
    assert str(k.trace) == DESIGN_EXAMPLE
    assert not fp.check(k.trace).ok
    fp.add_shared_memory_barriers(k.trace, target="gfx950")
    assert fp.check(k.trace).ok
    assert str(fp.parse(str(k.trace))) == str(k.trace)


def test_conditionals_and_blocks() -> None:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", bytes=64)
    with k.cond(fp.wave >= 2) as other:
        k.read(a)
    with other.orelse():
        k.write(a)
    k.br("next")
    k.block("next")
    k.ret()
    assert "if wave >= 2 {\n    read %a\n  } else {\n    write %a\n  }\n  br ^next\n^next:\n" in str(k.trace)


def test_a_loop_variable_is_known_inside_its_loop_only() -> None:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", slots=2, bytes=64)
    with k.loop("i", trip=4) as i:
        k.read(a[i % 2])
    with pytest.raises(fp.FencepostError, match="not the variable of a loop around"):
        k.read(a[i % 2])


def test_equality_of_expressions_is_no_condition() -> None:
    k = fp.Kernel("k", waves=4)
    with k.loop("i", trip=4) as i:
        with pytest.raises(fp.FencepostError, match="no condition"), k.cond(i == 0):  # type: ignore[arg-type,comparison-overlap]
            pass
        with k.cond(i.equals(0)):
            k.compute()
    assert "if %i == 0 {" in str(k.trace)


def test_a_loop_cannot_run_less_than_zero_times() -> None:
    k = fp.Kernel("k", waves=4)
    with pytest.raises(fp.FencepostError, match="at least 0 times"), k.loop("i", trip=-3):
        pass


def test_a_copy_has_a_counter_of_its_own() -> None:
    k = fp.Kernel("k", waves=4)
    with pytest.raises(fp.FencepostError, match="counter of its own"):
        k.gather_to_lds(k.shared("a", bytes=64), counter="lds")


def test_an_operation_goes_right_behind_another() -> None:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", bytes=64)
    first, last = k.write(a), k.read(a)
    graph = k.trace.get_root_graph()
    graph.insert_after(first, SharedMemoryBarrier())
    assert [op.mnemonic for op in k.trace.walk_graph("entry")] == ["write", "barrier", "read"]
    assert last.prev is first.next
