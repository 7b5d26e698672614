"""Nonsense in, a helpful word out: never a traceback, never a changed file.

Whatever is wrong with a kernel ends in exit code 2, a message on standard error that names file, line and
column and underlines the mistake, and nothing on standard output.
"""

from __future__ import annotations

import io
import json
import os
import pty
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fencepost.cli import main
from fencepost.ir.parser import parse, parse_all
from fencepost.ir.source import FencepostError
from fencepost.report.diagnostics import from_error, render
from tests.random_kernels import Shape, random_text
from tests.tiers import sweep

COMMANDS = ("check", "insert", "prune", "explain")
CLEAN = "kernel @k waves=4 {\n  shared %a : 64\n  write %a\n  barrier\n  read %a\n}\n"
RACY = "kernel @k waves=4 {\n  shared %a : 64\n  write %a\n  read %a\n}\n"
HOPELESS = "kernel @k waves=4 {\n  shared %a : 64\n  if wave < 2 {\n    write %a[0..8]\n    read %a\n  }\n}\n"
BRANCHING = """\
# Two blocks and a loop.
kernel @branching waves=8 {
  shared %a : 3 x 64 at 0
  shared %b : 64
  loop %i in 0..? step 2 expect=8 {  # a comment
    %x = read %a[(%i + 1) % 3][0..16]
    gather_to_lds %a[select(%i < 4, 0, 1)] group=g counter=c
    if wave >= 4 {
      wait_count load=0 c=1
    } else {
      mma %x
    }
  }
  cond_br %more, ^left, ^right trip=4
^left:
  barrier async
  cond_br %again, ^left, ^right expect=0.5
^right:
  signal 1
  wait 1
  return
}
"""
HANDING = """\
# A function, and a loop that forwards everything.
func @scan {
  shared %s : 64 at 0
  exchange %s
}
kernel @handing waves=4 {
  shared %a : 3 x 64
  shared %p : 64
  shared %q : 64
  %none = null_async_dep
  loop %i in 0..? carry %x = 0, %dep = %none, %u = %p, %v = %q {
    barrier async after %dep
    %t = tensor_load_to_lds %a[%x ^ 1]
    commit load
    async_mma %a[%i % 3], %u
    %w = wait_count tensor=2
    read %v, %w
    next select(%x + 1 < 3, %x + 1, 0), %t, %v, %u
  }
  if %c expect=0.05 gives %d, %n {
    %t2 = gather_to_lds %a counter=vm
    give %t2, 1
  } else {
    give %none, 2
  }
  barrier after %d, %dep tensor=3 load=1
  read %a[%n]
  read %u
  call @scan at 128
  tensor_store_from_lds %a[%x]
}
"""


@dataclass(frozen=True)
class Ran:
    """What one call of the command line did."""

    code: int
    out: str
    err: str


def fencepost(*arguments: str, stdin: bytes = b"") -> Ran:
    """The command line, in this process."""
    out, err = io.StringIO(), io.StringIO()
    wrapped = io.TextIOWrapper(io.BytesIO(stdin))
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", wrapped):
        try:
            code = main(arguments)
        except SystemExit as stop:
            assert isinstance(stop.code, int)
            code = stop.code
    return Ran(code, out.getvalue(), err.getvalue())


def process(*arguments: str, stdout: int = subprocess.PIPE, **variables: str) -> Ran:
    """The command line as a user runs it."""
    ran = subprocess.run(
        [sys.executable, "-m", "fencepost.cli", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        timeout=60,
        env=environment() | variables,
        check=False,
    )
    return Ran(ran.returncode, ran.stdout or "", ran.stderr)


def environment() -> dict[str, str]:
    """As it is for users, whose output is buffered."""
    return {key: value for key, value in os.environ.items() if key not in ("PYTHONUNBUFFERED", "NO_COLOR")}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "k.fp"


def kernel(*lines: str) -> str:
    """A kernel around statements; %a has two slots of 64 bytes, %b one. The first of `lines` is line 4."""
    body = "".join(f"  {line}\n" for line in lines)
    return f"kernel @k waves=4 {{\n  shared %a : 2 x 64\n  shared %b : 64\n{body}}}\n"


# ---------------------------------------------------------------- reading messages as a user does

EXCERPT = re.compile(r"^ *(\d+) \| (.*)\n(?: +\| ( *)(\^+).*\n)+", re.MULTILINE)
CARETS = re.compile(r"^ +\| ( *)(\^+)", re.MULTILINE)


def underlined(message: str) -> dict[int, list[str]]:
    """What the carets of a message stand under, by line number."""
    found: dict[int, list[str]] = {}
    for excerpt in EXCERPT.finditer(message):
        line = excerpt[2]
        found[int(excerpt[1])] = [
            line[len(carets[1]) : len(carets[1]) + len(carets[2])] for carets in CARETS.finditer(excerpt[0])
        ]
    return found


def assert_refused(ran: Ran, name: str = "", located: bool = True) -> None:
    assert ran.code == 2
    assert ran.out == ""
    assert re.match(r"error\[FP1\d\d\]: .", ran.err), ran.err
    assert "Traceback" not in ran.err
    assert "\x1b" not in ran.err
    if located:
        assert re.search(rf"^ +--> {re.escape(name)}:\d+:\d+", ran.err, re.MULTILINE), ran.err
        assert underlined(ran.err), ran.err


def message_of(text: str) -> str:
    """What a user reads about `text`; empty if nothing is wrong with it."""
    try:
        parse_all(text, "k.fp")
    except FencepostError as error:
        return render(from_error(error)).plain
    return ""


def assert_sane(text: str) -> None:
    """`text` parses, or is refused with a place that lies inside of it."""
    try:
        parse_all(text, "k.fp")
    except FencepostError as error:
        assert error.marks
        for mark in error.marks:
            assert mark.span is not None
            assert 1 <= mark.span.line <= text.count("\n") + 1
            line = text.split("\n")[mark.span.line - 1]
            assert 1 <= mark.span.column <= len(line) + 1
        message = render(from_error(error)).plain
        assert "k.fp:" in message
        assert "^" in message


# ---------------------------------------------------------------- one mistake each


@dataclass(frozen=True)
class Mistake:
    """A text with something wrong: the code, words of the message, and what is underlined on which line."""

    text: str
    code: str
    words: str
    line: int
    mark: str
    note: str = ""
    """What a command adds, which knows the file."""


def body(line: str, code: str, words: str, mark: str, *more: str) -> Mistake:
    return Mistake(kernel(line, *more), code, words, 4, mark)


MISTAKES = {
    # The kernel itself.
    "no kernel": Mistake("hello\n", "FP101", "a file holds kernels", 1, "hello"),
    "no name": Mistake("kernel k waves=4 {\n}\n", "FP101", "a kernel name such as @gemm", 1, "k"),
    "no waves": Mistake("kernel @k {\n}\n", "FP101", "expected: 'waves'", 1, "{"),
    "zero waves": Mistake("kernel @k waves=0 {\n}\n", "FP100", "a workgroup has 1 to 64", 1, "0"),
    "65 waves": Mistake("kernel @k waves=65 {\n}\n", "FP100", "a workgroup has 1 to 64", 1, "65"),
    "negative waves": Mistake("kernel @k waves=-1 {\n}\n", "FP101", "a number", 1, "-"),
    "waves in words": Mistake("kernel @k waves=four {\n}\n", "FP101", "a number", 1, "four"),
    "very many waves": Mistake(f"kernel @k waves={'9' * 30} {{\n}}\n", "FP100", "too large", 1, "9" * 30),
    "on one line": Mistake("kernel @k waves=4 { }\n", "FP101", "the end of the line", 1, "}"),
    "one brace too many": Mistake(CLEAN + "}\n", "FP101", "closed already", 7, "}"),
    "no closing brace": Mistake(CLEAN[:-2], "FP101", "has no `}`", 1, "kernel @k waves=4 {"),
    "text behind the brace": Mistake(CLEAN[:-1] + " x\n", "FP101", "unexpected 'x'", 6, "x"),
    "kernels on one line": Mistake(CLEAN[:-1] + CLEAN, "FP101", "the end of the line", 6, "kernel"),
    "two kernels of one name": Mistake(
        CLEAN + CLEAN, "FP102", "a second kernel is called @k", 7, "kernel @k waves=4"
    ),
    # Buffers.
    "no bytes": Mistake("kernel @k waves=4 {\n  shared %c : 0\n}", "FP100", "at least one byte", 2, "0"),
    "no slots": Mistake("kernel @k waves=4 {\n  shared %c : 0 x 8\n}", "FP100", "one slot", 2, "0"),
    "negative bytes": Mistake("kernel @k waves=4 {\n  shared %c : -8\n}", "FP101", "a number", 2, "-"),
    "negative address": Mistake("kernel @k waves=4 {\n  shared %c : 8 at -1\n}", "FP101", "a number", 2, "-"),
    "more than a terabyte": Mistake(
        "kernel @k waves=4 {\n  shared %c : 999999999999 x 8\n}",
        "FP100",
        "terabyte",
        2,
        "shared %c : 999999999999 x 8",
    ),
    "a buffer without sign": Mistake("kernel @k waves=4 {\n  shared c : 8\n}", "FP101", "%c", 2, "c"),
    "a buffer twice": Mistake(
        "kernel @k waves=4 {\n  shared %c : 8\n  shared %c : 8\n}", "FP104", "already taken", 3, "%c"
    ),
    "a buffer too late": Mistake(
        kernel("read %a", "shared %c : 8"), "FP101", "before its first statement", 5, "shared"
    ),
    # Words.
    "misspelled": body("reed %a", "FP101", "did you mean `read`?", "reed"),
    "plural": body("barriers", "FP101", "did you mean `barrier`?", "barriers"),
    "capital": body("Barrier", "FP101", "did you mean `barrier`?", "Barrier"),
    "nothing like it": body("frobnicate %a", "FP101", "a statement begins with", "frobnicate"),
    "no sign before the name": body("read a", "FP101", "begin with %: %a", "a"),
    "no sign before a value": body("mma x", "FP101", "begin with %: %x", "x"),
    "no sign before a result": body("x = read %a", "FP101", "begin with %: %x", "x"),
    "no sign before a block": body("br exit", "FP101", "begin with ^: ^exit", "exit"),
    "two statements": body("read %a read %b", "FP101", "a line of its own", "read"),
    "semicolon": body("read %a; read %b", "FP101", "a line of its own", ";"),
    "another comment": body("// hello", "FP101", "comments begin with #", "//"),
    "a string": body('read "a"', "FP101", "unexpected character '\"'", '"'),
    "a look-alike": body("read\u00a0%a", "FP101", "NO-BREAK SPACE", "\u00a0"),
    "a long dash": body("read %a[1 – 1]", "FP101", "EN DASH", "–"),
    "a control character": body("read \x00%a", "FP101", "U+0000", "·"),
    # Names.
    "undefined buffer": body("read %z", "FP104", "there is no buffer %z", "%z"),
    "undefined buffer with slot": body("read %z[0]", "FP104", "buffers: %a, %b", "%z[0]"),
    "undefined value": body("mma %z", "FP104", "there is no value %z", "%z"),
    "undefined second value": body("write %a, %z", "FP104", "there is no value %z", "%z"),
    "a value named like a buffer": body("%a = read %b", "FP104", "the name %a is already taken", "%a"),
    "a loop named like a buffer": body("loop %a in 0..2 {", "FP104", "already taken", "%a", "}"),
    "a value as a buffer": Mistake(
        kernel("%x = compute", "read %x"), "FP104", "%x is a value; a buffer is wanted here", 5, "%x"
    ),
    "a value with a slot": Mistake(
        kernel("%x = compute", "mma %x[0]"), "FP104", "%x is a value; a buffer is wanted here", 5, "%x[0]"
    ),
    "a buffer as a value": body("mma %a", "FP104", "%a is a buffer; a value is wanted here", "%a"),
    "a buffer with slot as a value": body("mma %a[0]", "FP104", "%a is a buffer; a value", "%a[0]"),
    "a loop variable as a value": Mistake(
        kernel("loop %i in 0..2 {", "mma %i", "}"), "FP104", "%i is a loop variable; a value", 5, "%i"
    ),
    "a loop variable as a buffer": Mistake(
        kernel("loop %i in 0..2 {", "read %i", "}"), "FP104", "%i is a loop variable; a buffer", 5, "%i"
    ),
    "a loop variable as a condition": Mistake(
        kernel("loop %i in 0..2 {", "if %i {", "}", "}"), "FP104", "compare it: `%i == 0`", 5, "if %i"
    ),
    "a buffer as a condition": body("if %a {", "FP104", "%a is a buffer", "if %a", "}"),
    "a loop variable outside": Mistake(
        kernel("loop %i in 0..2 {", "}", "read %a[%i]"), "FP104", "not the variable of a loop", 6, "%a[%i]"
    ),
    "a value as an index": Mistake(
        kernel("%x = compute", "read %a[%x]"), "FP104", "%x is a value; a number is wanted", 5, "%a[%x]"
    ),
    # Operands and attributes.
    "no operand": body("read", "FP105", "read takes at least one buffer", "read"),
    "no operand for a copy": body(
        "tensor_load_to_lds", "FP105", "takes at least one buffer", "tensor_load_to_lds"
    ),
    "two buffers": body("gather_to_lds %a, %b", "FP105", "gather_to_lds takes one buffer", "gather_to_lds %a, %b"),
    "no such attribute": body("read %a color=red", "FP105", "no attribute 'color'", "color"),
    "no counter": body("read %a counter=x", "FP105", "read has no attribute 'counter'", "counter"),
    "attribute twice": body("read %a group=x group=y", "FP105", "'group' twice", "group"),
    "attribute without value": body("read %a group=", "FP101", "unexpected end of line", " "),
    "attribute of an mma": body("mma group=x", "FP105", "mma has no attribute 'group'", "group"),
    "group of an exchange": body("exchange %a group=x", "FP105", "no attribute 'group'", "group"),
    "a barrier with a value": body("%x = barrier", "FP101", "barrier yields no value", "barrier"),
    "misspelled behind a value": body("%x = reed %a", "FP101", "did you mean `read`?", "reed"),
    "a comma at the end": body("write %a,", "FP101", "a name such as %a", " "),
    "counter twice": body("wait_count load=1 load=2", "FP105", "'load' twice", "load"),
    "no counter to wait for": body("wait_count", "FP105", "wait_count load=0", "wait_count"),
    "negative count": body("wait_count load=-1", "FP101", "a number", "-"),
    "barrier number": body("signal -2", "FP100", "-1 (the workgroup's) and up", "signal -2"),
    "barrier in words": body("wait all", "FP101", "unexpected 'all'", "all"),
    # Views.
    "slot too high": body("read %a[2]", "FP103", "2 slots (numbers 0 to 1)", "%a[2]"),
    "slot computed too high": body("read %a[1 + 1]", "FP103", "slot 2 of %a", "%a[1 + 1]"),
    "slot of one": body("read %b[1]", "FP103", "1 slot (number 0)", "%b[1]"),
    "negative slot": body("read %a[-1]", "FP103", "slot -1", "%a[-1]"),
    "bytes past the slot": body("read %a[0][0..65]", "FP103", "the 64 bytes of %a[0]", "%a[0][0..65]"),
    "bytes past the buffer": body("read %a[0..129]", "FP103", "the 128 bytes of %a", "%a[0..129]"),
    "negative bytes in a view": body("read %a[0][-1..8]", "FP103", "outside", "%a[0][-1..8]"),
    "no bytes in a view": body("read %a[0][8..8]", "FP103", "empty byte range 8..8", "%a[0][8..8]"),
    "bytes the wrong way round": body("read %a[9..8]", "FP103", "empty byte range 9..8", "%a[9..8]"),
    "bytes before the slot": body("read %a[0..8][0]", "FP105", "a view is %a", "%a[0..8][0]"),
    "three subscripts": body("read %a[0][0][0..8]", "FP105", "a view is %a", "%a[0][0][0..8]"),
    "an open bracket": body("read %a[0", "FP101", "an operator, ']' or '..'", " "),
    "an open bracket and a comment": body("read %a[0   # slot", "FP101", "unexpected end of line", " "),
    "empty brackets": body("read %a[]", "FP101", "unexpected ']'", "]"),
    "a fraction": body("read %a[1.5]", "FP101", "unexpected character '.'", "."),
    "hexadecimal": body("read %a[0x1]", "FP101", "unexpected 'x1'", "x1"),
    "one slash": body("read %a[1 / 2]", "FP101", "division is written //", "/"),
    "too many digits": body(f"read %a[{'1' * 19}]", "FP100", "too large", "1" * 19),
    # Loops and conditionals.
    "no step": body("loop %i in 0..8 step 0 {", "FP100", "at least 1", "0", "}"),
    "step back": body("loop %i in 0..8 step -1 {", "FP101", "a number", "-", "}"),
    "a name as a bound": body("loop %i in 0..%n {", "FP104", "`param %n` in front of", "%n", "}"),
    "a loop variable as a bound": Mistake(
        kernel("loop %i in 0..2 {", "loop %j in 0..%i {", "}", "}"), "FP104", "is no number that", 5, "%i"
    ),
    "a buffer as a bound": body("loop %i in 0..%a {", "FP104", "is no number that", "%a", "}"),
    "a condition as a bound": Mistake(
        kernel("if %c {", "}", "loop %i in 0..%c {", "}"), "FP104", "is no number that", 6, "%c"
    ),
    "no brace": body("loop %i in 0..8", "FP101", "'{', 'step' or 'carry'", " ", "}"),
    "one name for two loops": Mistake(
        kernel("loop %i in 0..2 {", "loop %i in 0..2 {", "}", "}"), "FP104", "already taken", 5, "%i"
    ),
    "no comparison": body("if wave {", "FP101", "a comparison", "{", "}"),
    "one equals sign": body("if wave = 0 {", "FP101", "equality is written ==", "=", "}"),
    "else on a line of its own": Mistake(
        kernel("if %c {", "}", "else {", "}"), "FP101", "`} else {`", 6, "else"
    ),
    "else if": Mistake(kernel("if %c {", "} else if %d {", "}"), "FP101", "'{'", 5, "if"),
    # Numbers that a kernel is given.
    "another number as a bound": Mistake(
        kernel("param %n", "loop %i in 0..%m {", "}"), "FP104", "numbers: %n", 5, "%m"
    ),
    "a number twice": Mistake(kernel("param %n", "param %n"), "FP104", "already taken", 5, "%n"),
    "a number and a buffer": body("param %a", "FP104", "already taken", "%a"),
    "a number and a loop": Mistake(
        kernel("param %n", "loop %n in 0..2 {", "}"), "FP104", "already taken", 5, "%n"
    ),
    "a number without sign": body("param n", "FP101", "%n", "n"),
    "a number with a value": body("param %n = 4", "FP101", "the end of the line", "="),
    "a number too late": Mistake(kernel("read %a", "param %n"), "FP101", "before the first", 5, "param"),
    "a number as a condition": Mistake(
        kernel("param %n", "if %n {", "}"), "FP104", "compare it: `%n == 0`", 5, "if %n"
    ),
    "a number as a buffer": Mistake(kernel("param %n", "read %n"), "FP104", "a buffer is wanted", 5, "%n"),
    "a number as a value": Mistake(kernel("param %n", "mma %n"), "FP104", "a value is wanted", 5, "%n"),
    "a number as the first bound": Mistake(
        kernel("param %n", "loop %i in %n..4 {", "}"), "FP101", "a number or '-'", 5, "%n"
    ),
    "more than a number as a bound": Mistake(
        kernel("param %n", "loop %i in 0..%n + 1 {", "}"), "FP101", "unexpected '+'", 5, "+"
    ),
    "a number in a function": Mistake(
        "func @f {\n  param %n\n}\n" + CLEAN,
        "FP101",
        "numbers are given to kernels",
        2,
        "param",
        "   = note: @k in the same file was not looked at either\n",
    ),
    # Mbarriers.
    "an object without a count": body(
        "mbarrier_init %b", "FP105", "`mbarrier_init %b count=1`", "mbarrier_init %b"
    ),
    "no arrivals": body(
        "mbarrier_init %b count=0", "FP100", "a number from 1", "mbarrier_init %b count=0"
    ),
    "fewer than no arrivals": body("mbarrier_init %b count=-1", "FP101", "a number", "-"),
    "arrivals in words": body("mbarrier_init %b count=two", "FP105", "'count' is a number", "count"),
    "an object until never": body(
        "mbarrier_init %b count=1 until=never", "FP105", "`inval`", "mbarrier_init %b count=1 until=never"
    ),
    "an object until a number": body("mbarrier_init %b count=1 until=3", "FP105", "`inval`", "until"),
    "ending with a count": body("mbarrier_inval %b count=1", "FP105", "no attribute 'count'", "count"),
    "arrivals twice": body("mbarrier_init %b count=1 count=2", "FP105", "'count' twice", "count"),
    "an object with bytes": body("mbarrier_init %b bytes=8", "FP105", "no attribute 'bytes'", "bytes"),
    "an object with a phase": body("mbarrier_init %b phase=0", "FP101", "unexpected 'phase'", "phase"),
    "an object with a name": body(
        "%o = mbarrier_init %b count=1", "FP101", "mbarrier_init yields no value", "mbarrier_init"
    ),
    "an object nowhere": body("mbarrier_init count=1", "FP101", "a name such as %a", "count"),
    "an object in no buffer": body("mbarrier_init %o count=1", "FP104", "there is no buffer %o", "%o"),
    "an object in no slot": body("mbarrier_init %a[2] count=1", "FP103", "has 2 slots", "%a[2]"),
    "an object in two buffers": body("mbarrier_init %a, %b count=1", "FP101", "unexpected ','", ","),
    "an object that is a value": Mistake(
        kernel("%x = compute", "mbarrier_arrive %x"), "FP104", "a buffer is wanted here", 5, "%x"
    ),
    "an arrival with bytes": body("mbarrier_arrive %b bytes=4", "FP105", "no attribute 'bytes'", "bytes"),
    "an arrival of the wave's own": body(
        "mbarrier_arrive %b counter=lds", "FP105", "plain accesses", "mbarrier_arrive %b counter=lds"
    ),
    "a counter in numbers": body("mbarrier_arrive %b counter=3", "FP105", "a name such as", "counter"),
    "expected without bytes": body(
        "mbarrier_expect %b", "FP105", "`mbarrier_expect %b bytes=1`", "mbarrier_expect %b"
    ),
    "expected arrivals": body("mbarrier_expect %b count=1", "FP105", "no attribute 'count'", "count"),
    "waiting for no phase": body("mbarrier_wait %b", "FP101", "expected: 'phase'", " "),
    "waiting for a count": body("mbarrier_wait %b count=1", "FP101", "expected: 'phase'", "count"),
    "waiting for nothing in particular": body("mbarrier_wait %b phase", "FP101", "expected: '='", " "),
    "something behind the phase": body("mbarrier_wait %b phase=0 count=1", "FP101", "an operator", "count"),
    "a phase that is not there": body("mbarrier_wait %b phase=%i", "FP104", "the variable of a loop", "phase"),
    "a phase that is a buffer": body("mbarrier_wait %b phase=%a", "FP104", "a number is wanted", "phase"),
    "a misspelled wait": body(
        "mbarrier_wai %b phase=0", "FP101", "did you mean `mbarrier_wait`?", "mbarrier_wai"
    ),
    # Engines that tell objects.
    "a read that arrives": body("read %a arrives %b count=1", "FP105", "by the wave itself", "%b"),
    "a load to registers that arrives": body(
        "global_read arrives %b count=1", "FP101", "unexpected 'arrives'", "arrives"
    ),
    "nothing is told": body("gather_to_lds %a arrives", "FP101", "a name such as %a", " "),
    "told nothing": body("gather_to_lds %a arrives %b", "FP101", "a name such as load", " "),
    "no object is told": body("gather_to_lds %a arrives %o bytes=4", "FP104", "no buffer %o", "%o"),
    "an object in no slot is told": body(
        "gather_to_lds %b arrives %a[2] bytes=4", "FP103", "has 2 slots", "%a[2]"
    ),
    "told no bytes": body("gather_to_lds %a arrives %b bytes=0", "FP100", "a number from 1", "bytes"),
    "told a stage": body("gather_to_lds %a arrives %b stage=1", "FP105", "`bytes` or arrives `count`", "stage"),
    "told twice": body("gather_to_lds %a arrives %b bytes=4 count=1", "FP101", "the end of the line", "count"),
    "a counter behind what is told": body(
        "gather_to_lds %a arrives %b bytes=4 counter=tma", "FP101", "the end of the line", "counter"
    ),
    # Barriers of some waves.
    "a barrier for nobody": body("barrier waves 4..4", "FP100", "a barrier for waves 4..4", "4"),
    "a barrier backwards": body("barrier waves 2..1", "FP100", "a barrier for waves 2..1", "2"),
    "a barrier for waves that cannot be": body("barrier waves 0..65", "FP100", "from 0 to 64", "0"),
    "a barrier for waves below zero": body("barrier waves -1..2", "FP101", "a number", "-"),
    "a barrier for one number": body("barrier waves 0", "FP101", "'..'", " "),
    "a barrier up to a name": body("barrier waves 0..%n", "FP101", "a number", "%n"),
    "a bare barrier for some": body("workgroup_barrier waves 0..2", "FP101", "the end of the line", "waves"),
    # What is expected.
    "expected of a known loop": body(
        "loop %i in 0..8 expect=8 {", "FP105", "'expect' on a loop that runs 8 times", "expect", "}"
    ),
    "expected of a loop that never runs": body(
        "loop %i in 0..0 expect=8 {", "FP105", "runs 0 times", "expect", "}"
    ),
    "a loop of zero": body("loop %i in 0..? expect=0 {", "FP100", "at least once", "0", "}"),
    "a loop of one and a half": body("loop %i in 0..? expect=1.5 {", "FP100", "whole number", "1.5", "}"),
    "a loop of less than zero": body("loop %i in 0..? expect=-1 {", "FP101", "a number", "-", "}"),
    "a loop of who knows": body("loop %i in 0..? expect=? {", "FP101", "a number", "?", "}"),
    "a loop of very many": body(
        f"loop %i in 0..? expect={'9' * 19} {{", "FP100", "too large", "9" * 19, "}"
    ),
    "expected twice": body(
        "loop %i in 0..? expect=1 expect=2 {", "FP105", "attribute 'expect' twice", "expect", "}"
    ),
    "likely twice": body("if %c expect=1 expect=1 {", "FP105", "attribute 'expect' twice", "expect", "}"),
    "more than certain": body("if %c expect=2 {", "FP100", "a number from 0 to 1", "2", "}"),
    "a little more than certain": body("if %c expect=1.01 {", "FP100", "from 0 to 1", "1.01", "}"),
    "much more than certain": body(f"if %c expect={'9' * 60} {{", "FP100", "from 0 to 1", "9" * 60, "}"),
    "less than impossible": body("if %c expect=-0.5 {", "FP101", "a number", "-", "}"),
    "nothing before the point": body("if %c expect=.5 {", "FP101", "unexpected character '.'", ".", "}"),
    "percent": body("if %c expect=5% {", "FP101", "unexpected '%'", "%", "}"),
    "an exponent": body("if %c expect=1e-3 {", "FP101", "unexpected 'e'", "e", "}"),
    "expected in words": body("if %c expect=often {", "FP101", "a number", "often", "}"),
    "expected without a sign": body("if %c expect 0.5 {", "FP101", "expected: '='", "0.5", "}"),
    "expected by itself": body("if expect=0.5 {", "FP101", "the condition of an `if`", "expect", "}"),
    "expected of what is carried": body(
        "loop %i in 0..? carry %x = 0 expect=2 {", "FP101", "the bounds of a loop", "expect", "}"
    ),
    "likely for some waves": body(
        "if wave < 2 expect=0.5 {", "FP105", "'expect' on a divergent if", "expect", "}"
    ),
    "a likely target for some waves": body(
        "cond_br wave < 2, ^x, ^x expect=0.5", "FP105", "on a divergent cond_br", "expect", "^x:", "return"
    ),
    "how often and how likely": body(
        "cond_br %c, ^x, ^x trip=2 expect=0.5", "FP105", "'trip' and 'expect'", "expect", "^x:", "return"
    ),
    "how often, twice": body(
        "cond_br %c, ^x, ^x trip=2 trip=2", "FP105", "'trip' twice", "trip", "^x:", "return"
    ),
    "half a trip": body("cond_br %c, ^x, ^x trip=0.5", "FP100", "whole number", "0.5", "^x:", "return"),
    "an unlikely target": body("cond_br %c, ^x, ^x expect=7", "FP100", "from 0 to 1", "7", "^x:", "return"),
    # Blocks.
    "no such block": body("br ^x", "FP104", "there is no block ^x", "^x"),
    "no such second block": body(
        "cond_br %c, ^x, ^y", "FP104", "there is no block ^y", "^y", "^x:", "  return"
    ),
    "one label twice": Mistake(
        kernel("br ^x", "^x:", "br ^x", "^x:", "return"), "FP104", "the name ^x is already taken", 7, "^x"
    ),
    # What blocks take.
    "arguments on a conditional branch": body(
        "cond_br %c, ^x(1), ^y", "FP109", "branch to a block of its own", "cond_br %c, ^x(1), ^y",
        "^x(%n):", "return", "^y:", "return",
    ),
    "arguments on its second target": body(
        "cond_br %c, ^x, ^x(1)", "FP109", "cond_br forwards nothing", "cond_br %c, ^x, ^x(1)", "^x:", "return"
    ),
    "no such block for arguments": body("br ^y(1)", "FP104", "there is no block ^y", "^y", "^x(%n):", "return"),
    "the first block has no label": body("br ^entry(1)", "FP104", "there is no block ^entry", "^entry"),
    "arguments of the kernel": Mistake(
        "kernel @k(%n) waves=4 {\n  return\n}\n", "FP101", "expected: 'waves'", 1, "("
    ),
    "arguments of the first block": body("(%n):", "FP101", "unexpected '('", "(", "return"),
    "arguments of a function": Mistake("func @f(%n) {\n}\n", "FP101", "expected: '{'", 1, "("),
    "arguments of return": body("return(1)", "FP101", "the end of the line", "("),
    "an empty list of names": Mistake(kernel("br ^x", "^x():", "return"), "FP101", "a name such as", 5, ")"),
    "an empty list of numbers": body("br ^x()", "FP101", "a number", ")", "^x:", "return"),
    "a number for a name": Mistake(kernel("br ^x(1)", "^x(1):", "return"), "FP101", "a name such as", 5, "1"),
    "a name without sign": Mistake(kernel("br ^x(1)", "^x(n):", "return"), "FP101", "begin with %: %n", 5, "n"),
    "no comma between numbers": body("br ^x(1 2)", "FP101", "',' or ')'", "2", "^x(%n):", "return"),
    "a condition for a number": body("br ^x(1 < 2)", "FP101", "unexpected '<'", "<", "^x(%n):", "return"),
    "a name twice in one block": Mistake(
        kernel("br ^x(1, 2)", "^x(%n, %n):", "return"), "FP104", "the name %n is already taken", 5, "%n"
    ),
    "a name twice in two blocks": Mistake(
        kernel("br ^x(1)", "^x(%n):", "br ^y(2)", "^y(%n):", "return"), "FP104", "already taken", 7, "%n"
    ),
    "an argument called like a buffer": Mistake(
        kernel("br ^x(1)", "^x(%a):", "return"), "FP104", "the name %a is already taken", 5, "%a"
    ),
    "an argument called like a value": Mistake(
        kernel("%v = compute", "br ^x(1)", "^x(%v):", "return"), "FP104", "%v is already taken", 6, "%v"
    ),
    "a value called like an argument": Mistake(
        kernel("br ^x(1)", "^x(%v):", "%v = compute", "return"), "FP104", "%v is already taken", 6, "%v"
    ),
    "a loop variable called like an argument": Mistake(
        kernel("br ^x(1)", "^x(%i):", "loop %i in 0..2 {", "}", "return"), "FP104", "%i is already taken", 6, "%i"
    ),
    "an argument called like a condition": body(
        "cond_br %n, ^x, ^x", "FP104", "which is no condition", "cond_br %n, ^x, ^x",
        "^x:", "br ^y(1)", "^y(%n):", "return",
    ),
    "an argument as a condition": Mistake(
        kernel("br ^x(1)", "^x(%n):", "cond_br %n, ^y, ^y", "^y:", "return"),
        "FP104", "%n is a number, which is no condition", 6, "cond_br %n, ^y, ^y",
    ),
    "an argument as the condition of an if": Mistake(
        kernel("br ^x(1)", "^x(%n):", "if %n {", "}", "return"), "FP104", "compare it: `%n == 0`", 6, "if %n"
    ),
    "an argument as a buffer": Mistake(
        kernel("br ^x(1)", "^x(%n):", "read %n", "return"), "FP104", "%n is a number; a buffer is wanted", 6, "%n"
    ),
    "an argument above its block as a buffer": body(
        "read %n[0]", "FP104", "%n is a number; a buffer is wanted", "%n[0]", "br ^x(1)", "^x(%n):", "return"
    ),
    "an argument as a value": Mistake(
        kernel("br ^x(1)", "^x(%n):", "mma %n", "return"), "FP104", "%n is a number; a value is wanted", 6, "%n"
    ),
    "an argument to come after": Mistake(
        kernel("br ^x(1)", "^x(%n):", "barrier after %n", "return"), "FP104", "a value is wanted", 6, "%n"
    ),
    "a buffer handed to a block": body(
        "br ^x(%a)", "FP104", "%a is a buffer; a number is wanted", "br ^x(%a)", "^x(%n):", "return"
    ),
    "a value handed to a block": Mistake(
        kernel("%v = compute", "br ^x(%v)", "^x(%n):", "return"),
        "FP104", "%v is a value; a number is wanted", 5, "br ^x(%v)",
    ),
    "a number that is not there": body(
        "br ^x(%z + 1)", "FP104", "%z is not the variable of a loop", "br ^x(%z + 1)", "^x(%n):", "return"
    ),
    "the variable of a loop that has ended": Mistake(
        kernel("loop %i in 0..2 {", "}", "br ^x(%i)", "^x(%n):", "return"),
        "FP104", "%i is not the variable of a loop around", 6, "br ^x(%i)",
    ),
    "what a loop of another block carries": Mistake(
        kernel("loop %i in 0..2 carry %k = 0 {", "next 1", "}", "br ^x(%k)", "^x(%n):", "read %a[%k]", "return"),
        "FP104", "%k cannot be used here", 9, "%a[%k]",
    ),
    "a number forwarded that is too large": body(
        f"br ^x({'9' * 30})", "FP100", "too large", "9" * 30, "^x(%n):", "return"
    ),
}  # fmt: skip

FLOW_MISTAKES = {
    "too few numbers": Mistake(
        kernel("br ^x(1)", "^x(%n, %m):", "return"), "FP109", "br forwards 1, and ^x takes 2", 4, "br ^x(1)"
    ),
    "too many numbers": Mistake(
        kernel("br ^x(1, 2)", "^x(%n):", "return"), "FP109", "br forwards 2, and ^x takes 1", 4, "br ^x(1, 2)"
    ),
    "numbers that nobody takes": Mistake(
        kernel("br ^x(1)", "^x:", "return"), "FP109", "br forwards 1, and ^x takes nothing", 4, "br ^x(1)"
    ),
    "no numbers": Mistake(
        kernel("br ^x", "^x(%n):", "return"), "FP109", "br forwards nothing, and ^x takes 1", 4, "br ^x"
    ),
    "a conditional branch to a block that takes numbers": Mistake(
        kernel("cond_br %c, ^y, ^x", "^y:", "return", "^x(%n):", "return"),
        "FP109",
        "cond_br forwards nothing, and ^x takes 1",
        4,
        "cond_br %c, ^y, ^x",
    ),
    "a condition on a number by wave": Mistake(
        kernel("br ^x(wave)", "^x(%n):", "cond_br %n < 2, ^y, ^z", "^y:", "br ^z", "^z:", "return"),
        "FP109",
        "a condition on %n, which is not the same for all waves",
        6,
        "cond_br %n < 2, ^y, ^z",
    ),
    "a condition on what two sides forward": Mistake(
        kernel(
            *("cond_br wave < 2, ^s, ^t", "^s:", "br ^x(0)", "^t:", "br ^x(1)"),
            *("^x(%n):", "if %n == 0 {", "write %a", "}", "return"),
        ),
        "FP109",
        "a condition on %n, which is not the same for all waves",
        10,
        "if %n == 0",
    ),
    "a branch with arguments in a loop": Mistake(
        kernel("loop %i in 0..2 {", "br ^x(%i)", "}", "return", "^x(%n):", "return"),
        "FP106",
        "br inside a loop or conditional",
        5,
        "br ^x(%i)",
    ),
    "branch in a loop": Mistake(
        kernel("loop %i in 0..2 {", "br ^x", "}", "return", "^x:", "return"),
        "FP106",
        "br inside a loop or conditional",
        5,
        "br ^x",
    ),
    "return in a conditional": Mistake(
        kernel("if %c {", "return", "}"), "FP106", "return inside a loop or conditional", 5, "return"
    ),
    "the first block does not end": Mistake(
        kernel("read %a", "^x:", "return"), "FP106", "the entry block does not end in", 4, "read %a"
    ),
    "a block does not end": Mistake(
        kernel("br ^x", "^x:", "read %a"), "FP106", "block ^x does not end in", 6, "read %a"
    ),
    "an empty block": Mistake(kernel("br ^x", "^x:"), "FP106", "block ^x does not end in", 5, "^x"),
    "an empty first block": Mistake(
        kernel("^x:", "return"), "FP106", "the entry block does not end in", 1, "kernel @k waves=4"
    ),
    "code after a branch": Mistake(
        kernel("br ^x", "read %a", "^x:", "return"), "FP106", "this can never run", 5, "read %a"
    ),
    "code after return": Mistake(kernel("return", "read %a"), "FP106", "this can never run", 5, "read %a"),
    "sides that share blocks": Mistake(
        kernel(
            *("cond_br wave < 2, ^x, ^y", "^x:", "cond_br %c, ^y, ^z", "^y:", "cond_br %d, ^z, ^end"),
            *("^z:", "br ^end", "^end:", "return"),
        ),
        "FP107",
        "do not join cleanly",
        4,
        "cond_br wave < 2, ^x, ^y",
    ),
    "a loop that only some waves leave": Mistake(
        kernel("br ^x", "^x:", "cond_br wave < 2, ^x, ^y", "^y:", "return"),
        "FP107",
        "do not join cleanly",
        6,
        "cond_br wave < 2, ^x, ^y",
    ),
}


def assert_explained(mistake: Mistake, message: str) -> None:
    assert message.startswith(f"error[{mistake.code}]: "), message
    assert mistake.words in message
    assert mistake.mark in [text or " " for text in underlined(message).get(mistake.line, [])], message


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_explained_where_they_are(mistake: Mistake, file: Path) -> None:
    file.write_bytes(mistake.text.encode())
    message = message_of(mistake.text)
    assert_explained(mistake, message)
    for command in COMMANDS:
        ran = fencepost(command, str(file))
        assert_refused(ran, str(file))
        assert ran.err == message.replace("k.fp", str(file)) + mistake.note


@pytest.mark.parametrize("mistake", FLOW_MISTAKES.values(), ids=FLOW_MISTAKES.keys())
def test_control_flow_that_makes_no_sense_is_explained(mistake: Mistake, file: Path) -> None:
    file.write_text(mistake.text)
    for command in COMMANDS:
        ran = fencepost(command, str(file))
        assert_refused(ran, str(file))
        assert_explained(mistake, ran.err)


def test_the_first_place_named_is_the_mistake_and_not_what_it_clashes_with() -> None:
    assert "--> k.fp:5:3 and k.fp:4:3\n" in message_of(kernel("%x = compute", "%x = compute"))


def test_several_kernels_where_one_is_wanted() -> None:
    with pytest.raises(FencepostError, match=r"^<text>:7:1: 2 kernels where one was expected"):
        parse(CLEAN + CLEAN.replace("@k", "@j"))
    with pytest.raises(FencepostError, match=r"^0 kernels where one was expected"):
        parse("")


def test_carets_stand_under_the_text_in_spite_of_tabs_and_wide_characters() -> None:
    assert underlined(message_of(kernel("\tread\t%z")))[4] == ["%z"]
    assert "  日本\n   |   ^^\n" in message_of("kernel @k waves=4 {\n  日本\n}")
    assert underlined(message_of(kernel("read %z").replace("\n", "\r\n")))[4] == ["%z"]


def test_long_lines_are_shown_in_part() -> None:
    message = message_of(kernel("read %a[" + " " * 50_000 + "x]"))
    assert len(message) < 2_000
    assert underlined(message)[4] == ["x"]
    assert len(message_of(kernel("x" * 100_000))) < 2_000


# ---------------------------------------------------------------- mangled text

ARGUED = """\
# A ring of blocks.
kernel @argued waves=4 {
  shared %a : 3 x 64
  br ^head(2, 0)  # two counters
^head(%in, %out):
  cond_br %in < 3, ^body, ^end expect=0.95
^body:
  write %a[%in]
  read %a[%out][%in * 16..%in * 16 + 16]
  br ^head(select(%in + 1 == 3, 0, %in + 1), (%out + 1) % 3)
^end:
  return
}
"""
MBARRIERS = """\
# A ring that an engine fills.
kernel @objects waves=5 {
  shared %a : 2 x 64
  shared %full : 2 x 8
  param %n
  mbarrier_init %full[0] count=1
  mbarrier_init %full[1] count=2
  barrier
  if wave < 4 {
    loop %i in 0..%n expect=8 {
      mbarrier_wait %full[%i % 2] phase=%i // 2 % 2  # a comment
      read %a[%i % 2]
      barrier waves 0..4 load=0
    }
  } else {
    loop %j in 0..%n step 2 {
      mbarrier_expect %full[0] bytes=64
      tensor_load_to_lds %a[%j % 2] group=g counter=tma arrives %full[0] bytes=64
      mbarrier_arrive %full[1] count=2 counter=tma
      async_mma %a arrives %full[1] count=1
    }
  }
}
"""
WHOLE = [
    *(RACY, BRANCHING, HANDING, ARGUED, MBARRIERS),
    random_text(11, Shape(size=16, slots=True, asynchronous=True)),
]
NAMES = ["racy", "branching", "handing", "argued", "objects", "random"]
TOKEN = re.compile(r"[%@^]?[\w.]+|//|\.\.|[<>=!]=|\S|\n")


def mangled(text: str, rng: random.Random) -> str:
    """One token of `text` deleted, doubled, swapped with another or mistyped, or two lines swapped."""
    tokens = list(TOKEN.finditer(text))
    one, two = sorted(rng.sample(tokens, 2), key=lambda token: token.start())
    first, between, second = one[0], text[one.end() : two.start()], two[0]
    way = rng.randrange(5)
    if way == 0:
        return text[: one.start()] + text[one.end() :]
    if way == 1:
        return text[: one.end()] + " " + first + text[one.end() :]
    if way == 2:
        return text[: one.start()] + second + between + first + text[two.end() :]
    if way == 3:
        typed = rng.choice("abz019%@^[](){}.,=#-+*/?<> \n\t\"'é\u2028")
        place = rng.randrange(len(first))
        return text[: one.start() + place] + typed + text[one.start() + place + 1 :]
    lines = text.split("\n")
    here, there = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[here], lines[there] = lines[there], lines[here]
    return "\n".join(lines)


@pytest.mark.parametrize("text", sweep(WHOLE, chosen=(ARGUED, MBARRIERS)), ids=NAMES)
def test_every_beginning_of_a_kernel(text: str, file: Path) -> None:
    for length in range(len(text)):
        part = text[:length]
        assert_sane(part)
        code = re.sub(r"#.*", "", part).rstrip()
        if code and not (code.endswith("}") and code.count("{") == code.count("}")):
            assert message_of(part), part
        if length % 9 == 0 and code.count("{") > code.count("}"):
            file.write_text(part)
            assert_refused(fencepost("check", str(file)), str(file))


@pytest.mark.parametrize("text", sweep(WHOLE, chosen=(ARGUED, MBARRIERS)), ids=NAMES)
def test_every_end_of_a_kernel(text: str) -> None:
    for start in range(len(text)):
        assert_sane(text[start:])


@pytest.mark.parametrize("text", sweep(WHOLE, chosen=(ARGUED, MBARRIERS)), ids=NAMES)
def test_every_line_left_out_or_moved(text: str) -> None:
    lines = text.splitlines(keepends=True)
    for one in range(len(lines)):
        assert_sane("".join(lines[:one] + lines[one + 1 :]))
        for two in range(len(lines)):
            assert_sane(
                "".join([*lines[:one], *lines[one + 1 : two], lines[one], *lines[max(one + 1, two) :]])
            )


@pytest.mark.parametrize("text", sweep(WHOLE, chosen=(ARGUED, MBARRIERS)), ids=NAMES)
def test_mangled_tokens(text: str, file: Path) -> None:
    rng = random.Random(1)
    for number in range(400):
        wrong = mangled(text, rng)
        for _ in range(rng.choice([0, 0, 1, 3])):
            wrong = mangled(wrong, rng)
        assert_sane(wrong)
        if number % 20 == 0:
            file.write_bytes(wrong.encode())
            for command in COMMANDS:
                ran = fencepost(command, str(file))
                assert ran.code in (0, 1, 2)
                assert "Traceback" not in ran.err
                assert file.read_bytes() == wrong.encode()


WORDS = st.sampled_from(
    [
        match[0]
        for match in TOKEN.finditer(BRANCHING + HANDING + ARGUED + MBARRIERS + " ( ) - // shared x != #")
    ]
)


@given(st.lists(WORDS, max_size=40).map(" ".join))
@settings(derandomize=True, max_examples=300, deadline=None)
def test_words_in_any_order(text: str) -> None:
    assert_sane(text)
    assert_sane(f"kernel @k waves=4 {{\n  shared %a : 64\n  {text}\n}}\n")


@given(st.text(max_size=60))
@settings(derandomize=True, max_examples=300, deadline=None)
def test_any_text(text: str) -> None:
    assert_sane(text)
    assert_sane(f"kernel @k waves=4 {{\n  {text}\n}}\n")


@given(st.binary(max_size=80))
@settings(
    derandomize=True,
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_bytes(file: Path, raw: bytes) -> None:
    file.write_bytes(raw)
    for ran in (fencepost("check", str(file)), fencepost("check", "-", stdin=raw)):
        assert_refused(ran, located=False)
        assert str(file) in ran.err or "<stdin>" in ran.err
    assert file.read_bytes() == raw


# ---------------------------------------------------------------- too much of everything


def nested(opening: str, depth: int, inside: str) -> str:
    start = "".join(opening.format(number) for number in range(depth))
    return f"kernel @k waves=4 {{\n  shared %a : 64\n{start}{inside}" + "}\n" * (depth + 1)


def test_ten_thousand_parentheses() -> None:
    deep = kernel("read %a[" + "(" * 10_000 + "1" + ")" * 10_000 + "]")
    assert str(parse(deep)) == kernel("read %a[1]")
    assert "FP101" in message_of(deep.replace(")", "", 1))
    assert "FP101" in message_of(deep.replace("(", "", 1))
    assert "FP101" in message_of(deep[:5_000])


@pytest.mark.parametrize(
    "index", ["1 - " * 10_000 + "1", "(1 - " * 10_000 + "1" + ")" * 10_000, "select(0 < 1, " * 5_000]
)
def test_expressions_too_deep_to_follow_are_refused(index: str) -> None:
    message = message_of(kernel(f"read %a[{index}]"))
    assert "nested more than 64 deep" in message or "FP101" in message
    assert underlined(message)
    assert_sane(kernel(f"if {index} == 0 {{", "}"))
    assert_sane(kernel("%x = compute", f"mma %x[{index}]"))


OPENINGS = ["loop %i{} in 0..2 {{\n", "if %c{} {{\n", "if %c{} {{\n}} else {{\n"]


@pytest.mark.parametrize(
    ("opening", "command"),
    sweep(
        [(opening, command) for opening in OPENINGS for command in COMMANDS],
        first=len(COMMANDS),
        chosen=[(opening, "check") for opening in OPENINGS],
    ),
)
def test_regions_two_thousand_deep(opening: str, command: str, file: Path) -> None:
    file.write_text(nested(opening, 2_000, "write %a\n"))
    ran = fencepost(command, str(file))
    assert ran.code in (0, 1)
    assert "Traceback" not in ran.err


def test_deep_kernels_round_trip() -> None:
    trace = parse(nested("loop %i{} in 0..2 {{\n", 2_000, "read %a\n"))
    assert str(parse(str(trace))) == str(trace)


@pytest.mark.parametrize("command", COMMANDS)
def test_huge_numbers(command: str, file: Path) -> None:
    most = "9" * 18
    file.write_text(
        f"kernel @k waves=64 {{\n  shared %a : 3 x 64 at {most}\n  loop %i in -{most}..{most} step 7 {{\n"
        f"    write %a[%i % 3]\n    read %a[(%i * {most}) % 3]\n  }}\n  wait_count load={most}\n}}\n"
    )
    ran = fencepost(command, str(file))
    assert ran.code in (0, 1)
    assert "Traceback" not in ran.err


def test_a_hundred_thousand_lines(file: Path) -> None:
    lines = ["# comment"] * 50_000 + [""] * 50_000
    assert str(parse(kernel(*lines, "read %a", "mma %z").replace("%z", ""))).count("# comment") == 50_000
    assert message_of(kernel(*lines, "reed %a")).startswith("error[FP101]")


# ---------------------------------------------------------------- files


def test_there_is_no_kernel(file: Path) -> None:
    for text in ("", "\n\n", "# nothing but a comment", " \t\n"):
        file.write_text(text)
        ran = fencepost("check", str(file))
        assert_refused(ran, located=False)
        assert ran.err == (
            f"error[FP102]: there is no kernel in this file\n  --> {file}\n"
            "   = help: a kernel is `kernel @name waves=4 {` ... `}`; `fencepost demo` shows some\n"
        )


@pytest.mark.parametrize("command", COMMANDS)
def test_files_that_cannot_be_read(command: str, tmp_path: Path) -> None:
    missing = tmp_path / "no.fp"
    ran = fencepost(command, str(missing))
    assert_refused(ran, located=False)
    assert ran.err == f"error[FP112]: cannot read {missing}: No such file or directory\n"
    ran = fencepost(command, str(tmp_path))
    assert_refused(ran, located=False)
    folders = command in ("check", "explain")
    why = f"there is no kernel below {tmp_path}: no file ends in .fp, .ttgir, .ttir, .mlir, .cu, .ptx"
    takes_a_file = (
        f"cannot read {tmp_path}: Is a directory\n"
        "   = help: this takes a file; check, explain, fix and audit take folders"
    )
    assert ran.err == f"error[FP112]: {why if folders else takes_a_file}\n"


def test_invalid_utf8_is_pointed_at(file: Path) -> None:
    file.write_bytes("kernel @k waves=4 {\n  # é".encode() + b"\xff\n}\n")
    ran = fencepost("insert", "-w", str(file))
    assert_refused(ran, str(file))
    assert f"{file}:2:6\n" in ran.err
    assert "byte 0xff" in ran.err
    assert_refused(fencepost("check", "-", stdin=file.read_bytes()), "<stdin>")


def test_binary_files(file: Path) -> None:
    file.write_bytes(Path(sys.executable).read_bytes()[:100_000])
    ran = fencepost("check", str(file))
    assert_refused(ran, located=False)
    assert f"{file} is a binary file, not text" in ran.err and len(ran.err) < 2_000


def test_a_byte_order_mark_says_nothing(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + CLEAN.encode())
    assert fencepost("check", str(file)).code == 0


UNREADABLE = (RACY.replace("read", "reed"), RACY[:-2], "\x00", "")


@pytest.mark.parametrize(
    ("command", "text"),
    [*((command, text) for command in ("insert", "prune") for text in UNREADABLE), ("insert", HOPELESS)],
)
def test_a_failed_run_changes_nothing(command: str, text: str, file: Path) -> None:
    file.write_text(text)
    before = file.stat()
    other = file.with_name("other.fp")
    other.write_text("keep me")
    for arguments in ([command, "-w", str(file)], [command, str(file), "-o", str(other)]):
        ran = fencepost(*arguments)
        assert ran.code == (1 if text == HOPELESS else 2)
        assert ran.out == ""
        assert ran.err.startswith("error[FP")
    assert file.read_text() == text
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert other.read_text() == "keep me"
    assert sorted(file.parent.iterdir()) == [file, other]


def test_one_bad_kernel_keeps_the_others_from_being_written(file: Path) -> None:
    text = RACY + HOPELESS.replace("@k", "@j")
    file.write_text(text)
    assert fencepost("insert", "-w", str(file)).code == 1
    assert file.read_text() == text


def test_files_that_cannot_be_written(file: Path) -> None:
    file.write_text(RACY)
    for out in (file.parent, file.parent / "no" / "such.fp"):
        ran = fencepost("insert", str(file), "-o", str(out))
        assert_refused(ran, located=False)
        assert ran.err.startswith(f"error[FP112]: cannot write {out}: ")
    assert list(file.parent.iterdir()) == [file]


# ---------------------------------------------------------------- writing


def test_insert_writes_back(file: Path) -> None:
    file.write_text(RACY)
    file.chmod(0o640)
    ran = fencepost("insert", "-w", str(file))
    assert (ran.code, ran.out) == (0, "")
    assert "1 barrier inserted" in ran.err
    assert "  barrier  # " in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o640
    assert fencepost("check", str(file)).code == 0
    assert list(file.parent.iterdir()) == [file]


def test_insert_writes_elsewhere(file: Path) -> None:
    file.write_text(RACY)
    out = file.with_name("out.fp")
    assert fencepost("insert", str(file), "-o", str(out)).out == ""
    assert file.read_text() == RACY
    assert out.read_text() == fencepost("insert", str(file)).out
    assert fencepost("insert", str(file), "-w", "-o", str(out)).code == 2


@pytest.mark.parametrize("command", ["insert", "prune"])
def test_comments_around_kernels_are_written_back(command: str, file: Path) -> None:
    file.write_text(f"# License\n\n# About\n{RACY}# Between\n{CLEAN.replace('@k', '@j')}\n# End\n")
    assert fencepost(command, "-w", str(file)).code == 0
    text = file.read_text()
    assert text.startswith("# License\n\n# About\nkernel @k ")
    assert "}\n\n# Between\nkernel @j " in text
    assert text.endswith("}\n\n# End\n")


def test_links_are_written_through(file: Path) -> None:
    file.write_text(RACY)
    link = file.with_name("link.fp")
    link.symlink_to(file.name)
    assert fencepost("insert", "-w", str(link)).code == 0
    assert link.is_symlink()
    assert "barrier" in file.read_text()


def test_what_is_no_file_is_not_replaced_by_one(file: Path) -> None:
    file.write_text(RACY)
    waiting = file.with_name("pipe")
    os.mkfifo(waiting)
    reader = os.open(waiting, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert fencepost("insert", str(file), "-o", str(waiting)).code == 0
        assert b"barrier" in os.read(reader, 10_000)
    finally:
        os.close(reader)
    assert waiting.is_fifo()


def test_standard_input() -> None:
    assert "barrier" in fencepost("insert", "-", stdin=RACY.encode()).out
    assert fencepost("check", "-", stdin=RACY.encode()).code == 1
    assert_refused(fencepost("check", "-", stdin=b"nonsense"), "<stdin>")
    ran = fencepost("check", "-", stdin=b"")
    assert_refused(ran, located=False)
    assert "<stdin>" in ran.err


# ---------------------------------------------------------------- calls


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "required"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        (["check"], "required: FILE"),
        (["insert", "--frobnicate", "FILE"], "--frobnicate"),
        (["insert", "FILE", "FILE"], "unrecognized"),
        (["check", "--paths", "many", "FILE"], "invalid int value: 'many'"),
        (["completion", "tcsh"], "invalid choice: 'tcsh'"),
        (["chekc", "FILE"], "did you mean `check`?"),
        (["check", "--jsn", "FILE"], "did you mean `--json`?"),
        (["check", "--jsn", "FILE"], "usage: fencepost check "),
        (["insert", "--stratgy=walk", "FILE"], "did you mean `--strategy`?"),
        (["check", "--color", "green", "FILE"], "invalid choice: 'green'"),
        (["check", "--color", "allways", "FILE"], "did you mean `always`?"),
        (["check", "--format", "SARIF", "FILE"], "did you mean `sarif`?"),
        (["completion", "zhs"], "did you mean `zsh`?"),
        (["schema", "inser"], "did you mean `insert`?"),
        (["insert", "-t", "gfx943", "FILE"], "did you mean `gfx942`?"),
        (["insert", "-t", "sm90a", "FILE"], "did you mean `sm_90`?"),
        (["insert", "-t", "GFX942", "FILE"], "did you mean `gfx942`?"),
        (["check", "-t", "H200", "FILE"], "did you mean `sm_90`?"),
        (["explain", "-t", "mi300x", "FILE"], "did you mean `gfx942`?"),
        (["fix", "-t", "sm_91", "FILE"], "did you mean `sm_90`?"),
        (["fix", "-s", "optimum", "FILE"], "did you mean `optimal`?"),
        (["insert", "-s", "Minimise", "FILE"], "did you mean `minimize`?"),
        (["schedule", "-s", "two_pp", "FILE"], "did you mean `two-pp`?"),
        (["demo", "gem"], "did you mean `gemm`?"),
        (["demo", "-t", "gfx920"], "did you mean `gfx950`?"),
        (["view", "-k", "kk", "FILE", "-o", "k.html"], "did you mean `@k`?"),
        (["view", "FILE", "-o", "k.htlm"], "did you mean `.html`?"),
    ],
)
def test_calls_that_make_no_sense(arguments: list[str], words: str, file: Path) -> None:
    file.write_text(RACY)
    ran = fencepost(*(str(file) if argument == "FILE" else argument for argument in arguments))
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert file.read_text() == RACY


@pytest.mark.parametrize(
    "arguments",
    [
        ["insert", "-t", "riscv"],
        ["insert", "-s", "fastest"],
        ["check", "--color", "green"],
        ["view", "-k", "zz"],
    ],
)
def test_what_is_like_nothing_gets_no_suggestion(arguments: list[str], file: Path) -> None:
    file.write_text(RACY)
    ran = fencepost(*arguments, str(file))
    assert ran.code == 2 and "did you mean" not in ran.err


def test_a_file_that_is_not_there_names_the_one_beside_it(file: Path) -> None:
    file.write_text(RACY)
    ran = fencepost("check", str(file).replace(".fp", ".pf"))
    assert ran.code == 2 and f"did you mean `{file}`?" in ran.err
    for missing in (file.parent / "nowhere" / "k.fp", file.parent / "quite-another-name.txt"):
        ran = fencepost("check", str(missing))
        assert ran.code == 2 and "did you mean" not in ran.err


@pytest.mark.parametrize(("color", "escapes"), [("auto", False), ("never", False), ("always", True)])
def test_colours_are_for_terminals_unless_they_are_asked_for(color: str, escapes: bool, file: Path) -> None:
    file.write_text(RACY)
    ran = fencepost("check", str(file), "--color", color)
    assert ran.code == 1
    assert ("\x1b[" in ran.out) is escapes
    wrong = fencepost("check", f"{file}.missing", "--color", color)
    assert ("\x1b[" in wrong.err) is escapes


@pytest.mark.parametrize(
    ("option", "code", "known"),
    [("--target", "FP110", ("gfx942", "gfx1250", "sm_90")), ("--strategy", "FP111", ("minimize", "eager"))],
)
def test_unknown_names_are_answered_with_the_known_ones(
    option: str, code: str, known: Sequence[str], file: Path
) -> None:
    file.write_text(RACY)
    ran = fencepost("insert", "-w", option, "frobnicate", str(file))
    assert_refused(ran, located=False)
    assert ran.err.startswith(f"error[{code}]: unknown")
    assert all(name in ran.err for name in known)
    assert file.read_text() == RACY


@pytest.mark.parametrize(
    ("command", "text", "code"),
    [
        ("check", CLEAN, 0),
        ("check", RACY, 1),
        ("check", "x", 2),
        ("insert", RACY, 0),
        ("insert", HOPELESS, 1),
        ("insert", "x", 2),
        ("prune", CLEAN, 0),
        ("prune", "x", 2),
        ("explain", CLEAN, 0),
        ("explain", "x", 2),
    ],
)
@pytest.mark.parametrize("json_option", [[], ["--json"]], ids=["text", "json"])
def test_exit_codes(command: str, text: str, code: int, json_option: list[str], file: Path) -> None:
    file.write_text(text)
    ran = fencepost(command, *json_option, str(file))
    assert ran.code == code
    assert "\x1b" not in ran.out + ran.err
    if json_option:
        (entry,) = json.loads(ran.out, parse_constant=pytest.fail)
        refused = code == 2 or text == HOPELESS
        assert entry["ok"] is False and "error" in entry if refused else entry["kernel"] == "k"


def test_unknown_bundled_kernels() -> None:
    ran = fencepost("demo", "frobnicate")
    assert_refused(ran, located=False)
    assert "bundled kernels: " in ran.err


def test_calls_without_a_file_exit_with_zero() -> None:
    assert fencepost("completion", "bash").code == 0
    assert fencepost("--version").code == 0
    assert fencepost("--help").code == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    script = fencepost("completion", shell).out
    assert "fencepost" in script
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, timeout=30)
        assert (checked.returncode, checked.stderr) == (0, "")


# ---------------------------------------------------------------- in a process of its own


def test_a_process_ends_as_a_call_does(file: Path) -> None:
    for text in (CLEAN, RACY, RACY.replace("read", "reed")):
        file.write_text(text)
        assert process("check", str(file)) == fencepost("check", str(file))


def test_colour_on_a_terminal(file: Path) -> None:
    file.write_text("nonsense")
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            [sys.executable, "-m", "fencepost.cli", "check", str(file)],
            stderr=theirs,
            timeout=60,
            env=environment() | {"TERM": "xterm-256color"},
            check=False,
        )
        shown = os.read(ours, 10_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "\x1b[1;31merror[FP101]" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r\n", "\n")
    assert plain == fencepost("check", str(file)).err


@pytest.mark.parametrize("times", [1, 400], ids=["little", "much"])
@pytest.mark.parametrize("command", COMMANDS)
def test_nobody_reads_the_result(command: str, times: int, file: Path) -> None:
    file.write_text(kernel(*(["write %a", "barrier  # and why", "read %b", "barrier"] * times)))
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ran = process(command, str(file), stdout=writer)
    finally:
        os.close(writer)
    assert "Traceback" not in ran.err
    assert "BrokenPipe" not in ran.err


def test_a_reader_that_has_seen_enough(file: Path) -> None:
    file.write_text(kernel(*["write %a", "read %a"] * 3_000))
    shell = f"{sys.executable} -m fencepost.cli insert '{file}' | head -1"
    ran = subprocess.run(
        ["bash", "-c", shell], capture_output=True, text=True, timeout=60, env=environment(), check=False
    )
    assert ran.stdout == "kernel @k waves=4 {\n"
    assert "Traceback" not in ran.stderr
    assert "BrokenPipe" not in ran.stderr


def test_an_output_that_cannot_spell_the_result(file: Path) -> None:
    file.write_text(RACY)
    ran = process("insert", str(file), PYTHONIOENCODING="ascii")
    assert "Traceback" not in ran.err
    assert ran.out.startswith("kernel @k waves=4 {\n")
