"""Edits that are made in a live module itself: the module is then the one that parsing the edited text gives."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.hosts.triton.generic import generic_form, parse_live, read_live
from fencepost.hosts.triton.live_edits import can_be_made_live, make_live
from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.text_edits import Edit, InsertBarrier, Remove, SetAttribute, apply_edits
from fencepost.ir.source import FencepostError
from tests.hosts.triton.conftest import Compile


def own(live: Any) -> tuple[Any, Module]:
    """A module that nobody else looks at, and its tree."""
    module = parse_live(generic_form(live), live.context)
    return module, read_live(module)


def all_named(tree: Module, name: str) -> list[Operation]:
    return [op for op in tree.walk() if op.name == name]


def here_and_there(tree: Module) -> list[Operation]:
    """The first and the last operation of every block, and some in between."""
    (function,) = tree.functions()
    blocks = [block.operations for block in function.regions[0].blocks]
    return [op for found in blocks for op in dict.fromkeys([found[0], *found[3::5], found[-1]])]


@pytest.mark.parametrize("gpu", ["sm_80", "sm_90"])
def test_barriers_stand_where_the_text_would_have_them(compiled: Compile, gpu: str) -> None:
    module, tree = own(compiled("matmul", gpu, lowered=True))
    places = here_and_there(tree)
    edits: list[Edit] = [InsertBarrier(op) for op in places]
    # Two in a row, the second with the location of something else.
    edits.append(InsertBarrier(places[1], at=places[-2]))
    assert can_be_made_live(tree, edits)
    expected = parse_live(apply_edits(tree, edits), module.context)
    make_live(module, tree, edits)
    assert module.verify()
    assert module.str().replace("ttg.barrier all", "ttg.barrier local") == expected.str()


def test_attributes_are_those_that_the_text_would_have(compiled: Compile) -> None:
    module, tree = own(compiled("matmul", "sm_90", block=64, lowered=True))
    (wait, *_) = all_named(tree, "ttng.warp_group_dot_wait")
    edits = [
        SetAttribute(wait, "warpGroupLocal", "unit", inherent=True),
        SetAttribute(wait, "pendings", "0 : i32", inherent=True),
        SetAttribute(wait, "my.note", "true"),
    ]
    expected = parse_live(apply_edits(tree, edits), module.context)
    make_live(module, tree, edits)
    assert module.str() == expected.str()


def test_amd_gets_attributes_only(compiled: Compile) -> None:
    module, tree = own(compiled("matmul", "gfx950", lowered=True))
    loads = all_named(tree, "ttg.local_load")
    marks = [SetAttribute(op, "ttg.amdg.syncedViaAsyncWait", "true") for op in loads]
    assert can_be_made_live(tree, marks)
    assert not can_be_made_live(tree, [*marks, InsertBarrier(loads[0])])
    expected = parse_live(apply_edits(tree, marks), module.context)
    make_live(module, tree, marks)
    assert module.str() == expected.str()


def test_what_the_bindings_cannot_do_is_left_to_the_text(compiled: Compile) -> None:
    _, tree = own(compiled("matmul", "sm_80", lowered=True))
    (store,) = all_named(tree, "tt.store")
    for edit in (
        Remove(store),
        InsertBarrier(store, '"gpu.barrier"() : () -> ()'),
        SetAttribute(store, "my.note", "true"),
        SetAttribute(store.operands[0].owner, "my.note", '"a string"'),  # type: ignore[arg-type]
    ):
        assert not can_be_made_live(tree, [edit])


def test_another_module_is_left_alone(compiled: Compile) -> None:
    module, tree = own(compiled("matmul", "sm_80", lowered=True))
    other = parse_live(generic_form(compiled("total", "sm_80")), module.context)
    before = other.str()
    with pytest.raises(FencepostError, match="not the one that was read"):
        make_live(other, tree, [InsertBarrier(all_named(tree, "tt.store")[0])])
    assert other.str() == before
