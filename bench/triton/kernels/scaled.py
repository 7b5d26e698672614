"""A matrix product of micro-scaled operands."""

# mypy: ignore-errors
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def matmul_scaled(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """fp8 values (e5m2) with one shared exponent (e8m0) for 32 of them along K; b's scales are stored (n, k)."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    blocks = tl.arange(0, BLOCK_K // 32)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, k, BLOCK_K):
        a = tl.load(a_ptr + rows[:, None] * k + (step + depth)[None, :])
        b = tl.load(b_ptr + (step + depth)[:, None] * n + cols[None, :])
        a_scale = tl.load(a_scale_ptr + rows[:, None] * (k // 32) + (step // 32 + blocks)[None, :])
        b_scale = tl.load(b_scale_ptr + cols[:, None] * (k // 32) + (step // 32 + blocks)[None, :])
        acc = tl.dot_scaled(a, a_scale, "e5m2", b, b_scale, "e5m2", acc)
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], acc)
