"""Control flow that a compiler cannot see through: calls, data-dependent branches and loops, atomics in between."""

# mypy: ignore-errors
from __future__ import annotations

import triton
import triton.language as tl


# A call that is not inlined takes scalars only, so the callees load for themselves.
@triton.jit(noinline=True)
def _norm(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    return tl.sqrt(tl.sum(x * x, axis=0))


@triton.jit
def call(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A function that stays a call and has shared memory of its own, called between the caller's own uses."""
    row = tl.program_id(0) * n
    x = tl.load(x_ptr + row + tl.arange(0, BLOCK))
    y = tl.load(y_ptr + row + tl.arange(0, BLOCK))
    dot = tl.sum(x * y, axis=0)
    cosine = dot / (_norm(x_ptr + row, BLOCK) * _norm(y_ptr + row, BLOCK))
    tl.store(out_ptr + tl.program_id(0), cosine + tl.max(x, axis=0))


@triton.jit(noinline=True)
def _prefix(x_ptr, out_ptr, offset, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, tl.cumsum(tl.load(x_ptr + lanes), axis=0) + offset)


@triton.jit
def call_in_loop(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """The call inside a loop: its last access meets its own first one across the back edge."""
    offset = 0.0
    for start in range(0, n, BLOCK):
        _prefix(x_ptr + start, out_ptr + start, offset, BLOCK)
        offset += tl.sum(tl.load(x_ptr + start + tl.arange(0, BLOCK)), axis=0)


@triton.jit(noinline=True)
def _row_peak(x_ptr, BLOCK: tl.constexpr):
    return tl.max(tl.load(x_ptr + tl.arange(0, BLOCK)), axis=0)


@triton.jit(noinline=True)
def _row_spread(x_ptr, BLOCK: tl.constexpr):
    peak = _row_peak(x_ptr, BLOCK)
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    return tl.sum(peak - x, axis=0) - _row_peak(x_ptr, BLOCK)


@triton.jit
def call_nested(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A call within a call, while a tile of the caller's own is on its way through shared memory."""
    row = tl.program_id(0) * n
    spread = _row_spread(x_ptr + row, BLOCK)
    x = tl.load(x_ptr + row + tl.arange(0, BLOCK))
    y = tl.ravel(tl.trans(tl.reshape(x, (BLOCK // 16, 16))))
    tl.store(out_ptr + row + tl.arange(0, BLOCK), y + spread)


@triton.jit
def converge(x_ptr, out_ptr, steps_ptr, n, limit, BLOCK: tl.constexpr):
    """A while loop whose end depends on a reduction of the data: divide by two until the norm is below limit."""
    row = tl.program_id(0)
    at = row * n + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    steps = 0
    norm = tl.sum(tl.abs(x), axis=0)
    while norm > limit:
        x = x * 0.5
        norm = tl.sum(tl.abs(x), axis=0)
        steps += 1
    tl.store(out_ptr + at, x)
    tl.store(steps_ptr + row, steps)


@triton.jit
def branch(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """One side sorts and scans, the other transposes; both join in a reduction."""
    row = tl.program_id(0)
    at = row * n + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    if tl.sum(x, axis=0) > 0.0:
        y = tl.cumsum(x, axis=0)
    else:
        y = tl.ravel(tl.trans(tl.reshape(x, (BLOCK // 16, 16))))
    tl.store(out_ptr + at, y - tl.max(y, axis=0))


@triton.jit
def branch_in_loop(x_ptr, flags_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A reduction in only some iterations, and an early end: whether memory was touched depends on the data."""
    lanes = tl.arange(0, BLOCK)
    total = 0.0
    for start in range(0, n, BLOCK):
        flag = tl.load(flags_ptr + start // BLOCK)
        x = tl.load(x_ptr + start + lanes)
        if flag == 1:
            total += tl.sum(x, axis=0)
        elif flag == 2:
            total = tl.maximum(total, tl.max(x * total, axis=0))
    if total > 0.0:
        tl.store(out_ptr + 1, tl.sum(tl.load(x_ptr + lanes), axis=0))
    tl.store(out_ptr, total)


@triton.jit
def matmul_skip(
    a_ptr, b_ptr, use_ptr, c_ptr, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """A product that leaves out the blocks of K that a table rules out: a branch around loads and dot."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for block in range(k // BLOCK_K):
        if tl.load(use_ptr + block) != 0:
            inner = block * BLOCK_K + depth
            a = tl.load(a_ptr + rows[:, None] * k + inner[None, :])
            b = tl.load(b_ptr + inner[:, None] * n + cols[None, :])
            acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], acc)


@triton.jit
def tickets(x_ptr, partial_ptr, count_ptr, out_ptr, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    """Every program reduces its block; the one that takes the last ticket reduces the partial sums.

    The scalar atomic hands its result to all warps through shared memory, next to the scratch of the reductions.
    """
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.store(partial_ptr + tl.program_id(0), tl.sum(x, axis=0))
    tl.debug_barrier()
    if tl.atomic_add(count_ptr, 1) == PROGRAMS - 1:
        partial = tl.load(partial_ptr + tl.arange(0, PROGRAMS), volatile=True)
        tl.store(out_ptr, tl.sum(partial, axis=0))


@triton.jit
def atomic_chain(x_ptr, slots_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Scalar and block atomics whose results are used, in a loop, with a compare-and-swap at the end."""
    lanes = tl.arange(0, BLOCK)
    for start in range(0, n, BLOCK):
        first = tl.atomic_add(slots_ptr, BLOCK)
        old = tl.atomic_max(slots_ptr + 1 + lanes, tl.load(x_ptr + start + lanes))
        tl.store(out_ptr + first + lanes, tl.sum(old, axis=0) + lanes)
    tl.atomic_cas(slots_ptr, n, 0)
