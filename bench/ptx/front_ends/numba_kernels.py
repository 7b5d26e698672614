"""Kernels of numba-cuda, compiled by `cuda.compile_ptx`, which makes PTX as a launch does."""

from typing import Any

from numba import cuda, float32, int32


def reverse(a: Any, out: Any) -> None:
    s = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    out[t] = s[255 - t]


def reverse_racy(a: Any, out: Any) -> None:
    s = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    out[t] = s[255 - t]


def total(a: Any, out: Any) -> None:
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s[t] = a[cuda.blockIdx.x * 256 + t]
    cuda.syncthreads()
    k = 128
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def total_racy(a: Any, out: Any) -> None:
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s[t] = a[cuda.blockIdx.x * 256 + t]
    cuda.syncthreads()
    k = 128
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        k //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def compile_all() -> None:
    for kernel in (reverse, reverse_racy):
        cuda.compile_ptx(kernel, (int32[::1], int32[::1]), cc=(8, 0), lineinfo=True)
    for kernel in (total, total_racy):
        cuda.compile_ptx(kernel, (float32[::1], float32[::1]), cc=(8, 0), lineinfo=True)
