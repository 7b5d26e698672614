"""The GitHub Action and the pre-commit hooks: they parse, say what they need, and do what they say."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from fencepost.cli import COMMANDS
from tests.conftest import CommandLine

ROOT = Path(__file__).parent.parent
RACY = "kernel @racy waves=4 {\n  shared %a : 64\n  write %a\n  read %a\n}\n"
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("racy.fp").write_text(RACY)


def test_hooks_have_what_pre_commit_asks_for() -> None:
    assert [hook["id"] for hook in HOOKS] == ["fencepost-check", "fencepost-fix", "fencepost-check-cuda"]
    for hook in HOOKS:
        assert {"id", "name", "entry", "language"} <= hook.keys()
        assert hook["language"] == "python"
        program, command, *_ = shlex.split(hook["entry"])
        assert program == "fencepost" and command in COMMANDS
        cuda = hook["id"].endswith("cuda")
        for name in ("a.cu", "k/b.ptx") if cuda else ("a.fp", "k/b.ttgir", "c.ttir", "d.mlir"):
            assert re.search(hook["files"], name)
        assert not re.search(hook["files"], "a.fpx")


def test_the_hook_fails_on_a_racy_file_and_the_other_one_mends_it(fencepost: CommandLine) -> None:
    check, fix = (shlex.split(hook["entry"])[1:] for hook in HOOKS[:2])
    ran = fencepost(*check, "racy.fp")
    assert ran.code == 1 and "error[FP001]" in ran.out
    assert fencepost(*fix, "racy.fp").code == 0
    ran = fencepost(*check, "racy.fp")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_the_action_has_what_github_asks_for() -> None:
    assert {"name", "description", "inputs", "runs"} <= ACTION.keys()
    assert ACTION["runs"]["using"] == "composite"
    for step in ACTION["runs"]["steps"]:
        assert ("uses" in step) != ("run" in step)
        assert "shell" in step or "uses" in step
        # What a user gives goes through the environment: in a script it would be run.
        assert "${{" not in step.get("run", "")
    named = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert named == ACTION["inputs"].keys()
    assert all(each["description"] and "default" in each for each in ACTION["inputs"].values())


def test_the_page_names_inputs_and_hooks_that_exist() -> None:
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    workflow, config = map(
        yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    )
    (step,) = [step for step in workflow["jobs"]["kernels"]["steps"] if "fencepost" in step["uses"]]
    assert step["with"].keys() <= ACTION["inputs"].keys()
    (repo,) = config["repos"]
    assert [hook["id"] for hook in repo["hooks"]] == [hook["id"] for hook in HOOKS]


def of_the_action(step: dict[str, Any], **given: str) -> subprocess.CompletedProcess[str]:
    """What a step of the action does, as GitHub runs it."""
    program = f"fencepost() {{ '{sys.executable}' -m fencepost.cli \"$@\"; }}\n"
    program += f"python() {{ '{sys.executable}' \"$@\"; }}\n{step['run']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", program],
        env={
            **given,
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
            "GITHUB_OUTPUT": "out",
            "SARIF": "x.sarif",
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_script_of_the_action_writes_a_log_and_keeps_the_exit_code() -> None:
    (step,) = [step for step in ACTION["runs"]["steps"] if step.get("id") == "check"]
    assert of_the_action(step, PATHS=". missing.fp", ARGUMENTS="--paths 9 --all").returncode == 0
    assert Path("out").read_text() == "code=2\nlog=true\n"
    (run,) = json.loads(Path("x.sarif").read_text(encoding="utf-8"))["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["FP001"]


def test_the_action_uploads_nothing_where_its_arguments_are_wrong_and_shows_lines_where_it_cannot() -> None:
    """The upload of an empty file fails with a message of its own, and so does any upload from a fork."""
    check, upload, last = ACTION["runs"]["steps"][-3:]
    assert of_the_action(check, PATHS=".", ARGUMENTS="--nonsense").returncode == 0
    assert Path("out").read_text() == "code=2\n" and "steps.check.outputs.log == 'true'" in upload["if"]
    assert of_the_action(last, CODE="2").returncode == 2
    of_the_action(check, PATHS=".", ARGUMENTS="")
    ran = of_the_action(last, CODE="1")
    assert ran.returncode == 1 and "!cancelled()" in last["if"]
    assert re.search(r"^racy.fp:\d+: wave 1 can ", ran.stdout, re.MULTILINE), ran.stdout
