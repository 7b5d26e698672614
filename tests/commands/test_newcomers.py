"""What somebody types who comes from CUDA or HIP and has never seen the text form."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.ir.parser import parse_all
from fencepost.ir.source import FencepostError
from tests.conftest import CommandLine


@pytest.mark.parametrize(
    "statement, meant",
    [
        ("__syncthreads()", "barrier"),
        ("load %a", "read"),
        ("store %a", "write"),
        ("memcpy_async %a", "gather_to_lds"),
        ("s_waitcnt 0", "wait_count"),
        ("for %i in 0..4 {", "loop"),
    ],
)
def test_words_of_other_languages_are_translated(statement: str, meant: str) -> None:
    word = statement.split("(")[0].split()[0]
    with pytest.raises(FencepostError) as caught:
        parse_all(f"kernel @k waves=4 {{\n  shared %a : 64\n  {statement}\n}}\n")
    assert ("help", f"`{word}` is called `{meant}` here") in caught.value.notes


def test_warps_are_waves() -> None:
    with pytest.raises(FencepostError) as caught:
        parse_all("kernel @k warps=4 {\n}\n")
    assert any("called a wave here: `waves=4`" in text for _, text in caught.value.notes)


def test_cuda_is_named() -> None:
    with pytest.raises(FencepostError) as caught:
        parse_all("__global__ void k(float *a) {\n}\n")
    assert any("CUDA is read from a file that ends in .cu" in text for _, text in caught.value.notes)


def test_an_empty_file_a_folder_and_a_file_without_a_command(fencepost: CommandLine, tmp_path: Path) -> None:
    empty = tmp_path / "empty.fp"
    empty.write_text("")
    assert "help: a kernel is `kernel @name waves=4 {`" in fencepost("check", str(empty)).err
    assert "check, explain, fix and audit take folders" in fencepost("insert", str(tmp_path)).err
    assert f"did you mean `fencepost check {empty}`?" in fencepost(str(empty)).err


TWO = "kernel @good waves=4 {\n}\n\nkernel @bad waves=4 {\n  wirte %a\n}\n"


@pytest.mark.parametrize("command", ["check", "fix", "insert", "view"])
def test_a_mistake_in_one_kernel_says_that_the_others_were_not_looked_at(
    command: str, fencepost: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "two.fp"
    file.write_text(TWO)
    assert "= note: @good in the same file was not looked at either\n" in fencepost(command, str(file)).err


def test_a_file_with_one_kernel_has_no_others(fencepost: CommandLine) -> None:
    assert "not looked at" not in fencepost("check", "-", stdin=TWO.partition("\n\n")[2]).err


def test_a_mistake_in_a_function_is_in_no_kernel(fencepost: CommandLine) -> None:
    text = "kernel @above waves=4 {\n}\nfunc @f {\n  wirte %a\n}\nkernel @below waves=4 {\n}\n"
    assert (
        "@above, @below in the same file were not looked at either" in fencepost("check", "-", stdin=text).err
    )


def test_a_binary_file_is_called_that(fencepost: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "k.cubin"
    file.write_bytes(b"\x7fELF\x02\x01\x01\x00\x00\xbe\x00\xd0")
    ran = fencepost("check", str(file))
    assert ran.code == 2 and f"error[FP112]: {file} is a binary file, not text\n" in ran.err
    assert "kernels in text form (.fp)" in ran.err and "CUDA (.cu) and PTX (.ptx) are read" in ran.err
    assert "ELF" not in ran.err


def test_kernels_of_other_languages_in_a_folder_are_named(fencepost: CommandLine, tmp_path: Path) -> None:
    for name in ("gemm.hip", "scan.hip", "notes.txt"):
        (tmp_path / name).write_text("")
    ran = fencepost("explain", str(tmp_path))
    assert ran.code == 2 and "= note: 2 files not read: 2 of HIP\n" in ran.err
    (tmp_path / "k.fp").write_text("kernel @k waves=4 {\n}\n")
    ran = fencepost("explain", str(tmp_path))
    assert ran.code == 0 and ran.err == f"{tmp_path}: 2 files not read: 2 of HIP\n"


def test_check_reads_cuda_and_ptx_but_not_hip(fencepost: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "k.fp").write_text("kernel @k waves=4 {\n}\n")
    (tmp_path / "gemm.hip").write_text("")
    ran = fencepost("check", str(tmp_path))
    assert ran.code == 0 and ran.err == f"{tmp_path}: 1 file not read: 1 of HIP\n"


@pytest.mark.parametrize(
    "arguments", [["check", "-t", "sm_75", "FILE"], ["check", "nothere.fp"], ["explain", "FP999"]]
)
def test_a_far_guess_is_worse_than_none(
    arguments: list[str], fencepost: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nothing.fp").write_text("kernel @k waves=4 {\n}\n")
    ran = fencepost(*("nothing.fp" if argument == "FILE" else argument for argument in arguments))
    assert ran.code == 2 and "did you mean" not in ran.err


def test_nothing_to_prune_is_not_nothing_wrong(fencepost: CommandLine) -> None:
    text = "kernel @k waves=4 {\n  shared %a : 64\n  write %a\n  read %a\n}\n"
    ran = fencepost("prune", "-", stdin=text)
    assert (
        ran.code == 0
        and "0 barriers removed, 0 kept\n  1 place where a barrier or wait is missing:" in ran.err
    )
    ran = fencepost("prune", "-", stdin=text.replace("  read", "  barrier\n  read"))
    assert ran.code == 0 and "missing" not in ran.err
