"""Reports about mbarriers that count other arrivals or bytes than come: one finding, both numbers, and the fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import CommandLine
from tests.hosts.ptx.exact.test_mbarrier_reports import HELPERS
from tests.tiers import FULL

COPIES = r"""
__device__ __forceinline__ void expect(uint64_t *b, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(addr(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void load(float *to, const float *from, uint32_t bytes, uint64_t *b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(addr(to)), "l"(from), "r"(bytes), "r"(addr(b)) : "memory");
}
"""
RING = (
    HELPERS
    + COPIES
    + """
__global__ void ring(const float *in, float *out) {
    __shared__ __align__(16) float tile[2][64];
    __shared__ uint64_t full[2], empty[2];
    int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < 2; ++s) {
            init(&full[s], FULL);
            init(&empty[s], EMPTY);
        }
    __syncthreads();
    if (t == 64) {
        for (int k = 0; k < 8; ++k) {
            int s = k % 2;
            wait(&empty[s], (k / 2 + 1) & 1);
            EXPECT;
            load(&tile[s][0], in + k * 64, 128, &full[s]);
            load(&tile[s][32], in + k * 64 + 32, 128, &full[s]);
        }
    } else if (t < 64) {
        float sum = 0.f;
        for (int k = 0; k < 8; ++k) {
            int s = k % 2;
            wait(&full[s], (k / 2) & 1);
            sum += tile[s][63 - t];
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            BEFORE;
            if (ARRIVES) arrive(&empty[s]);
        }
        out[t] = sum;
    }
}
"""
)
RIGHT = {"FULL": "1", "EMPTY": "64", "EXPECT": "expect(&full[s], 256)", "BEFORE": "", "ARRIVES": "true"}


def line_of(text: str) -> int:
    """The line of the ring that has a text."""
    return RING[: RING.index(text)].count("\n") + 1


MADE, EXPECTS, COPIED = line_of("init(&empty"), line_of("EXPECT;"), line_of("load(&tile[s][32]")
WAITS, ARRIVES = line_of("wait(&empty"), line_of("if (ARRIVES)")
DEADLOCK, OUT_OF_STEP = "1 deadlock (", "1 mbarrier out of step ("


def check(fencepost: CommandLine, **changed: str) -> tuple[int, str]:
    """`check` on the ring, with something changed."""
    return check_file(fencepost, "ring.cu", RING, 96, **(RIGHT | changed))


def check_file(fencepost: CommandLine, name: str, text: str, threads: int, **defined: str) -> tuple[int, str]:
    """The exit code and the output of `check` on a file, with macros."""
    Path(name).write_text(text, encoding="utf-8")
    macros = [word for macro, value in defined.items() for word in ("-D", f"{macro}={value}")]
    ran = fencepost("check", name, "--block", str(threads), "--target", "sm_90", "--as-compiled", *macros)
    return ran.code, ran.out


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@FULL
def test_the_right_ring_is_proven(fencepost: CommandLine) -> None:
    assert check(fencepost)[0] == 0
    assert check(fencepost, EMPTY="2", ARRIVES="(__syncwarp(), t % 32 == 0)")[0] == 0, "one for each warp"


INITIALIZED = "`empty[0]` is initialized for {} arrivals, and {} come"
TOO_EARLY = "in each phase: it completes before thread {} has arrived"
FOR_EVER = ": thread 64 waits for a phase that never completes"


@pytest.mark.parametrize(
    ("changed", "said", "lines", "fix", "verdict"),
    [
        pytest.param(
            {"EMPTY": "63"},
            f"{INITIALIZED.format(63, 64)} {TOO_EARLY.format(63)}",
            (MADE, ARRIVES),
            f"in line {MADE}, initialize it for 64 arrivals",
            OUT_OF_STEP,
            id="one too few",
        ),
        pytest.param(
            {"EMPTY": "96"},
            INITIALIZED.format(96, 64) + FOR_EVER,
            (MADE, WAITS),
            f"in line {MADE}, initialize it for 64 arrivals",
            DEADLOCK,
            id="the whole block is counted, and the producer does not arrive",
        ),
        pytest.param(
            {"ARRIVES": "(__syncwarp(), t % 32 == 0)"},
            INITIALIZED.format(64, 2) + FOR_EVER,
            (MADE, WAITS),
            f"in line {MADE}, initialize it for 2 arrivals",
            DEADLOCK,
            id="one of each warp arrives",
        ),
        pytest.param(
            {"BEFORE": "if (t == 5) arrive(&empty[s])"},
            f"{INITIALIZED.format(64, 65)} {TOO_EARLY.format(63)}",
            (MADE, ARRIVES),
            f"in line {MADE}, initialize it for 65 arrivals; or let thread 5 arrive once, as the others do: it does "
            "so 2 times in a phase",
            OUT_OF_STEP,
            id="one arrives twice",
        ),
        pytest.param(
            {"FULL": "2"},
            "`full[0]` is initialized for 2 arrivals, and 1 comes: thread 0 waits for a phase that never completes",
            (MADE - 1, line_of("wait(&full")),
            f"in line {MADE - 1}, initialize it for 1 arrival",
            DEADLOCK,
            id="the copies are counted as an arrival",
            marks=FULL,
        ),
    ],
)
def test_a_count_that_is_not_that_of_the_arrivals_is_the_cause(
    fencepost: CommandLine,
    changed: dict[str, str],
    said: str,
    lines: tuple[int, int],
    fix: str,
    verdict: str,
) -> None:
    """With the line of the init, since the arrivals are right if the run with the other count shows nothing."""
    code, out = check(fencepost, **changed)
    first, second = lines
    assert code == 1 and out.count("error[") == 1 and f"]: {said}\n" in out
    assert f"--> ring.cu:{first}:13 and ring.cu:{second}:13\n" in out
    assert f"= fix: {fix}\n" in out and f"ring: {verdict}" in out


@pytest.mark.parametrize(
    ("arrives", "missing"),
    [
        pytest.param("t != 17", "63 of 64 arrivals: thread 17 does", id="one thread"),
        pytest.param("t < 32", "32 of 64 arrivals: 32 threads (thread 32 is one of them) do", id="a warp"),
        pytest.param(
            "k != 3",
            "0 of 64 arrivals: 64 threads (thread 0 is one of them) do",
            id="an iteration",
            marks=FULL,
        ),
    ],
)
def test_an_arrival_that_is_forgotten_is_not_made_up_for_by_a_count(
    fencepost: CommandLine, arrives: str, missing: str
) -> None:
    """Counting fewer would let the slot be filled while those that do not arrive still read it."""
    code, out = check(fencepost, ARRIVES=arrives)
    slot = int(arrives == "k != 3")
    assert code == 1 and out.count("error[") == 1
    said = f"thread 64 waits for `empty[{slot}]` for ever, which has {missing} not arrive on it after waiting for"
    assert f"error[FP002]: {said} `full[{slot}]`\n" in out
    assert f"after each wait for `full[{slot}]`, as in line {ARRIVES}\n" in out
    assert "initialize" not in out


@FULL
def test_a_producer_that_leaves_out_a_phase_is_named(fencepost: CommandLine) -> None:
    """It has waited for the slot, as before: what the consumers wait for is its arrival."""
    out = check(fencepost, EXPECT="if (k != 4) expect(&full[s], 256)")[1]
    said = "thread 0 waits for `full[0]` for ever, which has 0 of 1 arrival: thread 64 does not arrive on it after"
    assert f"{said} waiting for `empty[0]`\n" in out and f", as in line {EXPECTS}\n" in out


@pytest.mark.parametrize(
    ("expects", "said", "fix"),
    [
        pytest.param(
            "expect(&full[s], 128)",
            "expects 128 bytes, and 256 are copied in a phase: it completes too early",
            "expect 256 bytes",
            id="those of one of two copies",
        ),
        pytest.param(
            "expect(&full[s], 64)",
            "expects 64 bytes, and 256 are copied in a phase: its phase never completes",
            "expect 256 bytes",
            id="elements, not bytes",
        ),
        pytest.param(
            "expect(&full[s], 512)",
            "expects 512 bytes, and 256 are copied in a phase: its phase never completes",
            "expect 256 bytes",
            id="those of both slots",
            marks=FULL,
        ),
        pytest.param(
            "arrive(&full[s])",
            "expects no bytes, and 256 are copied in a phase: it completes too early",
            "arrive and expect 256 bytes (mbarrier.arrive.expect_tx)",
            id="none",
        ),
    ],
)
def test_bytes_that_are_not_those_of_the_copies_are_the_cause(
    fencepost: CommandLine, expects: str, said: str, fix: str
) -> None:
    code, out = check(fencepost, EXPECT=expects)
    assert code == 1 and out.count("error[") == 1
    assert f"]: `full[0]` {said}\n" in out and f"= fix: in line {EXPECTS}, {fix}\n" in out
    assert f"--> ring.cu:{EXPECTS}:13 and ring.cu:{COPIED}:13\n" in out


STAGES = (
    HELPERS
    + """
__global__ void stages(const float *in, float *out) {
    __shared__ float tile[2][64];
    __shared__ uint64_t bars[4];
    int t = threadIdx.x;
    if (t < 4) init(&bars[t], COUNT);
    __syncthreads();
    if (t < 64) {
        for (int k = 0; k < 6; ++k) {
            wait(&bars[k % 2], (k / 2 + 1) & 1);
            tile[k % 2][t] = in[k * 64 + t];
            arrive(&bars[2 + k % 2]);
        }
    } else {
        float sum = 0.f;
        for (int k = 0; k < 6; ++k) {
            wait(&bars[2 + k % 2], (k / 2) & 1);
            sum += tile[k % 2][127 - t];
            arrive(&bars[k % 2]);
        }
        out[t - 64] = sum;
    }
}
"""
)


@pytest.mark.parametrize(("count", "code"), [("64", 0), pytest.param("32", 1, marks=FULL), ("128", 1)])
def test_mbarriers_that_one_init_makes_are_put_right_together(
    fencepost: CommandLine, count: str, code: int
) -> None:
    """Full ones and empty ones: a run with some of them put right would still be wrong."""
    found, out = check_file(fencepost, "stages.cu", STAGES, 128, COUNT=count)
    line = STAGES[: STAGES.index("init(&bars")].count("\n") + 1
    assert found == code and out.count("error[") == code
    assert (f"= fix: in line {line}, initialize it for 64 arrivals\n" in out) == bool(code)


ARRIVING = (
    HELPERS
    + """
__global__ void copied(const float *in, float *out) {
    __shared__ float tile[2][64];
    __shared__ uint64_t full[2];
    int t = threadIdx.x;
    if (t < 2)
        init(&full[t], COUNT);
    __syncthreads();
    float sum = 0.f;
    for (int k = 0; k < 6; ++k) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(addr(&tile[k % 2][t])), "l"(in + k * 64 + t)
                     : "memory");
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(addr(&full[k % 2])) : "memory");
        wait(&full[k % 2], (k / 2) & 1);
        sum += tile[k % 2][63 - t];
        __syncthreads();
    }
    out[t] = sum;
}
"""
)


@pytest.mark.parametrize(("count", "code"), [("64", 0), ("32", 1), pytest.param("63", 1, marks=FULL)])
def test_more_copies_than_a_phase_counts_do_not_all_belong_to_it(
    fencepost: CommandLine, count: str, code: int
) -> None:
    """All threads arrive at one instruction: the first of them complete the phase, and the others read too early."""
    found, out = check_file(fencepost, "copied.cu", ARRIVING, 64, COUNT=count)
    said = f"`full[0]` is initialized for {count} arrivals, and 64 come in each phase: it completes before thread "
    assert found == code and (said + count in out) == bool(code)
