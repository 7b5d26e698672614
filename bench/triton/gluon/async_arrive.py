"""A scaled copy on Ampere whose asynchronous copies arrive on an mbarrier instead of being counted in groups.

Each of the 128 threads arrives on `full` of the slot when its own copies are done, and then every thread waits for
all of them: no barrier is needed before the read, only before the slot is filled again.
"""

# mypy: ignore-errors
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mbarrier


@gluon.jit
def _setup(SLOTS: gl.constexpr, ROWS: gl.constexpr, COLS: gl.constexpr, COUNT: gl.constexpr):
    ring = gl.allocate_shared_memory(
        gl.float16, [SLOTS, ROWS, COLS], gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    )
    full = mbarrier.allocate_mbarrier(batch=SLOTS)
    for slot in gl.static_range(SLOTS):
        mbarrier.init(full.index(slot), count=COUNT)
    # One thread has initialized them, all will arrive.
    gl.barrier()
    return ring, full


@gluon.jit
def _fill(slot, bar, ptrs, number, blocks, ROWS: gl.constexpr, COLS: gl.constexpr):
    async_copy.async_load(slot, ptrs + number * ROWS * COLS, mask=number < blocks)
    async_copy.mbarrier_arrive(bar, increment_count=False)


@gluon.jit
def arriving(x_ptr, out_ptr, rows, ROWS: gl.constexpr, COLS: gl.constexpr, SLOTS: gl.constexpr):
    """Correct: wait for the slot, read it across warps, barrier, fill it again."""
    wide: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    tall: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [1, 4], [1, 0])
    ring, full = _setup(SLOTS, ROWS, COLS, 128)
    i = gl.arange(0, ROWS, layout=gl.SliceLayout(1, wide))
    j = gl.arange(0, COLS, layout=gl.SliceLayout(0, wide))
    ptrs = x_ptr + i[:, None] * COLS + j[None, :]
    out_i = gl.arange(0, ROWS, layout=gl.SliceLayout(1, tall))
    out_j = gl.arange(0, COLS, layout=gl.SliceLayout(0, tall))
    blocks = rows // ROWS
    for number in gl.static_range(SLOTS):
        _fill(ring.index(number), full.index(number), ptrs, number, blocks, ROWS, COLS)
    for number in range(blocks):
        slot = number % SLOTS
        mbarrier.wait(full.index(slot), (number // SLOTS) & 1)
        x = ring.index(slot).load(tall)
        gl.barrier()
        _fill(ring.index(slot), full.index(slot), ptrs, number + SLOTS, blocks, ROWS, COLS)
        gl.store(out_ptr + (number * ROWS + out_i)[:, None] * COLS + out_j[None, :], x * 2.0)


@gluon.jit
def arriving_phase(x_ptr, out_ptr, rows, ROWS: gl.constexpr, COLS: gl.constexpr, SLOTS: gl.constexpr):
    """The phase turns with every block instead of every round, so every other wait is for a phase long past."""
    wide: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    tall: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [1, 4], [1, 0])
    ring, full = _setup(SLOTS, ROWS, COLS, 128)
    i = gl.arange(0, ROWS, layout=gl.SliceLayout(1, wide))
    j = gl.arange(0, COLS, layout=gl.SliceLayout(0, wide))
    ptrs = x_ptr + i[:, None] * COLS + j[None, :]
    out_i = gl.arange(0, ROWS, layout=gl.SliceLayout(1, tall))
    out_j = gl.arange(0, COLS, layout=gl.SliceLayout(0, tall))
    blocks = rows // ROWS
    for number in gl.static_range(SLOTS):
        _fill(ring.index(number), full.index(number), ptrs, number, blocks, ROWS, COLS)
    for number in range(blocks):
        slot = number % SLOTS
        # MISTAKE: the phase of the slot before is waited for
        mbarrier.wait(full.index(slot), (number + 1) & 1)
        x = ring.index(slot).load(tall)
        gl.barrier()
        _fill(ring.index(slot), full.index(slot), ptrs, number + SLOTS, blocks, ROWS, COLS)
        gl.store(out_ptr + (number * ROWS + out_i)[:, None] * COLS + out_j[None, :], x * 2.0)


@gluon.jit
def arriving_miscounted(x_ptr, out_ptr, rows, ROWS: gl.constexpr, COLS: gl.constexpr, SLOTS: gl.constexpr):
    """Two arrivals of every thread are expected, and each arrives once."""
    wide: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    tall: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [1, 4], [1, 0])
    ring, full = _setup(SLOTS, ROWS, COLS, 256)  # MISTAKE: twice the arrivals are expected that come
    i = gl.arange(0, ROWS, layout=gl.SliceLayout(1, wide))
    j = gl.arange(0, COLS, layout=gl.SliceLayout(0, wide))
    ptrs = x_ptr + i[:, None] * COLS + j[None, :]
    out_i = gl.arange(0, ROWS, layout=gl.SliceLayout(1, tall))
    out_j = gl.arange(0, COLS, layout=gl.SliceLayout(0, tall))
    blocks = rows // ROWS
    for number in gl.static_range(SLOTS):
        _fill(ring.index(number), full.index(number), ptrs, number, blocks, ROWS, COLS)
    for number in range(blocks):
        slot = number % SLOTS
        mbarrier.wait(full.index(slot), (number // SLOTS) & 1)
        x = ring.index(slot).load(tall)
        gl.barrier()
        _fill(ring.index(slot), full.index(slot), ptrs, number + SLOTS, blocks, ROWS, COLS)
        gl.store(out_ptr + (number * ROWS + out_i)[:, None] * COLS + out_j[None, :], x * 2.0)


@gluon.jit
def arriving_slot_in_use(x_ptr, out_ptr, rows, ROWS: gl.constexpr, COLS: gl.constexpr, SLOTS: gl.constexpr):
    """The slot is filled again while other warps still read it."""
    wide: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    tall: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [1, 4], [1, 0])
    ring, full = _setup(SLOTS, ROWS, COLS, 128)
    i = gl.arange(0, ROWS, layout=gl.SliceLayout(1, wide))
    j = gl.arange(0, COLS, layout=gl.SliceLayout(0, wide))
    ptrs = x_ptr + i[:, None] * COLS + j[None, :]
    out_i = gl.arange(0, ROWS, layout=gl.SliceLayout(1, tall))
    out_j = gl.arange(0, COLS, layout=gl.SliceLayout(0, tall))
    blocks = rows // ROWS
    for number in gl.static_range(SLOTS):
        _fill(ring.index(number), full.index(number), ptrs, number, blocks, ROWS, COLS)
    for number in range(blocks):
        slot = number % SLOTS
        mbarrier.wait(full.index(slot), (number // SLOTS) & 1)
        x = ring.index(slot).load(tall)
        # MISTAKE: no barrier before the slot is filled again
        _fill(ring.index(slot), full.index(slot), ptrs, number + SLOTS, blocks, ROWS, COLS)
        gl.store(out_ptr + (number * ROWS + out_i)[:, None] * COLS + out_j[None, :], x * 2.0)
