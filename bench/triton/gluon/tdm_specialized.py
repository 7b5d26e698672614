"""A scaled copy on gfx1250 with the loads on a wave of their own, and barriers in LDS between the two.

The data mover arrives once per wave that started it, an ordinary arrival counts every thread: `full` expects one,
`empty` 128 from four waves of 32. An arrival is an LDS operation and so follows the thread's own reads.
"""

# mypy: ignore-errors
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd.cdna5 import mbarrier, tdm


@gluon.jit
def _load(desc, ring, full, empty, blocks, ROWS: gl.constexpr, SLOTS: gl.constexpr):
    for number in range(blocks):
        slot = number % SLOTS
        mbarrier.wait(empty.index(slot), ((number // SLOTS) & 1) ^ 1)
        tdm.async_load(desc, [number * ROWS, 0], ring.index(slot), mbarrier=full.index(slot))


@gluon.jit
def _load_at_once(desc, ring, full, empty, blocks, ROWS: gl.constexpr, SLOTS: gl.constexpr):
    for number in range(blocks):
        slot = number % SLOTS
        # MISTAKE: the data mover does not wait for an empty slot
        tdm.async_load(desc, [number * ROWS, 0], ring.index(slot), mbarrier=full.index(slot))


@gluon.jit
def _load_silently(desc, ring, full, empty, blocks, ROWS: gl.constexpr, SLOTS: gl.constexpr):
    for number in range(blocks):
        slot = number % SLOTS
        mbarrier.wait(empty.index(slot), ((number // SLOTS) & 1) ^ 1)
        tdm.async_load(desc, [number * ROWS, 0], ring.index(slot))  # MISTAKE: the copy arrives nowhere


@gluon.jit
def _scale(out_ptr, ring, full, empty, blocks, ROWS: gl.constexpr, COLS: gl.constexpr, SLOTS: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    i = gl.arange(0, ROWS, layout=gl.SliceLayout(1, layout))
    j = gl.arange(0, COLS, layout=gl.SliceLayout(0, layout))
    for number in range(blocks):
        slot = number % SLOTS
        mbarrier.wait(full.index(slot), (number // SLOTS) & 1)
        x = ring.index(slot).load(layout)
        mbarrier.arrive(empty.index(slot), count=1)
        gl.store(out_ptr + (number * ROWS + i)[:, None] * COLS + j[None, :], x * 2.0)


@gluon.jit
def _scale_eagerly(
    out_ptr, ring, full, empty, blocks, ROWS: gl.constexpr, COLS: gl.constexpr, SLOTS: gl.constexpr
):
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    i = gl.arange(0, ROWS, layout=gl.SliceLayout(1, layout))
    j = gl.arange(0, COLS, layout=gl.SliceLayout(0, layout))
    for number in range(blocks):
        slot = number % SLOTS
        mbarrier.wait(full.index(slot), (number // SLOTS) & 1)
        mbarrier.arrive(empty.index(slot), count=1)  # MISTAKE: the slot is released ahead of its read
        x = ring.index(slot).load(layout)
        gl.store(out_ptr + (number * ROWS + i)[:, None] * COLS + j[None, :], x * 2.0)


@gluon.jit
def _setup(x_ptr, rows, ROWS: gl.constexpr, COLS: gl.constexpr, SLOTS: gl.constexpr, EMPTY: gl.constexpr):
    shared: gl.constexpr = gl.PaddedSharedLayout.with_identity_for([[COLS, 8]], [ROWS, COLS], [1, 0])
    desc = tdm.make_tensor_descriptor(x_ptr, [rows, COLS], [COLS, 1], [ROWS, COLS], shared)
    ring = gl.allocate_shared_memory(gl.float16, [SLOTS, ROWS, COLS], shared)
    full = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    for slot in gl.static_range(SLOTS):
        mbarrier.init(full.index(slot), count=1)
        mbarrier.init(empty.index(slot), count=EMPTY)
    return desc, ring, full, empty


@gluon.jit
def tdm_specialized(x_ptr, out_ptr, rows, ROWS: gl.constexpr, COLS: gl.constexpr, SLOTS: gl.constexpr):
    """Correct: four waves scale, one loads."""
    desc, ring, full, empty = _setup(x_ptr, rows, ROWS, COLS, SLOTS, 128)
    gl.warp_specialize(
        [
            (_scale, (out_ptr, ring, full, empty, rows // ROWS, ROWS, COLS, SLOTS)),
            (_load, (desc, ring, full, empty, rows // ROWS, ROWS, SLOTS)),
        ],
        [1],
    )


@gluon.jit
def tdm_specialized_early_load(
    x_ptr, out_ptr, rows, ROWS: gl.constexpr, COLS: gl.constexpr, SLOTS: gl.constexpr
):
    """The loads run ahead and overwrite slots that are being read."""
    desc, ring, full, empty = _setup(x_ptr, rows, ROWS, COLS, SLOTS, 128)
    gl.warp_specialize(
        [
            (_scale, (out_ptr, ring, full, empty, rows // ROWS, ROWS, COLS, SLOTS)),
            (_load_at_once, (desc, ring, full, empty, rows // ROWS, ROWS, SLOTS)),
        ],
        [1],
    )


@gluon.jit
def tdm_specialized_no_arrive(
    x_ptr, out_ptr, rows, ROWS: gl.constexpr, COLS: gl.constexpr, SLOTS: gl.constexpr
):
    """Nothing ever tells that a slot is full."""
    desc, ring, full, empty = _setup(x_ptr, rows, ROWS, COLS, SLOTS, 128)
    gl.warp_specialize(
        [
            (_scale, (out_ptr, ring, full, empty, rows // ROWS, ROWS, COLS, SLOTS)),
            (_load_silently, (desc, ring, full, empty, rows // ROWS, ROWS, SLOTS)),
        ],
        [1],
    )


@gluon.jit
def tdm_specialized_early_arrive(
    x_ptr, out_ptr, rows, ROWS: gl.constexpr, COLS: gl.constexpr, SLOTS: gl.constexpr
):
    """Slots are refilled while they are being read."""
    desc, ring, full, empty = _setup(x_ptr, rows, ROWS, COLS, SLOTS, 128)
    gl.warp_specialize(
        [
            (_scale_eagerly, (out_ptr, ring, full, empty, rows // ROWS, ROWS, COLS, SLOTS)),
            (_load, (desc, ring, full, empty, rows // ROWS, ROWS, SLOTS)),
        ],
        [1],
    )


@gluon.jit
def tdm_specialized_miscounted(
    x_ptr, out_ptr, rows, ROWS: gl.constexpr, COLS: gl.constexpr, SLOTS: gl.constexpr
):
    """`empty` counts the threads of eight waves, and only four arrive."""
    # MISTAKE: 256 arrivals are expected, 128 come
    desc, ring, full, empty = _setup(x_ptr, rows, ROWS, COLS, SLOTS, 256)
    gl.warp_specialize(
        [
            (_scale, (out_ptr, ring, full, empty, rows // ROWS, ROWS, COLS, SLOTS)),
            (_load, (desc, ring, full, empty, rows // ROWS, ROWS, SLOTS)),
        ],
        [1],
    )
