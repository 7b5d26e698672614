"""A matrix product on Hopper: the copy engine fills a ring of slots, an mbarrier per slot counts its bytes.

One product may be under way while the next is issued. Once at most one is left, the product before is done
reading, and its slot is filled again.
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
    a_ring = _ring(a_desc, SLOTS)
    b_ring = _ring(b_desc, SLOTS)
    full = mbarrier.allocate_mbarrier(batch=SLOTS)
    for slot in gl.static_range(SLOTS):
        mbarrier.init(full.index(slot), count=1)
    # One thread has initialized them, all will wait on them.
    gl.barrier()
    return a_ring, b_ring, full


@gluon.jit
def _fill(a_desc, b_desc, a_slot, b_slot, bar, step, steps, BYTES: gl.constexpr):
    mbarrier.expect(bar, BYTES, pred=step < steps)
    row = gl.program_id(0) * a_desc.block_type.shape[0]
    col = gl.program_id(1) * b_desc.block_type.shape[1]
    inner = step * a_desc.block_type.shape[1]
    tma.async_load(a_desc, [row, inner], bar, a_slot, pred=step < steps)
    tma.async_load(b_desc, [inner, col], bar, b_slot, pred=step < steps)


@gluon.jit
def _store(c_desc, acc):
    # The rings are no longer used, so `out` may lie on their bytes: every warp has to be done reading them.
    gl.barrier()
    out = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    out.store(acc.to(c_desc.dtype))
    fence_async_shared()
    gl.barrier()
    row = gl.program_id(0) * c_desc.block_type.shape[0]
    col = gl.program_id(1) * c_desc.block_type.shape[1]
    tma.async_store(c_desc, [row, col], out)
    tma.store_wait(0)


@gluon.jit
def tma_ring(a_desc, b_desc, c_desc, k, SLOTS: gl.constexpr):
    """Correct: wait for the slot, multiply, wait for the product before, refill its slot."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, c_desc.block_type.shape[1], 16])
    bytes: gl.constexpr = a_desc.block_type.nbytes + b_desc.block_type.nbytes
    a_ring, b_ring, full = _setup(a_desc, b_desc, SLOTS)
    steps = k // a_desc.block_type.shape[1]
    for step in gl.static_range(SLOTS - 1):
        _fill(a_desc, b_desc, a_ring.index(step), b_ring.index(step), full.index(step), step, steps, bytes)
    acc = gl.zeros(c_desc.block_type.shape, gl.float32, mma)
    for step in range(steps):
        slot = step % SLOTS
        mbarrier.wait(full.index(slot), (step // SLOTS) & 1)
        acc = warpgroup_mma(a_ring.index(slot), b_ring.index(slot), acc, is_async=True)
        acc = warpgroup_mma_wait(1, deps=[acc])
        gl.barrier()
        ahead = step + SLOTS - 1
        free = ahead % SLOTS
        _fill(a_desc, b_desc, a_ring.index(free), b_ring.index(free), full.index(free), ahead, steps, bytes)
    _store(c_desc, warpgroup_mma_wait(0, deps=[acc]))


@gluon.jit
def tma_ring_phase(a_desc, b_desc, c_desc, k, SLOTS: gl.constexpr):
    """Always waits for phase 0: in every other round over the ring that is long past, and the wait falls through."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, c_desc.block_type.shape[1], 16])
    bytes: gl.constexpr = a_desc.block_type.nbytes + b_desc.block_type.nbytes
    a_ring, b_ring, full = _setup(a_desc, b_desc, SLOTS)
    steps = k // a_desc.block_type.shape[1]
    for step in gl.static_range(SLOTS - 1):
        _fill(a_desc, b_desc, a_ring.index(step), b_ring.index(step), full.index(step), step, steps, bytes)
    acc = gl.zeros(c_desc.block_type.shape, gl.float32, mma)
    for step in range(steps):
        slot = step % SLOTS
        mbarrier.wait(full.index(slot), 0)  # MISTAKE: the phase never turns
        acc = warpgroup_mma(a_ring.index(slot), b_ring.index(slot), acc, is_async=True)
        acc = warpgroup_mma_wait(1, deps=[acc])
        gl.barrier()
        ahead = step + SLOTS - 1
        free = ahead % SLOTS
        _fill(a_desc, b_desc, a_ring.index(free), b_ring.index(free), full.index(free), ahead, steps, bytes)
    _store(c_desc, warpgroup_mma_wait(0, deps=[acc]))


@gluon.jit
def tma_ring_slot_in_use(a_desc, b_desc, c_desc, k, SLOTS: gl.constexpr):
    """Two products may be under way, and the older one still reads the slot that is refilled."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, c_desc.block_type.shape[1], 16])
    bytes: gl.constexpr = a_desc.block_type.nbytes + b_desc.block_type.nbytes
    a_ring, b_ring, full = _setup(a_desc, b_desc, SLOTS)
    steps = k // a_desc.block_type.shape[1]
    for step in gl.static_range(SLOTS - 1):
        _fill(a_desc, b_desc, a_ring.index(step), b_ring.index(step), full.index(step), step, steps, bytes)
    acc = gl.zeros(c_desc.block_type.shape, gl.float32, mma)
    for step in range(steps):
        slot = step % SLOTS
        mbarrier.wait(full.index(slot), (step // SLOTS) & 1)
        acc = warpgroup_mma(a_ring.index(slot), b_ring.index(slot), acc, is_async=True)
        acc = warpgroup_mma_wait(2, deps=[acc])  # MISTAKE: the product before may still read its slot
        gl.barrier()
        ahead = step + SLOTS - 1
        free = ahead % SLOTS
        _fill(a_desc, b_desc, a_ring.index(free), b_ring.index(free), full.index(free), ahead, steps, bytes)
    _store(c_desc, warpgroup_mma_wait(0, deps=[acc]))


@gluon.jit
def tma_ring_half(a_desc, b_desc, c_desc, k, SLOTS: gl.constexpr):
    """The barrier of a slot is told of one copy only and opens while the other is still under way."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, c_desc.block_type.shape[1], 16])
    bytes: gl.constexpr = a_desc.block_type.nbytes  # MISTAKE: only the bytes of a are expected
    a_ring, b_ring, full = _setup(a_desc, b_desc, SLOTS)
    steps = k // a_desc.block_type.shape[1]
    for step in gl.static_range(SLOTS - 1):
        _fill(a_desc, b_desc, a_ring.index(step), b_ring.index(step), full.index(step), step, steps, bytes)
    acc = gl.zeros(c_desc.block_type.shape, gl.float32, mma)
    for step in range(steps):
        slot = step % SLOTS
        mbarrier.wait(full.index(slot), (step // SLOTS) & 1)
        acc = warpgroup_mma(a_ring.index(slot), b_ring.index(slot), acc, is_async=True)
        acc = warpgroup_mma_wait(1, deps=[acc])
        gl.barrier()
        ahead = step + SLOTS - 1
        free = ahead % SLOTS
        _fill(a_desc, b_desc, a_ring.index(free), b_ring.index(free), full.index(free), ahead, steps, bytes)
    _store(c_desc, warpgroup_mma_wait(0, deps=[acc]))
