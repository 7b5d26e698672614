"""Kernels of CuTe DSL, compiled by `cute.compile`; PTX says their block."""

# mypy: ignore-errors
# Kernels are functions that decorators without types take over.

import os

os.environ.setdefault("CUTE_DSL_ARCH", "sm_90a")

import cutlass
from cutlass import cute, utils
from cutlass.cute.runtime import make_fake_compact_tensor

BLOCK = 256


@cute.kernel
def reverse(a: cute.Tensor, out: cute.Tensor) -> None:
    t, _, _ = cute.arch.thread_idx()
    s = utils.SmemAllocator().allocate_tensor(cutlass.Int32, cute.make_layout(256), 16)
    s[t] = a[t]
    cute.arch.sync_threads()
    out[t] = s[255 - t]


@cute.kernel
def reverse_racy(a: cute.Tensor, out: cute.Tensor) -> None:
    t, _, _ = cute.arch.thread_idx()
    s = utils.SmemAllocator().allocate_tensor(cutlass.Int32, cute.make_layout(256), 16)
    s[t] = a[t]
    out[t] = s[255 - t]


@cute.jit
def launch(a: cute.Tensor, out: cute.Tensor) -> None:
    reverse(a, out).launch(grid=[1, 1, 1], block=[BLOCK, 1, 1])


@cute.jit
def launch_racy(a: cute.Tensor, out: cute.Tensor) -> None:
    reverse_racy(a, out).launch(grid=[1, 1, 1], block=[BLOCK, 1, 1])


def compile_all() -> None:
    a = make_fake_compact_tensor(cutlass.Int32, (256,))
    for each in (launch, launch_racy):
        cute.compile(each, a, a)
