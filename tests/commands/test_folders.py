"""Folders and several files: what is taken, in which order, and the line that sums up."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fencepost.audit.entries import entries_of
from fencepost.commands.paths import kernel_files
from tests.commands.kernels import CLEAN, LONG, RACY
from tests.conftest import CommandLine


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "k/b.fp": RACY,
        "k/a.fp": CLEAN,
        "k/deeper/c.fp": CLEAN,
        "k/notes.md": "no kernel",
        "k/.hidden/d.fp": "kernel {",
        "k/.e.fp": "kernel {",
        "empty/readme.txt": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_a_folder_is_the_kernels_below_it_in_order(folder: Path) -> None:
    assert kernel_files(["k"]) == [("k/a.fp", None), ("k/b.fp", None), ("k/deeper/c.fp", None)]


def test_pipes_in_a_folder_are_not_read(folder: Path) -> None:
    """Reading one would wait for somebody to write; one that is named is meant."""
    os.mkfifo("k/pipe.fp")
    Path("k/deeper/again").symlink_to(".")
    found = ["k/a.fp", "k/b.fp", "k/deeper/c.fp"]
    assert [name for name, _ in kernel_files(["k"])] == found
    assert [each.path for each in entries_of(["k"])] == found
    assert kernel_files(["k/pipe.fp"]) == [("k/pipe.fp", None)]


HOST = "int main() { return 0; }\n"
KERNEL = "__global__ void one(int *p) { p[threadIdx.x] = 1; }\n"


def test_host_code_in_a_folder_is_passed_over(folder: Path, fencepost: CommandLine) -> None:
    """Projects have such files beside their kernels. A file that is named or launches a kernel is asked for."""
    Path("cuda").mkdir()
    for name, text in {"host.cu": HOST, "one.cu": KERNEL}.items():
        Path("cuda", name).write_text(text)
    ran = fencepost("check", "cuda")
    assert ran.code == 0 and "cuda/host.cu: there is no kernel in it" in ran.err
    assert fencepost("check", "cuda", "cuda/host.cu").code == 2
    Path("cuda/host.cu").write_text('#include "other.h"\nint main() { other<<<1, 64>>>(); }\n')
    assert fencepost("check", "cuda").code == 2
    Path("cuda/host.cu").write_text(HOST)
    Path("cuda/one.cu").unlink()
    ran = fencepost("check", "cuda")
    assert ran.code == 2 and "there is no kernel in this file" in ran.err, "nothing is left to judge"


def test_a_file_that_is_named_is_taken_once_whatever_it_is_called(folder: Path) -> None:
    assert [name for name, _ in kernel_files(["k/b.fp", "k/notes.md", "k", "-"])] == [
        *("k/b.fp", "k/notes.md", "k/a.fp", "k/deeper/c.fp", "-"),
    ]


def test_modules_of_triton_are_among_them(folder: Path) -> None:
    for name in ("m.ttgir", "m.ttir", "m.mlir"):
        (folder / "empty" / name).write_text("")
    assert [name for name, _ in kernel_files(["empty"])] == ["empty/m.mlir", "empty/m.ttgir", "empty/m.ttir"]


def test_check_judges_all_of_them_and_sums_up(folder: Path, fencepost: CommandLine) -> None:
    ran = fencepost("check", "k")
    assert ran.code == 1
    verdicts = [line.partition(" (")[0] for line in ran.out.splitlines() if ": @" in line]
    assert verdicts == [
        "k/a.fp: @clean: no race, no deadlock",
        "k/b.fp: @racy: 1 race",
        "k/deeper/c.fp: @clean: no race, no deadlock",
    ]
    assert ran.out.endswith("\n3 files, 3 kernels: 1 race\n")


def test_the_summary_tells_what_is_clean_what_failed_and_what_is_not_proven(
    folder: Path, fencepost: CommandLine
) -> None:
    last = fencepost("check", "k/a.fp", "k/deeper").out.splitlines()[-1]
    assert last == "2 files, 2 kernels: no race, no deadlock"
    last = fencepost("check", "k", "missing.fp").out.splitlines()[-1]
    assert last == "4 files, 3 kernels: 1 race; 1 file could not be judged"
    (folder / "long.fp").write_text(LONG)
    last = fencepost("check", "k/a.fp", "long.fp", "--budget", "1").out.splitlines()[-1]
    assert last == "2 files, 2 kernels: nothing found; 1 kernel not proven clean"
    assert len(fencepost("check", "k/a.fp").out.splitlines()) == 1


def test_quiet_sums_up_only_what_there_is_to_say(folder: Path, fencepost: CommandLine) -> None:
    assert fencepost("check", "-q", "k/a.fp", "k/deeper").out == ""
    assert fencepost("check", "-q", "k").out.endswith("3 files, 3 kernels: 1 race\n")


def test_a_folder_without_kernels_is_a_mistake_and_the_others_are_judged(
    folder: Path, fencepost: CommandLine
) -> None:
    ran = fencepost("check", "--json", "empty", "k/a.fp")
    assert ran.code == 2
    empty, clean = json.loads(ran.out)
    assert empty["file"] == "empty" and empty["error"]["message"].startswith("there is no kernel below empty")
    assert clean["ok"]


def test_explain_takes_them_too(folder: Path, fencepost: CommandLine) -> None:
    ran = fencepost("explain", "k")
    assert ran.code == 0
    assert "k/a.fp:4:3: needed" in ran.out
    assert ran.out.endswith("\n3 files, 3 kernels: 2 barriers, 0 of them redundant\n")
    entries = json.loads(fencepost("explain", "--json", "k").out)
    assert [(entry["file"], len(entry["barriers"])) for entry in entries] == [
        *(("k/a.fp", 1), ("k/b.fp", 0), ("k/deeper/c.fp", 1)),
    ]
    ran = fencepost("explain", "k/a.fp", "missing.fp")
    assert ran.code == 2 and ran.out.endswith("0 of them redundant; 1 file could not be read\n")
