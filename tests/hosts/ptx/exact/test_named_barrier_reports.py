"""Reports about barriers with a number and a count of threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import CommandLine

TEXT = """\
__global__ void producer(const float *in, float *out) {
    __shared__ float buf[128];
    int t = threadIdx.x;
    if (t < 128) {
        buf[t] = in[t];
        asm volatile("bar.arrive 1, 256;" ::: "memory");
        buf[t] = in[t + 128];
        asm volatile("bar.arrive 1, 256;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 256;" ::: "memory");
        out[t] = buf[255 - t];
        asm volatile("bar.sync 1, 256;" ::: "memory");
        out[t + 128] = buf[255 - t];
    }
}
__global__ void counted(const float *in, float *out) {
    __shared__ float buf[128];
    int t = threadIdx.x;
    if (t < 128) {
        buf[t] = in[t];
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = buf[127 - t];
    }
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("named.cu").write_text(TEXT, encoding="utf-8")


def test_a_producer_that_is_not_notified(fencepost: CommandLine) -> None:
    """It arrives a second time without having waited for anything; a larger count would not help."""
    out = fencepost("check", "named.cu", "--kernel", "producer", "--block", "256").out
    assert "error[FP003]: thread 0 may arrive at barrier 1 one phase too early" in out
    assert "thread 0 (warp 0) arrives\n" in out
    assert "= fix: let those who wait at the barrier say so first, by a barrier with another number" in out
    assert "2 barriers, 4 shared accesses" in out


def test_more_threads_than_the_barrier_counts(fencepost: CommandLine) -> None:
    out = fencepost("check", "named.cu", "--kernel", "counted", "--block", "256").out
    assert "= fix: 128 threads come here together, and the barrier counts 64: make the count 128" in out
    assert "1 barrier, 2 shared accesses" in out


HANDED = """\
__global__ void handed(const float *in, float *out, int n) {
    __shared__ float buf[2][128];
    int t = threadIdx.x;
    if (t < 128) {
        float sum = 0.f;
        for (int k = 0; k < n; ++k) {
            asm volatile("bar.sync %0, 256;" ::"r"(1 + (k & 1)) : "memory");
            sum += buf[k & 1][127 - t];
            asm volatile("bar.arrive %0, 256;" ::"r"(3 + (k & 1)) : "memory");
        }
        out[t] = sum;
    } else {
        for (int k = 0; k < n; ++k) {
            if (k >= FIRST) asm volatile("bar.sync %0, 256;" ::"r"(3 + (k & 1)) : "memory");
            buf[k & 1][t - 128] = in[k * 128 + t - 128];
            asm volatile("bar.arrive %0, 256;" ::"r"(1 + (k & 1)) : "memory");
        }
    }
}
"""


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("2", ""),
        # One slot is filled again before it is free; all else follows.
        ("3", "thread 128 arrives at barrier 1 twice in one phase"),
        ("n", "no thread waits at barrier 3, where thread 0 arrives"),
    ],
)
def test_what_is_out_of_step_is_one_finding(first: str, said: str, fencepost: CommandLine) -> None:
    """And not one for each barrier, race and deadlock that follow."""
    Path("handed.cu").write_text(HANDED.replace("FIRST", first), encoding="utf-8")
    ran = fencepost("check", "handed.cu", "--block", "256")
    assert ran.code == bool(said)
    if said:
        assert ran.out.startswith(f"error[FP003]: {said}") and ran.out.count("error[") == 1
        assert (
            "= so: thread" in ran.out
            and "`buf[" in ran.out
            and "more findings may follow from this one" in ran.out
        )


TURNS = """\
__global__ void turns(const float *in, float *out, int n) {
    __shared__ float s[128];
    float sum = 0.f;
    #pragma unroll TIMES
    for (int k = 0; k < n; ++k) {
        s[threadIdx.x] = in[k * 128 + threadIdx.x];
        asm volatile("bar.sync 1, 128;" ::: "memory");
        sum += s[127 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize("times", ["1", "4"])
def test_a_barrier_inside_of_a_loop_is_not_asked_for_again(times: str, fencepost: CommandLine) -> None:
    """It stands between line 6 and line 8; line 8 and line 6 of the next iteration are not in order."""
    Path("turns.cu").write_text(TURNS.replace("TIMES", times), encoding="utf-8")
    out = fencepost("check", "turns.cu", "--block", "128").out
    assert "writes `s[0]` in a later iteration, with nothing that orders them\n" in out
    assert "= fix: order line 8 and line 6 of the next iteration: " in out


def test_a_producer_below_a_consumer_is_in_no_later_iteration(fencepost: CommandLine) -> None:
    """Each has a loop of its own."""
    Path("handed.cu").write_text(HANDED.replace("FIRST", "3"), encoding="utf-8")
    out = fencepost("check", "handed.cu", "--block", "256", "--all").out
    assert "with nothing that orders them" in out and "in a later iteration" not in out
