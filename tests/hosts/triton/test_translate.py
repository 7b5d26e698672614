"""What a function of a Triton module becomes: small modules, and the lines of the kernel beside them."""

from __future__ import annotations

import pytest

from fencepost.check import check
from fencepost.hosts.triton.write_back import removable
from fencepost.ir.source import FencepostError
from tests.hosts.triton.modules import BYTES, MMA, NVMMA, inserted, module, statements, translated

ALLOC = "%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>"
NUMBERS = """
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%two = arith.constant 2 : i32
%three = arith.constant 3 : i32
"""
IMMUTABLE = "!ttg.memdesc<64x64xf16, #s, #smem>"


def lines(body: str, **options: object) -> list[str]:
    """The kernel's lines for the body of a function."""
    return statements(translated(module(body, **options)))  # type: ignore[arg-type]


def races(body: str, **options: object) -> int:
    """How many pairs of accesses of a function can meet."""
    return len(check(translated(module(body, **options)).trace).races)  # type: ignore[arg-type]


# ---------------------------------------------------------------- allocations and plain accesses


def test_an_allocation_is_no_access() -> None:
    assert lines(f"{ALLOC}\ntt.return", shared=BYTES) == []


def test_an_allocation_that_is_given_a_tensor_is_a_write() -> None:
    body = f"""
%m = ttg.local_alloc %x {{allocation.offset = 0 : i32}} : (<TENSOR>) -> {IMMUTABLE}
%y = ttg.local_load %m : {IMMUTABLE} -> <TENSOR>
tt.return
"""
    assert lines(body, shared=BYTES) == ["write %m0", "read %m0"]
    assert races(body, shared=BYTES) == 1


def test_loads_and_stores_are_reads_and_writes() -> None:
    body = f"""
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
ttg.barrier local
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    assert lines(body, shared=BYTES) == ["write %m0", "barrier", "read %m0"]
    assert races(body, shared=BYTES) == 0


def test_the_kernel_has_the_waves_and_the_bytes_of_the_module() -> None:
    text = str(translated(module(f"{ALLOC}\ntt.return", warps=8, shared=BYTES)).trace)
    assert "kernel @kernel waves=8 {" in text
    assert "shared %m0 : 8192 at 0" in text


def test_before_memory_is_given_out_no_two_allocations_meet() -> None:
    body = """
%m = ttg.local_alloc : () -> <TILE>
%o = ttg.local_alloc : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%y = ttg.local_load %o : <TILE> -> <TENSOR>
tt.return
"""
    assert races(body) == 0


def test_allocations_at_one_offset_share_their_bytes() -> None:
    body = f"""
{ALLOC}
%y = ttg.local_load %m : <TILE> -> <TENSOR>
%o = ttg.local_alloc {{allocation.offset = 4096 : i32}} : () -> <TILE>
ttg.local_store %x, %o : <TENSOR> -> <TILE>
tt.return
"""
    assert races(body, shared=2 * BYTES) == 1
    apart = body.replace("4096", "8192")
    assert races(apart, shared=2 * BYTES) == 0


def test_a_single_wave_meets_nobody_if_its_threads_run_together() -> None:
    """On NVIDIA's GPUs they may run apart: there, a warp is as good as two."""
    body = f"""
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    assert races(body, shared=BYTES, warps=1, target="hip:gfx1201") == 0
    assert races(body, shared=BYTES, warps=2, target="hip:gfx1201") == 1
    assert races(body, shared=BYTES, warps=1, target="cuda:80") == 1


# ---------------------------------------------------------------- slots of rings


def test_a_slot_is_a_stretch_of_the_ring() -> None:
    body = f"""
{NUMBERS}
%m = ttg.local_alloc : () -> <RING>
%v = ttg.memdesc_index %m[%two] : <RING> -> <TILE>
ttg.local_store %x, %v : <TENSOR> -> <TILE>
tt.return
"""
    assert lines(body) == ["write %m4[16384..24576]"]


RING_WITH_SELECT = f"""
{NUMBERS}
%m = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> <RING>
cf.br ^head(%zero, %zero : i32, i32)
^head(%i: i32, %slot: i32):
%more = arith.cmpi slt, %i, %n : i32
cf.cond_br %more, ^body, ^end
^body:
%next = arith.addi %slot, %one : i32
%wraps = arith.cmpi sge, %next, %three : i32
%to = arith.select %wraps, %zero, %next : i32
%v = ttg.memdesc_index %m[%to] : <RING> -> <TILE>
ttg.local_store %x, %v : <TENSOR> -> <TILE>
%w = ttg.memdesc_index %m[%slot] : <RING> -> <TILE>
%y = ttg.local_load %w : <TILE> -> <TENSOR>
%i2 = arith.addi %i, %one : i32
cf.br ^head(%i2, %to : i32, i32)
^end:
tt.return
"""


def test_a_slot_that_blocks_hand_on_is_followed() -> None:
    translation = translated(module(RING_WITH_SELECT, shared=3 * BYTES))
    slot = "select(%b1.1 + 1 >= 3, 0, %b1.1 + 1)"
    assert statements(translation) == [
        f"write %m4[{slot} * 8192..{slot} * 8192 + 8192]",
        "read %m4[%b1.1 * 8192..%b1.1 * 8192 + 8192]",
    ]
    # The number of iterations decides about no byte, and is left out.
    assert "^b1(%b1.1):" in str(translation.trace)
    assert f"br ^b1({slot})" in str(translation.trace)


def test_a_ring_of_three_needs_one_barrier_per_iteration() -> None:
    text, executed = inserted(module(RING_WITH_SELECT, shared=3 * BYTES))
    assert text.count("ttg.barrier local") == 1
    assert executed == pytest.approx(100, rel=0.05)


RING_WITH_REMAINDER = f"""
{NUMBERS}
%m = ttg.local_alloc : () -> <RING>
scf.for %i = %zero to %n step %one : i32 {{
  %next = arith.addi %i, %one : i32
  %to = arith.remui %next, %three : i32
  %v = ttg.memdesc_index %m[%to] : <RING> -> <TILE>
  ttg.local_store %x, %v : <TENSOR> -> <TILE>
  %from = arith.remui %i, %three : i32
  %w = ttg.memdesc_index %m[%from] : <RING> -> <TILE>
  %y = ttg.local_load %w : <TILE> -> <TENSOR>
}}
tt.return
"""


def test_slots_by_remainder_of_a_structured_loop() -> None:
    text, _ = inserted(module(RING_WITH_REMAINDER))
    assert text.count("ttg.barrier local") == 1
    assert check(translated(text).trace).ok


def test_a_counter_that_begins_at_zero_has_the_remainder_that_it_seems_to_have() -> None:
    translation = translated(module(RING_WITH_REMAINDER))
    assert statements(translation)[1] == "read %m4[%body1.0 % 3 * 8192..%body1.0 % 3 * 8192 + 8192]"


def test_a_remainder_that_is_worked_out_from_the_quotient_is_one() -> None:
    """Passes write i - i // 3 * 3 where they have the quotient already, as for the phase of an mbarrier."""
    spelled = "%q = arith.divui %i, %three : i32\n  %t = arith.muli %q, %three : i32\n  "
    body = RING_WITH_REMAINDER.replace(
        "%from = arith.remui %i, %three", f"{spelled}%from = arith.subi %i, %t"
    )
    translation = translated(module(body))
    assert statements(translation)[1] == "read %m4[%body1.0 % 3 * 8192..%body1.0 % 3 * 8192 + 8192]"
    other = translated(module(body.replace("%t = arith.muli %q, %three", "%t = arith.muli %q, %one")))
    assert "%body1.0 - %body1.0 // 3 * 1" in statements(other)[1]


def test_a_remainder_of_what_may_be_below_zero_is_not_known() -> None:
    """Machines round towards zero: the remainder of minus one by three is minus one."""
    body = RING_WITH_REMAINDER.replace("%i = %zero", "%i = %minus").replace(
        "%m =", "%minus = arith.constant -4 : i32\n%m ="
    )
    assert "select(%body1.0 >= 0, %body1.0 % 3, ?)" in str(translated(module(body)).trace)


PERSISTENT = """
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%three = arith.constant 3 : i32
%pid = tt.get_program_id x : i32
%other = tt.get_program_id y : i32
%m = ttg.local_alloc : () -> <RING>
scf.for %i = %zero to %n step %one : i32 {
  %at = arith.addi <START>, %i : i32
  %next = arith.addi %at, %one : i32
  %to = arith.remsi %next, %three : i32
  %v = ttg.memdesc_index %m[%to] : <RING> -> <TILE>
  ttg.local_store %x, %v : <TENSOR> -> <TILE>
  ttg.barrier local
  %from = arith.remsi <READ>, %three : i32
  %w = ttg.memdesc_index %m[%from] : <RING> -> <TILE>
  %y = ttg.local_load %w : <TILE> -> <TENSOR>
}
tt.return
"""
COUNTED = """
%one = arith.constant 1 : i32
%three = arith.constant 3 : i32
%pid = tt.get_program_id x : i32
%step = tt.get_num_programs x : i32
%m = ttg.local_alloc : () -> <RING>
%end = scf.for %i = %pid to %n step %step iter_args(%at = <START>) -> (i32) : i32 {
  %next = arith.addi %at, <STEP> : i32
  %to = arith.remsi %next, %three : i32
  %v = ttg.memdesc_index %m[%to] : <RING> -> <TILE>
  ttg.local_store %x, %v : <TENSOR> -> <TILE>
  ttg.barrier local
  %from = arith.remsi %at, %three : i32
  %w = ttg.memdesc_index %m[%from] : <RING> -> <TILE>
  %y = ttg.local_load %w : <TILE> -> <TENSOR>
  scf.yield %next : i32
}
tt.return
"""


def slots(body: str, **places: str) -> str:
    for place, value in places.items():
        body = body.replace(f"<{place}>", value)
    return body


def test_a_counter_that_begins_at_a_program_id_picks_slots() -> None:
    """Whatever it is, it is one number: two slots that are one step apart are two, and three steps on is the same."""
    for right in (
        slots(PERSISTENT, START="%pid", READ="%at"),
        slots(COUNTED, START="%pid", STEP="%one"),
        slots(COUNTED, START="%step", STEP="%one"),
    ):
        report = check(translated(module(right)).trace)
        assert report.ok and report.explored.complete
        text, _ = inserted(module(right.replace("  ttg.barrier local\n", "")))
        assert text.count("ttg.barrier local") == 1
        assert check(translated(text).trace).ok


@pytest.mark.parametrize(
    "body",
    [
        # Two slots only: the next but one is the one that others may still read.
        slots(PERSISTENT, START="%pid", READ="%at").replace(
            "%three = arith.constant 3", "%three = arith.constant 2"
        ),
        slots(COUNTED, START="%pid", STEP="%one").replace(
            "%three = arith.constant 3", "%three = arith.constant 2"
        ),
        # Three steps on, the slot is the same.
        slots(COUNTED, START="%pid", STEP="%three"),
        # Another number, or one that may be below zero.
        slots(PERSISTENT, START="%pid", READ="%other"),
        slots(PERSISTENT, START="%n", READ="%at"),
        # A step that is not known.
        slots(COUNTED, START="%pid", STEP="%step"),
    ],
)
def test_slots_that_may_be_the_same(body: str) -> None:
    assert not check(translated(module(body)).trace).ok


VIEWS_THAT_ARE_HANDED_ON = f"""
{NUMBERS}
%m = ttg.local_alloc : () -> <RING>
%first = ttg.memdesc_index %m[%zero] : <RING> -> <TILE>
%last = scf.for %i = %zero to %n step %one iter_args(%v = %first) -> (<TILE>) : i32 {{
  ttg.local_store %x, %v : <TENSOR> -> <TILE>
  %to = arith.remui %i, %three : i32
  %w = ttg.memdesc_index %m[%to] : <RING> -> <TILE>
  scf.yield %w : <TILE>
}}
%y = ttg.local_load %last : <TILE> -> <TENSOR>
tt.return
"""


def test_a_view_that_a_loop_hands_on_is_the_byte_that_it_begins_at() -> None:
    translation = translated(module(VIEWS_THAT_ARE_HANDED_ON))
    assert statements(translation) == [
        "write %m4[%body1.1..%body1.1 + 8192]",
        "read %m4[%after2.0..%after2.0 + 8192]",
    ]
    text = str(translation.trace)
    assert "br ^body1(%body1.0 + 1, %body1.0 % 3 * 8192)" in text
    assert "br ^after2(0)" in text


HALF = "!ttg.memdesc<64x32xf16, #s, #smem, mutable, 64x64>"


def test_a_part_of_a_tile_that_a_loop_hands_on_is_the_whole_allocation() -> None:
    """Rows of a tile that is cut across are no stretch of bytes, whatever the type of the view says."""
    body = f"""
{NUMBERS}
{ALLOC}
%l = ttg.memdesc_subslice %m[0, 0] : <TILE> -> {HALF}
%r = ttg.memdesc_subslice %m[0, 32] : <TILE> -> {HALF}
%a, %b = scf.for %i = %zero to %n step %one iter_args(%v = %l, %u = %r) -> ({HALF}, {HALF}) : i32 {{
  %y = ttg.local_load %v : {HALF} -> tensor<64x32xf16, #b>
  ttg.local_store %y, %u : tensor<64x32xf16, #b> -> {HALF}
  scf.yield %u, %v : {HALF}, {HALF}
}}
tt.return
"""
    assert lines(body, shared=BYTES) == ["read %m4", "write %m4"]


def test_views_of_several_allocations_may_be_any_of_them() -> None:
    body = """
%m = ttg.local_alloc : () -> <TILE>
%o = ttg.local_alloc : () -> <TILE>
%v = scf.if %c -> (<TILE>) {
  scf.yield %m : <TILE>
} else {
  scf.yield %o : <TILE>
}
ttg.local_store %x, %v : <TENSOR> -> <TILE>
%y = ttg.local_load %o : <TILE> -> <TENSOR>
tt.return
"""
    assert lines(body) == ["write %m0, %m1", "read %m1"]
    assert races(body) == 1


SELECTED = """
%m = ttg.local_alloc : () -> <TILE>
%o = ttg.local_alloc : () -> <TILE>
%q = ttg.local_alloc : () -> <TILE>
%v = arith.select %c, %m, %o : <TILE>
ttg.local_store %x, %v : <TENSOR> -> <TILE>
%y = ttg.local_load <READ> : <TILE> -> <TENSOR>
tt.return
"""


@pytest.mark.parametrize(("read", "found"), [("%o", 1), ("%v", 1), ("%q", 0)])
def test_one_of_two_views_is_either_of_them_and_no_other(read: str, found: int) -> None:
    body = SELECTED.replace("<READ>", read)
    assert lines(body)[0] == "write %m0, %m1"
    assert races(body) == found
    assert inserted(module(body, shared=3 * BYTES))[0].count("ttg.barrier local") == found


def test_a_slot_of_one_of_two_rings_is_either_ring() -> None:
    body = """
%one = arith.constant 1 : i32
%m = ttg.local_alloc : () -> <RING>
%o = ttg.local_alloc : () -> <RING>
%q = ttg.local_alloc : () -> <TILE>
%r = arith.select %c, %m, %o : <RING>
%v = ttg.memdesc_index %r[%one] : <RING> -> <TILE>
ttg.local_store %x, %v : <TENSOR> -> <TILE>
tt.return
"""
    assert lines(body) == ["write %m1, %m2"]


def test_a_view_that_one_of_two_loops_hands_on_is_of_theirs() -> None:
    """Not of any that the function has: mbarriers, for instance."""
    body = """
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%m = ttg.local_alloc : () -> <TILE>
%o = ttg.local_alloc : () -> <TILE>
%q = ttg.local_alloc : () -> <TILE>
%last:2 = scf.for %i = %zero to %n step %one iter_args(%v = %m, %w = %o) -> (<TILE>, <TILE>) : i32 {
  ttg.local_store %x, %v : <TENSOR> -> <TILE>
  scf.yield %w, %v : <TILE>, <TILE>
}
ttg.local_store %x, %q : <TENSOR> -> <TILE>
tt.return
"""
    assert lines(body) == ["write %m2, %m3", "write %m4"]


ANY_SLOT = f"""
{NUMBERS}
<INDEX>
%m = ttg.local_alloc : () -> <RING>
%v = ttg.memdesc_index %m[%k] : <RING> -> <TILE>
ttg.local_store %x, %v : <TENSOR> -> <TILE>
%w = ttg.memdesc_index %m[<READ>] : <RING> -> <TILE>
%y = ttg.local_load %w : <TILE> -> <TENSOR>
tt.return
"""
ASSEMBLY = """%a = tt.elementwise_inline_asm "mov.u32 $0, %warpid;"
  {constraints = "=r,r", packed_element = 1 : i32, pure = true} %n : i32 -> i32"""


@pytest.mark.parametrize(
    ("index", "read"),
    [
        ("%k = arith.addi %n, %zero : i32", "%one"),
        ("%k = tt.load %q : !tt.ptr<i32>", "%one"),
        ("%k = tt.load %q : !tt.ptr<i32>", "%n"),
        # Threads that each read a number of their own write slots of their own.
        ("%k = ttg.warp_id", "%one"),
        (f"{ASSEMBLY}\n%k = arith.remui %a, %three : i32\n%l = arith.subi %two, %k : i32", "%l"),
        (
            "%id = ttg.warp_id\n%at = tt.addptr %q, %id : !tt.ptr<i32>, i32\n%k = tt.load %at : !tt.ptr<i32>",
            "%one",
        ),
    ],
)
def test_an_index_that_is_not_known_may_be_any_slot(index: str, read: str) -> None:
    text = module(slots(ANY_SLOT, INDEX=index, READ=read), arguments="%q: !tt.ptr<i32>")
    assert len(check(translated(text).trace).races) == 1


def test_a_slot_that_threads_see_as_others_is_not_the_next_one() -> None:
    """One number for all would be a slot, and the next one another."""
    index = "%k = arith.remui {0}, %three : i32\n%o = arith.addi {0}, %one : i32\n%l = arith.remui %o, %three : i32"
    pid = "%a = tt.get_program_id x : i32\n" + index.format("%a")
    for number, races in ((pid, 0), (f"{ASSEMBLY}\n{index.format('%a')}", 1)):
        text = module(slots(ANY_SLOT, INDEX=number, READ="%l"))
        assert len(check(translated(text).trace).races) == races


def test_a_branch_on_what_assembly_computes_is_not_judged() -> None:
    body = f"""
{NUMBERS}
{ASSEMBLY}
%low = arith.cmpi slt, %a, %two : i32
scf.if %low {{
  ttg.barrier local
}}
tt.return
"""
    assert translated(module(body)).not_judged == ["scf.if under a condition that depends on the thread"]


def slot_of(*steps: str) -> str:
    """What is written to in a loop over %i: the slot %s, after some steps."""
    body = f"""
{NUMBERS}
%true = arith.constant true
%m = ttg.local_alloc : () -> <RING>
scf.for %i = %zero to %n step %one : i32 {{
  {chr(10).join(steps)}
  %v = ttg.memdesc_index %m[%s] : <RING> -> <TILE>
  ttg.local_store %x, %v : <TENSOR> -> <TILE>
}}
tt.return
"""
    (line,) = lines(body)
    return line


BIT = "%bit = arith.trunci %i : i32 to i1"
UNSIGNED = "%s = arith.extui %bit : i1 to i32"


def test_a_number_that_is_cut_down_to_a_bit_is_odd_or_even() -> None:
    assert slot_of(BIT, UNSIGNED) == "write %m5[%body1.0 % 2 * 8192..%body1.0 % 2 * 8192 + 8192]"
    turned = "%bit = arith.xori %odd, %true : i1"
    assert "(%body1.0 % 2 ^ 1) * 8192.." in slot_of(BIT.replace("%bit", "%odd"), turned, UNSIGNED)


def test_a_bit_that_is_widened_with_its_sign_is_none_or_minus_one() -> None:
    assert "(0 - %body1.0 % 2) * 8192.." in slot_of(BIT, UNSIGNED.replace("extui", "extsi"))


@pytest.mark.parametrize(
    "made",
    [
        "arith.addi %one_bit, %true : i1",
        "arith.subi %one_bit, %true : i1",
        "arith.cmpi slt, %one_bit, %true : i1",
    ],
)
def test_sums_and_comparisons_of_bits_are_not_known(made: str) -> None:
    assert slot_of(BIT.replace("%bit", "%one_bit"), f"%bit = {made}", UNSIGNED) == "write %m5"


def test_a_number_below_zero_does_not_stay_what_it_is_without_its_sign() -> None:
    wide = ("%w = arith.extui %n2 : i32 to i64", "%s = arith.trunci %w : i64 to i32")
    assert slot_of("%n2 = arith.addi %i, %one : i32", *wide).startswith(
        "write %m5[(%body1.0 + 1) % 3 * 8192.."
    )
    less = slot_of("%n2 = arith.subi %i, %two : i32", *wide)
    assert less.startswith("write %m5[select(%body1.0 - 2 >= 0, %body1.0 - 2, ?) % 3 * 8192..")


def test_a_number_of_few_bits_is_not_known() -> None:
    assert slot_of("%low = arith.trunci %i : i32 to i8", "%s = arith.extui %low : i8 to i32") == "write %m5"


# ---------------------------------------------------------------- other views


def test_slots_of_a_part_of_a_ring() -> None:
    part = "!ttg.memdesc<2x64x64xf16, #s, #smem, mutable, 3x64x64>"
    body = f"""
{NUMBERS}
%m = ttg.local_alloc : () -> <RING>
%v = ttg.memdesc_subslice %m[1, 0, 0] : <RING> -> {part}
%w = ttg.memdesc_index %v[%one] : {part} -> <TILE>
ttg.local_store %x, %w : <TENSOR> -> <TILE>
tt.return
"""
    assert lines(body) == ["write %m4[16384..24576]"]


def test_a_part_of_a_tile_stands_for_the_tile() -> None:
    body = f"""
{NUMBERS}
%m = ttg.local_alloc : () -> <RING>
%v = ttg.memdesc_index %m[%one] : <RING> -> <TILE>
%h = ttg.memdesc_subslice %v[0, 32] : <TILE> -> {HALF}
%y = ttg.local_load %h : {HALF} -> tensor<64x32xf16, #b>
tt.return
"""
    assert lines(body) == ["read %m4[8192..16384]"]


def test_a_tile_turned_round_is_the_same_bytes() -> None:
    turned = "!ttg.memdesc<64x64xf16, #o, #smem, mutable>"
    body = f"""
{NUMBERS}
%m = ttg.local_alloc : () -> <RING>
%v = ttg.memdesc_index %m[%one] : <RING> -> <TILE>
%h = ttg.memdesc_trans %v {{order = array<i32: 1, 0>}} : <TILE> -> {turned}
%y = ttg.local_load %h : {turned} -> <TENSOR>
tt.return
"""
    assert lines(body) == ["read %m4[8192..16384]"]


def test_slots_are_compared_by_bytes_not_by_numbers() -> None:
    halves = "!ttg.memdesc<6x32x64xf16, #s, #smem, mutable>"
    half = "!ttg.memdesc<32x64xf16, #s, #smem, mutable>"
    body = f"""
{NUMBERS}
%m = ttg.local_alloc : () -> <RING>
%v = ttg.memdesc_index %m[%one] : <RING> -> <TILE>
ttg.local_store %x, %v : <TENSOR> -> <TILE>
%o = ttg.memdesc_reinterpret %m : <RING> -> {halves}
%w = ttg.memdesc_index %o[%two] : {halves} -> {half}
%y = ttg.local_load %w : {half} -> tensor<32x64xf16, #b>
tt.return
"""
    assert lines(body) == ["write %m4[8192..16384]", "read %m4[8192..12288]"]
    assert races(body) == 1


def test_slots_of_several_workgroups_are_not_told_apart() -> None:
    """A cluster shares tiles out among its workgroups: a slot is smaller than its type says."""
    body = RING_WITH_SELECT
    text = module(body, shared=3 * BYTES).replace('"ttg.num-ctas" = 1', '"ttg.num-ctas" = 2')
    for layout in ("warpsPerCTA = [4, 1], order = [1, 0]", "maxPhase = 1, order = [1, 0]"):
        text = text.replace(layout, f"{layout}, CGALayout = [[1, 0]]")
    text = text.replace("tensor<64x64xf16", "tensor<128x64xf16").replace("x64x64xf16, #s", "x128x64xf16, #s")
    text = text.replace("memdesc<64x64xf16, #s", "memdesc<128x64xf16, #s")
    assert "write %m4\n" in str(translated(text).trace)


# ---------------------------------------------------------------- copies


COPY = """
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
%g = ttg.async_commit_group tokens %a
"""


def test_copies_in_groups_and_a_counted_wait() -> None:
    body = f"""
{ALLOC}
{COPY}
%t = ttg.async_commit_group
%w = ttg.async_wait %g {{num = 1 : i32}}
ttg.barrier local
%y = ttg.local_load %m token %w : <TILE> -> <TENSOR>
tt.return
"""
    assert lines(body, shared=BYTES) == [
        "gather_to_lds %m0 counter=copy",
        "commit copy",
        "commit copy",
        "wait_count copy=1",
        "barrier",
        "read %m0",
    ]
    assert races(body, shared=BYTES) == 0
    assert races(body.replace("num = 1", "num = 2"), shared=BYTES) == 1
    assert races(body.replace("ttg.barrier local\n", ""), shared=BYTES) == 1


def test_a_wait_that_counts_instructions() -> None:
    """8 KiB by 128 lanes, 16 bytes each at most: a copy is four instructions or more, and the last one counts."""
    body = f"""
{ALLOC}
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
%g = ttg.async_commit_group tokens %a
%w = amdg.async_wait {{num_inst = 3 : i32}}
tt.return
"""
    assert lines(body, target="hip:gfx1250", shared=BYTES) == [
        *(["global_read counter=copy"] * 3),
        "gather_to_lds %m0 counter=copy",
        "wait_count copy=3",
    ]


def test_groups_do_not_count_where_instructions_do() -> None:
    """A wait for groups among waits for instructions is taken to wait for nothing, unless it waits for everything."""
    body = f"""
{ALLOC}
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
%w = amdg.async_wait {{num_inst = 0 : i32}}
%v = ttg.async_wait {{num = 1 : i32}}
%u = ttg.async_wait {{num = 0 : i32}}
tt.return
"""
    assert lines(body, target="hip:gfx1250", shared=BYTES)[-2:] == ["wait_count copy=0", "wait_count copy=0"]
    assert "wait_count copy=1" not in lines(body, target="hip:gfx1250", shared=BYTES)


def test_a_copy_into_nobody_knows_which_memory_is_one_copy() -> None:
    body = """
%m = ttg.local_alloc : () -> <TILE>
%o = ttg.local_alloc : () -> <TILE>
%v = scf.if %c -> (<TILE>) {
  scf.yield %m : <TILE>
} else {
  scf.yield %o : <TILE>
}
%a = ttg.async_copy_global_to_local %p, %v : <POINTERS> -> <TILE>
%g = ttg.async_commit_group tokens %a
%w = ttg.async_wait %g {num = 0 : i32}
tt.return
"""
    assert lines(body) == [
        "tensor_load_to_lds %m0, %m1 counter=copy",
        "commit copy",
        "wait_count copy=0",
    ]


DESCRIPTOR = "%d: !tt.tensordesc<64x64xf16, #s>"


def test_the_tensor_engine_of_amd() -> None:
    body = f"""
{NUMBERS}
{ALLOC}
%a = amdg.async_tdm_copy_global_to_local %d into %m : !tt.tensordesc<64x64xf16, #s> -> <TILE>
%w = amdg.async_tdm_wait {{num = 0 : i32}}
ttg.barrier local
amdg.async_tdm_copy_local_to_global %d from %m : <TILE> -> !tt.tensordesc<64x64xf16, #s>
%v = amdg.async_tdm_intrinsic_wait {{count = 1 : i32}}
tt.return
"""
    assert lines(body, target="hip:gfx1250", shared=BYTES, arguments=DESCRIPTOR) == [
        "gather_to_lds %m4 counter=tensor",
        "wait_count tensor=0",
        "barrier",
        "tensor_store_from_lds %m4",
        "wait_count tensor=1",
    ]


# ---------------------------------------------------------------- the matrix unit of Hopper


TOTAL = f"tensor<64x64xf32, {MMA % 4}>"


def hopper(wait: str, asynchronous: str = ", isAsync = true") -> str:
    return f"""
%a = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> {NVMMA}
%b = ttg.local_alloc {{allocation.offset = 8192 : i32}} : () -> {NVMMA}
%z = arith.constant dense<0.0> : {TOTAL}
%d = ttng.warp_group_dot %a, %b, %z {{inputPrecision = 0 : i32{asynchronous}}} : {NVMMA} * {NVMMA} -> {TOTAL}
%w = ttng.warp_group_dot_wait %d {{{wait}}} : {TOTAL}
ttg.local_store %x, %a : <TENSOR> -> {NVMMA}
tt.return
"""


def test_an_async_multiplication_reads_until_it_has_been_waited_for() -> None:
    body = hopper("pendings = 0 : i32")
    assert lines(body, target="cuda:90", shared=2 * BYTES) == [
        "async_mma %m0, %m1",
        "wait_count mma=0",
        "write %m0",
    ]


def test_a_multiplication_that_is_not_async_reads_at_once() -> None:
    body = hopper("pendings = 0 : i32", asynchronous="")
    assert lines(body, target="cuda:90", shared=2 * BYTES)[0] == "read %m0, %m1"


@pytest.mark.parametrize(
    ("warps", "wait", "barrier"),
    [
        (4, "pendings = 0 : i32", False),
        (8, "pendings = 0 : i32", True),
        (8, "pendings = 0 : i32, warpGroupLocal", False),
    ],
)
def test_a_wait_of_several_warp_groups_ends_in_a_barrier_unless_it_says_otherwise(
    warps: int, wait: str, barrier: bool
) -> None:
    body = hopper(wait).replace("warpsPerCTA = [4, 1]", f"warpsPerCTA = [{warps}, 1]")
    assert ("barrier" in lines(body, target="cuda:90", shared=2 * BYTES, warps=warps)) == barrier


def test_a_wait_that_leaves_one_pending_leaves_the_slot_in_use() -> None:
    body = hopper("pendings = 1 : i32").replace("ttg.local_store", "ttg.barrier local\nttg.local_store")
    assert races(body, target="cuda:90", shared=2 * BYTES) == 1
    assert races(body.replace("pendings = 1", "pendings = 0"), target="cuda:90", shared=2 * BYTES) == 0


def test_a_wait_hands_views_on() -> None:
    """Results of a wait are what it was given: a tile that is used behind it is no unknown one."""
    body = hopper("pendings = 0 : i32").replace(
        "%w = ttng.warp_group_dot_wait %d {", "%w:2 = ttng.warp_group_dot_wait %d, %a {"
    )
    body = body.replace(f"}} : {TOTAL}\nttg", f"}} : {TOTAL}, {NVMMA}\nttg")
    body = body.replace("ttg.local_store %x, %a", "ttg.local_store %x, %w#1")
    assert lines(body, target="cuda:90", shared=2 * BYTES)[-1] == "write %m0"


# ---------------------------------------------------------------- scratch memory


def scratch(to: str, attributes: str = "allocation.offset = 0 : i32, allocation.size = 8192 : i32") -> str:
    return f"%y = ttg.convert_layout %x {{{attributes}}} : <TENSOR> -> tensor<64x64xf16, {to}>\ntt.return"


def test_a_change_of_layout_writes_meets_and_reads() -> None:
    assert lines(scratch("#t"), shared=BYTES) == ["exchange %convert_layout"]


def test_a_change_of_layout_within_waves_meets_nobody() -> None:
    """It becomes `bar.warp.sync`: no other access may rely on a barrier in it."""
    assert lines(scratch("#w"), shared=BYTES) == [
        "write %convert_layout group=g1",
        "read %convert_layout group=g1",
    ]


def test_the_threads_of_a_single_wave_meet_in_a_change_of_layout() -> None:
    assert lines(scratch("#t"), shared=BYTES, warps=1) == ["exchange %convert_layout"]


def test_nobody_says_how_much_scratch_memory_there_is() -> None:
    translation = translated(module(scratch("#t", "allocation.offset = 64 : i32"), shared=BYTES))
    assert "shared %convert_layout : 8128 at 64" in str(translation.trace)


def test_without_its_size_and_that_of_all_memory_scratch_reaches_everything_behind_it() -> None:
    body = f"""
{ALLOC.replace("= 0", "= 8192")}
%r = ttg.local_load %m : <TILE> -> <TENSOR>
{scratch("#t", "allocation.offset = 64 : i32")}
"""
    assert races(body) == 1


def test_scratch_that_is_not_there_is_no_barrier() -> None:
    """Before memory is given out nobody knows whether waves meet in a change of layout."""
    body = """
%m = ttg.local_alloc : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%y = ttg.convert_layout %x : <TENSOR> -> tensor<64x64xf16, #t>
%v = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    assert races(body) == 1


REDUCE = """
%r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
^bb0(%u: f16, %v: f16):
  %s = arith.addf %u, %v : f16
  tt.reduce.return %s : f16
}) {allocation.offset = 0 : i32, allocation.size = 512 : i32} : (<TENSOR>) -> tensor<64xf16, #r>
tt.return
"""


def test_a_reduction_across_waves_is_an_exchange() -> None:
    assert lines(REDUCE, shared=512) == ["exchange %reduce"]


def test_scratch_memory_is_used_again_in_the_next_iteration() -> None:
    body = f"""
{NUMBERS}
scf.for %i = %zero to %n step %one : i32 {{
  {scratch("#t").removesuffix("tt.return")}
}}
tt.return
"""
    text, executed = inserted(module(body, shared=BYTES))
    assert text.count("ttg.barrier local") == 1
    assert executed > 10


def atomic(order: str, attributes: str = "") -> str:
    return f"""
{ALLOC}
%q = tt.splat %gp : !tt.ptr<i32> -> tensor<64x64x!tt.ptr<i32>, #b>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%o = arith.constant 1 : i32
%t = arith.constant true
%old = tt.atomic_rmw add, {order}, gpu, %gp, %o, %t {attributes}: (!tt.ptr<i32>, i32, i1) -> i32
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""


@pytest.mark.parametrize(
    ("order", "barriers"), [("relaxed", 0), ("acquire", 1), ("release", 1), ("acq_rel", 2)]
)
def test_an_atomic_that_releases_begins_with_a_barrier_and_one_that_acquires_ends_in_one(
    order: str, barriers: int
) -> None:
    body = atomic(order)
    assert races(body, shared=BYTES, arguments="%gp: !tt.ptr<i32>") == (not barriers)
    assert lines(body, shared=BYTES, arguments="%gp: !tt.ptr<i32>").count("barrier") == barriers


def test_an_atomic_hands_its_result_round_through_scratch_memory() -> None:
    body = atomic("relaxed", "{allocation.offset = 8192 : i32, allocation.size = 4 : i32} ")
    found = lines(body, shared=BYTES + 4, arguments="%gp: !tt.ptr<i32>")
    assert found == ["write %m0", "exchange %atomic_rmw", "read %m0"]


def test_the_barrier_of_an_atomic_that_acquires_is_the_one_of_its_scratch_memory() -> None:
    body = atomic("acq_rel", "{allocation.offset = 8192 : i32, allocation.size = 4 : i32} ")
    found = lines(body, shared=BYTES + 4, arguments="%gp: !tt.ptr<i32>")
    assert found == ["write %m0", "barrier", "exchange %atomic_rmw", "read %m0"]


UPDATE = "(!ttg.memdesc<256xi32, #s1, #smem, mutable>, tensor<64xi32, #r>, tensor<64xi32, #r>) -> tensor<64xi32, #r>"


def updates(first: str, second: str, last: str = "") -> str:
    """Two atomics on one table of bins."""
    head = "#s1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
    body = f"""
%bins = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> !ttg.memdesc<256xi32, #s1, #smem, mutable>
%where = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32, #r>
%one = ttg.local_atomic_scatter_rmw {first}, %bins[%where], %where {{axis = 0 : i32}} : {UPDATE}
%two = ttg.local_atomic_scatter_rmw {second}, %bins[%where], %where {{axis = 0 : i32}} : {UPDATE}
{last}
tt.return
"""
    return head + module(body, shared=1024)


@pytest.mark.parametrize("update", ["and", "or", "xor", "add", "max", "min", "umax", "umin"])
def test_the_same_update_twice_needs_no_order(update: str) -> None:
    translation = translated(updates(update, update))
    assert statements(translation) == [f"atomic %m0 update={update}"] * 2
    assert check(translation.trace).ok
    assert inserted(updates(update, update))[1] == 0


@pytest.mark.parametrize(
    ("first", "second", "last"),
    [
        ("exch", "exch", ""),
        ("add", "max", ""),
        ("min", "umin", ""),
        ("add", "add", "%sum = arith.addi %one, %where : tensor<64xi32, #r>"),
        ("add", "add", "%sum = arith.addi %two, %where : tensor<64xi32, #r>"),
    ],
)
def test_updates_that_do_not_commute_or_whose_result_is_used_keep_their_order(
    first: str, second: str, last: str
) -> None:
    text = updates(first, second, last)
    assert [race.hazard for race in check(translated(text).trace).races] == ["RAW"]
    fixed, executed = inserted(text)
    assert executed == 1
    assert check(translated(fixed).trace).ok


@pytest.mark.parametrize("order", ["relaxed", "acquire"])
def test_a_poll_ends_in_a_barrier(order: str) -> None:
    body = f"""
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%o = arith.constant 1 : i32
%done = tt.atomic_poll {order}, gpu, %gp, %o : !tt.ptr<i32>, i32 -> i1
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    assert lines(body, shared=BYTES, arguments="%gp: !tt.ptr<i32>") == ["write %m0", "barrier", "read %m0"]


# ---------------------------------------------------------------- control flow and functions


CALLED = """
tt.func private @called(%x: <TENSOR>) attributes {noinline = true} {
  %y = ttg.convert_layout %x {allocation.offset = 0 : i32, allocation.size = 8192 : i32}
       : <TENSOR> -> tensor<64x64xf16, #t>
  tt.return
}
"""
CALL = "tt.call @called(%x) {allocation.offset = 8192 : i32, allocation.size = 8192 : i32} : (<TENSOR>) -> ()"


def test_a_call_writes_the_frame_of_the_function() -> None:
    body = f"{ALLOC}\nttg.local_store %x, %m : <TENSOR> -> <TILE>\n{CALL}\ntt.return"
    assert lines(body, shared=2 * BYTES, more=CALLED) == [
        "write %m1",
        "write %call",
        "barrier",
        "write %call",
    ]
    assert races(body, shared=2 * BYTES, more=CALLED) == 0


AROUND = f"""
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
tt.call @called(%c) : (i1) -> ()
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""


@pytest.mark.parametrize(
    ("called", "found"),
    [
        ("ttg.barrier local", 0),
        ("scf.if %c {\n  ttg.barrier local\n}", 1),
        ("scf.if %c {\n  ttg.barrier local\n} else {\n  ttg.barrier local\n}", 0),
        ("ttg.barrier global_read", 1),
        ("tt.call @inner() : () -> ()", 0),
        ("tt.call @called(%c) : (i1) -> ()\nttg.barrier local", 0),
        ("tt.call @called(%c) : (i1) -> ()", 1),
        ("", 1),
    ],
)
def test_barriers_in_a_function_count_for_its_caller(called: str, found: int) -> None:
    more = f"""
tt.func private @called(%c: i1) attributes {{noinline = true}} {{
  {called}
  tt.return
}}
tt.func private @inner() attributes {{noinline = true}} {{
  ttg.barrier local
  tt.return
}}
"""
    assert races(AROUND, shared=BYTES, more=more) == found
    text, executed = inserted(module(AROUND, shared=BYTES, more=more))
    assert executed == found
    assert check(translated(text).trace).ok


def test_a_barrier_that_callers_rely_on_is_kept() -> None:
    more = (
        "tt.func private @called(%c: i1) attributes {noinline = true} {\n  ttg.barrier local\n  tt.return\n}"
    )
    text = module(AROUND, shared=BYTES, more=more)
    (barrier,) = [op for op in translated(text).module.walk() if op.name == "ttg.barrier"]
    assert not removable(barrier)
    assert removable(
        next(
            op
            for op in translated(module("ttg.barrier local\ntt.return")).module.walk()
            if op.name == "ttg.barrier"
        )
    )


def test_two_calls_in_a_row_meet_in_the_frame() -> None:
    text, _ = inserted(module(f"{CALL}\n{CALL}\ntt.return", shared=2 * BYTES, more=CALLED))
    before, _, after = text.partition("ttg.barrier local")
    assert (before.count("tt.call"), after.count("tt.call")) == (1, 1)


def test_a_function_that_is_given_memory_cannot_be_followed() -> None:
    takes = "tt.func private @takes(%m: <TILE>) attributes {noinline = true} {\n  tt.return\n}"
    text = module(f"{ALLOC}\ntt.call @takes(%m) : (<TILE>) -> ()\ntt.return", shared=BYTES, more=takes)
    assert [op.name for op in translated(text).beyond] == ["tt.call"]
    with pytest.raises(FencepostError, match=r"tt\.call, which cannot be followed yet"):
        inserted(text)


def test_a_barrier_in_one_branch_covers_that_branch_only() -> None:
    body = f"""
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
scf.if %c {{
  ttg.barrier local
}}
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    assert races(body, shared=BYTES) == 1
    other = body.replace("}\n%y", "} else {\n  ttg.barrier local\n}\n%y")
    assert races(other, shared=BYTES) == 0


def test_a_loop_that_may_not_run_covers_nothing() -> None:
    body = f"""
{NUMBERS}
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
scf.for %i = %zero to %n step %one : i32 {{
  ttg.barrier local
}}
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    assert races(body, shared=BYTES) == 1


def test_what_decides_about_a_while_loop_runs_once_more() -> None:
    body = f"""
{NUMBERS}
{ALLOC}
%r = scf.while (%i = %zero) : (i32) -> i32 {{
  %y = ttg.local_load %m : <TILE> -> <TENSOR>
  %more = arith.cmpi slt, %i, %n : i32
  scf.condition(%more) %i : i32
}} do {{
^bb0(%j: i32):
  ttg.local_store %x, %m : <TENSOR> -> <TILE>
  %k = arith.addi %j, %one : i32
  scf.yield %k : i32
}}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
tt.return
"""
    assert lines(body, shared=BYTES) == ["read %m4", "write %m4", "write %m4"]
    text, _ = inserted(module(body, shared=BYTES))
    assert check(translated(text).trace).ok
    # Read and written in turns, each needs one in front of it, and so does what follows the loop.
    assert text.count("ttg.barrier local") in (2, 3)


def test_a_region_that_is_left_in_several_places() -> None:
    body = f"""
{ALLOC}
scf.execute_region {{
  cf.cond_br %c, ^one, ^other
^one:
  ttg.local_store %x, %m : <TENSOR> -> <TILE>
  scf.yield
^other:
  scf.yield
}}
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    assert races(body, shared=BYTES) == 1


def test_one_of_many_ways() -> None:
    body = f"""
{NUMBERS}
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
cf.switch %n : i32, [
  default: ^bb1(%zero : i32),
  0: ^bb1(%one : i32),
  1: ^bb2,
  2: ^bb3
]
^bb1(%k : i32):
%y = ttg.local_load %m : <TILE> -> <TENSOR>
cf.br ^bb3
^bb2:
ttg.barrier local
cf.br ^bb3
^bb3:
%v = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    # What follows meets the write by way of the last case, which goes there at once.
    assert races(body, shared=BYTES) == 2


def test_a_loop_whose_memory_is_read_behind_it() -> None:
    """A barrier can only stand where an operation of the module stands: there is none between body and end."""
    body = f"""
{NUMBERS}
{ALLOC}
ttg.local_store %x, %m : <TENSOR> -> <TILE>
scf.for %i = %zero to %n step %one : i32 {{
  %y = ttg.local_load %m : <TILE> -> <TENSOR>
  ttg.local_store %y, %m : <TENSOR> -> <TILE>
}}
%v = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""
    text, _ = inserted(module(body, shared=BYTES))
    assert text.count("ttg.barrier local") in (2, 3)
    assert check(translated(text).trace).ok


def test_a_region_that_is_no_control_flow_cannot_be_followed() -> None:
    body = f"""
{ALLOC}
"ttg.mask"(%c) ({{
  ttg.local_store %x, %m : <TENSOR> -> <TILE>
  "ttg.mask.return"() : () -> ()
}}) : (i1) -> ()
tt.return
"""
    assert [op.name for op in translated(module(body, shared=BYTES)).beyond] == ["ttg.mask"]


# ---------------------------------------------------------------- slots


@pytest.mark.parametrize(
    ("begin", "by", "remainder", "races"),
    [
        ("%zero", "%one", "arith.remsi", 0),
        ("%zero", "%one", "arith.remui", 0),
        # Counting up from 1, what comes before is never below zero.
        ("%one", "%minus", "arith.remsi", 0),
        # From 0 it is, and there the machine rounds the other way.
        ("%zero", "%minus", "arith.remsi", 1),
    ],
)
def test_a_remainder_of_what_is_never_below_zero_is_a_slot(
    begin: str, by: str, remainder: str, races: int
) -> None:
    body = f"""
{NUMBERS}
%minus = arith.constant -1 : i32
%slots = arith.constant 3 : i32
%ring = ttg.local_alloc : () -> <RING>
scf.for %i = {begin} to %n step %one : i32 {{
  %here = {remainder} %i, %slots : i32
  %next = arith.addi %i, {by} : i32
  %there = {remainder} %next, %slots : i32
  %a = ttg.memdesc_index %ring[%here] : <RING> -> <TILE>
  %b = ttg.memdesc_index %ring[%there] : <RING> -> <TILE>
  ttg.local_store %x, %a : <TENSOR> -> <TILE>
  %y = ttg.local_load %b : <TILE> -> <TENSOR>
  ttg.barrier local
}}
tt.return
"""
    text = module(body)
    assert (inserted(text)[1] > 0) == bool(races)
    assert check(translated(text).trace).explored.complete == (not races)


SLOT_BEFORE = """
  %before = arith.addi %i, %minus : i32
  %there = arith.remsi %before, %slots : i32
  %b = ttg.memdesc_index %ring[%there] : <RING> -> <TILE>
  %y = ttg.local_load %b : <TILE> -> <TENSOR>
"""
IN_LOOP = f"""
{NUMBERS}
%minus = arith.constant -1 : i32
%slots = arith.constant 3 : i32
%ring = ttg.local_alloc : () -> <RING>
scf.for %i = %zero to %n step %one : i32 {{
  %here = arith.remsi %i, %slots : i32
  %a = ttg.memdesc_index %ring[%here] : <RING> -> <TILE>
  ttg.local_store %x, %a : <TENSOR> -> <TILE>
  <CONDITION>
  <BRANCH>
  ttg.barrier local
}}
tt.return
"""
IN_BLOCKS = f"""
{NUMBERS}
%minus = arith.constant -1 : i32
%slots = arith.constant 3 : i32
%ring = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> <RING>
cf.br ^head(%zero : i32)
^head(%i: i32):
%goes_on = arith.cmpi slt, %i, %n : i32
cf.cond_br %goes_on, ^body, ^end
^body:
%here = arith.remsi %i, %slots : i32
%a = ttg.memdesc_index %ring[%here] : <RING> -> <TILE>
ttg.local_store %x, %a : <TENSOR> -> <TILE>
<CONDITION>
cf.cond_br %some, ^side, ^latch
^side:
{SLOT_BEFORE}
cf.br ^latch
^latch:
ttg.barrier local
%next = arith.addi %i, %one : i32
cf.br ^head(%next : i32)
^end:
tt.return
"""
THEN = f"scf.if %some {{{SLOT_BEFORE}}}"
ELSE = f"scf.if %some {{\n}} else {{{SLOT_BEFORE}}}"


@pytest.mark.parametrize(
    ("condition", "branch", "known"),
    [
        ("%some = arith.cmpi sgt, %i, %zero : i32", THEN, True),
        ("%some = arith.cmpi slt, %zero, %i : i32", THEN, True),
        ("%some = arith.cmpi sle, %i, %zero : i32", ELSE, True),
        ("%m = arith.addi %i, %minus : i32\n%some = arith.cmpi sge, %m, %zero : i32", THEN, True),
        ("%m = arith.cmpi sgt, %i, %zero : i32\n%some = arith.andi %c, %m : i1", THEN, True),
        # There it may be below zero,
        ("%some = arith.cmpi sge, %i, %zero : i32", THEN, False),
        ("%some = arith.cmpi sgt, %i, %zero : i32", ELSE, False),
        ("%some = arith.cmpi ugt, %i, %zero : i32", THEN, False),
        # and one condition of two need not have failed.
        ("%m = arith.cmpi sle, %i, %zero : i32\n%some = arith.andi %c, %m : i1", ELSE, False),
    ],
)
def test_a_remainder_is_a_slot_where_a_condition_says_that_it_is_not_of_a_number_below_zero(
    condition: str, branch: str, known: bool
) -> None:
    bodies = [IN_LOOP.replace("<BRANCH>", branch)] + [IN_BLOCKS] * (branch == THEN)
    for body in bodies:
        translation = translated(module(body.replace("<CONDITION>", condition), shared=4 * BYTES))
        shown = " ".join(statements(translation))
        assert ("select(" in shown) == (not known)


# ---------------------------------------------------------------- what is not known


def test_a_function_that_has_an_operation_without_a_word_about_it_is_not_judged_and_the_operation_is_named() -> (
    None
):
    body = """
%m = ttg.local_alloc : () -> <TILE>
%o = ttg.local_alloc : () -> <TILE>
%v = builtin.unrealized_conversion_cast %m : <TILE> to i32
tt.return
"""
    translation = translated(module(body))
    assert [op.name for op in translation.beyond] == ["builtin.unrealized_conversion_cast"]


@pytest.mark.parametrize(
    ("spaces", "kept"), [("local", True), ("all", True), ("global_read|global_write", False)]
)
def test_only_barriers_for_shared_memory_order_it(spaces: str, kept: bool) -> None:
    assert lines(f"ttg.barrier {spaces}\ntt.return") == (["barrier"] if kept else [])


def test_an_operation_knows_its_lines() -> None:
    text = module(f'{ALLOC}\nttg.local_store %x, %m : <TENSOR> -> <TILE> loc("user.py":12:3)\ntt.return')
    (write,) = [op for op in translated(text).trace.preorder_walk() if op.mnemonic == "write"]
    assert write.origin == "user.py:12"
    assert write.span is not None
    assert text.split("\n")[write.span.line - 1].strip().startswith("ttg.local_store %x, %m")


def test_a_kernel_of_too_many_waves_is_refused() -> None:
    with pytest.raises(FencepostError, match="128 warps; a workgroup has at most 64"):
        translated(module("tt.return", warps=128))


FENCED = """
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
llvm.fence syncscope("workgroup") release
<MEETS>
llvm.fence syncscope("workgroup") acquire
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""


@pytest.mark.parametrize(("meets", "found"), [("", 1), ("rocdl.s.barrier", 1), ("ttg.barrier local", 0)])
def test_a_fence_of_the_compiler_s_brings_no_waves_together(meets: str, found: int) -> None:
    """Ping-pong schedules of gfx950 have them around their unfenced barriers: those stay unfenced here."""
    body = FENCED.replace("<MEETS>", meets)
    assert translated(module(body, target="hip:gfx950")).not_judged == []
    assert races(body, target="hip:gfx950", shared=BYTES) == found
