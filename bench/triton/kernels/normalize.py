"""Softmax and layer norm: rows in one go, rows in a loop, and the backward pass."""

# mypy: ignore-errors
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def softmax_row(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """The whole row in registers: a maximum, then a sum."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    out = numerator / tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * n + cols, out.to(out_ptr.dtype.element_ty), mask=cols < n)


@triton.jit
def softmax_loop(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """The row in pieces with a running maximum and sum, then a second loop that writes."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    peak = -float("inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + row * n + start + cols, mask=start + cols < n, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(peak, tl.max(x, axis=0))
        total = total * tl.exp(peak - higher) + tl.sum(tl.exp(x - higher), axis=0)
        peak = higher
    for start in range(0, n, BLOCK):
        inside = start + cols < n
        x = tl.load(x_ptr + row * n + start + cols, mask=inside, other=0.0).to(tl.float32)
        out = tl.exp(x - peak) / total
        tl.store(out_ptr + row * n + start + cols, out.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def layer_norm(x_ptr, weight_ptr, bias_ptr, out_ptr, mean_ptr, rstd_ptr, n, eps, BLOCK: tl.constexpr):
    """Forward: mean and variance of the row, and both kept for the way back."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(inside, x - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    weight = tl.load(weight_ptr + cols, mask=inside, other=0.0)
    bias = tl.load(bias_ptr + cols, mask=inside, other=0.0)
    out = centred * rstd * weight + bias
    tl.store(out_ptr + row * n + cols, out.to(out_ptr.dtype.element_ty), mask=inside)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


@triton.jit
def layer_norm_backward(
    dy_ptr, x_ptr, weight_ptr, mean_ptr, rstd_ptr, dx_ptr, dweight_ptr, dbias_ptr, rows, n,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """dx per row by two reductions along axis 1; dweight and dbias by reductions along axis 0 and atomics."""
    cols = tl.arange(0, BLOCK)
    inside = cols < n
    weight = tl.load(weight_ptr + cols, mask=inside, other=0.0)
    dweight = tl.zeros((BLOCK,), dtype=tl.float32)
    dbias = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(tl.program_id(0) * ROWS, rows, tl.num_programs(0) * ROWS):
        row = start + tl.arange(0, ROWS)
        mask = (row < rows)[:, None] & inside[None, :]
        at = row[:, None] * n + cols[None, :]
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + at, mask=mask, other=0.0).to(tl.float32)
        mean = tl.load(mean_ptr + row, mask=row < rows, other=0.0)
        rstd = tl.load(rstd_ptr + row, mask=row < rows, other=0.0)
        normal = tl.where(mask, (x - mean[:, None]) * rstd[:, None], 0.0)
        scaled = weight[None, :] * dy
        along = tl.sum(normal * scaled, axis=1) / n
        level = tl.sum(scaled, axis=1) / n
        dx = (scaled - normal * along[:, None] - level[:, None]) * rstd[:, None]
        tl.store(dx_ptr + at, dx.to(dx_ptr.dtype.element_ty), mask=mask)
        dweight += tl.sum(dy * normal, axis=0)
        dbias += tl.sum(dy, axis=0)
    tl.atomic_add(dweight_ptr + cols, dweight, mask=inside)
    tl.atomic_add(dbias_ptr + cols, dbias, mask=inside)
