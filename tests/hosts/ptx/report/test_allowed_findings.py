"""Comments in CUDA that allow a finding, with the reason: counted, shown, and never a proof."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.test_schemas import entries
from tests.conftest import CommandLine

FLAG = """\
__global__ void flag(const int *in, int *out) {
    __shared__ int last, s[256];
    int t = threadIdx.x;
    last = t;  // fencepost: allow FP001: any thread will do
    s[t] = in[t];
    __syncthreads();
    out[t] = s[255 - t] + last;
}
"""
CALL = ("check", "flag.cu", "--block", "256")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("flag.cu").write_text(FLAG, encoding="utf-8")


def test_an_allowed_race_is_counted_with_its_reason(fencepost: CommandLine) -> None:
    ran = fencepost(*CALL)
    assert ran.code == 0 and "error[" not in ran.out
    assert "flag: nothing else found, 1 silenced, not decided" in ran.out
    assert "what is silenced may hide more" in ran.out
    assert "flag.cu:4:16: silenced FP001 (1 finding): any thread will do" in ran.out


def test_it_is_no_proof(fencepost: CommandLine) -> None:
    assert fencepost(*CALL, "--require-proof").code == 1
    (kernel,) = entries("check", fencepost(*CALL, "--json").out)
    assert (kernel["ok"], kernel["proven"], kernel["verdict"]) == (True, False, "undecided")
    assert [(each["code"], each["line"], each["reason"]) for each in kernel["silenced"]] == [
        ("FP001", 4, "any thread will do")
    ]


def test_another_race_is_reported(fencepost: CommandLine) -> None:
    Path("flag.cu").write_text(FLAG.replace("    __syncthreads();\n", ""), encoding="utf-8")
    ran = fencepost(*CALL)
    assert ran.code == 1 and ran.out.count("error[FP001]") == 1 and "`s[0]`" in ran.out
    assert ": 1 race, 1 silenced (" in ran.out


def test_a_log_for_other_tools_has_it_as_suppressed(fencepost: CommandLine) -> None:
    log = json.loads(fencepost(*CALL, "--format", "sarif").out)
    suppressed = [each["suppressions"] for each in log["runs"][0]["results"] if each.get("suppressions")]
    assert len(suppressed) == 1 and suppressed[0][0]["justification"] == "any thread will do"


def test_a_comment_above_the_line_and_one_without_a_reason(fencepost: CommandLine) -> None:
    above = FLAG.replace("    last = t;  // fence", "    // fence").replace(
        "will do\n", "will do\n    last = t;\n"
    )
    Path("flag.cu").write_text(above, encoding="utf-8")
    assert "1 silenced" in fencepost(*CALL).out
    Path("flag.cu").write_text(FLAG.replace(": any thread will do", ""), encoding="utf-8")
    ran = fencepost(*CALL)
    assert ran.code == 1 and "warning[FP302]" in ran.out


def test_a_comment_that_silences_nothing_is_warned_of(fencepost: CommandLine) -> None:
    Path("flag.cu").write_text(FLAG.replace("last = t;", "if (t == 0) last = t;"), encoding="utf-8")
    ran = fencepost(*CALL)
    assert ran.code == 0 and "warning[FP303]" in ran.out


def test_annotations_do_not_name_what_is_allowed(fencepost: CommandLine) -> None:
    out = fencepost(*CALL, "--format", "github").out
    assert "::error" not in out
