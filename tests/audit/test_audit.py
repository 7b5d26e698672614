"""Audits of folders: what is found, what is left out and why, and that nothing stops them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from fencepost.audit.entries import Entry, entries_of
from fencepost.audit.local import judged_here
from fencepost.audit.records import Record, Records
from fencepost.audit.resume import left_to_do
from fencepost.audit.summary import Summary
from fencepost.audit.supervised_worker import SupervisedWorker
from fencepost.ir.source import FencepostError
from fencepost.schemas import schema_text

RACY = """\
kernel @racy waves=4 {
  shared %a : 64
  write %a
  read %a
}
"""
CLEAN = RACY.replace("@racy", "@clean").replace("  read", "  barrier\n  read")
REDUNDANT = CLEAN.replace("@clean", "@redundant").replace("  read", "  barrier\n  read")
HANGS = """\
kernel @hangs waves=4 {
  shared %a : 64
  if wave == 0 {
    barrier
  }
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one kernel of each kind."""
    for name, text in {"racy": RACY, "clean": CLEAN, "redundant": REDUNDANT, "hangs": HANGS}.items():
        (tmp_path / f"{name}.fp").write_text(text)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "two.fp").write_text(CLEAN + RACY)
    (tmp_path / "empty.fp").write_text("")
    (tmp_path / "wrong.fp").write_text("kernel @k waves=4 {\n  shred %a : 64\n}\n")
    (tmp_path / "bytes.fp").write_bytes(b"\xff\xfe")
    (tmp_path / "notes.txt").write_text("not a kernel")
    return tmp_path


def audited(folder: Path, jobs: int = 1) -> dict[str, Record]:
    """What is found in a folder, by the name of the file."""
    return {Path(each.path).name: each for each in judged_here(entries_of([str(folder)]), jobs, 60)}


def test_every_kernel_of_a_folder_is_judged(folder: Path) -> None:
    found = audited(folder, jobs=2)
    assert {name: record.verdict for name, record in found.items()} == {
        "racy.fp": "races",
        "clean.fp": "clean",
        "redundant.fp": "clean",
        "hangs.fp": "deadlocks",
        "two.fp": "races",
        "empty.fp": "not judged",
        "wrong.fp": "not judged",
        "bytes.fp": "not judged",
    }
    assert found["redundant.fp"].kernels[0].redundant in (("line 4",), ("line 5",))
    assert [kernel.name for kernel in found["two.fp"].kernels] == ["clean", "racy"]
    assert "no kernel" in found["empty.fp"].reason
    assert "'shred'" in found["wrong.fp"].reason
    assert "UTF-8" in found["bytes.fp"].reason


def test_what_is_there_is_found_once(folder: Path) -> None:
    (folder / "link.fp").symlink_to(folder / "racy.fp")
    names = [str(folder), str(folder / "racy.fp")]
    paths = [os.path.realpath(entry.path) for entry in entries_of(names)]
    assert len(paths) == len(set(paths)) == 8


def test_nothing_below_a_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(FencepostError, match="there is no kernel below"):
        entries_of([str(tmp_path)])
    with pytest.raises(FencepostError, match="no such file"):
        entries_of([str(tmp_path / "nowhere")])


def test_a_kernel_of_tritons_cache_is_one_entry_with_its_metadata(tmp_path: Path) -> None:
    kernel = tmp_path / "KEY"
    kernel.mkdir()
    for suffix in (".ttir", ".ttgir", ".llir", ".ptx", ".cubin", ".json"):
        (kernel / f"matmul{suffix}").write_text("{}")
    (kernel / "__grp__matmul.json").write_text("{}")
    assert entries_of([str(tmp_path)]) == [
        Entry(str(kernel / "matmul.ttgir"), str(kernel / "matmul.json")),
    ]


# ------------------------------------------------------------------ workers that crash and hang

TROUBLE = """
import json, os, signal, sys, time
from fencepost.audit.entries import Work
from fencepost.audit.judge import judge
for line in sys.stdin:
    work = Work(**json.loads(line))
    name = work.path.rpartition("/")[2]
    if "crash" in name:
        print("assertion failed", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if "hang" in name:
        time.sleep(1000)
    if "quit" in name:
        sys.exit(3)
    print(json.dumps(judge(work).as_json()), flush=True)
"""


def troubled(timeout: float) -> SupervisedWorker:
    """A worker that crashes or hangs by the name of a file."""
    return SupervisedWorker(timeout, (sys.executable, "-c", TROUBLE))


def test_an_entry_that_crashes_or_hangs_costs_nothing_but_itself(tmp_path: Path) -> None:
    names = ["a", "crash", "b", "hangs", "c", "quit", "d"]
    for name in names:
        (tmp_path / f"{name}.fp").write_text(CLEAN)
    found = {Path(each.path).stem: each for each in judged_here(entries_of([str(tmp_path)]), 2, 7, troubled)}
    assert sorted(found) == sorted(names)
    assert all(found[name].verdict == "clean" for name in "abcd")
    assert "crashed (SIGSEGV): assertion failed" in found["crash"].reason
    assert "more than 7 s" in found["hangs"].reason
    assert "exit code 3" in found["quit"].reason


def test_nothing_goes_on_running_when_an_audit_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "hang.fp").write_text(CLEAN)
    (tmp_path / "quick.fp").write_text(CLEAN)
    workers: list[SupervisedWorker] = []

    def start(timeout: float) -> SupervisedWorker:
        workers.append(troubled(timeout))
        return workers[-1]

    found = judged_here(entries_of([str(tmp_path)]), 2, 600, start)
    assert Path(next(found).path).name == "quick.fp"
    processes = [worker._process for worker in workers if worker._process is not None]
    found.close()  # type: ignore[attr-defined]
    assert processes and all(process.poll() is not None for process in processes)


# ------------------------------------------------------------------ going on after an interruption


def test_an_audit_goes_on_where_it_was(folder: Path, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept.jsonl")
    entries = entries_of([str(folder)])
    first = Records.at(kept)
    for record in judged_here(entries[:3], 1, 60):
        first.add(record)
    first.close()
    with Path(kept).open("a") as file:
        file.write('{"path": "cut off in the mid')
    again = Records.at(kept)
    todo, done = left_to_do(entries, again.known)
    assert len(done) + len(todo) == len(entries)
    assert {record.path for record in done} == {
        entry.path for entry in entries[:3] if "bytes" not in entry.path
    }
    for record in judged_here(todo, 1, 60):
        again.add(record)
    again.close()
    lines = [json.loads(line) for line in Path(kept).read_text().splitlines()]
    assert sorted(line["path"] for line in lines) == sorted(entry.path for entry in entries)


def test_a_kernel_that_was_changed_is_judged_again(folder: Path, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept.jsonl")
    records = Records.at(kept)
    for record in judged_here(entries_of([str(folder / "racy.fp")]), 1, 60):
        records.add(record)
    records.close()
    (folder / "racy.fp").write_text(CLEAN)
    todo, done = left_to_do(entries_of([str(folder / "racy.fp")]), Records.at(kept).known)
    assert len(todo) == 1 and not done


def test_another_file_is_not_written_to(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("mine\n")
    with pytest.raises(FencepostError, match="line 1, is not a record"):
        Records.at(str(other))
    assert other.read_text() == "mine\n"


# ------------------------------------------------------------------ the command


def fencepost(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    command = [sys.executable, "-m", "fencepost", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, **options)  # type: ignore[call-overload,no-any-return]


def test_the_command_says_what_is_wrong_and_counts_the_rest(folder: Path) -> None:
    ran = fencepost("audit", str(folder), "-j", "2")
    assert ran.returncode == 1
    assert ran.stdout.splitlines()[-7:] == [
        "8 entries",
        "  clean              2",
        "  races              2",
        "  deadlocks          1",
        "  not judged         3",
        "  barriers           5, 1 of them redundant (in 1 entry)",
        "  of 1 kernel it is not known which barriers are redundant: -o says why",
    ]
    assert f"races: {folder}/racy.fp" in ran.stdout
    assert "FP001: wave 1 can read %a before wave 0 has written it (line 3)" in ran.stdout
    assert "not judged, 1: it is not UTF-8 text" in ran.stdout


def test_the_command_for_programs(folder: Path) -> None:
    ran = fencepost("audit", str(folder), "--json")
    document = json.loads(ran.stdout)
    jsonschema.validate(document, json.loads(schema_text("audit")))
    assert document["verdicts"] == {"clean": 2, "races": 2, "deadlocks": 1, "not judged": 3}
    assert {Path(record["path"]).name for record in document["wrong"]} == {"racy.fp", "two.fp", "hangs.fp"}


def test_exit_codes(folder: Path) -> None:
    clean = str(folder / "clean.fp")
    assert fencepost("audit", clean).returncode == 0
    assert fencepost("audit", clean, "--require-proof").returncode == 0
    assert fencepost("audit", clean, str(folder / "empty.fp")).returncode == 0
    assert fencepost("audit", clean, str(folder / "empty.fp"), "--require-proof").returncode == 1
    assert fencepost("audit", clean, "--fresh").returncode == 2
    assert fencepost("audit", str(folder / "nowhere.fp")).returncode == 2


@pytest.mark.parametrize(("text", "code"), [(RACY, 1), (CLEAN, 0), ("what is this", 0)])
def test_standard_input_is_an_entry(text: str, code: int) -> None:
    """As for the other commands, `-`."""
    call = [sys.executable, "-m", "fencepost", "audit", "-", "-j", "1"]
    ran = subprocess.run(call, input=text, capture_output=True, text=True, check=False)
    assert ran.returncode == code, ran.stderr
    assert "1 entry\n" in ran.stdout and ("<stdin>" in ran.stdout) == (text != CLEAN)


def test_quiet_prints_nothing_about_what_is_clean(folder: Path) -> None:
    ran = fencepost("audit", str(folder / "clean.fp"), "-q")
    assert (ran.stdout, ran.stderr) == ("", "")


def test_an_interrupted_command_resumes(tmp_path: Path) -> None:
    """It is stopped in the middle; what it had is kept, and the second run does the rest."""
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    # So many that a busy machine is not done before it is interrupted.
    many = 400
    for number in range(many):
        (kernels / f"k{number}.fp").write_text(CLEAN.replace("64", str(64 + number)))
    kept = tmp_path / "kept.jsonl"
    command = [sys.executable, "-m", "fencepost", "audit", str(kernels), "-j", "1", "-o", str(kept)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    until = time.monotonic() + 60
    while (not kept.exists() or len(kept.read_text().splitlines()) < 5) and time.monotonic() < until:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    had = len(kept.read_text().splitlines())
    assert process.returncode == 130 and "Traceback" not in said
    ran = fencepost("audit", str(kernels), "-j", "1", "-o", str(kept))
    assert ran.returncode == 0
    assert had < many and f"{had} of {many} were judged already" in ran.stderr
    lines = [json.loads(line)["path"] for line in kept.read_text().splitlines()]
    assert len(lines) == len(set(lines)) == many


def test_reasons_that_differ_in_details_are_one() -> None:
    summary = Summary()
    for number in range(3):
        summary.add(Record(f"k{number}", "", "not judged", f"unknown '%v{number}' at 0x7f{number}"))
    assert summary.reasons == {"unknown … at …": 3}
    assert "such as k0" in "\n".join(summary.lines())


def test_what_cannot_be_pruned_is_said(tmp_path: Path) -> None:
    """A barrier of some waves is judged by check, and not followed where barriers are taken out."""
    (tmp_path / "some.fp").write_text(HANGS)
    found = audited(tmp_path)["some.fp"]
    assert found.kernels[0].not_pruned.startswith("FP2")
    summary = Summary()
    summary.add(found)
    assert summary.lines()[-1] == "  of 1 kernel it is not known which barriers are redundant: -o says why"
