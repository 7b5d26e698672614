"""Modules in files: parsed by Triton elsewhere, placed in the file, and never the end of this process."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from pathlib import Path

import pytest

from fencepost.hosts.triton import parsing_process
from fencepost.hosts.triton.mlir import Module, Operation
from fencepost.hosts.triton.module_files import read_file, read_files, read_sources
from fencepost.hosts.triton.parsing_process import parse_texts
from fencepost.hosts.triton.text_edits import apply_edits
from fencepost.ir.source import FencepostError, Source
from tests.hosts.triton.modules import custom_form


@pytest.fixture(autouse=True)
def started_once() -> None:
    """Here it is not: modules are parsed as users have it, in a process of their own."""


PLAIN = """// Copies through shared memory.
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @copy(%x: tensor<128xf32, #b>) -> tensor<128xf32, #b> {
    %m = ttg.local_alloc %x : (tensor<128xf32, #b>) -> !ttg.memdesc<128xf32, #s, #ttg.shared_memory>  // é
    ttg.barrier local
    %y = ttg.local_load %m : !ttg.memdesc<128xf32, #s, #ttg.shared_memory> -> tensor<128xf32, #b>
    tt.return %y : tensor<128xf32, #b>
  }
}
"""

LOCATED = (
    PLAIN.replace("#b>  // é", "#b>")
    .replace("ttg.barrier local", 'ttg.barrier local loc("k.py":7:3)')
    .replace("%y = ttg.local_load %m : !ttg.memdesc<128xf32, #s, #ttg.shared_memory> -> tensor<128xf32, #b>",
             "%y = ttg.local_load %m : !ttg.memdesc<128xf32, #s, #ttg.shared_memory> -> tensor<128xf32, #b> loc(#l)")
    + '#l = loc("y"("k.py":9:3))\n'
)  # fmt: skip

ONE_WARP = """#mma = #ttg.amd_wmma<{version = 3, isTranspose = true, ctaLayout = {}, instrShape = [16, 16, 32]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%x: tensor<16x16xf32, #mma>) {
    tt.return
  }
}
"""


def named(module: Module, name: str) -> Operation:
    return next(op for op in module.walk() if op.name == name)


def underlined(module: Module, operation: Operation) -> str:
    assert module.source is not None and operation.span is not None
    span = operation.span
    return module.source.line(span.line)[span.column - 1 : span.end_column - 1]


def error_of(text: str, name: str = "bad.ttgir") -> FencepostError:
    with pytest.raises(FencepostError) as error:
        read_sources([Source(name, text)])
    assert error.value.source is not None
    assert error.value.source.text == text
    return error.value


def test_a_file_in_custom_form(tmp_path: Path) -> None:
    path = tmp_path / "copy.ttgir"
    path.write_text(PLAIN)
    module = read_file(path)
    assert [op.name for op in module.walk()][2:] == [
        *("ttg.local_alloc", "ttg.barrier", "ttg.local_load", "tt.return"),
    ]
    load = named(module, "ttg.local_load")
    # Without locations of its own, an operation comes from the file itself.
    assert str(load.location) == f"{path}:8:10"
    line = "%y = ttg.local_load %m : !ttg.memdesc<128xf32, #s, #ttg.shared_memory> -> tensor<128xf32, #b>"
    assert underlined(module, load) == line
    assert underlined(module, named(module, "tt.func")).endswith("-> tensor<128xf32, #b>")


def test_locations_and_places_in_the_file_are_two_things() -> None:
    (module,) = read_sources([Source("copy.ttgir", LOCATED)])
    load = named(module, "ttg.local_load")
    assert (str(load.location), str(load.span)) == ("k.py:9:3", "8:5")
    assert underlined(module, named(module, "ttg.barrier")) == "ttg.barrier local"


def test_generic_form_is_read_like_custom_form() -> None:
    (module,) = read_sources([Source("a.mlir", PLAIN)])
    (again,) = read_sources([Source("b.mlir", module.text)])
    assert [op.name for op in again.walk()] == [op.name for op in module.walk()]
    assert str(named(again, "ttg.local_load").location) == "a.mlir:8:10"


def test_an_unchanged_module_prints_as_before() -> None:
    (parsed,) = parse_texts([Source("a.mlir", PLAIN)])
    (module,) = read_sources([Source("a.mlir", PLAIN)])
    assert custom_form(apply_edits(module, []), locations=False) == parsed.custom_blank


PARTITIONS = """module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%x: i32) {
    %0 = arith.addi %x, %x : i32
    ttg.warp_specialize(%0)
    default {
      %1 = arith.addi %0, %x : i32
      ttg.warp_yield
    }
    partition0(%a: i32) num_warps(4) {
      %2 = arith.addi %a, %a : i32
      ttg.warp_return
    }
    partition1(%a: i32) num_warps(1) {
      %3 = arith.muli %a, %a : i32
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
}
"""


def test_partitions_of_warps_have_names_of_their_own() -> None:
    (module,) = read_sources([Source("warps.ttgir", PARTITIONS)])
    partitions = named(module, "ttg.warp_specialize.partitions")
    assert named(module, "ttg.warp_specialize").integers("partitionNumWarps") == (4, 1)
    for region in partitions.regions:
        (block,) = region.blocks
        assert set(block.operations[0].operands) == set(block.arguments)
    assert partitions.operands == named(module, "arith.addi").results


def test_several_files_at_once(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.ttgir").write_text(PLAIN.replace("@copy", f"@copy{number}"))
    modules = read_files([tmp_path / f"{number}.ttgir" for number in range(3)])
    assert [module.functions()[0].string("sym_name") for module in modules] == ["copy0", "copy1", "copy2"]


def test_a_syntax_error_is_placed_in_the_file() -> None:
    error = error_of(PLAIN.replace("ttg.local_load %m", "ttg.local_load %n"))
    assert error.code == "FP402"
    assert str(error) == "bad.ttgir:8:25: Triton cannot read this module: use of undeclared SSA value name"


def test_an_operation_that_makes_no_sense_is_placed_in_the_file_whatever_its_location_says() -> None:
    error = error_of(LOCATED.replace("warpsPerCTA = [4]", "warpsPerCTA = [2]"))
    assert error.code == "FP402"
    assert error.marks[0].span is not None
    assert error.marks[0].span.line == 6
    assert "layout" in error.message


def test_places_behind_a_repair_are_those_of_the_file() -> None:
    text = ONE_WARP.replace("[16, 16, 32]", "[16, 16, oops]")
    error = error_of(text)
    assert error.code == "FP402"
    span = error.marks[0].span
    assert span is not None
    assert (span.line, text[span.column - 1 : span.end_column - 1]) == (1, "oops")


def test_a_layout_of_one_warp_is_read() -> None:
    (module,) = read_sources([Source("one.ttgir", ONE_WARP)])
    assert "ctaLayout = {warp = []}" in module.aliases["#mma"]
    # Triton prints it as it stood in the file.
    assert "ctaLayout = {}" in custom_form(module.text)


def test_a_crash_of_the_parser_is_an_error_like_others() -> None:
    error = error_of(ONE_WARP.replace("ctaLayout = {}", "ctaLayout = {lane = []}"))
    assert error.code == "FP403"
    assert "SIGABRT" in error.message
    assert "Expected basis of 'warp' not found" in error.message
    assert error.marks[0].span is not None
    assert error.marks[0].span.line == 1


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(FencepostError, match=r"cannot read .*: No such file") as missing:
        read_file(tmp_path / "no.ttgir")
    (tmp_path / "binary.ttgir").write_bytes(b"module {\n  \xff}")
    with pytest.raises(FencepostError, match="not UTF-8 text") as binary:
        read_file(tmp_path / "binary.ttgir")
    assert (missing.value.code, binary.value.code) == ("FP112", "FP112")
    assert str(binary.value.marks[0].span) == "2:3"


# ---------------------------------------------------------------- limits, and nothing left behind

HANGS = """import json, os, pathlib, sys, time
request = json.load(sys.stdin)
if not os.fork():
    pathlib.Path(request["texts"][0]).write_text(f"{os.getpid()} {request['folder']}")
    time.sleep(600)
time.sleep(600)
"""


@pytest.fixture
def hanging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A parser that starts another process and never answers; where it leaves a note."""
    script = tmp_path / "worker.py"
    script.write_text(HANGS)
    monkeypatch.setattr(parsing_process, "WORKER", script)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / "note"


def left_behind(note: Path) -> list[str]:
    """What is still there of a parser that hung."""
    number, folder = note.read_text().split()
    patience = time.monotonic() + 10
    while Path(f"/proc/{number}").exists() and time.monotonic() < patience:
        if "State:\tZ" in Path(f"/proc/{number}/status").read_text():
            break
        time.sleep(0.05)
    else:
        return [f"process {number}"] if Path(f"/proc/{number}").exists() else []
    return [folder] if Path(folder).exists() else []


def test_a_parser_that_hangs_leaves_nothing_behind(hanging: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing_process, "_longest", lambda modules: 3)
    with pytest.raises(FencepostError, match="did not finish within 3 s"):
        parse_texts([Source("m.ttgir", str(hanging))])
    assert left_behind(hanging) == []
    assert not list(hanging.parent.glob("fencepost-*"))


def test_a_parser_that_is_interrupted_leaves_nothing_behind(hanging: Path) -> None:
    def interrupt() -> None:
        while not (hanging.exists() and hanging.read_text()):
            time.sleep(0.05)
        os.kill(os.getpid(), 2)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        parse_texts([Source("m.ttgir", str(hanging))])
    assert left_behind(hanging) == []
    assert not list(hanging.parent.glob("fencepost-*"))


def explosive(levels: int = 40) -> str:
    """A type of 2 ** levels parts in a few lines."""
    aliases = [f"!t{n} = tuple<!t{n - 1}, !t{n - 1}>" for n in range(1, levels)]
    body = f"module {{\n  tt.func @f(%x: !t{levels - 1}) {{\n    tt.return\n  }}\n}}\n"
    return "\n".join(["!t0 = tuple<i32, i32>", *aliases, body])


@pytest.mark.parametrize(
    ("seconds", "megabytes", "words"),
    [(2, 4000, "more than 2 s of time"), (60, 100, "more than 100 MiB of memory")],
)
def test_a_module_gets_no_more_than_its_share(
    seconds: int, megabytes: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsing_process, "SECONDS_PER_PARSE", seconds)
    monkeypatch.setattr(parsing_process, "BYTES_PER_PARSE", megabytes << 20)
    assert words in error_of(explosive()).message
