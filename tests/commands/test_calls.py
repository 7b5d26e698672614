"""Calls that make no sense, exit codes, colours, and output that nobody reads."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.commands.called import (
    CLEAN,
    COMMANDS,
    HOPELESS,
    RACY,
    assert_refused,
    environment,
    fencepost,
    kernel,
    process,
)
from tests.tiers import sweep

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
@pytest.mark.parametrize("command", sweep(COMMANDS, chosen=["check", "insert", "explain"]))
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
