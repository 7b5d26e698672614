"""Defects that shipped in compilers, written as Triton modules: racy ones are reported, needless barriers go.

What each was is told in docs/defects.md; the kernels are our own. Rows that need mbarriers, groups of waves or
waves a phase apart cannot be written this way.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from fencepost.check import check
from fencepost.hosts.triton.source_edits import edit_source
from fencepost.hosts.triton.write_back import edits_of, place_barriers
from fencepost.ir.source import FencepostError
from fencepost.passes.prune import prune_barriers
from tests.hosts.triton.modules import BYTES, MMA, NVMMA, module, translated

NUMBERS = """
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%two = arith.constant 2 : i32
%three = arith.constant 3 : i32
"""
ONE = "%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>"
RING = "%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <RING>"
QUADS, PAIRS, PAIR, FIRST, REST = (
    f"!ttg.memdesc<{shape}>"
    for shape in (
        "4x64x64xf16, #s, #smem, mutable",
        "2x128x64xf16, #s, #smem, mutable",
        "128x64xf16, #s, #smem, mutable",
        "1x64x64xf16, #s, #smem, mutable, 3x64x64",
        "2x64x64xf16, #s, #smem, mutable, 3x64x64",
    )
)


class Defect(NamedTuple):
    """A module with a race, and the barriers that `insert` puts in; None where only a wait would help."""

    text: str
    barriers: int | None = 1
    races: int = 1


def loop(body: str, before: str, **options: object) -> str:
    """A loop of unknown length."""
    inside = "\n".join(f"  {line}" for line in body.strip().splitlines())
    text = f"{NUMBERS}\n{before}\nscf.for %i = %zero to %n step %one : i32 {{\n{inside}\n}}\ntt.return"
    return module(text, **{"shared": 3 * BYTES, **options})  # type: ignore[arg-type]


def slot(name: str, index: str) -> str:
    return f"%{name} = ttg.memdesc_index %m[{index}] : <RING> -> <TILE>"


def hopper(body: str, slots: int, warps: int = 4) -> str:
    """A loop with multiplications that read a ring of `slots` tiles by themselves."""
    ring, total = f"!ttg.memdesc<{slots}x64x64xf16, #n, #smem, mutable>", f"tensor<64x64xf32, {MMA % warps}>"
    before = f"""
%slots = arith.constant {slots} : i32
%acc = arith.constant dense<0.0> : {total}
%a = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> {ring}
%b = ttg.local_alloc {{allocation.offset = {slots * BYTES} : i32}} : () -> {NVMMA}
"""
    body = body.replace("<R>", ring).replace("<T>", NVMMA).replace("<ACC>", total)
    return loop(body, before, target="cuda:90", warps=warps, shared=(slots + 1) * BYTES)


STORE = "ttg.local_store %x, %m : <TENSOR> -> <TILE>"
LOAD = "%y = ttg.local_load %m : <TILE> -> <TENSOR>"
COPY = (
    "%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>\n%g = ttg.async_commit_group tokens %a"
)
CALLED = """tt.func private @called(%x: <TENSOR>) attributes {noinline = true} {
  %s = ttg.local_alloc %x {allocation.offset = 0 : i32} : (<TENSOR>) -> !ttg.memdesc<64x64xf16, #s, #smem>
  tt.return
}"""


def call(offset: int) -> str:
    return (
        f"tt.call @called(%x) {{allocation.offset = {offset} : i32, allocation.size = {BYTES} : i32}} "
        ": (<TENSOR>) -> ()"
    )


DOT = """%v = ttg.memdesc_index %a[{slot}] : <R> -> <T>
%d = ttng.warp_group_dot %v, %b, %acc {{inputPrecision = 0 : i32, isAsync = true}} : <T> * <T> -> <ACC>
%w = ttng.warp_group_dot_wait %d {{pendings = {pending} : i32{local}}} : <ACC>"""

RACY = {
    # The refill of a single buffer, behind a read whose data had been waited for.
    "triton 11719": Defect(
        loop(f"{LOAD}\n{COPY}\n%w = ttg.async_wait %g {{num = 0 : i32}}\nttg.barrier local", ONE)
    ),
    # What the caller has pending meets what the function accesses first.
    "triton 11389": Defect(module(f"{ONE}\n{LOAD}\n{call(0)}\ntt.return", shared=2 * BYTES, more=CALLED)),
    # The function's frame lies behind the caller's memory: the access behind the call meets it.
    "triton 9327": Defect(
        module(
            f"""{ONE}
{STORE}
ttg.barrier local
{call(BYTES)}
%o = ttg.local_alloc {{allocation.offset = {BYTES} : i32}} : () -> <TILE>
%z = ttg.local_load %o : <TILE> -> <TENSOR>
tt.return""",
            shared=2 * BYTES,
            more=CALLED,
        )
    ),
    # The barrier of an atomic stands between its write and its read: the next write is not covered.
    "triton 11022": Defect(
        loop(
            "%old = tt.atomic_rmw add, relaxed, gpu, %gp, %one, %yes "
            "{allocation.offset = 0 : i32, allocation.size = 4 : i32} : (!tt.ptr<i32>, i32, i1) -> i32",
            "%yes = arith.constant true",
            arguments="%gp: !tt.ptr<i32>",
        )
    ),
    # A wait of one warp group does not cover the other.
    "triton 11056": Defect(
        hopper(
            DOT.format(slot="%zero", pending=0, local=", warpGroupLocal")
            + "\n%k = ttg.async_copy_global_to_local %p, %v : <POINTERS> -> <T>"
            + "\n%g = ttg.async_commit_group tokens %k"
            + "\n%u = ttg.async_wait %g {num = 0 : i32}\nttg.barrier local",
            slots=1,
            warps=8,
        )
    ),
    # Slots of differently shaped views compared by their numbers.
    "triton 11431": Defect(
        module(
            f"""{NUMBERS}
%m = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> {QUADS}
%v = ttg.memdesc_index %m[%two] : {QUADS} -> <TILE>
ttg.local_store %x, %v : <TENSOR> -> <TILE>
%o = ttg.memdesc_reinterpret %m : {QUADS} -> {PAIRS}
%w = ttg.memdesc_index %o[%one] : {PAIRS} -> {PAIR}
%y = ttg.local_load %w : {PAIR} -> tensor<128x64xf16, #b>
tt.return""",
            shared=4 * BYTES,
        )
    ),
    # Counts that were worked out for another order of the copies.
    "triton 10194": Defect(
        module(
            f"""{ONE}
%o = ttg.local_alloc {{allocation.offset = {BYTES} : i32}} : () -> <TILE>
%a = ttg.async_copy_global_to_local %p, %o : <POINTERS> -> <TILE>
%g = ttg.async_commit_group tokens %a
%b = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
%h = ttg.async_commit_group tokens %b
%w = ttg.async_wait %h {{num = 1 : i32}}
ttg.barrier local
{LOAD}
tt.return""",
            shared=2 * BYTES,
        ),
        barriers=None,
    ),
    # Four stages, three slots.
    "triton 9720": Defect(
        loop(
            f"""%ahead = arith.addi %i, %three : i32
%to = arith.remsi %ahead, %three : i32
{slot("v", "%to")}
%a = ttg.async_copy_global_to_local %p, %v : <POINTERS> -> <TILE>
%g = ttg.async_commit_group tokens %a
%from = arith.remsi %i, %three : i32
{slot("w", "%from")}
%t = ttg.async_wait %g {{num = 2 : i32}}
ttg.barrier local
%y = ttg.local_load %w token %t : <TILE> -> <TENSOR>
ttg.barrier local""",
            RING,
        ),
        barriers=None,
    ),
    # One slot too few: the multiplication that may be pending reads what the copy overwrites.
    "triton 8554": Defect(
        hopper(
            f"""%w0 = ttng.warp_group_dot_wait %acc {{pendings = 1 : i32}} : <ACC>
%t = ttg.async_wait {{num = 1 : i32}}
ttg.barrier local
%ahead = arith.addi %i, %two : i32
%to = arith.remsi %ahead, %slots : i32
%u = ttg.memdesc_index %a[%to] : <R> -> <T>
%k = ttg.async_copy_global_to_local %p, %u : <POINTERS> -> <T>
%g = ttg.async_commit_group tokens %k
%from = arith.remsi %i, %slots : i32
{DOT.format(slot="%from", pending=1, local="")}""",
            slots=3,
        ),
        barriers=None,
    ),
    # One operand in several slots, the other in one.
    "triton 3106": Defect(
        hopper(
            f"""%from = arith.remsi %i, %slots : i32
{DOT.format(slot="%from", pending=1, local="")}
ttg.barrier local
ttg.local_store %x, %b : <TENSOR> -> <T>
ttg.barrier local""",
            slots=2,
        ),
        barriers=None,
    ),
    # A plain barrier in place of a wait.
    "wave 863": Defect(
        module(f"{ONE}\n{COPY}\nttg.barrier local\n{LOAD}\ntt.return", shared=BYTES), barriers=None
    ),
    # Only writes and the reads behind them were looked at.
    "rocRoller": Defect(loop(f"{LOAD}\n{STORE}\nttg.barrier local", ONE)),
    # The next iteration writes what others still read.
    "rocMLIR 1853": Defect(loop(f"{STORE}\nttg.barrier local\n{LOAD}", ONE)),
    # The ninth copy pushed the first one out.
    "llvm 170660": Defect(
        module(
            "\n".join(
                f"%m{n} = ttg.local_alloc {{allocation.offset = {n * BYTES} : i32}} : () -> <TILE>\n"
                f"%a{n} = ttg.async_copy_global_to_local %p, %m{n} : <POINTERS> -> <TILE>\n"
                f"%g{n} = ttg.async_commit_group tokens %a{n}"
                for n in range(9)
            )
            + """
%w = ttg.async_wait %g8 {num = 9 : i32}
ttg.barrier local
%y = ttg.local_load %m0 token %w : <TILE> -> <TENSOR>
tt.return""",
            shared=9 * BYTES,
        ),
        barriers=None,
    ),
}


@pytest.mark.parametrize("where", RACY)
def test_a_race_is_reported(where: str) -> None:
    defect = RACY[where]
    assert len(check(translated(defect.text).trace).races) == defect.races


@pytest.mark.parametrize("where", [where for where in RACY if RACY[where].barriers is not None])
def test_barriers_mend_it_where_they_can(where: str) -> None:
    defect = RACY[where]
    translation = translated(defect.text)
    assert len(place_barriers(translation).barriers) == defect.barriers
    mended = edit_source(translation.module, edits_of(translation))
    assert check(translated(mended).trace).ok


@pytest.mark.parametrize("where", [where for where in RACY if RACY[where].barriers is None])
def test_a_barrier_is_no_answer_to_a_missing_wait(where: str) -> None:
    with pytest.raises(FencepostError, match="wait is missing or too weak") as error:
        place_barriers(translated(RACY[where].text))
    assert error.value.exit_code == 1
    assert error.value.marks[0].span is not None


FIXED = {
    "triton 9720": RACY["triton 9720"].text.replace("num = 2", "num = 0"),
    "triton 10194": RACY["triton 10194"].text.replace("num = 1", "num = 0"),
    "triton 8554": RACY["triton 8554"].text.replace("%acc {pendings = 1", "%acc {pendings = 0"),
    "triton 3106": RACY["triton 3106"].text.replace("pendings = 1", "pendings = 0"),
    "wave 863": RACY["wave 863"].text.replace(
        "    ttg.barrier", "    %w = ttg.async_wait %g {num = 0 : i32}\n    ttg.barrier"
    ),
    "llvm 170660": RACY["llvm 170660"].text.replace("num = 9", "num = 8"),
}


@pytest.mark.parametrize("where", FIXED)
def test_with_the_wait_that_it_takes_there_is_no_race(where: str) -> None:
    translation = translated(FIXED[where])
    assert check(translation.trace).ok
    assert place_barriers(translation).barriers == ()


SPURIOUS = {
    # Slots of a ring taken for the same bytes; one barrier an iteration stays.
    "triton 10087": (
        loop(
            f"""%next = arith.addi %i, %one : i32
%to = arith.remsi %next, %three : i32
{slot("v", "%to")}
ttg.local_store %x, %v : <TENSOR> -> <TILE>
ttg.barrier local
%from = arith.remsi %i, %three : i32
{slot("w", "%from")}
%y = ttg.local_load %w : <TILE> -> <TENSOR>
ttg.barrier local""",
            RING,
        ),
        1,
    ),
    # A read that was waited for, and a copy into another slot.
    "triton 6639": (
        module(
            f"""{NUMBERS}
{RING}
{slot("v", "%zero")}
{slot("u", "%one")}
%y = ttg.local_load %v : <TILE> -> <TENSOR>
ttg.barrier local
%a = ttg.async_copy_global_to_local %p, %u : <POINTERS> -> <TILE>
tt.return""",
            shared=3 * BYTES,
        ),
        0,
    ),
    # Disjoint parts of one allocation.
    "triton 8755": (
        module(
            f"""{NUMBERS}
{RING}
%l = ttg.memdesc_subslice %m[0, 0, 0] : <RING> -> {FIRST}
%r = ttg.memdesc_subslice %m[1, 0, 0] : <RING> -> {REST}
%v = ttg.memdesc_index %l[%zero] : {FIRST} -> <TILE>
ttg.local_store %x, %v : <TENSOR> -> <TILE>
ttg.barrier local
%w = ttg.memdesc_index %r[%one] : {REST} -> <TILE>
%y = ttg.local_load %w : <TILE> -> <TENSOR>
tt.return""",
            shared=3 * BYTES,
        ),
        0,
    ),
    # Two copies of one engine into what may be the same slot.
    "triton 11367": (
        module(
            f"""{NUMBERS}
{RING}
{slot("v", "%n")}
{slot("u", "%one")}
%a = ttg.async_copy_global_to_local %p, %v : <POINTERS> -> <TILE>
ttg.barrier local
%k = ttg.async_copy_global_to_local %p, %u : <POINTERS> -> <TILE>
tt.return""",
            shared=3 * BYTES,
        ),
        0,
    ),
    # Barriers next to those that the user had written.
    "wave 712": (
        module(f"{ONE}\n{STORE}\nttg.barrier local\nttg.barrier local\n{LOAD}\ntt.return", shared=BYTES),
        1,
    ),
    # A kernel of one warp whose threads run together.
    "one warp": (
        module(
            f"{ONE}\n{STORE}\nttg.barrier local\n{LOAD}\ntt.return",
            warps=1,
            target="hip:gfx1201",
            shared=BYTES,
        ),
        0,
    ),
}


@pytest.mark.parametrize("where", SPURIOUS)
def test_a_barrier_too_many_is_taken_out(where: str) -> None:
    text, left = SPURIOUS[where]
    translation = translated(text)
    assert check(translation.trace).ok
    prune_barriers(translation.trace)
    pruned = edit_source(translation.module, edits_of(translation))
    assert pruned.count("ttg.barrier local") == left
    assert check(translated(pruned).trace).ok


@pytest.mark.parametrize("where", SPURIOUS)
def test_and_is_not_put_in(where: str) -> None:
    text, left = SPURIOUS[where]
    bare = "\n".join(line for line in text.splitlines() if line.strip() != "ttg.barrier local")
    translation = translated(bare)
    place_barriers(translation)
    made = edit_source(translation.module, edits_of(translation))
    assert made.count("ttg.barrier local") == left
    assert check(translated(made).trace).ok
