"""Where waves part, and what one of them does for all: small modules, and what is found in them."""

from __future__ import annotations

import pytest

from fencepost.check import check
from fencepost.hosts.triton.joint_kernel import judged
from fencepost.hosts.triton.module_files import read_sources
from fencepost.hosts.triton.translate import translations
from fencepost.ir.source import Source
from tests.hosts.triton.modules import BYTES, module, statements, translated


def races(text: str) -> int:
    """How many pairs of accesses of all partitions together can meet."""
    (tree,) = read_sources([Source("kernel.ttgir", text)])
    return sum(len(check(trace).races) for trace in judged(translations(tree)))


# ---------------------------------------------------------------- the beginning of a specialization

PARTED = """
ttg.warp_specialize(%n) attributes {<MEMORY>warpGroupStartIds = array<i32: 4, 8>}
default {
  ttg.warp_yield
}
partition0(%a: i32) num_warps(4) {
  %m = ttg.local_alloc {allocation.offset = <OFFSET> : i32} : () -> <TILE>
  %z = arith.constant dense<0.0> : <TENSOR>
  ttg.local_store %z, %m : <TENSOR> -> <TILE>
  ttg.warp_return
}
partition1(%b: i32) num_warps(4) {
  %o = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <TILE>
  %y = ttg.local_load %o : <TILE> -> <TENSOR>
  ttg.warp_return
} : (i32) -> ()
tt.return
"""
MEMORY = "allocation.offset = 0 : i32, allocation.size = 4 : i32, "


def parted(memory: str = MEMORY, offset: int = 0) -> str:
    """Two partitions, one that writes and one that reads; `memory` is for what they are told."""
    return module(PARTED.replace("<MEMORY>", memory).replace("<OFFSET>", str(offset)), shared=2 * BYTES)


def test_partitions_load_their_captures_and_all_meet_once_more() -> None:
    found = translated(parted())
    told = "%warp_specialize"
    assert statements(found) == [f"write {told}", "barrier", f"read {told}", "barrier", "barrier"]
    assert statements(translated(parted(memory=""))) == ["barrier", "barrier", "barrier"]


def test_captures_of_partitions_may_be_written_over() -> None:
    assert races(parted()) == 0


def test_partitions_do_not_wait_for_each_other() -> None:
    assert races(parted(offset=8192)) == 1


@pytest.mark.parametrize("start", (8, 12))
def test_waves_between_those_of_two_partitions_do_nothing(start: int) -> None:
    """They have come to the barrier of the partition behind them, which is not for them."""
    meets = parted().replace("%o = ttg.local_alloc", "ttg.barrier local\n    %o = ttg.local_alloc")
    text = meets.replace("array<i32: 4, 8>", f"array<i32: 4, {start}>")
    (tree,) = read_sources([Source("kernel.ttgir", text)])
    (report,) = (check(trace) for trace in judged(translations(tree)))
    assert not report.deadlocks and not report.races


# ---------------------------------------------------------------- what a specialization results in

RESULTING = """
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%bar = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<1xi64, #s1, #smem, mutable>
ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
ttg.barrier local
%phase = ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 4>}
default {
  %last = scf.for %i = %zero to %n step %one iter_args(%ph = %zero) -> (i32) : i32 {
    %q = arith.xori %ph, %one : i32
    scf.yield %q : i32
  }
  ttg.warp_yield %last : i32
}
partition0() num_warps(4) {
  ttg.warp_return
} : () -> i32
ttng.wait_barrier %bar, %phase : !ttg.memdesc<1xi64, #s1, #smem, mutable>
tt.return
"""


def test_what_follows_takes_numbers_from_inside() -> None:
    """The phase that is waited for behind a specialization was counted in its default region."""
    text = module(RESULTING, shared=8, target="cuda:100").replace(
        "#smem =",
        "#s1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n#smem =",
        1,
    )
    waits = [line for line in statements(translated(text)) if line.startswith("mbarrier_wait")]
    assert len(waits) == 1
    assert "phase=%" in waits[0]


# ---------------------------------------------------------------- descriptors

CREATE = (
    "ttng.tensormap_create %q, %q, [%n], [%n], [], [%n] {allocation.offset = 0 : i32, allocation.size = 128 : i32, "
    "elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 0 : i32} : "
    "(!tt.ptr<i8>, !tt.ptr<i8>, i32, i32, i32) -> ()"
)
ACQUIRE = "ttng.tensormap_fenceproxy_acquire %q : !tt.ptr<i8>"
STORE = """
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
"""


def described(*lines: str, warps: int = 4) -> str:
    """A module that makes descriptors."""
    body = "\n".join([*lines, "tt.return"])
    return module(body, arguments="%q: !tt.ptr<i8>", warps=warps, shared=BYTES, target="cuda:90")


def test_one_wave_makes_a_descriptor_and_all_meet_when_it_is_looked_at() -> None:
    found = statements(translated(described(CREATE, ACQUIRE)))
    memory = "%tensormap_create group=g1"
    assert found == ["if wave == 0 {", f"write {memory}", f"read {memory}", "barrier"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # The same wave makes all of them.
        ((CREATE, CREATE), 0),
        # Others must not write where it still works, before they have met.
        ((CREATE, STORE), 2),
        ((CREATE, ACQUIRE, STORE), 0),
    ],
)
def test_what_others_do_with_the_memory_of_a_descriptor(lines: tuple[str, ...], expected: int) -> None:
    assert races(described(*lines)) == expected


def test_the_threads_of_a_single_wave_all_take_part() -> None:
    assert "if wave == 0 {" not in statements(translated(described(CREATE, warps=1)))
    assert races(described(CREATE, CREATE, warps=1)) > 0
    assert races(described(CREATE, ACQUIRE, CREATE, warps=1)) == 0
