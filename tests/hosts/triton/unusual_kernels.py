"""Kernels that combine what is seldom combined: loops in loops, waits for other programs, calls under conditions."""

# mypy: ignore-errors
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def pipelines_in_each_other(a, b, bias, c, k, tiles, BLOCK: tl.constexpr, STEP: tl.constexpr):
    """A pipelined loop within another one that loads as well."""
    rows = tl.arange(0, BLOCK)
    steps = tl.arange(0, STEP)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for tile in tl.range(0, tiles, num_stages=2):
        left = tl.load(bias + tile * BLOCK * BLOCK + rows[:, None] * BLOCK + rows[None, :])
        product = tl.zeros((BLOCK, BLOCK), tl.float32)
        for at in tl.range(0, k, STEP, num_stages=3):
            x = tl.load(a + tile * BLOCK * k + rows[:, None] * k + (at + steps)[None, :])
            y = tl.load(b + (at + steps)[:, None] * BLOCK + rows[None, :])
            product = tl.dot(x, y, product)
        total = tl.dot(left, product.to(tl.float16), total)
    tl.store(c + rows[:, None] * BLOCK + rows[None, :], total)


@triton.jit
def stream_k(a, b, c, locks, parts, k, n, share, BLOCK: tl.constexpr, STEP: tl.constexpr):
    """Tiles in parts: whoever finishes one waits for the program that has the rest of it."""
    rows = tl.arange(0, BLOCK)
    steps = tl.arange(0, STEP)
    at = tl.program_id(0) * share
    end = at + share
    while at < end:
        tile = at // 8
        stop = tl.minimum(tile * 8 + 8, end)
        product = tl.zeros((BLOCK, BLOCK), tl.float32)
        for step in range(at, stop):
            x = tl.load(a + tile * BLOCK * k + rows[:, None] * k + (step * STEP + steps)[None, :])
            y = tl.load(b + (step * STEP + steps)[:, None] * n + rows[None, :])
            product = tl.dot(x, y, product)
        place = parts + tile * BLOCK * BLOCK + rows[:, None] * BLOCK + rows[None, :]
        if at % 8 != 0:
            tl.store(place, product)
            tl.debug_barrier()
            tl.atomic_xchg(locks + tile, 1, sem="release")
        else:
            if stop % 8 != 0:
                while tl.atomic_cas(locks + tile, 1, 1, sem="acquire") != 1:
                    pass
                product += tl.load(place)
            tl.store(c + tile * BLOCK * n + rows[:, None] * n + rows[None, :], product)
        at = stop


@triton.jit
def radix_pass(x, out, n, BLOCK: tl.constexpr):
    """Histogram, scan, gather and sort of the same tile, twice in each iteration."""
    lanes = tl.arange(0, BLOCK)
    base = tl.zeros((16,), tl.int32)
    for start in range(0, n, BLOCK):
        keys = tl.load(x + start + lanes, mask=start + lanes < n, other=0)
        for shift in tl.static_range(0, 8, 4):
            digit = (keys >> shift) & 15
            counts = tl.histogram(digit, 16)
            offsets = tl.cumsum(counts, axis=0) - counts + base
            place = tl.gather(offsets, digit, axis=0) + tl.cumsum((digit == 0).to(tl.int32), axis=0)
            tl.store(out + place, keys, mask=start + lanes < n)
            base += counts
            keys = tl.sort(keys)
    tl.store(out + n + tl.arange(0, 16), base)


@triton.jit(noinline=True)
def _row(x, BLOCK: tl.constexpr):
    return tl.sum(tl.load(x + tl.arange(0, BLOCK)), axis=0)


@triton.jit(noinline=True)
def _rows(x, y, n, BLOCK: tl.constexpr):
    total = 0.0
    for number in range(n):
        if number % 2 == 0:
            total += _row(x + number * BLOCK, BLOCK)
        else:
            total = tl.maximum(total, _row(y + number * BLOCK, BLOCK))
    return total


@triton.jit
def calls_under_conditions(x, y, out, n, BLOCK: tl.constexpr):
    """Calls that call others in a loop, between uses of the caller's own memory, until the data says stop."""
    lanes = tl.arange(0, BLOCK)
    round = 0
    total = 0.0
    while total < 100.0:
        values = tl.load(x + round * BLOCK + lanes)
        total += _rows(x, y, n, BLOCK)
        ordered = tl.sort(values + total)
        if tl.max(ordered) > 1.0:
            total += _row(y, BLOCK)
        tl.store(out + lanes, ordered)
        round += 1


@triton.jit
def _affine(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def scans_of_pairs(x, out, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    """Scans of pairs along both axes, forwards and backwards, and a reduction with an index."""
    place = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    for tile in range(n):
        values = tl.load(x + tile * ROWS * COLS + place)
        one, other = tl.associative_scan((values, values), 0, _affine)
        one, other = tl.associative_scan((one, other), 1, _affine, reverse=True)
        best, at = tl.max(values, axis=1, return_indices=True)
        tl.store(out + place, one + other + (best + at)[:, None])


@triton.jit
def flattened_tiles(a, b, c, m, n, k, TILE: tl.constexpr, STEP: tl.constexpr):
    """A persistent product on descriptors, its loops made one: how often that runs is a quotient of two numbers."""
    a_desc = tl.make_tensor_descriptor(a, [m, k], [k, 1], [TILE, STEP])
    b_desc = tl.make_tensor_descriptor(b, [n, k], [k, 1], [TILE, STEP])
    c_desc = tl.make_tensor_descriptor(c, [m, n], [n, 1], [TILE, TILE])
    columns = tl.cdiv(n, TILE)
    tiles = tl.cdiv(m, TILE) * columns
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        product = tl.zeros((TILE, TILE), tl.float32)
        for step in range(tl.cdiv(k, STEP)):
            x = a_desc.load([tile // columns * TILE, step * STEP])
            y = b_desc.load([tile % columns * TILE, step * STEP])
            product = tl.dot(x, y.T, product)
        c_desc.store([tile // columns * TILE, tile % columns * TILE], product.to(tl.float16))
