"""What CUDA had once and no longer has, for files that were written then: textures and surfaces by reference,
shuffles and votes without a mask, operators of CUB that are now those of the standard library, and the SDK's macros.

Each is a header that counts as included if the compiler misses one of its names.
"""

from __future__ import annotations

import re

_TEXTURES = """#pragma once
#include <texture_types.h>
namespace fencepost {
template <class T, int mode> struct Texel { typedef T type; };
template <> struct Texel<unsigned char, 1> { typedef float type; };
template <> struct Texel<char, 1> { typedef float type; };
template <> struct Texel<unsigned short, 1> { typedef float type; };
template <> struct Texel<short, 1> { typedef float type; };
template <> struct Texel<uchar2, 1> { typedef float2 type; };
template <> struct Texel<ushort2, 1> { typedef float2 type; };
template <> struct Texel<uchar4, 1> { typedef float4 type; };
template <> struct Texel<char4, 1> { typedef float4 type; };
template <> struct Texel<ushort4, 1> { typedef float4 type; };
template <> struct Texel<short4, 1> { typedef float4 type; };
template <class T, int kind = 1, int mode = 0> struct Texture {
    cudaTextureObject_t object;
    typedef typename Texel<T, mode>::type type;
};
}
#define FENCEPOST_TEXTURE template <class T, int kind, int mode> __device__ typename fencepost::Texel<T, mode>::type
#define FENCEPOST_FETCHED(fetch, ...) \\
    { return fetch<typename fencepost::Texel<T, mode>::type>(t.object, __VA_ARGS__); }
FENCEPOST_TEXTURE tex1Dfetch(const fencepost::Texture<T, kind, mode> &t, int x) FENCEPOST_FETCHED(tex1Dfetch, x)
FENCEPOST_TEXTURE tex1D(const fencepost::Texture<T, kind, mode> &t, float x) FENCEPOST_FETCHED(tex1D, x)
FENCEPOST_TEXTURE tex2D(const fencepost::Texture<T, kind, mode> &t, float x, float y) FENCEPOST_FETCHED(tex2D, x, y)
FENCEPOST_TEXTURE tex3D(const fencepost::Texture<T, kind, mode> &t, float x, float y, float z)
    FENCEPOST_FETCHED(tex3D, x, y, z)
#define texture __device__ fencepost::Texture
"""
_SURFACES = """#pragma once
#include <surface_types.h>
namespace fencepost { template <class T, int kind = 1> struct Surface { cudaSurfaceObject_t object; }; }
#define FENCEPOST_OF_SURFACE template <class V, class T, int kind> __device__
#define FENCEPOST_SURFACE(name, bytes, values) \\
    FENCEPOST_OF_SURFACE void name##read(V *value, const fencepost::Surface<T, kind> &s, \\
        bytes, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { name##read(value, s.object, values, mode); } \\
    FENCEPOST_OF_SURFACE V name##read(const fencepost::Surface<T, kind> &s, \\
        bytes, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) \\
        { return name##read<V>(s.object, values, mode); } \\
    FENCEPOST_OF_SURFACE void name##write(V value, const fencepost::Surface<T, kind> &s, \\
        bytes, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { name##write(value, s.object, values, mode); }
#define FENCEPOST_COMMA ,
FENCEPOST_SURFACE(surf1D, int x, x)
FENCEPOST_SURFACE(surf2D, int x FENCEPOST_COMMA int y, x FENCEPOST_COMMA y)
FENCEPOST_SURFACE(surf3D, int x FENCEPOST_COMMA int y FENCEPOST_COMMA int z,
    x FENCEPOST_COMMA y FENCEPOST_COMMA z)
#define surface __device__ fencepost::Surface
"""
_WITHOUT_MASK = """#pragma once
template <class T> __device__ T __shfl(T x, int lane, int width = 32)
{ return __shfl_sync(__activemask(), x, lane, width); }
template <class T> __device__ T __shfl_up(T x, unsigned lanes, int width = 32)
{ return __shfl_up_sync(__activemask(), x, lanes, width); }
template <class T> __device__ T __shfl_down(T x, unsigned lanes, int width = 32)
{ return __shfl_down_sync(__activemask(), x, lanes, width); }
template <class T> __device__ T __shfl_xor(T x, int lanes, int width = 32)
{ return __shfl_xor_sync(__activemask(), x, lanes, width); }
static __device__ inline int __any(int condition) { return __any_sync(__activemask(), condition); }
static __device__ inline int __all(int condition) { return __all_sync(__activemask(), condition); }
static __device__ inline unsigned __ballot(int condition) { return __ballot_sync(__activemask(), condition); }
"""
_OPERATORS = """#pragma once
#include <cuda/std/functional>
#include <cuda/functional>
namespace cub {
struct Sum : cuda::std::plus<> {};
struct Difference : cuda::std::minus<> {};
struct Division : cuda::std::divides<> {};
struct Equality : cuda::std::equal_to<> {};
struct Inequality : cuda::std::not_equal_to<> {};
struct Max : cuda::maximum<> {};
struct Min : cuda::minimum<> {};
static __device__ inline unsigned LaneId() { unsigned n; asm("mov.u32 %0, %%laneid;" : "=r"(n)); return n; }
static __device__ inline void CTA_SYNC() { __syncthreads(); }
static __device__ inline void WARP_SYNC(unsigned mask) { __syncwarp(mask); }
}
"""
_BANKS = """#pragma once
#define CUT_BANK_CHECKER(array, index) (array)[index]
#define cutilBankChecker(array, index) (array)[index]
"""
OLDER_NAMES = {
    "fencepost/bank_checkers": (_BANKS, re.compile(r"CUT_BANK_CHECKER|cutilBankChecker")),
    "fencepost/texture_references": (_TEXTURES, re.compile(r"texture")),
    "fencepost/surface_references": (_SURFACES, re.compile(r"surface")),
    "fencepost/warp_without_mask": (
        _WITHOUT_MASK,
        re.compile(r"__(?:shfl(?:_up|_down|_xor)?|any|all|ballot)"),
    ),
    "fencepost/cub_operators": (
        _OPERATORS,
        re.compile(r"Sum|Difference|Division|Equality|Inequality|Max|Min|LaneId|CTA_SYNC|WARP_SYNC"),
    ),
}
"""Headers with the names that they define."""
