"""What a script can rely on: exit codes, what quiet says, and files that cannot be read among those that can."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fencepost as fp
from fencepost import cli
from tests.commands.kernels import CLEAN, LONG, RACY
from tests.conftest import CommandLine
from tests.tiers import sweep


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"clean": CLEAN, "racy": RACY, "long": LONG, "broken": "kernel {"}.items():
        (tmp_path / f"{name}.fp").write_text(text)
    (tmp_path / "folder.fp").mkdir()
    (tmp_path / "latin.fp").write_bytes(b"kernel @\xe9")
    return tmp_path


# ---------------------------------------------------------------- proofs


def test_quiet_says_that_nothing_was_proven(folder: Path, fencepost: CommandLine) -> None:
    assert fencepost("check", "-q", "clean.fp", "long.fp").out == ""
    ran = fencepost("check", "-q", "--budget", "1", "long.fp")
    assert ran.code == 0
    assert ran.out.startswith("long.fp: @long: nothing found (") and "not a proof: " in ran.out


@pytest.mark.parametrize("options", [(), ("-q",), ("--json",)], ids=" ".join)
def test_a_proof_can_be_required(options: tuple[str, ...], folder: Path, fencepost: CommandLine) -> None:
    required = ("check", "--require-proof", *options)
    assert fencepost(*required, "long.fp").code == 0
    assert fencepost(*required, "--budget", "1", "long.fp").code == 1
    assert fencepost("check", *options, "--budget", "1", "long.fp").code == 0


def test_a_report_tells_what_is_proven_from_what_was_not_found() -> None:
    assert fp.check(fp.parse(LONG)).proven
    cut = fp.check(fp.parse(LONG), budget=1)
    assert cut.ok and not cut.proven
    assert not fp.check(fp.parse(RACY)).proven


# ---------------------------------------------------------------- files that cannot be judged


@pytest.mark.parametrize("bad", ["missing.fp", "folder.fp", "latin.fp", "broken.fp", "missing.ttgir"])
def test_the_others_are_judged_all_the_same(bad: str, folder: Path, fencepost: CommandLine) -> None:
    ran = fencepost("check", "racy.fp", bad, "clean.fp")
    assert ran.code == 2
    assert "racy.fp: @racy: 1 race" in ran.out and "clean.fp: @clean: no race" in ran.out
    assert ran.err.startswith("error[FP1") and bad in ran.err


def test_programs_learn_which_file_could_not_be_read(folder: Path, fencepost: CommandLine) -> None:
    ran = fencepost("check", "--json", "missing.fp", "racy.fp", "broken.fp", "clean.fp")
    assert ran.code == 2
    missing, racy, broken, clean = json.loads(ran.out)
    assert missing["error"]["message"] == "cannot read missing.fp: No such file or directory"
    assert missing["error"]["line"] is None and missing["ok"] is False
    assert (broken["error"]["code"], broken["error"]["line"], broken["error"]["column"]) == ("FP101", 1, 8)
    assert [entry["file"] for entry in (missing, racy, broken, clean)] == [
        *("missing.fp", "racy.fp", "broken.fp", "clean.fp")
    ]
    assert (racy["ok"], clean["ok"]) == (False, True) and "error" not in clean
    assert "cannot read missing.fp" in ran.err


def test_of_one_file_that_cannot_be_judged_programs_learn_why(folder: Path, fencepost: CommandLine) -> None:
    ran = fencepost("check", "broken.fp")
    assert (ran.code, ran.out) == (2, "") and "broken.fp:1:8" in ran.err
    ran = fencepost("check", "--json", "broken.fp")
    (entry,) = json.loads(ran.out)
    assert ran.code == 2 and "broken.fp:1:8" in ran.err
    assert (entry["file"], entry["ok"], entry["error"]["line"], entry["error"]["column"]) == (
        *("broken.fp", False, 1, 8),
    )


def test_findings_outweigh_nothing_and_unreadable_files_outweigh_findings(
    folder: Path, fencepost: CommandLine
) -> None:
    assert fencepost("check", "clean.fp", "racy.fp").code == 1
    assert fencepost("check", "missing.fp", "clean.fp").code == 2
    assert fencepost("check", "clean.fp").code == 0


# ---------------------------------------------------------------- whoever reads the output


def shell(command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A pipeline as it stands in a script."""
    quoted = f"set -o pipefail; fencepost() {{ '{sys.executable}' -m fencepost.cli \"$@\"; }}; {command}"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    return subprocess.run(
        ["bash", "-c", quoted], capture_output=True, text=True, timeout=120, env=environment | variables,
        check=False,
    )  # fmt: skip


PIPELINES = [
    ("fencepost check racy.fp | head -1", 1),
    ("fencepost check racy.fp | true", 1),
    ("fencepost check racy.fp 2>&1 | true", 1),
    ("fencepost check --json racy.fp | true", 1),
    ("fencepost check clean.fp | true", 0),
    ("fencepost check missing.fp 2>&1 | true", 2),
    ("fencepost check racy.fp >&-", 1),
    ("fencepost check missing.fp 2>&-", 2),
    ("fencepost check racy.fp > /dev/full", 2),
    ("fencepost --help | true", 0),
]


@pytest.mark.parametrize(
    ("command", "code", "buffered"),
    sweep(
        [(*pipeline, buffered) for buffered in (True, False) for pipeline in PIPELINES],
        first=len(PIPELINES),
        chosen=[("fencepost check racy.fp 2>&1 | true", 1, False)],
    ),
)
def test_a_reader_that_leaves_does_not_change_the_verdict(
    command: str, code: int, buffered: bool, folder: Path
) -> None:
    ran = shell(command, **({} if buffered else {"PYTHONUNBUFFERED": "1"}))
    assert ran.returncode == code
    assert "Traceback" not in ran.stderr and "Exception ignored" not in ran.stderr


def test_the_last_of_many_kernels_still_counts(folder: Path) -> None:
    """Far more is printed than a pipe holds before the racy kernel is reached."""
    Path("many.fp").write_text("".join(CLEAN.replace("@clean", f"@k{n}") for n in range(2000)) + RACY)
    assert shell("fencepost check many.fp | head -1").returncode == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_command_leaves_without_a_word_too_many(
    number: signal.Signals, code: int, folder: Path
) -> None:
    os.mkfifo("never.fp")
    command = [sys.executable, "-m", "fencepost.cli", "check", "never.fp"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        # It has begun, and waits for somebody to write, once there is somebody to read.
        time.sleep(0.1)
        writer = os.open("never.fp", os.O_WRONLY)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        os.close(writer)
    assert process.returncode == code
    assert "Traceback" not in said


def test_a_command_that_is_ended_twice_cleans_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """`timeout` ends the process and its group: the second time, it is cleaning up."""
    handlers = []
    monkeypatch.setattr(signal, "signal", lambda number, handler: handlers.append((number, handler)))
    with pytest.raises(SystemExit) as ended:
        cli._terminated(signal.SIGTERM, None)
    assert ended.value.code == 143 and handlers == [(signal.SIGTERM, signal.SIG_IGN)]
