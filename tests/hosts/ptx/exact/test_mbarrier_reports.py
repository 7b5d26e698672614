"""Reports about mbarriers: one message per cause, with the line of the kernel and the names of its mbarriers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fencepost.report.words import ordinal
from tests.commands.test_schemas import entries
from tests.conftest import CommandLine
from tests.tiers import sweep

HELPERS = r"""
#include <cstdint>
__device__ __forceinline__ uint32_t addr(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(uint64_t *b, int n) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(addr(b)), "r"(n) : "memory");
}
__device__ __forceinline__ void arrive(uint64_t *b) {
    asm volatile("{ .reg .b64 st; mbarrier.arrive.shared::cta.b64 st, [%0]; }" ::"r"(addr(b)) : "memory");
}
__device__ __forceinline__ bool try_wait(uint64_t *b, uint32_t parity) {
    uint32_t done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(addr(b)), "r"(parity) : "memory");
    return done;
}
__device__ __forceinline__ void wait(uint64_t *b, uint32_t parity) { while (!try_wait(b, parity)) {} }
"""
RING = (
    HELPERS
    + """
namespace kernels {
__global__ void ring(const float *in, float *out, int tiles) {
    __shared__ float buf[2][128];
    __shared__ uint64_t full[2], empty[2];
    int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < 2; ++s) { init(&full[s], FULL); init(&empty[s], 128); }
    __syncthreads();
    if (t < 128) {
        for (int i = 0; i < tiles; ++i) {
            int s = i % 2;
            wait(&empty[s], PRODUCER);  // producer
            buf[s][t] = in[i * 128 + t];
            arrive(&full[s]);
        }
    } else {
        float acc = 0.f;
        for (int i = 0; i < tiles; ++i) {  // loop
            int s = i % 2;
            wait(&full[s], CONSUMER);  // consumer
            acc += buf[s][(t + 1) % 128];
            arrive(&empty[s]);
        }
        out[t - 128] = acc;
    }
}
}
"""
)
BOTH = (
    HELPERS
    + """
__global__ void both(const float *in, float *out, int tiles) {
    __shared__ float buf[2][128];
    __shared__ uint64_t full[2];
    int t = threadIdx.x;
    if (t == 0) { init(&full[0], 128); init(&full[1], 128); }
    __syncthreads();
    float sum = 0.f;
    for (int i = 0; i < tiles; ++i) {
        buf[i % 2][t] = in[i * 128 + t];
        arrive(&full[i % 2]);
        wait(&full[i % 2], PARITY);
        sum += buf[i % 2][127 - t];
        __syncthreads();
    }
    out[t] = sum;
}
"""
)
LINES = {word: RING[: RING.index(f"// {word}")].count("\n") + 1 for word in ("producer", "consumer", "loop")}
LOOPS = {"PRODUCER": LINES["producer"] - 2, "CONSUMER": LINES["loop"]}
NEW_LINE = "\n"
RIGHT = {"PRODUCER": "((i/2+1)&1)", "CONSUMER": "((i/2)&1)", "FULL": "128"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a ring of two slots."""
    monkeypatch.chdir(tmp_path)
    Path("ring.cu").write_text(RING, encoding="utf-8")
    return tmp_path


def call(**changed: str) -> list[str]:
    """`check` on the ring, with some of its parities or counts changed."""
    defined = [word for name, value in (RIGHT | changed).items() for word in ("-D", f"{name}={value}")]
    return ["check", "ring.cu", "--block", "256", "--target", "sm_90", *defined]


@pytest.mark.usefixtures("folder")
def test_the_right_ring_is_proven(fencepost: CommandLine) -> None:
    assert fencepost(*call()).code == 0


@pytest.mark.usefixtures("folder")
def test_a_parity_that_never_flips_is_one_message(fencepost: CommandLine) -> None:
    """At the line of the kernel, however many small functions there are around the instruction."""
    out = fencepost(*call(CONSUMER="0")).out
    assert out.count("error[") == 1
    assert "waits for the wrong phase of `full[0]`: the phase with parity 0 is complete already" in out
    assert f"--> ring.cu:{LINES['consumer']}:13\n" in out
    assert (
        f"thread 128 (warp 4) waits for `full[0]` in the 3rd iteration of the loop of line {LINES['loop']}\n"
        in out
    )
    assert "= so: thread 0 writes and thread 255 reads `buf[0][0]`" in out
    assert (
        f"= fix: in line {LINES['consumer']}, wait for parity 0 the first time round the ring of 2 slots"
        in out
    )
    assert "1 the second time, and so on: `(k / 2) & 1`" in out
    assert "more findings may follow from this one" in out


@pytest.mark.usefixtures("folder")
def test_all_findings_are_there_for_those_who_ask(fencepost: CommandLine) -> None:
    (kernel,) = entries("check", fencepost(*call(CONSUMER="0"), "--json").out)
    assert {"FP001", "FP006"} == {each["code"] for each in kernel["findings"]}
    assert fencepost(*call(CONSUMER="0"), "--all").out.count("error[") == len(kernel["findings"])


@pytest.mark.usefixtures("folder")
def test_a_producer_that_waits_for_nobody_is_seen_with_the_consumer(fencepost: CommandLine) -> None:
    """Both wait, each for the other: the report has to show both."""
    out = fencepost(*call(PRODUCER="((i/2)&1)")).out
    assert "thread 0 waits for `empty[0]`, whose first phase has 0 of 128 arrivals, and thread" in out
    assert f"ring.cu:{LINES['producer']}:13 and ring.cu:{LINES['consumer']}:13" in out
    assert ": 1 deadlock (" in out


@pytest.mark.usefixtures("folder")
def test_the_thread_that_arrives_is_one_that_gets_there(fencepost: CommandLine) -> None:
    """Only threads of the first half arrive on `full`: too often for a count of 64."""
    out = fencepost(*call(FULL="64")).out
    assert "`full[" in out and "thread 128 (warp 4) arrives on `full" not in out


BARRIER = """
#include <cuda/barrier>
__global__ void ring(const float *in, float *out, int tiles) {
    __shared__ float buf[128];
    #pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> full, empty;
    int t = threadIdx.x;
    if (t == 0) { init(&full, 128); init(&empty, 128); }
    __syncthreads();
    if (t < 128) {
        for (int i = 0; i < tiles; ++i) {
            empty.wait_parity((i + 1) & 1);
            buf[t] = in[i * 128 + t];
            (void)full.arrive();
        }
    } else {
        float acc = 0;
        for (int i = 0; i < tiles; ++i) {
            full.wait_parity(PARITY);
            acc += buf[(t + 1) % 128];
            (void)empty.arrive();
        }
        out[t] = acc;
    }
}
"""


@pytest.mark.parametrize(("parity", "code"), [("0", 1), ("(i&1)", 0)])
def test_a_wait_that_shares_its_header_with_the_loop_around_it(
    folder: Path, fencepost: CommandLine, parity: str, code: int
) -> None:
    """A wait for a constant parity at the top of a loop: two back edges, one header."""
    Path("barrier.cu").write_text(BARRIER, encoding="utf-8")
    call = ("check", "barrier.cu", "--block", "256", "--target", "sm_90", "--as-compiled")
    ran = fencepost(*call, "-D", f"PARITY={parity}")
    assert ran.code == code
    assert ("waits for the wrong phase of `full`" in ran.out) == bool(code)


@pytest.mark.usefixtures("folder")
def test_a_wait_that_passes_before_the_first_phase_is_named(fencepost: CommandLine) -> None:
    """A consumer with the parity of a producer: the producer's own wait is right, and not named."""
    out = fencepost(*call(CONSUMER="((i/2+1)&1)")).out
    assert "thread 128 waits for parity 1 of `full[0]`, whose first phase has parity 0" in out
    assert f"ring.cu:{LINES['consumer']}:13\n" in out
    assert out.count("error[") == 1
    assert (
        f"= fix: in line {LINES['consumer']}, wait for the other parity, `(CONSUMER) ^ 1` instead of `CONSUMER`: "
        "0 the first time round the ring of 2 slots, 1 the second time, and so on\n" in out
    )


@pytest.mark.usefixtures("folder")
def test_where_two_waits_are_wrong_both_are_named(fencepost: CommandLine) -> None:
    """No wait alone explains it, and both together do."""
    out = fencepost(*call(CONSUMER="((i/2+1)&1)", PRODUCER="1")).out
    assert "thread 128 waits for parity 1 of `full[0]`, whose first phase has parity 0" in out
    assert ". Thread 0 waits for the wrong phase of `empty[0]` as well\n" in out
    assert f"ring.cu:{LINES['producer']}:13 and ring.cu:{LINES['consumer']}:13" in out
    assert f"= fix: in line {LINES['consumer']}, wait for the other parity, `(CONSUMER) ^ 1`" in out
    assert (
        f"; in line {LINES['producer']}, wait for parity 1 the first time round the ring of 2 slots (the slot is "
        "free), 0 the second time, and so on: `(k / 2 + 1) & 1`, with k counting its waits from 0\n" in out
    )


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.usefixtures("folder")
def test_the_fix_of_a_deadlock_is_in_the_line_of_the_wait_that_is_wrong(
    fencepost: CommandLine, swapped: bool
) -> None:
    """Whichever of the two is named first: both are calls of one small function."""
    made = ["init(&full[s], FULL);", "init(&empty[s], 128);"]
    text = RING.replace(" ".join(made), " ".join(made[::-1])) if swapped else RING
    Path("ring.cu").write_text(text, encoding="utf-8")
    out = fencepost(*call(PRODUCER="((i/2)&1)")).out
    assert out.startswith("error[FP002]")
    assert f"= fix: in line {LINES['producer']}, wait for the other parity, `(PRODUCER) ^ 1`" in out
    first = out.index("thread 0 waits for `empty[0]`"), out.index("hread 128 waits for `full[0]`")
    assert (first[0] < first[1]) != swapped, "the order in the headline"


@pytest.mark.parametrize(
    ("changed", "said", "iteration"),
    sweep(
        [
            # The second slot is the first one that is waited for with the wrong parity; all else follows.
            ({"CONSUMER": "(i&1)"}, "thread 128 waits for parity 1 of `full[1]`, whose first phase", 2),
            ({"CONSUMER": "(((i+1)>>1)&1)"}, "thread 128 waits for parity 1 of `full[1]`, whose first", 2),
            ({"CONSUMER": "((i>>2)&1)"}, "thread 128 waits for the wrong phase of `full[0]`", 3),
            ({"PRODUCER": "1"}, "thread 0 waits for parity 1 of `empty[0]` again", 3),
            ({"PRODUCER": "(((i>>2)+1)&1)"}, "thread 0 waits for parity 1 of `empty[0]` again", 3),
            ({"PRODUCER": "((i+1)&1)"}, "thread 0 waits for `empty[1]`, whose first phase has 0 of 128", 2),
        ],
        first=4,
    ),
)
@pytest.mark.usefixtures("folder")
def test_the_wait_with_the_wrong_parity_is_named_and_no_other(
    fencepost: CommandLine, changed: dict[str, str], said: str, iteration: int
) -> None:
    """With the mbarrier and the iteration where it goes wrong first, and the parity that it needs."""
    (word,) = changed
    out = fencepost(*call(**changed)).out
    line, plus = LINES[word.lower()], " + 1" if word == "PRODUCER" else ""
    assert out.count("error[") == 1 and out.startswith("error") and said in out.splitlines()[0]
    assert (
        f"= fix: in line {line}, wait for parity {len(plus) // 4} the first time round the ring of 2 slots"
        in out
    )
    assert f"(k / 2{plus}) & 1`, with k counting its waits from 0" in out
    assert f" in the {ordinal(iteration)} iteration of the loop of line {LOOPS[word]}\n" in out


@pytest.mark.usefixtures("folder")
def test_a_parity_that_flips_from_slot_to_slot_is_named_with_the_time_it_goes_wrong(
    fencepost: CommandLine,
) -> None:
    """The first slot is waited for with the right parity, the second one is not."""
    Path("both.cu").write_text(BOTH, encoding="utf-8")
    both = ("check", "both.cu", "--block", "128", "--target", "sm_90")
    loop = (
        f"in the {{}} iteration of the loop of line {BOTH[: BOTH.index('for (int i')].count(NEW_LINE) + 1}\n"
    )
    out = fencepost(*both, "-D", "PARITY=(i%2)").out
    assert "waits for parity 1 of `full[1]`, whose first phase has parity 0" in out
    assert f"thread 0 (warp 0) waits for `full[1]` {loop.format('2nd')}" in out
    out = fencepost(*both, "-D", "PARITY=1").out
    assert f"thread 0 (warp 0) waits for `full[0]` {loop.format('1st')}" in out, "wrong from the start"
    assert fencepost(*both, "-D", "PARITY=(i/2%2)").code == 0


@pytest.mark.usefixtures("folder")
def test_how_often_a_thread_has_come_where_the_iteration_is_not_clear(fencepost: CommandLine) -> None:
    """A wait under a condition: not each iteration comes there."""
    Path("both.cu").write_text(BOTH.replace("        wait(", "        if (i != 1) wait("), encoding="utf-8")
    out = fencepost("check", "both.cu", "--block", "128", "--target", "sm_90", "-D", "PARITY=0").out
    assert ", the 2nd time it comes here\n" in out and "iteration of" not in out


@pytest.mark.usefixtures("folder")
def test_targets_with_features_of_their_own_are_taken(fencepost: CommandLine) -> None:
    arguments = [each if each != "sm_90" else "sm_90a" for each in call()]
    assert fencepost(*arguments).code == 0
    arguments = [each if each != "sm_90" else "sm_9x" for each in call()]
    assert "FP110" in fencepost(*arguments).err


COPIED = (
    HELPERS
    + """
__global__ void copied(const float *in, float *out, int tiles) {
    __shared__ __align__(16) float buf[32];
    __shared__ uint64_t full;
    int t = threadIdx.x;
    if (t == 0) init(&full, 1);
    __syncthreads();
    float sum = 0.f;
    for (int i = 0; i < tiles; ++i) {
        if (t == 33) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(addr(&full)) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"
                         ::"r"(addr(buf)), "l"(in + i * 32), "r"(addr(&full)) : "memory");
        }
        wait(&full, i & 1);
        if (t < 32) sum += buf[31 - t];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        BARRIER;
    }
    out[t] = sum;
}
"""
)


@pytest.mark.parametrize("barrier", ["__syncthreads()", ""])
@pytest.mark.usefixtures("folder")
def test_a_copy_is_of_the_thread_that_issued_it(fencepost: CommandLine, barrier: str) -> None:
    """Not of the one that has initialized its mbarrier."""
    Path("copied.cu").write_text(COPIED, encoding="utf-8")
    arguments = (
        "check",
        "copied.cu",
        "--block",
        "64",
        "--target",
        "sm_90",
        "--all",
        "-D",
        f"BARRIER={barrier}",
    )
    ran = fencepost(*arguments)
    assert ran.code == (not barrier)
    assert ("bulk copy of thread 33" in ran.out) == (not barrier) and "bulk copy of thread 0" not in ran.out


@pytest.mark.parametrize(
    ("removed", "mbarrier", "arrives"),
    [
        ("wait(&empty[s], PRODUCER);", "empty[0]", "arrive(&empty"),
        ("wait(&full[s], CONSUMER);", "full[0]", "arrive(&full"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_an_mbarrier_that_nobody_waits_for_is_named(
    fencepost: CommandLine, removed: str, mbarrier: str, arrives: str
) -> None:
    """One finding, with the race that follows; not one for each phase that is out of step."""
    Path("ring.cu").write_text(RING.replace(removed, ""), encoding="utf-8")
    out = fencepost(*call()).out
    line = RING[: RING.index(arrives)].count("\n") + 1
    assert (
        out.startswith(f"error[FP006]: no thread waits for `{mbarrier}`, on which thread")
        and out.count("error[") == 1
    )
    assert f"--> ring.cu:{line}:13\n" in out and "= so: " in out and "`buf[0]" in out


@pytest.mark.usefixtures("folder")
def test_an_mbarrier_that_counts_too_many_arrivals_is_named_with_how_many_come(
    fencepost: CommandLine,
) -> None:
    """Both waits have the right parity: it would not help if one passed at first."""
    out = fencepost(*call(FULL="129")).out
    line = RING[: RING.index("init(&full[s]")].count(NEW_LINE) + 1
    assert "`full[0]` is initialized for 129 arrivals, and 128 come: thread 128 waits for" in out
    assert f"= fix: in line {line}, initialize it for 128 arrivals\n" in out and out.count("error[") == 1


@pytest.mark.usefixtures("folder")
def test_an_arrival_before_the_access_that_it_is_for_is_shown(fencepost: CommandLine) -> None:
    """The producer has waited for the consumer, and not for what that does behind its arrival."""
    read, arrival = "            acc += buf[s][(t + 1) % 128];\n", "            arrive(&empty[s]);\n"
    text = RING.replace(read + arrival, arrival + read)
    Path("ring.cu").write_text(text, encoding="utf-8")
    out = fencepost(*call()).out
    line = text[: text.index(arrival)].count("\n") + 1
    assert out.startswith("error[FP001]: ") and out.count("error[") == 1
    assert f"ring.cu:{line}:13\n" in out and f"{line} | {arrival}" in out
    assert re.search(r"the last that thread \d+ has waited for of thread \d+, whose read is behind it\n", out)
