"""`fix`: a diff first, nothing written unless asked for, nothing lost of a file, and nothing done twice."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from fencepost.check import check
from fencepost.ir.parser import parse_all
from fencepost.passes.fix import fix_text
from tests.conftest import CommandLine
from tests.tiers import sweep

CORPUS = sorted((Path(__file__).parents[1] / "corpus" / "check").rglob("*.fp"))
PARTS = 12
RACY = """# Who wrote this file, and why.

kernel @racy waves=4 {
  shared   %a : 64     # oddly   spaced

  write %a   # first
  # the result
  read %a
}
"""
MENDED = RACY.replace("  read", "  barrier  # write → read %a\n  read")
PHASE = """kernel @ring waves=4 {
  shared %full : 8
  shared %a : 1024
  mbarrier_init %full count=1
  barrier
  if wave == 0 {
    mbarrier_expect %full bytes=1024
    tensor_load_to_lds %a arrives %full bytes=1024
  }
  mbarrier_wait %full phase=1  # first phase
  read %a
}
"""
DIVERGENT = """kernel @divergent waves=4 {
  shared %a : 1024
  write %a
  if wave < 2 {
    barrier  # not for all
  }
  read %a
}
"""
OUTSIDE = """kernel @outside waves=4 {
  shared %a : 2 x 64
  write %a[0]
  read %a[0]
  read %a[wave]
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("racy.fp").write_text(RACY)
    return tmp_path


def test_the_change_is_shown_as_a_diff_and_nothing_is_written(fencepost: CommandLine) -> None:
    for flags in ((), ("--diff",)):
        ran = fencepost("fix", *flags, "racy.fp")
        assert ran.code == 0
        assert ran.out.startswith("--- a/racy.fp\n+++ b/racy.fp\n@@ ")
        added = [line for line in ran.out.splitlines()[2:] if line[0] in "+-"]
        assert added == ["+  barrier  # write → read %a"]
        assert ran.err == "racy.fp: @racy: 1 finding would be mended (-w writes it)\n"
    assert Path("racy.fp").read_text() == RACY


def test_the_diff_is_one_that_patch_applies(fencepost: CommandLine) -> None:
    diff = fencepost("fix", "racy.fp").out
    subprocess.run(["git", "apply", "-"], input=diff, text=True, check=True)
    assert Path("racy.fp").read_text() == MENDED


def test_it_is_written_when_asked_for_and_the_second_time_there_is_nothing_to_do(
    fencepost: CommandLine,
) -> None:
    ran = fencepost("fix", "-w", "racy.fp")
    assert (ran.code, ran.err) == (0, "racy.fp: @racy: 1 finding mended\n")
    assert Path("racy.fp").read_text() == MENDED
    assert fencepost("check", "racy.fp").code == 0
    ran = fencepost("fix", "-w", "racy.fp")
    assert (ran.code, ran.out, ran.err) == (0, "", "racy.fp: @racy: nothing to mend\n")
    assert Path("racy.fp").read_text() == MENDED


def test_a_wrong_phase_is_corrected_where_it_stands() -> None:
    assert fix_text(PHASE).after == PHASE.replace("phase=1", "phase=0")


def test_a_barrier_that_only_some_waves_reach_is_moved_with_its_comment() -> None:
    moved = DIVERGENT.replace("    barrier  # not for all\n", "").replace(
        "  read", "  barrier  # not for all\n  read"
    )
    assert fix_text(DIVERGENT).after == moved


def test_what_cannot_be_mended_is_named_and_the_rest_is_mended(fencepost: CommandLine) -> None:
    ran = fencepost("fix", "-", stdin=OUTSIDE)
    assert ran.code == 1
    assert "+  barrier" in ran.out
    assert "error[FP005]" in ran.err
    assert ran.err.endswith("1 finding cannot be mended\n")
    before, after = check(parse_all(OUTSIDE)[0]), fix_text(OUTSIDE).kernels[0].after
    assert before.races and not after.races and len(after.out_of_range) == len(before.out_of_range)


def test_what_nothing_mends_is_left_alone(fencepost: CommandLine) -> None:
    alone = "kernel @k waves=4 {\n  shared %a : 64\n  if wave < 2 {\n    write %a\n    read %a\n  }\n}\n"
    Path("alone.fp").write_text(alone)
    ran = fencepost("fix", "-w", "alone.fp")
    assert (ran.code, ran.out) == (1, "")
    assert "error[FP001]" in ran.err and "alone.fp: @k: 1 finding cannot be mended" in ran.err
    assert Path("alone.fp").read_text() == alone


def test_every_kernel_of_a_file_and_functions_that_they_call() -> None:
    function = "func @f {\n  shared %b : 64 at 0\n  read %b\n}\n"
    kernels = [
        f"kernel @k{number} waves=4 {{\n  shared %a : 64 at 0\n  write %a\n  call @f\n}}\n"
        for number in (1, 2)
    ]
    fixed = fix_text("\n".join([function, *kernels]))
    assert [kernel.name for kernel in fixed.kernels] == ["k1", "k2"]
    assert all(check(kernel).ok for kernel in parse_all(fixed.after))
    assert not fix_text(fixed.after).changed


def test_clean_kernels_of_the_same_file_keep_what_insert_might_change() -> None:
    clean = "kernel @c waves=4 {\n  shared %a : 64\n  barrier\n  barrier\n  write %a\n}\n"
    assert fix_text(clean + RACY).after == clean + MENDED


def test_several_files_and_folders_of_which_some_cannot_be_read(fencepost: CommandLine) -> None:
    Path("k").mkdir()
    Path("k/a.fp").write_text(RACY)
    Path("k/broken.fp").write_text("kernel {")
    ran = fencepost("fix", "k", "racy.fp")
    assert ran.code == 2
    assert "+++ b/k/a.fp" in ran.out and "+++ b/racy.fp" in ran.out
    assert "k/broken.fp:1:8" in ran.err
    assert ran.err.endswith("3 files: 2 findings would be mended; 1 file could not be judged\n")


def test_json_has_the_diff_and_the_verdict(fencepost: CommandLine) -> None:
    ran = fencepost("fix", "--json", "racy.fp")
    (entry,) = json.loads(ran.out)
    assert (entry["ok"], entry["changed"], entry["written"]) == (True, True, False)
    assert entry["diff"] == fencepost("fix", "racy.fp").out
    assert [(kernel["mended"], kernel["left"]) for kernel in entry["kernels"]] == [(1, 0)]
    assert entry["kernels"][0]["check"]["proven"] is True


def test_standard_input_can_be_shown_but_not_written(fencepost: CommandLine) -> None:
    assert "+  barrier" in fencepost("fix", "-", stdin=RACY).out
    ran = fencepost("fix", "-w", "-", stdin=RACY)
    assert ran.code == 2 and "-w needs a file to write back to" in ran.err
    assert fencepost("fix", "-w", "--diff", "racy.fp").code == 2


@pytest.mark.parametrize("part", sweep(range(PARTS), first=1))
def test_the_corpus_is_mended_or_left_and_never_harmed(part: int) -> None:
    mended = 0
    for path in CORPUS[part::PARTS]:
        text = path.read_text(encoding="utf-8")
        fixed = fix_text(text, path.name)
        (kernel,) = fixed.kernels
        assert fixed.changed == bool(kernel.mended), path
        assert kernel.left <= len(kernel.before.races + kernel.before.deadlocks) + len(
            kernel.before.out_of_range
        )
        comments = [line for line in text.splitlines() if line.strip().startswith("#")]
        assert [line for line in fixed.after.splitlines() if line in comments] == comments, path
        assert not fix_text(fixed.after, path.name).changed, path
        mended += bool(kernel.mended)
    assert mended > 15


# ---------------------------------------------------------------- odd files


def test_lines_keep_their_ends(fencepost: CommandLine) -> None:
    Path("racy.fp").write_bytes(RACY.replace("\n", "\r\n").encode())
    assert fencepost("fix", "-w", "racy.fp").code == 0
    assert Path("racy.fp").read_bytes() == MENDED.replace("\n", "\r\n").encode()


def test_a_last_line_without_an_end(fencepost: CommandLine) -> None:
    Path("racy.fp").write_text(RACY.rstrip("\n"))
    assert "\\ No newline at end of file" in fencepost("fix", "racy.fp").out
    assert fencepost("fix", "-w", "racy.fp").code == 0
    assert Path("racy.fp").read_text().rstrip("\n") == MENDED.rstrip("\n")


@pytest.mark.parametrize(
    ("text", "code"), [(b"", "FP102"), (b"kernel {", "FP101"), (b"kernel @\xe9", "FP112")], ids=repr
)
def test_what_cannot_be_read_is_said_and_left(text: bytes, code: str, fencepost: CommandLine) -> None:
    Path("odd.fp").write_bytes(text)
    ran = fencepost("fix", "-w", "odd.fp")
    assert (ran.code, ran.out) == (2, "") and f"error[{code}]" in ran.err
    assert Path("odd.fp").read_bytes() == text


def test_labelled_blocks_keep_their_labels() -> None:
    text = """kernel @blocks waves=4 {
  shared %a : 64
  br ^head
^head:  # again and again
  write %a
  read %a
  cond_br %more, ^head, ^end trip=4
^end:
  return
}
"""
    fixed = fix_text(text)
    assert fixed.kernels[0].left == 0
    kept = [line for line in fixed.after.splitlines() if "barrier" not in line]
    assert kept == text.splitlines()
    assert not fix_text(fixed.after).changed


def test_a_long_kernel_is_mended_in_its_text() -> None:
    """So long that trying fixes one by one would take too long."""
    body = "".join(f"  write %a{number}\n  read %a{number}\n" for number in range(120))
    buffers = "".join(f"  shared %a{number} : 16\n" for number in range(120))
    fixed = fix_text(f"kernel @long waves=4 {{\n{buffers}{body}}}\n")
    assert fixed.kernels[0].left == 0 and fixed.kernels[0].mended == 120


# ---------------------------------------------------------------- byte order marks and line ends

BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize("text", [RACY, PHASE, DIVERGENT], ids=["barrier", "phase", "moved"])
@pytest.mark.parametrize(("mark", "end"), [(b"", "\r\n"), (BOM, "\n"), (BOM, "\r\n")])
def test_byte_order_mark_and_line_ends_stay(text: str, mark: bytes, end: str, fencepost: CommandLine) -> None:
    mended = fix_text(text).after
    Path("k.fp").write_bytes(mark + text.replace("\n", end).encode())
    assert fencepost("fix", "-w", "k.fp").code == 0
    assert Path("k.fp").read_bytes() == mark + mended.replace("\n", end).encode()


@pytest.mark.parametrize("command", ["insert", "prune"])
def test_other_commands_that_write_back_keep_them_too(command: str, fencepost: CommandLine) -> None:
    Path("k.fp").write_bytes(BOM + RACY.replace("\n", "\r\n").encode())
    assert fencepost(command, "-w", "k.fp").code == 0
    written = Path("k.fp").read_bytes()
    assert written.startswith(BOM + b"# Who") and written.count(b"\n") == written.count(b"\r\n") > 6


def test_a_file_with_both_line_ends_keeps_both(fencepost: CommandLine) -> None:
    Path("k.fp").write_bytes(RACY.replace("\n", "\r\n", 3).encode())
    assert fencepost("fix", "-w", "k.fp").code == 0
    written = Path("k.fp").read_bytes()
    assert written.count(b"\r\n") == 4, "the new line ends as the first ones do"


def test_a_last_line_without_an_end_gets_the_one_of_the_others(fencepost: CommandLine) -> None:
    Path("k.fp").write_bytes(RACY.rstrip("\n").replace("\n", "\r\n").encode())
    assert fencepost("fix", "-w", "k.fp").code == 0
    assert Path("k.fp").read_bytes() == MENDED.replace("\n", "\r\n").encode()


@pytest.mark.parametrize("mark", [b"", BOM])
def test_patch_takes_the_diff_of_such_a_file(mark: bytes, fencepost: CommandLine) -> None:
    text = "# form\x0cfeed\n" + RACY[RACY.index("kernel") :]
    for end in ("\n", "\r\n"):
        Path("k.fp").write_bytes(mark + text.replace("\n", end).encode())
        diff = fencepost("fix", "k.fp").out
        subprocess.run(["patch", "--binary", "-p1"], input=diff.encode(), check=True, capture_output=True)
        patched = Path("k.fp").read_bytes()
        Path("k.fp").write_bytes(mark + text.replace("\n", end).encode())
        fencepost("fix", "-w", "k.fp")
        assert patched == Path("k.fp").read_bytes()
