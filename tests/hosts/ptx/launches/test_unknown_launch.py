"""What is taken for granted about a launch that nothing is said about, and what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.hosts.ptx.expressions.parameter_roles import roles_of
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.parse import parse
from fencepost.ir.source import Source
from tests.conftest import CommandLine
from tests.hosts.ptx.kernels import kernel


def verdict(body: str, block: int | tuple[int, int, int] | None = 128) -> KernelVerdict:
    (found,) = check(kernel(body), block=block)
    return found


def said(found: KernelVerdict) -> str:
    return " ".join(str(each) for each in found.reasons)


# ---- the block

OWN_WORD_IF_A_POWER_OF_TWO = """
    mov.u32 %r10, %ntid.x;
    add.s32 %r11, %r10, -1;
    and.b32 %r12, %r1, %r11;
    shl.b32 %r13, %r12, 2;
    add.s32 %r14, %r4, %r13;
    st.shared.u32 [%r14], %r1;
"""


ONE_WORD_FOR_EACH = """
__global__ void k(int *out) {
    __shared__ int s[1024];
    int t = PLACE;
    s[t] = t;
    __syncthreads();
    out[t] = s[1023 - t];
}
"""


@pytest.mark.parametrize(
    ("place", "meant"),
    [
        ("threadIdx.x", "every one-dimensional block of up to 1024 threads"),
        ("threadIdx.x + blockDim.x * threadIdx.y", "every two-dimensional block of up to 1024 threads"),
        (
            "threadIdx.x + blockDim.x * threadIdx.z",
            "every block with one row (blockDim.y = 1) of up to 1024 threads",
        ),
        (
            "threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)",
            "every block of up to 1024 threads",
        ),
    ],
)
def test_a_block_has_one_thread_along_an_axis_that_is_not_read_and_the_verdict_says_so(
    place: str, meant: str
) -> None:
    (found,) = check(compile_cuda(Source("k.cu", ONE_WORD_FOR_EACH.replace("PLACE", place))).ptx)
    assert found.verdict == "proven"
    assert found.holds_for.startswith(meant)


def test_a_kernel_that_is_not_right_with_every_block_is_judged_with_usual_ones() -> None:
    found = verdict(OWN_WORD_IF_A_POWER_OF_TWO, None)
    assert found.verdict == "proven"
    assert found.holds_for == "blocks of 64, 128, 256 threads; every value of the parameters"


def test_blocks_that_leave_the_array_are_not_tried() -> None:
    # The array has 256 words, so that blocks of 512 and 1024 threads are not meant.
    found = verdict(OWN_WORD_IF_A_POWER_OF_TWO, None)
    assert "512" not in found.holds_for


def test_blocks_that_disagree_are_not_decided() -> None:
    body = (
        "and.b32 %r12, %r1, 127; shl.b32 %r13, %r12, 2; add.s32 %r14, %r4, %r13; st.shared.u32 [%r14], %r1;"
    )
    found = verdict(body, None)
    assert found.verdict == "undecided"
    assert said(found) == (
        "there is a race with blocks of 1024 threads, and none with 64: give the block (--block)"
    )


def test_the_block_that_a_template_was_made_for_is_tried_before_others() -> None:
    text = """
    template <typename T, int N> __global__ void k(T *a) {
        __shared__ T s[1024];
        s[threadIdx.x % N] = a[threadIdx.x];
        __syncthreads();
        a[threadIdx.x] = s[N - 1 - threadIdx.x % N];
    }
    template __global__ void k<int, 128>(int *);
    template __global__ void k<int, 100>(int *);
    """
    by_name = {each.kernel: each for each in check(compile_cuda(Source("k.cu", text)).ptx)}
    made_for = by_name["_Z1kIiLi128EEvPT_"]
    assert (made_for.verdict, made_for.holds_for.partition(";")[0]) == ("proven", "blocks of 128 threads")
    assert by_name["_Z1kIiLi100EEvPT_"].verdict == "race"  # with usual blocks


def test_a_race_with_every_usual_block_is_a_race() -> None:
    found = verdict("st.shared.u32 [%r4], %r1;", None)
    assert found.verdict == "race"
    assert found.holds_for.startswith("blocks of ")


def test_blocks_of_few_warps_do_not_hide_a_race() -> None:
    """A tree without barriers: with 64 threads only lanes of one warp meet, which is a race as well."""
    text = """
    __global__ void tree(const float *in, float *out) {
        __shared__ float s[256];
        s[threadIdx.x] = in[threadIdx.x];
        __syncthreads();
        for (int k = blockDim.x / 2; k > 0; k >>= 1)
            if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
        out[threadIdx.x] = s[0];
    }
    """
    (found,) = check(compile_cuda(Source("tree.cu", text)).ptx)
    assert (found.verdict, found.holds_for) == ("race", "blocks of 64, 128, 256 threads")


def test_a_kernel_that_is_right_for_one_warp_is_not_called_racy() -> None:
    # for (i = lane; i < 128; i += 32) s[i] = …: warps of one block would store the same words.
    body = """
    mov.u32 %r11, %r1;
$loop:
    shl.b32 %r12, %r11, 2;
    add.s32 %r13, %r4, %r12;
    st.shared.u32 [%r13], %r1;
    add.s32 %r11, %r11, 32;
    setp.lt.u32 %p2, %r11, 128;
    @%p2 bra $loop;
    """
    found = verdict(body, None)
    assert found.verdict == "undecided"
    assert "and none with 32: give the block" in said(found)


def test_rows_are_as_long_as_the_array_says() -> None:
    # s[tid.y][tid.x] with rows of 16 words: 32 threads in a row would share words, and no one launches them.
    body = """
    mov.u32 %r20, %tid.y;
    shl.b32 %r21, %r20, 6;
    add.s32 %r22, %r5, %r21;
    st.shared.u32 [%r22], %r1;
    """
    found = verdict(body, None)
    assert found.verdict == "proven"
    assert "16x16" in found.holds_for
    assert "32x" not in found.holds_for


def test_a_block_that_loads_what_none_of_its_threads_stored_is_not_meant() -> None:
    # Thread t loads the word of thread t + 128: made for 256 threads. With fewer, no barrier would be needed.
    body = """
    st.shared.u32 [%r5], %r1;
    {barrier}
    setp.ge.u32 %p1, %r1, 128;
    @%p1 bra $end;
    ld.shared.u32 %r8, [%r5+512];
$end:
    """
    assert verdict(body.format(barrier=""), None).verdict == "race"
    found = verdict(body.format(barrier="bar.sync 0;"), None)
    assert (found.verdict, found.findings) == ("proven", ())


# ---- parameters

SCAN = """
    add.s32 %r10, %r2, -1;
    and.b32 %r11, %r1, %r10;
    shl.b32 %r12, %r1, 1;
    sub.s32 %r13, %r12, %r11;
    shl.b32 %r14, %r13, 2;
    add.s32 %r15, %r4, %r14;
    st.shared.u32 [%r15], %r1;
"""
"""s[2 * tid - (tid & (n - 1))]: two halves next to each other, if n is a power of two."""


def test_a_mask_is_taken_as_one_of_a_power_of_two_and_the_verdict_says_so() -> None:
    found = verdict(SCAN)
    assert found.verdict == "proven"
    assert found.holds_for == "blocks of 128 threads; if k_param_1 is a power of two"


def test_a_stride_is_taken_as_long_as_a_row_and_the_verdict_says_so() -> None:
    body = """
    mov.u32 %r20, %tid.y;
    mad.lo.s32 %r21, %r20, %r2, %r1;
    shl.b32 %r22, %r21, 2;
    add.s32 %r23, %r4, %r22;
    st.shared.u32 [%r23], %r1;
    """
    found = verdict(body, (16, 8, 1))
    assert (found.verdict, found.findings) == ("proven", ())
    assert found.holds_for == "blocks of 16x8 threads; if k_param_1 >= 16"


def test_nothing_is_taken_for_granted_about_a_value_that_is_given() -> None:
    (found,) = check(kernel(SCAN), block=128, params={"k_param_1": 3})
    assert found.verdict != "proven"


def test_a_number_of_64_bits_is_no_pointer() -> None:
    text = """
    .version 8.0
    .target sm_80
    .address_size 64
    .visible .entry k(.param .u64 p, .param .u64 n, .param .u32 stride)
    {
    .reg .pred %p<3>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    .shared .align 4 .b8 s[1024];
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd2, %rd1;
    ld.param.u64 %rd3, [n];
    ld.param.u32 %r1, [stride];
    mov.u32 %r2, %tid.x;
    cvt.u64.u32 %rd4, %r2;
    setp.ge.u64 %p1, %rd4, %rd3;
    @%p1 bra $end;
    ld.global.u32 %r3, [%rd2];
    mul.lo.s32 %r4, %r2, %r1;
    mov.u32 %r5, s;
    add.s32 %r6, %r5, %r4;
    st.shared.u32 [%r6], %r3;
    $end:
    ret;
    }
    """
    roles = roles_of(Flow(parse(text).kernels[0]))
    assert (set(roles.pointers), set(roles.layout)) == ({"p"}, {"stride"})


def test_a_race_with_one_number_of_steps_alone_is_found_with_that_number() -> None:
    # if (n == 7) s[tid] = …: no usual launch has that n, the solver names it.
    body = """
    setp.ne.u32 %p1, %r2, 7;
    @%p1 bra $read;
    st.shared.u32 [%r5], %r1;
$read:
    xor.b32 %r6, %r3, 256;
    add.s32 %r7, %r4, %r6;
    ld.shared.u32 %r8, [%r7];
    """
    found = verdict(body)
    assert found.verdict == "race"
    assert found.findings[0].values["k_param_1"] == 7


GUARDED = """
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 bra $read;
    st.shared.u32 [%r5], %r1;
$read:
    xor.b32 %r6, %r3, 256;
    add.s32 %r7, %r4, %r6;
    ld.shared.u32 %r8, [%r7];
"""


def test_a_finding_names_the_numbers_that_a_run_made_up() -> None:
    race = verdict(GUARDED).findings[0]
    assert (race.values["k_param_1"], race.chosen) == (128, ("k_param_1",))


def test_a_number_that_was_given_is_not_made_up() -> None:
    (found,) = check(kernel(GUARDED), block=128, params={"k_param_1": 100})
    assert (found.findings[0].values["k_param_1"], found.findings[0].chosen) == (100, ())


def test_a_number_that_decides_nothing_is_not_named() -> None:
    race = verdict(GUARDED.replace("%r2;", "64;")).findings[0]
    assert (race.chosen, "k_param_1" in race.values) == ((), False)


@pytest.mark.parametrize("operation", ["and.b32", "mul.lo.s32"], ids=["a mask", "an odd stride"])
def test_a_number_that_should_be_one_less_makes_no_race(operation: str) -> None:
    # s[tid & n] or s[tid * n % 128], each thread's own with n = 127; n = 128 would be a wrong guess.
    body = f"""
    {operation} %r10, %r1, %r2;
    and.b32 %r11, %r10, 127;
    shl.b32 %r12, %r11, 2;
    add.s32 %r13, %r4, %r12;
    st.shared.u32 [%r13], %r1;
    """
    found = verdict(body)
    assert found.verdict == "undecided"
    assert "there is a race if k_param_1 = 128: give the parameters" in said(found)
    (given,) = check(kernel(body), block=128, params={"k_param_1": 128})
    assert given.verdict == "race"


def test_a_race_with_every_size_but_the_usual_one_is_one() -> None:
    # … = s[(tid + n) % 128] with no barrier: each thread's own word with n = 128 alone.
    body = """
    st.shared.u32 [%r5], %r1;
    add.s32 %r10, %r1, %r2;
    and.b32 %r11, %r10, 127;
    shl.b32 %r12, %r11, 2;
    add.s32 %r13, %r4, %r12;
    ld.shared.u32 %r14, [%r13];
    """
    assert verdict(body).verdict == "race"


def test_a_race_with_either_number_is_one() -> None:
    # s[tid & n] = …, and another thread's word is read with no barrier.
    body = """
    and.b32 %r10, %r1, %r2;
    shl.b32 %r12, %r10, 2;
    add.s32 %r13, %r4, %r12;
    ld.shared.u32 %r14, [%r13];
    st.shared.u32 [%r5], %r1;
    xor.b32 %r6, %r3, 256;
    add.s32 %r7, %r4, %r6;
    ld.shared.u32 %r8, [%r7];
    """
    assert verdict(body).verdict == "race"


def test_a_size_of_shared_memory_is_not_taken_from_the_solver() -> None:
    # s[tid] = …; … = s[tid + n / 4096]: another thread's word with a large n alone, which no caller may have.
    body = """
    st.shared.u32 [%r5], %r1;
    shr.u32 %r10, %r2, 12;
    shl.b32 %r11, %r10, 2;
    add.s32 %r12, %r5, %r11;
    ld.shared.u32 %r13, [%r12];
    """
    found = verdict(body)
    assert found.verdict == "undecided"
    assert "there is a race if k_param_1 = " in said(found)


# ---- data


def test_numbers_that_have_an_order_are_tried_as_data() -> None:
    # if (x > 1000000) s[tid] = x, with x from global memory: an exchange of a sort, say.
    body = """
    ld.param.u64 %rd1, [k_param_0];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r10, [%rd3];
    setp.lt.u32 %p1, %r10, 1000000;
    @%p1 bra $read;
    st.shared.u32 [%r5], %r10;
$read:
    xor.b32 %r6, %r3, 256;
    add.s32 %r7, %r4, %r6;
    ld.shared.u32 %r8, [%r7];
    """
    assert verdict(body).verdict == "race"


SCATTER = """
    ld.param.u64 %rd1, [k_param_0];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r10, [%rd3];
    shl.b32 %r11, %r10, 2;
    add.s32 %r12, %r4, %r11;
"""


def test_a_scatter_by_data_is_not_called_a_race() -> None:
    # The data may be a permutation.
    found = verdict(SCATTER + "st.shared.u32 [%r12], %r1;")
    assert found.verdict == "undecided"
    assert "if data that are loaded let them" in said(found)


def test_an_update_in_place_by_data_is_one() -> None:
    found = verdict(
        SCATTER + "ld.shared.u32 %r13, [%r12]; add.s32 %r14, %r13, 1; st.shared.u32 [%r12], %r14;"
    )
    assert found.verdict == "race"


def test_a_load_by_data_beside_a_store_is_one() -> None:
    found = verdict("st.shared.u32 [%r5], %r1;" + SCATTER + "ld.shared.u32 %r13, [%r12];")
    assert found.verdict == "race"


# ---- counters

DRAWN = """
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra $ready;
    st.shared.u32 [s], 0;
$ready:
    bar.sync 0;
    atom.shared.add.u32 %r10, [s], {step};
    {between}
    shl.b32 %r11, %r10, 2;
    add.s32 %r12, %r4, %r11;
    st.shared.u32 [%r12+{offset}], %r1;
"""


def test_numbers_from_a_counter_are_places_of_their_own() -> None:
    text = kernel(DRAWN.format(step=1, between="", offset=0)).replace("[s]", "[c]")
    (found,) = check(
        text.replace(".shared .align 4", ".shared .align 4 .u32 c;\n    .shared .align 4"), block=128
    )
    assert (found.verdict, found.findings) == ("proven", ())


def test_a_counter_that_is_not_moved_on_gives_nothing() -> None:
    text = kernel(DRAWN.format(step=0, between="", offset=0)).replace("[s]", "[c]")
    (found,) = check(
        text.replace(".shared .align 4", ".shared .align 4 .u32 c;\n    .shared .align 4"), block=128
    )
    assert found.verdict != "proven"


def test_numbers_that_are_drawn_again_after_the_counter_was_set_back_are_not_distinct() -> None:
    # A number from before the barrier and one from after it may be equal: the counter was set in between.
    again = """
    bar.sync 0;
    st.shared.u32 [c], 0;
    bar.sync 0;
    setp.lt.u32 %p2, %r1, 64;
    @%p2 bra $old;
    atom.shared.add.u32 %r10, [c], 1;
$old:
    """
    text = kernel(DRAWN.format(step=1, between=again, offset=0)).replace("[s]", "[c]")
    (found,) = check(
        text.replace(".shared .align 4", ".shared .align 4 .u32 c;\n    .shared .align 4"), block=128
    )
    assert found.verdict != "proven"


def test_a_counter_that_something_else_writes_gives_nothing() -> None:
    text = kernel(DRAWN.format(step=1, between="st.shared.u32 [c], 7;", offset=0)).replace("[s]", "[c]")
    (found,) = check(
        text.replace(".shared .align 4", ".shared .align 4 .u32 c;\n    .shared .align 4"), block=128
    )
    assert found.verdict != "proven"


# ---- comparisons


def test_a_bound_that_moves_with_the_thread_is_uniform() -> None:
    # for (i = tid; i < tid + n; i += 8) __syncthreads();
    body = """
    add.s32 %r10, %r1, %r2;
    mov.u32 %r11, %r1;
$loop:
    setp.ge.s32 %p1, %r11, %r10;
    @%p1 bra $done;
    bar.sync 0;
    add.s32 %r11, %r11, 8;
    bra $loop;
$done:
    st.shared.u32 [%r5], %r1;
    """
    assert verdict(body).verdict == "proven"


def test_a_bound_that_does_not_is_not() -> None:
    body = """
    mov.u32 %r11, %r1;
$loop:
    setp.ge.s32 %p1, %r11, %r2;
    @%p1 bra $done;
    bar.sync 0;
    add.s32 %r11, %r11, 8;
    bra $loop;
$done:
    st.shared.u32 [%r5], %r1;
    """
    assert verdict(body).verdict == "race"


# ---- masks


def test_a_mask_bounds_what_data_can_name() -> None:
    # Every thread has a column of its own, the data name the row: s[row][tid] with rows of 32 words.
    body = (
        SCATTER
        + """
    bmsk.clamp.b32 %r13, 0, 3;
    and.b32 %r14, %r10, %r13;
    shl.b32 %r15, %r14, 7;
    add.s32 %r16, %r5, %r15;
    st.shared.u32 [%r16], %r1;
    """
    )
    assert verdict(body, 32).verdict == "proven"
    assert verdict(body, 64).verdict != "proven"


def test_an_assumption_under_which_nothing_happens_is_none() -> None:
    # s[tid & (1 << n) - 1] if n < 5: the mask is empty for every n that is as large as a row.
    body = """
    setp.gt.u32 %p1, %r2, 4;
    @%p1 bra $end;
    shl.b32 %r10, 1, %r2;
    add.s32 %r11, %r10, -1;
    and.b32 %r12, %r1, %r11;
    shl.b32 %r13, %r12, 2;
    add.s32 %r14, %r4, %r13;
    st.shared.u32 [%r14], %r1;
$end:
    """
    assert verdict(body).verdict != "proven"


def test_a_race_with_a_block_that_was_only_guessed_is_not_called_one() -> None:
    """Of memory whose size nobody says, a template's number tells nothing for certain about the block."""
    text = """
    template <int SIZE> __global__ void k(float *out) {
        extern __shared__ float s[];
        s[threadIdx.x % SIZE] = out[threadIdx.x];
        out[threadIdx.x + SIZE] = s[(threadIdx.x + 1) % SIZE];
    }
    template __global__ void k<1024>(float *);
    """
    compiled = compile_cuda(Source("k.cu", text)).ptx
    (found,) = check(compiled, file="k.ptx")
    assert found.verdict == "undecided"
    assert said(found) == "there is a race with blocks of 1024 threads: give the block (--block)"
    (found,) = check(compiled, block=(1024, 1, 1), file="k.ptx")
    assert found.verdict == "race"


# ---- numbers that the launches of a file give

STRIDED = """
__global__ void strided(float *out, const float *in, int stride) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    s[(t * stride) & 1023] = in[t];
    out[t] = s[(t * stride) & 1023];
}
int main() { strided<<<8, 256>>>(nullptr, nullptr, STRIDE); }
"""


@pytest.mark.parametrize(
    ("stride", "expected", "said"),
    [
        # Nobody knows the stride: with 8, two threads share a word.
        ("atoi(argv[1])", "undecided", "every value of the parameters"),
        ("4", "proven", "stride = 4; block and numbers are those of its launch"),
        ("8", "race", "stride = 8; block and numbers are those of its launch"),
    ],
)
def test_numbers_of_the_launch_decide_what_is_not_decided_without(
    tmp_path: Path, fencepost: CommandLine, stride: str, expected: str, said: str
) -> None:
    (tmp_path / "k.cu").write_text(STRIDED.replace("STRIDE", stride), encoding="utf-8")
    (found,) = json.loads(fencepost("check", str(tmp_path / "k.cu"), "--json", "--as-compiled").out)
    assert (found["verdict"], said in found["holds_for"]) == (expected, True)


FIRST = """
__global__ void k(float *out, const int *places, int first) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    if (first > 0) s[255 - t] += s[t];
    __syncthreads();
    s[places[t] & 255] = t;
    __syncthreads();
    out[t] = s[t];
}
int main() { k<<<8, 256>>>(nullptr, nullptr, FIRST); }
"""


@pytest.mark.parametrize(
    ("first", "expected"), [("0", "undecided"), ("1", "race"), ("atoi(argv[1])", "race")]
)
def test_a_race_with_numbers_that_no_launch_gives_is_none(
    tmp_path: Path, fencepost: CommandLine, first: str, expected: str
) -> None:
    """Also if what the launches do is not decided: two threads store where data tell them to."""
    (tmp_path / "k.cu").write_text(FIRST.replace("FIRST);", f"{first});"), encoding="utf-8")
    (found,) = json.loads(fencepost("check", str(tmp_path / "k.cu"), "--json").out)
    assert found["verdict"] == expected


def test_short_parameters_have_the_numbers_of_the_launch_as_well(
    tmp_path: Path, fencepost: CommandLine
) -> None:
    # Without a number, no run of a made-up stride speaks for all others.
    for stride, expected in (("sizeof(float) & ~3", "proven"), ("atoi(argv[1])", "undecided")):
        text = STRIDED.replace("int stride", "unsigned short stride").replace("STRIDE", stride)
        (tmp_path / "k.cu").write_text(text, encoding="utf-8")
        (found,) = json.loads(fencepost("check", str(tmp_path / "k.cu"), "--json", "--as-compiled").out)
        assert (found["verdict"], "stride = 4" in found["holds_for"]) == (expected, expected == "proven")


# Two arrays, the second of which begins behind as many words as the block has threads.
BEHIND = """
__global__ void behind(float *out, const float *in, int n) {
    extern __shared__ float s[];
    float *second = s + n;
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++) {
        s[t] = in[i * n + t];
        FIRST
        second[t] = s[(t + 1) % n] * in[t];
        __syncthreads();
        out[i * n + t] = second[n - 1 - t] + second[(t + 7) % n];
        __syncthreads();
    }
}
void run(int n) { behind<<<8, n, 2 * n * sizeof(float)>>>(nullptr, nullptr, n); }
"""
# 128 words: right with up to 128 threads.
LAUNCHED_TWICE = """
__global__ void sums(float *out, const float *in) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t % 128] = in[t];
    __syncthreads();
    out[t] = s[127 - t % 128];
}
void run() { sums<<<8, FIRST>>>(nullptr, nullptr); sums<<<8, 64>>>(nullptr, nullptr); }
"""


@pytest.mark.parametrize(
    ("text", "first", "expected", "said"),
    [
        (BEHIND, "__syncthreads();", "proven", "n = blockDim.x"),
        (BEHIND, "", "race", ""),
        (LAUNCHED_TWICE, "128", "proven", "blocks of 64, 128 threads"),
        (LAUNCHED_TWICE, "256", "race", "blocks of 256 threads"),
    ],
)
def test_blocks_and_what_goes_with_them(
    tmp_path: Path, fencepost: CommandLine, text: str, first: str, expected: str, said: str
) -> None:
    (tmp_path / "k.cu").write_text(text.replace("FIRST", first), encoding="utf-8")
    (found,) = json.loads(fencepost("check", str(tmp_path / "k.cu"), "--json", "--as-compiled").out)
    assert found["verdict"] == expected
    assert said in found["holds_for"]


SMALL = """
__global__ void k(float *q, const float *h) {
    __shared__ float s[5], dot[4];
    int t = threadIdx.x;
    s[t + 1] = q[t];
    dot[t] = h[t];
    BARRIER;
    q[t] = t ? dot[t] + s[t] + dot[0] : 0;
}
"""


def test_an_array_that_is_made_for_a_few_threads() -> None:
    (right,) = check(compile_cuda(Source("k.cu", SMALL.replace("BARRIER", "__syncthreads()"))).ptx)
    assert right.verdict == "proven"
    (wrong,) = check(compile_cuda(Source("k.cu", SMALL.replace("BARRIER", ""))).ptx)
    assert wrong.verdict == "race" and "blocks of 4" in wrong.holds_for
