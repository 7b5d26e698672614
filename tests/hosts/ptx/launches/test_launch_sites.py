"""Launches in CUDA files and the blocks that they name."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx.launches.launch_sites import EVERY, common_launches, launched_blocks


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k<<<n / 256, 256>>>(p);", {"k": (256, 1, 1)}),
        ("k<<<dim3(1, 2), dim3(16, 16), 0, stream>>>(p);", {"k": (16, 16, 1)}),
        ("#define T 128\nk<<<n, T>>>(p);", {"k": (128, 1, 1)}),
        ("#define W 8\n#define T (W * W)\nvoid f() { k<<<n, T>>>(p); }", {"k": (64, 1, 1)}),
        ("const int T = 64;\nvoid f() { k<<<n, 2 * T>>>(p); }", {"k": (128, 1, 1)}),
        ("void f() { dim3 grid(n / 32); dim3 block(32, 8); k<<<grid, block>>>(p); }", {"k": (32, 8, 1)}),
        ("void f() { dim3 block = dim3(8, 8, 4); k<<<g, block>>>(p); }", {"k": (8, 8, 4)}),
        ("void f() { int threads = 512; k<<<g, threads>>>(p); }", {"k": (512, 1, 1)}),
        ("void f() { dim3 grid(n / 32), block(32, 8); k<<<grid, block>>>(p); }", {"k": (32, 8, 1)}),
        ("void f() { dim3 block; block.x = 16; block.y = 4; k<<<g, block>>>(p); }", {"k": (16, 4, 1)}),
        (
            "void f() { unsigned int t = 64, u = 2 * t; dim3 block(u, 1, 1); k<<<g, block>>>(p); }",
            {"k": (128, 1, 1)},
        ),
        ("void f() { int t = 32; k<<<g, dim3(t, t)>>>(p); }", {"k": (32, 32, 1)}),
        (
            "void f() { reduce<float, 256><<<g, 256, 256 * sizeof(float)>>>(p); }",
            {"reduce": (256, 1, 1), "reduce<float,256>": (256, 1, 1)},
        ),
        # Instances have blocks of their own.
        (
            "#define T 64\nvoid f() { k<T><<<g, T>>>(p); k<128><<<g, 128>>>(p); }",
            {"k<64>": (64, 1, 1), "k<128>": (128, 1, 1)},
        ),
        # What a macro launches, it launches where it is used.
        (
            "#define L(n, ...) case n: k<n><<<g, 2 * n>>>(__VA_ARGS__); \\\n break\n"
            "void f() { switch (n) { L(32, p, q); L(64, p, q); } }",
            {"k<32>": (64, 1, 1), "k<64>": (128, 1, 1)},
        ),
        (
            "#define L(k, g, b, ...) k<<<g, b>>>(__VA_ARGS__)\nvoid f() { L(k, 4, dim3(8, 8), p); }",
            {"k": (8, 8, 1)},
        ),
        ("void f() { k<<<g, 128>>>(p); k<<<h, 128>>>(q); }", {"k": (128, 1, 1)}),
        (
            "void f() { dim3 b(64); if (n) { dim3 b(256); h<<<g, n>>>(p); } k<<<g, b>>>(p); }",
            {"k": (64, 1, 1)},
        ),
        ("void f() { dim3 b{8, 8}, c = {4, 4}; for (;;) { k<<<g, b>>>(p); } }", {"k": (8, 8, 1)}),
        ("void f() { dim3 b(64); while (n--) { k<<<g, b>>>(p); n /= 2; } b.x = 3; }", {"k": (64, 1, 1)}),
        # Not every mention of a kernel hands it out.
        (
            "__global__ void k(int *p);\n"
            'void f() { cudaFuncSetAttribute(k, a, 9); puts("k, p"); k<<<g, 64>>>(p); c.k = h(c.k, 3); }',
            {"k": (64, 1, 1)},
        ),
        (
            "#define MORE(kernel, n) \\\n  do { CHECK(cudaFuncSetAttribute(kernel, a, n)); } while (0)\n"
            "void f() { MORE((k<1>), 9); k<1><<<g, 64>>>(p); }",
            {"k": (64, 1, 1), "k<1>": (64, 1, 1)},
        ),
        ("#define RUN(kernel) run(kernel, 32)\nvoid f() { RUN(k); k<<<g, 64>>>(p); }", {}),
        (
            "__global__ void scale(int *p); void f(float scale) { h(scale); ::scale<<<g, 64>>>(p); }",
            {"scale": (64, 1, 1)},
        ),
        # Variables of kernels are others.
        (
            "__global__ void k(int t) { int b = 1; b = t; }\nvoid f() { dim3 b(8, 8); k<<<g, b>>>(p); }",
            {"k": (8, 8, 1)},
        ),
        # Parameters of templates for kernels as well.
        (
            "template <int t> static __global__ void k(int *p) {}\nvoid f() { const int t = 32; k<t><<<g, t>>>(p); }",
            {"k": (32, 1, 1), "k<32>": (32, 1, 1)},
        ),
        (
            "#define MOST 512\nvoid f() { int n = MOST; unsigned t = n < 1024 ? n : 1024; k<<<g, t, 2 * t>>>(p); }",
            {"k": (512, 1, 1)},
        ),
        (
            "const int W = 48;\nvoid f() { dim3 b(std::min(W, 32), (W % 32) ? 4 : 8); k<<<g, b>>>(p); }",
            {"k": (32, 4, 1)},
        ),
        ("const int W = 40;\nvoid f() { k<<<g, (W + 31) & ~31>>>(p); }", {"k": (64, 1, 1)}),
        # Nobody defines SIZE.
        (
            "#ifdef SIZE\n#define T SIZE\n#else\n#define T 64\n#endif\nvoid f() { k<<<g, T>>>(p); }",
            {"k": (64, 1, 1)},
        ),
    ],
)
def test_constants_name_the_block(text: str, expected: dict[str, tuple[int, int, int]]) -> None:
    assert launched_blocks(text) == expected


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("void set(int &x) { x = 64; }", "int t = 128; set(t); LAUNCH"),
        ("template <class T> void set(int n, T &x) { x = n; }", "int t = 128; set(64, t); LAUNCH"),
        ("", "int t = 128; auto set = [](int &x) { x = 64; }; set(t); LAUNCH"),
        ("", "int t = 128; int *p = &t; *p = 64; LAUNCH"),
        ("", "int t = 128; int &r = t; r = 64; LAUNCH"),
        ("", "int t = 128, u = 64; std::swap(t, u); LAUNCH"),
        ("static int t = 128;", 'scanf("%d", &t); LAUNCH'),
        ("static int t = 128; void set(int &x) { x = 64; }", "set(t); LAUNCH"),
        ("void set(dim3 &x) { x.x = 64; }", "dim3 t(128); set(t); LAUNCH"),
        ("void set(int &x) { x = 64; } void go(int t) { set(t); LAUNCH }", "go(128);"),
    ],
)
def test_what_another_name_may_change_names_none(before: str, body: str) -> None:
    text = f"{before} void f() {{ {body} }}".replace("LAUNCH", "k<<<g, t>>>(p);")
    assert launched_blocks(text) == {}


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("void show(int x);", "int t = 128; show(t); LAUNCH"),
        ("void show(const int &x);", "int t = 128; show(t); LAUNCH"),
        ("void set(int &x, int y) { x = y; }", "int t = 128, u; set(u, t); LAUNCH"),
        ("", "int t = 128; int u = n & t; LAUNCH"),
        ("static const int t = 128;", "const int *p = &t; LAUNCH"),
    ],
)
def test_what_is_only_looked_at_stays_what_it_is(before: str, body: str) -> None:
    text = f"{before} void f() {{ {body} }}".replace("LAUNCH", "k<<<g, t>>>(p);")
    assert launched_blocks(text) == {"k": (128, 1, 1)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("//pass\n//--blockDim=64 --gridDim=2\n", {EVERY: (64, 1, 1)}),
        ("// --blockDim=[16, 8] --no-inline\n", {EVERY: (16, 8, 1)}),
        ("//--local_size=[8,8,4] --num_groups=2\n", {EVERY: (8, 8, 4)}),
        ("//--blockDim=64\n//--blockDim=32\n", {}),
        ("//--blockDim=2048\n", {}),
        ("int x; // blockDim=64\n", {}),
        ("//--blockDim=[,]\n", {}),
        ("//--blockDim=64\nvoid f() { k<<<1, 32>>>(p); }", {EVERY: (64, 1, 1), "k": (32, 1, 1)}),
    ],
)
def test_comments_for_gpuverify_name_the_block_of_all(
    text: str, expected: dict[str, tuple[int, int, int]]
) -> None:
    assert launched_blocks(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "void f(int threads) { k<<<g, threads>>>(p); }",
        "void f() { k<<<g, 128>>>(p); k<<<g, 256>>>(p); }",
        "void f() { dim3 block(32, 8); block.x = n; k<<<g, block>>>(p); }",
        "void f() { dim3 block; block.x = 16; if (n > 9) block.x = 32; k<<<g, block>>>(p); }",
        "void f() { dim3 block; k<<<g, block>>>(p); }",
        "void f() { int t = 64; if (n < 64) t = n; k<<<g, dim3(t, t)>>>(p); }",
        "void f() { int t = 64; while (t > 1) { k<<<g, t>>>(p); t /= 2; } }",
        "void f() { int t = 64; sizes(&t); k<<<g, t>>>(p); }",
        "void h() { int t = 64; } void f(int t) { k<<<g, t>>>(p); }",
        "void f() { int threads = 512; if (n < 9) { int threads = 32; } k<<<g, threads>>>(p); }",
        "#define SIZE n\n#ifdef SIZE\n#define T SIZE\n#else\n#define T 64\n#endif\nvoid f() { k<<<g, T>>>(p); }",
        "#ifdef A\n#define T 32\n#else\n#define T 64\n#endif\nvoid f() { k<<<g, T>>>(p); }",
        "// k<<<1, 64>>>(p);",
        "void f() { k<<<g, 4096>>>(p); }",
        "void f() { k<<<g, __import__('os')>>>(p); }",
        "void f() { k<<<g, 1 << 99999999999>>>(p); }",
        "k<<<",
        # Variables of type dim3 that are changed in place, handed out, or of another function.
        "void f() { dim3 b(64); b.x *= 4; k<<<g, b>>>(p); }",
        "void f() { dim3 b(64, 1); b.y++; k<<<g, b>>>(p); }",
        "void f() { dim3 b(64); sizes(&b); k<<<g, b>>>(p); }",
        "void f() { dim3 b(64); while (n--) { k<<<g, b>>>(p); b.x /= 2; } }",
        "void f() { dim3 b(64); while (n--) { k<<<g, b>>>(p); b = dim3(n); } }",
        "void h() { dim3 b(64); } void f(dim3 b) { k<<<g, b>>>(p); }",
        "void h() { dim3 b(64); } void f(C &c) { const dim3 &b = c.block; k<<<g, b>>>(p); }",
        "void f() {\n#ifndef SMALL\ndim3 b(256);\n#else\ndim3 b(64);\n#endif\nk<<<g, b>>>(p); }",
        "void f() { dim3 b(64); if (n) { dim3 b(256); k<<<g, b>>>(p); } k<<<g, b>>>(p); }",
        "void h() { dim3 b(64); } void f() { k<<<g, b>>>(p); }",
        # Names that are not constant everywhere.
        "void h() { int t = 64; } void f() { for (int t : sizes) k<<<g, t>>>(p); }",
        "void h() { int t = 64; } template <int t> void f() { k<<<g, t>>>(p); }",
        "template <int t> void f() { k<<<g, t>>>(p); } __global__ void k(int *p) { } void h() { int t = 64; }",
        "const int T = 64;\nvoid f() { int T = 256; k<<<g, T>>>(p); }",
        "static int t = 64;\nvoid f() { t = n; k<<<g, t>>>(p); }",
        # Whoever has a kernel's address may launch it.
        "void f() { k<<<g, 64>>>(p); cudaLaunchKernel((void *)k, g, b, args, 0, 0); }",
        "void f() { k<<<g, 64>>>(p); cudaLaunchKernelEx(&config, k, p); }",
        "void f() { k<<<g, 64>>>(p); auto h = k; h<<<g, n>>>(p); }",
        "void f() { k<64><<<g, 64>>>(p); run(k<64>, 128); }",
    ],
)
def test_what_is_computed_or_differs_names_none(text: str) -> None:
    assert launched_blocks(text) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void f() { k<<<g, 256>>>(p, 1024, n); }", {"k": {1: 1024}}),
        ("#define N 64\nvoid f() { k<<<g, 256>>>(p, N, f(1, 2), 2 * N); }", {"k": {1: 64, 3: 128}}),
        ("void f() { const int a = 4, b = 2 * a; k<<<g, dim3(16, 16), s>>>(a, b); }", {"k": {0: 4, 1: 8}}),
        # Where a comma may be one of a template's arguments, places are not known.
        ("void f() { k<<<g, 64>>>(at<int, 4>(p), 5, 9); }", {"k": {}}),
        # Two launches agree on one number.
        ("void f() { k<<<g, 64>>>(1, 7); k<<<g, 64>>>(2, 7); }", {"k": {1: 7}}),
        # The kernel's own parameter has the name of a variable of the host.
        ("__global__ void k(int n) { n += 1; }\nvoid f() { int n = 100; k<<<g, 64>>>(n); }", {"k": {0: 100}}),
        # What every call of the function around a launch gives it.
        ("void h(int n) { k<<<g, 64>>>(n); }\nvoid f() { int n = 100; h(n); }", {"k": {0: 100}}),
        ("void h(int n) { k<<<g, 64>>>(n); }\nvoid f() { h(100); h(200); }", {"k": {}}),
        ("void h(int n) { k<<<g, 64>>>(n); }\nvoid f() { h(100); h(m); }", {"k": {}}),
        ("void f() { int n = 100; if (argc > 1) n = atoi(argv[1]); k<<<g, 64>>>(n); }", {"k": {}}),
    ],
)
def test_numbers_that_all_launches_give(text: str, expected: dict[str, dict[int, int]]) -> None:
    assert {name: each.numbers for name, each in common_launches(text).items()} == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void f(int n) { k<<<g, n, n * 4>>>(p, n); }", {1: 1}),
        ("void f(int n) { k<<<1, n / 2>>>(p, n, 3); }", {1: 2}),
        ("void f(int n) { dim3 block(n >> 1); k<<<1, block>>>(n); }", {0: 2}),
        ("void f(int n) { k<<<n, m>>>(p, n); }", {}),
        ("void f(int n) { k<<<1, n>>>(p, n); k<<<1, 2 * n>>>(p, n); }", {}),
    ],
)
def test_numbers_that_go_with_the_block(text: str, expected: dict[int, int]) -> None:
    assert common_launches(text)["k"].threads == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void f() { k<<<g, 128>>>(p); k<<<g, dim3(16, 16)>>>(p); }", ((16, 16, 1), (128, 1, 1))),
        ("void f() { k<<<g, 128>>>(p); k<<<g, t>>>(p); }", ()),
        # One block is the block.
        ("void f() { k<<<g, 128>>>(p); k<<<h, 128>>>(p); }", ()),
        # The arguments of a template may go with its blocks.
        ("void f() { k<16><<<g, dim3(16, 16)>>>(p); k<32><<<g, dim3(32, 32)>>>(p); }", ()),
    ],
)
def test_several_blocks(text: str, expected: tuple[tuple[int, int, int], ...]) -> None:
    assert common_launches(text)["k"].blocks == expected


RUN = "void run(float *p, int threads) { BODY k<<<n, threads>>>(p); }\n"


@pytest.mark.parametrize(
    ("body", "calls", "expected"),
    [
        ("", "int main() { run(p, 256); run(q, 256); }", {"k": (256, 1, 1)}),
        ("", "int main() { int t = 64; run(p, t); }", {"k": (64, 1, 1)}),
        ("", "void go(const int t) { run(p, 2 * t); } int main() { go(32); }", {"k": (64, 1, 1)}),
        # A number of another function has the same name.
        ("", "void h() { int threads = 32; } int main() { run(p, 64); }", {"k": (64, 1, 1)}),
        ("", "int main() { run(p, 256); run(p, atoi(argv[1])); }", {}),
        ("", "int main() { run(p, 256); run(p, 128); }", {}),
        ("", "int main() { run(p, 256); each(p, run); }", {}),
        ("threads /= 2;", "int main() { run(p, 256); }", {}),
        ("if (n < threads) threads = n;", "int main() { run(p, 256); }", {}),
        ("size(&threads);", "int main() { run(p, 256); }", {}),
        ("", "", {}),
    ],
)
def test_what_calls_give_the_function_that_launches(
    body: str, calls: str, expected: dict[str, tuple[int, int, int]]
) -> None:
    prototype = "void run(float *p, int threads);\n"
    assert launched_blocks(prototype + RUN.replace("BODY", body) + calls) == expected


def test_calls_with_several_numbers_name_several_blocks() -> None:
    text = RUN.replace("BODY", "") + "int main() { run(p, 256); run(p, 128); }"
    assert common_launches(text)["k"].blocks == ((128, 1, 1), (256, 1, 1))
