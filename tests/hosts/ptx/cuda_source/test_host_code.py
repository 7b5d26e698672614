"""Functions of the host are blanked out of a CUDA file; everything else stays where it was."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx.cuda_source.host_code import device_code, without_host_declarations


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


def test_macros_before_and_inside_a_host_function_stay() -> None:
    inside = "#ifdef A\n#define M 3\n#endif\n#pragma omp parallel\n  return N;"
    text = f"#define N 64\nint helper() {{\n{inside} }}\nint a[N];\n"
    kept = [line for line in device_code(text).text.splitlines() if line.strip()]
    assert kept == ["#define N 64", "#ifdef A", "#define M 3", "#endif", "int a[N];"]


def test_a_comment_in_a_host_function_is_no_directive() -> None:
    text = "int f() {\n/* as many as\n# of threads */\n}\nint a;\n"
    assert device_code(text).text.split() == ["int", "a;"]


@pytest.mark.parametrize(
    ("text", "line", "left"),
    [
        ("std::vector<int> v;\nint a;\n", 1, "int a;"),
        ("int a;\nstruct Options {\n  std::string name;\n  int n;\n};\n", 3, "int a;"),
        ("int a;\nusing namespace thrust;\n", 2, "int a;"),
        ("#define N 3\nstd::string s = {N};\nint a;\n", 2, "#define N 3 int a;"),
        ("namespace b {\nstd::string s;\nint a;\n}\n", 2, "namespace b { int a; }"),
    ],
)
def test_a_declaration_that_does_not_compile_goes(text: str, line: int, left: str) -> None:
    found = without_host_declarations(text, [line])
    assert " ".join(found.text.split()) == left
    assert len(found.left_out) == 1
    assert found.text.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "__device__ std::string s;",
        "struct Pair { __device__ int get(); std::string name; };",
        "template <> struct Traits<float> { std::string name; };",
        "template <typename T> struct Traits<T *> { std::string name; };",
    ],
)
def test_what_the_device_may_use_stays(text: str) -> None:
    """Without a specialization, another would be used, and nobody would notice."""
    assert without_host_declarations(text, [1]).text == text
