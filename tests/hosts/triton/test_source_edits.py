"""Barriers put into and taken out of the user's own text."""

from __future__ import annotations

import pytest

from fencepost.hosts.triton.module_files import read_sources
from fencepost.hosts.triton.source_edits import edit_source
from fencepost.hosts.triton.text_edits import InsertBarrier, Remove, SetAttribute
from fencepost.ir.source import FencepostError, Source
from tests.hosts.triton.test_files import LOCATED, PLAIN, named


def test_barriers_in_the_users_own_text() -> None:
    (module,) = read_sources([Source("copy.ttgir", LOCATED)])
    text = edit_source(
        module, [InsertBarrier(named(module, name)) for name in ("ttg.local_load", "tt.return")]
    )
    lines = text.split("\n")
    assert lines[7] == "    ttg.barrier local loc(#l)"
    assert lines[9] == "    ttg.barrier local"
    assert [*lines[:7], lines[8], *lines[10:]] == LOCATED.split("\n")
    (changed,) = read_sources([Source("copy.ttgir", text)])
    barriers = [op for op in changed.walk() if op.name == "ttg.barrier"]
    assert len(barriers) == 3
    assert edit_source(changed, [Remove(op) for op in barriers[1:]]) == LOCATED


def test_text_that_cannot_be_edited_line_by_line_is_left_alone() -> None:
    shared = PLAIN.replace("local\n    %y", "local  %y").replace("#b>\n  }", "#b> }")
    (module,) = read_sources([Source("copy.ttgir", shared)])
    for edit in (InsertBarrier(named(module, "ttg.local_load")), Remove(named(module, "ttg.barrier"))):
        with pytest.raises(FencepostError, match="shares its line") as error:
            edit_source(module, [edit])
        assert error.value.code == "FP407"
    brace = PLAIN.replace("    ttg.barrier local\n", "    scf.if %c { ttg.barrier local }\n")
    brace = brace.replace("@copy(", "@copy(%c: i1, ")
    (module,) = read_sources([Source("copy.ttgir", brace)])
    with pytest.raises(FencepostError, match="shares its line"):
        edit_source(module, [Remove(named(module, "ttg.barrier"))])


def test_only_barriers_are_edited_this_way() -> None:
    (module,) = read_sources([Source("copy.ttgir", PLAIN)])
    load = named(module, "ttg.local_load")
    for edit in (
        Remove(load),
        SetAttribute(load, "a", "unit"),
        InsertBarrier(load, '"gpu.barrier"() : () -> ()'),
    ):
        with pytest.raises(FencepostError, match="only barriers"):
            edit_source(module, [edit])
