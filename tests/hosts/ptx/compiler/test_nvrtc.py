"""CUDA compiled by NVRTC: line tables, macros, headers, host code, and what is said where it does not compile."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.hosts.ptx import check
from fencepost.hosts.ptx.compiler import nvrtc
from fencepost.hosts.ptx.compiler.nvrtc import Compilation, compile_cuda
from fencepost.hosts.ptx.reading.kernel_names import kernels_in
from fencepost.ir.source import FencepostError, Source
from tests.tiers import FULL

REVERSE = """extern "C" __global__ void reverse(int *data) {
    __shared__ int s[N];
    s[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = s[N - 1 - threadIdx.x];
}
"""


def ptx(text: str, **how: tuple[str, ...]) -> str:
    return compile_cuda(Source("kernel.cu", text), Compilation(**how)).ptx  # type: ignore[arg-type]


def test_a_kernel_with_its_lines() -> None:
    found = ptx(REVERSE, defines=("N=128",))
    assert "bar.sync" in found and ".shared .align 4 .b8" in found and "[512]" in found
    assert '.file\t1 "' in found and "kernel.cu" in found
    assert ".loc\t1 4 5" in found


def test_host_code_and_its_headers_are_left_out() -> None:
    text = (
        "#include <iostream>\n#include <vector>\n#include <cuda_runtime.h>\n#define N 64\n"
        + REVERSE
        + "int main() { std::vector<int> v(64); reverse<<<1, 64>>>(v.data()); std::cout << v[0]; }\n"
    )
    found = compile_cuda(Source("kernel.cu", text))
    assert found.left_out == ("main",)
    assert kernels_in(found.ptx) == ("reverse",)


def test_standard_headers_give_what_kernels_use() -> None:
    text = """
    #include <cassert>
    #include <cfloat>
    #include <climits>
    #include <cmath>
    #include <cstdint>
    #include <cstdio>
    #include <algorithm>
    __global__ void k(uint32_t *a, float *b, int64_t n) {
        assert(n > 0);
        a[0] = std::min<uint32_t>(n, INT_MAX);
        b[0] = fmaxf(sqrtf(b[1]) * M_PI, -FLT_MAX);
        if (n == 7) printf("seven\\n");
    }
    """
    assert len(kernels_in(ptx(text))) == 1


def test_templates_are_instantiated_as_they_are_launched_or_named() -> None:
    text = "template <int B> __global__ void k(int *a) { a[0] = B; }\n"
    launched = text + "int main() { k<3><<<1, 1>>>(nullptr); }\n"
    assert kernels_in(ptx(text)) == ()
    assert kernels_in(ptx(launched)) == ("_Z1kILi3EEvPi",)
    assert kernels_in(ptx(text, instances=("k<4>", "k<5>"))) == ("_Z1kILi4EEvPi", "_Z1kILi5EEvPi")


def test_a_launch_whose_arguments_only_the_host_knows_does_not_matter() -> None:
    text = "template <int B> __global__ void k(int *a) { a[0] = B; }\n__global__ void plain() {}\n"
    host = "template <int B> void run() { k<B><<<1, 1>>>(nullptr); }\n"
    assert kernels_in(ptx(text + host)) == ("_Z5plainv",)


def test_functions_that_say_nothing_may_be_device_code() -> None:
    text = "int twice(int n) { return 2 * n; }\n__global__ void k(int *a) { a[0] = twice(a[1]); }\n"
    assert len(kernels_in(ptx(text))) == 1


def test_headers_beside_the_file_and_in_folders(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "size.h").write_text("#define SIZE 3\n", encoding="utf-8")
    (tmp_path / "below" / "vector").write_text("#define OURS 4\n", encoding="utf-8")
    text = '#include "size.h"\n#include <vector>\n__global__ void k(int *a) { a[0] = SIZE * OURS; }\n'
    source = Source(str(tmp_path / "kernel.cu"), text)
    assert "12" in compile_cuda(source, Compilation(includes=(str(tmp_path / "below"),))).ptx


def test_a_header_by_two_names_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    common = "#pragma once\n#define SIZE 3\n__device__ inline int twice(int n) { return 2 * n; }\n"
    (tmp_path / "parts" / "common.h").write_text(common, encoding="utf-8")
    (tmp_path / "parts" / "one.h").write_text('#include "common.h"\n', encoding="utf-8")
    text = (
        '#include "parts/one.h"\n#include "parts/common.h"\n__global__ void k(int *a) { *a = twice(SIZE); }\n'
    )
    found = compile_cuda(Source(str(tmp_path / "kernel.cu"), text))
    assert kernels_in(found.ptx) == ("_Z1kPi",) and not found.missing


def test_errors_are_the_compilers_with_their_lines() -> None:
    with pytest.raises(FencepostError) as error:
        ptx("#include <cstdio>\n__global__ void k() {\n    wrong();\n}\nvoid host() { }\n")
    found = error.value
    assert found.code == "FP431" and found.message == 'this does not compile: identifier "wrong" is undefined'
    assert [(mark.span.line, mark.span.column) for mark in found.marks if mark.span] == [(3, 5)]
    assert ("note", "left out, as only the host can use it: host") in found.notes


def test_a_missing_header_that_a_kernel_needs_says_how_to_name_its_folder() -> None:
    with pytest.raises(FencepostError, match='identifier "SIZE" is undefined') as error:
        ptx("#include <cutlass/cutlass.h>\n__global__ void k(int *a) { a[0] = SIZE; }\n")
    assert ("note", "headers that were not found: cutlass/cutlass.h") in error.value.notes
    assert ("help", "--include FOLDER says where headers are") in error.value.notes


def test_a_missing_header_that_no_kernel_needs_is_told() -> None:
    found = compile_cuda(Source("kernel.cu", '#include "timer.h"\n#include <mpi.h>\n#define N 8\n' + REVERSE))
    assert found.missing == ("timer.h", "mpi.h")
    assert kernels_in(found.ptx) == ("reverse",)


HOST = """
#include <map>
#include <thrust/device_vector.h>
#include <thrust/sort.h>
using namespace thrust;
struct Options { std::string name; std::vector<int> sizes; };
std::map<int, Options> known;
class Timer { public: Timer() : start(std::chrono::steady_clock::now()) {} std::chrono::nanoseconds start; };
"""
WITHOUT_THRUST = "".join("\n" if "thrust" in line else line for line in HOST.splitlines(keepends=True))
"""The same, without the headers that take the compiler two seconds each time."""


def test_types_and_variables_of_the_host_are_left_out() -> None:
    found = compile_cuda(Source("kernel.cu", HOST + "#define N 8\n" + REVERSE))
    assert kernels_in(found.ptx) == ("reverse",)
    assert {"Options::name", "Options::sizes", "known", "Timer::start"} <= {*found.left_out}
    assert ".loc\t1 13 5" in found.ptx  # lines are where they were


def test_a_type_of_the_host_that_a_kernel_uses_is_an_error() -> None:
    with pytest.raises(FencepostError, match="does not compile") as error:
        ptx(WITHOUT_THRUST + "__global__ void k(Options *a) { a->sizes[0] = 1; }\n")
    assert next(mark.span.line for mark in error.value.marks if mark.span) == 9


def test_a_type_of_which_host_and_device_use_a_part_each() -> None:
    text = """
    #include <string>
    #include <vector>
    template <class T> class Buffer {
    public:
      Buffer(size_t n, std::vector<int> sizes = {}) : data{nullptr}, n{n} { cudaMalloc((void **)&data, n); }
      ~Buffer() { cudaFree(data); }
      void load(const std::vector<T> &values) { cudaMemcpy(data, values.data(), n, cudaMemcpyHostToDevice); }
      __host__ __device__ T &operator[](int i) { return data[i]; }
    private:
      T *data;
      size_t n;
      std::string name;
    };
    __global__ void k(Buffer<float> a) { a[threadIdx.x] = 0; }
    int main() { k<<<1, 32>>>(Buffer<float>(32)); }
    """
    assert len(kernels_in(ptx(text))) == 1


def test_what_gcc_has_built_in() -> None:
    text = """
    __extension__ typedef struct { __extension__ union { int a; float b; }; } Both;
    __global__ void k(int *a) { __typeof__(a[0]) n = __builtin_popcount(a[0]) + __builtin_ctz(3); a[1] = n; }
    __global__ void l(Both both, int *a) { a[0] = both.a; }
    """
    assert len(kernels_in(ptx(text))) == 2


@FULL
def test_what_kernels_use_of_thrust_beside_its_algorithms() -> None:
    text = """
    #include <thrust/device_vector.h>
    #include <thrust/sort.h>
    struct Twice : public thrust::unary_function<float, float> {
      __host__ __device__ float operator()(float x) const { return 2 * x; }
    };
    template <class Op> __device__ float both(float x, Op op) { return op(x, Twice()(x)); }
    __global__ void k(float *a) {
      thrust::tuple<float, int> pair = thrust::make_tuple(both(a[0], thrust::plus<float>()), 2);
      a[thrust::get<1>(pair)] = both(thrust::get<0>(pair), thrust::maximum<float>());
    }
    struct Mesh { thrust::device_vector<float> v; void sort() { thrust::sort(v.begin(), v.end()); } };
    int main() { Mesh mesh; mesh.sort(); k<<<1, 32>>>(thrust::raw_pointer_cast(mesh.v.data())); }
    """
    assert len(kernels_in(ptx(text))) == 1


def test_host_code_in_headers_is_left_out_and_kernels_there_have_their_lines(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "reverse.h").write_text(
        '#include "size.h"\n' + WITHOUT_THRUST + REVERSE, encoding="utf-8"
    )
    size = "#define N 8\ninline std::string words() { return {}; }\n"
    (tmp_path / "parts" / "size.h").write_text(size, encoding="utf-8")
    text = '#include "parts/reverse.h"\nint main() { reverse<<<1, N>>>(0); }\n'
    found = compile_cuda(Source(str(tmp_path / "kernel.cu"), text))
    assert kernels_in(found.ptx) == ("reverse",)
    assert f'"{tmp_path / "parts" / "reverse.h"}"' in found.ptx


def test_cub_as_a_whole_is_its_part_for_blocks_and_warps() -> None:
    text = """
    #include <cub/cub.cuh>
    __global__ void k(int *a) {
        __shared__ cub::BlockReduce<int, 64>::TempStorage shared;
        a[0] = cub::BlockReduce<int, 64>(shared).Sum(a[threadIdx.x]);
    }
    void all(int *a, int n) { size_t size; cub::DeviceReduce::Sum(nullptr, size, a, a, n); }
    """
    assert len(kernels_in(ptx(text))) == 1


def test_launches_that_cannot_be_instantiated_do_not_take_others_along() -> None:
    text = "template <int B> __global__ void k(int *a) { a[0] = B; }\n"
    host = "int main() { int n = 3; k<n><<<1, 1>>>(nullptr); k<4><<<1, 1>>>(nullptr); }\n"
    assert kernels_in(ptx(text + host)) == ("_Z1kILi4EEvPi",)


def test_an_unknown_gpu_is_refused() -> None:
    with pytest.raises(FencepostError, match="gfx942 is no GPU that CUDA is compiled for") as error:
        compile_cuda(Source("kernel.cu", REVERSE), Compilation("gfx942"))
    assert error.value.code == "FP110"


def test_an_empty_file_compiles_to_no_kernel() -> None:
    assert kernels_in(ptx("")) == ()


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    nvrtc._library.cache_clear()
    monkeypatch.setattr(nvrtc, "_roots", list)
    with pytest.raises(FencepostError, match="needs NVRTC, which is not installed") as error:
        ptx(REVERSE)
    assert error.value.code == "FP430"
    ((word, text),) = error.value.notes
    assert word == "help" and 'pip install "fencepost[cuda]"' in text and 'pip install -e ".[cuda]"' in text


@pytest.mark.parametrize(
    "uses",
    [
        "a[0] = std::sqrt(2.f) < INFINITY;",
        "std::swap(a[0], a[1]);",
        "a[0] = std::numeric_limits<int>::max();",
        "a[0] = cos(M_PI_2 * NAN);",
        "half h = a[0]; a[1] = h > half(1);",
        "a[0] = (uint64_t)a;",
        "a[0] = INT_MAX;",
        "a[0] = FLT_MAX > M_PI;",
        "a[0] = std::max(a[1], a[2]);",
        "std::memcpy(a, a + 2, 8); std::memset(a, 0, 4);",
        "uint n = 3;",
    ],
)
def test_what_nvcc_has_without_an_include(uses: str) -> None:
    assert len(kernels_in(ptx(f"__global__ void k(int *a) {{ {uses} }}\n"))) == 1


def test_headers_that_refuse_nvrtc_are_left_out() -> None:
    text = "#include <cub/util_allocator.cuh>\n#include <cub/device/device_scan.cuh>\n#define N 8\n" + REVERSE
    assert kernels_in(ptx(text)) == ("reverse",)


def test_annotations_for_gpuverify_are_not_read_and_this_is_told() -> None:
    loop = (
        "for (int i = 0; __invariant(i >= 0), __global_invariant(__read_implies(a, i)), i < n; i++) a[i] = i;"
    )
    text = f"__global__ void k(int *a, int n) {{ __requires(n > 0); {loop} __assert(n); }}\n"
    found = compile_cuda(Source("kernel.cu", text))
    assert len(kernels_in(found.ptx)) == 1
    assert found.notes == ("of annotations for GPUVerify, only what is required is read",)


def test_random_numbers_of_curand_are_any_numbers() -> None:
    text = """
    #include <curand_kernel.h>
    __global__ void k(float *out, curandStatePhilox4_32_10_t *states, unsigned long long seed) {
        __shared__ float s[256];
        int t = threadIdx.x;
        curandState own;
        curand_init(seed, t, 0, &own);
        curandStatePhilox4_32_10_t other = states[t];
        float4 four = curand_uniform4(&other);
        s[t] = four.w + curand_normal2(&own).y + (float)curand_uniform_double(&own) + curand_log_normal(&own, 0, 1);
        BARRIER
        out[t] = s[curand(&own) % 256];
        states[t] = other;
    }
    """
    for barrier, expected in (("__syncthreads();", "proven"), ("", "race")):
        (found,) = check(ptx(text.replace("BARRIER", barrier)), block=256)
        assert found.verdict == expected


def test_surfaces_by_reference_and_registers_of_older_files() -> None:
    text = """
    #include <cutil.h>
    #define OWN(i) CUT_BANK_CHECKER(a, i)
    surface<void, cudaSurfaceType2D> image;
    __global__ void k(int *a) {
        register int i = threadIdx.x;
        uchar4 pixel = surf2Dread<uchar4>(image, 4 * i, 0);
        surf2Dwrite(pixel, image, 4 * i, 1, cudaBoundaryModeClamp);
        surf2Dread(&pixel, image, 0, 0);
        for (register int j = 0; j < 3; j++) OWN(i) += pixel.x;
    }
    int main() { cudaArray *array; cudaBindSurfaceToArray(image, array); k<<<1, 32>>>(0); }
    """
    assert len(kernels_in(ptx(text))) == 1


def test_kernels_that_launch_kernels() -> None:
    text = """
    template <int N> __global__ void k(float *a, int depth) {
        __shared__ float s[N];
        s[threadIdx.x] = a[threadIdx.x];
        BARRIER
        a[threadIdx.x] = s[N - 1 - threadIdx.x];
        if (threadIdx.x == 0 && depth < 4) {
            cudaStream_t stream;
            cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
            k<N><<<1, N, 0, stream>>>(a, depth + 1);
            cudaStreamDestroy(stream);
        }
    }
    int main() { k<64><<<1, 64>>>(0, 0); }
    """
    for barrier, expected in (("__syncthreads();", "proven"), ("", "race")):
        (found,) = check(ptx(text.replace("BARRIER", barrier)), block=64)
        assert found.verdict == expected


def test_what_kernels_use_of_libraries_for_the_host() -> None:
    text = """
    #include <thrust/complex.h>
    #include <cufft.h>
    #include <cublas_v2.h>
    struct Plan { cufftHandle plan; cublasHandle_t handle; int n; };
    __global__ void k(cufftComplex *a, thrust::complex<float> *b, Plan plan) {
        b[0] = b[1] * thrust::complex<float>(a[0].x, a[0].y) + thrust::abs(b[2]) + float(plan.n);
    }
    """
    assert len(kernels_in(ptx(text))) == 1


def test_lambdas_in_device_code_may_say_so() -> None:
    text = "__global__ void k(float *a) { auto f = [=] __host__ __device__(float x) { return x * *a; }; *a = f(2); }"
    assert len(kernels_in(ptx(text))) == 1


def test_annotations_that_compute_or_count_their_operands() -> None:
    text = """
    #include <assert.h>
    __global__ void k(unsigned *a, unsigned n) {
        __function_wide_invariant(__write_implies(a, __write_offset_bytes(a) % 4 == 0));
        __barrier_invariant_2(a[0] == n, threadIdx.x, threadIdx.y);
        __non_temporal_loads_begin();
        assert(__implies(n > 0, a[threadIdx.x] >= 0));
        assert(__no_read(a));
        a[threadIdx.x] = __implies(n > 3, n > 2) + __mod_pow2(n, 4u);
        __non_temporal_loads_end();
    }
    """
    assert len(kernels_in(ptx(text))) == 1
    with pytest.raises(FencepostError, match="__uniform_int"):
        ptx("__global__ void k(int *a) { __requires(a[0]); if (__uniform_int(a[1])) a[0] = 1; }\n")


def test_names_that_cuda_had_once() -> None:
    names = """
    #include <cub/block/block_reduce.cuh>
    texture<float, 2, cudaReadModeElementType> image;
    static texture<uchar4, 2, cudaReadModeNormalizedFloat> colours;
    texture<int, 1> list;
    int main() { cudaBindTexture2D(0, image, 0, 1, 1, 1); proven<<<1, 64>>>(0); race<<<1, 64>>>(0); }
    """
    kernel = """
    __global__ void NAME(float *out) {
        typedef cub::BlockReduce<float, 64> Reduce;
        __shared__ typename Reduce::TempStorage temp;
        int t = threadIdx.x;
        float v = tex2D(image, t, 1.f) + tex2D(colours, 1.f, t).x + tex1Dfetch(list, t);
        v += __shfl_down(v, 16) + __popc(__ballot(v > 0));
        if (__any(v > 0)) v += 1;
        out[t] = Reduce(temp).Reduce(v, cub::Max());
        BARRIER
        out[t + 64] = Reduce(temp).Reduce(v, cub::Sum());
    }
    """
    both = (("__syncthreads();", "proven"), ("", "race"))
    kernels = (kernel.replace("BARRIER", barrier).replace("NAME", name) for barrier, name in both)
    found = check(ptx(names + "".join(kernels)), block=64)
    assert [each.verdict for each in found] == ["proven", "race"]
