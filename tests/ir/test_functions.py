"""Functions: what kernels call, how files keep them, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import fencepost as fp
from fencepost.ir import ops
from fencepost.ir.builder import FunctionBuilder
from fencepost.ir.parser import parse, parse_all
from fencepost.ir.printer import locate, print_file, statement
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace, Function
from fencepost.ir.verify import verify_trace
from tests.commands.called import Mistake, assert_explained, fencepost, message_of
from tests.ir.round_trip import assert_round_trip, structure
from tests.ir.test_spans import spanned

LAYERED = """\
func @inner {
  shared %s : 64 at 0
  exchange %s
}

func @outer {
  shared %s : 64 at 64
  loop %i in 0..2 carry %x = 0 {
    call @inner at 64
    write %s
    next %x + 1
  }
}

kernel @k waves=4 {
  shared %s : 64
  loop %i in 0..2 {
    call @outer
    call @inner at 1024
  }
}
"""


def functions(trace: CapturedTrace) -> list[str]:
    return [function.name for function in trace.functions()]


def test_functions_are_printed_before_what_calls_them() -> None:
    trace = parse(LAYERED)
    assert str(trace) == LAYERED
    assert functions(trace) == ["inner", "outer"]
    assert_round_trip(LAYERED)
    verify_trace(trace)


def test_a_call_names_its_function_and_frame() -> None:
    loop = parse(LAYERED).get_root_graph().first
    assert isinstance(loop, ops.Iterate)
    outer, inner = loop.body
    assert isinstance(outer, ops.Call)
    assert isinstance(inner, ops.Call)
    assert (outer.function.name, outer.frame, statement(outer)) == ("outer", 0, "call @outer")
    assert (inner.function.name, inner.frame, statement(inner)) == ("inner", 1024, "call @inner at 1024")
    nested = [op for op in outer.function.preorder_walk() if isinstance(op, ops.Call)]
    assert [op.function for op in nested] == [inner.function]


def test_names_belong_to_their_function() -> None:
    trace = parse(LAYERED)
    buffers = [body.buffers["s"] for body in (*trace.functions(), trace)]
    assert len({id(buffer) for buffer in buffers}) == 3
    assert [buffer.offset for buffer in buffers] == [0, 64, None]


def test_a_kernel_calls_functions_that_stand_below_it() -> None:
    text = "kernel @k waves=4 {\n  call @f\n}\nfunc @f {\n  barrier\n}\n"
    (trace,) = parse_all(text)
    assert functions(trace) == ["f"]
    assert print_file([trace]) == text.replace("}\nfunc", "}\n\nfunc")
    assert str(trace).startswith("func @f {")


FILE = """\
# License

# helps
func @helper {
  # above the exchange
  shared %s : 64  # scratch
  exchange %s  # behind it
  # at the end
}

# one
kernel @one waves=4 {
  call @helper
  call @between at 8
}

# nobody calls this one
func @unused {
  call @helper
}

# between
func @between {
}

# two
kernel @two waves=1 {
  call @between
}

# last
func @last {
}

# The end.
"""


def test_files_keep_their_functions_where_they_stand() -> None:
    one, two = parse_all(FILE)
    assert [function.name for function in (*one.above, *two.above, *two.below)] == [
        *("helper", "unused", "between", "last"),
    ]
    assert functions(one) == ["helper", "between"]
    assert functions(two) == ["between"]
    assert print_file([one, two]) == FILE
    assert_round_trip(FILE)


def test_comments_in_functions_belong_to_them() -> None:
    one, _ = parse_all(FILE)
    (helper,) = one.above
    assert helper.heading == ("# License", "", "# helps")
    assert helper.buffers["s"].heading == ("above the exchange",)
    assert helper.buffers["s"].comment == "scratch"
    (exchange,) = helper.get_root_graph()
    assert exchange.comment == "behind it"
    assert helper.get_root_graph().closing == ("at the end",)


def test_a_part_of_a_file_brings_the_functions_that_it_needs() -> None:
    one, two = parse_all(FILE)
    alone = print_file([one])
    assert [function.name for function in parse(alone).above] == ["helper", "between"]
    assert str(two) == "func @between {\n}\n\nkernel @two waves=1 {\n  call @between\n}\n"


def test_files_are_written_back_with_all_functions(tmp_path: Path) -> None:
    file = tmp_path / "k.fp"
    file.write_text(FILE)
    assert fencepost("insert", "-w", str(file)).code == 0
    assert file.read_text() == FILE


def test_printed_kernels_know_where_operations_of_functions_stand() -> None:
    trace = parse(LAYERED)
    source, spans = locate(trace)
    assert source.text == LAYERED
    for body in (*trace.functions(), trace):
        for op in body.preorder_walk():
            assert spanned(source.text, spans[op]) == statement(op).removesuffix(" {")


def test_functions_alone_are_no_kernel(tmp_path: Path) -> None:
    assert parse_all("func @f {\n}\n") == []
    file = tmp_path / "f.fp"
    file.write_text("func @f {\n}\n")
    assert "there is no kernel" in fencepost("check", str(file)).err


# ---------------------------------------------------------------- mistakes

CALLER = "kernel @k waves=4 {\n  call @f\n}\n"
MISTAKES = {
    "no such function": Mistake(CALLER, "FP104", "there is no function @f", 2, "@f"),
    "known functions": Mistake("func @g {\n}\n" + CALLER, "FP104", "functions: @g", 4, "@f"),
    "a kernel": Mistake(
        CALLER.replace("@k", "@f"), "FP104", "@f is a kernel; only functions are called", 2, "@f"
    ),
    "itself": Mistake("func @f {\n  call @f\n}\n" + CALLER, "FP108", "@f calls itself", 2, "@f"),
    "each other": Mistake(
        "func @f {\n  call @g\n}\nfunc @g {\n  call @f\n}\n" + CALLER, "FP108", "@g stands below", 2, "@g"
    ),
    "no sign": Mistake("kernel @k waves=4 {\n  call f\n}\n", "FP101", "a function name such as @scan", 2, "f"),
    "no name": Mistake("func {\n}\n", "FP101", "a function name such as @scan", 1, "{"),
    "waves": Mistake("func @f waves=4 {\n}\n", "FP101", "expected: '{'", 1, "waves"),
    "no brace": Mistake("func @f\n", "FP101", "expected: '{'", 1, " "),
    "not closed": Mistake("func @f {\n", "FP101", "this has no `}`", 1, "func @f {"),
    "a frame in words": Mistake(
        "func @f {\n}\nkernel @k waves=4 {\n  call @f at home\n}\n", "FP101", "a number", 4, "home"
    ),
    "a frame below zero": Mistake(
        "func @f {\n}\nkernel @k waves=4 {\n  call @f at -8\n}\n", "FP101", "a number", 4, "-"
    ),
    "a frame too far on": Mistake(
        f"func @f {{\n}}\nkernel @k waves=4 {{\n  call @f at {2**41}\n}}\n", "FP100", "terabyte", 4, str(2**41)
    ),
    "a frame that is no number": Mistake(
        f"func @f {{\n}}\nkernel @k waves=4 {{\n  call @f at {'9' * 19}\n}}\n", "FP100", "too large", 4, "9" * 19
    ),
    "two of one name": Mistake(
        "func @f {\n}\nfunc @f {\n}\n", "FP102", "a second function is called @f", 3, "func @f"
    ),
    "named like a kernel": Mistake(
        CALLER.replace("@k", "@f") + "func @f {\n}\n", "FP102", "a kernel is called @f already", 4, "func @f"
    ),
    "a kernel named like a function": Mistake(
        "func @k {\n}\n" + CALLER, "FP102", "a function is called @k already", 3, "kernel @k waves=4"
    ),
    "return": Mistake("func @f {\n  return\n}\n", "FP106", "return in a function", 2, "return"),
    "a branch": Mistake("func @f {\n  br ^x\n}\n", "FP106", "br in a function", 2, "br ^x"),
    "a conditional branch": Mistake(
        "func @f {\n  cond_br %c, ^x, ^y\n}\n", "FP106", "cond_br in a function", 2, "cond_br %c, ^x, ^y"
    ),
    "a label": Mistake("func @f {\n^x:\n}\n", "FP101", "blocks stand in kernels only", 2, "^x"),
    "a label in a loop": Mistake(
        "kernel @k waves=4 {\n  loop %i in 0..2 {\n^x:\n  }\n}\n", "FP101", "blocks stand in kernels only", 3, "^x"
    ),
    "a function in a kernel": Mistake(
        "kernel @k waves=4 {\n  func @f {\n  }\n}\n", "FP101", "is a `}` missing above?", 2, "func"
    ),
    "a name of the caller's": Mistake(
        "func @f {\n  read %a\n}\nkernel @k waves=4 {\n  shared %a : 64\n  call @f\n}\n",
        "FP104",
        "there is no buffer %a",
        2,
        "%a",
    ),
    "a number of the caller's": Mistake(
        "func @f {\n  shared %a : 64\n  read %a[%i]\n}\n"
        "kernel @k waves=4 {\n  loop %i in 0..2 {\n    call @f\n  }\n}\n",
        "FP104",
        "not the variable of a loop",
        3,
        "%a[%i]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("wrong", MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_explained_where_they_are(wrong: Mistake) -> None:
    assert_explained(wrong, message_of(wrong.text))


# ---------------------------------------------------------------- in Python


def test_the_builder_calls() -> None:
    inner = FunctionBuilder("inner")
    inner.exchange(inner.shared("s", bytes=64, offset=0))
    outer = FunctionBuilder("outer")
    s = outer.shared("s", bytes=64, offset=64)
    with outer.loop("i", trip=2, carry={"x": 0}) as (_, now):
        outer.call(inner, frame=64)
        outer.write(s)
        outer.next(x=now.number("x") + 1)
    k = fp.Kernel("k", waves=4)
    k.shared("s", bytes=64)
    with k.loop("i", trip=2):
        k.call(outer)
        k.call(inner.function, frame=1024)
    assert str(k.trace) == LAYERED
    assert [structure(body) for body in k.trace.functions()] == [
        structure(body) for body in parse(LAYERED).functions()
    ]


def test_the_builder_refuses_recursion() -> None:
    f, g, h = FunctionBuilder("f"), FunctionBuilder("g"), FunctionBuilder("h")
    with pytest.raises(FencepostError, match="@f calls itself"):
        f.call(f)
    f.call(g)
    g.call(h)
    with pytest.raises(FencepostError, match="@h calls itself"):
        h.call(f)


def test_the_builder_refuses_two_functions_of_one_name() -> None:
    k = fp.Kernel("k", waves=4)
    first, second, through = FunctionBuilder("f"), FunctionBuilder("f"), FunctionBuilder("through")
    k.call(first)
    with pytest.raises(FencepostError, match="something else is called @f"):
        k.call(second)
    through.call(second)
    with pytest.raises(FencepostError, match="something else is called @f"):
        k.call(through)
    assert str(k.trace) == "func @f {\n}\n\nkernel @k waves=4 {\n  call @f\n}\n"


def test_functions_have_no_branches() -> None:
    function = Function("f")
    function.get_root_graph().append(ops.Return())
    trace = CapturedTrace("k")
    trace.get_root_graph().append(ops.Call(function))
    with pytest.raises(FencepostError, match="return in a function"):
        verify_trace(trace)
    for method in ("br", "cond_br", "ret", "block"):
        assert not hasattr(FunctionBuilder("f"), method)


def test_recursion_and_names_that_clash_are_found_however_a_kernel_was_made() -> None:
    function, trace = Function("f"), CapturedTrace("k")
    trace.get_root_graph().append(ops.Call(function))
    trace.get_root_graph().append(ops.Call(Function("f")))
    with pytest.raises(FencepostError, match="@f is the name of two things") as clash:
        verify_trace(trace)
    assert clash.value.code == "FP102"
    function.get_root_graph().append(ops.Call(function))
    with pytest.raises(FencepostError, match="@f calls itself") as recursion:
        verify_trace(trace)
    assert recursion.value.code == "FP108"
