"""Which instances of kernel templates a file launches, as the compiler knows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.cli import main
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.hosts.ptx.cuda_source.host_statements import ErrorPlace, HostStatements
from fencepost.hosts.ptx.reading.kernel_names import kernels_in, plain_name
from fencepost.ir.source import Source

KERNELS = """
#include <iostream>
#include <memory>
#include <string>
#include <vector>
enum class Mode { slow, fast };
template <typename T, int N> __global__ void sums(const T *in, T *out) {
    __shared__ T s[N];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[N - 1 - threadIdx.x];
}
template <typename T> __global__ void scale(T *a, T factor) { a[threadIdx.x] *= factor; }
template <Mode M> __global__ void modes(float *a) { a[threadIdx.x] = (int)M; }
template <class F> __global__ void apply(float *a, F f) { a[threadIdx.x] = f(a[threadIdx.x]); }
struct Twice { __device__ float operator()(float x) const { return 2 * x; } };
"""


def compiled(host: str) -> list[str]:
    ptx = compile_cuda(Source("kernels.cu", KERNELS + host)).ptx
    return sorted(plain_name(each) for each in kernels_in(ptx))


@pytest.mark.parametrize(
    ("host", "instances"),
    [
        # A local constant, and a type that is deduced.
        (
            """int main() {
                   constexpr int n = 64;
                   double *a, *b;
                   sums<double, n><<<1, n>>>(a, b);
                   scale<<<1, n>>>(a, 2.0);
               }""",
            ["scale<double>", "sums<double, 64>"],
        ),
        # A template of the host: types come from what it is called with.
        (
            """template <typename T> void run(const std::vector<T> &h, const std::string &name) {
                   T *d;
                   if (cudaMalloc(&d, h.size() * sizeof(T)) != cudaSuccess) std::cerr << name << std::endl;
                   sums<T, 128><<<h.size() / 128, 128>>>(d, d);
               }
               int main(int argc, char **argv) {
                   int n = std::stoi(argv[1]), m = some_library::size(argv[2]);
                   std::vector<float> f(n);
                   run(f, "float");
                   try {
                       run<int>(std::vector<int>(m), "int");
                   } catch (const std::exception &e) {
                       std::cerr << e.what();
                   }
               }""",
            ["sums<float, 128>", "sums<int, 128>"],
        ),
        # What cannot be compiled for the device costs no launch: parameters, arguments, the grid, conditions.
        (
            """void run(some_library::Image image, float *a, other::Thing *thing) {
                   some_library::Stream stream = image.stream();
                   if (image.good())
                       for (auto tile : image) scale<<<image.grid(), 64, 0, stream>>>(a, image.factor());
                   while (image.next()) { scale<<<1, 64>>>((double *)a, 1.0); }
               }""",
            ["scale<double>", "scale<float>"],
        ),
        (
            "int main() { float *a; modes<Mode::fast><<<1, 32>>>(a); apply<<<1, 32>>>(a, Twice()); }",
            ["apply<Twice>", "modes<(Mode)1>"],
        ),
        (
            "int main() { void *args[1]; cudaLaunchKernel((void *)scale<int>, dim3(1), dim3(32), args, 0, 0); }",
            ["scale<int>"],
        ),
        (
            """struct Runner {
                   std::unique_ptr<float> kept; some_library::Pool pool; int n;
                   template <int N> void go(float *a) { sums<float, N><<<n, N>>>(a, a); }
                   void all(float *a) { go<32>(a); go<64>(a); pool.wait(); }
               };""",
            ["sums<float, 32>", "sums<float, 64>"],
        ),
        # A macro around a function without a name: the compiler points at the macro, and names what it does not know.
        (
            """#define FOR_BOTH(which, ...) \\
                   [&] { if (which) { using T = float; __VA_ARGS__(); } else { using T = int; __VA_ARGS__(); } }()
               void run(bool which, float *h) {
                   FOR_BOTH(which, [&] {
                       T *d;
                       double error = norm_of_some_library(h);
                       scale<<<1, 32>>>(d, T(1));
                   });
               }""",
            ["scale<float>", "scale<int>"],
        ),
        # A condition of templates: what is launched on either side counts, where the condition is not known.
        (
            """template <typename T> void run(T *a) {
                   if constexpr (some_library::is_fast<T>) scale<<<1, 32>>>(a, T(1));
                   else sums<T, 32><<<1, 32>>>(a, a);
               }
               int main() { run((float *)nullptr); }""",
            ["scale<float>", "sums<float, 32>"],
        ),
        # A launch that cannot be compiled, beside one that can: the text says what it launches.
        (
            """int main() {
                   float *a;
                   sums<float, 32><<<1, 32>>>(a, a);
                   unknown_to_all ! sums<float, 64><<<1, 64>>>(a, a);
               }""",
            ["sums<float, 32>", "sums<float, 64>"],
        ),
    ],
)
def test_instances_that_the_host_code_launches(host: str, instances: list[str]) -> None:
    assert compiled(host) == instances


def test_a_launch_whose_arguments_are_not_known_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        KERNELS
        + "void run(float *a) { sums<float, Sizes::threads><<<1, Sizes::threads>>>(a, a); scale<<<1, 32>>>(a, 1.f); }"
    )
    path = tmp_path / "launch.cu"
    path.write_text(text)
    assert main(["check", str(path)]) == 0
    said = capsys.readouterr().out
    assert "scale<float>: no race" in said
    assert "sums: not decided (no instance was compiled" in said
    assert "its template arguments are not known; name them: --kernel 'sums<...>'" in said
    assert main(["check", "--require-proof", str(path)]) == 1


@pytest.mark.parametrize(
    ("statement", "wrong", "left"),
    [
        ("int n = wrong(1), m = 2;", "wrong", "int n ={}      , m = 2;"),
        ("f(wrong); g();", "wrong", "        ; g();"),
        ("if (wrong) f(); else g();", "wrong", "if (1    ) f(); else g();"),
        ("if (c) wrong(); h();", "wrong", "if (c)        ; h();"),
        ("for (int i = 0; i < wrong; i++) { h(); }", "wrong", "for (;;                       ) { h(); }"),
        ("k<<<wrong, 2>>>(a);", "wrong", "k<<<1,1     >>>(a);"),
        ("k<<<1, 2>>>(a, wrong, b);", "wrong", "k<<<1, 2>>>(a,{}    , b);"),
        ("k<<<1, 2>>>(\n  wrong, b);", "wrong", "k<<<1, 2>>>( {}, b);"),
        ("k<<<1, 2>>>(f(p->n, 2), n < m, wrong);", "wrong", "k<<<1, 2>>>(f(p->n, 2), n < m, {} );"),
        ("if (\n wrong) f();", "wrong", "if ( 1 ) f();"),
        ("for FOREACH { wrong(); }", "wrong", "for FOREACH { ; }"),
        ("dim3 grid(wrong, 2);", "wrong", "dim3 grid(1       );"),
        ("x = [&] { f(); wrong(); };", "wrong", "x = [&] { f();        ; };"),
    ],
)  # fmt: skip
def test_as_little_as_possible_is_left_out(statement: str, wrong: str, left: str) -> None:
    text = f"void run() {{ {statement} }}"
    statements = HostStatements.of(text)
    at = text.index(wrong)
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    assert statements.leave_out([ErrorPlace(line, column)])
    assert len(statements.text) == len(text)
    assert "".join(statements.text.split()) == "".join(f"void run() {{ {left} }}".split())


def test_device_code_is_never_left_out() -> None:
    text = (
        "__global__ void k() { wrong(); }\n"
        "__device__ void f(wrong a) {}\n"
        "struct S { __device__ void g() { wrong(); } };"
    )
    statements = HostStatements.of(text)
    assert not statements.leave_out([ErrorPlace(1, 23), ErrorPlace(2, 19), ErrorPlace(3, 36)])
    assert statements.text == text
