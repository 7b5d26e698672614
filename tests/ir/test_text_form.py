"""The text form: what parses, what it means, and that printing loses nothing."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fencepost as fp
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View
from fencepost.ir.expr import (
    ARITHMETIC,
    COMPARISONS,
    Binary,
    Compare,
    Const,
    Expr,
    Select,
    Unknown,
    Var,
    Wave,
    decide,
    evaluate,
)
from fencepost.ir.loop_carried import kind_of, spelled
from fencepost.ir.parser import parse, parse_all
from fencepost.ir.printer import locate, print_file, statement
from fencepost.ir.source import FencepostError, Span
from fencepost.ir.trace import Body, Graph
from fencepost.ir.verify import verify_trace
from tests.random_kernels import Shape, random_text
from tests.tiers import sweep

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "tests").rglob("*.fp"), *(ROOT / "fencepost" / "kernels").glob("*.fp")])
EVERYTHING = Shape(size=16, slots=True, asynchronous=True, barriers=0.2, expects=0.3)
ARGUMENTS = Shape(size=16, slots=True, asynchronous=True, handing=True, arguments=True, expects=0.3)
NOT_COMPARED = {"span", "host", "graph", "prev", "next", "owner", "first", "last", "source", "heirs"}


# ---------------------------------------------------------------- structure


def structure(thing: Any) -> Any:
    """Everything that a kernel says, as plain data: no spans, no references between operations."""
    if isinstance(thing, View):
        return ("view", thing.buffer.name, thing.slot, thing.lo, thing.hi)
    if isinstance(thing, ops.Arrival):
        return ("arrives", structure(thing.view), thing.count, thing.bytes)
    if isinstance(thing, Graph):
        params = [param.name for param in thing.params]
        return (thing.name, params, thing.closing, [structure(op) for op in thing])
    if isinstance(thing, tuple | list):
        return [structure(part) for part in thing]
    if isinstance(thing, ops.Operation | Buffer | Body):
        return (type(thing).__name__, list(_fields(thing)))
    if isinstance(thing, dict):
        return [(key, structure(value)) for key, value in thing.items()]
    return thing


def _fields(thing: Any) -> Iterator[tuple[str, Any]]:
    for field in dataclasses.fields(thing):
        value = getattr(thing, field.name)
        if field.name == "uses":
            yield field.name, [used.name for used in value]
        elif field.name == "numbers":
            yield field.name, list(value)
        elif field.name in ("values", "init"):
            handed = value if isinstance(value, tuple) else () if value is None else (value,)
            yield field.name, [(kind_of(each), spelled(each)) for each in handed]
        elif field.name not in NOT_COMPARED:
            yield field.name, structure(value)


def kernel(*lines: str, waves: int = 4) -> str:
    """A kernel around statements; %a has three slots of 1024 bytes, %b one."""
    body = "".join(f"  {line}\n" for line in lines)
    return f"kernel @k waves={waves} {{\n  shared %a : 3 x 1024\n  shared %b : 1024\n{body}}}\n"


def only(*lines: str) -> ops.Operation:
    """The first operation of a kernel around `lines`."""
    first = parse(kernel(*lines)).get_root_graph().first
    assert first is not None
    return first


def assert_round_trip(text: str) -> None:
    first = parse_all(text)
    printed = print_file(first)
    second = parse_all(printed)
    assert print_file(second) == printed
    assert structure(second) == structure(first)
    for trace in first:
        assert str(parse(str(trace))) == str(trace)


# ---------------------------------------------------------------- every statement

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


def test_what_an_engine_tells() -> None:
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


def test_expectations_stand_before_what_is_handed_on() -> None:
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


# ---------------------------------------------------------------- round trips


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


# ---------------------------------------------------------------- comments

COMMENTED = """\
# A file begins.

# Two paragraphs.
kernel @k waves=4 {  # behind the kernel
  # above the buffer
  shared %a : 64  # behind the buffer
  # above the loop
  #
  loop %i in 0..2 {  # behind the loop
    # above the write
    write %a  # behind the write: → 日本 #2
    # end of the loop
  }  # behind the loop's brace
  if %c {  # behind the if
    read %a
    # end of then
  } else {  # behind the else
    # nothing but this
  }  # behind the last brace of the if
  br ^x  # behind the branch
  # end of the entry block
^x:  # behind the label
  return
  # end of the kernel
}  # behind the kernel's brace
# between the kernels
kernel @j waves=1 {
  # alone
}
# A file ends.
"""


def test_comments_stay_where_they_belong() -> None:
    trace = parse_all(COMMENTED)[0]
    loop, conditional, branch = trace.get_root_graph()
    assert isinstance(loop, ops.Iterate)
    assert isinstance(conditional, ops.Conditional)
    assert trace.buffers["a"].heading == ("behind the kernel", "above the buffer")
    assert trace.buffers["a"].comment == "behind the buffer"
    assert (loop.heading, loop.comment) == (("above the loop", ""), "behind the loop")
    (write,) = loop.body
    assert (write.heading, write.comment) == (("above the write",), "behind the write: → 日本 #2")
    assert loop.body.closing == ("end of the loop",)
    assert (conditional.heading, conditional.comment) == (("behind the loop's brace",), "behind the if")
    assert conditional.then.closing == ("end of then",)
    assert conditional.orelse.closing == ("behind the else", "nothing but this")
    assert branch.heading == ("behind the last brace of the if",)
    assert branch.comment == "behind the branch"
    entry, exit_ = trace.blocks
    assert entry.closing == ("end of the entry block",)
    (end,) = exit_
    assert end.heading == ("behind the label",)
    assert exit_.closing == ("end of the kernel", "behind the kernel's brace")


def test_no_comment_is_lost_and_their_order_is_kept() -> None:
    def comments(text: str) -> list[str]:
        return [line.partition("#")[2].strip() for line in text.splitlines() if "#" in line]

    printed = print_file(parse_all(COMMENTED))
    assert comments(printed) == comments(COMMENTED)
    assert_round_trip(COMMENTED)


def test_comments_around_kernels_belong_to_the_file() -> None:
    first, second = parse_all(COMMENTED)
    assert first.heading == ("# A file begins.", "", "# Two paragraphs.")
    assert second.heading == ("# between the kernels",)
    assert second.closing == ("# A file ends.",)
    assert str(first).startswith("kernel @k")
    assert str(second).endswith("}\n")


# ---------------------------------------------------------------- lines, spaces and characters

PLAIN = kernel("loop %i in 0..4 step 2 {", "  %x = read %a[%i][0..8]  # → why", "}", "mma %x")
CRAMPED = """kernel@k waves = 4{
shared%a:3x1024
shared%b:1024
loop%i in 0 .. 4 step 2{
%x=read%a[%i][0..8]# → why
}
mma%x
}"""


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("  ", "\t"),
        PLAIN.replace(" ", "\t \t").replace("→\t \twhy", "→ why"),
        PLAIN.rstrip("\n"),
        PLAIN.replace("\n", "   \n"),
        PLAIN.replace("\n", "\n\n   \n\t\n"),
        "\n\n\r\n  " + PLAIN + "\n\n  ",
        CRAMPED,
    ],
    ids=[
        "crlf",
        "tabs",
        "wide",
        "no newline at the end",
        "trailing spaces",
        "empty lines",
        "around",
        "cramped",
    ],
)
def test_spacing_means_nothing(text: str) -> None:
    assert str(parse(text)) == PLAIN


def test_line_ends_of_other_systems_do_not_reach_comments() -> None:
    trace = parse(COMMENTED.partition("# between")[0].replace("\n", "\r\n"))
    assert "\r" not in str(trace)
    assert "\r" not in print_file([trace])


@given(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])))
@settings(derandomize=True, max_examples=200, deadline=None)
def test_any_comment_survives(comment: str) -> None:
    text = kernel(f"read %a  # {comment}", f"# {comment}")
    printed = str(parse(text))
    assert str(parse(printed)) == printed
    assert structure(parse(printed)) == structure(parse(text))
    assert only(f"read %a  # {comment}").comment == comment.strip()


# ---------------------------------------------------------------- spans


def spanned(text: str, span: Span | None) -> str:
    assert span is not None
    assert span.line == span.end_line
    return text.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]


@pytest.mark.parametrize("seed", sweep(range(0, 500, 5), first=20))
def test_spans_underline_exactly_the_statement(seed: int) -> None:
    text = random_text(seed, EVERYTHING)
    trace = parse(text)
    for op in trace.preorder_walk():
        assert spanned(text, op.span) == statement(op).removesuffix(" {")
    for buffer in trace.buffers.values():
        assert spanned(text, buffer.span) == str(buffer)


def test_spans_leave_out_comments_braces_and_spaces() -> None:
    trace = parse_all(COMMENTED)[0]
    for op in trace.preorder_walk():
        assert spanned(COMMENTED, op.span) == statement(op).removesuffix(" {")
    cramped = [spanned(CRAMPED, op.span) for op in parse(CRAMPED).preorder_walk()]
    assert cramped == ["loop%i in 0 .. 4 step 2", "%x=read%a[%i][0..8]", "mma%x"]


def test_spans_with_tabs_and_carriage_returns() -> None:
    text = kernel("loop %i in 0..2 {", "\t\tread  %a", "}").replace("\n", "\r\n")
    loop, read = parse(text).preorder_walk()
    assert spanned(text, loop.span) == "loop %i in 0..2"
    assert spanned(text, read.span) == "read  %a"


def test_printed_kernels_know_where_their_operations_stand() -> None:
    trace = parse_all(COMMENTED)[0]
    source, spans = locate(trace)
    assert source.text == str(trace)
    for op in trace.preorder_walk():
        assert spanned(source.text, spans[op]) == statement(op).removesuffix(" {")


# ---------------------------------------------------------------- the builder


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


# ---------------------------------------------------------------- index expressions

LEAVES = st.one_of(
    st.integers(-9, 9).map(Const), st.sampled_from([Var("i"), Var("j")]), st.just(Wave()), st.just(Unknown())
)


def larger(parts: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    compared = st.builds(Compare, st.sampled_from(sorted(COMPARISONS)), parts, parts)
    return st.one_of(
        st.builds(Binary, st.sampled_from(sorted(ARITHMETIC)), parts, parts),
        st.builds(Select, compared, parts, parts),
    )


EXPRS = st.recursive(LEAVES, larger, max_leaves=12)
PLAIN_EXPRS = st.recursive(
    st.one_of(st.integers(-9, 9).map(Const), st.sampled_from([Var("i"), Var("j")]), st.just(Wave())),
    lambda parts: st.builds(Binary, st.sampled_from(sorted(ARITHMETIC)), parts, parts),
    max_leaves=12,
)
ENVIRONMENTS = [({"i": i, "j": j}, wave) for i in (-3, 0, 2) for j in (1, 5) for wave in (0, 3)]


def reparsed(condition: Compare) -> Compare:
    op = only("loop %i in 0..2 {", "loop %j in 0..2 {", f"if {condition} {{", "}", "}", "}")
    assert isinstance(op, ops.Iterate)
    inner = op.body.first
    assert isinstance(inner, ops.Iterate)
    conditional = inner.body.first
    assert isinstance(conditional, ops.Conditional)
    assert isinstance(conditional.condition, Compare)
    return conditional.condition


@given(EXPRS, st.sampled_from(sorted(COMPARISONS)), EXPRS)
@settings(derandomize=True, max_examples=400, deadline=None)
def test_expressions_keep_their_meaning(left: Expr, op: str, right: Expr) -> None:
    condition = Compare(op, left, right)
    again = reparsed(condition)
    for env, wave in ENVIRONMENTS:
        assert evaluate(again.lhs, env, wave) == evaluate(left, env, wave)
        assert decide(again, env, wave) == decide(condition, env, wave)
    assert again == condition


@given(PLAIN_EXPRS)
@settings(derandomize=True, max_examples=400, deadline=None)
def test_expressions_mean_what_python_makes_of_them(expr: Expr) -> None:
    text = re.sub(r"%([ij])", r"\1", str(expr))
    for env, wave in ENVIRONMENTS:
        try:
            expected = eval(text, {}, {**env, "wave": wave})
        except ZeroDivisionError:
            expected = None
        assert evaluate(expr, env, wave) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("7 // -2", -4),
        ("7 % -3", -2),
        ("2 - 3 - 4", -5),
        ("2 - (3 - 4)", 3),
        ("12 // 2 * 3", 18),
        ("12 // (2 * 3)", 2),
        ("1 + 2 * 3 % 4", 3),
        ("(1 + 2) * 3", 9),
        ("2 - -3", 5),
        ("2--3", 5),
        ("1 // 0", None),
        ("1 % 0", None),
        ("? * 0", None),
        ("select(1 < 2, 3, 1 // 0)", 3),
        ("select(? < 2, 3, 3)", None),
        ("007", 7),
        ("5 ^ 1", 4),
        ("1 ^ 2 + 1", 2),
        ("(1 ^ 2) + 1", 4),
        ("1 ^ 2 ^ 3", 0),
        ("-1 ^ 1", -2),
        ("? ^ 1", None),
    ],
)
def test_values_of_expressions(text: str, value: int | None) -> None:
    op = only(f"if {text} == 0 {{", "}")
    assert isinstance(op, ops.Conditional)
    assert isinstance(op.condition, Compare)
    assert evaluate(op.condition.lhs, {}) == value


def test_superfluous_parentheses_go_and_needed_ones_stay() -> None:
    def printed(text: str) -> str:
        op = only(f"if {text} == 0 {{", "}")
        return statement(op).removeprefix("if ").removesuffix(" == 0 {")

    assert printed("((1)+(wave))") == "1 + wave"
    assert printed("(1 + 2) + 3") == "1 + 2 + 3"
    assert printed("1 + (2 + 3)") == "1 + (2 + 3)"
    assert printed("(wave*2)%4") == "wave * 2 % 4"
    assert printed("wave*(2%4)") == "wave * (2 % 4)"


def test_python_operators_build_the_same_expressions() -> None:
    i = Var("i")
    built = 1 + i * 2 - (3 - i) // 4 % 5
    assert str(built) == "1 + %i * 2 - (3 - %i) // 4 % 5"
    assert str(7 // i + 7 % i - 2 * i) == "7 // %i + 7 % %i - 2 * %i"
    assert str((i ^ 1) + (1 ^ i)) == "(%i ^ 1) + (1 ^ %i)"
    for value in range(-5, 6):
        assert evaluate(built, {"i": value}) == 1 + value * 2 - (3 - value) // 4 % 5


# ---------------------------------------------------------------- documentation

PAGES = [
    *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "codes.md"),
    ROOT / "README.md",
]
"""The index of codes shows what is wrong: `tests/codes` runs all of it."""
REFERENCE = ROOT / "docs" / "text-form.md"
FENCED = re.compile(r"^```fp\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(page: Path) -> list[str]:
    return FENCED.findall(page.read_text(encoding="utf-8")) if page.exists() else []


def is_whole(example: str) -> bool:
    return re.search(r"^kernel @", example, re.MULTILINE) is not None


SNIPPETS = re.findall(
    r"^```python\n(.*?)^```\n.*?^```fp\n(.*?)^```$",
    REFERENCE.read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)


WHOLE = [(page.name, text) for page in PAGES for text in examples(page) if is_whole(text)]
FRAGMENTS = [text for text in examples(REFERENCE) if not is_whole(text)]


@pytest.mark.parametrize(("page", "text"), WHOLE)
def test_kernels_in_the_documentation_parse(page: str, text: str) -> None:
    for trace in parse_all(text, page):
        assert_round_trip(str(trace))


@pytest.mark.parametrize("text", FRAGMENTS)
def test_fragments_in_the_reference_parse(text: str) -> None:
    assert_round_trip(f"kernel @k waves=8 {{\n{text}}}\n" if "shared" in text else kernel(*text.splitlines()))


@pytest.mark.parametrize(("snippet", "text"), SNIPPETS)
def test_python_in_the_reference_builds_the_kernel_below_it(snippet: str, text: str) -> None:
    variables: dict[str, Any] = {}
    exec(snippet, variables)
    assert str(variables["k"].trace) == text


def test_the_reference_has_examples() -> None:
    """None of them is missed by the patterns that look for them."""
    text = REFERENCE.read_text(encoding="utf-8")
    assert len(examples(REFERENCE)) == text.count("\n```fp\n") >= 15
    assert len(SNIPPETS) == text.count("\n```python\n") > 0


def test_the_reference_shows_every_statement() -> None:
    shown = "\n".join(examples(REFERENCE))
    for op in _subclasses(ops.Operation):
        if op.mnemonic:
            assert re.search(rf"\b{op.mnemonic}\b", shown), op.mnemonic


def test_the_reference_lists_every_code_for_wrong_input() -> None:
    used: set[str] = set()
    for path in (ROOT / "fencepost").rglob("*.py"):
        used.update(re.findall(r"\"(FP1\d\d)\"", path.read_text(encoding="utf-8")))
    listed = re.findall(r"^\| `(FP1\d\d)` \|", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == sorted(used)


def _subclasses(kind: type[ops.Operation]) -> Iterator[type[ops.Operation]]:
    for sub in kind.__subclasses__():
        yield sub
        yield from _subclasses(sub)
