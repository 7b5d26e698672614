"""Plain matrix products: one tile per program, a loop over K.

The number of stages, of warps and the type of the inputs come from the corpus; the same source covers
everything from one unpipelined warp to four stages on eight warps.
"""

# mypy: ignore-errors
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """c = a @ b, all row major; K is cut by the mask, M and N are whole tiles."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * k + depth[None, :]
    b_ptrs = b_ptr + depth[:, None] * n + cols[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32 if a_ptr.dtype.element_ty == tl.int8 else tl.float32)
    for step in range(0, k, BLOCK_K):
        a = tl.load(a_ptrs, mask=depth[None, :] < k - step, other=0.0)
        b = tl.load(b_ptrs, mask=depth[:, None] < k - step, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * n
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def matmul_transposed_b(
    a_ptr, b_ptr, c_ptr, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """c = a @ b.T with b stored as (n, k): the operand is transposed on its way out of shared memory."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, k, BLOCK_K):
        a = tl.load(a_ptr + rows[:, None] * k + (step + depth)[None, :])
        b = tl.load(b_ptr + cols[:, None] * k + (step + depth)[None, :])
        acc = tl.dot(a, tl.trans(b), acc)
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def matmul_epilogue(
    a_ptr, b_ptr, bias_ptr, c_ptr, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """relu(a @ b + bias)**2, then every row divided by its own maximum: the epilogue reduces as well."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, k, BLOCK_K):
        a = tl.load(a_ptr + rows[:, None] * k + (step + depth)[None, :])
        b = tl.load(b_ptr + (step + depth)[:, None] * n + cols[None, :])
        acc = tl.dot(a, b, acc)
    bias = tl.load(bias_ptr + cols)
    acc = tl.maximum(acc + bias[None, :], 0.0)
    acc = acc * acc
    acc = acc / (tl.max(acc, axis=1)[:, None] + 1.0)
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def matmul_batched(
    a_ptr, b_ptr, c_ptr, m, n, k,
    BLOCK_B: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """A three-dimensional dot: BLOCK_B products at once, one tile of each."""
    batch = tl.program_id(0) * BLOCK_B + tl.arange(0, BLOCK_B)
    rows = tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_B, BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, k, BLOCK_K):
        inner = step + depth
        a = tl.load(a_ptr + batch[:, None, None] * (m * k) + rows[None, :, None] * k + inner[None, None, :])
        b = tl.load(b_ptr + batch[:, None, None] * (k * n) + inner[None, :, None] * n + cols[None, None, :])
        acc = tl.dot(a, b, acc)
    out = c_ptr + batch[:, None, None] * (m * n) + rows[None, :, None] * n + cols[None, None, :]
    tl.store(out, acc.to(c_ptr.dtype.element_ty))
