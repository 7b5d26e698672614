"""Kernels that move data between lanes and warps: transposes, scans, sorts, histograms, gathers."""

# mypy: ignore-errors
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def transpose_pointers(x_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    """A transpose by the order of the pointers alone: loads and stores want different layouts."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i[:, None] * cols + j[None, :])
    tl.store(out_ptr + i[:, None] + j[None, :] * rows, x)


@triton.jit
def transpose_trans(x_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    """The same through tl.trans."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i[:, None] * cols + j[None, :])
    tl.store(out_ptr + j[:, None] * rows + i[None, :], tl.trans(x))


@triton.jit
def transpose_loop(x_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    """A strip of tiles, one after another: each conversion uses the scratch memory of the last."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for start in range(0, cols, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i[:, None] * cols + j[None, :])
        tl.store(out_ptr + j[:, None] * rows + i[None, :], tl.trans(x))


@triton.jit
def permute_reshape(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """(A, B, C) to (C, A * B): a permutation and a reshape in one."""
    a = tl.arange(0, A)
    b = tl.arange(0, B)
    c = tl.arange(0, C)
    x = tl.load(x_ptr + a[:, None, None] * (B * C) + b[None, :, None] * C + c[None, None, :])
    y = tl.reshape(tl.permute(x, (2, 0, 1)), (C, A * B))
    tl.store(out_ptr + c[:, None] * (A * B) + tl.arange(0, A * B)[None, :], y)


@triton.jit
def cumsum_rows(x_ptr, out_ptr, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    """A running sum along axis 1."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = rows[:, None] * n + tl.arange(0, COLS)[None, :]
    tl.store(out_ptr + at, tl.cumsum(tl.load(x_ptr + at), axis=1))


@triton.jit
def cumsum_columns_reversed(x_ptr, out_ptr, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    """A running sum along axis 0 from the end: it crosses the warps."""
    cols = tl.program_id(0) * COLS + tl.arange(0, COLS)
    at = tl.arange(0, ROWS)[:, None] * n + cols[None, :]
    tl.store(out_ptr + at, tl.cumsum(tl.load(x_ptr + at), axis=0, reverse=True))


@triton.jit
def _linear(decay_a, value_a, decay_b, value_b):
    return decay_a * decay_b, decay_b * value_a + value_b


@triton.jit
def recurrence(decay_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """h[t] = decay[t] * h[t - 1] + x[t] as a scan of pairs, block after block with the state carried along."""
    row = tl.program_id(0)
    state = 0.0
    lanes = tl.arange(0, BLOCK)
    for start in range(0, n, BLOCK):
        at = row * n + start + lanes
        inside = start + lanes < n
        decay = tl.load(decay_ptr + at, mask=inside, other=1.0)
        x = tl.load(x_ptr + at, mask=inside, other=0.0)
        decays, values = tl.associative_scan((decay, x), 0, _linear)
        h = decays * state + values
        tl.store(out_ptr + at, h, mask=inside)
        state = tl.sum(tl.where(lanes == BLOCK - 1, h, 0.0), axis=0)


@triton.jit
def sort_rows(x_ptr, out_ptr, n, COLS: tl.constexpr):
    """A bitonic sort of one row."""
    at = tl.program_id(0) * n + tl.arange(0, COLS)
    tl.store(out_ptr + at, tl.sort(tl.load(x_ptr + at), dim=0))


@triton.jit
def top_k(x_ptr, out_ptr, n, COLS: tl.constexpr, K: tl.constexpr):
    """The K largest values of a row in falling order."""
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * n + tl.arange(0, COLS))
    tl.store(out_ptr + row * K + tl.arange(0, K), tl.topk(x, K, dim=0))


@triton.jit
def histogram(x_ptr, out_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    """Counts of a whole array: a histogram per block in shared memory, then atomics on the result."""
    lanes = tl.arange(0, BLOCK)
    counts = tl.zeros((BINS,), dtype=tl.int32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        inside = start + lanes < n
        x = tl.load(x_ptr + start + lanes, mask=inside, other=0)
        counts += tl.histogram(x, BINS, mask=inside)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), counts)


@triton.jit
def gather_rows(table_ptr, index_ptr, out_ptr, ROWS: tl.constexpr, COLS: tl.constexpr, OUT: tl.constexpr):
    """out[i, j] = table[index[i, j], j] with the table in registers: the gather goes through shared memory."""
    cols = tl.arange(0, COLS)
    table = tl.load(table_ptr + tl.arange(0, ROWS)[:, None] * COLS + cols[None, :])
    at = tl.arange(0, OUT)[:, None] * COLS + cols[None, :]
    tl.store(out_ptr + at, tl.gather(table, tl.load(index_ptr + at), axis=0))


@triton.jit
def flip_join(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A block reversed, interleaved with itself, split again and converted: several exchanges in a row."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    both = tl.interleave(x, tl.flip(x, 0))
    tl.store(out_ptr + tl.program_id(0) * 2 * BLOCK + tl.arange(0, 2 * BLOCK), tl.cumsum(both, axis=0))
