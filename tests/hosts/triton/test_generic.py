"""Modules of a running compiler: printed in generic form, read, changed, and handed back."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.hosts.triton import generic
from fencepost.hosts.triton.generic import generic_form, parse_live
from fencepost.hosts.triton.mlir import MemDesc
from fencepost.hosts.triton.text_edits import InsertBarrier, Remove, SetAttribute, apply_edits
from fencepost.ir.source import FencepostError
from tests.hosts.triton.conftest import GPUS, Compile
from tests.hosts.triton.modules import read_live

EVERYWHERE = [(gpu, lowered) for gpu in GPUS for lowered in (False, True)]


@pytest.mark.parametrize("gpu,lowered", EVERYWHERE)
def test_a_module_comes_back_as_it_was(compiled: Compile, gpu: str, lowered: bool) -> None:
    live = compiled("matmul", gpu, lowered=lowered)
    tree = read_live(live)
    assert parse_live(apply_edits(tree, []), live.context).str() == live.str()


@pytest.mark.parametrize("kernel,warps", [("matmul", 1), ("batched", 1), ("batched", 4)])
def test_layouts_that_triton_prints_but_cannot_parse_are_repaired(
    compiled: Compile, kernel: str, warps: int
) -> None:
    live = compiled(kernel, "gfx1250", num_warps=warps)
    assert "#ttg.amd_wmma" in live.str()
    assert parse_live(generic_form(live), live.context).str() == live.str()


def test_a_module_is_parsed_from_a_file_where_memory_cannot_be_opened(
    compiled: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = compiled("total", "sm_80")
    monkeypatch.setattr(generic, "_files_in_memory", lambda: False)
    assert parse_live(generic_form(live), live.context).str() == live.str()


def test_reading_leaves_the_module_alone(compiled: Compile) -> None:
    live = compiled("matmul", "gfx942")
    before = live.str()
    read_live(live)
    assert live.str() == before
    assert live.verify()


def test_a_module_without_a_context_needs_one(compiled: Compile) -> None:
    live = compiled("total", "sm_80")
    context = live.context
    live.context = None
    try:
        with pytest.raises(FencepostError) as error:
            generic_form(live)
        assert error.value.code == "FP406"
        assert read_live(live, context).functions()
    finally:
        live.context = context


def test_attributes_of_the_module_tell_target_and_warps(compiled: Compile) -> None:
    module = read_live(compiled("total", "gfx942")).operation
    assert module.string("ttg.target") == "hip:gfx942"
    assert module.integer("ttg.num-warps") == 4
    assert module.integer("ttg.threads-per-warp") == 64


def test_the_kernel_is_the_public_function(compiled: Compile) -> None:
    (function,) = read_live(compiled("total", "gfx942")).functions()
    assert function.string("sym_name") == "total"
    assert function.string("sym_visibility") == "public"


def test_locations_point_into_the_kernels_source(compiled: Compile) -> None:
    tree = read_live(compiled("matmul", "sm_80"))
    (store,) = [op for op in tree.walk() if op.name == "tt.store"]
    place = store.location.place()
    assert place is not None
    assert place.file.endswith("small_kernels.py")
    assert place.line == 1 + _line_of("tl.store(c + rows")


def test_shared_memory_has_shapes_and_addresses(compiled: Compile) -> None:
    tree = read_live(compiled("matmul", "gfx950", lowered=True))
    allocations = [op for op in tree.walk() if op.name == "ttg.local_alloc"]
    assert sorted(op.integer("allocation.offset") or 0 for op in allocations) == [0, 6144]
    for allocation in allocations:
        type_ = tree.type_of(allocation.results[0])
        assert isinstance(type_, MemDesc)
        assert (type_.shape, type_.bits, type_.shared, type_.mutable) == ((3, 32, 32), 16, True, True)


@pytest.mark.parametrize("gpu", GPUS)
def test_branches_hand_over_as_many_values_as_their_blocks_take(compiled: Compile, gpu: str) -> None:
    tree = read_live(compiled("matmul", gpu, lowered=True))
    branches = [op for op in tree.walk() if op.successors]
    assert {op.name for op in branches} == {"cf.br", "cf.cond_br"}
    for branch in branches:
        for successor in branch.successors:
            taken = [argument.type for argument in successor.block.arguments]
            assert [value.type for value in successor.arguments] == taken


def test_a_barrier_stands_where_it_was_put_and_can_be_taken_out(compiled: Compile) -> None:
    live = compiled("matmul", "gfx942")
    tree = read_live(live)
    loads = [op for op in tree.walk() if op.name == "ttg.local_load"]
    changed = parse_live(apply_edits(tree, [InsertBarrier(op) for op in loads]), live.context)
    lines = changed.str_nodebug().split("\n")
    places = [number for number, line in enumerate(lines) if line.strip() == "ttg.barrier local"]
    assert len(places) == len(loads) > 0
    assert all("ttg.local_load" in lines[number + 1] for number in places)

    again = read_live(changed)
    barriers = [op for op in again.walk() if op.name == "ttg.barrier"]
    assert {str(op.location) for op in barriers} == {str(op.location) for op in loads}
    assert parse_live(apply_edits(again, [Remove(op) for op in barriers]), live.context).str() == live.str()


def test_marks_of_membar_can_be_set(compiled: Compile) -> None:
    live = compiled("matmul", "sm_90", block=64, lowered=True)
    tree = read_live(live)
    (wait, *_) = [op for op in tree.walk() if op.name == "ttng.warp_group_dot_wait"]
    edits = [
        SetAttribute(wait, "warpGroupLocal", "unit", inherent=True),
        SetAttribute(wait, "my.note", "7 : i32"),
    ]
    changed = read_live(parse_live(apply_edits(tree, edits), live.context))
    (wait, *_) = [op for op in changed.walk() if op.name == "ttng.warp_group_dot_wait"]
    assert wait.flag("warpGroupLocal")
    assert wait.integer("my.note") == 7


def test_a_module_that_makes_no_sense_is_refused(compiled: Compile, capfd: Any) -> None:
    live = compiled("total", "sm_80")
    tree = read_live(live)
    (store,) = [op for op in tree.walk() if op.name == "tt.store"]
    with pytest.raises(FencepostError) as error:
        parse_live(apply_edits(tree, [InsertBarrier(store, '"no.such_thing"() : () -> ()')]), live.context)
    assert error.value.code == "FP402"


def _line_of(code: str) -> int:
    from tests.hosts.triton.conftest import KERNELS

    return KERNELS[: KERNELS.index(code)].count("\n")
