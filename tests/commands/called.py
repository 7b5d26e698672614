"""Calls of the command line as a user makes them, and how to read what it says."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

from fencepost.cli import main
from fencepost.ir.parser import parse_all
from fencepost.ir.source import FencepostError
from fencepost.report.diagnostics import from_error, render
from tests.conftest import Ran

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


def assert_explained(mistake: Mistake, message: str) -> None:
    assert message.startswith(f"error[{mistake.code}]: "), message
    assert mistake.words in message
    assert mistake.mark in [text or " " for text in underlined(message).get(mistake.line, [])], message
