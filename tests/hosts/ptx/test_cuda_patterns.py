"""Patterns of kernels as people write them, each with the mistake that is near to it."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.compiler.nvrtc import Compilation, compile_cuda
from fencepost.ir.source import Source
from tests.hosts.ptx.random_cuda.compare import verdict_on
from tests.tiers import FULL, sweep

Block = int | tuple[int, int, int] | None


def verdict(text: str, block: Block = 256, **params: int) -> KernelVerdict:
    (found,) = check(compile_cuda(Source("k.cu", text)).ptx, block=block, params=params)
    return found


def said(found: KernelVerdict) -> str:
    return " ".join(str(each) for each in found.reasons)


# ---- one load from one of many arrays

NEIGHBOURS = """
__global__ void k(float *out, const float *in, int n) {
    __shared__ float t[16][16], north[16][16], south[16][16], west[16][16], east[16][16];
    int x = threadIdx.x, y = threadIdx.y, i = y * 16 + x;
    t[y][x] = in[i];
    north[y][x] = in[i + n]; south[y][x] = in[i + 2 * n]; west[y][x] = in[i + 3 * n]; east[y][x] = in[i + 4 * n];
    BARRIER;
    float up, left;
    if (y == 0 && x == 0) { up = north[y][x]; left = west[y][x]; }
    else if (y == 0 && x == 15) { up = north[y][x]; left = t[y][x - 1]; }
    else if (y == 15 && x == 15) { up = t[y - 1][x]; left = east[y][x]; }
    else if (y == 15 && x == 0) { up = south[y][x]; left = west[y][x]; }
    else if (y == 0) { up = north[y][x]; left = t[y][x - 1]; }
    else if (x == 15) { up = t[y - 1][x]; left = east[y][x]; }
    else if (y == 15) { up = south[y][x]; left = t[y][x - 1]; }
    else if (x == 0) { up = t[y - 1][x]; left = west[y][x]; }
    else { up = t[y - 1][x]; left = t[y][x - 1]; }
    out[i] = up + left;
}
"""


def test_a_load_from_one_of_many_arrays() -> None:
    # The compiler makes one load of all of them, from an address that nine branches decide over.
    assert verdict(NEIGHBOURS.replace("BARRIER", "__syncthreads()"), (16, 16, 1)).verdict == "proven"
    assert verdict(NEIGHBOURS.replace("BARRIER", ""), (16, 16, 1)).verdict == "race"


# ---- numbers that bound how far threads go

STACKS = """
__global__ void k(int *out, const int *in, int depth) {
    __shared__ int stack[96][10];
    int t = threadIdx.x, top = 0;
    stack[t][0] = in[t];
    while (top >= 0) {
        int x = stack[t][top];
        if (x & 1 || top + 1 == depth) { out[t] += x; top--; }
        else { stack[t][top] = x | 1; stack[t][top + 1] = x >> 1; top++; }
    }
}
"""


@pytest.mark.full
def test_a_row_that_ends_before_a_number_that_was_made_up() -> None:
    # With a depth of more than 10, threads go on into the next row; nobody says that it can be that large.
    found = verdict(STACKS, 96)
    assert found.verdict == "undecided" and "there is a race if" in said(found)


def test_a_row_that_ends_before_a_number_that_is_given() -> None:
    assert verdict(STACKS, 96, _Z1kPiPKii_param_2=20).verdict == "race"


LOOP = """
__global__ void k(int *out, const int *in, int n) {
    __shared__ int s[1024];
    int t = threadIdx.x;
    for (int i = t; i < n; i += 256) s[i] = in[i];
    BARRIER;
    for (int i = t; i < n; i += 256) out[i] = s[n - 1 - i];
}
"""


def test_a_race_is_one_although_a_number_bounds_how_far_threads_go() -> None:
    assert verdict(LOOP.replace("BARRIER", "")).verdict == "race"
    assert verdict(LOOP.replace("BARRIER", "__syncthreads()")).verdict == "proven"


# ---- data that decide who updates what

STARTS = """
__global__ void k(int *out, const int *keys) {
    __shared__ int key[257], start[16];
    int t = threadIdx.x;
    key[t + 1] = keys[t] & 15;
    if (t == 0) key[0] = -1;
    if (t < 16) start[t] = 0;
    __syncthreads();
    if (GUARD) start[key[t + 1]] = t - start[key[t + 1]];
    __syncthreads();
    if (t < 16) out[t] = start[t];
}
"""


def test_an_update_that_other_data_decide_over_may_be_one_of_sorted_keys() -> None:
    found = verdict(STARTS.replace("GUARD", "key[t] != key[t + 1]"))
    assert found.verdict == "undecided" and "if data that are loaded let them" in said(found)


def test_an_update_that_only_the_index_decides_over_is_one_of_many_threads() -> None:
    assert verdict(STARTS.replace("GUARD", "key[t + 1] > 3")).verdict == "race"
    assert verdict(STARTS.replace("GUARD", "true")).verdict == "race"


def test_what_is_loaded_again_for_every_use_is_one_value() -> None:
    again = STARTS.replace(
        "__shared__ int key[257], start[16]", "__shared__ volatile int key[257]; __shared__ int start[16]"
    )
    assert verdict(again.replace("GUARD", "key[t] != key[t + 1]")).verdict == "undecided"
    assert verdict(again.replace("GUARD", "key[t + 1] > 3")).verdict == "race"
    assert verdict(again.replace("GUARD", "true")).verdict == "race"


# ---- flags

SORT = """
__global__ void k(unsigned *keys, unsigned n, unsigned up) {
    __shared__ unsigned s[512];
    unsigned t = threadIdx.x;
    s[t] = keys[t]; s[t + 256] = keys[t + 256];
    for (unsigned size = 2; size < n; size <<= 1)
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned at = 2 * t - (t & (stride - 1)), a = s[at], b = s[at + stride];
            if ((a > b) == up) { s[at] = b; s[at + stride] = a; }
        }
    for (unsigned stride = n / 2; stride > 0; stride >>= 1) {
        BARRIER;
        unsigned at = 2 * t - (t & (stride - 1)), a = s[at], b = s[at + stride];
        if ((a > b) == up) { s[at] = b; s[at + stride] = a; }
    }
    __syncthreads();
    keys[t] = s[t]; keys[t + 256] = s[t + 256];
}
"""


def test_what_happens_only_if_a_number_is_one_is_run_too() -> None:
    found = verdict(SORT.replace("BARRIER", "__syncthreads()"))
    assert found.verdict == "proven" and "is a power of two" in found.holds_for
    assert verdict(SORT.replace("BARRIER", "")).verdict == "race"


# ---- blocks that nothing is said about

COLUMNS = """
__global__ void k(float *out, const float *in, int nx, int ny) {
    extern __shared__ float rows[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, plane = blockIdx.z * blockDim.z + threadIdx.z;
    if (i >= nx) return;
    for (int j = threadIdx.y; j < ny; j += blockDim.y)
        rows[threadIdx.x + j * blockDim.x] = in[i + nx * (j + ny * plane)];
    BARRIER;
    for (int j = threadIdx.y; j < ny; j += blockDim.y)
        out[i + nx * (j + ny * plane)] = rows[threadIdx.x + (ny - 1 - j) * blockDim.x];
}
"""


def test_a_block_is_flat_where_shared_memory_does_not_depend_on_the_thread() -> None:
    # threadIdx.z is read, but threads that differ in it alone would store to the same words: the block has one layer.
    found = verdict(COLUMNS.replace("BARRIER", "__syncthreads()"), None)
    assert found.verdict == "proven" and "16x16" in found.holds_for


@FULL
def test_so_it_is_where_the_barrier_is_missing() -> None:
    assert verdict(COLUMNS.replace("BARRIER", ""), None).verdict == "race"


def test_a_block_is_not_flat_where_a_thread_s_row_decides_who_stores() -> None:
    text = """
    __global__ void k(float *out, const float *in) {
        __shared__ float s[32];
        if (threadIdx.y == 0) s[threadIdx.x] = in[threadIdx.x];
        BARRIER;
        out[threadIdx.y * 32 + threadIdx.x] = s[threadIdx.x];
    }
    """
    assert verdict(text.replace("BARRIER", ""), None).verdict == "race"
    assert verdict(text.replace("BARRIER", "__syncthreads()"), None).verdict == "proven"


TILE = """
__global__ void k(float *c, const float *a, const float *b, int n, int width) {
    __shared__ float s[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    b += x + y * n;
    const float *last = b + width;
    float sum = 0;
    do {
        s[x][y] = b[0]; s[x][y + 4] = b[4 * n]; s[x][y + 8] = b[8 * n]; s[x][y + 12] = b[12 * n];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += s[i][y ^ 2] * a[i * n + x];
        BARRIER;
        b += 16;
    } while (b < last);
    c[y * n + x] = sum;
}
"""


@FULL
def test_a_block_of_another_shape_in_which_threads_store_to_the_same_words_is_not_meant() -> None:
    # 16 by 4 threads fill 16 by 16 words; with 8 by 8 threads, two would store to each word.
    found = verdict(TILE.replace("BARRIER", "__syncthreads()"), None)
    assert found.verdict == "proven" and "16x4" in found.holds_for and "8x8" not in found.holds_for
    assert verdict(TILE.replace("BARRIER", ""), None).verdict == "race"


def test_a_loop_that_ends_at_an_address_is_left_by_all_threads_at_once() -> None:
    # Each thread counts from an address of its own, and all go equally far.
    assert verdict(TILE.replace("BARRIER", "__syncthreads()"), (16, 4, 1)).verdict == "proven"
    parting = TILE.replace("BARRIER", "__syncthreads()").replace("b + width", "b + width + 16 * x")
    assert verdict(parting, (16, 4, 1)).verdict == "race"


FLAT = """
__global__ void k(float *out, const float *in, int n) {
    __shared__ float s[512];
    int t = threadIdx.z * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
    s[t] = sum;
    __syncthreads();
    for (int k = 256; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        BARRIER;
    }
    if (t == 0) *out = s[0];
}
"""


@FULL
def test_a_block_is_flat_where_threads_are_counted_through() -> None:
    # Made for 512 threads, in whatever shape: nothing else depends on rows and layers.
    found = verdict(FLAT.replace("BARRIER", "__syncthreads()"), None)
    assert found.verdict == "proven" and "512" in found.holds_for
    assert verdict(FLAT.replace("BARRIER", ""), None).verdict == "race"


FIRST_OF_DOUBLED = """
__global__ void k(float *data, int n) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        if (WHEN) s[t] += s[t - offset];
    }
    data[t] = s[t];
}
"""


@pytest.mark.parametrize("when", ["t >= offset", "offset == 1 && t >= 1"])
def test_a_stride_that_is_doubled_has_a_first_iteration(when: str) -> None:
    """That the stride loses no bits is taken for granted of iterations that there are: the one before the first one,
    which the question about the back edge is about, would be shifted by -1."""
    found = verdict(FIRST_OF_DOUBLED.replace("WHEN", when), None)
    assert found.verdict == "race"


# ---- places that some threads draw from a counter, and that are used later

COMPACTED = """
__global__ void k(int *out, const int *in, int *total) {
    __shared__ int buffer[256], count;
    int t = threadIdx.x, value = in[t], place = -1;
    if (t == 0) count = 0;
    BARRIER
    if (value & 1) place = atomicAdd(&count, 1);
    value *= 3;
    if (place >= 0) buffer[place] = value;
    __syncthreads();
    if (t < count) out[t] = buffer[t];
}
"""
DRAWN_BEFORE = """
__global__ void k(int *out, const int *in, int n) {
    __shared__ int buffer[256], count;
    int t = threadIdx.x, place = -1;
    for (int i = 0; i < n; i++) {
        if (t == 0) count = 0;
        __syncthreads();
        if (in[i * 256 + t] & 1) place = atomicAdd(&count, 1);
        if (place >= 0) buffer[place] = i * 256 + t;
        __syncthreads();
        out[i * 256 + t] = buffer[t];
        __syncthreads();
    }
}
"""


def test_places_that_some_threads_have_drawn() -> None:
    assert verdict(COMPACTED.replace("BARRIER", "__syncthreads();")).verdict == "proven"
    assert verdict(COMPACTED.replace("BARRIER", "")).verdict != "proven"


@FULL
def test_a_place_drawn_in_an_earlier_round_may_be_another_threads_now() -> None:
    assert verdict(DRAWN_BEFORE).verdict != "proven"


# ---- places by ballot

BALLOT = """
__global__ void k(const float *in, float *out, int n) {
    __shared__ float s[8][33];
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5, i = blockIdx.x * 256 + threadIdx.x;
    float v = i < n ? in[i] : -1.f;
    bool keep = v > 0;
    unsigned kept = __ballot_sync(MASK, keep);
    if (USED) s[ROW][__popc(kept & ((1u << lane) - 1))] = v;
    BARRIER;
    out[i] = s[w][lane];
}
"""


@pytest.mark.parametrize(
    ("mask", "used", "row", "barrier", "expected"),
    [
        ("~0u", "keep", "w", "__syncthreads()", "proven"),
        ("~0u", "keep", "w", "", "race"),
        ("~0u", "keep", "0", "__syncthreads()", "undecided"),  # warps share a row, as far as data let them
        ("~0u", "v > -1", "w", "__syncthreads()", "undecided"),  # lanes that did not vote
        ("~0u", "!keep", "w", "__syncthreads()", "undecided"),
    ],
)
def test_places_by_ballot(mask: str, used: str, row: str, barrier: str, expected: str) -> None:
    text = BALLOT.replace("MASK", mask).replace("USED", used).replace("ROW", row).replace("BARRIER", barrier)
    found = verdict(text)
    if expected == "race":
        assert found.findings
    else:
        assert found.verdict == expected


@pytest.mark.parametrize(
    ("mask", "place", "expected"),
    [
        ("lt", "kept & {}", "proven"),
        ("gt", "kept & {}", "proven"),
        ("le", "(kept & {}) >> 2", "undecided"),
        ("ge", "kept | {}", "undecided"),
        ("eq", "kept & {}", "undecided"),
    ],
)
def test_places_by_ballot_and_a_mask_of_the_hardware(mask: str, place: str, expected: str) -> None:
    special = f'unsigned m; asm("mov.u32 %0, %%lanemask_{mask};" : "=r"(m));'
    text = BALLOT.replace("float v", f"{special} float v", 1).replace(
        "kept & ((1u << lane) - 1)", place.format("m")
    )
    for name, value in (("MASK", "~0u"), ("USED", "keep"), ("ROW", "w"), ("BARRIER", "__syncthreads()")):
        text = text.replace(name, value)
    assert verdict(text).verdict == expected


@pytest.mark.parametrize(
    ("mask", "of_the_last"),
    [("lt", "m >> 30"), ("le", "m >> 31"), ("gt", "m == 0"), ("ge", "m == 1u << 31"), ("eq", "m >> 31")],
)
def test_the_last_lane_has_a_mask_as_well(mask: str, of_the_last: str) -> None:
    """It takes the place of the sixth."""
    text = f"""
    __global__ void k(int *out) {{
        __shared__ int s[32];
        const int t = threadIdx.x;
        unsigned m; asm("mov.u32 %0, %%lanemask_{mask};" : "=r"(m));
        s[PLACE] = t;
        __syncthreads();
        out[t] = s[t];
    }}
    """
    assert verdict(text.replace("PLACE", f"{of_the_last} ? 5 : t"), 32).verdict == "race"
    assert verdict(text.replace("PLACE", f"{of_the_last} ? 31 : t"), 32).verdict == "proven"


def test_ballots_of_two_iterations_are_two() -> None:
    text = """
    __global__ void k(const float *in, float *out) {
        __shared__ float s[33];
        const int lane = threadIdx.x;
        for (int i = 0; i < 64; i += 32) {
            float v = in[i + lane];
            bool keep = v > 0;
            unsigned kept = __ballot_sync(~0u, keep);
            if (keep) s[__popc(kept & ((1u << lane) - 1))] = v;
            BARRIER;
        }
        out[lane] = s[lane];
    }
    """
    assert verdict(text.replace("BARRIER", "__syncthreads()"), 32).verdict == "proven"
    found = verdict(text.replace("BARRIER", ""), 32)
    assert found.verdict != "proven" or found.findings


# ---- both sides of a ballot

SPLIT = """
__global__ void k(unsigned *keys, unsigned limit) {
    __shared__ unsigned sorted[256];
    unsigned lane = threadIdx.x & 31, first = threadIdx.x & ~31;
    unsigned key = keys[threadIdx.x];
    unsigned low = __ballot_sync(0xffffffff, VOTE);
    unsigned before = BEFORE;
    unsigned place = key < limit ? __popc(low & before) : BASE + __popc(~low & before);
    sorted[first + place] = key;
    __syncthreads();
    keys[threadIdx.x] = sorted[threadIdx.x];
}
"""


def split(
    vote: str = "key < limit", before: str = "(1u << lane) - 1", base: str = "__popc(low)", runs: bool = True
) -> str:
    text = SPLIT.replace("VOTE", vote).replace("BEFORE", before).replace("BASE", base)
    return verdict_on(text, 256, runs=runs)


def test_lanes_on_both_sides_of_a_ballot_have_places_of_their_own() -> None:
    assert split(runs=False) == split() == "proven"


@pytest.mark.parametrize("runs", sweep([False, True], first=1))
@pytest.mark.parametrize(
    "wrong",
    sweep(
        [
            {"base": "__popc(~low)"},
            {"before": "(2u << lane) - 1"},
            {"vote": "key < limit && lane != 3"},
            {"base": "0"},
            {"before": "(1u << (lane / 2)) - 1"},
            {"vote": "key > limit"},
        ],
        first=3,
    ),
)
def test_places_that_lanes_share(wrong: dict[str, str], runs: bool) -> None:
    assert split(**wrong, runs=runs) != "proven"


# ---- arrays of pointers

TURNS = """
__global__ void k(float *data, int n) {
    __shared__ float a[256], b[256];
    float *buffer[2] = {FIRST, SECOND};
    int t = threadIdx.x;
    float x = 0;
    for (int i = 0; i < n; i++) {
        buffer[TURN][t] = data[i * 256 + t];
        BARRIER;
        x += buffer[TURN][255 - t];
    }
    data[t] = x;
}
"""


@pytest.mark.parametrize(
    ("first", "turn", "barrier", "expected"),
    sweep(
        [
            ("a", "i & 1", "__syncthreads()", "proven"),
            ("b", "i & 1", "__syncthreads()", "race"),  # both turns in one buffer
            ("a", "i & 1", "", "race"),
            ("a", "(i >> 1) & 1", "__syncthreads()", "race"),  # two iterations in one buffer
        ],
        first=2,
    ),
)
def test_buffers_that_an_array_holds(first: str, turn: str, barrier: str, expected: str) -> None:
    text = TURNS.replace("FIRST", first).replace("SECOND", "b").replace("TURN", turn)
    ptx = compile_cuda(Source("k.cu", text.replace("BARRIER", barrier)), Compilation(optimized=False)).ptx
    (found,) = check(ptx, block=256)
    assert found.verdict == expected


ROWS = """
__global__ void k(int *data) {
    __shared__ int s[16];
    volatile int *rows[4];
    for (int i = 0; i < 4; ++i) rows[i] = &s[i * STRIDE];
    int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane < 4) rows[w][lane] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = s[threadIdx.x & 15];
}
"""


def test_a_row_for_each_warp() -> None:
    assert verdict(ROWS.replace("STRIDE", "4"), 128).verdict == "proven"
    assert verdict(ROWS.replace("STRIDE", "2"), 128).verdict == "race"
