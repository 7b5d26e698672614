"""Reductions of one block: along either axis, to a scalar, of several values at once."""

# mypy: ignore-errors
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def sum_rows(x_ptr, out_ptr, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    """Axis 1 of a two-dimensional block: one sum per row."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    x = tl.load(x_ptr + rows[:, None] * n + cols[None, :])
    tl.store(out_ptr + rows, tl.sum(x, axis=1))


@triton.jit
def sum_columns(x_ptr, out_ptr, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    """Axis 0: partners lie in different warps, so the result crosses shared memory."""
    rows = tl.arange(0, ROWS)
    cols = tl.program_id(0) * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + rows[:, None] * n + cols[None, :])
    tl.store(out_ptr + cols, tl.sum(x, axis=0))


@triton.jit
def sum_both_axes(x_ptr, row_ptr, col_ptr, all_ptr, ROWS: tl.constexpr, COLS: tl.constexpr):
    """Three reductions of the same block, back to back over the same scratch memory."""
    rows = tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    x = tl.load(x_ptr + rows[:, None] * COLS + cols[None, :])
    by_row = tl.sum(x, axis=1)
    by_col = tl.sum(x, axis=0)
    tl.store(row_ptr + rows, by_row)
    tl.store(col_ptr + cols, by_col)
    tl.store(all_ptr, tl.sum(by_row, axis=0) + tl.max(by_col, axis=0))


@triton.jit
def argmax_rows(x_ptr, value_ptr, index_ptr, n, COLS: tl.constexpr):
    """The largest value of a row and where it stands: a reduction of pairs."""
    row = tl.program_id(0)
    cols = tl.arange(0, COLS)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=-float("inf"))
    value, index = tl.max(x, axis=0, return_indices=True)
    tl.store(value_ptr + row, value)
    tl.store(index_ptr + row, index)


@triton.jit
def _merge_moments(mean_a, m2_a, weight_a, mean_b, m2_b, weight_b):
    delta = mean_b - mean_a
    weight = weight_a + weight_b
    ratio = tl.where(weight == 0.0, 0.0, weight_b / weight)
    return mean_a + delta * ratio, m2_a + m2_b + delta * delta * weight_a * ratio, weight


@triton.jit
def moments(x_ptr, mean_ptr, var_ptr, n, COLS: tl.constexpr):
    """Mean and variance by merging (mean, m2, weight) triples: three scratch buffers in one reduction."""
    row = tl.program_id(0)
    cols = tl.arange(0, COLS)
    inside = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=inside, other=0.0)
    weight = tl.where(inside, 1.0, 0.0)
    mean, m2, total = tl.reduce((x, tl.zeros_like(x), weight), 0, _merge_moments)
    tl.store(mean_ptr + row, mean)
    tl.store(var_ptr + row, m2 / total)


@triton.jit
def sum_loop(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A reduction inside the loop: its scratch memory is used anew in every iteration."""
    cols = tl.arange(0, BLOCK)
    total = 0.0
    peak = -float("inf")
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + start + cols, mask=start + cols < n, other=0.0)
        total += tl.sum(x, axis=0)
        peak = tl.maximum(peak, tl.max(x, axis=0))
    tl.store(out_ptr, total)
    tl.store(out_ptr + 1, peak)
