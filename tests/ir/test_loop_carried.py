"""Names that regions forward: what loops carry and conditionals give, in text and in Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import fencepost as fp
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg
from fencepost.ir.builder import Kernel
from fencepost.ir.expr import Var
from fencepost.ir.parser import parse, parse_all
from fencepost.ir.source import FencepostError
from fencepost.ir.verify import verify_trace
from tests.commands.called import (
    COMMANDS,
    HANDING,
    Mistake,
    assert_explained,
    assert_refused,
    body,
    fencepost,
    kernel,
    message_of,
)
from tests.ir.round_trip import assert_round_trip, structure

# ---------------------------------------------------------------- what they mean


def regions(text: str) -> list[ops.Iterate | ops.Conditional]:
    return [op for op in parse(text).preorder_walk() if isinstance(op, ops.Iterate | ops.Conditional)]


def choices(argument: BufferArg | None) -> list[str]:
    assert argument is not None
    return [buffer.name for buffer in argument.choices]


ROTATING = kernel(
    *("%none = null_async_dep", "loop %i in 0..4 carry %n = 0, %t = %none, %u = %b {"),
    *("  %w = wait_count after %t", "  read %u, %w", "  next %n + 1, %w, %u", "}"),
)


def test_a_loop_carries_numbers_values_and_buffers() -> None:
    trace = parse(ROTATING)
    assert str(trace) == ROTATING
    (loop,) = regions(ROTATING)
    assert isinstance(loop, ops.Iterate)
    assert [(name.name, name.kind) for name in loop.carried] == [
        ("n", ops.NUMBER),
        ("t", ops.VALUE),
        ("u", ops.BUFFER),
    ]
    wait, read, end = loop.body
    assert isinstance(wait, ops.MemoryCounterWait)
    assert wait.drains
    assert isinstance(read, ops.Read)
    assert read.uses == (wait,)
    assert read.view.buffer is loop.carried[2].buffer
    assert isinstance(end, ops.Next)
    assert end.values == (Var("n") + 1, wait, loop.carried[2].buffer)


def test_a_name_can_be_any_buffer_that_reaches_it() -> None:
    text = """\
kernel @k waves=4 {
  shared %p : 64
  shared %q : 64
  shared %r : 64
  loop %i in 0..4 carry %u = %p, %v = %q {
    if %c gives %w {
      give %r
    } else {
      give %u
    }
    loop %j in 0..4 carry %x = %w {
      next %x
    }
    next %v, %x
  }
  read %v
}
"""
    assert str(parse(text)) == text
    outer, conditional, inner = regions(text)
    assert isinstance(outer, ops.Iterate)
    assert isinstance(conditional, ops.Conditional)
    assert isinstance(inner, ops.Iterate)
    u, v = outer.carried
    for name in (u, v, conditional.gives[0], inner.carried[0]):
        assert set(choices(name.buffer)) == {"p", "q", "r"}
    assert v.buffer is not None
    assert [b.name for b in v.buffer.whole().buffers({"v": 1})] == ["q"]
    assert len(v.buffer.whole().buffers({})) == 3


def test_names_without_a_way_to_a_buffer_cannot_be_it() -> None:
    (loop,) = regions(kernel("loop %i in 0..4 carry %u = %b {", "  next %u", "}"))
    assert isinstance(loop, ops.Iterate)
    assert choices(loop.carried[0].buffer) == ["b"]


def test_chains_of_names_are_followed_in_no_time() -> None:
    depth = 1_000
    opening = [f"loop %i{n} in 0..2 carry %u{n} = %{f'u{n - 1}' if n else 'b'} {{" for n in range(depth)]
    closing = ["next %b", "}"] + [line for n in range(1, depth) for line in (f"next %u{depth - n}", "}")]
    first = regions(kernel(*opening, *closing))[0]
    assert isinstance(first, ops.Iterate)
    assert choices(first.carried[0].buffer) == ["b"]


VISIBLE = [
    ("loop %i in 0..2 carry %x = 0 {", "  read %a[%x]", "  next %x", "}", "read %a[%x]"),
    ("loop %i in 0..2 carry %x = 0 {", "  if %c {", "    read %a[%x]", "  }", "  next %x", "}"),
    ("loop %i in 0..2 carry %x = 0 {", "  next %i", "}", "loop %j in 0..2 {", "  read %a[%x]", "}"),
    (
        "loop %i in 0..2 carry %x = 0 {",
        "  next %i",
        "}",
        "loop %j in 0..2 carry %y = %x + 1 {",
        "  next %x",
        "}",
    ),
    ("loop %i in 0..2 {", "  loop %j in 0..2 carry %x = %i {", "    next %x", "  }", "  read %a[%x]", "}"),
    ("if %c gives %n {", "  give 0", "} else {", "  give 1", "}", "read %a[%n]", "if %n == 0 {", "}"),
    (
        "if %c gives %u {",
        "  give %a",
        "} else {",
        "  give %a",
        "}",
        "loop %i in 0..2 {",
        "  read %u[%i]",
        "}",
    ),
    ("%t = gather_to_lds %a", "loop %i in 0..2 carry %d = %t {", "  next %d", "}", "barrier after %d"),
    ("%t = compute", "loop %i in 0..2 carry %d = %t {", "  if %d {", "  }", "  next %d", "}"),
]


@pytest.mark.parametrize("lines", VISIBLE)
def test_where_names_can_be_used(lines: tuple[str, ...]) -> None:
    text = kernel(*lines)
    assert str(parse(text)) == text


def test_every_construct_together() -> None:
    assert_round_trip(HANDING)
    (trace,) = parse_all(HANDING)
    verify_trace(trace)


# ---------------------------------------------------------------- mistakes


def mistake(line: int, mark: str, code: str, words: str, *lines: str) -> Mistake:
    return Mistake(kernel(*lines), code, words, line, mark)


CARRY = "loop %i in 0..2 carry %x = 0 {"
GIVES = "if %c gives %n {"
MISTAKES = {
    # The ends of regions.
    "no next": mistake(4, CARRY[:-2], "FP109", "carries %x and does not end in `next`", CARRY, "}"),
    "no next behind something": mistake(5, "read %a", "FP109", "the last statement", CARRY, "read %a", "}"),
    "too many": mistake(
        5, "next 1, 2", "FP109", "next forwards 2, and the loop carries 1", CARRY, "next 1, 2", "}"
    ),
    "too few": mistake(
        5, "next 1", "FP109", "carries 2", "loop %i in 0..2 carry %x = 0, %y = 0 {", "next 1", "}"
    ),
    "next without carry": mistake(
        5, "next 1", "FP109", "carries nothing", "loop %i in 0..2 {", "next 1", "}"
    ),
    "give without gives": mistake(5, "give 1", "FP109", "gives nothing", "if %c {", "give 1", "}"),
    "another kind": mistake(
        5, "next %a", "FP109", "%x is a number, and %a is a buffer", CARRY, "next %a", "}"
    ),
    "another kind of value": mistake(
        6, "next %x + 1", "FP104", "%x is a value; a number is wanted",
        "%t = compute", "loop %i in 0..2 carry %x = %t {", "next %x + 1", "}",
    ),
    "another shape": mistake(
        5, "next %a", "FP109", "differ in shape", "loop %i in 0..2 carry %x = %b {", "next %a", "}"
    ),
    "behind next": mistake(5, "next 1", "FP109", "ends its region", CARRY, "next 1", "read %a", "}"),
    "a loop behind next": mistake(
        6, "loop %j in 0..2", "FP109", "ends its region", CARRY, "next 1", "loop %j in 0..2 {", "}", "}"
    ),
    "next twice": mistake(6, "next 2", "FP109", "ends its region", CARRY, "next 1", "next 2", "}"),
    "behind give": mistake(
        6, "barrier", "FP109", "ends its region", GIVES, "give 1", "barrier", "} else {", "give 1", "}"
    ),
    "next outside": body("next 1", "FP109", "at the end of a loop's body only", "next 1"),
    "give outside": body("give 1", "FP109", "at the end of a conditional's side only", "give 1"),
    "next in a conditional": mistake(
        6, "next 1", "FP109", "a loop's body only", CARRY, "if %c {", "next 1", "}", "next 1", "}"
    ),
    "give in a loop": mistake(
        6, "give 1", "FP109", "a conditional's side only", GIVES, "loop %i in 0..2 {", "give 1", "}", "}"
    ),
    "give without else": mistake(
        4, GIVES[:-2], "FP109", "nothing gives %n where the condition does not hold", GIVES, "give 1", "}"
    ),
    "give in then only": mistake(
        7, "read %a", "FP109", "the condition does not hold", GIVES, "give 1", "} else {", "read %a", "}"
    ),
    "give in else only": mistake(
        4, GIVES[:-2], "FP109", "nothing gives %n where the condition holds", GIVES, "} else {", "give 1", "}"
    ),
    "sides of two kinds": mistake(
        7, "give %a", "FP109", "%n is a number, and %a is a buffer", GIVES, "give 1", "} else {", "give %a", "}"
    ),
    "sides of two shapes": mistake(
        7, "give %a", "FP109", "differ in shape", GIVES, "give %b", "} else {", "give %a", "}"
    ),
    # Names.
    "a name twice": mistake(
        4, "%x", "FP104", "already taken", "loop %i in 0..2 carry %x = 0, %x = 0 {", "next 0, 0", "}"
    ),
    "a buffer's name": mistake(
        4, "%a", "FP104", "already taken", "loop %i in 0..2 carry %a = 0 {", "next 0", "}"
    ),
    "the loop's name": mistake(
        4, "%i", "FP104", "already taken", "loop %i in 0..2 carry %i = 0 {", "next 0", "}"
    ),
    "a given name that is taken": mistake(
        4, "%a", "FP104", "already taken", "if %c gives %a {", "give 1", "}"
    ),
    "its own beginning": mistake(
        4, "%x", "FP104", "nothing above this line is called %x", "loop %i in 0..2 carry %x = %x {", "next 0", "}"
    ),
    "the loop's variable as a beginning": mistake(
        4, "%x", "FP104", "not the variable of a loop", "loop %i in 0..2 carry %x = %i + 1 {", "next 0", "}"
    ),
    "a value from below": mistake(
        4, "%x", "FP104", "nothing above this line is called %t",
        "loop %i in 0..2 carry %x = %t {", "next %x", "}", "%t = compute",
    ),
    "forwarding nothing": mistake(
        5, "next %z", "FP104", "nothing above this line is called %z", CARRY, "next %z", "}"
    ),
    "a number behind its region": mistake(
        9, "%a[%x]", "FP104", "what a loop carries is known in it and behind it",
        "if %c {", CARRY, "next 0", "}", "}", "read %a[%x]",
    ),
    "a buffer behind its region": mistake(
        9, "%x", "FP104", "what a loop carries is known in it and behind it",
        "if %c {", CARRY.replace("0 {", "%a {"), "next %a", "}", "}", "read %x",
    ),
    "a buffer forwarded behind its region": mistake(
        10, "next %x", "FP104", "%x cannot be used here",
        "if %c {", CARRY.replace("0 {", "%a {"), "next %a", "}", "}",
        "loop %j in 0..2 carry %y = %a {", "next %x", "}",
    ),
    "a value behind its region": mistake(
        10, "%x", "FP104", "what a loop carries is known in it and behind it",
        "%t = compute", "if %c {", CARRY.replace("0 {", "%t {"), "next %t", "}", "}", "mma %x",
    ),
    "a value above its loop": mistake(
        5, "%x", "FP104", "%x cannot be used here",
        "%t = compute", "mma %x", CARRY.replace("0 {", "%t {"), "next %t", "}",
    ),
    "a number above its loop": mistake(
        4, "%a[%x]", "FP104", "not the variable of a loop", "read %a[%x]", CARRY, "next 0", "}"
    ),
    "a number in its own conditional": mistake(
        5, "%a[%n]", "FP104", "what a conditional gives is known behind it", GIVES, "read %a[%n]", "give 1", "}"
    ),
    "a number on the other side": mistake(
        7, "%a[%n]", "FP104", "what a conditional gives is known behind it",
        GIVES, "give 1", "} else {", "read %a[%n]", "give 1", "}",
    ),
    "a buffer on the other side": mistake(
        7, "%n", "FP104", "what a conditional gives is known behind it",
        GIVES, "give %a", "} else {", "read %n", "give %a", "}",
    ),
    "a value on the other side": mistake(
        8, "%n", "FP104", "what a conditional gives is known behind it",
        "%t = compute", GIVES, "give %t", "} else {", "mma %n", "give %t", "}",
    ),
    "given by itself": mistake(
        5, "give %n", "FP104", "%n cannot be used here", GIVES, "give %n", "} else {", "give 1", "}"
    ),
    "a number as a buffer": mistake(
        5, "%x", "FP104", "%x is a number; a buffer is wanted", CARRY, "read %x", "next 0", "}"
    ),
    "a number as a value": mistake(
        5, "%x", "FP104", "%x is a number; a value is wanted", CARRY, "mma %x", "next 0", "}"
    ),
    "a number as a condition": mistake(
        5, "if %x", "FP104", "compare it: `%x == 0`", CARRY, "if %x {", "}", "next 0", "}"
    ),
    "a condition as a number": mistake(
        4, "if %x", "FP104", "compare it", "if %x {", "}", CARRY, "next 0", "}"
    ),
    "a slot that no choice has": mistake(
        5, "%x[1]", "FP103", "slot 1 of %x", CARRY.replace("0 {", "%b {"), "read %x[1]", "next %b", "}"
    ),
    # What comes after what.
    "after nothing": body("barrier after %z", "FP104", "there is no value %z", "%z"),
    "after a buffer": body("barrier after %a", "FP104", "%a is a buffer; a value is wanted", "%a"),
    "after a plain read": mistake(
        5, "%x", "FP105", "read is not asynchronous", "%x = read %a", "barrier after %x"
    ),
    "a wait after a plain read": mistake(
        4, "%x", "FP105", "wait_count cannot come after %x", "wait_count after %x", "%x = compute"
    ),
    "after without a name": body("barrier after", "FP101", "a name such as %a", " "),
    "after a slot": mistake(
        5, "%t[0]", "FP104", "%t is a value; a buffer", "%t = gather_to_lds %a", "barrier after %t[0]"
    ),
    "counter twice in a barrier": body("barrier load=1 load=2", "FP105", "'load' twice", "load"),
    "a group of plain accesses": body("commit lds", "FP105", "an engine needs a counter of its own", "lds"),
    "no counter to commit": body("commit", "FP101", "a name such as load", " "),
    "nothing depends on it": body("null_async_dep %x", "FP105", "takes no values", "%x"),
    "a counter of plain accesses": body("global_read counter=lds", "FP105", "of its own", "counter"),
    # Spelling.
    "carry without a name": mistake(4, "{", "FP101", "a name such as %a", "loop %i in 0..2 carry {", "}"),
    "carry without a beginning": mistake(4, "{", "FP101", "'='", "loop %i in 0..2 carry %x {", "}"),
    "gives without a name": mistake(4, "{", "FP101", "a name such as %a", "if %c gives {", "}"),
    "next alone": mistake(5, " ", "FP101", "unexpected end of line", CARRY, "next", "}"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_explained_where_they_are(wrong: Mistake) -> None:
    assert_explained(wrong, message_of(wrong.text))


DIFFERING = {
    "a carried wave": (
        *("loop %i in 0..4 carry %x = wave {", "if %x == 0 {", "barrier", "}", "next %x", "}"),
    ),
    "a wave that comes later": (
        *("loop %i in 0..4 carry %x = 0, %y = 0 {", "if %x == 0 {", "barrier", "}", "next %y, wave", "}"),
    ),
    "sides that differ": (
        *("if wave < 2 gives %x {", "give 0", "} else {", "give 1", "}", "if %x == 0 {", "barrier", "}"),
    ),
    "forwarded from there": (
        *("if wave < 2 gives %y {", "give 0", "} else {", "give 1", "}", "if %c gives %x {", "give %y + 1"),
        *("} else {", "give 0", "}", "if %x == 0 {", "barrier", "}"),
    ),
}


@pytest.mark.parametrize("lines", DIFFERING.values(), ids=DIFFERING.keys())
def test_conditions_on_numbers_that_differ_between_waves_are_refused(
    lines: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "k.fp"
    file.write_text(kernel(*lines))
    for command in COMMANDS:
        ran = fencepost(command, str(file))
        assert_refused(ran, str(file))
        assert "a condition on %x, which is not the same for all waves" in ran.err


def test_conditions_on_numbers_that_all_waves_share_are_fine() -> None:
    for lines in (
        ("if wave < 2 gives %x {", "give 1", "} else {", "give 1", "}", "if %x == 0 {", "}"),
        ("loop %i in 0..4 carry %x = 0 {", "if %x == 0 {", "}", "next %i", "}"),
        ("loop %i in 0..4 carry %x = wave {", "read %a[%x % 2]", "next %x", "}"),
    ):
        verify_trace(parse(kernel(*lines)))


# ---------------------------------------------------------------- in Python


def test_the_builder_carries() -> None:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", bytes=64, slots=3)
    p, q = k.shared("p", bytes=64), k.shared("q", bytes=64)
    none = k.null_async_dep()
    with k.loop("i", trip=8, carry={"x": 0, "u": p, "v": q, "dep": none}) as (i, now):
        x, u, v = now.number("x"), now.buffer("u"), now.buffer("v")
        k.barrier(after=[now.value("dep")])
        copy = k.tensor_load_to_lds(a[(x + i) % 3], u)
        k.read(v)
        k.next(x=x ^ 1, v=u, u=v, dep=copy)
    k.read(a[now.number("x")])
    k.barrier(after=[now.value("dep")], tensor=0)
    k.async_mma(now.buffer("u"), a[0])
    assert (
        str(k.trace)
        == """\
kernel @k waves=4 {
  shared %a : 3 x 64
  shared %p : 64
  shared %q : 64
  %n0 = null_async_dep
  loop %i in 0..8 carry %x = 0, %u = %p, %v = %q, %dep = %n0 {
    barrier after %dep
    %t0 = tensor_load_to_lds %a[(%x + %i) % 3], %u
    read %v
    next %x ^ 1, %v, %u, %t0
  }
  read %a[%x]
  barrier after %dep tensor=0
  async_mma %u, %a[0]
}
"""
    )
    assert structure(parse(str(k.trace))) == structure(k.trace)
    verify_trace(k.trace)


def test_the_builder_gives() -> None:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", bytes=64, slots=2)
    none = k.null_async_dep()
    with k.cond("c", gives=["n", "d"]) as side:
        k.give(d=k.gather_to_lds(a), n=1)
    with side.orelse():
        k.give(n=0, d=none)
    k.read(a[side.number("n")])
    with k.cond(side.number("n") < 1, gives=["u"]) as other:
        k.give(u=a)
        with other.orelse():
            k.give(u=a)
    token = k.wait_count(after=[side.value("d")])
    k.write(other.buffer("u"), token)
    assert (
        str(k.trace)
        == """\
kernel @k waves=4 {
  shared %a : 2 x 64
  %n0 = null_async_dep
  if %c gives %n, %d {
    %g0 = gather_to_lds %a
    give 1, %g0
  } else {
    give 0, %n0
  }
  read %a[%n]
  if %n < 1 gives %u {
    give %a
  } else {
    give %a
  }
  %w0 = wait_count after %d
  write %u, %w0
}
"""
    )
    assert structure(parse(str(k.trace))) == structure(k.trace)


Attempt = Callable[[Kernel, Buffer], object]


def no_next(k: Kernel, a: Buffer) -> None:
    with k.loop("i", carry={"x": 0}):
        k.read(a)


def missing_name(k: Kernel, a: Buffer) -> None:
    with k.loop("i", carry={"x": 0, "y": a}):
        k.next(x=1)


def unknown_name(k: Kernel, a: Buffer) -> None:
    with k.loop("i", carry={"x": 0}):
        k.next(x=1, y=1)


def next_in_a_conditional(k: Kernel, a: Buffer) -> None:
    with k.loop("i", carry={"x": 0}), k.cond("c"):
        k.next(x=1)


def behind_next(k: Kernel, a: Buffer) -> None:
    with k.loop("i", carry={"x": 0}):
        k.next(x=1)
        k.read(a)


def other_kind(k: Kernel, a: Buffer) -> None:
    with k.loop("i", carry={"x": 0}):
        k.next(x=a)


def other_shape(k: Kernel, a: Buffer) -> None:
    with k.loop("i", carry={"u": a}):
        k.next(u=k.shared("larger", bytes=128))


def next_without_carry(k: Kernel, a: Buffer) -> None:
    with k.loop("i"):
        k.next()


def one_side_only(k: Kernel, a: Buffer) -> None:
    with k.cond("c", gives=["n"]):
        k.give(n=1)
    k.read(a)


def one_side_only_in_a_loop(k: Kernel, a: Buffer) -> None:
    with k.loop("i"), k.cond("c", gives=["n"]):
        k.give(n=1)


def no_give(k: Kernel, a: Buffer) -> None:
    with k.cond("c", gives=["n"]):
        k.read(a)


def no_give_on_the_other_side(k: Kernel, a: Buffer) -> None:
    with k.cond("c", gives=["n"]) as side:
        k.give(n=1)
    with side.orelse():
        k.read(a)


def give_in_a_loop(k: Kernel, a: Buffer) -> None:
    with k.cond("c", gives=["n"]), k.loop("i"):
        k.give(n=1)


def sides_of_two_kinds(k: Kernel, a: Buffer) -> None:
    with k.cond("c", gives=["n"]) as side:
        k.give(n=1)
    with side.orelse():
        k.give(n=a)


def result_too_early(k: Kernel, a: Buffer) -> None:
    with k.cond("c", gives=["n"]) as side:
        k.read(a[side.number("n")])


def result_on_the_other_side(k: Kernel, a: Buffer) -> None:
    with k.cond("c", gives=["n"]) as side:
        k.give(n=0)
    with side.orelse():
        k.read(a[side.number("n")])


def number_behind_its_region(k: Kernel, a: Buffer) -> None:
    with k.cond("c"), k.loop("i", carry={"x": 0}) as (_, now):
        k.next(x=0)
    k.read(a[now.number("x")])


def buffer_behind_its_region(k: Kernel, a: Buffer) -> None:
    with k.cond("c"), k.loop("i", carry={"u": a}) as (_, now):
        k.next(u=a)
    k.read(now.buffer("u"))


def value_behind_its_region(k: Kernel, a: Buffer) -> None:
    with k.cond("c"), k.loop("i", carry={"t": k.compute()}) as (_, now):
        k.next(t=k.compute())
    k.compute(now.value("t"))


def a_flag_that_is_a_number(k: Kernel, a: Buffer) -> None:
    with k.loop("i", carry={"x": 0}):
        k.next(x=0)
    with k.cond("x"):
        pass


def a_number_that_is_a_flag(k: Kernel, a: Buffer) -> None:
    with k.cond("x"):
        pass
    with k.loop("i", carry={"x": 0}):
        k.next(x=0)


def a_result_that_is_a_flag(k: Kernel, a: Buffer) -> None:
    with k.cond("n", gives=["n"]) as side:
        k.give(n=0)
    with side.orelse():
        k.give(n=0)


def a_late_other_side(k: Kernel, a: Buffer) -> None:
    with k.cond("c") as side:
        k.read(a)
    k.read(a)
    with side.orelse():
        k.read(a)


def wrong_accessor(k: Kernel, a: Buffer) -> None:
    with k.loop("i", carry={"x": 0}) as (_, now):
        k.next(x=0)
    now.buffer("x")


def unknown_accessor(k: Kernel, a: Buffer) -> None:
    with k.loop("i", carry={"x": 0}) as (_, now):
        k.next(x=0)
    now.number("y")


def shadowed(k: Kernel, a: Buffer) -> None:
    with k.loop("i", carry={"a": 0}):
        pass


def badly_spelled(k: Kernel, a: Buffer) -> None:
    with k.loop("i", carry={"a b": 0}):
        pass


REFUSED: dict[Attempt, str] = {
    no_next: "does not end in `next`",
    missing_name: "the loop carries %x, %y, and %x is forwarded",
    unknown_name: "the loop carries %x, and %x, %y is forwarded",
    next_in_a_conditional: "at the end of a loop's body only",
    behind_next: "ends its region",
    other_kind: "%x is a number, and %a is a buffer",
    other_shape: "differ in shape",
    next_without_carry: "the loop carries nothing",
    one_side_only: "nothing gives %n where the condition does not hold",
    one_side_only_in_a_loop: "nothing gives %n where the condition does not hold",
    no_give: "nothing gives %n where the condition holds",
    no_give_on_the_other_side: "nothing gives %n where the condition does not hold",
    give_in_a_loop: "at the end of a conditional's side only",
    sides_of_two_kinds: "%n is a number, and %a is a buffer",
    result_too_early: "%n is known behind its conditional only",
    result_on_the_other_side: "%n cannot be used here",
    number_behind_its_region: "%x cannot be used here",
    buffer_behind_its_region: "%u cannot be used here",
    value_behind_its_region: "%t cannot be used here",
    a_flag_that_is_a_number: "%x is a number, which is no condition",
    a_number_that_is_a_flag: "%x is a number, which is no condition",
    a_result_that_is_a_flag: "%n is a condition already",
    a_late_other_side: "right behind its conditional",
    wrong_accessor: "%x is a number, not a buffer",
    unknown_accessor: "%y is not forwarded, only %x",
    shadowed: "the name %a is already taken",
    badly_spelled: "'a b' is no name",
}


@pytest.mark.parametrize("attempt", REFUSED, ids=lambda attempt: attempt.__name__)
def test_the_builder_refuses_what_the_text_form_refuses(attempt: Attempt) -> None:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", bytes=64)
    with pytest.raises(FencepostError) as caught:
        attempt(k, a)
    assert REFUSED[attempt] in str(caught.value)


def test_an_unfinished_kernel_is_refused_before_it_is_looked_at() -> None:
    k = fp.Kernel("k", waves=4)
    with k.cond("c", gives=["n"]):
        k.give(n=1)
    with pytest.raises(FencepostError, match="where the condition does not hold"):
        fp.check(k.trace)


def test_what_is_refused_leaves_no_trace() -> None:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", bytes=64)
    with k.loop("i", carry={"x": 0}) as (_, now):
        with pytest.raises(FencepostError):
            k.next(x=a)
        with pytest.raises(FencepostError), k.loop("j", carry={"a": 0}):
            pass
        with pytest.raises(FencepostError):
            k.barrier(after=[k.read(a)])
        with pytest.raises(FencepostError):
            k.read(a[now.number("x") + 10**18])
        k.next(x=1)
    assert "  loop %i in 0..? carry %x = 0 {\n    read %a\n    next 1\n  }\n" in str(k.trace)
