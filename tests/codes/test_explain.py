"""`fencepost explain FP207` and `fencepost explain --codes`."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from fencepost.cli import main
from fencepost.codes import known_codes, looks_like_a_code, page_of
from tests.conftest import UPDATE, CommandLine

GOLDEN = Path(__file__).parent / "golden"
CLEAN = "kernel @clean waves=4 {\n  shared %a : 64\n  write %a\n  barrier\n  read %a\n}\n"


@pytest.mark.parametrize("code", ["FP001", "FP207"])
def test_what_is_printed_about_a_code(code: str, fencepost: CommandLine, update_golden: bool) -> None:
    ran = fencepost("explain", code)
    assert (ran.code, ran.err) == (0, "")
    golden = GOLDEN / f"{code}.txt"
    if update_golden:
        golden.write_text(ran.out, encoding="utf-8")
    assert ran.out == golden.read_text(encoding="utf-8"), f"`pytest {UPDATE}` accepts the new output"


@pytest.mark.parametrize("code", known_codes())
def test_every_code_is_explained_in_all_its_parts(code: str, fencepost: CommandLine) -> None:
    ran = fencepost("explain", code)
    page = page_of(code)
    assert ran.out.startswith(f"{code}: {page.title}\n\n")
    for heading in ("Why it matters", "What to do", "Wrong", "Right"):
        assert f"\n{heading}\n\n" in ran.out
    for example in (page.wrong, page.right):
        assert not example.text or f"    {example.text.splitlines()[0]}\n" in ran.out
        assert not example.command or f"    $ {example.command}\n" in ran.out
    assert "](" not in ran.out.partition("\nWrong\n")[0], "links are for the docs"


def test_lower_case_is_the_same_code(fencepost: CommandLine) -> None:
    assert fencepost("explain", "fp207").out == fencepost("explain", "FP207").out


def test_for_programs(fencepost: CommandLine) -> None:
    found = json.loads(fencepost("explain", "FP001", "--json").out)
    assert list(found) == ["code", "title", "meaning", "why", "what_to_do", "wrong", "right"]
    assert (found["code"], found["title"]) == ("FP001", "race")
    assert found["wrong"]["language"] == "fp" and "barrier" not in found["wrong"]["text"]
    assert found["wrong"]["command"] == "fencepost check kernel.fp"
    assert found["wrong"]["output"].startswith("error[FP001]: ")
    assert "\n  barrier\n" in found["right"]["text"] and found["right"]["output"] is None


def test_all_codes_are_listed(fencepost: CommandLine) -> None:
    lines = fencepost("explain", "--codes").out.splitlines()
    assert [line[:5] for line in lines] == list(known_codes())
    assert "FP001  race" in lines
    listed = json.loads(fencepost("explain", "--codes", "--json").out)
    assert [f"{each['code']}  {each['title']}" for each in listed] == lines


@pytest.mark.parametrize(
    ("mistyped", "meant"), [("FP217", "FP207"), ("FP2O7", "FP207"), ("fp01", "FP001"), ("FP1111", "FP111")]
)
def test_an_unknown_code_names_the_nearest(mistyped: str, meant: str, fencepost: CommandLine) -> None:
    ran = fencepost("explain", mistyped)
    assert (ran.code, ran.out) == (2, "")
    assert f"error[FP115]: there is no code {mistyped}\n" in ran.err
    assert f"= help: did you mean {meant}?\n" in ran.err
    assert "`fencepost explain --codes` lists all codes" in ran.err


@pytest.mark.parametrize("code", ["FP999", "FPXYZ", "FP99"])
def test_a_code_that_is_like_none_gets_no_suggestion(code: str, fencepost: CommandLine) -> None:
    ran = fencepost("explain", code)
    assert ran.code == 2 and "did you mean" not in ran.err and "lists all codes" in ran.err


def test_a_file_is_explained_as_before_also_if_it_is_called_like_a_code(
    fencepost: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("clean.fp", "fp207"):
        Path(name).write_text(CLEAN)
        assert f"{name}:4:3: needed" in fencepost("explain", name).out
    assert "<stdin>:4:3: needed" in fencepost("explain", "-", stdin=CLEAN).out
    assert fencepost("explain", "missing.fp").err.startswith("error[FP112]")


@pytest.mark.parametrize("text", ["FP001.fp", "fp", "./FP001", "-", "", "gemm", "FP00001"])
def test_what_is_no_code_is_a_file(text: str) -> None:
    assert not looks_like_a_code(text)


@pytest.mark.parametrize("arguments", [(), ("FP001", "--codes")])
def test_a_file_a_code_or_all_codes(arguments: tuple[str, ...], fencepost: CommandLine) -> None:
    ran = fencepost("explain", *arguments)
    assert ran.code == 2 and "--codes" in ran.err


def test_a_terminal_gets_colour_and_the_same_words(
    fencepost: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = fencepost("explain", "FP001").out

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    assert main(["explain", "FP001"]) == 0
    shown = terminal.getvalue()
    assert "\x1b[" in shown and shown != plain
    for line in filter(str.strip, plain.splitlines()[:1]):
        assert line.partition(": ")[2] in shown


def test_several_codes_at_once(fencepost: CommandLine) -> None:
    both = fencepost("explain", "FP001", "fp207")
    assert both.code == 0
    assert both.out == f"{fencepost('explain', 'FP001').out}\n{fencepost('explain', 'FP207').out}"
    found = json.loads(fencepost("explain", "FP001", "FP207", "--json").out)
    assert [each["code"] for each in found] == ["FP001", "FP207"]
