"""Three kinds of warps on Hopper: one loads blocks, four scale them, one stores them, through two rings.

Between loading and scaling the copy engine's bytes count on `full`; between scaling and storing the four warps meet
and one of them arrives on `ready`. `empty` and `drained` give the slots back.
"""

# mypy: ignore-errors
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma


@gluon.jit
def _load(in_desc, in_ring, full, empty, blocks, SLOTS: gl.constexpr):
    for number in range(blocks):
        slot = number % SLOTS
        mbarrier.wait(empty.index(slot), ((number // SLOTS) & 1) ^ 1)
        mbarrier.expect(full.index(slot), in_desc.block_type.nbytes)
        tma.async_load(
            in_desc, [number * in_desc.block_type.shape[0], 0], full.index(slot), in_ring.index(slot)
        )


@gluon.jit
def _scale(in_ring, out_ring, full, empty, ready, drained, blocks, SLOTS: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    for number in range(blocks):
        slot = number % SLOTS
        round = (number // SLOTS) & 1
        mbarrier.wait(full.index(slot), round)
        x = in_ring.index(slot).load(layout)
        gl.barrier()
        mbarrier.arrive(empty.index(slot), count=1)
        mbarrier.wait(drained.index(slot), round ^ 1)
        out_ring.index(slot).store(x * 2.0)
        fence_async_shared()
        gl.barrier()
        mbarrier.arrive(ready.index(slot), count=1)


@gluon.jit
def _scale_hasty(in_ring, out_ring, full, empty, ready, drained, blocks, SLOTS: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    for number in range(blocks):
        slot = number % SLOTS
        mbarrier.wait(full.index(slot), (number // SLOTS) & 1)
        x = in_ring.index(slot).load(layout)
        gl.barrier()
        mbarrier.arrive(empty.index(slot), count=1)
        # MISTAKE: nobody waits until the slot is drained
        out_ring.index(slot).store(x * 2.0)
        fence_async_shared()
        gl.barrier()
        mbarrier.arrive(ready.index(slot), count=1)


@gluon.jit
def _store(out_desc, out_ring, ready, drained, blocks, SLOTS: gl.constexpr):
    for number in range(blocks):
        slot = number % SLOTS
        mbarrier.wait(ready.index(slot), (number // SLOTS) & 1)
        tma.async_store(out_desc, [number * out_desc.block_type.shape[0], 0], out_ring.index(slot))
        tma.store_wait(0)
        mbarrier.arrive(drained.index(slot), count=1)


@gluon.jit
def _store_unread(out_desc, out_ring, ready, drained, blocks, SLOTS: gl.constexpr):
    for number in range(blocks):
        slot = number % SLOTS
        mbarrier.wait(ready.index(slot), (number // SLOTS) & 1)
        tma.async_store(out_desc, [number * out_desc.block_type.shape[0], 0], out_ring.index(slot))
        # MISTAKE: the slot is given back while the engine reads it
        mbarrier.arrive(drained.index(slot), count=1)
    tma.store_wait(0)


@gluon.jit
def _ring(desc, SLOTS: gl.constexpr):
    shape: gl.constexpr = desc.block_type.shape
    return gl.allocate_shared_memory(desc.dtype, [SLOTS, shape[0], shape[1]], desc.layout)


@gluon.jit
def _setup(in_desc, out_desc, SLOTS: gl.constexpr):
    in_ring = _ring(in_desc, SLOTS)
    out_ring = _ring(out_desc, SLOTS)
    full = mbarrier.allocate_mbarrier(batch=SLOTS)
    empty = mbarrier.allocate_mbarrier(batch=SLOTS)
    ready = mbarrier.allocate_mbarrier(batch=SLOTS)
    drained = mbarrier.allocate_mbarrier(batch=SLOTS)
    for slot in gl.static_range(SLOTS):
        mbarrier.init(full.index(slot), count=1)
        mbarrier.init(empty.index(slot), count=1)
        mbarrier.init(ready.index(slot), count=1)
        mbarrier.init(drained.index(slot), count=1)
    return in_ring, out_ring, full, empty, ready, drained


@gluon.jit
def pipeline(in_desc, out_desc, rows, SLOTS: gl.constexpr):
    """Correct."""
    in_ring, out_ring, full, empty, ready, drained = _setup(in_desc, out_desc, SLOTS)
    blocks = rows // in_desc.block_type.shape[0]
    gl.warp_specialize(
        [
            (_scale, (in_ring, out_ring, full, empty, ready, drained, blocks, SLOTS)),
            (_load, (in_desc, in_ring, full, empty, blocks, SLOTS)),
            (_store, (out_desc, out_ring, ready, drained, blocks, SLOTS)),
        ],
        [1, 1],
        [24, 24],
    )


@gluon.jit
def pipeline_undrained(in_desc, out_desc, rows, SLOTS: gl.constexpr):
    """The scaling warps write a slot that is still on its way out."""
    in_ring, out_ring, full, empty, ready, drained = _setup(in_desc, out_desc, SLOTS)
    blocks = rows // in_desc.block_type.shape[0]
    gl.warp_specialize(
        [
            (_scale_hasty, (in_ring, out_ring, full, empty, ready, drained, blocks, SLOTS)),
            (_load, (in_desc, in_ring, full, empty, blocks, SLOTS)),
            (_store, (out_desc, out_ring, ready, drained, blocks, SLOTS)),
        ],
        [1, 1],
        [24, 24],
    )


@gluon.jit
def pipeline_unread(in_desc, out_desc, rows, SLOTS: gl.constexpr):
    """The storing warp gives slots back before the copy engine has read them."""
    in_ring, out_ring, full, empty, ready, drained = _setup(in_desc, out_desc, SLOTS)
    blocks = rows // in_desc.block_type.shape[0]
    gl.warp_specialize(
        [
            (_scale, (in_ring, out_ring, full, empty, ready, drained, blocks, SLOTS)),
            (_load, (in_desc, in_ring, full, empty, blocks, SLOTS)),
            (_store_unread, (out_desc, out_ring, ready, drained, blocks, SLOTS)),
        ],
        [1, 1],
        [24, 24],
    )
