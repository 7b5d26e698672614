"""Matrix products on tensor descriptors: TMA on Hopper, TDM on gfx1250, plain pointers elsewhere."""

# mypy: ignore-errors
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def matmul_host_descriptor(
    a_desc, b_desc, c_desc, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """c = a @ b with all three given as descriptors."""
    row = tl.program_id(0) * BLOCK_M
    col = tl.program_id(1) * BLOCK_N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, k, BLOCK_K):
        a = a_desc.load([row, step])
        b = b_desc.load([step, col])
        acc = tl.dot(a, b, acc)
    c_desc.store([row, col], acc.to(c_desc.dtype))


@triton.jit
def matmul_host_descriptor_specialized(
    a_desc, b_desc, c_desc, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """The same with loads and products on different warps, as the compiler splits them."""
    row = tl.program_id(0) * BLOCK_M
    col = tl.program_id(1) * BLOCK_N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in tl.range(0, k, BLOCK_K, warp_specialize=True):
        a = a_desc.load([row, step])
        b = b_desc.load([step, col])
        acc = tl.dot(a, b, acc)
    c_desc.store([row, col], acc.to(c_desc.dtype))


@triton.jit
def matmul_device_descriptor(
    a_ptr, b_ptr, c_ptr, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """A persistent product whose descriptors are made by the kernel itself, with b stored as (n, k)."""
    a_desc = tl.make_tensor_descriptor(a_ptr, [m, k], [k, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [n, k], [k, 1], [BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c_ptr, [m, n], [n, 1], [BLOCK_M, BLOCK_N])
    tiles_n = n // BLOCK_N
    tiles = (m // BLOCK_M) * tiles_n
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        row = (tile // tiles_n) * BLOCK_M
        col = (tile % tiles_n) * BLOCK_N
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for step in range(0, k, BLOCK_K):
            acc = tl.dot(a_desc.load([row, step]), b_desc.load([col, step]).T, acc)
        c_desc.store([row, col], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def copy_descriptor(in_desc, out_desc, rows, ROWS: tl.constexpr, COLS: tl.constexpr):
    """Load, scale, store, in a loop: one buffer for the way in and one for the way out."""
    for row in range(tl.program_id(0) * ROWS, rows, tl.num_programs(0) * ROWS):
        block = in_desc.load([row, 0])
        out_desc.store([row, 0], (block * 2.0).to(out_desc.dtype))


@triton.jit
def add_descriptor(in_desc, out_desc, ROWS: tl.constexpr, COLS: tl.constexpr):
    """An atomic addition through a descriptor: every program adds its block onto the first one."""
    block = in_desc.load([tl.program_id(0) * ROWS, 0])
    out_desc.atomic_add([0, 0], block)
