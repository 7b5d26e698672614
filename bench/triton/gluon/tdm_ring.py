"""A matrix product on gfx1250: the tensor data mover fills a ring of slots, waited for by number of copies.

Every step starts two copies, so with S slots at most 2 * (S - 2) may be left when a slot is read.
"""

# mypy: ignore-errors
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import AMDWMMALayout
from triton.experimental.gluon.language.amd.cdna5 import tdm

from .cdna_parts import dot_wmma, store, tdm_copy, tdm_setup


@gluon.jit
def tdm_ring(
    a_ptr, b_ptr, c_ptr, m, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """Correct."""
    mma: gl.constexpr = AMDWMMALayout(3, True, [[0, 1], [1, 0]], [], [16, 16, 32])
    a_desc, b_desc, a_ring, b_ring = tdm_setup(a_ptr, b_ptr, m, n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        tdm_copy(
            a_desc, b_desc, a_ring.index(step), b_ring.index(step), step, steps, BLOCK_M, BLOCK_N, BLOCK_K
        )
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    for step in range(steps):
        tdm.async_wait(2 * (SLOTS - 2))
        gl.barrier()
        free = (step + SLOTS - 1) % SLOTS
        ahead = step + SLOTS - 1
        tdm_copy(
            a_desc, b_desc, a_ring.index(free), b_ring.index(free), ahead, steps, BLOCK_M, BLOCK_N, BLOCK_K
        )
        acc = dot_wmma(a_ring.index(step % SLOTS), b_ring.index(step % SLOTS), acc, mma)
    tdm.async_wait(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def tdm_ring_weak_wait(
    a_ptr, b_ptr, c_ptr, m, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """Counts steps where copies are meant: the copy of b may be left."""
    mma: gl.constexpr = AMDWMMALayout(3, True, [[0, 1], [1, 0]], [], [16, 16, 32])
    a_desc, b_desc, a_ring, b_ring = tdm_setup(a_ptr, b_ptr, m, n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        tdm_copy(
            a_desc, b_desc, a_ring.index(step), b_ring.index(step), step, steps, BLOCK_M, BLOCK_N, BLOCK_K
        )
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    for step in range(steps):
        tdm.async_wait(2 * (SLOTS - 2) + 1)  # MISTAKE: the copy of b may be under way
        gl.barrier()
        free = (step + SLOTS - 1) % SLOTS
        ahead = step + SLOTS - 1
        tdm_copy(
            a_desc, b_desc, a_ring.index(free), b_ring.index(free), ahead, steps, BLOCK_M, BLOCK_N, BLOCK_K
        )
        acc = dot_wmma(a_ring.index(step % SLOTS), b_ring.index(step % SLOTS), acc, mma)
    tdm.async_wait(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def tdm_ring_slot_in_use(
    a_ptr, b_ptr, c_ptr, m, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """The copy lands in the slot that this iteration reads."""
    mma: gl.constexpr = AMDWMMALayout(3, True, [[0, 1], [1, 0]], [], [16, 16, 32])
    a_desc, b_desc, a_ring, b_ring = tdm_setup(a_ptr, b_ptr, m, n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        tdm_copy(
            a_desc, b_desc, a_ring.index(step), b_ring.index(step), step, steps, BLOCK_M, BLOCK_N, BLOCK_K
        )
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    for step in range(steps):
        tdm.async_wait(2 * (SLOTS - 2))
        gl.barrier()
        free = step % SLOTS  # MISTAKE: the data mover refills the slot of this iteration
        ahead = step + SLOTS - 1
        tdm_copy(
            a_desc, b_desc, a_ring.index(free), b_ring.index(free), ahead, steps, BLOCK_M, BLOCK_N, BLOCK_K
        )
        acc = dot_wmma(a_ring.index(step % SLOTS), b_ring.index(step % SLOTS), acc, mma)
    tdm.async_wait(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def tdm_ring_copy_first(
    a_ptr, b_ptr, c_ptr, m, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """The copy starts before the barrier, while other waves still read that slot."""
    mma: gl.constexpr = AMDWMMALayout(3, True, [[0, 1], [1, 0]], [], [16, 16, 32])
    a_desc, b_desc, a_ring, b_ring = tdm_setup(a_ptr, b_ptr, m, n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        tdm_copy(
            a_desc, b_desc, a_ring.index(step), b_ring.index(step), step, steps, BLOCK_M, BLOCK_N, BLOCK_K
        )
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    for step in range(steps):
        free = (step + SLOTS - 1) % SLOTS  # MISTAKE: the data mover is started ahead of the barrier
        ahead = step + SLOTS - 1
        tdm_copy(
            a_desc, b_desc, a_ring.index(free), b_ring.index(free), ahead, steps, BLOCK_M, BLOCK_N, BLOCK_K
        )
        tdm.async_wait(2 * (SLOTS - 1))
        gl.barrier()
        acc = dot_wmma(a_ring.index(step % SLOTS), b_ring.index(step % SLOTS), acc, mma)
    tdm.async_wait(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)
