"""Every code has a page, and its examples are run: the wrong one gives that code and no other, the right one none."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import fencepost as package
from fencepost.codes import CodePage, Example, known_codes, page_of
from fencepost.codes.index_page import GROUPS, group_of, index_page
from fencepost.codes.page import FILES, read_page
from fencepost.codes.raised_in import modules_by_code
from fencepost.ir.source import FencepostError
from tests.conftest import UPDATE, CommandLine

PACKAGE = Path(package.__file__).parent
PAGES = PACKAGE / "codes" / "pages"
INDEX = PACKAGE.parent / "docs" / "codes.md"
PRINTED = re.compile(r"\b(?:error|warning)\[(FP\d{3})\]")
NOT_RUN = {
    "FP114": "needs an environment without the language server's packages",
    "FP404": "needs an environment without Triton; tests/hosts/triton/test_versions.py",
    "FP405": "needs another release of Triton; tests/hosts/triton/test_versions.py",
    "FP413": "a pass of Triton that fails; `check` then judges the module as it stands",
    "FP420": "needs an environment without Wave; tests/hosts/wave/test_versions.py",
    "FP421": "needs another release of Wave; tests/hosts/wave/test_versions.py",
    "FP422": "needs a trace of Wave; tests/hosts/wave/test_audit.py",
    "FP424": "an error inside of fencepost; tests/hosts/wave/test_audit.py",
    "FP430": "needs an environment without NVRTC; tests/hosts/ptx/compiler/test_nvrtc.py",
    "FP426": "needs a trace of Wave; tests/hosts/wave/test_seeds.py",
}
"""Codes whose examples are only shown, and why."""


def codes_in_the_package() -> set[str]:
    """Every code that a file of the package names, pages left out."""
    found: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        found |= set(re.findall(r"\bFP\d{3}\b", path.read_text(encoding="utf-8")))
    return found


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert set(known_codes()) == codes_in_the_package()


@pytest.mark.parametrize("code", known_codes())
def test_a_page_says_everything(code: str) -> None:
    page = page_of(code)
    assert page.code == code
    for text in (page.title, page.meaning, page.why, page.what_to_do):
        assert text.strip()
    assert not page.title.endswith(".") and "\n" not in page.title
    for text in (page.meaning, page.why, page.what_to_do):
        assert text.endswith((".", ".)")), text
        assert all(len(line) <= 118 for line in text.splitlines())
    assert page.wrong != page.right
    assert not (page.right.output and PRINTED.search(page.right.output))


def test_examples_that_are_not_run_are_those_that_cannot_be() -> None:
    texts = {
        code
        for code in known_codes()
        if "text" in (page_of(code).wrong.language, page_of(code).right.language)
    }
    assert texts == set(NOT_RUN)


def printed_by(example: Example, fencepost: CommandLine) -> tuple[int, str]:
    """What an example prints, run in an empty folder."""
    name = FILES.get(example.language)
    if name is not None:
        Path(name).write_text(example.text, encoding="utf-8")
    program, *arguments = shlex.split(example.command)
    assert program == "fencepost"
    ran = fencepost(*arguments)
    return ran.code, ran.out + ran.err


def raised_by(example: Example) -> set[str]:
    """The code that a piece of Python is refused with."""
    try:
        exec(compile(example.text, "example.py", "exec"), {})
    except FencepostError as error:
        return {error.code}
    return set()


@pytest.mark.parametrize("code", [code for code in known_codes() if code not in NOT_RUN])
def test_the_wrong_example_gives_its_code_and_the_right_one_does_not(
    code: str, fencepost: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, update_golden: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    page = page_of(code)
    if page.wrong.language == "python":
        assert raised_by(page.wrong) == {code}
        assert raised_by(page.right) == set()
        return
    exit_code, said = printed_by(page.wrong, fencepost)
    assert set(PRINTED.findall(said)) == {code}, said
    assert (exit_code == 0) == code.startswith("FP3")
    if update_golden:
        page = with_output(page, diagnostics_in(said))
    assert page.wrong.output and page.wrong.output in said, (
        f"{said}\n`pytest {UPDATE}` accepts the new output"
    )
    exit_code, said = printed_by(page.right, fencepost)
    assert exit_code == 0 and code not in PRINTED.findall(said), said
    assert page.right.output in said


def diagnostics_in(said: str) -> str:
    """The messages without the verdict behind them."""
    first = re.search(r"^(?:error|warning)\[", said, flags=re.MULTILINE)
    if first is None:
        return said
    lines = said[first.start() :].splitlines()
    end = next((number for number, line in enumerate(lines) if not line), len(lines))
    return "\n".join(lines[:end]) + "\n"


def with_output(page: CodePage, output: str) -> CodePage:
    """Write what the wrong example prints into the page."""
    command = f"```console\n$ {page.wrong.command}\n"
    text = page.markdown.replace(command + page.wrong.output, command + output, 1)
    (PAGES / f"{page.code}.md").write_text(text, encoding="utf-8")
    return read_page(text)


def test_the_index_is_made_from_the_pages() -> None:
    assert INDEX.read_text(encoding="utf-8") == index_page(), "`make codes` writes it anew"


def test_the_index_names_the_modules_that_raise_a_code() -> None:
    modules = modules_by_code()
    assert modules.keys() == set(known_codes())
    assert modules["FP205"] == ["passes/insert_refusals.py"]
    assert modules["FP302"] == ["report/allow_comments.py"]
    assert modules["FP002"].count("report/findings.py") == 1


def test_every_code_is_in_a_group() -> None:
    assert {group_of(code) for code in known_codes()} == set(GROUPS)


@pytest.mark.parametrize(
    "text", ["", "FP001: no mark\n", "# FP001: title\n\nmeaning\n", "# FP1: short\n\n## Why it matters\n"]
)
def test_a_page_without_its_parts_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a page begins with"):
        read_page(text)


def test_an_example_without_anything_to_show_is_refused() -> None:
    page = page_of("FP001").markdown
    with pytest.raises(ValueError, match="an example has a file, a command, or both"):
        read_page(page[: page.index("## Right")] + "## Right\n\nnothing\n")
