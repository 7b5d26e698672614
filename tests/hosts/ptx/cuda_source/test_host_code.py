"""Functions of the host are blanked out of a CUDA file; everything else stays where it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.hosts.ptx.cuda_source.host_code import device_code, without_comments
from fencepost.hosts.ptx.cuda_source.host_declarations import without_host_declarations
from fencepost.hosts.ptx.files import UserOptions, judgements, read_file
from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.hosts.ptx.reading.kernel_names import plain_name
from fencepost.ir.source import Source


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
        (
            "int a;\nstruct Options {\n  std::string name;\n  int n;\n};\n",
            3,
            "int a; struct Options { int n; };",
        ),
        ("int a;\nstruct Options : public std::vector<int> {\n  int n;\n};\n", 2, "int a;"),
        ("int a;\nusing namespace thrust;\n", 2, "int a;"),
        ("#define N 3\nstd::string s = {N};\nint a;\n", 2, "#define N 3 int a;"),
        ("namespace b {\nstd::string s;\nint a;\n}\n", 2, "namespace b { int a; }"),
        ('inline constexpr std::string_view name = "k";\nint a;\n', 1, "int a;"),
        (
            "struct Both { float *p; int n; std::string s; __device__ int get(); };",
            1,
            "struct Both { float *p; int n; __device__ int get(); };",
        ),
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
        "constexpr int length(std::string_view s) { return s.length(); }",
        "struct Plain { int n, *m; const unsigned long long size; float *p; __device__ int get(); };",
        "struct Pair { __device__ int get(std::string name); };",
        "#define BOTH __host__ __device__\nstruct Pair { BOTH int get(std::string name); };",
        "struct Base { virtual void show(std::string name); __device__ int get(); };",
        "template <> struct Traits<float> { std::string name; };",
        "template <typename T> struct Traits<T *> { std::string name; };",
    ],
)
def test_what_the_device_may_use_stays(text: str) -> None:
    """Without a specialization, another would be used, and nobody would notice."""
    assert without_host_declarations(text, [1, 2]).text == text


@pytest.mark.parametrize(
    ("member", "left"),
    [
        ("void load(const std::vector<T> &v) { p = v.data(); }", ""),
        ("Buffer(size_t n) : p{nullptr}, n(n) { cudaMalloc(&p, n); }", ""),
        ("friend std::ostream &operator<<(std::ostream &o, const Buffer &b) { return o << b.n; }", ""),
        ("std::string name;", ""),
        ("void show(std::vector<T> v = {}, int n = 3);", ""),
        ("FILE *log;", "void *log;"),
        (
            "struct Names {\n  std::string first;\n  int count;\n} names;",
            "struct Names { int count; } names;",
        ),
    ],
)
def test_of_a_type_that_the_device_uses_members_of_the_host_go(member: str, left: str) -> None:
    """A pointer keeps its place: what stands behind it in a list of values is still the same."""
    text = (
        "template <class T> struct Buffer {\npublic:\n  %s\n  __device__ T get(int i);\n  T *p; size_t n; };"
    )
    line = 4 if "\n" in member else 3
    found = without_host_declarations(text % member, [line])
    assert found.text.split() == (text % left).split()
    assert len(found.left_out) == 1


@pytest.mark.parametrize(
    "function",
    [
        "void f(std::vector<int> v = {}) { g(); }",
        "void f(Options o = Options{1, 2}, int n = 0) { g(); }",
        "Buffer::Buffer(int n) : p{nullptr}, n{n} { g(); }",
        "template <int N, bool B = false> void f(int n) { g(); }",
        "template <int N = (3), class T = Buffer<N>> void f(T t = T(), int n = (2)) { g(); }",
        "bool Buffer::operator==(const Buffer &b) const { return b.n == n; }",
    ],
)
def test_a_brace_in_front_of_a_body_is_not_the_body(function: str) -> None:
    assert device_code(f"{function}\n__device__ int a;").text.split() == ["__device__", "int", "a;"]


KERNEL = "#define KERNEL __global__ void\nKERNEL k(int *a) { a[0] = 1; }\n"
MADE = "#define MAKE(n) __global__ void k##n(int *a) { \\\n    a[0] = n; }\n#define BOTH MAKE(1) MAKE(2)\n"


@pytest.mark.parametrize("text", [KERNEL, f"{MADE}MAKE(3);\n", f"{MADE}BOTH\n__device__ int n;\n"])
def test_what_macros_make_for_the_device_stays(text: str) -> None:
    found = device_code(text)
    assert (found.text, found.left_out) == (text, ())


def test_a_function_of_the_host_behind_uses_of_such_a_macro_goes() -> None:
    found = device_code(f"{MADE}MAKE(3)\nBOTH\nint main() {{ k3<<<1, 1>>>(0); }}\n")
    assert found.text.rstrip() == f"{MADE}MAKE(3)\nBOTH"
    assert found.left_out == ("main",)
    found = without_host_declarations(f"{MADE}MAKE(3)\nstd::string name;\n", [5])
    assert found.text.rstrip() == f"{MADE}MAKE(3)"


def test_kernels_of_macros_are_judged_and_those_of_other_files_named(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    body = "__shared__ int s[64]; s[threadIdx.x & 15] = threadIdx.x; __syncthreads(); a[threadIdx.x] = s[0];"
    text = f"#define MAKE(n) __global__ void k##n(int *a) {{ {body} }}\nMAKE(1)\n"
    file.write_text(text + "int main() { k1<<<1, 64>>>(0); gone<<<1, 64>>>(0); }\n")
    read = read_file(str(file), Source(str(file), file.read_text()), UserOptions())
    verdicts = [each for each in judgements(read) if isinstance(each, JudgedPtx)]
    found = {plain_name(each.verdict.kernel): each.verdict.verdict for each in verdicts}
    assert found == {"k1": "race", "gone": "undecided"}


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\n#if 0\nb\n#endif\nc", "a c"),
        ("a\n#if 0\nb\n#else\nc\n#endif\nd", "a c d"),
        ("#if 1\na\n#else\nb\n#endif\nc", "a c"),
        ("#if 0\n#ifdef X\na\n#else\nb\n#endif\n#endif\nc", "c"),
        ("#if 0\na\n#elif X\nb\n#endif\nc", "b c"),
        ("#if 1\na\n#elif X\nb\n#else\nc\n#endif\nd", "a d"),
        ("#ifdef X\na\n#else\nb\n#endif\nc", "a b c"),
        ("#if 0 // not now\na\n#endif\n/*\n#if 0\n*/\nb", "b"),
    ],
)
def test_what_is_never_compiled_is_not_seen(text: str, seen: str) -> None:
    assert " ".join(without_comments(text).split()) == seen
    assert [len(line) for line in without_comments(text).split("\n")] == [
        len(line) for line in text.split("\n")
    ]


ALTERNATIVES = """
#ifdef WIDE
void run(double *p) {
#else
void run(float *p) {
#endif
    k<<<1, 1>>>(p);
}
#ifdef UNFINISHED
__device__ int half(int n) {
    return n / 2;
#endif
#ifdef __cplusplus
extern "C" {
#endif
__global__ void k(float *p) { p[0] = 1; }
int main() { run(0); }
#ifdef __cplusplus
}
#endif
"""


def test_braces_of_branches_that_are_not_there_together() -> None:
    found = device_code(ALTERNATIVES)
    assert found.left_out == ("run", "main")
    assert "__global__ void k(float *p) { p[0] = 1; }" in found.text
    assert "<<<" not in found.text and "main" not in found.text


def test_braces_that_balance_are_left_as_they_are() -> None:
    text = "#ifdef SPACE\nnamespace space {\n#endif\nint a;\n#ifdef SPACE\n}\n#endif\n"
    assert without_comments(text).split() == ["namespace", "space", "{", "int", "a;", "}"]
