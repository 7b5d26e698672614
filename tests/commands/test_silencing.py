"""Comments that allow a finding at a place: what they silence, what `check` then says, and what it warns of."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path

import pytest

from fencepost.check import check
from fencepost.codes import page_of
from fencepost.ir.parser import parse
from fencepost.ir.source import Source
from fencepost.report.allow_comments import read_allow_comments
from fencepost.report.silencing import Silencer
from tests.conftest import CommandLine
from tests.sarif_subset import sarif_mistakes

REASON = "all waves write the same value"
ALLOW = f"# fencepost: allow FP001: {REASON}"


def flag(*lines: str, name: str = "flag") -> str:
    """A kernel of these lines."""
    return "\n".join(
        [f"kernel @{name} waves=4 {{", "  shared %done : 4", *(f"  {x}" for x in lines), "}", ""]
    )


RACY = flag("write %done", "write %done")
SILENCED = flag("write %done", f"write %done  {ALLOW}")
INVALID_REASON = flag("write %done", "write %done  # fencepost: allow FP001")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# ---------------------------------------------------------------- what is silenced


@pytest.mark.parametrize(
    "text",
    [
        SILENCED,
        flag(f"write %done  {ALLOW}", "write %done"),
        flag("write %done", ALLOW, "write %done"),
        flag("write %done", ALLOW, "# and more words", "", "write %done"),
        flag("write %done", f"write %done  # fencepost:allow fp001 :{REASON}"),
        SILENCED.replace("\n", "\r\n"),
        f"# heading\n{SILENCED}# closing",
    ],
)
def test_on_the_line_of_either_access_or_above_it(text: str, fencepost: CommandLine) -> None:
    ran = fencepost("check", "-", stdin=text)
    assert ran.code == 0
    assert f"silenced FP001 (1 finding): {REASON}\n" in ran.out
    assert "@flag: nothing else found, 1 silenced (" in ran.out
    assert "error[" not in ran.out and "warning[" not in ran.out


@pytest.mark.parametrize(
    "text",
    [
        flag(ALLOW, "barrier", "write %done", "write %done"),
        flag("write %done", "write %done", ALLOW),
        flag("write %done", "write %done  # fencepost: allow FP004: another code"),
        f"{ALLOW}\n{RACY}",
    ],
)
def test_not_anywhere_else(text: str, fencepost: CommandLine) -> None:
    ran = fencepost("check", "-", stdin=text)
    assert ran.code == 1
    assert "error[FP001]" in ran.out and "@flag: 1 race (" in ran.out
    assert "warning[FP303]: this `allow FP00" in ran.out


def test_other_findings_stay_with_their_fix(fencepost: CommandLine) -> None:
    text = flag("write %done", f"write %done  {ALLOW}", "barrier", "atomic %done", "read %done")
    ran = fencepost("check", "-", stdin=text)
    assert ran.code == 1
    assert ran.out.count("error[FP001]") == 1 and "= fix: a barrier before line 7" in ran.out
    assert "@flag: 1 race, 1 silenced (" in ran.out


def test_every_kind_of_finding_can_be_silenced(fencepost: CommandLine) -> None:
    for code in ("FP001", "FP002", "FP003", "FP004", "FP005", "FP006", "FP007"):
        lines = page_of(code).wrong.text.splitlines()
        first = next(number for number, line in enumerate(lines) if line.startswith("kernel"))
        # On every statement: which of them a message underlines differs from kind to kind.
        text = "\n".join(
            line if number <= first or line.strip() == "}" else f"{line}  # fencepost: allow {code}: known"
            for number, line in enumerate(lines)
        )
        ran = fencepost("check", "-", stdin=f"{text}\n")
        assert ran.code == 0 and f": silenced {code} (" in ran.out, f"{code}\n{ran.out}{ran.err}"
        assert "nothing else found, " in ran.out and "error[" not in ran.out


def test_in_a_function_for_every_call(fencepost: CommandLine) -> None:
    body = f"func @mark {{\n  shared %done : 4\n  write %done\n  write %done  {ALLOW}\n  barrier\n}}\n"
    ran = fencepost("check", "-", stdin=body + "kernel @k waves=4 {\n  call @mark\n  call @mark\n}\n")
    assert ran.code == 0 and "silenced FP001" in ran.out and "warning[" not in ran.out


def test_one_that_one_kernel_of_two_needs_is_needed(fencepost: CommandLine) -> None:
    body = f"func @mark {{\n  shared %done : 4\n  write %done  {ALLOW}\n}}\n"
    one = "kernel @once waves=4 {\n  call @mark\n}\n"
    two = "kernel @twice waves=4 {\n  call @mark\n  call @mark\n}\n"
    ran = fencepost("check", "-", stdin=body + one + two)
    assert ran.code == 0 and "warning[" not in ran.out
    assert "@once: no race, no deadlock" in ran.out and "@twice: nothing else found, 1 silenced" in ran.out
    assert "warning[FP303]" in fencepost("check", "-", stdin=body + one).out


@pytest.mark.parametrize(
    "lines",
    [
        ["write %done", "br ^next", f"^next:  {ALLOW}", "write %done", "return"],
        ["write %done", "br ^next", "^next:", ALLOW, "write %done", "return"],
        ["write %done", f"if %more {{  {ALLOW}", "write %done", "}"],
        ["write %done", "if %more {", "barrier", f"}} else {{  {ALLOW}", "write %done", "}"],
    ],
)
def test_rewriting_a_file_does_not_change_what_a_comment_is_about(
    lines: list[str], fencepost: CommandLine
) -> None:
    kernel = flag(*lines)
    for text in (kernel, str(parse(kernel))):
        ran = fencepost("check", "-", stdin=text)
        assert ran.code == 0 and "silenced FP001" in ran.out and "warning[" not in ran.out, text


# ---------------------------------------------------------------- what is said


def test_a_kernel_with_silenced_findings_is_never_called_proven(fencepost: CommandLine) -> None:
    (found,) = json.loads(fencepost("check", "-", "--json", stdin=SILENCED).out)
    assert (found["ok"], found["proven"]) == (True, False)
    assert (found["races"], found["causes"]) == ([], [])
    assert found["silenced"] == [
        {"code": "FP001", "findings": 1, "reason": REASON, "file": "<stdin>", "line": 4}
    ]
    assert "warnings" not in found
    quiet = fencepost("check", "-", "-q", stdin=SILENCED)
    assert quiet.code == 0 and "1 silenced" in quiet.out


def test_require_proof_asks_whether_everything_was_looked_at(fencepost: CommandLine) -> None:
    assert fencepost("check", "-", "--require-proof", stdin=SILENCED).code == 0
    assert fencepost("check", "-", "--require-proof", "--all", stdin=RACY).code == 1


def test_without_comments_nothing_changes(fencepost: CommandLine) -> None:
    (found,) = json.loads(fencepost("check", "-", "--json", stdin=RACY).out)
    assert "silenced" not in found and "warnings" not in found
    assert "silenced" not in fencepost("check", "-", stdin=RACY).out


def test_several_findings_by_one_comment_are_counted(fencepost: CommandLine) -> None:
    text = flag("write %done", "barrier", "read %done", f"write %done  {ALLOW}", "read %done")
    ran = fencepost("check", "-", stdin=text)
    assert ran.code == 0 and f"<stdin>:6:16: silenced FP001 (2 findings): {REASON}\n" in ran.out
    assert "nothing else found, 2 silenced" in ran.out


# ---------------------------------------------------------------- what it must not hide


def test_a_race_behind_a_silenced_one_is_found(fencepost: CommandLine) -> None:
    """The first write races with the second, which is allowed, and with the read behind it, which is not."""
    text = flag("write %done", f"write %done  {ALLOW}", "read %done")
    ran = fencepost("check", "-", stdin=text)
    assert ran.code == 1
    assert "wave 1 can read %done before wave 0 has written it\n  --> <stdin>:3:3 and <stdin>:5:3" in ran.out
    assert "@flag: 1 race, 2 silenced (" in ran.out and "= fix: a barrier before line 5" in ran.out
    fixed = flag("write %done", f"write %done  {ALLOW}", "barrier", "read %done")
    assert fencepost("check", "-", stdin=fixed).code == 0


def test_a_race_behind_two_silenced_ones_is_found(fencepost: CommandLine) -> None:
    text = flag("write %done", f"write %done  {ALLOW}", f"write %done  {ALLOW} now", "read %done")
    ran = fencepost("check", "-", stdin=text)
    assert ran.code == 1 and "<stdin>:3:3 and <stdin>:6:3" in ran.out and "1 race, " in ran.out
    assert ran.out.count(": silenced FP001") == 2 and "warning[" not in ran.out


def test_a_silenced_copy_is_still_counted_and_waited_for(fencepost: CommandLine) -> None:
    """Were it taken out, the wait would leave another copy in flight, and a race would be invented."""
    text = """kernel @copies waves=4 {
  shared %a : 2 x 1024
  gather_to_lds %a[0]
  gather_to_lds %a[1]  # fencepost: allow FP001: whatever is read is thrown away
  wait_count load=1
  barrier
  read %a[0]
  read %a[1]
}
"""
    ran = fencepost("check", "-", stdin=text)
    assert ran.code == 0 and "nothing else found, 1 silenced" in ran.out
    assert "nothing was left out" in ran.out


def test_an_access_that_races_with_itself(fencepost: CommandLine) -> None:
    loop = flag("loop %i in 0..8 {", f"write %done  {ALLOW}", "}", "read %done")
    ran = fencepost("check", "-", stdin=loop)
    assert ran.code == 0 and "2 silenced" in ran.out and "nothing was left out" in ran.out


def test_behind_a_silenced_deadlock_nothing_is_proven(fencepost: CommandLine) -> None:
    text = flag("if wave < 2 {", "barrier  # fencepost: allow FP002: this hardware lets it pass", "}")
    ran = fencepost("check", "-", stdin=text)
    assert ran.code == 0 and "not a proof: what is silenced may hide more" in ran.out
    assert fencepost("check", "-", "--require-proof", stdin=text).code == 1


@pytest.mark.parametrize("seed", range(60))
def test_what_is_left_is_what_the_kernel_without_the_allowed_access_has(seed: int) -> None:
    rng = random.Random(seed)
    lines = [rng.choice(["read %p", "write %p", "read %q", "write %q", "barrier"]) for _ in range(7)]
    lines[3:5] = ["loop %i in 0..4 {", *lines[3:5], "}"]
    head = ["kernel @k waves=2 {", "shared %p : 64", "shared %q : 64"]
    chosen = rng.choice([n for n, line in enumerate(lines) if line.startswith(("read", "write"))] or [0])
    allowed = [*lines[:chosen], f"{lines[chosen]} # fencepost: allow FP001: known", *lines[chosen + 1 :]]
    kernel = parse("\n".join([*head, *allowed, "}"]) + "\n")
    left, _ = Silencer().apply(kernel, check(kernel))
    without = parse("\n".join([*head, *lines[:chosen], *lines[chosen + 1 :], "}"]) + "\n")
    assert left.ok == check(without).ok
    assert {race.hazard for race in left.races} == {race.hazard for race in check(without).races}


def test_the_kernel_is_left_as_it_was() -> None:
    kernel = parse(SILENCED)
    before = str(kernel)
    Silencer().apply(kernel, check(kernel))
    assert str(kernel) == before
    assert check(kernel).races


def test_a_report_knows_how_many_were_silenced() -> None:
    kernel = parse(SILENCED)
    report, silenced = Silencer().apply(kernel, check(kernel))
    assert (report.ok, report.proven, report.silenced) == (True, False, 1)
    assert [(allow.code, allow.reason, len(found)) for allow, found in silenced.items()] == [
        ("FP001", REASON, 1)
    ]
    assert str(report).startswith("@flag: nothing else found, 1 silenced (")
    assert pickle.loads(pickle.dumps(report)).silenced == 1


# ---------------------------------------------------------------- every command heeds comments

BOTH = flag("write %done", f"write %done  {ALLOW}", "barrier", "atomic %done", "read %done")
"""Two races, the first of them allowed."""


def test_insert_puts_in_no_barrier_for_what_is_allowed_and_says_so(fencepost: CommandLine) -> None:
    ran = fencepost("insert", "-", stdin=SILENCED)
    assert (
        ran.out == SILENCED and f"no barrier for 1 finding that a comment allows (FP001): {REASON}" in ran.err
    )
    ran = fencepost("insert", "-", stdin=BOTH)
    assert ran.out.count("barrier") == 2 and "1 barrier inserted" in ran.err and "1 finding that" in ran.err
    assert fencepost("check", "-", stdin=ran.out).code == 0
    (entry,) = json.loads(fencepost("insert", "--json", "-", stdin=BOTH).out)
    assert [each["reason"] for each in entry["silenced"]] == [REASON]
    (entry,) = json.loads(fencepost("insert", "--json", "-", stdin=RACY).out)
    assert "silenced" not in entry


def test_insert_goes_on_to_cover_what_other_comments_do_not_allow(fencepost: CommandLine) -> None:
    for text in (flag("write %done", "write %done  # fencepost: allow FP004: no race"), INVALID_REASON):
        assert "\n  barrier" in fencepost("insert", "-", stdin=text).out


def test_where_waves_are_skewed_an_allowed_race_may_still_not_be_in_the_wrong_order(
    fencepost: CommandLine,
) -> None:
    lines = ["if wave >= 2 {", "workgroup_barrier", "}", "loop %i in 0..8 {", "write %done", "barrier"]
    lines += [f"read %done  {ALLOW}", "barrier", "}", "if wave < 2 {", "workgroup_barrier", "}"]
    ran = fencepost("insert", "-", stdin=flag(*lines))
    assert ran.code == 0
    assert fencepost("check", "-", stdin=ran.out).code == 0


@pytest.mark.parametrize("seed", range(40))
def test_what_insert_leaves_is_what_check_accepts(seed: int, fencepost: CommandLine) -> None:
    rng = random.Random(seed)
    lines = [rng.choice(["read %p", "write %p", "read %q", "write %q", "gather_to_lds %p"]) for _ in range(7)]
    lines = [f"{line}  # fencepost: allow FP001: known" if rng.random() < 0.3 else line for line in lines]
    lines[3:5] = ["loop %i in 0..4 {", *lines[3:5], "}"]
    text = "\n".join(["kernel @k waves=2 {", "shared %p : 64", "shared %q : 64", *lines, "}"]) + "\n"
    inserted = fencepost("insert", "-", stdin=text)
    assert inserted.code == 0 and fencepost("check", "-", stdin=inserted.out).code == 0, inserted.out
    Path("k.fp").write_text(text)
    assert fencepost("fix", "-w", "k.fp").code == 0
    assert fencepost("check", "k.fp").code == 0
    assert fencepost("insert", "-", stdin=inserted.out).out == inserted.out


def test_fix_leaves_what_is_allowed(fencepost: CommandLine) -> None:
    Path("k.fp").write_text(SILENCED)
    ran = fencepost("fix", "-w", "k.fp")
    assert ran.code == 0 and ran.out == "" and Path("k.fp").read_text() == SILENCED
    assert "@flag: nothing to mend; 1 finding left, as a comment allows" in ran.err
    Path("k.fp").write_text(BOTH)
    ran = fencepost("fix", "-w", "k.fp")
    assert ran.code == 0 and "1 finding mended; 1 finding left, as a comment allows" in ran.err
    assert Path("k.fp").read_text().splitlines()[5:8] == [
        "  atomic %done",
        "  barrier  # update → read %done",
        "  read %done",
    ]


def test_fix_leaves_what_is_allowed_in_a_module(fencepost: CommandLine) -> None:
    Path("k.ttgir").write_text(module("user.py", "// fencepost: allow FP001: the tile is constant"))
    before = Path("k.ttgir").read_text()
    ran = fencepost("fix", "-w", "k.ttgir")
    assert ran.code == 0 and "nothing to mend; 1 finding left" in ran.err
    assert fencepost("insert", "-w", "k.ttgir").code == 0 and Path("k.ttgir").read_text() == before


def test_prune_takes_out_no_barrier_because_of_a_comment(fencepost: CommandLine) -> None:
    text = flag("write %done", "barrier", f"write %done  {ALLOW}")
    assert fencepost("prune", "-", stdin=text).out == text


def test_explain_does_not_warn_of_what_is_allowed(fencepost: CommandLine) -> None:
    ran = fencepost("explain", "-", stdin=SILENCED)
    assert "1 hazard that no barrier covers, as a comment allows" in ran.out and "FP301" not in ran.out
    assert "warning[FP301]: 1 hazard of" in fencepost("explain", "-", stdin=RACY).out


def test_view_shows_it_as_allowed(fencepost: CommandLine) -> None:
    (kernel,) = json.loads(fencepost("view", "--json", "-", stdin=SILENCED).out)["kernels"]
    (found,) = kernel["findings"]
    assert found["allowed"] == REASON and kernel["ok"] and not kernel["proven"]
    assert [window["covered"] for window in kernel["windows"]] == ["a comment that allows it"]
    both = json.loads(fencepost("view", "--json", "-", stdin=BOTH).out)["kernels"]
    assert [each["allowed"] for each in both[0]["findings"]] == ["", REASON]
    assert [each["allowed"] for each in both[1]["findings"]] == [REASON], "mended"


# ---------------------------------------------------------------- what is warned of


INVALID = {
    "# fencepost: allow FP001": "this `allow FP001` has no reason",
    "# fencepost: allow FP001:": "this `allow FP001` has no reason",
    "# fencepost: allow FP001:   ": "this `allow FP001` has no reason",
    "# fencepost: allow FP001 because": "this `allow FP001` has no reason",
    "# fencepost: allow": "this `allow` names no code",
    "# fencepost: allow: reason": "this `allow` names no code",
    "# fencepost: allow FP999: reason": "this `allow` names FP999, which is no code",
    "# fencepost: allow races: reason": "this `allow` names RACES, which is no code",
    "# fencepost: allow FP207: reason": "this `allow` names FP207, which is no finding of `check`",
}


@pytest.mark.parametrize("comment", INVALID)
def test_an_invalid_comment_silences_nothing_and_is_named(comment: str, fencepost: CommandLine) -> None:
    ran = fencepost("check", "-", stdin=flag("write %done", f"write %done  {comment}"))
    assert ran.code == 1 and "@flag: 1 race (" in ran.out
    assert f"warning[FP302]: {INVALID[comment]}" in ran.out
    assert "= help: write `# fencepost: allow FP001: reason`" in ran.out
    assert "FP303" not in ran.out


def test_warnings_do_not_change_the_exit_code(fencepost: CommandLine) -> None:
    ran = fencepost("check", "-", stdin=flag(f"write %done  {ALLOW}"))
    assert ran.code == 0
    assert "warning[FP303]: this `allow FP001` silences nothing\n  --> <stdin>:3:16" in ran.out


def test_programs_find_warnings_in_the_last_entry_of_the_file(fencepost: CommandLine) -> None:
    Path("one.fp").write_text(flag(f"write %done  {ALLOW}", name="a") + flag("write %done", name="b"))
    Path("two.fp").write_text(RACY)
    first, last, other = json.loads(fencepost("check", "--json", "one.fp", "two.fp").out)
    assert "warnings" not in first and "warnings" not in other
    message = "this `allow FP001` silences nothing"
    assert last["warnings"] == [
        {"code": "FP303", "message": message, "file": "one.fp", "line": 3, "column": 16}
    ]


def test_comments_are_not_called_useless_if_a_kernel_of_the_file_was_not_judged(
    fencepost: CommandLine,
) -> None:
    branches = ["cond_br wave < 2, ^x, ^y", "^x:", "br ^y", "^y:", "cond_br %more, ^x, ^z", "^z:", "return"]
    ran = fencepost("check", "-", stdin=flag(f"write %done  {ALLOW}") + flag(*branches, name="bad"))
    assert ran.code == 2 and "error[FP107]" in ran.err and "FP303" not in ran.out


def test_a_file_that_cannot_be_read_has_no_warnings(fencepost: CommandLine) -> None:
    Path("bad.fp").write_bytes(b"# fencepost: allow\n\xff")
    for name in ("bad.fp", "missing.fp"):
        ran = fencepost("check", name)
        assert ran.code == 2 and "error[FP112]" in ran.err and "warning" not in ran.out


def test_a_text_without_comments_has_nothing_to_allow() -> None:
    assert read_allow_comments(Source("k.fp", RACY)).allows == ()
    assert read_allow_comments(Source("empty.fp", "")).warnings == ()


def test_a_long_kernel_with_many_comments(fencepost: CommandLine) -> None:
    lines = [line for _ in range(400) for line in (f"write %done  {ALLOW}", "barrier")]
    ran = fencepost("check", "-", stdin=flag(*lines))
    assert ran.code == 0 and ran.out.count("warning[FP303]") == 400


# ---------------------------------------------------------------- Triton


def module(path: str, comment: str = "") -> str:
    """A Triton module with a race between two lines of a Python file."""
    return f"""
#b = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}}>
#s = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>
!tensor = tensor<64x64xf16, #b>
!tile = !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory, mutable>
module attributes {{"ttg.num-warps" = 4 : i32, ttg.shared = 8192 : i32, ttg.target = "cuda:80"}} {{
  tt.func public @kernel(%x: !tensor) {{
    %m = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> !tile
    ttg.local_store %x, %m : !tensor -> !tile loc("{path}":2:5)
    %y = ttg.local_load %m : !tile -> !tensor loc("{path}":3:5) {comment}
    tt.return
  }}
}}
"""


def test_a_comment_in_a_triton_module(fencepost: CommandLine) -> None:
    Path("k.ttgir").write_text(module("user.py"))
    assert fencepost("check", "k.ttgir").code == 1
    Path("k.ttgir").write_text(module("user.py", "// fencepost: allow FP001: the tile is constant"))
    ran = fencepost("check", "k.ttgir")
    assert ran.code == 0 and "silenced FP001 (1 finding): the tile is constant" in ran.out


def test_a_comment_in_the_python_file_that_a_module_names(fencepost: CommandLine) -> None:
    python = Path("user.py").resolve()
    Path("k.ttgir").write_text(module(str(python)))
    assert fencepost("check", "k.ttgir").code == 1, "the file is not there"
    allow = "# fencepost: allow FP001: the tile is constant"
    python.write_text(f"def kernel():\n    m.store(x)\n    m.load()  {allow}\n")
    ran = fencepost("check", "k.ttgir")
    assert ran.code == 0 and f"{python}:3:15: silenced FP001 (1 finding): the tile is constant" in ran.out
    python.write_text(f"{allow}\n\n\n    m.store(x)\n")
    ran = fencepost("check", "k.ttgir")
    assert ran.code == 1 and "warning" not in ran.out, "another kernel may need it"
    python.write_text("\n    # fencepost: allow FP001\n\xff\n", encoding="latin-1")
    assert "warning[FP302]: this `allow FP001` has no reason" in fencepost("check", "k.ttgir").out


# ---------------------------------------------------------------- other formats


def test_sarif_has_silenced_findings_as_suppressed(fencepost: CommandLine) -> None:
    Path("k.fp").write_text(BOTH)
    log = json.loads(fencepost("check", "--format", "sarif", "k.fp").out)
    assert sarif_mistakes(log) == []
    real, silenced = log["runs"][0]["results"]
    assert real["suppressions"] == [], "all results of a run have them, or none"
    (why,) = silenced["suppressions"]
    assert (why["kind"], why["justification"]) == ("inSource", REASON)
    assert why["location"]["physicalLocation"]["region"]["startLine"] == 4
    assert "fixes" not in silenced and silenced["locations"] and silenced["partialFingerprints"]
    Path("k.fp").write_text(SILENCED)
    ran = fencepost("check", "--format", "sarif", "k.fp")
    assert ran.code == 0 and json.loads(ran.out)["runs"][0]["results"][0]["suppressions"]


def test_silencing_keeps_fingerprints(fencepost: CommandLine) -> None:
    def fingerprints(text: str) -> list[str]:
        log = json.loads(fencepost("check", "--format", "sarif", "-", stdin=text).out)
        return [each["partialFingerprints"]["fencepost/v1"] for each in log["runs"][0]["results"]]

    assert fingerprints(SILENCED) == fingerprints(RACY)


def test_annotations_have_no_silenced_finding(fencepost: CommandLine) -> None:
    Path("k.fp").write_text(SILENCED)
    ran = fencepost("check", "--format", "github", "k.fp")
    assert ran.code == 0 and "::error" not in ran.out and "::warning" not in ran.out
    assert "nothing else found, 1 silenced" in ran.out


def test_sarif_leaves_warnings_to_standard_error(fencepost: CommandLine) -> None:
    Path("k.fp").write_text(flag(f"write %done  {ALLOW}"))
    ran = fencepost("check", "--format", "sarif", "k.fp")
    assert ran.code == 0 and json.loads(ran.out) and "warning[FP303]" in ran.err
    assert "warning[FP303]" in fencepost("check", "--format", "github", "k.fp").out
