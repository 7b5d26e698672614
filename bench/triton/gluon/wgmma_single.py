"""A matrix product on Hopper with one buffer per operand, filled through registers by all eight warps.

The product reads its operands asynchronously, and the instruction that waits for it covers the four warps of one
group only: before the buffers are written again, all eight have to meet. Triton's wait lets all warps meet by itself
unless membar has marked it `warpGroupLocal`, which it does where a barrier follows anyway.
"""

# mypy: ignore-errors
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    warpgroup_mma,
    warpgroup_mma_wait,
)


@gluon.jit
def _setup(BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr):
    shared: gl.constexpr = gl.NVMMASharedLayout(128, 16)
    a_buffer = gl.allocate_shared_memory(gl.float16, [BLOCK_M, BLOCK_K], shared)
    b_buffer = gl.allocate_shared_memory(gl.float16, [BLOCK_K, BLOCK_N], shared)
    return a_buffer, b_buffer


@gluon.jit
def _fetch(a_ptr, b_ptr, n, k, step, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr):
    wide: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [8, 1], [1, 0])
    rows = gl.program_id(0) * BLOCK_M + gl.arange(0, BLOCK_M, layout=gl.SliceLayout(1, wide))
    cols = gl.program_id(1) * BLOCK_N + gl.arange(0, BLOCK_N, layout=gl.SliceLayout(0, wide))
    across = step * BLOCK_K + gl.arange(0, BLOCK_K, layout=gl.SliceLayout(0, wide))
    down = step * BLOCK_K + gl.arange(0, BLOCK_K, layout=gl.SliceLayout(1, wide))
    a = gl.load(a_ptr + rows[:, None] * k + across[None, :])
    b = gl.load(b_ptr + down[:, None] * n + cols[None, :])
    return a, b


@gluon.jit
def _store(c_ptr, acc, n, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, MMA: gl.constexpr):
    rows = gl.program_id(0) * BLOCK_M + gl.arange(0, BLOCK_M, layout=gl.SliceLayout(1, MMA))
    cols = gl.program_id(1) * BLOCK_N + gl.arange(0, BLOCK_N, layout=gl.SliceLayout(0, MMA))
    gl.store(c_ptr + rows[:, None] * n + cols[None, :], acc)


@gluon.jit
def single(a_ptr, b_ptr, c_ptr, n, k, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr):
    """Correct: write, fence, barrier, multiply, fetch the next meanwhile, wait, barrier."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [8, 1], [16, BLOCK_N, 16])
    a_buffer, b_buffer = _setup(BLOCK_M, BLOCK_N, BLOCK_K)
    a, b = _fetch(a_ptr, b_ptr, n, k, 0, BLOCK_M, BLOCK_N, BLOCK_K)
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    steps = k // BLOCK_K
    for step in range(steps):
        a_buffer.store(a)
        b_buffer.store(b)
        fence_async_shared()
        gl.barrier()
        acc = warpgroup_mma(a_buffer, b_buffer, acc, is_async=True)
        a, b = _fetch(a_ptr, b_ptr, n, k, gl.minimum(step + 1, steps - 1), BLOCK_M, BLOCK_N, BLOCK_K)
        acc = warpgroup_mma_wait(0, deps=[acc])
        gl.barrier()
    _store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def single_implicit(
    a_ptr, b_ptr, c_ptr, n, k, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr
):
    """Correct as well: nothing follows the wait, so it keeps the rendezvous that it brings along."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [8, 1], [16, BLOCK_N, 16])
    a_buffer, b_buffer = _setup(BLOCK_M, BLOCK_N, BLOCK_K)
    a, b = _fetch(a_ptr, b_ptr, n, k, 0, BLOCK_M, BLOCK_N, BLOCK_K)
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    steps = k // BLOCK_K
    for step in range(steps):
        a_buffer.store(a)
        b_buffer.store(b)
        fence_async_shared()
        gl.barrier()
        acc = warpgroup_mma(a_buffer, b_buffer, acc, is_async=True)
        a, b = _fetch(a_ptr, b_ptr, n, k, gl.minimum(step + 1, steps - 1), BLOCK_M, BLOCK_N, BLOCK_K)
        acc = warpgroup_mma_wait(0, deps=[acc])
    _store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def single_unfinished(
    a_ptr, b_ptr, c_ptr, n, k, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr
):
    """The product may still be reading when the buffers are written again; the barrier does not wait for it."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [8, 1], [16, BLOCK_N, 16])
    a_buffer, b_buffer = _setup(BLOCK_M, BLOCK_N, BLOCK_K)
    a, b = _fetch(a_ptr, b_ptr, n, k, 0, BLOCK_M, BLOCK_N, BLOCK_K)
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    steps = k // BLOCK_K
    for step in range(steps):
        a_buffer.store(a)
        b_buffer.store(b)
        fence_async_shared()
        gl.barrier()
        acc = warpgroup_mma(a_buffer, b_buffer, acc, is_async=True)
        a, b = _fetch(a_ptr, b_ptr, n, k, gl.minimum(step + 1, steps - 1), BLOCK_M, BLOCK_N, BLOCK_K)
        acc = warpgroup_mma_wait(1, deps=[acc])  # MISTAKE: the wait leaves the product that reads the buffers
        gl.barrier()
    _store(c_ptr, warpgroup_mma_wait(0, deps=[acc]), n, BLOCK_M, BLOCK_N, mma)


@gluon.jit
def single_unwritten(
    a_ptr, b_ptr, c_ptr, n, k, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, BLOCK_K: gl.constexpr
):
    """The product starts on what other warps are still writing."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [8, 1], [16, BLOCK_N, 16])
    a_buffer, b_buffer = _setup(BLOCK_M, BLOCK_N, BLOCK_K)
    a, b = _fetch(a_ptr, b_ptr, n, k, 0, BLOCK_M, BLOCK_N, BLOCK_K)
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, mma)
    steps = k // BLOCK_K
    for step in range(steps):
        a_buffer.store(a)
        b_buffer.store(b)
        fence_async_shared()
        # MISTAKE: no barrier before the product reads the buffers
        acc = warpgroup_mma(a_buffer, b_buffer, acc, is_async=True)
        a, b = _fetch(a_ptr, b_ptr, n, k, gl.minimum(step + 1, steps - 1), BLOCK_M, BLOCK_N, BLOCK_K)
        acc = warpgroup_mma_wait(0, deps=[acc])
        gl.barrier()
    _store(c_ptr, acc, n, BLOCK_M, BLOCK_N, mma)
