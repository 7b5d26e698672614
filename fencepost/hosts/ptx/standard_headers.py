"""Standard headers that CUDA files include and NVRTC does not have.

What kernels use of them (integer types, limits, the like) is given; mathematics and `printf` are built into NVRTC;
what only host code can use is empty.
"""

from __future__ import annotations

_ASSERTIONS = """#pragma once
#ifndef assert
#define assert(condition) ((void)0)
#endif
"""
_MATHEMATICS = """#pragma once
#define M_PI 3.14159265358979323846
#define M_E 2.7182818284590452354
#define M_SQRT2 1.41421356237309504880
"""
_FROM_CUDA = (
    *("algorithm", "array", "limits", "tuple", "type_traits", "utility"),
    *("cfloat", "climits", "cstddef", "cstdint"),
)
"""Headers whose device half comes with CUDA, in `cuda::std`."""
_NAMES_OF_C = {
    "float.h": "cfloat",
    "inttypes.h": "cstdint",
    "limits.h": "climits",
    "stddef.h": "cstddef",
    "stdint.h": "cstdint",
}
_OF_THE_HOST = (
    *(
        "chrono",
        "cstdio",
        "cstdlib",
        "cstring",
        "ctime",
        "fstream",
        "functional",
        "iomanip",
        "iostream",
        "map",
    ),
    *("memory", "numeric", "random", "set", "sstream", "stdexcept", "string", "thread", "vector", "getopt.h"),
    *("omp.h", "stdio.h", "stdlib.h", "string.h", "sys/time.h", "time.h", "unistd.h", "memory.h", "iosfwd"),
)


def standard_headers() -> dict[str, str]:
    """The text of each header by the name that it is included by."""
    given = {
        "assert.h": _ASSERTIONS,
        "cassert": _ASSERTIONS,
        "cmath": _MATHEMATICS,
        "math.h": _MATHEMATICS,
    }
    from_cuda = {name: _from_cuda(name) for name in _FROM_CUDA}
    of_c = {name: _from_cuda(same) for name, same in _NAMES_OF_C.items()}
    return dict.fromkeys(_OF_THE_HOST, "#pragma once\n") | from_cuda | of_c | given


def _from_cuda(name: str) -> str:
    # Headers of macros alone do not open the namespace that is named here.
    using = "namespace cuda { namespace std { } }\nnamespace std { using namespace cuda::std; }"
    return f"#pragma once\n#include <cuda/std/{name}>\n{using}\n"
