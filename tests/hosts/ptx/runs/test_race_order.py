"""A race is told in the order in which it happens: down the text, round a loop, or past a wait that is too weak."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.ir.source import Source
from tests.commands.test_schemas import entries
from tests.conftest import CommandLine

TILES = """\
__global__ void tiles(const float *in, float *out, int n) {
    __shared__ float tile[128];
    float sum = 0.0f;
    #pragma unroll TIMES
    for (int k = 0; k < n; k += 128) {
        tile[threadIdx.x] = in[k + threadIdx.x];
        __syncthreads();
        sum += tile[127 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}
"""
TREE = """\
__global__ void tree(const float *in, float *out) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
    }
    if (t == 0) out[0] = s[0];
}
"""
PIPELINE = """\
#include <cuda_pipeline.h>
__global__ void pipeline(const float4 *in, float *out, int n) {
    __shared__ float4 tile[3][128];
    int t = threadIdx.x;
    for (int s = 0; s < 2; ++s) {
        __pipeline_memcpy_async(&tile[s][t], &in[s * 128 + t], 16);
        __pipeline_commit();
    }
    float sum = 0;
    for (int i = 0; i < n; ++i) {
        __pipeline_wait_prior(LEFT);
        __syncthreads();
        sum += tile[i % 3][127 - t].x;
        __pipeline_memcpy_async(&tile[(i + 2) % 3][t], &in[(i + 2) * 128 + t], 16);
        __pipeline_commit();
    }
    out[t] = sum;
}
"""
PHASES = """\
__device__ void wait(unsigned bar, int parity) {
    asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra L; }"
                 :: "r"(bar), "r"(parity) : "memory");
}
__global__ void phases(const float *in, float *out) {
    __shared__ alignas(128) float tile[256];
    __shared__ alignas(8) unsigned long long full;
    int t = threadIdx.x;
    unsigned bar = (unsigned)__cvta_generic_to_shared(&full), to = (unsigned)__cvta_generic_to_shared(tile);
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(bar));
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 8; ++i) {
        if (t == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" :: "r"(bar) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];"
                         :: "r"(to), "l"(in + 256 * i), "r"(bar) : "memory");
        }
        wait(bar, PARITY);
        sum += tile[255 - t];
        __syncthreads();
    }
    out[t] = sum;
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"tiles": TILES, "tree": TREE, "pipeline": PIPELINE, "phases": PHASES}.items():
        Path(f"{name}.cu").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("unrolled", ["1", "4"])
def test_a_barrier_inside_of_a_loop_is_not_asked_for_again(unrolled: str, fencepost: CommandLine) -> None:
    """It stands between line 6 and line 8; what is missing is one between line 8 and line 6 of the next iteration."""
    out = fencepost("check", "tiles.cu", "--block", "128", "-D", f"TIMES={unrolled}").out
    when = "in the next iteration" if unrolled == "1" else "in a later iteration"
    assert "reads and thread " in out.splitlines()[0] and when in out.splitlines()[0]
    assert "--> tiles.cu:8:9 and tiles.cu:6:9" in out
    ends = "at the end of the loop of line 5 (before line 9), or at its start (before line 6)"
    assert f"fix: put __syncthreads() {ends}: between line 8 and line 6 of the next iteration" in out


def test_iterations_are_named_where_the_loop_is_as_it_was_written(fencepost: CommandLine) -> None:
    """Of an unrolled loop, the run counts other iterations than the source has."""
    call = ("check", "tiles.cu", "--block", "128", "--json")
    (kernel,) = entries("check", fencepost(*call, "-D", "TIMES=1").out)
    first = kernel["findings"][0]
    assert [first[each]["loop"] for each in ("first", "second")] == [
        {"line": 5, "iteration": 1},
        {"line": 5, "iteration": 2},
    ]
    shown = fencepost(*call[:-1], "-D", "TIMES=1").out
    assert (
        "in the 1st iteration of the loop of line 5" in shown
        and "in the 2nd iteration of the loop of line 5" in shown
    )
    (unrolled,) = entries("check", fencepost(*call, "-D", "TIMES=4").out)
    assert all("loop" not in each[side] for each in unrolled["findings"] for side in ("first", "second"))


SOME = """\
__global__ void some(const float *in, float *out) {
    __shared__ float s[128];
    float sum = 0;
    for (int i = 0; i < 32; i++) {
        if (i % 4 == 0) s[threadIdx.x] = in[i + threadIdx.x];
        sum += s[127 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}
"""


def test_a_store_that_is_there_once_is_no_sign_that_a_loop_is_as_it_was_written(
    fencepost: CommandLine,
) -> None:
    """Unrolled four times, the loop stores once and loads four times."""
    Path("some.cu").write_text(SOME, encoding="utf-8")
    out = fencepost("check", "some.cu", "--block", "128", "--as-compiled").out
    assert "error[FP001]" in out and "in iteration" not in out


def test_a_line_that_loads_twice_is_in_the_loop_once(fencepost: CommandLine) -> None:
    Path("tree.cu").write_text(
        TREE.replace("*out)", "*out, int n)").replace("k = 128", "k = n"), encoding="utf-8"
    )
    out = fencepost("check", "tree.cu", "--block", "256", "--param", "n=128", "--as-compiled").out
    assert (
        "in the 1st iteration of the loop of line 6" in out
        and "in the 3rd iteration of the loop of line 6" in out
    )


def test_a_line_is_not_told_to_go_before_itself(fencepost: CommandLine) -> None:
    out = fencepost("check", "tree.cu", "--block", "256").out
    assert "put __syncthreads() at the end of the loop of line 6 (before line 8), outside of any `if`" in out
    assert "line 7 and line 7" not in out


ONE_LESS = (
    "leave one group fewer in flight at line 11: `__pipeline_wait_prior(LEFT - 1)` instead of `LEFT` "
    "(1 instead of 2)"
)


def test_a_weak_wait_is_named_and_no_barrier_is_asked_for(fencepost: CommandLine) -> None:
    out = fencepost("check", "pipeline.cu", "--block", "128", "--define", "LEFT=2").out
    assert "may not have written yet: the wait at line 11 lets it stay in flight" in out.splitlines()[0]
    assert "pipeline.cu:6:9, pipeline.cu:13:9 and pipeline.cu:11:9" in out
    assert (
        "`__pipeline_wait_prior(LEFT)` leaves the 2 newest groups in flight; this copy is in the 2nd newest"
        in out
    )
    assert f"fix: {ONE_LESS}" in out
    assert "the same change mends the copy of line 14" in out and out.count("error[") == 1
    assert "__syncthreads() between" not in out


def test_a_thread_that_reads_its_own_copy_is_told_of_the_same_wait(fencepost: CommandLine) -> None:
    """One count mends what threads read of their own copies and what they read of others'."""
    own = PIPELINE.replace("tile[i % 3][127 - t]", "tile[i % 3][t]")
    assert own != PIPELINE
    Path("own.cu").write_text(own, encoding="utf-8")
    out = fencepost("check", "own.cu", "--block", "128", "--define", "LEFT=2").out
    assert "which its own copy may not have written yet: the wait at line 11 lets it stay" in out
    assert f"fix: {ONE_LESS}" in out
    assert out.count("error[") == 1
    Path("none.cu").write_text(own.replace("__pipeline_wait_prior(LEFT);", ""), encoding="utf-8")
    out = fencepost("check", "none.cu", "--block", "128").out
    assert "which its own copy may not have written yet: nothing waits for it" in out
    assert "fix: wait for the copy of line 6 (__pipeline_wait_prior(0)) before line 13\n" in out


def test_a_weak_wait_is_one_finding_whatever_reads_the_copies(fencepost: CommandLine) -> None:
    line = "        sum += tile[i % 3][127 - t].x;\n"
    twice = PIPELINE.replace(line, line + line.replace("127 - t", "t ^ 64"))
    Path("twice.cu").write_text(twice, encoding="utf-8")
    out = fencepost("check", "twice.cu", "--block", "128", "--define", "LEFT=2").out
    assert out.count("error[") == 1 and "pipeline: 1 race" in out
    assert "instead of `LEFT` (1 instead of 2); the same change mends the copy of line 15\n" in out
    only = twice.replace("s < 2", "s < 1").replace(
        "__pipeline_memcpy_async(&tile[(i + 2) % 3]", "if (n < 0) __pipeline_memcpy_async(&tile[(i + 2) % 3]"
    )
    Path("only.cu").write_text(only, encoding="utf-8")
    out = fencepost("check", "only.cu", "--block", "128", "--define", "LEFT=1", "--param", "n=1").out
    assert (
        out.count("error[") == 1
        and "`__pipeline_wait_prior(LEFT - 1)` instead of `LEFT` (0 instead of 1); the same change mends line 14\n"
        in out
    )


STAGED = """\
#include <cuda/pipeline>
__global__ void staged(const float *in, float *out) {
    __shared__ float tile[2][128];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x;
    for (int s = 0; s < 2; ++s) {
        pipe.producer_acquire();
        cuda::memcpy_async(&tile[s][t], &in[s * 128 + t], 4, pipe);
        pipe.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    __syncthreads();
    out[t] = tile[1][127 - t];
}
"""


def test_a_wait_is_called_what_its_line_calls_it(fencepost: CommandLine) -> None:
    Path("staged.cu").write_text(STAGED, encoding="utf-8")
    out = fencepost("check", "staged.cu", "--block", "128").out
    assert "`cuda::pipeline_consumer_wait_prior<1>` leaves the newest group in flight" in out
    assert (
        "fix: leave one group fewer in flight at line 11: `cuda::pipeline_consumer_wait_prior<0>` instead of 1"
        in out
    )


def test_a_weak_wait_in_json(fencepost: CommandLine) -> None:
    ran = fencepost("check", "pipeline.cu", "--block", "128", "--define", "LEFT=2", "--json")
    (kernel,) = entries("check", ran.out)
    waits = {finding["wait"]["instruction"] for finding in kernel["findings"]}
    assert waits == {"cp.async.wait_group 2"}


def test_a_barrier_before_the_wait_is_not_one_after_it(fencepost: CommandLine) -> None:
    """Each thread has waited for its own copy, with the right count: the others have not."""
    swapped = PIPELINE.replace(
        "__pipeline_wait_prior(LEFT);\n        __syncthreads();",
        "__syncthreads();\n        __pipeline_wait_prior(LEFT);",
    )
    Path("swapped.cu").write_text(swapped, encoding="utf-8")
    ran = fencepost("check", "swapped.cu", "--block", "128", "--define", "LEFT=1", "--json")
    (kernel,) = entries("check", ran.out)
    assert {finding["fix"] for finding in kernel["findings"]} == {
        "put __syncthreads() between the wait at line 12 and line 13"
    }
    assert all(
        "with no barrier after the wait for it" in finding["message"] for finding in kernel["findings"]
    )
    assert {finding["wait"] for finding in kernel["findings"]} == {None}, "the wait is not what is wrong"


@pytest.mark.full
def test_nothing_is_found_where_the_wait_is_strong_enough(fencepost: CommandLine) -> None:
    ran = fencepost("check", "pipeline.cu", "--block", "128", "--define", "LEFT=1")
    assert (ran.code, "FP001" in ran.out) == (0, False)


def test_a_parity_that_never_flips_comes_first(fencepost: CommandLine) -> None:
    call = ["check", "phases.cu", "--block", "256", "--target", "sm_90"]
    out = fencepost(*call, "--define", "PARITY=0").out
    first = out.splitlines()[0]
    assert first.startswith("error[FP006]: thread 0 waits for the wrong phase of `full`")
    assert first.endswith("The phase to wait for has parity 1")
    assert "--> phases.cu:19:" in out
    right = fencepost(*call, "--define", "PARITY=(i%2)")
    assert (right.code, "FP006" in right.out) == (0, False)


def test_findings_of_mbarriers_follow_the_schema(fencepost: CommandLine) -> None:
    ran = fencepost("check", "phases.cu", "--block", "256", "--target", "sm_90", "-D", "PARITY=0", "--json")
    (kernel,) = entries("check", ran.out)
    assert kernel["findings"][0]["code"] == "FP006"


def test_fix_counts_what_check_shows(fencepost: CommandLine) -> None:
    checked = fencepost("check", "tree.cu", "--block", "256")
    assert ": 1 race (" in checked.out
    assert "tree: 1 finding would be mended" in fencepost("fix", "tree.cu", "--block", "256").err


SIDES = """\
__global__ void sides(const int *in, int *out, int n) {
    __shared__ int hits;
    if (threadIdx.x == 0) hits = 0;
    __syncthreads();
    if (in[threadIdx.x] > n) {
        atomicAdd(&hits, 1);
    } else if (threadIdx.x == 40) {
        hits = 7;
    }
    __syncthreads();
    if (threadIdx.x == 0) out[0] = hits;
}
"""
SOME_THREADS = """\
__global__ void half(int *out) {
    __shared__ int sum[64];
    if (threadIdx.x < 64) {
        sum[threadIdx.x] = out[threadIdx.x];
        out[threadIdx.x] = sum[63 - threadIdx.x];
    }
}
"""
CALLED = """\
__device__ __noinline__ void rotate(float *s, int by) {
    float v = s[(threadIdx.x + by) % 256];
    __syncthreads();
    s[threadIdx.x] = v;
}
__global__ void twice(float *x) {
    __shared__ float s[256];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    rotate(s, 1);
    rotate(s, 40);
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x];
}
"""


def test_no_barrier_is_asked_for_between_two_sides_of_a_condition(fencepost: CommandLine) -> None:
    """The compiler writes the second side first; neither comes after the other, and no loop is there."""
    Path("sides.cu").write_text(SIDES, encoding="utf-8")
    out = fencepost("check", "sides.cu", "--block", "256").out
    assert "error[FP001]" in out and "later iteration" not in out and "either end" not in out
    assert "are on two sides of a condition, where no barrier can be between them" in out


def test_a_barrier_does_not_go_where_some_threads_come(fencepost: CommandLine) -> None:
    """Half of the threads skip both accesses: right between them, __syncthreads() would diverge."""
    Path("half.cu").write_text(SOME_THREADS, encoding="utf-8")
    fix = "put __syncthreads() between line 4 and line 5, outside of any `if` or loop that not all threads enter"
    assert fix in fencepost("check", "half.cu", "--block", "128").out
    assert f"{fix[: fix.index(',')]}\n" in fencepost("check", "half.cu", "--block", "64").out


def test_a_function_that_is_called_twice_is_told_by_its_calls(fencepost: CommandLine) -> None:
    Path("twice.cu").write_text(CALLED, encoding="utf-8")
    out = fencepost("check", "twice.cu", "--block", "256").out
    assert "between line 4 (called from line 10) and line 2 (called from line 11)" in out


AT_ONCE = """\
__global__ void turn(int *data, int n) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int i = 0; i < n; ++i) {
        s[t] += s[(t + 1) & 255];
        __syncthreads();
    }
    data[t] = s[t];
}
"""
FILLED = """\
__global__ void filled(const int *in, int *out, int n) {
    __shared__ int s[256];
    for (int i = threadIdx.x; i < 256; i += 128) {
        s[i] = in[i];
    }
    int sum = 0;
    for (int i = 0; i < n; ++i)
        sum += s[(threadIdx.x + i) & 255];
    out[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize("unrolled", ["1", "4"])
def test_no_barrier_is_asked_for_within_a_statement(unrolled: str, fencepost: CommandLine) -> None:
    """Between its iterations there is one already: the load and the store are the two that race."""
    text = AT_ONCE.replace("    for", f"    #pragma unroll {unrolled}\n    for")
    Path("turn.cu").write_text(text, encoding="utf-8")
    out = fencepost("check", "turn.cu", "--block", "256").out
    fix = "line 8 loads and stores at once: load into a variable, then __syncthreads(), then store\n"
    assert f"= fix: {fix}" in out and out.count("error[") == 1


def test_a_barrier_between_iterations_has_a_line(fencepost: CommandLine) -> None:
    out = fencepost("check", "tree.cu", "--block", "256").out
    assert (
        "= fix: put __syncthreads() at the end of the loop of line 6 (before line 8), outside of any `if`"
        in out
    )


def test_a_barrier_goes_between_two_loops_and_not_into_one(fencepost: CommandLine) -> None:
    Path("filled.cu").write_text(FILLED, encoding="utf-8")
    out = fencepost("check", "filled.cu", "--block", "128").out
    where = "between the loop of line 3 and the loop of line 7"
    assert f"= fix: put __syncthreads() {where}\n" in out


SIDES_IN_A_LOOP = """\
__global__ void rounds(const int *in, int *out, int n) {
    __shared__ int last;
    if (threadIdx.x == 0) last = 0;
    __syncthreads();
    #pragma unroll TIMES
    for (int i = 0; i < n; ++i) {
        if (in[i * 128 + threadIdx.x] & 1)
            atomicAdd(&last, 1);
        else
            last = i;
    }
    __syncthreads();
    out[threadIdx.x] = last;
}
"""


@pytest.mark.parametrize("unrolled", ["1", "4"])
def test_two_sides_of_a_condition_in_a_loop(unrolled: str, fencepost: CommandLine) -> None:
    """They race within an iteration as well, where a barrier at its end does nothing."""
    Path("rounds.cu").write_text(SIDES_IN_A_LOOP, encoding="utf-8")
    out = fencepost("check", "rounds.cu", "--block", "128", "-D", f"TIMES={unrolled}").out
    assert (
        "at the end of the loop of line 6 (before line 11), or at its start (before line 7): between line"
        in out
    )
    assert "of the next iteration; if threads take both sides of the condition in one iteration" in out


def test_a_parameter_that_only_ptx_names_is_numbered(fencepost: CommandLine) -> None:
    """By the number that `--param` takes, and not by `_Z5tilesPKfPfi_param_2`."""
    text = TILES.replace("#pragma unroll TIMES", "#pragma unroll 1")
    Path("tiles.ptx").write_text(compile_cuda(Source("tiles.cu", text)).ptx, encoding="utf-8")
    out = fencepost("check", "tiles.ptx", "--block", "128").out
    assert "parameter 2 is an example; --param 2=NUMBER checks another value" in out
    assert "= seen with: blocks of 128 threads, parameter 2 = " in out
    out = fencepost("check", "tiles.ptx", "--block", "128", "--param", "2=256").out
    assert "parameter 2 = 256" in out and "is an example" not in out
