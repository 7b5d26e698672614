"""The text form: what parses, what it means, and that printing loses nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fencepost as fp
from fencepost.ir import ops
from fencepost.ir.expr import (
    Compare,
    Const,
    Select,
    Unknown,
    Var,
    Wave,
)
from fencepost.ir.parser import parse, parse_all
from fencepost.ir.printer import statement
from fencepost.ir.source import FencepostError
from fencepost.ir.verify import verify_trace
from tests.ir.round_trip import (
    EVERYTHING,
    ROOT,
    assert_round_trip,
    kernel,
    only,
    structure,
)
from tests.random_kernels import Shape, random_text
from tests.tiers import sweep

FILES = sorted([*(ROOT / "tests").rglob("*.fp"), *(ROOT / "fencepost" / "kernels").glob("*.fp")])

ARGUMENTS = Shape(size=16, slots=True, asynchronous=True, handing=True, arguments=True, expects=0.3)

CANONICAL = [
    "read %a",
    "read %a[0]",
    "read %a[0..3072]",
    "read %a[2][16..1024]",
    "%x = read %a[?]",
    "read %a[wave % 3]",
    "write %a",
    "write %a[wave % 3][wave * 16..wave * 16 + 16]",
    "%x = atomic %b[0..4]",
    "atomic %b group=g0",
    "atomic %b update=add",
    "%x = atomic %b group=g0 update=exchange",
    "gather_to_lds %a[0]",
    "gather_to_lds %a counter=vm",
    "tensor_load_to_lds %a[1], %b",
    "tensor_load_to_lds %a, %b group=tile.0 counter=tdm",
    "%x = exchange %b",
    "async_mma %a[1], %b",
    "%x = async_mma %a group=g counter=wgmma",
    "tensor_store_from_lds %a[0]",
    "tensor_store_from_lds %b counter=bulk",
    "%x = global_read",
    "global_read counter=vm",
    "global_write",
    "global_write counter=vs",
    "%x = null_async_dep",
    "commit load",
    "commit cp.async",
    "mma",
    "%x.y_1 = compute",
    "barrier",
    "barrier async",
    "barrier load=0",
    "barrier tensor=2 load=1",
    "barrier async tensor=2",
    "barrier async=0 after=1",
    "barrier async async=0",
    "workgroup_barrier",
    "signal",
    "signal 0",
    "signal 3",
    "wait",
    "wait 0",
    "wait_count load=0",
    "wait_count load=3 store=0 tensor=1",
    "wait_count async=0 after=1",
    "%w = wait_count load=0",
    "barrier waves 0..4",
    "barrier async waves 2..64 load=1",
    "barrier waves=0",
    "mbarrier_init %a[0] count=1",
    "mbarrier_init %b count=128",
    "mbarrier_init %b count=1 until=inval",
    "mbarrier_inval %b",
    "mbarrier_inval %a[1]",
    "mbarrier_arrive %b",
    "mbarrier_arrive %b[0..8] count=4",
    "mbarrier_arrive %a[wave % 3] count=4 counter=cp.async",
    "mbarrier_arrive %b counter=phase",
    "mbarrier_expect %a[2] bytes=1024",
    "mbarrier_wait %b phase=0",
    "mbarrier_wait %a[wave % 3] phase=(wave + 1) % 2 ^ 1",
    "mbarrier_wait %b phase=?",
    "gather_to_lds %a[0] arrives %b count=1",
    "%x = tensor_load_to_lds %a[0], %b group=g counter=tma arrives %b[8..16] bytes=1024",
    "async_mma %a counter=wgmma arrives %a[2] count=3",
    "tensor_store_from_lds %b counter=arrives arrives %b count=1",
    "sched_barrier",
    "set_wave_prio 0",
    "set_wave_prio 3",
    "return",
]


@pytest.mark.parametrize("line", CANONICAL)
def test_each_statement_prints_as_it_was_written(line: str) -> None:
    text = kernel(line)
    assert str(parse(text)) == text
    assert statement(only(line)) == line


def test_hints_to_the_compiler_order_no_waves() -> None:
    between = ("sched_barrier", "set_wave_prio 1", "sched_barrier")
    racing, met = (parse(kernel("write %a", *more, "read %a")) for more in (between, (*between, "barrier")))
    assert len(fp.check(racing).races) == 1
    assert fp.check(met).ok
    fp.add_shared_memory_barriers(racing)
    assert [op.mnemonic for op in racing.get_root_graph()].count("barrier") == 1
    assert fp.check(racing).ok


def test_hints_in_python() -> None:
    k = fp.Kernel("k", waves=4)
    assert isinstance(k.sched_barrier(), ops.SchedulingBarrier)
    assert k.set_wave_prio(2).priority == 2
    assert str(k.trace) == "kernel @k waves=4 {\n  sched_barrier\n  set_wave_prio 2\n}\n"
    with pytest.raises(FencepostError, match="priority 4; waves have 0 to 3"):
        k.set_wave_prio(4)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("set_wave_prio 4", "priority 4; waves have 0 to 3"),
        ("set_wave_prio", "unexpected end of line"),
        ("sched_barrier 1", "unexpected '1'"),
        ("sched_barriers", "unexpected 'sched_barriers'"),
    ],
)
def test_hints_that_make_no_sense(line: str, message: str) -> None:
    with pytest.raises(FencepostError, match=message):
        parse(kernel(line))


OPENING = [
    "loop %i in 0..8 {",
    "loop %i in -4..4 {",
    "loop %i in -8..-2 step 3 {",
    "loop %i in 0..? {",
    "loop %i in 5..? step 2 {",
    "loop %i in 8..0 {",
    "loop %i in -1..%n {",
    "loop %i in 0..%n step 2 expect=4 carry %x = %n {",
    "loop %i in 0..? expect=1 {",
    "loop %i in 5..? step 2 expect=999999999999999999 {",
    "if %c {",
    "if %c expect=0 {",
    "if %c expect=1 {",
    "if %c expect=0.05 {",
    "if ? != 0 expect=0.0000000125 {",
    "if wave < 2 {",
    "if wave % 2 == 0 {",
    "if ? != 0 {",
    "if select(wave >= 1, 2, 3) > 2 {",
    "if wave ^ 1 == 0 {",
    "if (wave ^ 1) % 2 == 0 {",
    "if wave ^ wave + 1 == 0 {",
]


def region(line: str) -> str:
    """A kernel with one region."""
    given = ["param %n"] if "%n" in line else []
    return kernel(*given, line, "  barrier", *(["  next %x + 1"] if "carry" in line else []), "}")


@pytest.mark.parametrize("line", OPENING)
def test_each_region_prints_as_it_was_written(line: str) -> None:
    text = region(line)
    assert str(parse(text)) == text


def test_numbers_that_a_kernel_is_given() -> None:
    text = kernel("param %n", "param %k.1", "if %n // 64 < %k.1 {", "  read %a[%n % 3]", "}")
    trace = parse(text)
    assert str(trace) == text
    assert list(trace.numbers) == ["n", "k.1"]
    assert_round_trip(text)


def test_what_an_engine_arrives_on() -> None:
    op = only("gather_to_lds %a[0] arrives %b[8..16] bytes=64")
    assert isinstance(op, ops.GatherToLDS)
    assert op.arrives is not None
    assert (op.arrives.bytes, op.arrives.count, str(op.arrives.view)) == (64, 0, "%b[8..16]")
    assert op.counter == "load"


def test_both_sides_of_a_conditional() -> None:
    text = kernel("if %c {", "  read %a", "} else {", "  write %a", "}")
    assert str(parse(text)) == text
    empty_side = kernel("if %c {", "} else {", "  write %a", "}")
    assert str(parse(empty_side)) == empty_side


def test_an_empty_else_is_left_out() -> None:
    assert str(parse(kernel("if %c {", "  read %a", "} else {", "}"))) == kernel("if %c {", "  read %a", "}")


def test_blocks() -> None:
    text = (
        "kernel @k waves=4 {\n  shared %a : 64\n  br ^head\n"
        "^head:\n  write %a\n  cond_br %more, ^head, ^exit trip=8\n"
        "^exit:\n  cond_br wave < 2, ^then, ^end\n^then:\n  br ^end\n^end:\n  return\n}\n"
    )
    trace = parse(text)
    assert str(trace) == text
    assert [block.name for block in trace.blocks] == ["entry", "head", "exit", "then", "end"]


RING = """\
kernel @ring waves=4 {
  shared %a : 3 x 64
  br ^head(2, 0)
^head(%in, %out.1):
  cond_br %in < 3, ^body, ^end
^body:
  write %a[%in]
  read %a[%out.1][%in * 16..%in * 16 + 16]
  br ^head(select(%in + 1 == 3, 0, %in + 1), (%out.1 + 1) % 3)
^end:
  br ^last(%in ^ -1, ?, wave % 2)
^last(%x, %y, %z):
  return
}
"""


def test_blocks_with_arguments() -> None:
    trace = parse(RING)
    assert str(trace) == RING
    assert_round_trip(RING)
    names = [[(name.name, name.kind, name.init) for name in block.params] for block in trace.blocks]
    assert names == [
        [],
        [("in", ops.NUMBER, None), ("out.1", ops.NUMBER, None)],
        [],
        [],
        [("x", ops.NUMBER, None), ("y", ops.NUMBER, None), ("z", ops.NUMBER, None)],
    ]
    branches = [op for op in trace.preorder_walk() if isinstance(op, ops.Branch)]
    assert [branch.target for branch in branches] == ["head", "head", "last"]
    assert branches[0].args == (Const(2), Const(0))
    assert branches[1].args == (
        Select(Compare("==", Var("in") + 1, Const(3)), Const(0), Var("in") + 1),
        (Var("out.1") + 1) % 3,
    )
    assert branches[2].args == (Var("in") ^ -1, Unknown(), Wave() % 2)


def test_arguments_belong_to_the_block_that_names_them() -> None:
    trace = parse(RING)
    verify_trace(trace)
    for branch in (op for op in trace.preorder_walk() if isinstance(op, ops.Branch)):
        (target,) = [block for block in trace.blocks if block.name == branch.target]
        assert branch.names == target.params


ABOVE = """\
kernel @k waves=4 {
  shared %a : 3 x 64
  cond_br %c, ^z, ^x
^x:
  read %a[%n]
  br ^y(%n + 1)
^y(%n):
  loop %i in 0..4 carry %k = %n {
    if %n == 0 {
      read %a[%k]
    }
    next %n
  }
  cond_br %n < 3, ^x, ^z
^z:
  return
}
"""


def test_arguments_can_be_used_above_their_block_and_in_regions() -> None:
    trace = parse(ABOVE)
    verify_trace(trace)
    assert str(trace) == ABOVE
    assert_round_trip(ABOVE)
    (loop,) = [op for op in trace.preorder_walk() if isinstance(op, ops.Iterate)]
    assert loop.carried[0].init == Var("n")


def test_spaces_in_arguments_mean_nothing() -> None:
    text = RING.replace("(%in, %out.1):", " ( %in ,%out.1 ) :  # numbers").replace(
        "br ^head(2, 0)", "br ^head (2,0)"
    )
    moved = RING.replace("^head(%in, %out.1):\n", "^head(%in, %out.1):\n  # numbers\n")
    assert str(parse(text)) == moved


def test_expectations_stand_before_what_is_forwarded() -> None:
    text = kernel(
        *("loop %i in 0..? step 2 expect=64 carry %x = 0 {", "  next %x + 1", "}"),
        *("if %c expect=0.25 gives %y {", "  give 1", "} else {", "  give 0", "}"),
    )
    trace = parse(text)
    assert str(trace) == text
    loop, conditional = trace.get_root_graph()
    assert isinstance(loop, ops.Iterate)
    assert isinstance(conditional, ops.Conditional)
    assert (loop.trip, loop.expect, conditional.expect) == (None, 64, 0.25)


def test_branches_say_how_often_or_how_likely() -> None:
    text = kernel("br ^x", "^x:", "cond_br %c, ^x, ^y trip=0", "^y:", "cond_br %d, ^x, ^z expect=0.5", "^z:")
    branches = [op for op in parse(text).preorder_walk() if isinstance(op, ops.CondBranch)]
    assert [(branch.trip, branch.expect) for branch in branches] == [(0, None), (None, 0.5)]
    assert [statement(branch) for branch in branches] == [
        "cond_br %c, ^x, ^y trip=0",
        "cond_br %d, ^x, ^z expect=0.5",
    ]


def test_probabilities_are_printed_as_short_as_they_can_be() -> None:
    for written, printed in (("0.50", "0.5"), ("01", "1"), ("1.000", "1"), ("0.0", "0"), ("000.1", "0.1")):
        assert statement(only(f"if %c expect={written} {{", "}")) == f"if %c expect={printed} {{"
    assert statement(only("loop %i in 0..? expect=007 {", "}")) == "loop %i in 0..? expect=7 {"


@given(st.floats(0, 1))
@settings(derandomize=True, max_examples=300, deadline=None)
def test_any_probability_survives(expected: float) -> None:
    k = fp.Kernel("k", waves=4)
    with k.cond("c", expect=expected):
        pass
    op = parse(str(k.trace)).get_root_graph().first
    assert isinstance(op, ops.Conditional)
    assert op.expect == expected


def test_values_are_used_before_and_after_they_are_defined() -> None:
    text = kernel(
        "loop %i in 0..4 {", "  %acc = mma %acc, %x", "  %x = read %a", "}", "write %b, %acc group=g"
    )
    trace = parse(text)
    assert str(trace) == text
    mma, read = trace.walk_graph("region_1")
    assert isinstance(mma, ops.MMA)
    assert mma.uses == (mma, read)


def test_buffers() -> None:
    text = (
        "kernel @k waves=1 {\n  shared %a : 64\n  shared %b : 2 x 64 at 0\n  shared %c : 8 at 64\n"
        "  shared %d : 1099511627776\n}\n"
    )
    trace = parse(text)
    assert str(trace) == text
    assert [(b.slots, b.slot_bytes, b.offset) for b in trace.buffers.values()] == [
        (1, 64, None),
        (2, 64, 0),
        (1, 8, 64),
        (1, 2**40, None),
    ]


def test_the_default_counter_and_barrier_are_not_spelled_out() -> None:
    text = kernel(
        "gather_to_lds %a counter=load", "tensor_load_to_lds %a counter=tensor", "signal -1", "wait -1"
    )
    assert str(parse(text)) == kernel("gather_to_lds %a", "tensor_load_to_lds %a", "signal", "wait")


def test_an_operation_may_be_named_like_a_word_of_the_language() -> None:
    text = kernel("%read = read %a group=barrier", "%loop = mma %read", "wait_count wave=1 loop=2")
    assert str(parse(text)) == text


def test_a_kernel_without_anything() -> None:
    assert str(parse("kernel @empty waves=64 {\n}")) == "kernel @empty waves=64 {\n}\n"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_round_trip(path: Path) -> None:
    try:
        text = path.read_bytes().decode()
        parse_all(text)
    except (FencepostError, UnicodeDecodeError):
        pytest.skip("a file that is wrong on purpose")
    assert_round_trip(text)


@pytest.mark.parametrize("part", sweep(range(10), first=2))
def test_random_kernels_round_trip(part: int) -> None:
    for seed in range(part * 50, part * 50 + 50):
        text = random_text(seed, EVERYTHING)
        # An empty else says nothing, and is not printed.
        assert str(parse(text)) == re.sub(r"\} else \{\n *\}", "}", text)
        assert_round_trip(text)
        assert_round_trip(random_text(seed, ARGUMENTS))


def test_structure_tells_kernels_apart() -> None:
    texts = {kernel(line) for line in CANONICAL} | {region(line) for line in OPENING}
    structures = [repr(structure(parse(text))) for text in texts]
    assert len(set(structures)) == len(texts)


def test_the_builder_says_the_same_as_the_text() -> None:
    k = fp.Kernel("all", waves=8)
    a = k.shared("a", slots=3, bytes=64)
    b = k.shared("b", bytes=64, offset=0)
    with k.loop("i", trip=4, start=2, step=3) as i:
        k.gather_to_lds(a[(i + 2) % 3], group="g")
        k.gather_to_lds(a, counter="vm")
        k.tensor_load_to_lds(a[0], b)
        x = k.read(a[i % 3].bytes(0, 16))
        y = k.global_read()
        k.mma(x, y)
        k.barrier(wait_async_ops=True)
    with k.loop("j", expect=64):
        k.atomic(b.bytes(8, 16))
    with k.cond(fp.wave >= 4) as side:
        k.workgroup_barrier()
        with side.orelse():
            k.wait_count(load=2, tensor=0)
    with k.cond("flag", expect=0.05):
        k.signal()
        k.wait(3)
    k.write(b, k.compute(x))
    k.cond_br("more", "one", "two", trip=3)
    k.block("one")
    k.cond_br("again", "one", "two", expect=1)
    k.block("two")
    k.global_write()
    k.ret()
    expected = """\
kernel @all waves=8 {
  shared %a : 3 x 64
  shared %b : 64 at 0
  loop %i in 2..14 step 3 {
    gather_to_lds %a[(%i + 2) % 3] group=g
    gather_to_lds %a counter=vm
    tensor_load_to_lds %a[0], %b
    %r0 = read %a[%i % 3][0..16]
    %g0 = global_read
    mma %r0, %g0
    barrier async
  }
  loop %j in 0..? expect=64 {
    atomic %b[8..16]
  }
  if wave >= 4 {
    workgroup_barrier
  } else {
    wait_count load=2 tensor=0
  }
  if %flag expect=0.05 {
    signal
    wait 3
  }
  %c0 = compute %r0
  write %b, %c0
  cond_br %more, ^one, ^two trip=3
^one:
  cond_br %again, ^one, ^two expect=1
^two:
  global_write
  return
}
"""
    assert str(k.trace) == expected
    assert structure(parse(expected)) == structure(k.trace)
