"""A matrix product on Hopper with its loads on a warp of their own.

Two mbarriers per slot: `full` completes when the bytes have come, `empty` when the products that read the slot are
done. The loading warp waits for `empty` of the round before; in the first round that phase counts as complete.
"""

# mypy: ignore-errors
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma, warpgroup_mma


@gluon.jit
def _start_copies(a_desc, b_desc, a_slot, b_slot, full, step):
    mbarrier.expect(full, a_desc.block_type.nbytes + b_desc.block_type.nbytes)
    row = gl.program_id(0) * a_desc.block_type.shape[0]
    col = gl.program_id(1) * b_desc.block_type.shape[1]
    inner = step * a_desc.block_type.shape[1]
    tma.async_load(a_desc, [row, inner], full, a_slot)
    tma.async_load(b_desc, [inner, col], full, b_slot)


@gluon.jit
def _load(a_desc, b_desc, a_ring, b_ring, full, empty, steps, SLOTS: gl.constexpr):
    for step in range(steps):
        slot = step % SLOTS
        mbarrier.wait(empty.index(slot), ((step // SLOTS) & 1) ^ 1)
        _start_copies(a_desc, b_desc, a_ring.index(slot), b_ring.index(slot), full.index(slot), step)


@gluon.jit
def _load_at_once(a_desc, b_desc, a_ring, b_ring, full, empty, steps, SLOTS: gl.constexpr):
    for step in range(steps):
        slot = step % SLOTS
        # MISTAKE: nobody waits until the slot is empty
        _start_copies(a_desc, b_desc, a_ring.index(slot), b_ring.index(slot), full.index(slot), step)


@gluon.jit
def _store(c_ptr, acc, n, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, MMA: gl.constexpr):
    rows = gl.program_id(0) * BLOCK_M + gl.arange(0, BLOCK_M, layout=gl.SliceLayout(1, MMA))
    cols = gl.program_id(1) * BLOCK_N + gl.arange(0, BLOCK_N, layout=gl.SliceLayout(0, MMA))
    gl.store(c_ptr + rows[:, None] * n + cols[None, :], acc)


@gluon.jit
def _multiply(c_ptr, n, a_ring, b_ring, full, empty, steps, SLOTS: gl.constexpr):
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, b_ring.shape[2], 16])
    acc = gl.zeros([a_ring.shape[1], b_ring.shape[2]], gl.float32, mma)
    for step in range(steps):
        slot = step % SLOTS
        mbarrier.wait(full.index(slot), (step // SLOTS) & 1)
        acc = warpgroup_mma(a_ring.index(slot), b_ring.index(slot), acc)
        gl.barrier()
        mbarrier.arrive(empty.index(slot), count=1)
    _store(c_ptr, acc, n, a_ring.shape[1], b_ring.shape[2], mma)


@gluon.jit
def _multiply_silent(c_ptr, n, a_ring, b_ring, full, empty, steps, SLOTS: gl.constexpr):
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, b_ring.shape[2], 16])
    acc = gl.zeros([a_ring.shape[1], b_ring.shape[2]], gl.float32, mma)
    for step in range(steps):
        slot = step % SLOTS
        mbarrier.wait(full.index(slot), (step // SLOTS) & 1)
        # MISTAKE: the slot is never given back
        acc = warpgroup_mma(a_ring.index(slot), b_ring.index(slot), acc)
    _store(c_ptr, acc, n, a_ring.shape[1], b_ring.shape[2], mma)


@gluon.jit
def _multiply_eager(c_ptr, n, a_ring, b_ring, full, empty, steps, SLOTS: gl.constexpr):
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, b_ring.shape[2], 16])
    acc = gl.zeros([a_ring.shape[1], b_ring.shape[2]], gl.float32, mma)
    for step in range(steps):
        slot = step % SLOTS
        mbarrier.wait(full.index(slot), (step // SLOTS) & 1)
        gl.barrier()
        mbarrier.arrive(empty.index(slot), count=1)  # MISTAKE: the slot is given back before it is read
        acc = warpgroup_mma(a_ring.index(slot), b_ring.index(slot), acc)
    _store(c_ptr, acc, n, a_ring.shape[1], b_ring.shape[2], mma)


@gluon.jit
def _multiply_blind(c_ptr, n, a_ring, b_ring, full, empty, steps, SLOTS: gl.constexpr):
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, b_ring.shape[2], 16])
    acc = gl.zeros([a_ring.shape[1], b_ring.shape[2]], gl.float32, mma)
    for step in range(steps):
        slot = step % SLOTS
        # MISTAKE: nobody waits until the slot is full
        acc = warpgroup_mma(a_ring.index(slot), b_ring.index(slot), acc)
        gl.barrier()
        mbarrier.arrive(empty.index(slot), count=1)
    _store(c_ptr, acc, n, a_ring.shape[1], b_ring.shape[2], mma)


@gluon.jit
def _ring(desc, SLOTS: gl.constexpr):
    shape: gl.constexpr = desc.block_type.shape
    return gl.allocate_shared_memory(desc.dtype, [SLOTS, shape[0], shape[1]], desc.layout)


@gluon.jit
def _setup(a_desc, b_desc, SLOTS: gl.constexpr, EMPTY: gl.constexpr):
    a_ring = _ring(a_desc, SLOTS)
    b_ring = _ring(b_desc, SLOTS)
    full = mbarrier.allocate_mbarrier(batch=SLOTS)
    empty = mbarrier.allocate_mbarrier(batch=SLOTS)
    for slot in gl.static_range(SLOTS):
        mbarrier.init(full.index(slot), count=1)
        mbarrier.init(empty.index(slot), count=EMPTY)
    return a_ring, b_ring, full, empty


@gluon.jit
def specialized(a_desc, b_desc, c_ptr, n, k, SLOTS: gl.constexpr):
    """Correct: four warps multiply, one loads."""
    a_ring, b_ring, full, empty = _setup(a_desc, b_desc, SLOTS, 1)
    steps = k // a_desc.block_type.shape[1]
    gl.warp_specialize(
        [
            (_multiply, (c_ptr, n, a_ring, b_ring, full, empty, steps, SLOTS)),
            (_load, (a_desc, b_desc, a_ring, b_ring, full, empty, steps, SLOTS)),
        ],
        [1],
        [24],
    )


@gluon.jit
def specialized_early_load(a_desc, b_desc, c_ptr, n, k, SLOTS: gl.constexpr):
    """The loads run ahead and overwrite slots that are being read."""
    a_ring, b_ring, full, empty = _setup(a_desc, b_desc, SLOTS, 1)
    steps = k // a_desc.block_type.shape[1]
    gl.warp_specialize(
        [
            (_multiply, (c_ptr, n, a_ring, b_ring, full, empty, steps, SLOTS)),
            (_load_at_once, (a_desc, b_desc, a_ring, b_ring, full, empty, steps, SLOTS)),
        ],
        [1],
        [24],
    )


@gluon.jit
def specialized_no_arrive(a_desc, b_desc, c_ptr, n, k, SLOTS: gl.constexpr):
    """The loads stop for good after one round over the ring."""
    a_ring, b_ring, full, empty = _setup(a_desc, b_desc, SLOTS, 1)
    steps = k // a_desc.block_type.shape[1]
    gl.warp_specialize(
        [
            (_multiply_silent, (c_ptr, n, a_ring, b_ring, full, empty, steps, SLOTS)),
            (_load, (a_desc, b_desc, a_ring, b_ring, full, empty, steps, SLOTS)),
        ],
        [1],
        [24],
    )


@gluon.jit
def specialized_early_arrive(a_desc, b_desc, c_ptr, n, k, SLOTS: gl.constexpr):
    """Slots are refilled while they are being read."""
    a_ring, b_ring, full, empty = _setup(a_desc, b_desc, SLOTS, 1)
    steps = k // a_desc.block_type.shape[1]
    gl.warp_specialize(
        [
            (_multiply_eager, (c_ptr, n, a_ring, b_ring, full, empty, steps, SLOTS)),
            (_load, (a_desc, b_desc, a_ring, b_ring, full, empty, steps, SLOTS)),
        ],
        [1],
        [24],
    )


@gluon.jit
def specialized_no_wait(a_desc, b_desc, c_ptr, n, k, SLOTS: gl.constexpr):
    """The products do not wait for the loads."""
    a_ring, b_ring, full, empty = _setup(a_desc, b_desc, SLOTS, 1)
    steps = k // a_desc.block_type.shape[1]
    gl.warp_specialize(
        [
            (_multiply_blind, (c_ptr, n, a_ring, b_ring, full, empty, steps, SLOTS)),
            (_load, (a_desc, b_desc, a_ring, b_ring, full, empty, steps, SLOTS)),
        ],
        [1],
        [24],
    )


@gluon.jit
def specialized_miscounted(a_desc, b_desc, c_ptr, n, k, SLOTS: gl.constexpr):
    """`empty` expects an arrival from each partition, and only one arrives."""
    # MISTAKE: two arrivals are expected, one comes
    a_ring, b_ring, full, empty = _setup(a_desc, b_desc, SLOTS, 2)
    steps = k // a_desc.block_type.shape[1]
    gl.warp_specialize(
        [
            (_multiply, (c_ptr, n, a_ring, b_ring, full, empty, steps, SLOTS)),
            (_load, (a_desc, b_desc, a_ring, b_ring, full, empty, steps, SLOTS)),
        ],
        [1],
        [24],
    )
