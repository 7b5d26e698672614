"""A matrix product on Ampere: copies into a ring of slots, committed in groups, waited for by count.

With S slots, S - 1 copies are under way when an iteration begins. It waits until at most S - 2 are left, so that
its own slot is full; the barrier makes the copies of all warps visible and says that every warp is done with the
slot before, which the next copy then fills.
"""

# mypy: ignore-errors
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy

from .ampere_parts import copy, dot, setup, store


@gluon.jit
def ring(
    a_ptr, b_ptr, c_ptr, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """Correct: wait, barrier, copy into the slot before, read the own slot."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    a_ring, b_ring, a_ptrs, b_ptrs = setup(a_ptr, b_ptr, n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        copy(a_ring.index(step), b_ring.index(step), a_ptrs, b_ptrs, step, steps, n, BLOCK_K)
        async_copy.commit_group()
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    for step in range(steps):
        async_copy.wait_group(SLOTS - 2)
        gl.barrier()
        ahead = step + SLOTS - 1
        free = ahead % SLOTS
        copy(a_ring.index(free), b_ring.index(free), a_ptrs, b_ptrs, ahead, steps, n, BLOCK_K)
        async_copy.commit_group()
        acc = dot(a_ring.index(step % SLOTS), b_ring.index(step % SLOTS), acc, mma)
    async_copy.wait_group(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def ring_weak_wait(
    a_ptr, b_ptr, c_ptr, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """As many groups may be left as there are: the wait never waits."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    a_ring, b_ring, a_ptrs, b_ptrs = setup(a_ptr, b_ptr, n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        copy(a_ring.index(step), b_ring.index(step), a_ptrs, b_ptrs, step, steps, n, BLOCK_K)
        async_copy.commit_group()
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    for step in range(steps):
        async_copy.wait_group(SLOTS - 1)  # MISTAKE: the wait leaves one group too many
        gl.barrier()
        ahead = step + SLOTS - 1
        free = ahead % SLOTS
        copy(a_ring.index(free), b_ring.index(free), a_ptrs, b_ptrs, ahead, steps, n, BLOCK_K)
        async_copy.commit_group()
        acc = dot(a_ring.index(step % SLOTS), b_ring.index(step % SLOTS), acc, mma)
    async_copy.wait_group(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def ring_slot_in_use(
    a_ptr, b_ptr, c_ptr, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """The copy goes one slot too far and lands in the one that this iteration reads."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    a_ring, b_ring, a_ptrs, b_ptrs = setup(a_ptr, b_ptr, n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        copy(a_ring.index(step), b_ring.index(step), a_ptrs, b_ptrs, step, steps, n, BLOCK_K)
        async_copy.commit_group()
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    for step in range(steps):
        async_copy.wait_group(SLOTS - 2)
        gl.barrier()
        ahead = step + SLOTS - 1
        free = (ahead + 1) % SLOTS  # MISTAKE: the slot being read is refilled
        copy(a_ring.index(free), b_ring.index(free), a_ptrs, b_ptrs, ahead, steps, n, BLOCK_K)
        async_copy.commit_group()
        acc = dot(a_ring.index(step % SLOTS), b_ring.index(step % SLOTS), acc, mma)
    async_copy.wait_group(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def ring_no_barrier(
    a_ptr, b_ptr, c_ptr, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """Every warp has waited for its own copies, and reads what other warps copied."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    a_ring, b_ring, a_ptrs, b_ptrs = setup(a_ptr, b_ptr, n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        copy(a_ring.index(step), b_ring.index(step), a_ptrs, b_ptrs, step, steps, n, BLOCK_K)
        async_copy.commit_group()
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    for step in range(steps):
        async_copy.wait_group(SLOTS - 2)
        # MISTAKE: no barrier after the wait
        ahead = step + SLOTS - 1
        free = ahead % SLOTS
        copy(a_ring.index(free), b_ring.index(free), a_ptrs, b_ptrs, ahead, steps, n, BLOCK_K)
        async_copy.commit_group()
        acc = dot(a_ring.index(step % SLOTS), b_ring.index(step % SLOTS), acc, mma)
    async_copy.wait_group(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def ring_copy_first(
    a_ptr, b_ptr, c_ptr, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """The copy starts before the barrier, while other warps still read that slot."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    a_ring, b_ring, a_ptrs, b_ptrs = setup(a_ptr, b_ptr, n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        copy(a_ring.index(step), b_ring.index(step), a_ptrs, b_ptrs, step, steps, n, BLOCK_K)
        async_copy.commit_group()
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    for step in range(steps):
        ahead = step + SLOTS - 1
        free = ahead % SLOTS  # MISTAKE: the slot before is refilled ahead of the barrier
        copy(a_ring.index(free), b_ring.index(free), a_ptrs, b_ptrs, ahead, steps, n, BLOCK_K)
        async_copy.commit_group()
        async_copy.wait_group(SLOTS - 1)
        gl.barrier()
        acc = dot(a_ring.index(step % SLOTS), b_ring.index(step % SLOTS), acc, mma)
    async_copy.wait_group(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def ring_late_commit(
    a_ptr, b_ptr, c_ptr, n, k,
    BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr, SLOTS: gl.constexpr,
):  # fmt: skip
    """The copies of an iteration fall into the group of the next one, so the count is off by one."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    a_ring, b_ring, a_ptrs, b_ptrs = setup(a_ptr, b_ptr, n, k, BLOCK_M, BLOCK_N, BLOCK_K, SLOTS)
    steps = k // BLOCK_K
    for step in gl.static_range(SLOTS - 1):
        copy(a_ring.index(step), b_ring.index(step), a_ptrs, b_ptrs, step, steps, n, BLOCK_K)
        async_copy.commit_group()
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    for step in range(steps):
        async_copy.wait_group(SLOTS - 2)
        gl.barrier()
        ahead = step + SLOTS - 1
        free = ahead % SLOTS
        async_copy.commit_group()  # MISTAKE: the group is closed before its copies
        copy(a_ring.index(free), b_ring.index(free), a_ptrs, b_ptrs, ahead, steps, n, BLOCK_K)
        acc = dot(a_ring.index(step % SLOTS), b_ring.index(step % SLOTS), acc, mma)
    async_copy.wait_group(0)
    store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)
