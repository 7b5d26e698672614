"""Matrix products that differ in how the work is dealt out: split along K, persistent, grouped, chained."""

# mypy: ignore-errors
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def matmul_split_k(
    a_ptr, b_ptr, c_ptr, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """SPLIT programs share one tile of c and add their parts to it atomically; c starts at zero."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.program_id(2) * BLOCK_K + tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, k, BLOCK_K * SPLIT):
        a = tl.load(a_ptr + rows[:, None] * k + (step + depth)[None, :])
        b = tl.load(b_ptr + (step + depth)[:, None] * n + cols[None, :])
        acc = tl.dot(a, b, acc)
    tl.atomic_add(c_ptr + rows[:, None] * n + cols[None, :], acc, sem="relaxed")


@triton.jit
def matmul_split_k_lock(
    a_ptr, b_ptr, c_ptr, lock_ptr, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """The same with a lock per tile instead: a spinning compare-and-swap, a plain update, an exchange."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.program_id(2) * BLOCK_K + tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, k, BLOCK_K * SPLIT):
        a = tl.load(a_ptr + rows[:, None] * k + (step + depth)[None, :])
        b = tl.load(b_ptr + (step + depth)[:, None] * n + cols[None, :])
        acc = tl.dot(a, b, acc)
    lock = lock_ptr + tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    c_ptrs = c_ptr + rows[:, None] * n + cols[None, :]
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(c_ptrs, tl.load(c_ptrs) + acc)
    # Every warp has to have stored before the lock is free again.
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def matmul_persistent(
    a_ptr, b_ptr, c_ptr, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """A fixed number of programs walks over the tiles: the pipeline fills and drains once per tile."""
    tiles_n = n // BLOCK_N
    tiles = (m // BLOCK_M) * tiles_n
    depth = tl.arange(0, BLOCK_K)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        rows = (tile // tiles_n) * BLOCK_M + tl.arange(0, BLOCK_M)
        cols = (tile % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for step in range(0, k, BLOCK_K):
            a = tl.load(a_ptr + rows[:, None] * k + (step + depth)[None, :])
            b = tl.load(b_ptr + (step + depth)[:, None] * n + cols[None, :])
            acc = tl.dot(a, b, acc)
        tl.store(c_ptr + rows[:, None] * n + cols[None, :], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def matmul_flattened(
    a_ptr, b_ptr, c_ptr, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """The persistent product with its two loops fused into one by the compiler."""
    tiles_n = n // BLOCK_N
    tiles = (m // BLOCK_M) * tiles_n
    depth = tl.arange(0, BLOCK_K)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        rows = (tile // tiles_n) * BLOCK_M + tl.arange(0, BLOCK_M)
        cols = (tile % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for step in range(0, k, BLOCK_K):
            a = tl.load(a_ptr + rows[:, None] * k + (step + depth)[None, :])
            b = tl.load(b_ptr + (step + depth)[:, None] * n + cols[None, :])
            acc = tl.dot(a, b, acc)
        tl.store(c_ptr + rows[:, None] * n + cols[None, :], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def matmul_grouped(
    a_ptr, b_ptr, c_ptr, first_ptr, groups, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Rows of a belong to groups, each with its own b; group g has the rows first[g] .. first[g + 1] - 1.

    Three nested loops, the outer two of unknown length, which may be zero for an empty group.
    """
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    for group in range(groups):
        first = tl.load(first_ptr + group)
        last = tl.load(first_ptr + group + 1)
        for top in range(first + tl.program_id(0) * BLOCK_M, last, tl.num_programs(0) * BLOCK_M):
            rows = top + tl.arange(0, BLOCK_M)
            inside = rows < last
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for step in range(0, k, BLOCK_K):
                inner = step + depth
                a = tl.load(a_ptr + rows[:, None] * k + inner[None, :], mask=inside[:, None], other=0.0)
                b = tl.load(b_ptr + group * k * n + inner[:, None] * n + cols[None, :])
                acc = tl.dot(a, b, acc)
            out = acc.to(c_ptr.dtype.element_ty)
            tl.store(c_ptr + rows[:, None] * n + cols[None, :], out, mask=inside[:, None])


@triton.jit
def matmul_chained(
    a_ptr, b_ptr, c_ptr, d_ptr, length,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEAD: tl.constexpr,
):  # fmt: skip
    """(a @ b.T) @ c without anything between the two: the first product becomes an operand of the second."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD)
    a = tl.load(a_ptr + rows[:, None] * HEAD + dims[None, :])
    acc = tl.zeros((BLOCK_M, HEAD), dtype=tl.float32)
    for start in range(0, length, BLOCK_N):
        inner = start + tl.arange(0, BLOCK_N)
        b = tl.load(b_ptr + inner[:, None] * HEAD + dims[None, :])
        c = tl.load(c_ptr + inner[:, None] * HEAD + dims[None, :])
        acc = tl.dot(tl.dot(a, tl.trans(b)).to(c.dtype), c, acc)
    tl.store(d_ptr + rows[:, None] * HEAD + dims[None, :], acc.to(d_ptr.dtype.element_ty))
