"""Changes to kernels written into their text: everything else stays as it is, character by character."""

from __future__ import annotations

import pytest

from fencepost.ir import ops
from fencepost.ir.parser import parse_all
from fencepost.ir.source import Span
from fencepost.ir.text_changes import NoLineOfItsOwn, Snapshot, TextChange, changed_text
from fencepost.ir.trace import Graph

TEXT = """# A heading.
kernel @k waves=4 {
  shared   %a : 64   # oddly   spaced

    write %a# no space
  if %c {

  }
  loop %i in 0..2 {
    read %a      # aligned
    workgroup_barrier   # bare
  }
  wait_count load=1  # for the copy
}
# The end."""


def kernel() -> tuple[Snapshot, dict[str, ops.Operation]]:
    kernels = parse_all(TEXT)
    operations = {op.mnemonic: op for op in kernels[0].preorder_walk()}
    return Snapshot.of(kernels), operations


def written(before: Snapshot) -> str:
    return changed_text(TEXT, before.changes())


def graph_of(op: ops.Operation) -> Graph:
    assert op.graph is not None
    return op.graph


def test_nothing_changes_nothing() -> None:
    before, _ = kernel()
    assert before.changes() == []
    assert changed_text(TEXT, []) == TEXT + "\n"


def test_a_new_statement_gets_a_line_with_the_margin_of_the_one_behind_it() -> None:
    before, found = kernel()
    read = found["read"]
    graph_of(read).insert_before(read, ops.SharedMemoryBarrier(comment="why"))
    assert written(before) == TEXT.replace("    read", "    barrier  # why\n    read") + "\n"


def test_at_the_end_of_a_loop() -> None:
    before, found = kernel()
    graph_of(found["workgroup_barrier"]).append(ops.SharedMemoryBarrier())
    assert written(before) == TEXT.replace("# bare\n", "# bare\n    barrier\n") + "\n"


def test_behind_a_loop() -> None:
    before, found = kernel()
    loop = found["loop"]
    graph_of(loop).insert_after(loop, ops.SharedMemoryBarrier())
    assert written(before) == TEXT.replace("  }\n  wait", "  }\n  barrier\n  wait") + "\n"


def test_into_a_region_that_is_empty() -> None:
    before, found = kernel()
    conditional = found["if"]
    assert isinstance(conditional, ops.Conditional)
    conditional.then.append(ops.SharedMemoryBarrier())
    assert written(before) == TEXT.replace("if %c {\n", "if %c {\n    barrier\n") + "\n"


def test_an_else_that_is_not_written_has_no_line() -> None:
    before, found = kernel()
    conditional = found["if"]
    assert isinstance(conditional, ops.Conditional)
    conditional.orelse.append(ops.SharedMemoryBarrier())
    with pytest.raises(NoLineOfItsOwn):
        before.changes()


def test_a_statement_that_is_taken_out_takes_its_line_along() -> None:
    before, found = kernel()
    graph_of(found["wait_count"]).remove(found["wait_count"])
    assert written(before) == TEXT.replace("  wait_count load=1  # for the copy\n", "") + "\n"


def test_a_statement_that_is_moved_takes_its_comment_along() -> None:
    before, found = kernel()
    bare, loop = found["workgroup_barrier"], found["loop"]
    graph_of(bare).remove(bare)
    graph_of(loop).insert_before(loop, ops.WorkgroupBarrier())
    moved = TEXT.replace("    workgroup_barrier   # bare\n", "")
    assert written(before) == moved.replace("  loop", "  workgroup_barrier  # bare\n  loop") + "\n"


def test_a_statement_in_the_place_of_another_keeps_its_comment() -> None:
    before, found = kernel()
    bare = found["workgroup_barrier"]
    graph_of(bare).insert_before(bare, ops.SharedMemoryBarrier(comment="another reason"))
    graph_of(bare).remove(bare)
    assert written(before) == TEXT.replace("workgroup_barrier ", "barrier ") + "\n"


def test_a_wait_that_was_changed_where_it_stands() -> None:
    before, found = kernel()
    wait = found["wait_count"]
    assert isinstance(wait, ops.MemoryCounterWait)
    wait.counts = {"load": 0}
    assert written(before) == TEXT.replace("load=1", "load=0") + "\n"


def test_lines_end_as_the_others_do() -> None:
    kernels = parse_all(TEXT.replace("\n", "\r\n"))
    before = Snapshot.of(kernels)
    read = next(op for op in kernels[0].preorder_walk() if op.mnemonic == "read")
    graph_of(read).insert_before(read, ops.SharedMemoryBarrier())
    assert [change.text for change in before.changes()] == ["    barrier\r\n"]


def test_functions_are_part_of_the_file() -> None:
    text = "func @f {\n  shared %b : 64\n  read %b\n}\nkernel @k waves=4 {\n  call @f\n}\n"
    kernels = parse_all(text)
    before = Snapshot.of(kernels)
    (function,) = kernels[0].functions()
    function.blocks[0].append(ops.SharedMemoryBarrier())
    assert changed_text(text, before.changes()) == text.replace("read %b\n", "read %b\n  barrier\n")


def test_several_changes_from_the_top_down() -> None:
    changes = [
        TextChange(Span(1, 1, 1, 1), "a\n"),
        TextChange(Span(1, 2, 1, 3), ""),
        TextChange(Span(2, 1, 3, 1), ""),
    ]
    assert changed_text("xyz\nq\nend\n", changes) == "a\nxz\nend\n"
