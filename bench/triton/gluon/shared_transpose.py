"""A transpose through shared memory, tile after tile through one buffer, with barriers written by hand.

Any target. Membar puts barriers into Gluon kernels as well, so what is missing here is only to be seen before it.
"""

# mypy: ignore-errors
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def transpose(x_ptr, out_ptr, rows, cols, BLOCK: gl.constexpr, LANES: gl.constexpr, WARPS: gl.constexpr):
    """Write, barrier, read transposed, barrier, and again with the next tile of the strip."""
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [LANES // 16, 16], [WARPS, 1], [1, 0])
    tile = gl.allocate_shared_memory(gl.float32, [BLOCK, BLOCK], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
    i = gl.arange(0, BLOCK, layout=gl.SliceLayout(1, layout))
    j = gl.arange(0, BLOCK, layout=gl.SliceLayout(0, layout))
    top = gl.program_id(0) * BLOCK
    for left in range(0, cols, BLOCK):
        tile.store(gl.load(x_ptr + (top + i)[:, None] * cols + (left + j)[None, :]))
        gl.barrier()
        turned = tile.permute([1, 0]).load(layout)
        gl.barrier()
        gl.store(out_ptr + (left + i)[:, None] * rows + (top + j)[None, :], turned)


@gluon.jit
def transpose_read_early(
    x_ptr, out_ptr, rows, cols, BLOCK: gl.constexpr, LANES: gl.constexpr, WARPS: gl.constexpr
):
    """No barrier between the write and the read of the tile."""
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [LANES // 16, 16], [WARPS, 1], [1, 0])
    tile = gl.allocate_shared_memory(gl.float32, [BLOCK, BLOCK], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
    i = gl.arange(0, BLOCK, layout=gl.SliceLayout(1, layout))
    j = gl.arange(0, BLOCK, layout=gl.SliceLayout(0, layout))
    top = gl.program_id(0) * BLOCK
    for left in range(0, cols, BLOCK):
        tile.store(gl.load(x_ptr + (top + i)[:, None] * cols + (left + j)[None, :]))
        turned = tile.permute([1, 0]).load(layout)  # MISTAKE: no barrier before the transposed read
        gl.barrier()
        gl.store(out_ptr + (left + i)[:, None] * rows + (top + j)[None, :], turned)


@gluon.jit
def transpose_write_early(
    x_ptr, out_ptr, rows, cols, BLOCK: gl.constexpr, LANES: gl.constexpr, WARPS: gl.constexpr
):
    """No barrier between the read and the write of the next tile."""
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [LANES // 16, 16], [WARPS, 1], [1, 0])
    tile = gl.allocate_shared_memory(gl.float32, [BLOCK, BLOCK], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
    i = gl.arange(0, BLOCK, layout=gl.SliceLayout(1, layout))
    j = gl.arange(0, BLOCK, layout=gl.SliceLayout(0, layout))
    top = gl.program_id(0) * BLOCK
    for left in range(0, cols, BLOCK):
        x = gl.load(x_ptr + (top + i)[:, None] * cols + (left + j)[None, :])
        tile.store(x)  # MISTAKE: no barrier before the tile is written again
        gl.barrier()
        turned = tile.permute([1, 0]).load(layout)
        gl.store(out_ptr + (left + i)[:, None] * rows + (top + j)[None, :], turned)


@gluon.jit
def transpose_ring(x_ptr, out_ptr, rows, cols, BLOCK: gl.constexpr, LANES: gl.constexpr, WARPS: gl.constexpr):
    """Two slots in turn: one barrier per tile is enough, because the next write goes to the other slot."""
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [LANES // 16, 16], [WARPS, 1], [1, 0])
    tiles = gl.allocate_shared_memory(gl.float32, [2, BLOCK, BLOCK], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
    i = gl.arange(0, BLOCK, layout=gl.SliceLayout(1, layout))
    j = gl.arange(0, BLOCK, layout=gl.SliceLayout(0, layout))
    top = gl.program_id(0) * BLOCK
    for number in range(cols // BLOCK):
        left = number * BLOCK
        tile = tiles.index(number % 2)
        tile.store(gl.load(x_ptr + (top + i)[:, None] * cols + (left + j)[None, :]))
        gl.barrier()
        turned = tile.permute([1, 0]).load(layout)
        gl.store(out_ptr + (left + i)[:, None] * rows + (top + j)[None, :], turned)
