"""Which barriers `replace` puts in: fencepost's where fewer run, else membar's own."""

from __future__ import annotations

import pytest

from fencepost.hosts.triton.choose_barriers import (
    fencepost_candidate,
    fewer_or_membars,
    is_right,
    runs_of_membars,
)
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.module_files import read_sources
from fencepost.hosts.triton.text_edits import InsertBarrier
from fencepost.ir.source import FencepostError, Source
from tests.hosts.triton.modules import TILE
from tests.hosts.triton.modules import module as text_of

STORE = "ttg.local_store %x, %a : <TENSOR> -> <TILE>"
LOAD = "%v = ttg.local_load %a : <TILE> -> tensor<64x64xf16, #t>"
BARRIER = "ttg.barrier local"


def module(*lines: str) -> Module:
    """A kernel of these operations, with addresses."""
    alloc = f"%a = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> {TILE}"
    text = text_of("\n".join((alloc, *lines, "tt.return")), shared=8192)
    (read,) = read_sources([Source("kernel.ttgir", text)])
    return read


def chosen(after: Module, before: Module | None = None) -> list[str] | None:
    """What each barrier that is put in stands in front of; None if membar's are taken."""
    edits = fewer_or_membars(before or module(STORE, LOAD), lambda: after)
    return None if edits is None else [edit.before.name for edit in edits if isinstance(edit, InsertBarrier)]


def executed(after: Module) -> float:
    """How often membar's barriers run."""
    return sum(runs_of_membars(after).values())


def test_as_many_barriers_are_membars_own() -> None:
    after = module(STORE, BARRIER, LOAD)
    assert executed(after) == fencepost_candidate(module(STORE, LOAD)).executed == 1
    assert chosen(after) is None


def test_fewer_are_ours() -> None:
    after = module(STORE, BARRIER, LOAD, BARRIER)
    assert executed(after) == 2
    assert chosen(after) == ["ttg.local_load"]


def test_where_membar_forgets_one_it_is_put_in() -> None:
    assert not is_right(module(STORE, LOAD))
    assert chosen(module(STORE, LOAD)) == ["ttg.local_load"]


def test_barriers_of_the_user_count_on_both_sides() -> None:
    before = module(GLOBAL, KEEP, BARRIER, BARRIER, LOAD)
    assert chosen(module(GLOBAL, KEEP, BARRIER, BARRIER, LOAD), before) is None


def test_where_none_is_needed_membar_is_not_asked() -> None:
    def after() -> Module:
        raise AssertionError

    assert fewer_or_membars(module(STORE, BARRIER, LOAD), after) == []


def test_it_is_asked_where_a_barrier_of_its_own_could_stand_between_loads_and_stores() -> None:
    before, after = module(GLOBAL, KEEP, BARRIER, LOAD), module(GLOBAL, BARRIER, KEEP, BARRIER, LOAD)
    assert chosen(after, before) is None


def test_a_kernel_that_is_not_judged_is_refused() -> None:
    unknown = "gpu.barrier scope <subgroup>"
    with pytest.raises(FencepostError, match=r"not judged: @kernel uses gpu\.barrier"):
        runs_of_membars(module(STORE, unknown, BARRIER, LOAD))


GLOBAL = "%g = tt.load %p : <POINTERS>"
KEEP = "ttg.local_store %g, %a : <TENSOR> -> <TILE>"


def test_a_barrier_between_loads_and_their_stores_is_worth_what_it_costs() -> None:
    """Nothing needs the first barrier; without it, each part of the tile would be stored when it has come."""
    before = module(GLOBAL, KEEP, LOAD)
    assert chosen(module(GLOBAL, BARRIER, KEEP, BARRIER, LOAD), before) is None
    # One ahead of the loads is worth nothing.
    assert chosen(module(BARRIER, GLOBAL, KEEP, BARRIER, LOAD), before) == ["ttg.local_load"]


def test_what_is_stored_may_have_been_changed_in_registers() -> None:
    before = module(GLOBAL, "%h = arith.addf %g, %g : <TENSOR>", KEEP.replace("%g", "%h"), LOAD)
    after = module(
        GLOBAL, BARRIER, "%h = arith.addf %g, %g : <TENSOR>", KEEP.replace("%g", "%h"), BARRIER, LOAD
    )
    assert chosen(after, before) is None


def test_one_that_is_there_is_not_missed_twice() -> None:
    """Two barriers between the loads and one store: one of them is as good as both."""
    before = module(GLOBAL, BARRIER, KEEP, LOAD)
    after = module(GLOBAL, BARRIER, BARRIER, KEEP, BARRIER, LOAD)
    assert chosen(after, before) == ["ttg.local_load"]
