"""Barriers that membar surely puts in: never more than it does put in, and what fencepost decides by them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.hosts.triton.choose_barriers import fencepost_candidate, fewer_or_membars, runs_of_membars
from fencepost.hosts.triton.kernel_variants import stopped_at
from fencepost.hosts.triton.membar_at_least import runs_at_least, surely_put_in
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.module_files import read_sources
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.text_difference import ChangedModule
from fencepost.ir.source import Source
from tests.hosts.triton.modules import TILE
from tests.hosts.triton.modules import module as text_of
from tests.hosts.triton.test_corpus import around_membar, bench
from tests.tiers import sweep

pytestmark = pytest.mark.skipif(
    not installed_release().membar_is_known, reason="nothing is known of its membar"
)

CHOSEN = (
    # every kind of wait, mbarriers with and without partitions, reads before copies, hints to the scheduler
    *(("matmul_3stage", "sm_80"), ("add_descriptor", "sm_90"), ("gluon_pipeline", "sm_90")),
    *(("gluon_pipelined", "gfx950"), ("matmul_2stage", "gfx1250"), ("gluon_tdm_ring", "gfx1250")),
)
BUILDS = [
    (name, target) for name, entry in bench("corpus").CORPUS.items() for target in sorted(entry.targets)
]


def at_least(module: Module) -> float:
    """How often barriers run behind membar, at least, those that are there included."""
    stopped = stopped_at(module)
    existing = sum(stopped.barriers().values())
    return existing + sum(runs_at_least(stopped, sure) for sure in surely_put_in(stopped))


@pytest.mark.parametrize(("entry", "target"), sweep(BUILDS, chosen=CHOSEN))
def test_membar_puts_in_no_fewer(entry: str, target: str) -> None:
    before, after = around_membar(entry, target)
    before = read_module(before.text)
    assert at_least(before) <= sum(runs_of_membars(ChangedModule(before, after.text)).values()) * (1 + 1e-9)


@pytest.mark.parametrize(("entry", "target"), CHOSEN)
def test_it_is_not_asked_where_that_is_enough(entry: str, target: str) -> None:
    before, after = around_membar(entry, target)
    before = read_module(before.text)
    asked: list[str] = []

    def membar() -> Module:
        asked.append(entry)
        return ChangedModule(before, after.text)

    assert fewer_or_membars(before, membar) is not None
    enough = fencepost_candidate(before).executed < at_least(before)
    assert asked == ([] if enough else [entry])


WAIT = "ttg.async_wait {num = 0 : i32}"
STORE = "ttg.local_store %x, %a : <TENSOR> -> <TILE>"
LOAD = "%v = ttg.local_load %a : <TILE> -> <TENSOR>"
BARRIER = "ttg.barrier local"


def of(*lines: str, target: str = "cuda:80") -> float:
    """The bound for a kernel of these operations, less the barriers that it has."""
    alloc = f"%a = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> {TILE}"
    text = text_of("\n".join((alloc, *lines, "tt.return")), shared=8192, target=target)
    (module,) = read_sources([Source("kernel.ttgir", text)])
    return at_least(module) - sum(stopped_at(module).barriers().values())


COPY = "%t = ttg.async_copy_global_to_local %p, %a : <POINTERS> -> <TILE>"
GROUP = "%g = ttg.async_commit_group tokens %t"


@pytest.mark.parametrize(
    ("lines", "runs"),
    [
        ((COPY, GROUP, WAIT, LOAD), 1),
        ((COPY, GROUP, WAIT, WAIT, LOAD), 1),
        ((COPY, GROUP, WAIT), 1),
        # One of the author's, or an operation that may bring one along.
        ((COPY, GROUP, WAIT, BARRIER, LOAD), 0),
        ((COPY, GROUP, WAIT, "gpu.barrier", LOAD), 0),
        # A wait behind computations is the one that counts.
        ((COPY, GROUP, WAIT, "%o = arith.addi %n, %n : i32", WAIT, LOAD), 1),
        # Accesses through one view; the wait behind them is another place.
        ((LOAD, COPY, GROUP, WAIT), 2),
        ((STORE, LOAD, WAIT), 2),
        ((LOAD, LOAD.replace("%v", "%w"), WAIT), 1),
        ((LOAD, BARRIER, COPY, GROUP, WAIT), 1),
    ],
)
@pytest.mark.parametrize("target", ["cuda:80", "hip:gfx950", "hip:gfx1250"])
def test_where_a_barrier_is_certain(lines: tuple[str, ...], runs: int, target: str) -> None:
    assert of(*lines, target=target) == runs


RING = "!ttg.memdesc<2x64x64xf16, #s, #smem, mutable>"
SLOTS = (
    f"%r = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> {RING}",
    "%zero = arith.constant 0 : i32",
    "%one = arith.constant 1 : i32",
    f"%s = ttg.memdesc_index %r[%zero] : {RING} -> <TILE>",
    f"%u = ttg.memdesc_index %r[%one] : {RING} -> <TILE>",
    f"%d = ttg.memdesc_index %r[%n] : {RING} -> <TILE>",
)


@pytest.mark.parametrize(
    ("lines", "runs"),
    [
        # Whether two slots are different membar can find out, but not of a view that comes from another block.
        ((LOAD.replace("%a", "%s"), COPY.replace("%a", "%u")), 0),
        ((LOAD.replace("%a", "%s"), COPY.replace("%a", "%d")), 0),
        (
            (
                "cf.br ^one(%d : <TILE>)\n^one(%y: <TILE>):",
                LOAD.replace("%a", "%y"),
                COPY.replace("%a", "%u"),
            ),
            1,
        ),
        (
            (
                "cf.br ^one(%s : <TILE>)\n^one(%y: <TILE>):",
                LOAD.replace("%a", "%y"),
                COPY.replace("%a", "%u"),
            ),
            0,
        ),
    ],
)
def test_slots_of_a_ring(lines: tuple[str, ...], runs: int) -> None:
    assert of(*SLOTS, *lines, GROUP, WAIT) - 1 == runs


@pytest.mark.parametrize(("target", "runs"), [("cuda:80", 2), ("hip:gfx1250", 2), ("hip:gfx950", 1)])
def test_a_read_with_a_token_has_waited_for_copies_on_gfx9(target: str, runs: int) -> None:
    load = "%v = ttg.local_load %a token %w : <TILE> -> <TENSOR>"
    assert of(WAIT.replace("ttg", "%w = ttg", 1), COPY, load, target=target) == runs


FILLED = "%f = ttg.local_alloc %x {allocation.offset = 8192 : i32} : (<TENSOR>) -> <TILE>"
CHANGED = "%z = ttg.convert_layout %x {SCRATCH} : <TENSOR> -> tensor<64x64xf16, #t>"
READ = LOAD.replace("%a", "%f")


def changed(name: str, offset: int) -> str:
    """A change of layout across waves, through scratch memory."""
    scratch = f"allocation.offset = {offset} : i32, allocation.size = 8192 : i32"
    return CHANGED.replace("%z", name).replace("SCRATCH", scratch)


@pytest.mark.parametrize(
    ("lines", "runs"),
    [
        # An allocation that is given what it holds is written.
        ((FILLED, READ), 1),
        # Scratch memory in the bytes of an allocation, and elsewhere.
        ((FILLED, READ, changed("%z", 8192)), 2),
        ((FILLED, READ, changed("%z", 16384)), 1),
        ((changed("%z", 8192), changed("%y", 8192)), 1),
        ((changed("%z", 8192), changed("%y", 16384)), 0),
        # The same across a branch, and where two ways come together.
        ((FILLED, READ, "cf.br ^one\n^one:", changed("%z", 8192)), 2),
        (
            (
                *(FILLED, READ, "cf.cond_br %c, ^one, ^two\n^one:", "cf.br ^two\n^two:"),
                changed("%z", 8192),
            ),
            2,
        ),
        # A loop leads to where a read of the iteration before may still be pending, or not.
        ((FILLED, READ, "cf.br ^one\n^one:", changed("%z", 8192), "cf.cond_br %c, ^one, ^two\n^two:"), 1),
    ],
)
def test_what_allocations_and_scratch_memory_need(lines: tuple[str, ...], runs: int) -> None:
    assert of(*lines, WAIT) - 1 == runs


def test_slots_that_a_condition_selects_may_be_any() -> None:
    selected = (
        "%next = arith.select %c, %zero, %n : i32",
        f"%e = ttg.memdesc_index %r[%next] : {RING} -> <TILE>",
        *(LOAD.replace("%a", "%d"), COPY.replace("%a", "%e"), GROUP, WAIT),
    )
    assert of(*SLOTS, *selected) - 1 == 1


def test_where_nothing_is_known_of_membar_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = around_membar("add_descriptor", "sm_90")
    before = read_module(before.text)
    asked: list[int] = []

    def membar() -> Module:
        asked.append(1)
        return ChangedModule(before, after.text)

    assert fewer_or_membars(before, membar) and not asked
    unknown = replace(installed_release(), membar_is_known=False)
    monkeypatch.setattr("fencepost.hosts.triton.choose_barriers.installed_release", lambda: unknown)
    assert fewer_or_membars(before, membar) and asked
