"""Sums and counts in shared memory: a tree over halves of a buffer, and a histogram by atomics.

Any target, barriers by hand.
"""

# mypy: ignore-errors
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def _halve(partial, half: gl.constexpr, layout: gl.constexpr):
    low = partial.slice(0, half).load(layout)
    high = partial.slice(half, half).load(layout)
    gl.barrier()
    partial.slice(0, half).store(low + high)


@gluon.jit
def tree_sum(x_ptr, out_ptr, BLOCK: gl.constexpr, LANES: gl.constexpr, WARPS: gl.constexpr):
    """Halve the buffer until one warp's worth is left: the halves do not overlap, the rounds do."""
    layout: gl.constexpr = gl.BlockedLayout([1], [LANES], [WARPS], [0])
    partial = gl.allocate_shared_memory(gl.float32, [BLOCK], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    partial.store(gl.load(x_ptr + gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)))
    gl.barrier()
    for round in gl.static_range(3):
        _halve(partial, BLOCK >> (round + 1), layout)
        gl.barrier()
    rest = partial.slice(0, BLOCK >> 3).load(layout)
    # The sum has scratch memory of its own, which may lie on the bytes of `partial`.
    gl.barrier()
    gl.store(out_ptr + gl.program_id(0), gl.sum(rest, axis=0))


@gluon.jit
def tree_sum_unfenced(x_ptr, out_ptr, BLOCK: gl.constexpr, LANES: gl.constexpr, WARPS: gl.constexpr):
    """The next round reads the half that other warps have only just written."""
    layout: gl.constexpr = gl.BlockedLayout([1], [LANES], [WARPS], [0])
    partial = gl.allocate_shared_memory(gl.float32, [BLOCK], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    partial.store(gl.load(x_ptr + gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)))
    gl.barrier()
    for round in gl.static_range(3):
        # MISTAKE: no barrier after the partial sums are written
        _halve(partial, BLOCK >> (round + 1), layout)
    rest = partial.slice(0, BLOCK >> 3).load(layout)
    # The sum has scratch memory of its own, which may lie on the bytes of `partial`.
    gl.barrier()
    gl.store(out_ptr + gl.program_id(0), gl.sum(rest, axis=0))


@gluon.jit
def count(
    x_ptr, out_ptr, n, BLOCK: gl.constexpr, BINS: gl.constexpr, LANES: gl.constexpr, WARPS: gl.constexpr
):
    """Clear the bins, barrier, count by atomics (which need nothing among themselves), barrier, read."""
    layout: gl.constexpr = gl.BlockedLayout([1], [LANES], [WARPS], [0])
    bins = gl.allocate_shared_memory(gl.int32, [BINS], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    bins.store(gl.zeros([BINS], gl.int32, layout))
    gl.barrier()
    lanes = gl.arange(0, BLOCK, layout=layout)
    ones = gl.full([BLOCK], 1, gl.int32, layout)
    for start in range(gl.program_id(0) * BLOCK, n, gl.num_programs(0) * BLOCK):
        inside = start + lanes < n
        x = gl.load(x_ptr + start + lanes, mask=inside, other=0)
        bins.atomic_scatter_add(ones, x, axis=0, mask=inside)
    gl.barrier()
    gl.atomic_add(out_ptr + gl.arange(0, BINS, layout=layout), bins.load(layout))


@gluon.jit
def count_uncleared(
    x_ptr, out_ptr, n, BLOCK: gl.constexpr, BINS: gl.constexpr, LANES: gl.constexpr, WARPS: gl.constexpr,
):  # fmt: skip
    """Counting starts while other warps are still clearing."""
    layout: gl.constexpr = gl.BlockedLayout([1], [LANES], [WARPS], [0])
    bins = gl.allocate_shared_memory(gl.int32, [BINS], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    bins.store(gl.zeros([BINS], gl.int32, layout))
    lanes = gl.arange(0, BLOCK, layout=layout)
    ones = gl.full([BLOCK], 1, gl.int32, layout)
    for start in range(gl.program_id(0) * BLOCK, n, gl.num_programs(0) * BLOCK):
        inside = start + lanes < n
        x = gl.load(x_ptr + start + lanes, mask=inside, other=0)
        # MISTAKE: no barrier after the bins are cleared
        bins.atomic_scatter_add(ones, x, axis=0, mask=inside)
    gl.barrier()
    gl.atomic_add(out_ptr + gl.arange(0, BINS, layout=layout), bins.load(layout))
