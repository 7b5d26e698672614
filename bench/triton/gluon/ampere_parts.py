"""What the ring of asynchronous copies on Ampere and all its wrong variants share: setup, copies, product, store."""

# mypy: ignore-errors
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2


@gluon.jit
def setup(a_ptr, b_ptr, n, k, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr,
          SLOTS: gl.constexpr):  # fmt: skip
    """The two rings, and the pointers of the first block of K."""
    wide: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    a_ring = gl.allocate_shared_memory(gl.float16, [SLOTS, BLOCK_M, BLOCK_K], shared)
    b_ring = gl.allocate_shared_memory(gl.float16, [SLOTS, BLOCK_K, BLOCK_N], shared)
    rows = gl.program_id(0) * BLOCK_M + gl.arange(0, BLOCK_M, layout=gl.SliceLayout(1, wide))
    cols = gl.program_id(1) * BLOCK_N + gl.arange(0, BLOCK_N, layout=gl.SliceLayout(0, wide))
    a_ptrs = a_ptr + rows[:, None] * k + gl.arange(0, BLOCK_K, layout=gl.SliceLayout(0, wide))[None, :]
    b_ptrs = b_ptr + gl.arange(0, BLOCK_K, layout=gl.SliceLayout(1, wide))[:, None] * n + cols[None, :]
    return a_ring, b_ring, a_ptrs, b_ptrs


@gluon.jit
def copy(a_slot, b_slot, a_ptrs, b_ptrs, step, steps, n, BLOCK_K: gl.constexpr):
    """Start both copies of one step; past the last step they are masked off, so that the counts stay the same."""
    async_copy.async_load(a_slot, a_ptrs + step * BLOCK_K, mask=step < steps)
    async_copy.async_load(b_slot, b_ptrs + step * BLOCK_K * n, mask=step < steps)


@gluon.jit
def dot(a_slot, b_slot, acc, MMA: gl.constexpr):
    """Read one slot of each ring and multiply."""
    a = a_slot.load(gl.DotOperandLayout(0, MMA, 2))
    b = b_slot.load(gl.DotOperandLayout(1, MMA, 2))
    return mma_v2(a, b, acc)


@gluon.jit
def store(c_ptr, acc, n, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, MMA: gl.constexpr):
    """Write the tile of c."""
    rows = gl.program_id(0) * BLOCK_M + gl.arange(0, BLOCK_M, layout=gl.SliceLayout(1, MMA))
    cols = gl.program_id(1) * BLOCK_N + gl.arange(0, BLOCK_N, layout=gl.SliceLayout(0, MMA))
    gl.store(c_ptr + rows[:, None] * n + cols[None, :], acc)
