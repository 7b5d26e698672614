"""Matrix products on Hopper whose programs take one tile of the output after the other.

How many copies were started and how many products were issued is counted through the loop over tiles and the one
over the inner dimension, and never reset: slot and phase follow from the two counters, which are always apart by as
many copies as are under way.
"""

# mypy: ignore-errors
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)


@gluon.jit
def _ring(desc, SLOTS: gl.constexpr):
    shape: gl.constexpr = desc.block_type.shape
    return gl.allocate_shared_memory(desc.dtype, [SLOTS, shape[0], shape[1]], desc.layout)


@gluon.jit
def _setup(a_desc, b_desc, SLOTS: gl.constexpr):
    full = mbarrier.allocate_mbarrier(batch=SLOTS)
    for slot in gl.static_range(SLOTS):
        mbarrier.init(full.index(slot), count=1)
    gl.barrier()
    return _ring(a_desc, SLOTS), _ring(b_desc, SLOTS), full


@gluon.jit
def _load(started, a_desc, b_desc, row, col, inner, a_ring, b_ring, full, SLOTS: gl.constexpr, pred=True):
    slot = started % SLOTS
    bar = full.index(slot)
    mbarrier.expect(bar, a_desc.block_type.nbytes + b_desc.block_type.nbytes, pred=pred)
    tma.async_load(a_desc, [row, inner], bar, a_ring.index(slot), pred=pred)
    tma.async_load(b_desc, [inner, col], bar, b_ring.index(slot), pred=pred)
    return started + 1


@gluon.jit
def _multiply(issued, acc, a_ring, b_ring, full, SLOTS: gl.constexpr):
    slot = issued % SLOTS
    mbarrier.wait(full.index(slot), (issued // SLOTS) & 1)
    acc = warpgroup_mma(a_ring.index(slot), b_ring.index(slot), acc, is_async=True)
    acc = warpgroup_mma_wait(1, deps=[acc])
    # All warps are done with the product before: the slot that comes next may be filled.
    gl.barrier()
    return issued + 1, acc


@gluon.jit
def _store(c_desc, out, row, col, acc):
    tma.store_wait(0)
    gl.barrier()
    out.store(acc.to(c_desc.dtype))
    fence_async_shared()
    gl.barrier()
    tma.async_store(c_desc, [row, col], out)


@gluon.jit
def persistent(a_desc, b_desc, c_desc, m, n, k, SLOTS: gl.constexpr):
    """Correct: each tile fills its ring anew."""
    BLOCK_M: gl.constexpr = c_desc.block_type.shape[0]
    BLOCK_N: gl.constexpr = c_desc.block_type.shape[1]
    BLOCK_K: gl.constexpr = a_desc.block_type.shape[1]
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    a_ring, b_ring, full = _setup(a_desc, b_desc, SLOTS)
    out = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    rows = gl.cdiv(m, BLOCK_M)
    started = 0
    issued = 0
    for tile in range(gl.program_id(0), rows * gl.cdiv(n, BLOCK_N), gl.num_programs(0)):
        row, col = (tile % rows) * BLOCK_M, (tile // rows) * BLOCK_N
        for step in gl.static_range(SLOTS - 2):
            started = _load(started, a_desc, b_desc, row, col, step * BLOCK_K, a_ring, b_ring, full, SLOTS)
        acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
        for inner in range((SLOTS - 2) * BLOCK_K, k, BLOCK_K):
            started = _load(started, a_desc, b_desc, row, col, inner, a_ring, b_ring, full, SLOTS)
            issued, acc = _multiply(issued, acc, a_ring, b_ring, full, SLOTS)
        for _ in gl.static_range(SLOTS - 2):
            issued, acc = _multiply(issued, acc, a_ring, b_ring, full, SLOTS)
        _store(c_desc, out, row, col, warpgroup_mma_wait(0, deps=[acc]))
    tma.store_wait(0)


@gluon.jit
def persistent_overlapped(a_desc, b_desc, c_desc, m, n, k, SLOTS: gl.constexpr):
    """Correct: while the last products of a tile run, the first copies of the next one are under way."""
    BLOCK_M: gl.constexpr = c_desc.block_type.shape[0]
    BLOCK_N: gl.constexpr = c_desc.block_type.shape[1]
    BLOCK_K: gl.constexpr = a_desc.block_type.shape[1]
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    a_ring, b_ring, full = _setup(a_desc, b_desc, SLOTS)
    out = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    rows = gl.cdiv(m, BLOCK_M)
    tiles = rows * gl.cdiv(n, BLOCK_N)
    first = gl.program_id(0)
    row, col = (first % rows) * BLOCK_M, (first // rows) * BLOCK_N
    started = 0
    issued = 0
    for step in gl.static_range(SLOTS - 2):
        started = _load(
            started, a_desc, b_desc, row, col, step * BLOCK_K, a_ring, b_ring, full, SLOTS, first < tiles
        )
    for tile in range(first, tiles, gl.num_programs(0)):
        acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
        for inner in range((SLOTS - 2) * BLOCK_K, k, BLOCK_K):
            started = _load(started, a_desc, b_desc, row, col, inner, a_ring, b_ring, full, SLOTS)
            issued, acc = _multiply(issued, acc, a_ring, b_ring, full, SLOTS)
        done_row, done_col = row, col
        following = tile + gl.num_programs(0)
        row, col = (following % rows) * BLOCK_M, (following // rows) * BLOCK_N
        for step in gl.static_range(SLOTS - 2):
            started = _load(
                started,
                a_desc,
                b_desc,
                row,
                col,
                step * BLOCK_K,
                a_ring,
                b_ring,
                full,
                SLOTS,
                following < tiles,
            )
            issued, acc = _multiply(issued, acc, a_ring, b_ring, full, SLOTS)
        _store(c_desc, out, done_row, done_col, warpgroup_mma_wait(0, deps=[acc]))
    tma.store_wait(0)
