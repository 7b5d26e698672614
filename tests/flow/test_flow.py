"""Program points, edges, loops and frequencies of each form of control flow."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from fencepost.analysis.build_program import read_program
from fencepost.check import check
from fencepost.flow import DEFAULT_ESTIMATES, Estimates, Flow, build_flow
from fencepost.flow.blocks import MOST, RARE
from fencepost.ir import ops
from fencepost.ir.parser import parse
from fencepost.ir.printer import statement
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from tests.campaign import every_kernel_has_a_flow
from tests.random_kernels import Shape, random_text


def flow_of(body: str, estimates: Estimates = DEFAULT_ESTIMATES) -> Flow:
    return build_flow(parse(f"kernel @k waves=4 {{\n  shared %a : 64\n{body}}}\n"), estimates)


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


# ---------------------------------------------------------------- frequencies


def frequency(flow: Flow, mnemonic: str) -> float:
    return flow.blocks[block_with(flow, mnemonic)].frequency


def assumed(flow: Flow) -> list[tuple[str, str, float]]:
    return [(statement(op).removesuffix(" {"), what, number) for op, what, number in flow.assumed]


GUESSING = """  loop %i in 0..? {
    read %a
    if %c {
      write %a
    } else {
      atomic %a
    }
  }
"""
ESTIMATES = Estimates(trip=10, taken=0.25)


def test_what_a_kernel_does_not_say_is_estimated() -> None:
    for flow, read, write, atomic in (
        (flow_of(GUESSING), 100, 50, 50),
        (flow_of(GUESSING, ESTIMATES), 10, 2.5, 7.5),
    ):
        assert [frequency(flow, name) for name in ("read", "write", "atomic")] == [read, write, atomic]
        assert assumed(flow) == [
            ("loop %i in 0..?", "trip", flow.estimates.trip),
            ("if %c", "taken", flow.estimates.taken),
        ]


def test_what_a_kernel_says_is_not_estimated() -> None:
    text = GUESSING.replace("..?", "..? expect=64").replace("%c", "%c expect=0.125")
    flow = flow_of(text, ESTIMATES)
    assert [frequency(flow, name) for name in ("read", "write", "atomic")] == [64, 8, 56]
    assert flow.assumed == []
    known = flow_of("  loop %i in 0..8 {\n    if wave < 1 {\n      read %a\n    }\n  }\n", ESTIMATES)
    assert frequency(known, "read") == 8
    assert known.assumed == []


def test_what_is_expected_never_to_run_counts_a_little() -> None:
    for never, read, write in (("0", RARE, 1 - RARE), ("1", 1 - RARE, RARE)):
        flow = flow_of(f"  if %c expect={never} {{\n    read %a\n  }} else {{\n    write %a\n  }}\n")
        assert frequency(flow, "read") == pytest.approx(read)
        assert frequency(flow, "write") == pytest.approx(write)


def test_a_loop_that_runs_no_time_has_frequency_zero_and_nothing_in_it_is_assumed() -> None:
    flow = flow_of("  loop %i in 0..0 {\n    loop %j in 0..? {\n      read %a\n    }\n  }\n")
    assert frequency(flow, "read") == 0
    assert flow.assumed == []


@pytest.mark.parametrize("opening", ["loop %i{} in 0..? expect=1000 {{\n", "if %c{} expect=0 {{\n"])
def test_frequencies_stay_numbers_however_deep_they_multiply(opening: str) -> None:
    flow = flow_of("".join(opening.format(number) for number in range(500)) + "read %a\n" + "}\n" * 500)
    assert 0 < frequency(flow, "read") <= MOST


def test_functions_are_listed_once_and_where_they_run_first() -> None:
    trace = parse(
        "func @f {\n  loop %i in 0..? {\n  }\n}\nfunc @g {\n  call @f\n  if %c {\n  }\n}\n"
        "kernel @k waves=4 {\n  loop %j in 0..0 {\n    call @g\n  }\n  if %d {\n    call @g\n  }\n"
        "  call @f\n  call @g\n}\n"
    )
    assert [text for text, _, _ in assumed(build_flow(trace))] == ["if %d", "loop %i in 0..?", "if %c"]


@pytest.mark.parametrize(
    "numbers", [{"trip": 0.5}, {"trip": float("inf")}, {"trip": float("nan")}, {"taken": -0.1}, {"taken": 2}]
)
def test_estimates_that_make_no_sense_are_refused(numbers: dict[str, float]) -> None:
    with pytest.raises(FencepostError):
        Estimates(**numbers)


def test_a_program_is_read_with_estimates() -> None:
    trace = parse(f"kernel @k waves=4 {{\n  shared %a : 64\n{GUESSING}}}\n")
    flow = read_program(build_flow(trace, ESTIMATES)).flow
    assert flow.estimates == ESTIMATES
    assert frequency(flow, "read") == 10


# ---------------------------------------------------------------- frequencies of blocks


def test_branches_between_blocks_are_estimated_like_conditionals() -> None:
    body = LOOP_OF_BLOCKS.replace(" trip=10", "")
    flow = flow_of(body, ESTIMATES)
    assert [frequency(flow, name) for name in ("read", "write", "atomic")] == [10, 2.5, 1]
    assert assumed(flow) == [
        ("cond_br %c, ^left, ^right", "taken", 0.25),
        ("cond_br %d, ^head, ^exit", "trip", 10),
    ]
    said = flow_of(
        body.replace("^right\n", "^right expect=0.75\n", 1).replace("^exit\n", "^exit expect=0.9375\n", 1)
    )
    assert [frequency(said, name) for name in ("read", "write", "atomic")] == [16, 12, 1]
    assert said.assumed == []


def test_a_loop_that_is_left_from_its_head() -> None:
    body = (
        "  br ^head\n^head:\n  read %a\n  cond_br %c, ^body, ^exit\n^body:\n  write %a\n  br ^head\n"
        "^exit:\n  return\n"
    )
    assert assumed(flow_of(body)) == [("cond_br %c, ^body, ^exit", "trip", 100)]
    flow = flow_of(body.replace("^exit\n", "^exit expect=0.75\n", 1))
    assert (frequency(flow, "read"), frequency(flow, "write")) == (4, 3)
    assert flow.assumed == []


def test_a_loop_without_an_exit() -> None:
    flow = flow_of("  br ^head\n^head:\n  read %a\n  br ^head\n")
    assert frequency(flow, "read") == 100
    assert assumed(flow) == [("br ^head", "trip", 100)]


EARLY_EXIT = """  br ^head
^head:
  read %a
  cond_br %c, ^fail, ^latch expect=0.25
^latch:
  write %a
  cond_br %d, ^head, ^exit
^fail:
  atomic %a
  return
^exit:
  compute
  return
"""


def test_exits_that_are_known_and_exits_that_are_not() -> None:
    """A quarter of the passes fail, and besides one in four is the last: two passes, and both ends are as likely."""
    flow = flow_of(EARLY_EXIT, Estimates(trip=4))
    assert [frequency(flow, name) for name in ("read", "write", "atomic")] == [2, 1.5, 0.5]
    assert frequency(flow, "compute") == 0.5
    assert assumed(flow) == [("cond_br %d, ^head, ^exit", "trip", 4)]
    # How often it runs is said outright: then it does.
    told = flow_of(EARLY_EXIT.replace("^exit\n", "^exit trip=4\n", 1))
    assert [frequency(told, name) for name in ("read", "write", "atomic")] == [4, 3, 0.5]


def test_an_edge_that_leaves_two_loops() -> None:
    body = """  br ^outer
^outer:
  br ^inner
^inner:
  read %a
  cond_br %c, ^exit, ^more expect=0.125
^more:
  cond_br %d, ^inner, ^latch expect=0.5
^latch:
  write %a
  cond_br %e, ^outer, ^exit expect=1
^exit:
  atomic %a
  return
"""
    flow = flow_of(body)
    assert frequency(flow, "read") == pytest.approx(8, rel=1e-4)
    assert frequency(flow, "write") == pytest.approx(3.5, rel=1e-4)
    assert frequency(flow, "atomic") == pytest.approx(1)


def test_a_block_that_cannot_be_reached_has_frequency_zero() -> None:
    flow = flow_of(
        "  return\n^dead:\n  if %c {\n    read %a\n  }\n  cond_br %d, ^dead, ^end\n^end:\n  return\n"
    )
    assert frequency(flow, "read") == 0
    assert flow.assumed == []


def test_a_loop_entered_in_two_places_is_left_as_often_as_it_is_entered() -> None:
    flow = flow_of(
        "  cond_br %c, ^one, ^two\n^one:\n  read %a\n  br ^two\n^two:\n  write %a\n  cond_br %d, ^one, ^exit\n"
        "^exit:\n  atomic %a\n  return\n"
    )
    assert [frequency(flow, name) for name in ("read", "write", "atomic")] == [100, 100, 1]


def markov(trace: CapturedTrace) -> list[Fraction]:
    """How often the blocks of a kernel run if every branch says how likely it is, solved exactly."""
    number = {graph.name: index for index, graph in enumerate(trace.blocks)}
    size = len(number)
    rows = [[Fraction(row == column) for column in range(size)] + [Fraction(row == 0)] for row in range(size)]
    for graph in trace.blocks:
        end = graph.last
        if isinstance(end, ops.Branch):
            rows[number[end.target]][number[graph.name]] -= 1
        elif isinstance(end, ops.CondBranch):
            assert end.expect is not None
            taken = min(max(Fraction(end.expect), Fraction(RARE)), 1 - Fraction(RARE))
            rows[number[end.then]][number[graph.name]] -= taken
            rows[number[end.orelse]][number[graph.name]] -= 1 - taken
    for column in range(size):
        pivot = next(row for row in range(column, size) if rows[row][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for row in range(size):
            if row != column and rows[row][column]:
                factor = rows[row][column]
                rows[row] = [
                    value - factor * other for value, other in zip(rows[row], rows[column], strict=True)
                ]
    return [row[-1] for row in rows]


def entered_at_their_headers(flow: Flow) -> bool:
    return all(
        loop.header == target or loop in flow.loops_around(source)
        for source in flow.order
        for target in flow.blocks[source].successors
        for loop in flow.loops_around(target)
    )


def test_with_all_probabilities_known_frequencies_are_exact() -> None:
    compared = 0
    for seed in range(1_000):
        trace = parse(random_text(seed, Shape(size=3, depth=0, divergent=False, expects=1.0)))
        flow = build_flow(trace)
        if len(trace.blocks) > 1 and entered_at_their_headers(flow):
            compared += 1
            expected = [float(runs) for runs in markov(trace)]
            assert [block.frequency for block in flow.blocks] == pytest.approx(expected, rel=1e-9)
    assert compared > 200


EXPECTING = Shape(slots=True, handing=True, functions=True, expects=0.7)


def without_expectations(text: str) -> str:
    return re.sub(r" expect=\S+", "", text)


def verdict(text: str) -> tuple[object, ...]:
    """What `check` finds, and how far it looks."""
    report = check(parse(text))
    races = [
        (race.kind, race.first.op.span, race.second.op.span, race.rounds, race.why) for race in report.races
    ]
    return races, [stuck.message for stuck in report.deadlocks], len(report.out_of_range), report.explored


def test_random_kernels_are_the_same_but_for_what_they_expect() -> None:
    texts = [random_text(seed, EXPECTING) for seed in range(200)]
    plain = [random_text(seed, Shape(slots=True, handing=True, functions=True)) for seed in range(200)]
    assert [without_expectations(text) for text in texts] == plain
    assert {
        op for op in ("loop", "if", "cond_br") for text in texts if re.search(rf"{op}.* expect=", text)
    } == {
        "loop",
        "if",
        "cond_br",
    }


def test_nothing_but_frequencies_depends_on_what_is_expected() -> None:
    for seed in range(150):
        text = random_text(seed, EXPECTING)
        plain = without_expectations(text)
        assert every_kernel_has_a_flow(text) is None
        one, other = build_flow(parse(text)), build_flow(parse(plain), ESTIMATES)
        assert all(one.blocks[index].frequency > 0 for index in one.order)
        assert [(block.successors, block.loop, block.origin) for block in one.blocks] == [
            (block.successors, block.loop, block.origin) for block in other.blocks
        ]
        assert [(loop.trip, loop.header, loop.latches) for loop in one.loops] == [
            (loop.trip, loop.header, loop.latches) for loop in other.loops
        ]
        assert verdict(text) == verdict(plain)
