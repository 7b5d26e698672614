"""Functions of the host are blanked out of a CUDA file; everything else stays where it was."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx.host_code import device_code, launched_instances


def test_a_main_function_is_left_out_and_lines_stay() -> None:
    text = "__global__ void k() {}\nint main() {\n    k<<<1, 1>>>();\n}\nconst int n = 3;\n"
    found = device_code(text)
    assert found.left_out == ("main",)
    assert found.text == f"__global__ void k() {{}}\n{' ' * 12}\n{' ' * 18}\n \nconst int n = 3;\n"


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k(int n) { }",
        "__device__ float f(float x) { return x; }",
        "static __host__ __device__ int f() { return 1; }",
        "constexpr int twice(int n) { return 2 * n; }",
        "template <int N> __global__ void k(float (&a)[N]) { }",
        "struct Pair { int a; Pair(int x) : a(x) {} };",
        "template <typename T> struct Box { T get() { return t; } T t; };",
        "const int n = (1 << 4);",
        "int table[] = {1, 2, (3)};",
        "__constant__ float filter[9];",
        "using F = int (*)(int);",
        "typedef int (*F)(int);",
        'extern "C" { __global__ void k() { } }',
        "namespace a { namespace b { __device__ int f() { return 0; } } }",
        "#define CALL(x) do { x; } while (0)\n__device__ int a;",
        '__device__ const char *s = "int main() {";',
        "// int main() {\n__device__ int a;",
        "enum Kind { One, Two };",
        "static_assert(sizeof(int) == 4);",
    ],
)
def test_device_code_stays(text: str) -> None:
    found = device_code(text)
    assert (found.text, found.left_out) == (text, ())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("void launch(int n) { if (n) { k<<<n, 1>>>(); } }", "launch"),
        ("static inline std::vector<float> make(int n) { return {}; }", "make"),
        ("template <typename T> void fill(std::vector<T> &v) { v[0] = T(); }", "fill"),
        ("__host__ void f() { }", "f"),
        ("void prototype(cudaStream_t);", "prototype"),
        ("namespace a { int helper() { return 0; } }", "helper"),
        ('extern "C" { void entry() { } }', "entry"),
        ('int main() { printf("}"); /* } */ return 0; }', "main"),
        ("int main(int argc, char **argv) try { } catch (...) { }", "main"),
    ],
)
def test_host_functions_go(text: str, name: str) -> None:
    assert device_code(text).left_out[0] == name


def test_a_brace_that_nothing_closes_takes_the_rest() -> None:
    assert device_code("int main() {\n  k();\n").left_out == ("main",)


def test_the_instances_of_templates_that_are_launched() -> None:
    text = """
    void run() {
        reduce<256><<<1, 256>>>(x);
        sort<128, float> <<<n, 128>>>(y);  // scan<1><<<1, 1>>>
        reduce<256><<<2, 256>>>(x);
        plain<<<1, 1>>>();
        if (a < b) plain<<<1, 1>>>();
    }
    """
    assert launched_instances(text) == ("reduce<256>", "sort<128, float>")
