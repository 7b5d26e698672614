"""A module with barriers put in is judged as a translation of its text would be, without reading that."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

import pytest

from fencepost.check import check
from fencepost.hosts.triton import installed
from fencepost.hosts.triton.choose_barriers import fencepost_candidate
from fencepost.hosts.triton.kernel_variants import stopped_at, variant_of
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.module_files import read_sources
from fencepost.hosts.triton.text_difference import ChangedModule, put_in
from fencepost.hosts.triton.text_edits import Edit, InsertBarrier, Remove, SetAttribute, apply_edits
from fencepost.hosts.triton.translate import translations
from fencepost.hosts.triton.verification import verdict
from fencepost.ir.source import Source
from fencepost.report.findings import diagnostics
from tests.hosts.triton.modules import TILE
from tests.hosts.triton.modules import module as text_of
from tests.hosts.triton.test_corpus import around_membar, bench
from tests.tiers import sweep

STORE, LOAD = "ttg.local_store %x, %a : <TENSOR> -> <TILE>", "%v = ttg.local_load %a : <TILE> -> <TENSOR>"
BARRIER = "ttg.barrier local"
BUILDS = [
    ("attention", "gfx1250"),
    ("attention_8warps", "sm_90"),
    ("attention_backward_q", "gfx942"),
    ("branch_in_loop", "sm_80"),
    ("copy_descriptor", "sm_90"),
    ("gluon_arriving", "sm_80"),
    ("matmul_1warp", "sm_90"),
    ("matmul_4stage", "gfx942"),
    ("matmul_8warps", "sm_90"),
    ("sort_rows", "gfx942"),
]


def module(*lines: str) -> Module:
    """A kernel of these operations, with addresses."""
    alloc = f"%a = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> {TILE}"
    (read,) = read_sources(
        [Source("kernel.ttgir", text_of("\n".join((alloc, *lines, "tt.return")), shared=8192))]
    )
    return read


def named(of: Module, name: str) -> Operation:
    """The first operation of a name."""
    return next(op for op in of.walk() if op.name == name)


def changed(before: Module, *edits: Edit) -> ChangedModule:
    """A module with edits."""
    return ChangedModule(before, apply_edits(before, edits))


def kernels(after: ChangedModule) -> list[str]:
    """The kernels of a variant, as text."""
    variant = variant_of(after)
    assert variant is not None
    with variant.kernels() as found:
        return [str(each.trace) for each in found]


def translated(text: str) -> list[str]:
    """The kernels of a text, as text."""
    return [str(each.trace) for each in translations(read_module(text))]


@pytest.mark.parametrize(("entry", "target"), sweep(BUILDS, chosen=[BUILDS[1], BUILDS[4], BUILDS[7]]))
def test_kernels_with_barriers_are_those_of_the_text(entry: str, target: str) -> None:
    before, membars = around_membar(entry, target)
    before, after = read_module(before.text), membars.text
    ours = apply_edits(before, fencepost_candidate(before).edits)
    for text in (after, ours, after):
        variant = ChangedModule(before, text)
        assert kernels(variant) == translated(text)
        assert verdict(variant) == ([], verdict(read_module(text))[1])


@pytest.mark.parametrize("entry", sweep(["gluon_pipeline", "gluon_specialized"], first=1))
def test_partitions_have_the_barriers_that_membar_puts_into_them(entry: str) -> None:
    seen: list[bool] = []

    def decide(before: Module, after: Callable[[], Module]) -> list[Edit] | None:
        made = after()
        assert isinstance(made, ChangedModule) and made.text != before.text
        seen.append(kernels(made) == translated(made.text))
        return None

    with installed("replace", decide=decide):
        bench("build").compile_plain(bench("corpus").CORPUS[entry], "sm_90")
    assert seen == [True]


def test_what_is_put_in_is_taken_out_again() -> None:
    before = module(STORE, LOAD)
    without = str(stopped_at(before).kernels[0].trace)
    assert len(fencepost_candidate(before).edits) == 1
    after = changed(before, InsertBarrier(named(before, "ttg.local_load")))
    assert "barrier" in kernels(after)[0]
    assert str(stopped_at(before).kernels[0].trace) == without


def test_a_wait_that_was_made_stronger_is_not_taken_for_the_one_of_the_module() -> None:
    before, after = around_membar("attention_backward_kv", "sm_90")
    before = read_module(before.text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = fencepost_candidate(before)
    assert made.repairs
    for text in (after.text, apply_edits(before, made.edits), after.text):
        assert kernels(ChangedModule(before, text)) == translated(text)
    assert verdict(ChangedModule(before, after.text))[0]


def test_a_wait_that_is_weaker_than_before_is_translated_anew() -> None:
    before, _ = around_membar("attention_backward_kv", "sm_90")
    wait = named(before, "ttng.warp_group_dot_wait")
    weaker = SetAttribute(wait, "pendings", f"{(wait.integer('pendings') or 0) + 1} : i32", inherent=True)
    found = put_in(before, apply_edits(before, [weaker]))
    assert found is not None and list(found.counts) == [wait]
    assert variant_of(changed(before, weaker)) is None


def test_numbers_that_no_wait_counts_with_are_not_guessed() -> None:
    line = '%1 = "NAME"() <{pendings = 1 : i32, axis = 0 : i32}> : () -> i32'
    for name, other in (("tt.get_program_id", "pendings"), ("ttng.warp_group_dot_wait", "axis")):
        text = f'"builtin.module"() ({{\n  {line.replace("NAME", name)}\n}}) : () -> ()\n'
        changed_text = re.sub(rf"{other} = \d", f"{other} = 7", text)
        assert put_in(read_module(text), changed_text) is None


def test_a_missing_barrier_is_reported_with_its_text() -> None:
    before = module(STORE, LOAD)
    (found,) = verdict(ChangedModule(before, before.text))[0]
    (kernel,) = translations(read_module(before.text))
    assert found.title == diagnostics(kernel.trace, check(kernel.trace))[0].title


def test_barriers_and_marks_are_seen_in_the_text() -> None:
    before = module(STORE, LOAD)
    load = named(before, "ttg.local_load")
    mark = SetAttribute(load, "ttg.amdg.syncedViaAsyncWait", "false")
    found = put_in(before, apply_edits(before, [InsertBarrier(load), InsertBarrier(load), mark]))
    assert found is not None
    assert found.barriers == (load, load)


def test_anything_else_is_not_guessed() -> None:
    before = module(STORE, BARRIER, LOAD, BARRIER)
    load, barrier = named(before, "ttg.local_load"), named(before, "ttg.barrier")
    other = '"ttg.barrier"() <{addrSpace = 2 : i32}> : () -> ()'
    for edit in (Remove(barrier), SetAttribute(load, "anything", "true"), InsertBarrier(load, other)):
        assert variant_of(changed(before, edit)) is None
    assert put_in(before, before.text.replace("64x64", "32x64")) is None
    assert put_in(before, before.text.rpartition("})")[0]) is None


def test_a_mark_that_is_gone_is_not_overlooked() -> None:
    marked = '"ttng.warp_group_dot_wait"(%1) <{pendings = 0 : i32, warpGroupLocal}> : (i32) -> i32'
    text = f'"builtin.module"() ({{\n  %1 = "a.a"() : () -> i32\n  %2 = {marked}\n}}) : () -> ()\n'
    before = read_module(text)
    assert put_in(before, text.replace(", warpGroupLocal", "")) is None
    bare = read_module(text.replace(", warpGroupLocal", ""))
    found = put_in(bare, text)
    assert found is not None and [op.name for op in found.marked] == ["ttng.warp_group_dot_wait"]


def test_barriers_around_calls() -> None:
    before, after = around_membar("call", "sm_90")
    assert kernels(ChangedModule(before, after.text)) == translated(after.text)


def test_one_barrier_more_in_a_function_where_all_waves_meet_anyway() -> None:
    before, after = around_membar("call_nested", "sm_90")
    before = read_module(before.text)
    assert kernels(ChangedModule(before, after.text)) == translated(after.text)


def test_what_a_call_does_depends_on_the_barriers_of_the_function() -> None:
    """Where none is and one is put in, the call is another one."""
    called = "tt.func private @called() attributes {noinline = true} {\n  tt.return\n}"
    text = text_of("tt.call @called() : () -> ()\ntt.return", shared=8192, more=called)
    (before,) = read_sources([Source("kernel.ttgir", text)])
    *_, inside = (op for op in before.walk() if op.name == "tt.return")
    after = changed(before, InsertBarrier(inside))
    assert variant_of(after) is None
    assert translated(after.text)[0] != translated(before.text)[0]


def test_a_module_is_read_once_it_is_asked_for() -> None:
    before = module(STORE, LOAD)
    after = changed(before, InsertBarrier(named(before, "ttg.local_load")))
    assert [op.name for op in after.walk()] == [op.name for op in read_module(after.text).walk()]
    assert len(after.functions()) == 1
