"""Standard headers that CUDA files include and NVRTC does not have.

What kernels use of them (integer types, limits, the like) is given; mathematics and `printf` are built into NVRTC;
what only host code can use is empty.
"""

from __future__ import annotations

from fencepost.hosts.ptx.cuda_source.annotations import ANNOTATIONS, annotations_header
from fencepost.hosts.ptx.cuda_source.gnu_names import GNU_NAMES
from fencepost.hosts.ptx.cuda_source.older_names import OLDER_NAMES
from fencepost.hosts.ptx.cuda_source.random_numbers import random_numbers_header

EMPTY = "#pragma once\n"
_ASSERTIONS = """#pragma once
#ifndef assert
#define assert(condition) ((void)0)
#endif
"""
_TYPES_OF_UNIX = """#pragma once
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef long ssize_t;
typedef long off_t;
typedef unsigned char u_int8_t;
typedef unsigned short u_int16_t;
typedef unsigned int u_int32_t;
typedef unsigned long u_int64_t;
"""
_NUMBERS_OF_C = EMPTY + "#define RAND_MAX 2147483647\n#define EOF (-1)\n"
_MATHEMATICS = """#pragma once
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define INFINITY ((float)(1e300 * 1e300))
#define HUGE_VALF INFINITY
#define HUGE_VAL (1e300 * 1e300)
#define NAN (INFINITY * 0.0f)
"""
STANDARD_FUNCTIONS = "fencepost/cmath"
"""The mathematics of C++, `std::sqrt` and the like; those of C are built into NVRTC."""
BYTES = "fencepost/cstring"
_BYTES = "#pragma once\nnamespace std { using ::memcpy; using ::memset; }\n"
"""What kernels use of `<cstring>`: it is built into NVRTC, but not as `std::memcpy`."""
_FROM_CUDA = (
    *("algorithm", "array", "limits", "tuple", "type_traits", "utility"),
    *(
        "cfloat",
        "climits",
        "cstddef",
        "cstdint",
        "bitset",
        "complex",
        "iterator",
        "optional",
        "span",
        "variant",
    ),
)
"""Headers whose device half comes with CUDA, in `cuda::std`."""
_NAMES_OF_C = {
    "float.h": "cfloat",
    "inttypes.h": "cstdint",
    "limits.h": "climits",
    "stddef.h": "cstddef",
    "stdint.h": "cstdint",
}
_BLOCK = "adjacent_difference discontinuity exchange histogram load merge_sort radix_rank radix_sort reduce"
_BLOCK += " run_length_decode scan shuffle store"
_WARP = "exchange load merge_sort reduce scan store"
_OF_THE_HOST = """
atomic barrier cctype cerrno cfenv charconv chrono cinttypes clocale codecvt condition_variable csetjmp csignal
cstdarg cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format
forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream latch
list locale map memory
memory_resource mutex numeric ostream queue random regex scoped_allocator set shared_mutex sstream
stack stdexcept stop_token streambuf string string_view strstream syncstream system_error thread
typeindex typeinfo unordered_map unordered_set valarray vector
alloca.h arpa/inet.h complex.h ctype.h dirent.h dlfcn.h errno.h execinfo.h fcntl.h fenv.h getopt.h
immintrin.h libgen.h locale.h malloc.h memory.h netdb.h netinet/in.h omp.h poll.h pthread.h sched.h
semaphore.h setjmp.h signal.h stdarg.h stdbool.h stdio.h stdlib.h string.h strings.h sys/ioctl.h
sys/mman.h sys/param.h sys/resource.h sys/socket.h sys/stat.h sys/sysinfo.h sys/time.h sys/timeb.h
sys/types.h sys/utsname.h sys/wait.h termios.h time.h unistd.h values.h wchar.h wctype.h x86intrin.h
xmmintrin.h emmintrin.h bits/stdc++.h
"""
"""Headers of C++, C and POSIX that only host code can use."""
_COMPLEX = """#pragma once
#include <cuda/std/complex>
namespace thrust { using namespace cuda::std; }
"""
"""The complex numbers of Thrust are those of the standard library, as far as kernels use them."""
_THRUST = """#pragma once
#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda/std/tuple>
#include <cuda/std/utility>
namespace thrust {
using namespace cuda::std;
template <class T = void> using maximum = cuda::maximum<T>;
template <class T = void> using minimum = cuda::minimum<T>;
template <class T = void> struct identity
{ template <class U> __host__ __device__ U operator()(U &&x) const { return static_cast<U &&>(x); } };
template <class T = void> struct square
{ template <class U> __host__ __device__ U operator()(U x) const { return x * x; } };
template <class A, class R> struct unary_function { typedef A argument_type; typedef R result_type; };
template <class A, class B, class R> struct binary_function
{ typedef A first_argument_type; typedef B second_argument_type; typedef R result_type; };
}
"""
THRUST = "#include <fencepost/thrust>\n"
"""What stands in for headers of Thrust where NVRTC stops at one of them: what kernels use of it is in `cuda::std`."""
_TRANSFORMS = """#pragma once
#include <cuComplex.h>
typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
"""
_HANDLES = {
    "cublas_v2.h": "cublas",
    "cublas.h": "cublas",
    "cusparse.h": "cusparse",
    "cusolverDn.h": "cusolverDn",
    "cudnn.h": "cudnn",
}
"""Libraries of the host, of which structures that kernels are given may hold the handle."""
_CUB = "\n".join(
    [
        EMPTY,
        *(f"#include <cub/block/block_{name}.cuh>" for name in _BLOCK.split()),
        *(f"#include <cub/warp/warp_{name}.cuh>" for name in _WARP.split()),
    ]
)
"""CUB as a whole has algorithms for the host as well, at which NVRTC stops: the part for blocks and warps."""


def standard_headers() -> dict[str, str]:
    """The text of each header by the name that it is included by."""
    given = {
        "sys/types.h": _TYPES_OF_UNIX,
        ANNOTATIONS: annotations_header(),
        **{name: text for name, (text, _) in (OLDER_NAMES | GNU_NAMES).items()},
        "curand_kernel.h": random_numbers_header(),
        "thrust/complex.h": _COMPLEX,
        "fencepost/thrust": _THRUST,
        **dict.fromkeys(("cufft.h", "cufftXt.h"), _TRANSFORMS),
        **{
            name: f"{EMPTY}typedef struct {each}Context *{each}Handle_t;\n" for name, each in _HANDLES.items()
        },
        BYTES: _BYTES,
        STANDARD_FUNCTIONS: _from_cuda("cmath"),
        **dict.fromkeys(("stdio.h", "cstdio", "stdlib.h", "cstdlib"), _NUMBERS_OF_C),
        "assert.h": _ASSERTIONS,
        "cassert": _ASSERTIONS,
        "cmath": _MATHEMATICS,
        "math.h": _MATHEMATICS,
    }
    from_cuda = {name: _from_cuda(name) for name in _FROM_CUDA}
    of_c = {name: _from_cuda(same) for name, same in _NAMES_OF_C.items()}
    return dict.fromkeys(_OF_THE_HOST.split(), EMPTY) | {"cub/cub.cuh": _CUB} | from_cuda | of_c | given


def _from_cuda(name: str) -> str:
    # Headers of macros alone do not open the namespace that is named here.
    using = "namespace cuda { namespace std { } }\nnamespace std { using namespace cuda::std; }"
    return f"#pragma once\n#include <cuda/std/{name}>\n{using}\n"
