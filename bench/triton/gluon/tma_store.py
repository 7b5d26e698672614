"""Blocks that leave through the copy engine on Hopper: it reads a slot while the next one is being written.

A slot may be written again once the engine is done reading it. The thread that started the copies waits for that,
and a barrier tells the others.
"""

# mypy: ignore-errors
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, tma


@gluon.jit
def _block(x_ptr, row, ROWS: gl.constexpr, COLS: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    i = gl.arange(0, ROWS, layout=gl.SliceLayout(1, layout))
    j = gl.arange(0, COLS, layout=gl.SliceLayout(0, layout))
    return gl.load(x_ptr + (row + i)[:, None] * COLS + j[None, :]) * 2.0


@gluon.jit
def store_ring(x_ptr, out_desc, rows, ROWS: gl.constexpr, COLS: gl.constexpr):
    """Correct: at most one copy is left, barrier, write the slot, fence, barrier, start the copy."""
    slots = gl.allocate_shared_memory(gl.float16, [2, ROWS, COLS], out_desc.layout)
    for row in range(0, rows, ROWS):
        x = _block(x_ptr, row, ROWS, COLS)
        slot = slots.index((row // ROWS) % 2)
        tma.store_wait(1)
        gl.barrier()
        slot.store(x.to(gl.float16))
        fence_async_shared()
        gl.barrier()
        tma.async_store(out_desc, [row, 0], slot)
    tma.store_wait(0)


@gluon.jit
def store_ring_weak_wait(x_ptr, out_desc, rows, ROWS: gl.constexpr, COLS: gl.constexpr):
    """Two copies may be left: the engine can still read the slot that is written next."""
    slots = gl.allocate_shared_memory(gl.float16, [2, ROWS, COLS], out_desc.layout)
    for row in range(0, rows, ROWS):
        x = _block(x_ptr, row, ROWS, COLS)
        slot = slots.index((row // ROWS) % 2)
        tma.store_wait(2)  # MISTAKE: the copy out of this slot may still be reading
        gl.barrier()
        slot.store(x.to(gl.float16))
        fence_async_shared()
        gl.barrier()
        tma.async_store(out_desc, [row, 0], slot)
    tma.store_wait(0)


@gluon.jit
def store_ring_unannounced(x_ptr, out_desc, rows, ROWS: gl.constexpr, COLS: gl.constexpr):
    """One thread waits for the engine, the other warps write at once."""
    slots = gl.allocate_shared_memory(gl.float16, [2, ROWS, COLS], out_desc.layout)
    for row in range(0, rows, ROWS):
        x = _block(x_ptr, row, ROWS, COLS)
        slot = slots.index((row // ROWS) % 2)
        tma.store_wait(1)
        slot.store(x.to(gl.float16))  # MISTAKE: no barrier after the wait for the engine
        fence_async_shared()
        gl.barrier()
        tma.async_store(out_desc, [row, 0], slot)
    tma.store_wait(0)


@gluon.jit
def store_ring_unwritten(x_ptr, out_desc, rows, ROWS: gl.constexpr, COLS: gl.constexpr):
    """The copy starts while other warps are still writing the slot."""
    slots = gl.allocate_shared_memory(gl.float16, [2, ROWS, COLS], out_desc.layout)
    for row in range(0, rows, ROWS):
        x = _block(x_ptr, row, ROWS, COLS)
        slot = slots.index((row // ROWS) % 2)
        tma.store_wait(1)
        gl.barrier()
        slot.store(x.to(gl.float16))
        fence_async_shared()
        tma.async_store(out_desc, [row, 0], slot)  # MISTAKE: no barrier before the copy out
    tma.store_wait(0)
