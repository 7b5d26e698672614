"""Kernels of Triton: a sum over rows and a product of tiles; PTX says their block."""

# mypy: ignore-errors
# Kernels are functions that decorators without types take over.

from collections.abc import Callable

import triton
from triton import language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def row_sums(a, out, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    row = tl.program_id(0)
    x = tl.load(a + row * BLOCK + tl.arange(0, BLOCK))
    tl.store(out + row, tl.sum(x, 0))


@triton.jit
def products(a, b, out, k, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    m, n, i = tl.arange(0, BLOCK), tl.arange(0, BLOCK), tl.arange(0, 32)
    x = tl.zeros((BLOCK, BLOCK), tl.float32)
    for at in range(0, k, 32):
        left = tl.load(a + m[:, None] * k + at + i[None, :])
        right = tl.load(b + (at + i)[:, None] * BLOCK + n[None, :])
        x = tl.dot(left, right, x)
    tl.store(out + m[:, None] * BLOCK + n[None, :], x)


def compile_all(tell: Callable[[str, str], None]) -> None:
    for kernel, signature in (
        (row_sums, {"a": "*fp32", "out": "*fp32", "BLOCK": "constexpr"}),
        (products, {"a": "*fp16", "b": "*fp16", "out": "*fp32", "k": "i32", "BLOCK": "constexpr"}),
    ):
        source = ASTSource(kernel, signature, {"BLOCK": 1024 if kernel is row_sums else 64})
        compiled = triton.compile(source, target=GPUTarget("cuda", 80, 32))
        tell("Triton", compiled.asm["ptx"])
