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
    assert any("CUDA C++ or HIP, which is not read" in text for _, text in caught.value.notes)


def test_an_empty_file_a_folder_and_a_file_without_a_command(fencepost: CommandLine, tmp_path: Path) -> None:
    empty = tmp_path / "empty.fp"
    empty.write_text("")
    assert "help: a kernel is `kernel @name waves=4 {`" in fencepost("check", str(empty)).err
    assert "check, explain, fix and audit take folders" in fencepost("insert", str(tmp_path)).err
    assert f"did you mean `fencepost check {empty}`?" in fencepost(str(empty)).err
