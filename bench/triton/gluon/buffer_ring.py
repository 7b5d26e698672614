"""A matrix product on gfx950: buffer loads straight into a ring of slots in LDS, waited for by group.

The order is that of the ring on Ampere: wait, barrier, copy into the slot before, read the own slot.
"""

# mypy: ignore-errors
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import AMDMFMALayout
from triton.experimental.gluon.language.amd.cdna4 import async_copy

from .cdna_parts import copy, dot, setup, store


@gluon.jit
def buffer_ring(
    a_ptr, b_ptr, c_ptr, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """Correct."""
    mma: gl.constexpr = AMDMFMALayout(4, [16, 16, 32], True, [2, 2])
    a_ring, b_ring, a_at, b_at = setup(n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        copy(a_ring.index(step), b_ring.index(step), a_ptr, b_ptr, a_at, b_at, step, steps, n, BLOCK_K)
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    for step in range(steps):
        async_copy.wait_group(SLOTS - 2)
        gl.barrier()
        ahead = step + SLOTS - 1
        free = ahead % SLOTS
        copy(a_ring.index(free), b_ring.index(free), a_ptr, b_ptr, a_at, b_at, ahead, steps, n, BLOCK_K)
        acc = dot(a_ring.index(step % SLOTS), b_ring.index(step % SLOTS), acc, mma)
    async_copy.wait_group(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def buffer_ring_weak_wait(
    a_ptr, b_ptr, c_ptr, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """The wait leaves the group whose slot is read next."""
    mma: gl.constexpr = AMDMFMALayout(4, [16, 16, 32], True, [2, 2])
    a_ring, b_ring, a_at, b_at = setup(n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        copy(a_ring.index(step), b_ring.index(step), a_ptr, b_ptr, a_at, b_at, step, steps, n, BLOCK_K)
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    for step in range(steps):
        async_copy.wait_group(SLOTS - 1)  # MISTAKE: the wait leaves the group of this slot
        gl.barrier()
        ahead = step + SLOTS - 1
        free = ahead % SLOTS
        copy(a_ring.index(free), b_ring.index(free), a_ptr, b_ptr, a_at, b_at, ahead, steps, n, BLOCK_K)
        acc = dot(a_ring.index(step % SLOTS), b_ring.index(step % SLOTS), acc, mma)
    async_copy.wait_group(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def buffer_ring_slot_in_use(
    a_ptr, b_ptr, c_ptr, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """The copy lands in the slot that this iteration reads."""
    mma: gl.constexpr = AMDMFMALayout(4, [16, 16, 32], True, [2, 2])
    a_ring, b_ring, a_at, b_at = setup(n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        copy(a_ring.index(step), b_ring.index(step), a_ptr, b_ptr, a_at, b_at, step, steps, n, BLOCK_K)
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    for step in range(steps):
        async_copy.wait_group(SLOTS - 2)
        gl.barrier()
        ahead = step + SLOTS - 1
        free = (ahead + 1) % SLOTS  # MISTAKE: the slot of this iteration is refilled
        copy(a_ring.index(free), b_ring.index(free), a_ptr, b_ptr, a_at, b_at, ahead, steps, n, BLOCK_K)
        acc = dot(a_ring.index(step % SLOTS), b_ring.index(step % SLOTS), acc, mma)
    async_copy.wait_group(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def buffer_ring_barrier_first(
    a_ptr, b_ptr, c_ptr, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """The barrier stands before the wait: each wave knows of its own copies only."""
    mma: gl.constexpr = AMDMFMALayout(4, [16, 16, 32], True, [2, 2])
    a_ring, b_ring, a_at, b_at = setup(n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        copy(a_ring.index(step), b_ring.index(step), a_ptr, b_ptr, a_at, b_at, step, steps, n, BLOCK_K)
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    for step in range(steps):
        gl.barrier()
        async_copy.wait_group(SLOTS - 2)  # MISTAKE: the wait stands after the barrier
        ahead = step + SLOTS - 1
        free = ahead % SLOTS
        copy(a_ring.index(free), b_ring.index(free), a_ptr, b_ptr, a_at, b_at, ahead, steps, n, BLOCK_K)
        acc = dot(a_ring.index(step % SLOTS), b_ring.index(step % SLOTS), acc, mma)
    async_copy.wait_group(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)
