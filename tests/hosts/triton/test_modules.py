"""Files that are not one module with one function and everything said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import CommandLine
from tests.hosts.triton.modules import BYTES, module

RACY = """
%m = ttg.local_alloc : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
"""


def parts(text: str) -> tuple[str, str]:
    """The layouts of a module, and the module."""
    at = text.index("module")
    return text[:at], text[at:]


def put(folder: Path, text: str) -> str:
    path = folder / "kernel.ttgir"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("between", ["", "// -----\n"])
def test_every_module_of_a_file_is_judged(fencepost: CommandLine, tmp_path: Path, between: str) -> None:
    layouts, racy = parts(module(RACY))
    _, other = parts(module(RACY.replace("%y", "ttg.barrier local\n%y"), target="cuda:90"))
    other = other.replace("@kernel", "@other")
    ran = fencepost("check", "--as-is", put(tmp_path, layouts + racy + between + other))
    assert ran.code == 1
    assert "@kernel: 1 race" in ran.out
    assert "@other: no race" in ran.out


def test_every_module_of_a_file_gets_its_barriers(fencepost: CommandLine, tmp_path: Path) -> None:
    layouts, first = parts(module(RACY))
    second = first.replace("@kernel", "@other").replace("cuda:80", "hip:gfx942")
    path = put(tmp_path, layouts + first + second)
    assert fencepost("insert", path, "-o", path).code == 0
    assert Path(path).read_text().count("ttg.barrier local") == 2
    assert fencepost("check", "--as-is", path).code == 0


def test_a_module_in_a_module_is_judged(fencepost: CommandLine, tmp_path: Path) -> None:
    layouts, racy = parts(module(RACY))
    assert fencepost("check", "--as-is", put(tmp_path, f"{layouts}module {{\n{racy}}}\n")).code == 1


def test_every_function_is_judged(fencepost: CommandLine, tmp_path: Path) -> None:
    text = module("tt.return", more=f"tt.func public @second(%x: <TENSOR>) {{{RACY}}}")
    assert fencepost("check", "--as-is", put(tmp_path, text)).code == 1


@pytest.mark.parametrize("text", ["module {\n}\n", "module {\n  module {\n  }\n}\n"])
def test_without_a_function_there_is_no_kernel(fencepost: CommandLine, tmp_path: Path, text: str) -> None:
    ran = fencepost("check", "--as-is", put(tmp_path, text))
    assert (ran.code, "there is no kernel in this file" in ran.err) == (2, True)


WITHOUT_TENSORS = """
module {
  tt.func public @kernel() {
    tt.return
  }
}
"""


def test_without_a_number_of_warps_nothing_is_judged(fencepost: CommandLine, tmp_path: Path) -> None:
    ran = fencepost("check", "--as-is", put(tmp_path, WITHOUT_TENSORS))
    assert (ran.code, ran.out) == (2, "")
    assert "error[FP408]: not judged: how many warps run @kernel is not said" in ran.err
    said = WITHOUT_TENSORS.replace("@kernel()", '@kernel() attributes {"ttg.num-warps" = 4 : i32}')
    assert fencepost("check", "--as-is", put(tmp_path, said)).code == 0


def test_a_warp_of_an_unknown_target_may_run_apart(fencepost: CommandLine, tmp_path: Path) -> None:
    """On NVIDIA its threads are not in step; who does not say that it is AMD's gets no better word."""
    for target, code in (("cuda:80", 1), ("hip:gfx942", 0), ("", 1)):
        text = module(RACY.replace("<TENSOR>", "tensor<64x64xf16, #b>"), warps=1, target=target or "cuda:80")
        if not target:
            text = text.replace('ttg.target = "cuda:80", ', "")
        assert fencepost("check", "--as-is", put(tmp_path, text)).code == code, target


def test_a_container_of_another_dialect_is_named(fencepost: CommandLine, tmp_path: Path) -> None:
    text = module("tt.return", more="gpu.module @inner {\n}")
    ran = fencepost("check", "--as-is", put(tmp_path, text))
    assert (ran.code, "gpu.module" in ran.err) == (2, True)


# ---------------------------------------------------------------- terminators that are not written

LOOP = """
%m = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> <TILE>
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
scf.for %i = %zero to %n step %one : i32 {{
{inside}
  %y = ttg.local_load %m : <TILE> -> <TENSOR>
}}
tt.return
"""
STORE = "ttg.local_store %x, %m : <TENSOR> -> <TILE>"
INSIDE = {
    "a conditional": f"scf.if %c {{\n  {STORE}\n}}",
    "its other side": f"scf.if %c {{\n}} else {{\n  {STORE}  // {{ not a brace\n}}",
    "a region in it": f"scf.if %c {{\n  {STORE}\n  scf.if %c {{\n  }}\n}}",
}


@pytest.mark.parametrize("inside", INSIDE)
def test_a_barrier_at_the_end_of_a_region_whose_yield_is_not_written(
    fencepost: CommandLine, tmp_path: Path, inside: str
) -> None:
    path = put(tmp_path, module(LOOP.format(inside=INSIDE[inside]), shared=BYTES))
    ran = fencepost("insert", path, "--strategy", "optimal", "-o", path)
    assert ran.code == 0, ran.err
    lines = [line.strip() for line in Path(path).read_text().splitlines()]
    at = next(place for place, line in enumerate(lines) if line.startswith("ttg.local_store"))
    assert lines[at - 1] == "ttg.barrier local"
    assert lines.count("ttg.barrier local") == 2
    assert fencepost("check", "--as-is", path).code == 0


def test_a_region_on_one_line_is_left_alone(fencepost: CommandLine, tmp_path: Path) -> None:
    path = put(tmp_path, module(LOOP.format(inside=f"scf.if %c {{ {STORE} }}"), shared=BYTES))
    ran = fencepost("insert", path, "--strategy", "optimal")
    assert (ran.code, "error[FP407]" in ran.err) == (2, True)
