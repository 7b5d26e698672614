"""`insert`, `check`, `prune` and `explain` on files with Triton modules, as a user types them."""

from __future__ import annotations

import json
import re
from difflib import ndiff
from pathlib import Path

import pytest

from fencepost.hosts.triton.module_files import read_file
from tests.conftest import CommandLine, Ran
from tests.hosts.triton.modules import BYTES, line_of, module

LOOP = """
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
// The author's comment.
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
scf.for %i = %zero to %n step %one : i32 {
  ttg.local_store %x, %m : <TENSOR> -> <TILE> loc("user.py":7:5)
  %y = ttg.local_load %m : <TILE> -> <TENSOR> loc("user.py":9:5)
  tt.store %p, %y : <POINTERS>
}
tt.return
"""
RACY = module(LOOP, shared=BYTES)
TWICE = module(
    LOOP.replace("  %y", "  ttg.barrier local\n  ttg.barrier local\n  %y").replace(
        "  ttg.local_store", "  ttg.barrier all\n  ttg.barrier local\n  ttg.local_store"
    ),
    shared=BYTES,
)
BLOCKS = module(
    """
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
cf.br ^head(%zero : i32)
^head(%i: i32):
%more = arith.cmpi slt, %i, %n : i32
cf.cond_br %more, ^body, ^end
^body:
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.store %p, %y : <POINTERS>
%next = arith.addi %i, %one : i32
cf.br ^head(%next : i32)
^end:
tt.return
""",
    shared=BYTES,
)
CALLS = module(
    """
tt.call @called(%x) {allocation.offset = 0 : i32, allocation.size = 8192 : i32} : (<TENSOR>) -> ()
tt.call @called(%x) {allocation.offset = 0 : i32, allocation.size = 8192 : i32} : (<TENSOR>) -> ()
tt.return
""",
    shared=BYTES,
    more="""tt.func private @called(%x: <TENSOR>) attributes {noinline = true} {
  %m = ttg.local_alloc %x {allocation.offset = 0 : i32} : (<TENSOR>) -> !ttg.memdesc<64x64xf16, #s, #smem>
  %y = ttg.local_load %m : !ttg.memdesc<64x64xf16, #s, #smem> -> <TENSOR>
  tt.return
}""",
)


def put(folder: Path, text: str, name: str = "kernel.ttgir") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def added_and_removed(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that were put in and those that were taken out."""
    changes = list(ndiff(before.splitlines(), after.splitlines()))
    added = [line[2:].strip() for line in changes if line.startswith("+ ")]
    return added, [line[2:].strip() for line in changes if line.startswith("- ")]


# ---------------------------------------------------------------- insert


@pytest.mark.parametrize(
    ("text", "barriers"), [(RACY, 2), (BLOCKS, 2), (CALLS, 2)], ids=["regions", "blocks", "calls"]
)
def test_insert_adds_lines_with_barriers_and_nothing_else(
    text: str, barriers: int, fencepost: CommandLine, tmp_path: Path
) -> None:
    ran = fencepost("insert", put(tmp_path, text))
    assert ran.code == 0, ran.err
    added, removed = added_and_removed(text, ran.out)
    assert removed == []
    assert len(added) == barriers
    assert {line.partition(" loc(")[0] for line in added} == {"ttg.barrier local"}


@pytest.mark.parametrize("text", [RACY, BLOCKS, CALLS], ids=["regions", "blocks", "calls"])
def test_what_insert_writes_is_read_by_triton_and_has_no_race(
    text: str, fencepost: CommandLine, tmp_path: Path
) -> None:
    path, out = put(tmp_path, text), str(tmp_path / "out.ttgir")
    assert fencepost("insert", path, "-o", out).code == 0
    assert sum(op.name == "ttg.barrier" for op in read_file(out).walk()) == 2
    checked = fencepost("check", out)
    assert (checked.code, checked.out.count("no race, no deadlock")) == (0, checked.out.count("@"))
    # There is nothing left to do.
    assert fencepost("insert", out).out == Path(out).read_text()
    assert fencepost("prune", out).out == Path(out).read_text()


def test_a_barrier_has_the_location_of_what_it_stands_in_front_of(
    fencepost: CommandLine, tmp_path: Path
) -> None:
    added, _ = added_and_removed(RACY, fencepost("insert", put(tmp_path, RACY)).out)
    assert added == ['ttg.barrier local loc("user.py":7:5)', 'ttg.barrier local loc("user.py":9:5)']


def test_insert_writes_back(fencepost: CommandLine, tmp_path: Path) -> None:
    path = put(tmp_path, RACY)
    ran = fencepost("insert", path, "-w")
    assert (ran.code, ran.out) == (0, "")
    assert fencepost("check", path).code == 0


@pytest.mark.parametrize("strategy", ["walk", "eager", "minimize", "intersect", "optimal"])
def test_every_strategy_works_on_modules(strategy: str, fencepost: CommandLine, tmp_path: Path) -> None:
    out = str(tmp_path / "out.ttgir")
    assert fencepost("insert", put(tmp_path, RACY), "-s", strategy, "-o", out).code == 0
    assert fencepost("check", out).code == 0


def test_a_missing_wait_is_not_mended_by_a_barrier(fencepost: CommandLine, tmp_path: Path) -> None:
    text = module(
        """
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
ttg.barrier local
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
""",
        shared=BYTES,
    )
    path = put(tmp_path, text)
    ran = fencepost("insert", path)
    assert (ran.code, ran.out) == (1, "")
    assert "a wait is missing or too weak" in ran.err
    assert f"kernel.ttgir:{line_of(text, '%y = ttg.local_load')}:" in ran.err
    checked = fencepost("check", path)
    assert checked.code == 1
    assert "nothing waits for the copy: no wait for counter 'copy' lies in between" in checked.out


# ---------------------------------------------------------------- check


def test_check_shows_lines_of_the_module_and_of_the_users_source(
    fencepost: CommandLine, tmp_path: Path
) -> None:
    path = put(tmp_path, RACY)
    ran = fencepost("check", path)
    assert ran.code == 1
    write, read = line_of(RACY, "ttg.local_store"), line_of(RACY, "%y = ttg.local_load")
    assert f"--> {path}:{write}:7 and {path}:{read}:7" in ran.out
    assert "= written: the first in user.py:7; the second in user.py:9" in ran.out
    assert "= written: the first in user.py:9; the second in user.py:7" in ran.out
    assert f"= fix: a barrier before line {read}" in ran.out


def test_check_takes_several_files_of_both_kinds(fencepost: CommandLine, tmp_path: Path) -> None:
    clean = put(tmp_path, module("tt.return"), "clean.mlir")
    own = put(tmp_path, "kernel @k waves=4 {\n  shared %a : 4\n  write %a\n}\n", "own.fp")
    ran = fencepost("check", put(tmp_path, RACY), clean, own, "-q")
    assert ran.code == 1
    assert ran.out.count("error[FP001]") == 2
    assert fencepost("check", clean, own).code == 0


def test_other_formats_show_the_users_source_where_the_module_names_it(
    fencepost: CommandLine, tmp_path: Path
) -> None:
    path = put(tmp_path, RACY)
    write_again, read = fencepost("check", "--format", "github", path).out.splitlines()[:2]
    assert write_again.startswith("::error file=user.py,line=7,title=FP001 ")
    assert read.startswith("::error file=user.py,line=9,title=FP001 ")
    assert "%0Auser.py:7: wave 0 writes" in read
    assert read.endswith(f"%0Anote: lines without a file are those of {path}")
    (run,) = json.loads(fencepost("check", "--format", "sarif", path).out)["runs"]
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert places == [
        {"artifactLocation": {"uri": "user.py"}, "region": {"startLine": line}} for line in (7, 9)
    ]


def test_other_formats_show_the_module_where_it_names_no_source(
    fencepost: CommandLine, tmp_path: Path
) -> None:
    text = re.sub(r" loc\(.*\)", "", RACY)
    found = fencepost("check", "--format", "github", put(tmp_path, text)).out.splitlines()[1]
    line = line_of(text, "%y = ttg.local_load")
    assert f"kernel.ttgir,line={line},endLine={line},col=7," in found


# ---------------------------------------------------------------- fix


@pytest.mark.parametrize("text", [RACY, BLOCKS, CALLS], ids=["regions", "blocks", "calls"])
def test_fix_puts_barriers_in_and_finds_nothing_more_to_do(
    text: str, fencepost: CommandLine, tmp_path: Path
) -> None:
    path = put(tmp_path, text)
    inserted = fencepost("insert", path).out
    assert fencepost("fix", path).code == 0 and Path(path).read_text() == text
    assert fencepost("fix", "-w", path).code == 0
    assert Path(path).read_text() == inserted
    ran = fencepost("fix", "-w", path)
    assert (ran.code, ran.out) == (0, "") and Path(path).read_text() == inserted


def test_what_barriers_do_not_mend_in_a_module_is_named(fencepost: CommandLine, tmp_path: Path) -> None:
    text = module(
        """
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.store %p, %y : <POINTERS>
tt.return
""",
        shared=BYTES,
    )
    path = put(tmp_path, text)
    ran = fencepost("fix", "-w", path)
    assert (ran.code, ran.out) == (1, "")
    assert "error[FP001]" in ran.err and "a wait is missing or too weak (FP207)" in ran.err
    assert "left as it is" in ran.err and "no wait is put into a module" in ran.err
    assert Path(path).read_text() == text


def test_fix_makes_waits_of_a_module_stronger(fencepost: CommandLine, tmp_path: Path) -> None:
    text = module(
        """
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
%g = ttg.async_commit_group tokens %a
%w = ttg.async_wait %g {num = 1 : i32}  // leaves the copy in flight
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.store %p, %y : <POINTERS>
tt.return
""",
        shared=BYTES,
    )
    path = put(tmp_path, text)
    Path(path).write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    ran = fencepost("fix", "-w", path)
    assert ran.code == 0 and "mended" in ran.err, ran.err
    now = Path(path).read_bytes().decode("utf-8-sig").replace("\r\n", "\n").splitlines()
    assert [line.strip() for line in now if line not in text.splitlines()] == [
        "%w = ttg.async_wait %g {num = 0 : i32}  // leaves the copy in flight",
        "ttg.barrier local",
    ]
    assert Path(path).read_bytes().count(b"\n") == Path(path).read_bytes().count(b"\r\n")
    assert Path(path).read_bytes().startswith(b"\xef\xbb\xbf")
    assert fencepost("check", path).code == 0


def test_fix_judges_a_module_as_triton_compiles_it(fencepost: CommandLine, tmp_path: Path) -> None:
    path = put(tmp_path, CACHED)
    ran = fencepost("fix", path)
    assert (ran.code, ran.out) == (0, "") and "nothing to mend" in ran.err
    ran = fencepost("fix", "--as-is", path)
    assert ran.code == 0 and ran.out.count("+      ttg.barrier local") == 2


# ---------------------------------------------------------------- what gets compiled

CACHED = module(
    """
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%m = ttg.local_alloc : () -> <TILE>
scf.for %i = %zero to %n step %one : i32 {
  ttg.local_store %x, %m : <TENSOR> -> <TILE> loc("user.py":7:5)
  %y = ttg.local_load %m : <TILE> -> <TENSOR> loc("user.py":9:5)
  tt.store %p, %y : <POINTERS>
}
tt.return
"""
)
"""As Triton's cache has it: memory without addresses, and membar is still to come."""


@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "hip:gfx942", "hip:gfx1250"])
def test_check_judges_what_triton_makes_of_a_cached_module(
    target: str, fencepost: CommandLine, tmp_path: Path
) -> None:
    path = put(tmp_path, CACHED.replace("cuda:80", target))
    ran = fencepost("check", path)
    assert (ran.code, ran.err) == (0, "")
    assert "no race, no deadlock" in ran.out
    assert (
        "judged as Triton compiles it: lowered, with 2 barriers by membar (--as-is: as it stands)" in ran.out
    )
    as_is = fencepost("check", path, "--as-is")
    assert as_is.code == 1
    assert as_is.out.count("error[FP001]") == 2


def test_what_was_judged_is_part_of_the_json(fencepost: CommandLine, tmp_path: Path) -> None:
    path = put(tmp_path, CACHED)
    for command in ("check", "explain"):
        (found,) = json.loads(fencepost(command, path, "--json").out)
        assert found["lowered"] is True
        assert found["judged"].startswith("judged as Triton compiles it")
    (found,) = json.loads(fencepost("check", put(tmp_path, RACY, "racy.ttgir"), "--json").out)
    assert found["lowered"] is False
    assert "judged" not in found


def test_what_membar_does_not_mend_is_shown_in_the_file(fencepost: CommandLine, tmp_path: Path) -> None:
    """A copy that nobody waits for: membar trusts that someone does."""
    text = module(
        """
%m = ttg.local_alloc : () -> <TILE>
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE> loc("user.py":4:5)
%y = ttg.local_load %m : <TILE> -> <TENSOR> loc("user.py":6:5)
tt.store %p, %y : <POINTERS>
tt.return
"""
    )
    path = put(tmp_path, text)
    ran = fencepost("check", path)
    assert ran.code == 1
    copy, read = line_of(text, "%a = ttg.async_copy"), line_of(text, "%y = ttg.local_load")
    assert f"--> {path}:{copy}:5 and {path}:{read}:5" in ran.out
    assert "= written: the first in user.py:4; the second in user.py:6" in ran.out
    assert "judged as Triton compiles it" in ran.out


def test_explain_tells_of_the_barriers_that_membar_will_put_in(
    fencepost: CommandLine, tmp_path: Path
) -> None:
    path = put(tmp_path, CACHED)
    ran = fencepost("explain", path)
    assert ran.code == 0
    assert ran.out.count(": needed") == 2
    assert f"{path}:{line_of(CACHED, '%y = ttg.local_load')}:" in ran.out
    assert "@kernel has no barriers" in fencepost("explain", path, "--as-is").out


def test_a_module_that_triton_cannot_lower_is_judged_as_it_stands(
    fencepost: CommandLine, tmp_path: Path
) -> None:
    ran = fencepost("check", put(tmp_path, CACHED.replace("cuda:80", "cuda:no")))
    assert ran.code == 1
    assert "judged as it stands, before membar: Triton could not lower it: " in ran.out
    assert "Traceback" not in ran.out + ran.err


@pytest.mark.parametrize("command", ["check", "insert", "prune", "explain"])
@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx1250"])
@pytest.mark.parametrize("text", [CACHED, RACY], ids=["cached", "lowered"])
def test_modules_for_clusters_are_refused_by_name(
    text: str, target: str, command: str, fencepost: CommandLine, tmp_path: Path
) -> None:
    text = text.replace('"ttg.num-ctas" = 1', '"ttg.num-ctas" = 2').replace("cuda:80", target)
    # Every layout says what part of a tensor each workgroup has: here all have the same.
    text = re.sub(r"(order = \[\d, \d\])", r"\1, CGALayout = [[0, 0]]", text)
    ran = fencepost(command, put(tmp_path, text))
    assert_error(ran, "FP408", command)
    assert "not judged: @kernel is compiled for clusters of 2 workgroups (num_ctas = 2)" in ran.err


# ---------------------------------------------------------------- prune and explain


def test_prune_takes_out_lines_with_barriers_and_nothing_else(fencepost: CommandLine, tmp_path: Path) -> None:
    path = put(tmp_path, TWICE)
    ran = fencepost("prune", path)
    assert ran.code == 0
    added, removed = added_and_removed(TWICE, ran.out)
    assert added == []
    assert removed == ["ttg.barrier local", "ttg.barrier local"]
    assert "2 barriers removed" in ran.err
    out = put(tmp_path, ran.out, "out.ttgir")
    assert fencepost("check", out).code == 0
    assert fencepost("prune", out).out == ran.out


def test_prune_leaves_barriers_for_other_memory_alone(fencepost: CommandLine, tmp_path: Path) -> None:
    body = "\n".join(
        f"ttg.barrier {space}" for space in ("all", "global_read", "local|global_write", "local")
    )
    text = module(f"{body}\ngpu.barrier\ntt.return")
    ran = fencepost("prune", put(tmp_path, text))
    assert added_and_removed(text, ran.out) == ([], ["ttg.barrier local"])


def test_prune_leaves_waits_alone(fencepost: CommandLine, tmp_path: Path) -> None:
    text = module("%w = ttg.async_wait {num = 0 : i32}\ntt.return")
    assert fencepost("prune", put(tmp_path, text)).out == text


def test_explain_says_why_each_barrier_is_there(fencepost: CommandLine, tmp_path: Path) -> None:
    path = put(tmp_path, TWICE)
    ran = fencepost("explain", path)
    assert ran.code == 0
    assert ran.out.count(f"{path}:") == 4
    assert ran.out.count("redundant: ") == 4
    assert f"the barrier on line {line_of(TWICE, '%y = ttg.local_load') - 1}" in ran.out
    needed = fencepost("explain", put(tmp_path, fencepost("prune", path).out, "pruned.ttgir")).out
    assert "redundant" not in needed
    assert "write-after-read: without this, wave 1's write of" in needed


def test_explain_of_a_module_without_barriers(fencepost: CommandLine, tmp_path: Path) -> None:
    ran = fencepost("explain", put(tmp_path, RACY))
    assert ran.code == 0
    assert "@kernel has no barriers" in ran.out
    assert "2 hazards of @kernel that no barrier covers" in ran.out


# ---------------------------------------------------------------- for programs


def test_json_of_every_command(fencepost: CommandLine, tmp_path: Path) -> None:
    path = put(tmp_path, TWICE)
    racy = put(tmp_path, RACY, "racy.ttgir")

    def answer(*arguments: str, code: int = 0) -> dict[str, object]:
        ran = fencepost("--json", *arguments) if arguments[0] == "--json" else fencepost(*arguments, "--json")
        assert ran.code == code, ran.err
        (found,) = json.loads(ran.out)
        return dict(found)

    inserted = answer("insert", racy)
    assert (inserted["kernel"], inserted["target"]) == ("kernel", "sm_80")
    assert isinstance(inserted["barriers"], list)
    assert len(inserted["barriers"]) == 2
    pruned = answer("prune", path)
    assert isinstance(pruned["removed"], list)
    assert len(pruned["removed"]) == 2
    explained = answer("explain", path)
    assert isinstance(explained["barriers"], list)
    assert [barrier["line"] for barrier in explained["barriers"]] == [
        number for number, line in enumerate(TWICE.splitlines(), 1) if "ttg.barrier" in line
    ]
    checked = answer("check", racy, code=1)
    assert isinstance(checked["races"], list)
    assert len(checked["races"]) == 2
    assert checked["file"] == racy


# ---------------------------------------------------------------- bad modules


ONE_WARP = """#mma = #ttg.amd_wmma<{version = 3, isTranspose = true, ctaLayout = {}, instrShape = [16, 16, 32]}>
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%x: tensor<16x16xf32, #mma>) {
    tt.return
  }
}
"""
BAD = {
    "empty": (b"", "FP102"),
    "blank": (b" \n\n", "FP102"),
    "without functions": (b"module {\n}\n", "FP102"),
    "cut off": (RACY[: RACY.index("step %one")].encode(), "FP402"),
    "cut off in a name": (RACY[: RACY.index("_alloc {")].encode(), "FP402"),
    "unknown dialect": (b'module {\n  "foo.bar"() : () -> ()\n}\n', "FP402"),
    "unknown operation": (RACY.replace("ttg.local_load", "ttg.local_lod").encode(), "FP402"),
    "types that differ": (RACY.replace("%x: tensor<64x64xf16", "%x: tensor<64x32xf16").encode(), "FP402"),
    "garbage": (bytes(range(256)), "FP112"),
    "zeros": (b"\0" * 64, "FP102"),
    "a crash of the parser": (ONE_WARP.replace("{}", "{lane = []}").encode(), "FP403"),
    "another language": (b"kernel @k waves=4 {\n}\n", "FP402"),
    "regions that are not known": (
        RACY.replace("scf.for %i = %zero to %n step %one : i32 {", "scf.index_switch %k\ncase 0 {")
        .replace("    }\n    tt.return", "      scf.yield\n    }\n    default {\n    }\n    tt.return")
        .replace("%one = ", "%k = arith.constant 0 : index\n    %one = ")
        .encode(),
        "FP408",
    ),
    "an arrival that asks for one more": (
        module(
            """
%b = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<1xi64, #l, #smem, mutable>
ttng.async_copy_mbarrier_arrive %b : !ttg.memdesc<1xi64, #l, #smem, mutable>
tt.return
""",
            shared=8,
        )
        .replace(
            "#smem =",
            "#l = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n#smem =",
        )
        .encode(),
        "FP408",
    ),
}


@pytest.mark.parametrize("command", ["check", "insert", "prune", "explain"])
def test_bad_modules_are_errors_with_a_place(command: str, fencepost: CommandLine, tmp_path: Path) -> None:
    for name, (raw, code) in BAD.items():
        path = tmp_path / f"{name.replace(' ', '_')}.ttgir"
        path.write_bytes(raw)
        ran = fencepost(command, str(path))
        assert_error(ran, code, f"{command} {name}")
        assert str(path) in ran.err, name
        assert path.read_bytes() == raw


def assert_error(ran: Ran, code: str, what: str) -> None:
    assert ran.code == 2, f"{what}: exit code {ran.code}\n{ran.out}{ran.err}"
    assert ran.out == "", what
    assert f"error[{code}]" in ran.err, f"{what}\n{ran.err}"
    assert "Traceback" not in ran.err, what


def test_the_layout_of_one_warp_that_triton_cannot_parse_is_read(
    fencepost: CommandLine, tmp_path: Path
) -> None:
    path = put(tmp_path, ONE_WARP)
    assert fencepost("check", path).code == 0
    assert fencepost("insert", path).out == ONE_WARP


def test_a_file_that_is_not_there(fencepost: CommandLine) -> None:
    assert_error(fencepost("check", "no/such.ttgir"), "FP112", "missing")


def test_an_operation_that_is_not_known_is_named(fencepost: CommandLine, tmp_path: Path) -> None:
    text = module(
        """
%m = ttg.local_alloc : () -> <TILE>
%v = builtin.unrealized_conversion_cast %m : <TILE> to i32
tt.return
"""
    )
    ran = fencepost("check", put(tmp_path, text))
    assert (ran.code, ran.out) == (2, "")
    assert "error[FP408]: not judged: @kernel uses builtin.unrealized_conversion_cast" in ran.err


# ---------------------------------------------------------------- standard input


@pytest.mark.parametrize("text", [RACY, BLOCKS, f"// First a comment.\n\n{CALLS}"])
def test_a_module_on_standard_input_is_known_by_its_text(
    text: str, fencepost: CommandLine, tmp_path: Path
) -> None:
    named = fencepost("check", put(tmp_path, text))
    piped = fencepost("check", "-", stdin=text)
    assert named.code == piped.code == 1
    assert piped.out.count("error[FP001]") == named.out.count("error[FP001]") > 0
    assert "<stdin>:" in piped.out
    inserted = fencepost("insert", "-", stdin=text)
    assert inserted.out == fencepost("insert", put(tmp_path, text)).out
    assert fencepost("check", "-", stdin=inserted.out).code == 0


def test_a_file_whose_name_says_nothing_is_known_by_its_text(fencepost: CommandLine, tmp_path: Path) -> None:
    assert fencepost("check", put(tmp_path, RACY, "module.txt")).code == 1
    ours = "# module, in a comment\nkernel @module waves=1 {\n}\n"
    assert fencepost("check", put(tmp_path, ours, "ours.txt")).code == 0
    assert "FP101" in fencepost("check", put(tmp_path, RACY, "module.fp")).err
