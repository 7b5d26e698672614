"""`fencepost prune`, `insert`, `fix` and `explain` on CUDA and PTX."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.hosts.ptx.cuda_source.cuda_statements import CLUSTER_ASSEMBLY, CLUSTER_SYNC
from fencepost.ir.source import Source
from tests.commands.test_schemas import entries
from tests.conftest import CommandLine
from tests.hosts.ptx.ptxas import assert_assembles
from tests.tiers import FULL, sweep

SUMS = """\
__device__ void meet() {
    __syncthreads();
}

__global__ void sums(const int *__restrict__ in, int *out) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    meet();
    for (int k = 128; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) out[0] = s[0];
    if (out) __syncthreads();
}
"""
"""Of the first two barriers one is spare, and so is the last."""
TILES = """\
__global__ void tiles(const float *a, float *out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float x = 0;
    for (int i = 0; i < 3; i++) {
        s[t] = a[i * 256 + t];
        for (int j = 0; j < 256; j += 64)
            x += s[(t + j) % 256];
    }
    out[t] = x;
}
"""
"""A barrier is missing before the tile is read, and another before it is stored again."""
NUMBERS = """\
__global__ void numbers(int *out) {
    __shared__ int s;
    s = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s;
}
"""
"""All threads store to one word: no barrier helps."""
BLOCK = ("--block", "256")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("sums", SUMS), ("tiles", TILES), ("numbers", NUMBERS)):
        Path(f"{name}.cu").write_text(text, encoding="utf-8")
        Path(f"{name}.ptx").write_text(compile_cuda(Source(f"{name}.cu", text)).ptx, encoding="utf-8")
    return tmp_path


def changed(before: str, after: str) -> list[str]:
    """The lines that are new."""
    old = before.splitlines()
    return [line.strip() for line in after.splitlines() if line not in old]


# ---------------------------------------------------------------- prune


def test_prune_comments_barriers_out_of_ptx(folder: Path, fencepost: CommandLine) -> None:
    ran = fencepost("prune", "sums.ptx", *BLOCK, "-o", "less.ptx")
    assert ran.code == 0 and ran.out == ""
    before, after = (Path(name).read_text() for name in ("sums.ptx", "less.ptx"))
    assert after.replace("/* bar.sync \t0; */", "bar.sync \t0;") == before
    assert ran.err.startswith("sums: 3 barriers removed (line ") and "sums.cu:9" in ran.err
    assert "no race in shared memory, no divergent barrier" in ran.err
    assert_assembles(after, folder)


def test_prune_takes_a_line_out_of_cuda_if_all_of_its_copies_are_spare(
    folder: Path, fencepost: CommandLine
) -> None:
    ran = fencepost("prune", "sums.cu", *BLOCK)
    assert ran.code == 0
    # The last of the eight copies of line 13 is spare as well, but the others are not.
    assert changed(SUMS, ran.out) == ["/* __syncthreads() */;", "if (out) /* __syncthreads() */;"]
    assert ran.err.startswith("sums.cu: 2 barriers removed (line 2, 16), 2 kept\n")
    assert "  line 13: 8 copies in PTX\n" in ran.err


def test_prune_writes_back(folder: Path, fencepost: CommandLine) -> None:
    assert fencepost("prune", "sums.cu", *BLOCK, "-w").code == 0
    assert Path("sums.cu").read_text().count("/* __syncthreads() */") == 2
    assert "0 barriers removed, 2 kept" in fencepost("prune", "sums.cu", *BLOCK).err


def test_prune_leaves_what_is_not_proven(folder: Path, fencepost: CommandLine) -> None:
    for name, text in (("tiles.cu", TILES), ("tiles.ptx", Path("tiles.ptx").read_text())):
        ran = fencepost("prune", name, *BLOCK)
        assert (ran.code, ran.out) == (0, text)
        assert "tiles: left as it is, for it is not proven: " in ran.err


def test_prune_says_what_keeps_a_barrier_for_global_memory(fencepost: CommandLine) -> None:
    text = "__global__ void k(int *a, int *b) { int x = a[255 - threadIdx.x];\n__syncthreads(); b[threadIdx.x] = x; }"
    ran = fencepost("prune", "-", *BLOCK, stdin=text)
    assert ran.out == text and "line 2: kept for global memory: `ld.global.u32" in ran.err
    assert "if `a` and `b` overlap (--distinct-pointers: they do not)" in ran.err
    ran = fencepost("prune", "-", *BLOCK, "--distinct-pointers", stdin=text)
    assert "1 barrier removed (line 2), 0 kept" in ran.err


def test_a_barrier_in_a_macro_is_left_to_its_author(fencepost: CommandLine) -> None:
    text = (
        "#define SYNC __syncthreads()\n__global__ void k(int *a) {\n    SYNC;\n    a[threadIdx.x] = 1;\n}\n"
    )
    ran = fencepost("prune", "-", *BLOCK, stdin=text)
    assert ran.out == text and "line 3: take it out by hand: it is not written as __syncthreads()" in ran.err


def test_a_function_of_two_kernels_is_judged_in_both(fencepost: CommandLine) -> None:
    text = (
        SUMS
        + "\n__global__ void other(int *a) {\n    __shared__ int s[256];\n    s[threadIdx.x] = a[threadIdx.x];\n"
    )
    text += "    meet();\n    a[threadIdx.x] = s[255 - threadIdx.x];\n}\n"
    ran = fencepost("prune", "-", *BLOCK, "--kernel", "sums", stdin=text)
    assert "line 9, 16), 2 kept" in ran.err, "line 2 is needed in the other kernel, so line 9 goes"


def test_prune_json(folder: Path, fencepost: CommandLine) -> None:
    (entry,) = entries("prune", fencepost("prune", "sums.cu", *BLOCK, "--json").out)
    assert [each["line"] for each in entry["removed"]] == [2, 16]
    assert [(each["line"], len(each["copies"])) for each in entry["kept"]] == [(9, 1), (13, 8)]
    assert entry["after"]["proven"] and "/* __syncthreads() */" in entry["text"]
    (entry,) = entries("prune", fencepost("prune", "sums.ptx", *BLOCK, "--json").out)
    assert len(entry["removed"]) == 3 and entry["removed"][0]["copies"][0]["source_line"] == 9


# ---------------------------------------------------------------- insert and fix


def test_insert_puts_barriers_into_cuda(folder: Path, fencepost: CommandLine) -> None:
    ran = fencepost("insert", "tiles.cu", *BLOCK)
    assert ran.code == 0 and ran.err.startswith("tiles: 2 barriers inserted (line 6, 8)\n")
    lines = ran.out.splitlines()
    assert (lines[5].strip(), lines[7].strip()) == ("__syncthreads();", "__syncthreads();")
    assert "\n".join(line for line in lines if line.strip() != "__syncthreads();") + "\n" == TILES


def test_insert_puts_barriers_into_ptx(folder: Path, fencepost: CommandLine) -> None:
    ran = fencepost("insert", "tiles.ptx", *BLOCK)
    assert (
        ran.code == 0
        and "inserted (line " in ran.err
        and "no race in shared memory, no divergent barrier" in ran.err
    )
    assert_assembles(ran.out, folder)
    assert fencepost("check", "-", *BLOCK, "--require-proof", stdin=ran.out).code == 0


def test_insert_says_what_no_barrier_mends(folder: Path, fencepost: CommandLine) -> None:
    for name, text in (("numbers.cu", NUMBERS), ("numbers.ptx", Path("numbers.ptx").read_text())):
        ran = fencepost("insert", name, *BLOCK)
        assert (ran.code, ran.out) == (1, text)
        assert "numbers: left as it is: barriers alone do not mend it. What remains:\nerror[FP001]" in ran.err


def test_insert_leaves_a_right_kernel_alone(folder: Path, fencepost: CommandLine) -> None:
    ran = fencepost("insert", "sums.cu", *BLOCK)
    assert (ran.code, ran.out) == (0, SUMS) and ran.err.endswith(": nothing to insert\n")


def test_insert_json(folder: Path, fencepost: CommandLine) -> None:
    (entry,) = entries("insert", fencepost("insert", "tiles.cu", *BLOCK, "--json").out)
    assert entry["inserted"] == [6, 8]
    assert (entry["before"]["verdict"], entry["after"]["verdict"]) == ("race", "proven")


def test_fix_shows_a_diff_and_writes_it(folder: Path, fencepost: CommandLine) -> None:
    ran = fencepost("fix", "tiles.cu", *BLOCK)
    assert ran.code == 0 and ran.out.startswith("--- a/tiles.cu\n+++ b/tiles.cu\n@@ ")
    assert ran.out.count("\n+        __syncthreads();\n") == 2
    assert "would be mended (-w writes it)" in ran.err and Path("tiles.cu").read_text() == TILES
    (entry,) = entries("fix", fencepost("fix", "tiles.cu", *BLOCK, "-w", "--json").out)
    assert entry["ok"] and entry["written"] and entry["kernels"][0]["verdict"]["verdict"] == "proven"
    assert Path("tiles.cu").read_text().count("__syncthreads();") == 2


def test_fix_names_what_it_cannot_mend(folder: Path, fencepost: CommandLine) -> None:
    ran = fencepost("fix", "numbers.cu", "sums.cu", *BLOCK)
    assert (ran.code, ran.out) == (1, "")
    assert "numbers.cu: numbers: 1 finding cannot be mended by barriers\n" in ran.err
    assert ran.err.endswith("2 files: 1 finding cannot be mended\n")


# ---------------------------------------------------------------- explain


def test_explain_gives_each_line_of_cuda_its_reason(folder: Path, fencepost: CommandLine) -> None:
    ran = fencepost("explain", "sums.cu", *BLOCK)
    assert ran.code == 0
    spare = "redundant: shared memory is not touched between it and the barrier"
    assert f"sums.cu:9: {spare} after it (line 2)\n" in ran.out
    assert f"sums.cu:2: {spare} before it (line 9)\n" in ran.out
    assert (
        "sums.cu:13: needed (8 copies in PTX, 1 of them redundant by themselves)\n  without this, " in ran.out
    )
    assert "sums.cu:16: redundant: shared memory is not touched after it\n" in ran.out


RACY = """\
__global__ void racy(const float *in, float *out, int n) {
    __shared__ float a[256], b[256];
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) {
        a[t] = in[k * 256 + t];
        sum += a[255 - t];
        __syncthreads();
    }
    b[t] = sum;
    float other = b[(t + 1) % 256];
    __syncthreads();
    b[t] = other * sum;
    __syncthreads();
    out[t] = b[255 - t];
    __syncthreads();
}
"""


def test_of_a_kernel_that_races_no_barrier_is_called_redundant_that_is_not(
    folder: Path, fencepost: CommandLine
) -> None:
    bounded = RACY.replace("    for (int k = 0; k < n;", "#pragma unroll 1\n    for (int k = 0; k < 3;")
    Path("racy.cu").write_text(bounded, encoding="utf-8")
    out = fencepost("explain", "racy.cu", *BLOCK).out
    assert "racy.cu:9: stays\n  not explained: the kernel is wrong with all of its barriers" in out
    assert "racy.cu:13: needed\n" in out and "racy.cu:15: needed\n" in out
    assert "racy.cu:17: redundant: shared memory is not touched after it" in out


@FULL
def test_so_it_is_where_the_loop_has_no_bound(folder: Path, fencepost: CommandLine) -> None:
    Path("racy.cu").write_text(RACY, encoding="utf-8")
    out = fencepost("explain", "racy.cu", *BLOCK).out
    again = "thread 255 reads and thread 0 writes `a[0]` in a later iteration, with no barrier between them"
    assert f"racy.cu:8: needed (5 copies in PTX)\n  without this, {again} (lines 7 and 6)\nracy.cu:12" in out
    assert "racy.cu:12: stays\n  not explained: the kernel is wrong with all of its barriers" in out
    assert "racy.cu:16: redundant: shared memory is not touched after it" in out


def test_explain_json(folder: Path, fencepost: CommandLine) -> None:
    (entry,) = entries("explain", fencepost("explain", "sums.ptx", *BLOCK, "--json").out)
    assert len(entry["barriers"]) == 11 and entry["verdict"]["proven"]
    assert sum(each["redundant"] is not None for each in entry["barriers"]) == 4
    needed = next(each for each in entry["barriers"] if each["redundant"] is None)
    assert "with no barrier between them (lines" in needed["copies"][0]["reasons"][0]


# ---------------------------------------------------------------- mistakes in a call


@pytest.mark.parametrize("command", ["prune", "insert", "explain", "fix"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sums.cu", "--kernel", "sum"), "error[FP104]: there is no kernel sum in sums.cu"),
        (("sums.cu", "--param", "n=1"), "error[FP104]: sums has no parameter n"),
        (("words.ptx",), "error[FP432]: this PTX cannot be read"),
        (("sums.cu", "--define", "t=1"), "error[FP431]: this does not compile"),
    ],
)
def test_mistakes_are_named(
    command: str, arguments: tuple[str, ...], said: str, folder: Path, fencepost: CommandLine
) -> None:
    Path("words.ptx").write_text(".version 8.0\n.target sm_80\n.entry k() { words }\n", encoding="utf-8")
    ran = fencepost(command, *arguments)
    assert ran.code == 2 and said in ran.err


@pytest.mark.parametrize("command", ["prune", "insert"])
def test_options_for_cuda_are_refused_with_other_files(command: str, fencepost: CommandLine) -> None:
    ran = fencepost(command, "-", *BLOCK, "--kernel", "k", stdin="kernel @k waves=4 {\n}\n")
    assert (
        ran.code == 2
        and "--block, --kernel are options for CUDA and PTX, and this file is neither" in ran.err
    )


def test_fix_mends_what_check_finds_with_the_block_of_the_launch(
    fencepost: CommandLine, folder: Path
) -> None:
    text = "__global__ void shift(int *a) {\n  int v = a[threadIdx.x + 1];\n  a[threadIdx.x] = v;\n}\n"
    (folder / "shift.cu").write_text(text + "int main() { shift<<<1, 64>>>(0); }\n", encoding="utf-8")
    assert fencepost("check", "shift.cu").code == 1
    assert "+  __syncthreads();" in fencepost("fix", "shift.cu", "--diff").out
    fencepost("fix", "shift.cu", "-w")
    assert fencepost("check", "shift.cu").code == 0


# ---------------------------------------------------------------- clusters

NEIGHBOUR = """\
#include <cooperative_groups.h>
__global__ void neighbour(int *out) {
    __shared__ int s[128];
    auto cluster = cooperative_groups::this_cluster();
    int t = threadIdx.x;
    s[t] = t + cluster.block_rank();
    out[t] = cluster.map_shared_rank(s, cluster.block_rank() ^ 1)[127 - t];
}
"""
"""The barrier of the cluster is missing before the access to the other block, and behind it."""
WITHOUT_HEADER = """\
__global__ void neighbour(int *out) {
    __shared__ int s[128];
    int t = threadIdx.x, rank = __clusterRelativeBlockRank();
    s[t] = t + rank;
    out[t] = ((int *)__cluster_map_shared_rank(s, rank ^ 1))[127 - t];
}
"""
"""The same, without the header that takes the compiler a second each time."""
PAIR = ("--block", "128", "--cluster", "2", "--target", "sm_90")


@pytest.mark.parametrize(
    ("text", "barrier"),
    sweep([(WITHOUT_HEADER, CLUSTER_ASSEMBLY), (NEIGHBOUR, CLUSTER_SYNC)], first=1),
    ids=["assembly", "cooperative groups"],
)
def test_fix_puts_barriers_of_the_cluster_into_cuda(
    text: str, barrier: str, folder: Path, fencepost: CommandLine
) -> None:
    Path("neighbour.cu").write_text(text, encoding="utf-8")
    ran = fencepost("fix", "neighbour.cu", *PAIR)
    assert ran.code == 0 and ran.out.count(f"+    {barrier}\n") == 2


def test_fix_puts_barriers_of_the_cluster_into_ptx(folder: Path, fencepost: CommandLine) -> None:
    from fencepost.hosts.ptx.compiler.nvrtc import Compilation

    text = compile_cuda(Source("neighbour.cu", WITHOUT_HEADER), Compilation("sm_90")).ptx
    Path("neighbour.ptx").write_text(text, encoding="utf-8")
    assert fencepost("fix", "neighbour.ptx", *PAIR, "-w").code == 0
    mended = Path("neighbour.ptx").read_text()
    assert mended.count("barrier.cluster.arrive; barrier.cluster.wait;") == 2
    assert_assembles(mended, folder, "sm_90")


def test_the_cluster_is_given_like_the_block(folder: Path, fencepost: CommandLine) -> None:
    Path("neighbour.cu").write_text(WITHOUT_HEADER, encoding="utf-8")
    ran = fencepost("check", "neighbour.cu", "--block", "128", "--target", "sm_90")
    assert ran.code == 0 and "--cluster" in ran.out
    ran = fencepost("check", "neighbour.cu", *PAIR)
    assert ran.code == 1 and "clusters of 2 blocks" in ran.out
    launch = "\nvoid run() { cudaLaunchAttribute a[1]; a[0].val.clusterDim.x = 2; }\n"
    Path("neighbour.cu").write_text(WITHOUT_HEADER + launch, encoding="utf-8")
    ran = fencepost("check", "neighbour.cu", "--block", "128", "--target", "sm_90")
    assert ran.code == 1 and "clusters of 2 blocks" in ran.out
    ran = fencepost("check", "neighbour.cu", "--block", "128", "--cluster", "3x9")
    assert ran.code == 2 and "at most 16" in ran.err
