"""What the rings of copies on AMD and all their wrong variants share."""

# mypy: ignore-errors
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd.cdna4 import async_copy, mfma
from triton.experimental.gluon.language.amd.cdna5 import tdm, wmma


@gluon.jit
def setup(n, k, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
          WARPS: gl.constexpr = 4):  # fmt: skip
    """gfx950: the two rings, unswizzled since a wave writes one stretch, and the offsets of the first step."""
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    a_wide: gl.constexpr = gl.BlockedLayout([1, 8], [512 // BLOCK_K, BLOCK_K // 8], [WARPS, 1], [1, 0])
    b_wide: gl.constexpr = gl.BlockedLayout([1, 8], [512 // BLOCK_N, BLOCK_N // 8], [WARPS, 1], [1, 0])
    a_ring = gl.allocate_shared_memory(gl.float16, [SLOTS, BLOCK_M, BLOCK_K], shared)
    b_ring = gl.allocate_shared_memory(gl.float16, [SLOTS, BLOCK_K, BLOCK_N], shared)
    rows = gl.program_id(0) * BLOCK_M + gl.arange(0, BLOCK_M, layout=gl.SliceLayout(1, a_wide))
    cols = gl.program_id(1) * BLOCK_N + gl.arange(0, BLOCK_N, layout=gl.SliceLayout(0, b_wide))
    a_at = rows[:, None] * k + gl.arange(0, BLOCK_K, layout=gl.SliceLayout(0, a_wide))[None, :]
    b_at = gl.arange(0, BLOCK_K, layout=gl.SliceLayout(1, b_wide))[:, None] * n + cols[None, :]
    return a_ring, b_ring, a_at, b_at


@gluon.jit
def copy(a_slot, b_slot, a_ptr, b_ptr, a_at, b_at, step, steps, n, BLOCK_K: gl.constexpr):
    """gfx950: start both copies of one step as one group; past the last step they read the last block again."""
    last = gl.minimum(step, steps - 1)
    async_copy.buffer_load_to_shared(a_slot, a_ptr, a_at + last * BLOCK_K)
    async_copy.buffer_load_to_shared(b_slot, b_ptr, b_at + last * BLOCK_K * n)
    async_copy.commit_group()


@gluon.jit
def dot(a_slot, b_slot, acc, MMA: gl.constexpr):
    """gfx950: read one slot of each ring and multiply."""
    a = a_slot.load(gl.DotOperandLayout(0, MMA, 8))
    b = b_slot.load(gl.DotOperandLayout(1, MMA, 8))
    return mfma(a, b, acc)


@gluon.jit
def dot_wmma(a_slot, b_slot, acc, MMA: gl.constexpr):
    """gfx1250: the same."""
    a = a_slot.load(gl.DotOperandLayout(0, MMA, 8))
    b = b_slot.load(gl.DotOperandLayout(1, MMA, 8))
    return wmma(a, b, acc)


@gluon.jit
def tdm_setup(a_ptr, b_ptr, m, n, k, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr,
              SLOTS: gl.constexpr):  # fmt: skip
    """gfx1250: descriptors of a and b, and their rings, padded so that rows start in different banks."""
    a_shared: gl.constexpr = gl.PaddedSharedLayout.with_identity_for(
        [[BLOCK_K, 8]], [BLOCK_M, BLOCK_K], [1, 0]
    )
    b_shared: gl.constexpr = gl.PaddedSharedLayout.with_identity_for(
        [[BLOCK_N, 8]], [BLOCK_K, BLOCK_N], [1, 0]
    )
    a_desc = tdm.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [BLOCK_M, BLOCK_K], a_shared)
    b_desc = tdm.make_tensor_descriptor(b_ptr, [k, n], [n, 1], [BLOCK_K, BLOCK_N], b_shared)
    a_ring = gl.allocate_shared_memory(gl.float16, [SLOTS, BLOCK_M, BLOCK_K], a_shared)
    b_ring = gl.allocate_shared_memory(gl.float16, [SLOTS, BLOCK_K, BLOCK_N], b_shared)
    return a_desc, b_desc, a_ring, b_ring


@gluon.jit
def tdm_copy(a_desc, b_desc, a_slot, b_slot, step, steps, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr,
             BLOCK_K: gl.constexpr):  # fmt: skip
    """gfx1250: start both copies of one step; past the last step they count but copy nothing."""
    more = (step < steps).to(gl.int32)
    tdm.async_load(a_desc, [gl.program_id(0) * BLOCK_M, step * BLOCK_K], a_slot, pred=more)
    tdm.async_load(b_desc, [step * BLOCK_K, gl.program_id(1) * BLOCK_N], b_slot, pred=more)


@gluon.jit
def store(c_ptr, acc, n, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, MMA: gl.constexpr):
    """Write the tile of c."""
    rows = gl.program_id(0) * BLOCK_M + gl.arange(0, BLOCK_M, layout=gl.SliceLayout(1, MMA))
    cols = gl.program_id(1) * BLOCK_N + gl.arange(0, BLOCK_N, layout=gl.SliceLayout(0, MMA))
    gl.store(c_ptr + rows[:, None] * n + cols[None, :], acc)
