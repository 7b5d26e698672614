"""`fencepost check` on CUDA and PTX: reports, exit codes, formats, and mistakes in the call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.ir.source import Source
from tests.commands.test_schemas import entries
from tests.conftest import CommandLine

REVERSE = """\
#include <cstdio>

__global__ void reverse(int *data, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = data[t];
#ifndef NO_BARRIER
    __syncthreads();
#endif
    data[t] = s[127 - t];
}

__global__ void twice(int *data) {
    data[threadIdx.x] *= 2;
}

int main() {
    reverse<<<1, 128>>>(nullptr, 3);
    return 0;
}
"""
LANES = """\
__global__ void neighbours(int *data) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = data[t];
    data[t] = s[31 - t];
}
"""
POLLS = """\
__global__ void polls(int *data) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (data[threadIdx.x]) atomicAdd(&found, 1);
    data[threadIdx.x] = *(volatile int *)&found;
}
"""
CLUSTER = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry waits()
{
    barrier.cluster.arrive;
    ret;
}
"""


@pytest.fixture
def reverse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reverse.cu").write_text(REVERSE, encoding="utf-8")
    return "reverse.cu"


def test_a_right_kernel_is_proven(reverse: str, fencepost: CommandLine) -> None:
    ran = fencepost("check", reverse, "--block", "128", "--require-proof")
    assert ran.code == 0 and ran.err == ""
    first, second = ran.out.splitlines()
    assert first.startswith(
        "reverse.cu: reverse: no race in shared memory, no divergent barrier (blocks of 128 threads"
    )
    assert first.endswith("1 barrier, 2 shared accesses)")
    assert second.startswith("reverse.cu: twice: no race in shared memory, no divergent barrier")


def test_a_race_is_shown_with_both_lines_and_both_threads(reverse: str, fencepost: CommandLine) -> None:
    ran = fencepost("check", reverse, "--block", "128", "--define", "NO_BARRIER", "--kernel", "reverse")
    assert ran.code == 1
    assert ran.out.startswith("error[FP001]: thread ")
    assert "`s[0]` with no barrier between them\n" in ran.out
    assert "reverse.cu:6:5 and reverse.cu:10:5" in ran.out
    assert "  6 |     s[t] = data[t];\n" in ran.out and " 10 |     data[t] = s[127 - t];\n" in ran.out
    assert "= fix: put __syncthreads() between line 6 and line 10\n" in ran.out
    assert "reverse.cu: reverse: 1 race (blocks of 128 threads" in ran.out


def test_two_lanes_of_one_warp_race_unless_they_run_in_step(fencepost: CommandLine) -> None:
    ran = fencepost("check", "-", "--block", "32", stdin=LANES)
    assert ran.code == 1 and ran.out.startswith("error[FP001]") and ": 1 race (" in ran.out
    assert "(both threads are in one warp)" in ran.out
    in_step = fencepost("check", "-", "--block", "32", "--warp-synchronous", "--require-proof", stdin=LANES)
    assert in_step.code == 0 and "; if the threads of a warp run in step;" in in_step.out


def test_what_is_not_decided_says_why(fencepost: CommandLine) -> None:
    ran = fencepost("check", "-", stdin=CLUSTER)
    assert ran.code == 0 and "waits: not decided" in ran.out
    assert "`barrier.cluster.arrive` (PTX line 6)" in ran.out
    assert fencepost("check", "-", "--require-proof", stdin=CLUSTER).code == 1


def test_ptx_with_line_tables_quotes_the_file_behind_it(reverse: str, fencepost: CommandLine) -> None:
    text = REVERSE.replace("__syncthreads();", "")
    Path(reverse).write_text(text, encoding="utf-8")
    ptx = compile_cuda(Source(str(Path(reverse).resolve()), text)).ptx
    Path("reverse.ptx").write_text(ptx, encoding="utf-8")
    ran = fencepost("check", "reverse.ptx", "--block", "128", "--kernel", "reverse")
    assert ran.code == 1 and "  6 |     s[t] = data[t];\n" in ran.out
    Path(reverse).unlink()
    ran = fencepost("check", "reverse.ptx", "--block", "128", "--kernel", "reverse")
    assert "| \tst.shared.u32" in ran.out.replace("    st.shared", "\tst.shared")
    assert "= written: the first in" in ran.out and "reverse.cu:6; the second in" in ran.out


def test_json_follows_its_schema(reverse: str, fencepost: CommandLine) -> None:
    ran = fencepost("check", reverse, "--block", "128", "--define", "NO_BARRIER", "--json")
    first, second = entries("check", ran.out)
    assert (first["kernel"], first["ok"], first["proven"], first["verdict"]) == (
        "reverse",
        False,
        False,
        "race",
    )
    (finding,) = first["findings"]
    assert (finding["code"], finding["severity"]) == ("FP001", "error")
    assert (finding["first"]["source_line"], finding["second"]["source_line"]) == (6, 10)
    assert finding["first"]["thread"] != finding["second"]["thread"]
    assert (second["kernel"], second["proven"], second["findings"]) == ("twice", True, [])
    (undecided,) = entries("check", fencepost("check", "-", "--json", stdin=CLUSTER).out)
    assert undecided["verdict"] == "undecided" and undecided["reasons"][0]["site"]["ptx_line"] == 6


def test_sarif_and_annotations_point_at_cuda(reverse: str, fencepost: CommandLine) -> None:
    arguments = ("check", reverse, "--block", "128", "--define", "NO_BARRIER")
    (run,) = json.loads(fencepost(*arguments, "--format", "sarif").out)["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "reverse.cu" and place["region"]["startLine"] == 10
    assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 6
    ran = fencepost(*arguments, "--format", "github")
    assert ran.out.startswith("::error file=reverse.cu,line=10,")
    ran = fencepost("check", "-", "--block", "32", "--format", "github", stdin=POLLS)
    assert ran.code == 0 and ran.out.startswith("::warning file=<stdin>,line=6,")
    (run,) = json.loads(fencepost("check", "-", "--format", "sarif", stdin=CLUSTER).out)["runs"]
    assert run["invocations"][0]["toolExecutionNotifications"][0]["level"] == "warning"


def test_folders_hold_cuda_too(reverse: str, fencepost: CommandLine) -> None:
    Path("b.ptx").write_text(CLUSTER, encoding="utf-8")
    ran = fencepost("check", ".", "--block", "128")
    assert ran.code == 0
    assert ran.out.endswith("2 files, 3 kernels: nothing found; 1 kernel not proven clean\n")


def test_parameters_are_called_as_in_cuda(fencepost: CommandLine) -> None:
    text = REVERSE.replace("s[127 - t]", "s[n - 1 - t]").replace("__syncthreads();", "")
    ran = fencepost("check", "-", "--block", "128", "--param", "n=64", "--kernel", "reverse", stdin=text)
    assert "n = 64" in ran.out and "param_1" not in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--kernel", "revers"),
            "error[FP104]: there is no kernel revers in reverse.cu\n   = help: did you mean `reverse`?",
        ),
        (("--kernel", "reverse", "--param", "m=3"), "error[FP104]: reverse has no parameter m"),
        (
            ("--kernel", "reverse", "--param", "n=4294967296"),
            "error[FP104]: 4294967296 does not fit into n, which has 32 bits",
        ),
        (("--param", "n"), "argument --param: 'n' has no value: write NAME=VALUE"),
        (("--param", "n=x"), "argument --param: 'n=x' has no whole number: write NAME=VALUE"),
        (("--block", "0"), "argument --block: '0' is not a block: write 256, 32x8 or 8x8x4"),
        (("--block", "64x64"), "argument --block: 64x64: 4096 threads, and a block has at most 1024"),
        (("--target", "gfx942"), "error[FP110]: gfx942 is no GPU that CUDA is compiled for"),
        (("--define", "data=1"), "error[FP431]: this does not compile"),
    ],
)
def test_mistakes_in_a_call(
    arguments: tuple[str, ...], said: str, reverse: str, fencepost: CommandLine
) -> None:
    ran = fencepost("check", reverse, *arguments)
    assert ran.code == 2 and said in ran.err


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("empty.cu", "", "error[FP102]: there is no kernel in this file"),
        ("empty.ptx", "", "error[FP102]: there is no kernel in this file"),
        ("host.cu", "int main() { return 0; }\n", "a kernel is a function that says __global__"),
        ("template.cu", "template <int N> __global__ void k() {}\n", "--kernel 'reduce<256>'"),
        ("words.cu", "this is no CUDA\n", "error[FP431]: this does not compile"),
        ("cut.ptx", CLUSTER[:-3], "error[FP432]: this PTX cannot be read"),
        ("words.ptx", ".entry k this is no PTX\n", "error[FP432]: this PTX cannot be read"),
    ],
)
def test_files_that_cannot_be_judged(
    name: str, text: str, said: str, tmp_path: Path, fencepost: CommandLine
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    ran = fencepost("check", str(tmp_path / name))
    assert ran.code == 2 and said in ran.err and ran.out == ""


def test_a_comment_in_another_encoding(tmp_path: Path, fencepost: CommandLine) -> None:
    """Compilers take it, and so does `check`: comments are in many encodings."""
    (tmp_path / "k.cu").write_bytes(b"__global__ void k() {} // \xff\n")
    ran = fencepost("check", str(tmp_path / "k.cu"))
    assert ran.code == 0 and "k: no race in shared memory" in ran.out


def test_a_template_is_judged_with_the_arguments_that_are_named(fencepost: CommandLine) -> None:
    text = "template <int N> __global__ void k(int *a) { __shared__ int s[N]; s[threadIdx.x] = 1; a[0] = s[0]; }\n"
    ran = fencepost("check", "-", "--kernel", "k<64>", "--block", "64", stdin=text)
    assert "<stdin>: k<64>: " in ran.out


def test_schedule_says_which_commands_take_cuda(reverse: str, fencepost: CommandLine) -> None:
    ran = fencepost("schedule", reverse)
    assert ran.code == 2 and "this command does not take CUDA or PTX" in ran.err
    assert "check, explain, prune, insert, fix, view and audit take CUDA and PTX" in ran.err


def test_options_for_cuda_are_refused_for_another_file_alone(fencepost: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "k.fp"
    file.write_text("kernel @k waves=4 {\n}\n", encoding="utf-8")
    ran = fencepost("check", str(file), "--block", "256")
    assert ran.code == 2 and "--block is an option for CUDA and PTX, and this file is neither" in ran.err
    assert fencepost("check", str(tmp_path), "--block", "256").code == 0


def test_hip_is_called_hip(fencepost: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "k.hip"
    file.write_text(
        "#include <hip/hip_runtime.h>\n__global__ void k(int *a) { a[0] = 1; }\n", encoding="utf-8"
    )
    ran = fencepost("check", str(file))
    assert ran.code == 2 and "this is HIP, which is not read" in ran.err and "nvcc" not in ran.err


def test_a_number_that_is_too_large_is_an_option_that_is_wrong(fencepost: CommandLine, reverse: str) -> None:
    ran = fencepost("check", reverse, "--budget", "9" * 30)
    assert ran.code == 2 and "argument --budget: " in ran.err and "is too large" in ran.err


def written(folder: Path, parameters: str, body: str) -> str:
    """A file with one kernel."""
    file = folder / "k.cu"
    file.write_text(f"__global__ void k({parameters}) {{ {body} }}\n", encoding="utf-8")
    return str(file)


def test_a_block_that_is_larger_than_an_array_is_noted(tmp_path: Path, fencepost: CommandLine) -> None:
    """What is outside of an array is not judged, and that is said."""
    body = "__shared__ float s[32]; s[threadIdx.x] = 1; __syncthreads(); o[0] = s[1];"
    file = written(tmp_path, "float *o", body)
    out = fencepost("check", file, "--block", "64").out
    assert "thread 32 is outside of its shared array at line 1: such accesses are not judged" in out
    assert "outside" not in fencepost("check", file, "--block", "32").out


def test_a_number_for_a_pointer_is_refused(tmp_path: Path, fencepost: CommandLine) -> None:
    body = "__shared__ float s[32]; s[threadIdx.x] = n; o[0] = s[threadIdx.x];"
    file = written(tmp_path, "float *o, int n", body)
    ran = fencepost("check", file, "--block", "32", "--param", "o=3")
    assert ran.code == 2 and "error[FP104]: parameter 0 of k is a pointer" in ran.err
    assert fencepost("check", file, "--block", "32", "--param", "n=3").code == 0


def test_a_number_that_addresses_are_computed_from_is_one(tmp_path: Path, fencepost: CommandLine) -> None:
    """All threads read what thread 3 has stored: a race of two warps, with that number."""
    body = "__shared__ char s[64]; s[threadIdx.x] = n; o[n + threadIdx.x] = s[n];"
    file = written(tmp_path, "char *o, unsigned long long n", body)
    ran = fencepost("check", file, "--block", "64", "--param", "n=3")
    assert ran.code == 1 and "thread 3 writes and thread 32 reads" in ran.out


NEIGHBOUR = """\
#include <cooperative_groups.h>
__global__ void __cluster_dims__(2, 1, 1) neighbour(int *out) {
    __shared__ int tile[64];
    auto cluster = cooperative_groups::this_cluster();
    int t = threadIdx.x;
    tile[t] = t;
    out[t] = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[t];
    cluster.sync();
}
"""
STAGE = """\
__global__ void stage(int *out) {
    __shared__ alignas(16) int tile[128];
    int t = threadIdx.x;
    tile[t] = t;
    if (t == 0) {
        unsigned from = (unsigned)__cvta_generic_to_shared(tile);
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out), "r"(from) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}
"""


def test_one_barrier_of_the_cluster_is_one_message(tmp_path: Path, fencepost: CommandLine) -> None:
    """That the other block may not have started is mended by what orders the race with it."""
    (tmp_path / "neighbour.cu").write_text(NEIGHBOUR, encoding="utf-8")
    out = fencepost("check", str(tmp_path / "neighbour.cu"), "--block", "64", "--target", "sm_90").out
    assert out.count("error[") == 1 and "error[FP001]" in out and ": 1 race (" in out
    assert (
        "= also: thread 0 of block 1 uses shared memory of block 0, which may not have started yet (FP009)"
        in out
    )


def test_a_store_before_a_bulk_copy_is_not_mended_by_a_wait_for_the_copy(
    tmp_path: Path, fencepost: CommandLine
) -> None:
    (tmp_path / "stage.cu").write_text(STAGE, encoding="utf-8")
    out = fencepost("check", str(tmp_path / "stage.cu"), "--block", "128", "--target", "sm_90").out
    assert (
        "fence.proxy.async behind the store, then a barrier or an mbarrier wait before the bulk copy" in out
    )


BY_DATA = """\
__global__ void some(float *x, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = x[t];
        if (x[t] > 1.f) x[t] = s[(t + 32) & 255];
    }
}
"""


def test_why_a_kernel_is_not_decided_is_told_by_lines(tmp_path: Path, fencepost: CommandLine) -> None:
    """Not by the path of the file, which is that of the compiler's folder."""
    (tmp_path / "some.cu").write_text(BY_DATA, encoding="utf-8")
    out = fencepost("check", str(tmp_path / "some.cu"), "--block", "256").out
    assert "  may touch the same bytes as the access at line 6, with no barrier between them" in out
    assert out.count(str(tmp_path)) == 1, "the file itself"


def test_a_template_that_nothing_launches_is_named(fencepost: CommandLine) -> None:
    text = "template <int N> __global__ void idle(int *a) { a[0] = N; }\n__global__ void k(int *a) { a[0] = 1; }\n"
    ran = fencepost("check", "-", "--block", "64", stdin=text)
    assert (
        "note: not judged, as nothing launches them: idle (an instance of a template: --kernel 'idle<...>')"
        in ran.out
    )
    assert "idle" not in fencepost("check", "-", "--block", "64", "--kernel", "k", stdin=text).out
    launched = text + "int main() { idle<3><<<1, 64>>>(0); }\n"
    assert "not judged" not in fencepost("check", "-", "--block", "64", stdin=launched).out


def test_a_folder_of_headers_that_is_not_there_is_named(reverse: str, fencepost: CommandLine) -> None:
    ran = fencepost("check", reverse, "-I", "inculde")
    assert ran.code == 2 and "'inculde' is not a folder" in ran.err
