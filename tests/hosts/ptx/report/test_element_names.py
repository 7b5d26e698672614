"""Bytes of shared memory are named as elements of the array that CUDA declares, and threads as CUDA numbers them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.hosts.ptx.launches.thread_names import shown_sizes, thread_number, with_warp
from fencepost.hosts.ptx.report.element_names import elements_of, template_arguments, width_of_access
from fencepost.hosts.ptx.verdicts import SharedVariable
from tests.commands.test_schemas import entries
from tests.conftest import CommandLine

DYNAMIC = "dynamic shared memory"


@pytest.mark.parametrize(
    ("declared", "size", "offset", "element"),
    [
        ("__shared__ float s[256];", 1024, 128, "s[32]"),
        ("__shared__ int a[4], s[16][17];", 1088, 4 * (3 * 17 + 5), "s[3][5]"),
        ("#define N 32\n__shared__ float s[N][N + 1];", 4224, 4 * 34, "s[1][1]"),
        ("constexpr int N = 8;\n__shared__ T s[N];", 96, 13, "s[1]"),
        ("__shared__ __align__(16) unsigned char s[64];", 64, 7, "s[7]"),
        ("__shared__ alignas(128) float4 s[2][N];", 2 * 128 * 16, 129 * 16, "s[1][1]"),
        ("__shared__ cuda::barrier<cuda::thread_scope_block> s[2];", 16, 8, "s[1]"),
        ("__shared__ volatile double s;", 8, 4, "s"),
        ("extern __shared__ float memory[];", None, 256, "memory[64]"),
        # The last declaration above the access is the one that it sees.
        ("__shared__ int s[4];\n__shared__ short s[8];", 16, 6, "s[3]"),
    ],
)
def test_an_element_is_named(declared: str, size: int | None, offset: int, element: str) -> None:
    variable = SharedVariable(DYNAMIC if size is None else "s", size or 0)
    found = elements_of(declared, variable, variable.name, 9)
    assert found is not None and found.at(offset) == element


@pytest.mark.parametrize(
    ("declared", "size"),
    [
        ("__shared__ T s[N];", 1024),
        ("__shared__ float s[N][M];", 1024),
        # It is not what PTX has by that name.
        ("__shared__ float s[100];", 1024),
        ("// __shared__ float s[256];", 1024),
        ("extern __shared__ char s[];", None),
    ],
)
def test_what_is_not_known_stays_bytes(declared: str, size: int | None) -> None:
    variable = SharedVariable(DYNAMIC if size is None else "s", size or 0)
    assert elements_of(declared, variable, variable.name, 9) is None


@pytest.mark.parametrize(
    ("instruction", "width"),
    [
        ("ld.shared.f32 %f1, [%r1]", 4),
        ("@%p1 st.shared.v4.f32 [%r1], {%f1, %f2, %f3, %f4}", 16),
        ("cp.async.ca.shared.global [%r1], [%rd1], 16, 16", 16),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, 1, 1, 1, 0, 0", None),
    ],
)
def test_the_width_of_an_access(instruction: str, width: int | None) -> None:
    assert width_of_access(instruction) == width


def test_threads_are_numbered_by_as_many_numbers_as_the_block_has_dimensions() -> None:
    assert [thread_number((3, 1, 0), block) for block in ((32, 8, 1), (32, 8, 2))] == ["(3, 1)", "(3, 1, 0)"]
    assert with_warp((128, 0, 0), (256, 1, 1)) == "thread 128 (warp 4)"
    assert with_warp((3, 0, 0), (32, 1, 1)) == "thread 3"
    assert [shown_sizes(each) for each in ((256, 1, 1), (32, 8, 1), (8, 1, 4))] == ["256", "32x8", "8x1x4"]


PAIRS = """\
struct Pair { float x; int y; };
__global__ void pairs(float *out) {
    __shared__ Pair pairs[128];
    int t = threadIdx.x;
    pairs[t].y = t;
    out[t] = pairs[127 - t].y;
}
"""


def test_a_part_of_an_element_is_named_with_its_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fencepost: CommandLine
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.cu").write_text(PAIRS, encoding="utf-8")
    out = fencepost("check", "pairs.cu", "--block", "128").out
    assert "thread 0 writes and thread 127 reads `pairs[0]` with no barrier between them" in out
    assert "thread 0 (warp 0) writes `pairs[0]` (bytes 4..8)" in out
    (kernel,) = entries("check", fencepost("check", "pairs.cu", "--block", "128", "--json").out)
    assert (kernel["findings"][0]["element"], kernel["findings"][0]["bytes"]) == ("pairs[0]", [4, 8])


TEMPLATE = """\
template <int N, typename T = float>
__global__ void blur(const T *x, T *y) {
    __shared__ T s[N][N + 2];
    s[0][threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = s[0][(threadIdx.x + 32) % 64];
}
template __global__ void blur<64, double>(const double *, double *);
"""


def test_elements_of_a_template_are_those_of_the_instance(tmp_path: Path, fencepost: CommandLine) -> None:
    (tmp_path / "blur.cu").write_text(TEMPLATE, encoding="utf-8")
    out = fencepost("check", str(tmp_path / "blur.cu"), "--block", "64").out
    assert "error[FP001]" in out and "`s[0][" in out
    assert "bytes" not in out


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [
        ("blur<64, float>", {"N": "64", "T": "float"}),
        ("ns::blur<8, foo<int, 2>>", {"N": "8", "T": "foo<int, 2>"}),
        ("blur", {}),
        ("other<64, float>", {}),
    ],
)
def test_template_arguments(kernel: str, arguments: dict[str, str]) -> None:
    assert template_arguments(TEMPLATE, kernel) == arguments


TWO_MEMORIES = """\
template <class T> struct Memory { __device__ T *get() { extern __shared__ double doubles[]; return doubles; } };
__global__ void shift(double *out) {
#ifdef OLD
    extern __shared__ float floats[];
#endif
    double *s = Memory<double>().get();
    s[threadIdx.x] = out[threadIdx.x];
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}
"""


def test_an_element_of_another_declaration_of_dynamic_memory_is_not_named(
    tmp_path: Path, fencepost: CommandLine
) -> None:
    (tmp_path / "shift.cu").write_text(TWO_MEMORIES, encoding="utf-8")
    out = fencepost("check", str(tmp_path / "shift.cu"), "--block", "64").out
    assert "error[FP001]" in out and "floats" not in out
