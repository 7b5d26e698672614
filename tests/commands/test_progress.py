"""What a terminal shows while a command is at work, seen through a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fencepost.commands import progress
from fencepost.phases import listening
from tests.commands.kernels import RACY
from tests.conftest import CommandLine

QUICK = """
import sys
from fencepost import cli
sys.exit(cli.main())
"""
"""As `fencepost` starts."""
SLOW_PHASES = """
import time
from fencepost.commands import progress

class Line(progress._Line):
    def phase(self, words):
        super().phase(words)
        while words not in self.shown:
            time.sleep(0.01)

progress.PATIENCE, progress._Line = 0.05, Line
"""
"""No phase ends before it is on the screen: so that no test needs a kernel that takes seconds."""
CLEAN = "kernel @k waves=4 {\n  shared %a : 64\n  write %a\n}\n"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ERASED, HIDDEN, SHOWN = "\x1b[2K", "\x1b[?25l", "\x1b[?25h"


def seen(
    folder: Path,
    *arguments: str,
    start: str = SLOW_PHASES + QUICK,
    stdout_too: bool = True,
    **environment: str,
) -> tuple[str, str, int]:
    """What a terminal gets from a command, what goes elsewhere, and the exit code."""
    main, terminal = pty.openpty()
    variables = os.environ | {"TERM": "xterm", "COLUMNS": "100"} | environment
    elsewhere = folder / "elsewhere"
    with elsewhere.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", start, *arguments], cwd=folder, env=variables, stdin=subprocess.DEVNULL,
            stdout=terminal if stdout_too else file, stderr=terminal,
        )  # fmt: skip
    os.close(terminal)
    parts: list[bytes] = []
    patience = time.monotonic() + 60
    while time.monotonic() < patience:
        ready, _, _ = select.select([main], [], [], 1)
        try:
            parts += [os.read(main, 65536)] if ready else []
        except OSError:  # the other end is closed
            break
    os.close(main)
    code = process.wait(10)
    return b"".join(parts).decode(), elsewhere.read_text(), code


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "slow.fp").write_text(CLEAN)
    (tmp_path / "racy.fp").write_text(RACY)
    return tmp_path


def test_what_takes_long_says_what_it_does_and_leaves_nothing_on_the_screen(folder: Path) -> None:
    text, _, code = seen(folder, "check", ".")
    words = ESCAPES.sub("", text)
    assert code == 1 and "slow.fp (2 of 2) · checking @k" in words
    assert text.count(HIDDEN) == text.count(SHOWN) > 0, "the cursor is back"
    last = text.rindex("checking @k")
    assert ERASED in text[last:], "the line is taken away"
    assert (
        words.count("@racy: 1 race (") == 1 and "2 files, 2 kernels" in words[words.rindex("checking @k") :]
    )


@pytest.mark.parametrize(
    ("arguments", "some"),
    [
        (["insert", "slow.fp", "-o", "out.fp"], r"parsing|analysing @k|choosing barriers for @k|writing"),
        (["view", "slow.fp", "-o", "out.svg"], r"checking @k|explaining @k|running @k step by step"),
    ],
    ids=["insert", "view"],
)
def test_a_single_file_is_named_with_the_phase(arguments: list[str], some: str, folder: Path) -> None:
    text, _, code = seen(folder, *arguments)
    assert code == 0 and re.search(rf"slow\.fp · (?:{some})", text), text[:2000]


class Heard:
    """Everything that is said, however short it was so."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def file(self, name: str, number: int, count: int) -> None:
        self.said.append(f"{Path(name).name} {number}/{count}")

    def phase(self, words: str) -> None:
        self.said.append(words)


@pytest.mark.parametrize(
    ("arguments", "phases"),
    [
        (
            ["check", "."],
            ["racy.fp 1/2", "parsing", "checking @racy", "slow.fp 2/2", "parsing", "checking @k"],
        ),
        (["explain", "racy.fp"], ["racy.fp 1/1", "parsing", "explaining @racy"]),
        (
            ["insert", "racy.fp", "-o", "out.fp"],
            ["racy.fp 1/1", "parsing", "analysing @racy", "choosing barriers for @racy", "writing @racy"],
        ),
        (["prune", "racy.fp"], ["racy.fp 1/1", "parsing", "pruning @racy"]),
        (["fix", "racy.fp"], ["racy.fp 1/1", "parsing", "checking @racy", "analysing @racy"]),
        (["view", "racy.fp"], ["racy.fp 1/1", "parsing", "checking @racy", "explaining @racy"]),
        (["schedule", "racy.fp"], ["racy.fp 1/1", "parsing", "scheduling @racy"]),
    ],
    ids=["check", "explain", "insert", "prune", "fix", "view", "schedule"],
)
def test_phases(
    arguments: list[str],
    phases: list[str],
    folder: Path,
    fencepost: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    heard = Heard()
    with listening(heard):
        fencepost(*arguments)
    assert heard.said[: len(phases)] == phases
    before = list(heard.said)
    fencepost("check", "racy.fp")
    assert heard.said == before, "nobody listens any more"


@pytest.mark.parametrize(
    "arguments",
    [["insert", "--json", "slow.fp"], ["check", "-q", "slow.fp"], ["check", "--format", "github", "racy.fp"]],
)
def test_programs_and_those_who_want_quiet_see_nothing_of_it(arguments: list[str], folder: Path) -> None:
    text, _, _ = seen(folder, *arguments, stdout_too=False)
    assert "\x1b" not in text and "checking" not in text


def test_what_goes_to_a_file_is_not_touched(folder: Path) -> None:
    text, out, code = seen(folder, "check", "slow.fp", "racy.fp", stdout_too=False)
    assert "checking @k" in text and code == 1
    assert "\x1b" not in out and "checking" not in out and "@racy: 1 race" in out


def test_a_terminal_that_cannot_move_its_cursor_sees_nothing_of_it(folder: Path) -> None:
    text, _, _ = seen(folder, "check", "slow.fp", TERM="dumb")
    assert "\x1b" not in text and "checking" not in text


def test_what_is_quick_says_nothing(folder: Path) -> None:
    text, _, _ = seen(folder, "check", "racy.fp", start=QUICK)
    assert "checking" not in text and HIDDEN not in text


def test_what_is_quick_takes_less_than_a_second() -> None:
    assert progress.PATIENCE == 1.0


def test_nothing_is_loaded_for_it_without_a_terminal(folder: Path) -> None:
    code = (
        "import sys, fencepost.cli as c; c.main(['check', 'racy.fp']); "
        "print('fencepost.commands.progress' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    assert ran.stdout.endswith("False\n")
