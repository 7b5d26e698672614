"""Kernels of bench/triton, compiled here: every module is read, stock is clean, fencepost needs no more barriers."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from fencepost.check import check
from fencepost.flow import build_flow
from fencepost.hosts.triton import installed, verification
from fencepost.hosts.triton.choose_barriers import fencepost_candidate, fewer_or_membars
from fencepost.hosts.triton.joint_kernel import judged
from fencepost.hosts.triton.loads_before_stores import lost
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.module_files import read_sources
from fencepost.hosts.triton.source_edits import edit_source
from fencepost.hosts.triton.text_edits import SetAttribute
from fencepost.hosts.triton.translate import Translation, translations
from fencepost.hosts.triton.write_back import edits_of, place_barriers, synchronized
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Source
from fencepost.report.diagnostics import render
from fencepost.report.findings import diagnostics
from tests.tiers import sweep

FOLDER = Path(__file__).parents[3] / "bench" / "triton"

KERNELS = (
    # products: pipelined or not, of few and many warps, with an epilogue, branches or locks
    *(("matmul_3stage", "sm_80"), ("matmul_3stage", "gfx1250"), ("matmul_2stage", "gfx942")),
    *(("matmul_8warps_4stage", "sm_90"), ("matmul_1warp", "gfx1201"), ("matmul_fp32", "gfx950")),
    *(("matmul_split_k_lock", "gfx1250"), ("matmul_persistent", "sm_80"), ("matmul_scaled", "gfx950")),
    ("matmul_host_descriptor", "gfx1250"),
    # attention, with its backward passes
    *(("attention", "gfx1250"), ("attention_causal", "sm_90"), ("attention_backward_q", "sm_80")),
    # rows: norms, reductions, scans, sorts
    *(("layer_norm", "gfx942"), ("layer_norm_backward", "sm_80"), ("softmax_loop", "gfx1201")),
    *(("sum_both_axes", "gfx950"), ("argmax_rows", "sm_90"), ("cumsum_rows", "gfx942")),
    *(("histogram", "sm_80"), ("top_k", "gfx1201"), ("gather_rows", "sm_90")),
    # atomics, calls, branches, loops that ask
    *(("atomic_chain", "gfx950"), ("tickets", "sm_90"), ("call_in_loop", "gfx942"), ("call_nested", "sm_80")),
    *(("branch_in_loop", "gfx1250"), ("converge", "gfx1201"), ("transpose_loop", "sm_80")),
    # Gluon: rings, stores by an engine, reductions through shared memory
    *(("gluon_ring", "sm_80"), ("gluon_buffer_ring", "gfx950"), ("gluon_tdm_ring", "gfx1250")),
    *(("gluon_transpose_ring", "gfx942"), ("gluon_store_ring", "sm_90"), ("gluon_tree_sum", "gfx1201")),
)

MBARRIERS = (
    # Engines and waves that arrive at mbarriers in memory.
    *(("copy_descriptor", "sm_90"), ("matmul_device_descriptor", "sm_90")),
    *(("matmul_host_descriptor", "sm_90"), ("gluon_arriving", "sm_80"), ("gluon_tma_ring", "sm_90")),
    # Counters that go through two loops.
    *(("gluon_persistent", "sm_90"), ("gluon_persistent_overlapped", "sm_90")),
    # Regions of their own for groups of warps.
    ("matmul_host_descriptor_specialized", "sm_90"),
    *(("gluon_specialized", "sm_90"), ("gluon_pipeline", "sm_90"), ("gluon_tdm_specialized", "gfx1250")),
)

EVERY_COMMIT = (
    # every target; pipelined, with a branch, a call, a scan, an atomic, a ring of copies, a store by an engine
    *(("matmul_3stage", "sm_80"), ("matmul_2stage", "gfx942"), ("attention", "gfx1250")),
    *(("cumsum_rows", "gfx942"), ("atomic_chain", "gfx950"), ("call_nested", "sm_80")),
    *(("branch_in_loop", "gfx1250"), ("gluon_buffer_ring", "gfx950"), ("gluon_store_ring", "sm_90")),
    ("gluon_tree_sum", "gfx1201"),
    # mbarriers: arrivals of waves, of an engine, through two loops, with warps of their own
    *(("gluon_arriving", "sm_80"), ("gluon_tma_ring", "sm_90"), ("gluon_persistent", "sm_90")),
    ("gluon_tdm_specialized", "gfx1250"),
)
"""What is compiled for every commit; `make full` compiles the others as well."""


@cache
def bench(name: str) -> Any:
    """A module of bench/triton, which are scripts and find each other by their folder."""
    sys.path.insert(0, str(FOLDER))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


@cache
def around_membar(entry: str, target: str) -> tuple[Module, Module]:
    """A kernel's module right before membar and right behind it."""
    compiled = bench("build").compile_entry(bench("corpus").CORPUS[entry], target)
    texts = {"before": compiled.before, "after": compiled.after}
    before, after = read_sources(
        [Source(f"{entry}.{target}.{when}.mlir", text) for when, text in texts.items()]
    )
    return before, after


def executed(kernels: list[Translation]) -> float:
    """How often barriers run, those inside of operations left out."""
    return sum(
        block.frequency
        for kernel in kernels
        for block in build_flow(kernel.trace).blocks
        for op in block.ops
        if isinstance(op, ops.SharedMemoryBarrier) and op.owner is None
    )


def assert_clean(kernels: list[Translation], *, local: bool = False) -> None:
    for trace in judged(kernels, local=local):
        report = check(trace)
        assert report.ok, report
        # Objects are followed for some lengths of loops only.
        objects = any(isinstance(op, ops.MbarrierOperation) for op in trace.preorder_walk())
        assert report.explored.complete is not objects, report.explored


@pytest.mark.parametrize(("entry", "target"), sweep((*KERNELS, *MBARRIERS), chosen=EVERY_COMMIT))
def test_fencepost_needs_no_more_barriers_than_triton(entry: str, target: str) -> None:
    before, after = around_membar(entry, target)
    stock = translations(after)
    assert {op.name for kernel in stock for op in kernel.beyond} == set()
    assert_clean(stock)
    ours = translations(before, local=True)
    for kernel in ours:
        place_barriers(kernel)
    assert_clean(ours, local=True)
    assert executed(ours) <= executed(stock)


@pytest.mark.parametrize(
    ("entry", "target"),
    sweep((*KERNELS[:4], *MBARRIERS[-3:]), chosen=(KERNELS[0], MBARRIERS[-1])),
)
def test_the_module_with_fenceposts_barriers_is_one_that_triton_reads(entry: str, target: str) -> None:
    before, _ = around_membar(entry, target)
    ours = translations(before)
    for kernel in ours:
        place_barriers(kernel)
    text = edit_source(before, [edit for kernel in ours for edit in edits_of(kernel)])
    (again,) = read_sources([Source(before.name, text)])
    assert_clean(translations(again))


def test_a_race_that_triton_ships() -> None:
    """Multiplications that may still be pending read the only slot that the next copy overwrites.

    The loop waits for the matrix unit with `pendings = 3`, and refills the tile that the last of its multiplications
    read: `wgmma.wait_group 3`, then `cp.async` into the same bytes.
    """
    before, after = around_membar("attention_backward_kv", "sm_90")
    (stock,) = translations(after)
    races = check(stock.trace).races
    assert len(races) == 3
    with pytest.raises(FencepostError, match="wait is missing or too weak"):
        place_barriers(translations(before, local=True)[0])
    # The last of its waits, made stronger, is enough.
    (ours,) = translations(before, local=True)
    with pytest.warns(
        RuntimeWarning, match=r"attention.py:67: ttng.warp_group_dot_wait {pendings = 3} became 0$"
    ):
        edits, _ = synchronized(ours)
    # The three before it would have nothing left to wait for.
    assert sum(isinstance(edit, SetAttribute) for edit in edits) == 4
    assert_clean([ours], local=True)
    assert executed([ours]) <= executed([stock])


def test_a_ring_of_two_slots_keeps_the_barrier_between_its_loads_and_stores() -> None:
    """The kernel with which that was measured: without membar's barrier it took up to 1.9 times as long."""
    before, after = around_membar("gluon_transpose_ring", "sm_90")
    (bars,) = lost(before, fencepost_candidate(before).edits, after)
    assert bars.name == "ttg.barrier"
    assert fewer_or_membars(before, lambda: after) is None


LINE = re.compile(r"\.py:(\d+)|called from line (\d+)")
NEAR = 2
"""Lines between where a mistake is marked and what is shown of it."""
MISTAKES = (
    *(("gluon_ring_weak_wait", "sm_80"), ("gluon_buffer_ring_slot_in_use", "gfx950")),
    *(("gluon_tdm_ring_weak_wait", "gfx1250"), ("gluon_store_ring_weak_wait", "sm_90")),
    # mbarriers: the wrong phase, too many or too few arrivals and bytes, none at all
    *(("gluon_arriving_phase", "sm_80"), ("gluon_arriving_miscounted", "sm_90")),
    *(("gluon_tma_ring_half", "sm_90"), ("gluon_tma_ring_slot_in_use", "sm_90")),
    # warps with programs of their own
    *(("gluon_specialized_no_arrive", "sm_90"), ("gluon_specialized_early_arrive", "sm_90")),
    *(("gluon_specialized_no_wait", "sm_90"), ("gluon_pipeline_unread", "sm_90")),
    *(("gluon_tdm_specialized_early_load", "gfx1250"), ("gluon_tdm_specialized_miscounted", "gfx1250")),
)


@pytest.mark.parametrize(
    ("entry", "target"), sweep(MISTAKES, chosen=(*MISTAKES[:2], MISTAKES[4], MISTAKES[6], MISTAKES[10]))
)
def test_planted_mistakes_that_membar_does_not_repair_are_found(entry: str, target: str) -> None:
    kernel = bench("corpus").CORPUS[entry]
    assert not kernel.mistake.repaired_by_membar
    _, after = around_membar(entry, target)
    (trace,) = judged(translations(after))
    report = check(trace)
    found = report.races if kernel.mistake.report == "race" else report.deadlocks
    assert found
    # What is shown stands where the mistake is: it is marked in the line above, or between the two that meet.
    shown = "\n".join(render(each).plain for each in diagnostics(trace, report))
    lines = [int(number) for each in LINE.findall(shown) for number in each if number]
    assert str(kernel.source) in shown
    assert min(abs(line - kernel.mistake_line()) for line in lines) <= NEAR, (kernel.mistake_line(), lines)


def test_the_selection_has_every_target() -> None:
    for selection in (KERNELS, EVERY_COMMIT):
        assert {target for _, target in selection} == set(bench("corpus").TARGETS)


@pytest.mark.parametrize(
    ("entry", "target", "verified"),
    sweep(
        [
            ("copy_descriptor", "sm_90", "trusted"),
            ("gluon_pipelined", "gfx950", "proven"),
            ("gluon_specialized", "sm_90", "trusted"),
            ("gluon_tdm_specialized", "gfx1250", "trusted"),
        ],
        first=2,
    ),
)
def test_what_replace_hands_on_is_clean_in_full(entry: str, target: str, verified: str) -> None:
    """The module that goes on to the lowering, printed there, with its mbarriers simulated."""
    found = bench("verdicts").judge(bench("corpus").CORPUS[entry], target)
    assert "allocation.offset" in found.handed
    assert (found.stock, found.ours) == ("clean", "clean")
    assert found.verified == {"trusted": verification.BARRIERS, "proven": verification.PROVEN}[verified]


def test_mbarriers_are_judged_where_verification_is_thorough() -> None:
    """A phase that never turns is the author's mistake: by default `replace` does not look for it."""
    wrong = bench("corpus").CORPUS["gluon_tma_ring_phase"]
    right = bench("corpus").CORPUS["gluon_tma_ring"]
    compile_plain = bench("build").compile_plain
    with installed("replace"):
        assert compile_plain(wrong, "sm_90").metadata.fencepost["judged"] == verification.BARRIERS
    with installed("replace", thorough=True):
        assert compile_plain(right, "sm_90").metadata.fencepost["judged"] == verification.THOROUGH
        with pytest.warns(RuntimeWarning, match="with Triton's own barriers, too"):
            left = compile_plain(wrong, "sm_90").metadata.fencepost["left"]
    assert "FP002" in left or "FP006" in left or "FP001" in left
