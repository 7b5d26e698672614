"""Values that depend on loaded data or on parameters: when two threads have the same one, and when they may not."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.ir.source import Source
from tests.hosts.ptx.exact_kernels import kernel
from tests.tiers import FULL, sweep

OWN = "mad.wide.u32 %rd2, %r1, 4, %rd1;\n ld.global.u32 %r11, [%rd2];"
"""Every thread loads a word of its own into %r11."""
COMMON = "ld.global.u32 %r11, [%rd1];"
"""All threads load the same word."""
STORE = """
    setp.ne.u32 %p9, %r3, 0;
    @%p9 bra $stored;
    st.shared.{kind} [%r4], {value};
$stored:
    bar.sync 1, 64;
"""
"""Threads 0 and 32 store to the same word."""


def verdict(body: str, threads: int = 64) -> KernelVerdict:
    (found,) = check(kernel(body, threads))
    return found


def store(value: str, kind: str = "u32") -> str:
    return STORE.format(value=value, kind=kind)


@pytest.mark.parametrize("limit", range(8))
def test_conditions_on_different_data_are_not_equal(limit: int) -> None:
    found = verdict(f"{OWN} setp.gt.s32 %p5, %r11, {limit};\n selp.b32 %r12, 1, 0, %p5;{store('%r12')}")
    # Among the numbers of a run with data, some are larger than a small limit, and some are not.
    assert found.verdict == "race" or (limit > 2 and "not compared" in str(found.reasons[0]))


def test_conditions_on_the_same_data_are() -> None:
    assert (
        verdict(f"{COMMON} setp.gt.s32 %p5, %r11, 3;\n selp.b32 %r12, 1, 0, %p5;{store('%r12')}").verdict
        == "proven"
    )


@pytest.mark.parametrize("shift", range(8))
def test_bytes_of_different_data_are_not_equal(shift: int) -> None:
    body = f"{OWN} shr.u32 %r12, %r11, {shift};{store('%r12', 'u8')}"
    assert verdict(body).verdict == "race"


def test_what_a_branch_leaves_as_it_was_is_not_forgotten() -> None:
    body = f"""
    {COMMON}
    mov.u32 %r12, %r1;
    setp.eq.u32 %p5, %r11, 0;
    @%p5 bra $kept;
    mov.u32 %r12, 1;
$kept:
{store("%r12")}"""
    assert verdict(body).verdict == "undecided"
    assert verdict(body.replace("mov.u32 %r12, %r1;", "mov.u32 %r12, 7;")).verdict == "proven"


def test_what_volatile_loads_give_may_differ() -> None:
    assert verdict(COMMON + store("%r11")).verdict == "proven"
    assert verdict(COMMON.replace("ld.", "ld.volatile.") + store("%r11")).verdict == "undecided"


def test_a_parameter_that_is_only_stored_is_any_value() -> None:
    found = verdict(store("%r2"))
    assert found.verdict == "proven" and "every value of the parameters" in found.holds_for
    # With n = 24, threads 40 and 63 store the same.
    body = f"setp.lt.u32 %p5, %r1, %r2;\n selp.b32 %r12, 1, 0, %p5;{store('%r12')}"
    assert verdict(body.replace("%p9, %r3, 0", "%p9, %r3, 8")).verdict == "race"
    assert verdict(body.replace("setp.ne.u32 %p9, %r3, 0", "setp.lt.u32 %p9, %r1, 40")).verdict == "undecided"


def test_a_parameter_that_decides_by_way_of_shared_memory_is_named() -> None:
    body = """
    @!%p2 bra $told;
    st.shared.u32 [%r4], %r2;
$told:
    bar.sync 0;
    ld.shared.u32 %r11, [%r4];
    setp.lt.u32 %p5, %r11, 1600;
    @%p5 bra $end;
    st.shared.u32 [%r4+16], %r1;
$end:
    bar.sync 1, 64;
"""
    found = verdict(body)
    assert found.verdict == "undecided" and "no run reaches" in str(found.reasons[0])


SUM = "".join(
    f"shfl.sync.bfly.b32 %r12, %r11, {step}, 31, -1;\n add.f32 %r11, %r11, %r12;\n"
    for step in (16, 8, 4, 2, 1)
)


def test_a_sum_over_a_butterfly_is_the_same_in_all_lanes() -> None:
    body = f"{OWN}\n{SUM} st.shared.u32 [%r4], %r11;\n bar.sync 1, 32;"
    assert verdict(body, 32).verdict == "proven"


def test_a_proof_that_does_not_know_so_leaves_it_to_a_run_that_depends_on_no_parameter() -> None:
    body = f"{OWN}\n{SUM} st.shared.u32 [%r4], %r11;\n bar.sync 0;\n ld.shared.u32 %r12, [%r4];"
    found = verdict(body, 32)
    assert found.verdict == "proven" and "every value of the parameters" in found.holds_for
    # Here the steps depend on one.
    assert verdict(body.replace("%r11, 16,", "%r11, %r2,"), 32).verdict != "proven"


@pytest.mark.parametrize(
    ("before", "after"),
    [("add.f32", "sub.f32"), (", 16, 31", ", 8, 31"), ("bfly.b32 %r12, %r11, 1,", "down.b32 %r12, %r11, 1,")],
)
def test_other_results_of_shuffles_are_not(before: str, after: str) -> None:
    body = f"{OWN}\n{SUM} st.shared.u32 [%r4], %r11;\n bar.sync 1, 32;"
    assert before in body
    assert verdict(body.replace(before, after), 32).verdict == "race"


DECIDES = """
    {load}
    setp.eq.u32 %p5, %r11, 0;
    @%p5 bra $else;
    st.shared.u32 [%r5], %r1;
    bar.sync 1, 32;
    ld.shared.u32 %r12, [%r4];
    bra $end;
$else:
    st.shared.u32 [%r5+128], %r1;
    bar.sync 1, 32;
    ld.shared.u32 %r12, [%r4+128];
$end:
"""


def test_every_way_that_common_data_may_lead_is_run() -> None:
    right = DECIDES.format(load=COMMON)
    found = verdict(right, 32)
    assert found.verdict == "proven" and "every way that loaded data may lead" in found.holds_for
    for barrier in (0, 1):
        parts = right.split("    bar.sync 1, 32;\n")
        parts[barrier] += parts.pop(barrier + 1)
        assert verdict("    bar.sync 1, 32;\n".join(parts), 32).verdict != "proven"


def test_a_thread_s_own_data_may_lead_anywhere() -> None:
    found = verdict(DECIDES.format(load=OWN), 32)
    assert found.verdict == "undecided" and "depends on data" in str(found.reasons[0])


def test_a_value_that_is_loaded_beside_an_atomic_is_not_common() -> None:
    loads = "atom.shared.add.u32 %r13, [%r4+512], 1;\n ld.volatile.shared.u32 %r11, [%r4+512];"
    assert verdict(DECIDES.format(load=loads), 32).verdict == "undecided"
    assert verdict(DECIDES.format(load=loads.replace(".volatile", "")), 32).verdict == "race"


def test_an_access_under_a_common_predicate_is_run_both_ways() -> None:
    body = f"""
    {COMMON}
    setp.eq.u32 %p5, %r11, 0;
    @%p5 st.shared.u32 [%r5], %r1;
    bar.sync 1, 64;
    mov.u32 %r13, s;
    ld.shared.u32 %r12, [%r13+128];
"""
    body = "    mad.lo.u32 %r5, %r1, 4, %r4;" + body
    assert verdict(body, 64).verdict == "proven"
    assert verdict(body.replace("bar.sync 1, 64;", ""), 64).verdict != "proven"


PRODUCTS = """
    mad.wide.u32 %rd2, %r3, 4, %rd1;
    ld.global.u32 %r11, [%rd2];
    st.shared.u32 [%r5], %r11;
    bar.sync 0;
    and.b32 %r12, %r3, 7;
    shl.b32 %r13, %r12, 4;
    add.u32 %r13, %r13, %r4;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r14}, [%r13];
    mov.u32 %r15, 0;
    mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r16, %r17}, {%r14, %r11}, {%r14}, {%r15, %r15};
    st.shared.u32 [%r5+512], %r17;
    bar.sync 1, 64;
"""
"""Two warps store the same product, of a matrix that both have stored."""


def test_products_of_equal_fragments_are_equal() -> None:
    assert verdict(PRODUCTS).verdict == "proven"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{%r15, %r15};", "{%r15, %r1};"),
        (
            "mov.u32 %r15, 0;",
            "mov.u32 %r15, 0;\n    setp.eq.u32 %p5, %r1, 40;\n    selp.b32 %r14, 0, %r14, %p5;",
        ),
        ("and.b32 %r12, %r3, 7;", "shr.u32 %r12, %r1, 3;"),
        ("[%r5+512], %r17", "[%r5+512], %r1"),
    ],
)
def test_products_of_others_are_not(before: str, after: str) -> None:
    assert before in PRODUCTS
    assert verdict(PRODUCTS.replace(before, after)).verdict != "proven"


MATRIX = """
    and.b32 %r12, %r3, 7;
    shl.b32 %r13, %r12, 4;
    add.u32 %r13, %r13, %r4;
    {value}
    stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r13], {{%r14}};
    bar.sync 1, 64;
"""
"""Two warps store the same matrix."""


def test_warps_that_store_equal_matrices() -> None:
    assert verdict(MATRIX.format(value="mov.u32 %r14, 0;")).verdict == "proven"
    assert verdict(MATRIX.format(value="mov.u32 %r14, %r3;")).verdict == "proven"
    assert verdict(MATRIX.format(value=f"{COMMON} mov.u32 %r14, %r11;")).verdict == "proven"


def test_warps_that_store_different_matrices() -> None:
    assert verdict(MATRIX.format(value="mov.u32 %r14, %r1;")).verdict == "race"
    assert verdict(MATRIX.format(value=f"{OWN} mov.u32 %r14, %r11;")).verdict == "race"
    one_lane = "setp.eq.u32 %p5, %r1, 40;\n selp.b32 %r14, 1, 0, %p5;"
    assert verdict(MATRIX.format(value=one_lane)).verdict == "race"


LOOP = (
    "$more:"
    + MATRIX.replace("bar.sync 1, 64;", "bar.sync 0;\n    ld.shared.u32 %r15, [%r4];")
    + "setp.lt.u32 %p7, %r10, %r2;\n add.u32 %r10, %r10, 1;\n bar.sync 0;\n @%p7 bra $more;"
)


def test_a_proof_knows_of_matrices_of_one_constant() -> None:
    assert verdict(LOOP.format(value="mov.u32 %r14, 0;")).verdict == "proven"


@FULL
def test_of_matrices_of_other_values_a_proof_does_not() -> None:
    assert verdict(LOOP.format(value="mov.u32 %r14, %r10;")).verdict != "race"
    assert verdict(LOOP.format(value="mov.u32 %r14, %r1;")).verdict != "proven"


def test_what_stmatrix_stores_takes_the_place_of_what_was_there() -> None:
    body = """
    st.shared.u32 [%r5], 0;
    bar.sync 0;
    and.b32 %r12, %r3, 7;
    shl.b32 %r13, %r12, 4;
    add.u32 %r13, %r13, %r4;
    stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r13], {%r3};
    bar.sync 0;
    ld.shared.u32 %r14, [%r5];
    setp.eq.u32 %p5, %r14, 0;
    @%p5 bra $end;
    bar.sync 1, 64;
$end:
"""
    assert verdict(body).verdict == "undecided"


# ---- addresses that data decide over

TABLE = """
    st.shared.u32 [%r5], 0;
    bar.sync 1, 64;
    {load}
    and.b32 %r11, %r11, 31;
    mad.lo.u32 %r12, %r11, 4, %r4;
    {use}
    bar.sync 1, 64;
    ld.shared.u32 %r14, [%r5];
"""
"""Every thread uses the word that its data name, of those that all have cleared; barriers of a counted number."""


@pytest.mark.parametrize("use", ["ld.shared.u32 %r13, [%r12];", "red.shared.add.u32 [%r12], 1;"])
def test_loads_and_atomics_at_places_that_data_name_are_ordered_by_barriers(use: str) -> None:
    right = TABLE.format(load=OWN, use=use)
    assert verdict(right).verdict == "proven"
    for barrier in (0, 1):
        parts = right.split("    bar.sync 1, 64;\n")
        parts[barrier] += parts.pop(barrier + 1)
        found = verdict("    bar.sync 1, 64;\n".join(parts))
        clean = barrier == 1 and use.startswith("ld")
        assert (found.verdict == "proven" and not found.findings) == clean, (barrier, found)


def test_stores_to_places_that_data_name_may_be_those_of_a_permutation() -> None:
    assert verdict(TABLE.format(load=OWN, use="st.shared.u32 [%r12], %r1;")).verdict == "undecided"
    update = "ld.shared.u32 %r13, [%r12];\n add.u32 %r13, %r13, 1;\n st.shared.u32 [%r12], %r13;"
    assert verdict(TABLE.format(load=OWN, use=update)).verdict == "race"


def test_what_data_name_in_one_variable_is_not_in_another() -> None:
    body = TABLE.format(load=OWN, use="ld.shared.u32 %r13, [%r12];\n st.shared.u32 [%r6], 0;")
    assert verdict(body).verdict == "proven"


# ---- addresses of shared memory that were stored and loaded

STORED_ADDRESSES = """
__global__ void k(int *out, const int *in, int n) {
    __shared__ int a[64], b[64];
    __shared__ int *either[2];
    int t = threadIdx.x;
    a[t] = b[t] = 0;
    if (t == 0) { either[0] = a; either[1] = b; }
    asm volatile("bar.sync 1, 64;" ::: "memory");
    int *p = either[in[0] & 1];
    p[PLACE] = t;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = a[t] + b[t];
}
"""


@pytest.mark.parametrize("place", ["n", "0", "in[t]"])
def test_an_address_that_was_loaded_may_be_one_of_shared_memory(place: str) -> None:
    """All threads store to one word of `a` or `b`, and a parameter in the address makes it none of global memory."""
    ptx = compile_cuda(Source("k.cu", STORED_ADDRESSES.replace("PLACE", place))).ptx
    (verdict,) = check(ptx, block=(64, 1, 1), file="k.ptx")
    assert verdict.verdict != "proven"


def test_an_index_that_was_loaded_moves_a_pointer_of_the_host() -> None:
    """The kernel stores no address: what data move stays where the host's pointer leads."""
    body = """
    __device__ __noinline__ int *moved(int *p, int i) { return p + i; }
    __global__ void k(int *out, const int *in) {
        __shared__ int s[64];
        int t = threadIdx.x;
        int *q = t < 100 ? s : out;
        q[t] = t;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        *moved(out, in[t]) = s[63 - t];
    }
    """
    (verdict,) = check(compile_cuda(Source("k.cu", body)).ptx, block=(64, 1, 1), file="k.ptx")
    assert verdict.verdict == "proven"


IN_CONSTANT_MEMORY = """
__constant__ int table[64];
__constant__ int number;
__global__ void k(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[PLACE] = in[t];
    __syncthreads();
    out[t] = s[t];
}
"""


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        # The table may be a permutation.
        ("table[t]", "undecided"),
        ("t ^ (number & 1)", "proven"),
        # Two threads store to one word, whatever the number is.
        ("(t / 2 + number) & 63", "race"),
    ],
)
def test_a_table_in_constant_memory_is_data(place: str, expected: str) -> None:
    (found,) = check(compile_cuda(Source("k.cu", IN_CONSTANT_MEMORY.replace("PLACE", place))).ptx, block=64)
    assert found.verdict == expected


STACKS = """
__global__ void k(const int *left, const int *right, int *out) {
    __shared__ int stack[64][32];
    int t = threadIdx.x, top = 0, found = 0;
    stack[t OWN][top++] = 0;
    BARRIER
    while (top > 0) {
        int node = stack[t][--top];
        found++;
        if (left[node] >= 0) stack[t][top++] = left[node];
        if (right[node] >= 0) stack[t][top++] = right[node];
    }
    out[t] = found;
}
"""


@pytest.mark.parametrize(
    ("own", "barrier", "expected"),
    sweep(
        [
            # Another thread's stack, whatever the data are.
            ("^ 1", "", "race"),
            # Data make the stacks of a run as deep as they like; in one thread's part of the array they are not.
            ("", "", "undecided"),
            ("^ 1", "__syncthreads();", "undecided"),
        ],
        first=1,
    ),
)
def test_stacks_that_made_up_data_let_run_over(own: str, barrier: str, expected: str) -> None:
    text = STACKS.replace("OWN", own).replace("BARRIER", barrier)
    (found,) = check(compile_cuda(Source("k.cu", text)).ptx, block=64)
    assert found.verdict == expected
    assert expected == "race" or any("too far" in each.message for each in found.reasons)
