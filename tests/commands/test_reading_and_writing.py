"""Files that cannot be read or written, and what is written where."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.commands.called import (
    CLEAN,
    COMMANDS,
    HOPELESS,
    RACY,
    assert_refused,
    fencepost,
)

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
