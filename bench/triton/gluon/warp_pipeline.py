"""A matrix product on gfx950 whose loop is cut into two stages: half of the waves runs one stage behind the other.

The compiler turns the borders of the stages into barriers and holds half of the waves back with a conditional
barrier before the loop, so that one half reads while the other multiplies. What has to be complete before the early
half reads a slot, the late half must have waited for in its own reading stage, one rendezvous earlier.
"""

# mypy: ignore-errors
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import AMDMFMALayout
from triton.experimental.gluon.language.amd.cdna4 import async_copy, mfma

from .cdna_parts import copy, setup, store


@gluon.jit
def pipelined(
    a_ptr, b_ptr, c_ptr, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """Correct: each half waits at the end of its reading stage."""
    mma: gl.constexpr = AMDMFMALayout(4, [16, 16, 32], True, [2, 4])
    a_ring, b_ring, a_at, b_at = setup(n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS, 8)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        copy(a_ring.index(step), b_ring.index(step), a_ptr, b_ptr, a_at, b_at, step, steps, n, BLOCK_K)
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    async_copy.wait_group(SLOTS - 2)
    gl.barrier()
    for step in range(steps):
        with gl.amd.warp_pipeline_stage("read", priority=1):
            a = a_ring.index(step % SLOTS).load(gl.DotOperandLayout(0, mma, 8))
            b = b_ring.index(step % SLOTS).load(gl.DotOperandLayout(1, mma, 8))
            ahead = step + SLOTS - 1
            free = ahead % SLOTS
            copy(a_ring.index(free), b_ring.index(free), a_ptr, b_ptr, a_at, b_at, ahead, steps, n, BLOCK_K)
        async_copy.wait_group(SLOTS - 2)
        with gl.amd.warp_pipeline_stage("multiply", priority=0):
            acc = mfma(a, b, acc)
    async_copy.wait_group(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def pipelined_weak_wait(
    a_ptr, b_ptr, c_ptr, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """The wait leaves the group of the slot that is read next."""
    mma: gl.constexpr = AMDMFMALayout(4, [16, 16, 32], True, [2, 4])
    a_ring, b_ring, a_at, b_at = setup(n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS, 8)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        copy(a_ring.index(step), b_ring.index(step), a_ptr, b_ptr, a_at, b_at, step, steps, n, BLOCK_K)
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    async_copy.wait_group(SLOTS - 2)
    gl.barrier()
    for step in range(steps):
        with gl.amd.warp_pipeline_stage("read", priority=1):
            a = a_ring.index(step % SLOTS).load(gl.DotOperandLayout(0, mma, 8))
            b = b_ring.index(step % SLOTS).load(gl.DotOperandLayout(1, mma, 8))
            ahead = step + SLOTS - 1
            free = ahead % SLOTS
            copy(a_ring.index(free), b_ring.index(free), a_ptr, b_ptr, a_at, b_at, ahead, steps, n, BLOCK_K)
        async_copy.wait_group(SLOTS - 1)  # MISTAKE: too weak for the slot of the next stage
        with gl.amd.warp_pipeline_stage("multiply", priority=0):
            acc = mfma(a, b, acc)
    async_copy.wait_group(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def pipelined_slot_in_use(
    a_ptr, b_ptr, c_ptr, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """The copy lands in the slot that the late half is about to read."""
    mma: gl.constexpr = AMDMFMALayout(4, [16, 16, 32], True, [2, 4])
    a_ring, b_ring, a_at, b_at = setup(n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS, 8)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        copy(a_ring.index(step), b_ring.index(step), a_ptr, b_ptr, a_at, b_at, step, steps, n, BLOCK_K)
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    async_copy.wait_group(SLOTS - 2)
    gl.barrier()
    for step in range(steps):
        with gl.amd.warp_pipeline_stage("read", priority=1):
            a = a_ring.index(step % SLOTS).load(gl.DotOperandLayout(0, mma, 8))
            b = b_ring.index(step % SLOTS).load(gl.DotOperandLayout(1, mma, 8))
            ahead = step + SLOTS - 1
            free = step % SLOTS  # MISTAKE: the late half has yet to read this slot
            copy(a_ring.index(free), b_ring.index(free), a_ptr, b_ptr, a_at, b_at, ahead, steps, n, BLOCK_K)
        async_copy.wait_group(SLOTS - 2)
        with gl.amd.warp_pipeline_stage("multiply", priority=0):
            acc = mfma(a, b, acc)
    async_copy.wait_group(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)
