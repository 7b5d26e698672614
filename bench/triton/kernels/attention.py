"""Attention over one head: the forward pass, and the two backward passes as one kernel each."""

# mypy: ignore-errors
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, length, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEAD: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """softmax(q @ k.T) @ v with a running maximum: two dots that depend on each other in every iteration."""
    tile = tl.program_id(0)
    base = tl.program_id(1) * length * HEAD
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD)
    q = tl.load(q_ptr + base + rows[:, None] * HEAD + dims[None, :])
    peak = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, HEAD), dtype=tl.float32)
    end = (tile + 1) * BLOCK_M if CAUSAL else length
    for start in range(0, end, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + base + cols[:, None] * HEAD + dims[None, :])
        scores = tl.dot(q, tl.trans(k)) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= cols[None, :], scores, -float("inf"))
        higher = tl.maximum(peak, tl.max(scores, axis=1))
        p = tl.exp2((scores - higher[:, None]) * 1.4426950408889634)
        shrink = tl.exp2((peak - higher) * 1.4426950408889634)
        total = total * shrink + tl.sum(p, axis=1)
        acc = acc * shrink[:, None]
        v = tl.load(v_ptr + base + cols[:, None] * HEAD + dims[None, :])
        acc = tl.dot(p.to(v.dtype), v, acc)
        peak = higher
    out = acc / total[:, None]
    tl.store(out_ptr + base + rows[:, None] * HEAD + dims[None, :], out.to(out_ptr.dtype.element_ty))
    tl.store(lse_ptr + tl.program_id(1) * length + rows, peak + tl.log(total))


@triton.jit
def attention_backward_kv(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, length, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEAD: tl.constexpr,
):  # fmt: skip
    """dk and dv of one block of keys: four dots per iteration, two of them on a transposed product."""
    base = tl.program_id(1) * length * HEAD
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dims = tl.arange(0, HEAD)
    k = tl.load(k_ptr + base + cols[:, None] * HEAD + dims[None, :])
    v = tl.load(v_ptr + base + cols[:, None] * HEAD + dims[None, :])
    dk = tl.zeros((BLOCK_N, HEAD), dtype=tl.float32)
    dv = tl.zeros((BLOCK_N, HEAD), dtype=tl.float32)
    for start in range(0, length, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        q = tl.load(q_ptr + base + rows[:, None] * HEAD + dims[None, :])
        do = tl.load(do_ptr + base + rows[:, None] * HEAD + dims[None, :])
        lse = tl.load(lse_ptr + tl.program_id(1) * length + rows)
        delta = tl.load(delta_ptr + tl.program_id(1) * length + rows)
        p = tl.exp(tl.dot(q, tl.trans(k)) * scale - lse[:, None])
        dv = tl.dot(tl.trans(p.to(do.dtype)), do, dv)
        dp = tl.dot(do, tl.trans(v))
        ds = (p * (dp - delta[:, None]) * scale).to(q.dtype)
        dk = tl.dot(tl.trans(ds), q, dk)
    at = base + cols[:, None] * HEAD + dims[None, :]
    tl.store(dk_ptr + at, dk.to(dk_ptr.dtype.element_ty))
    tl.store(dv_ptr + at, dv.to(dv_ptr.dtype.element_ty))


@triton.jit
def attention_backward_q(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dq_ptr, length, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEAD: tl.constexpr,
):  # fmt: skip
    """dq of one block of queries: the keys are read transposed and as they are, from the same load."""
    base = tl.program_id(1) * length * HEAD
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD)
    q = tl.load(q_ptr + base + rows[:, None] * HEAD + dims[None, :])
    do = tl.load(do_ptr + base + rows[:, None] * HEAD + dims[None, :])
    lse = tl.load(lse_ptr + tl.program_id(1) * length + rows)
    delta = tl.load(delta_ptr + tl.program_id(1) * length + rows)
    dq = tl.zeros((BLOCK_M, HEAD), dtype=tl.float32)
    for start in range(0, length, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + base + cols[:, None] * HEAD + dims[None, :])
        v = tl.load(v_ptr + base + cols[:, None] * HEAD + dims[None, :])
        p = tl.exp(tl.dot(q, tl.trans(k)) * scale - lse[:, None])
        dp = tl.dot(do, tl.trans(v))
        ds = (p * (dp - delta[:, None]) * scale).to(k.dtype)
        dq = tl.dot(ds, k, dq)
    tl.store(dq_ptr + base + rows[:, None] * HEAD + dims[None, :], dq.to(dq_ptr.dtype.element_ty))
