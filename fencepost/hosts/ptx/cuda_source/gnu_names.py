"""What GCC, which nvcc goes with, has built in and NVRTC has not, as far as kernels use it.

Each is a header that counts as included if the compiler misses one of its names.
"""

from __future__ import annotations

import re

_TYPEOF = """#pragma once
#include <cuda/std/type_traits>
#define __typeof__(...) cuda::std::remove_reference_t<decltype(__VA_ARGS__)>
#define __typeof __typeof__
#define typeof __typeof__
"""
_BITS = """#pragma once
static __device__ inline int __builtin_popcount(unsigned x) { return __popc(x); }
static __device__ inline int __builtin_popcountl(unsigned long x) { return __popcll(x); }
static __device__ inline int __builtin_popcountll(unsigned long long x) { return __popcll(x); }
static __device__ inline int __builtin_clz(unsigned x) { return __clz(x); }
static __device__ inline int __builtin_clzl(unsigned long x) { return __clzll(x); }
static __device__ inline int __builtin_clzll(unsigned long long x) { return __clzll(x); }
static __device__ inline int __builtin_ctz(unsigned x) { return __ffs(x) - 1; }
static __device__ inline int __builtin_ctzl(unsigned long x) { return __ffsll(x) - 1; }
static __device__ inline int __builtin_ctzll(unsigned long long x) { return __ffsll(x) - 1; }
static __device__ inline int __builtin_ffs(int x) { return __ffs(x); }
static __device__ inline int __builtin_ffsll(long long x) { return __ffsll(x); }
"""
GNU_NAMES = {
    "fencepost/gnu_typeof": (_TYPEOF, re.compile(r"(?:__)?typeof(?:__)?")),
    "fencepost/gnu_bits": (_BITS, re.compile(r"__builtin_(?:popcount|clz|ctz|ffs)l{0,2}")),
}
"""Headers with the names that they define."""
