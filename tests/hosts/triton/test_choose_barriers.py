"""Which barriers `replace` puts in: fencepost's where fewer run, else those of membar's that are needed."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.hosts.triton.choose_barriers import (
    fencepost_candidate,
    fewest_or_membars,
    membar_candidate,
)
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.module_files import read_sources
from fencepost.hosts.triton.text_edits import InsertBarrier, apply_edits
from fencepost.hosts.triton.verification import verdict
from fencepost.ir.source import FencepostError, Source
from tests.hosts.triton.modules import TILE
from tests.hosts.triton.modules import module as text_of

STORE = "ttg.local_store %x, %a : <TENSOR> -> <TILE>"
LOAD = "%v = ttg.local_load %a : <TILE> -> tensor<64x64xf16, #t>"
BARRIER = "ttg.barrier local"


def module(*lines: str) -> Module:
    """A kernel of these operations, with addresses."""
    alloc = f"%a = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> {TILE}"
    (read,) = read_sources(
        [Source("kernel.ttgir", text_of("\n".join((alloc, *lines, "tt.return")), shared=8192))]
    )
    return read


def barriers(edits: list[Any]) -> list[str]:
    """What each barrier that is put in stands in front of."""
    return [edit.before.name for edit in edits if isinstance(edit, InsertBarrier)]


def test_as_many_barriers_are_membars_own() -> None:
    after = module(STORE, BARRIER, LOAD)
    theirs = membar_candidate(module(STORE, LOAD), after)
    assert theirs is not None
    assert theirs.executed == fencepost_candidate(module(STORE, LOAD)).executed == 1
    assert barriers(theirs.edits) == ["ttg.local_load"]
    assert fewest_or_membars(module(STORE, LOAD), lambda: after) is None


def test_membars_redundant_barriers_are_left_out() -> None:
    after = module(STORE, BARRIER, BARRIER, LOAD, BARRIER)
    before = module(STORE, LOAD)
    theirs = membar_candidate(before, after)
    assert theirs is not None
    assert (len(barriers(theirs.edits)), theirs.executed) == (1, 1)
    assert verdict(read_module(apply_edits(before, theirs.edits))) == ([], set())


def test_a_kernel_that_is_not_judged_keeps_them_all() -> None:
    unknown = "gpu.barrier scope <subgroup>"
    with pytest.raises(FencepostError, match=r"not judged: @kernel uses gpu\.barrier"):
        membar_candidate(module(STORE, unknown, LOAD), module(STORE, unknown, BARRIER, LOAD))


def test_a_barrier_of_the_user_is_nobody_elses_to_leave_out() -> None:
    before = module(STORE, BARRIER, BARRIER, LOAD)
    theirs = membar_candidate(before, module(STORE, BARRIER, BARRIER, LOAD))
    assert theirs is not None
    assert (theirs.edits, theirs.executed) == ([], 2)


def test_where_membar_forgets_one_it_is_put_in() -> None:
    forgotten = module(STORE, LOAD)
    assert membar_candidate(module(STORE, LOAD), forgotten) is None
    chosen = fewest_or_membars(module(STORE, LOAD), lambda: forgotten)
    assert chosen is not None and barriers(chosen) == ["ttg.local_load"]
