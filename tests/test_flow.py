"""Program points, edges, loops and frequencies of each form of control flow."""

from __future__ import annotations

import pytest

from fencepost.flow import Flow, build_flow
from fencepost.ir.parser import parse
from fencepost.ir.source import FencepostError


def flow_of(body: str) -> Flow:
    return build_flow(parse(f"kernel @k waves=4 {{\n  shared %a : 64\n{body}}}\n"))


def block_with(flow: Flow, mnemonic: str) -> int:
    (found,) = [block.index for block in flow.blocks if any(op.mnemonic == mnemonic for op in block.ops)]
    return found


def reaches(flow: Flow, start: int, goal: int, avoiding: int) -> bool:
    todo, seen = [start], {avoiding}
    while todo:
        block = todo.pop()
        if block == goal:
            return True
        if block not in seen:
            seen.add(block)
            todo += flow.blocks[block].successors
    return False


@pytest.mark.parametrize(
    ("bound", "around", "back", "inside"),
    [("0", True, False, False), ("1", False, False, True), ("8", False, True, True), ("?", True, True, True)],
)
def test_a_loop_has_the_edges_that_its_trip_count_allows(
    bound: str, around: bool, back: bool, inside: bool
) -> None:
    flow = flow_of(f"  write %a\n  loop %i in 0..{bound} {{\n    read %a\n  }}\n  atomic %a\n")
    before, body, after = (block_with(flow, name) for name in ("write", "read", "atomic"))
    assert (after in flow.blocks[before].successors) is around
    assert (body in flow.blocks[body].successors) is back
    assert (body in flow.order) is inside


def test_trip_counts_multiply_along_a_nest() -> None:
    flow = flow_of(
        "  loop %i in 0..4 {\n    loop %j in 2..12 step 5 {\n      read %a\n    }\n    write %a\n  }\n"
    )
    assert flow.blocks[block_with(flow, "read")].frequency == 8
    assert flow.blocks[block_with(flow, "write")].frequency == 4
    inner, outer = list(flow.loops_around(block_with(flow, "read")))
    assert (inner.trip, inner.depth, outer.trip, outer.depth) == (2, 2, 4, 1)
    assert inner.parent == outer.index


def test_a_uniform_conditional_branches_and_joins() -> None:
    flow = flow_of("  if %c {\n    read %a\n  } else {\n    write %a\n  }\n  atomic %a\n")
    then, orelse, join = (block_with(flow, name) for name in ("read", "write", "atomic"))
    assert flow.blocks[0].successors == [then, orelse]
    assert flow.blocks[then].successors == flow.blocks[orelse].successors == [join]
    assert flow.blocks[then].frequency == 0.5


def test_the_sides_of_a_divergent_conditional_run_one_after_the_other() -> None:
    flow = flow_of("  if wave < 1 {\n    read %a\n  } else {\n    write %a\n  }\n  atomic %a\n")
    then, orelse, join = (block_with(flow, name) for name in ("read", "write", "atomic"))
    assert flow.blocks[0].successors == [then]
    assert flow.blocks[then].successors == [orelse]
    assert flow.blocks[orelse].successors == [join]
    assert [guard.admits(0, {}) for guard in flow.blocks[then].guards] == [True]
    assert [guard.admits(0, {}) for guard in flow.blocks[orelse].guards] == [False]


LOOP_OF_BLOCKS = """  br ^head
^head:
  read %a
  cond_br %c, ^left, ^right
^left:
  write %a
  br ^latch
^right:
  br ^latch
^latch:
  cond_br %d, ^head, ^exit trip=10
^exit:
  atomic %a
  return
"""


def test_a_loop_between_blocks_is_found_with_its_expected_trip_count() -> None:
    flow = flow_of(LOOP_OF_BLOCKS)
    (loop,) = flow.loops
    assert loop.header == block_with(flow, "read")
    assert loop.trip == 10
    assert flow.blocks[block_with(flow, "read")].frequency == 10
    assert flow.blocks[block_with(flow, "write")].frequency == 5
    assert flow.blocks[block_with(flow, "atomic")].frequency == 1
    assert flow.crossed_loop(loop.latches[0], loop.header) == loop.index


def test_nested_loops_between_blocks() -> None:
    flow = flow_of(
        "  br ^outer\n^outer:\n  read %a\n  br ^inner\n^inner:\n  write %a\n  cond_br %c, ^inner, ^latch trip=3\n"
        "^latch:\n  cond_br %d, ^outer, ^exit trip=5\n^exit:\n  return\n"
    )
    inner, outer = list(flow.loops_around(block_with(flow, "write")))
    assert (inner.trip, outer.trip) == (3, 5)
    assert flow.blocks[block_with(flow, "write")].frequency == 15


def test_a_loop_that_is_entered_in_two_places_is_a_loop() -> None:
    flow = flow_of(
        "  cond_br %c, ^one, ^two\n^one:\n  read %a\n  br ^two\n^two:\n  write %a\n  cond_br %d, ^one, ^exit\n"
        "^exit:\n  return\n"
    )
    (loop,) = flow.loops
    assert {flow.blocks[block_with(flow, name)].loop for name in ("read", "write")} == {loop.index}


def test_a_divergent_branch_between_blocks_becomes_two_guarded_stretches() -> None:
    flow = flow_of(
        "  cond_br wave < 2, ^low, ^high\n^low:\n  read %a\n  br ^join\n^high:\n  write %a\n  br ^join\n"
        "^join:\n  atomic %a\n  return\n"
    )
    low, high, join = (block_with(flow, name) for name in ("read", "write", "atomic"))
    assert not reaches(flow, low, join, avoiding=high)
    assert flow.blocks[join].guards == ()
    assert [guard.holds for guard in flow.blocks[high].guards] == [False]


SHARED = """  cond_br wave < 2, ^low, ^high
^low:
  br ^shared
^high:
  cond_br %c, ^shared, ^exit
^shared:
  read %a
  br ^exit
^exit:
  return
"""
ENTERED_FROM_ELSEWHERE = """  cond_br %c, ^side, ^test
^test:
  cond_br wave < 1, ^side, ^end
^side:
  write %a
  read %a
  br ^end
^end:
  return
"""
ENTERED_AGAIN_AFTER_THE_JOIN = """  cond_br wave < 1, ^side, ^join
^side:
  write %a
  br ^join
^join:
  cond_br %c, ^side, ^end
^end:
  return
"""
NEVER_ENDS = """  cond_br wave < 1, ^stay, ^go
^stay:
  compute
  br ^stay
^go:
  write %a
  read %a
  return
"""


@pytest.mark.parametrize("body", [SHARED, ENTERED_FROM_ELSEWHERE, ENTERED_AGAIN_AFTER_THE_JOIN, NEVER_ENDS])
def test_divergent_sides_that_do_not_join_cleanly_are_refused(body: str) -> None:
    """Taken as one side for some waves, such blocks would hide what the other waves do in them."""
    with pytest.raises(FencepostError, match="do not join cleanly"):
        flow_of(body)


def test_a_divergent_branch_that_is_never_reached_guards_nothing() -> None:
    flow = flow_of(
        "  br ^side\n^dead:\n  cond_br wave < 1, ^side, ^end\n^side:\n  write %a\n  br ^end\n^end:\n  return\n"
    )
    assert flow.blocks[block_with(flow, "write")].guards == ()
