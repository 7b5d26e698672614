"""Small kernels with the expected output beside them, in the manner of LLVM's lit.

A file under `filecheck/` begins with a line on what it shows. Each `# RUN:` line (`// RUN:` in a Triton module) is a
command, `%s` the file itself; what it prints must match the file's `# CHECK` lines. A RUN line may go on as a
pipeline, of which the last command can be `filecheck %s --check-prefix=...`; without that, the prefix is CHECK.
`2>&1` behind a command takes its messages in. A `# EXIT: n` line below a RUN line is the exit code that it ends in.
"""

from __future__ import annotations

import io
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options, parse_argv_options
from filecheck.parser import Parser, pattern_for_opts

from tests.conftest import CommandLine, Ran

FOLDER = Path(__file__).parent / "filecheck"
FILES = sorted([*FOLDER.rglob("*.fp"), *FOLDER.rglob("*.ttgir")])
DIRECTIVE = re.compile(r"(?:#|//) (RUN|EXIT): *(.*)")
PREFIX = re.compile(r"^(?:#|//) ([A-Z]+)(?:-(?:NEXT|NOT|SAME|DAG|EMPTY|LABEL|COUNT-\d+))?:", re.MULTILINE)
COMMENTS = {".fp": re.compile(r"^#.*$", re.MULTILINE), ".ttgir": re.compile(r"^//.*$", re.MULTILINE)}


@dataclass(frozen=True)
class Stage:
    """One call of fencepost in a pipeline."""

    arguments: tuple[str, ...]
    with_messages: bool = False


@dataclass(frozen=True)
class Run:
    """One RUN line: the calls, the arguments of filecheck, and the exit code of the last call."""

    stages: tuple[Stage, ...]
    filecheck: tuple[str, ...]
    exit: int = 0


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_output_is_as_the_file_says(
    path: Path, fencepost: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = path.read_text(encoding="utf-8")
    # Commands keep the comments of a file, expectations included, which would then match themselves.
    bare = COMMENTS[path.suffix].sub("", text)
    (tmp_path / path.name).write_text(bare, encoding="utf-8")
    for run in runs(text, path.name):
        # Messages then name the file the way a user in its folder would.
        monkeypatch.chdir(tmp_path)
        ran = execute(run, fencepost)
        monkeypatch.chdir(path.parent)
        assert ran.code == run.exit, f"exit code {ran.code}, not {run.exit}\n{ran.out}{ran.err}"
        complaint = mismatch(run.filecheck, ran.out)
        assert not complaint, f"{complaint}\n{ran.out}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_every_line_of_the_file_counts(path: Path) -> None:
    """A comment on top, at least one RUN line, and no CHECK line whose prefix nobody asks for."""
    text = path.read_text(encoding="utf-8")
    assert re.match(r"(?:#|//) (?!RUN:|EXIT:|[A-Z]+(-[A-Z]+)?:)\w", text), (
        "the first line says what the file shows"
    )
    asked = {"RUN", "EXIT"}
    for run in runs(text, path.name):
        asked.update(parse_argv_options(["filecheck", *run.filecheck]).check_prefixes)
    assert set(PREFIX.findall(text)) <= asked


def test_no_file_is_left_out() -> None:
    """Whatever lies in the folder is a test, and every command has some."""
    assert set(FILES) == {path for path in FOLDER.rglob("*") if path.is_file()}
    called = {stage.arguments[0] for path in FILES for run in runs_of(path) for stage in run.stages}
    assert called >= {"insert", "check", "prune", "explain", "schedule"}
    modules = {
        run.stages[0].arguments[0] for path in FILES if path.suffix == ".ttgir" for run in runs_of(path)
    }
    assert modules == {"insert", "check", "prune", "explain"}


def test_a_wrong_expectation_fails(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.fp"
    wrong.write_text("# CHECK: write %a\n# CHECK-NEXT: barrier\n", encoding="utf-8")
    assert mismatch((str(wrong),), "write %a\nbarrier\n") == ""
    assert "barrier" in mismatch((str(wrong),), "write %a\nread %a\n")


def test_pipelines_and_exit_codes_are_read() -> None:
    text = "# RUN: fencepost insert %s 2>&1 | fencepost check - | filecheck %s --check-prefix=X\n# EXIT: 1\n"
    stages = (Stage(("insert", "a.fp"), with_messages=True), Stage(("check", "-")))
    assert runs(text, "a.fp") == [Run(stages, ("a.fp", "--check-prefix=X"), 1)]


def runs_of(path: Path) -> list[Run]:
    """The RUN lines of a file."""
    return runs(path.read_text(encoding="utf-8"), path.name)


def runs(text: str, name: str) -> list[Run]:
    """The RUN lines of a file called `name`."""
    found: list[Run] = []
    for line in text.splitlines():
        match = DIRECTIVE.fullmatch(line)
        if match and match[1] == "RUN":
            found.append(_run(match[2].replace("%s", name), name))
        elif match:
            found[-1] = replace(found[-1], exit=int(match[2]))
    assert found, "no RUN line"
    return found


def _run(command: str, name: str) -> Run:
    stages: list[Stage] = []
    filecheck: tuple[str, ...] = (name,)
    for part in command.split("|"):
        program, *arguments = shlex.split(part)
        if program == "filecheck":
            filecheck = tuple(arguments)
            continue
        assert program == "fencepost", f"RUN lines call fencepost and filecheck, not {program}"
        messages = "2>&1" in arguments
        stages.append(Stage(tuple(word for word in arguments if word != "2>&1"), messages))
    return Run(tuple(stages), filecheck)


def execute(run: Run, fencepost: CommandLine) -> Ran:
    """Feed each call what the one before it printed; the result is that of the last."""
    ran = Ran(0, "", "")
    for stage in run.stages:
        ran = fencepost(*stage.arguments, stdin=ran.out)
        if stage.with_messages:
            ran = Ran(ran.code, ran.out + ran.err, "")
    return ran


def mismatch(arguments: tuple[str, ...], output: str) -> str:
    """What filecheck has to say against `output`; empty if it matches."""
    options = parse_argv_options(["filecheck", *arguments])
    matcher = Matcher(options, FInput("<output>", output), _parser(options))
    matcher.stderr = complaint = io.StringIO()
    code = matcher.run()
    return "" if code == 0 else complaint.getvalue() or f"filecheck ends in {code}"


def _parser(options: Options) -> Parser:
    text = Path(options.match_filename).read_text(encoding="utf-8")
    return Parser(options, io.StringIO(text), *pattern_for_opts(options))
