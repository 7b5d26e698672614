"""What commands print with `--json` follows the schemas that are published with the package."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fencepost.kernels import TO_SCHEDULE
from fencepost.schemas import SCHEMA_VERSION, SCHEMAS, schema_text
from tests.conftest import CommandLine
from tests.tiers import sweep

TESTS = Path(__file__).parents[1]
CORPUS = sorted((TESTS / "corpus").rglob("*.fp"))
PARTS = 12
KERNELS = Path(__file__).parents[2] / "fencepost" / "kernels"


def closed(schema: Any) -> Any:
    """A schema that takes no key that it does not name: one that is added to an output has to be added there, too.

    Published, they take more keys: whoever reads outputs by them can read those of later versions.
    """
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    more = {"additionalProperties": False} if "properties" in schema else {}
    return {key: closed(value) for key, value in schema.items()} | more


def entries(command: str, output: str) -> list[dict[str, Any]]:
    """What a command printed, which is valid."""
    found = json.loads(output)
    validator = Draft202012Validator(closed(json.loads(schema_text(command))))
    assert [f"{list(error.path)}: {error.message}"[:500] for error in validator.iter_errors(found)] == []
    # Of `view`, the page is one document.
    found = [found] if isinstance(found, dict) else found
    assert found and all(entry["schema_version"] == SCHEMA_VERSION for entry in found)
    return list(found)


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_schemas_of_this_version(name: str, fencepost: CommandLine) -> None:
    ran = fencepost("schema", name)
    assert ran.code == 0 and ran.out == schema_text(name)
    schema = json.loads(ran.out)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:fencepost:schema:{name}:{SCHEMA_VERSION}"
    assert f'"const": "{SCHEMA_VERSION}"' in ran.out


def test_there_is_a_schema_for_every_command_with_json(fencepost: CommandLine) -> None:
    from fencepost.cli import COMMANDS

    for command in COMMANDS:
        has_json = re.search(r"^ +--json\b", fencepost(command, "--help").out, re.MULTILINE) is not None
        assert has_json == (command in SCHEMAS), command
    ran = fencepost("schema", "sarif")
    assert ran.code == 2 and "invalid choice: 'sarif'" in ran.err


def test_what_a_schema_does_not_know_is_noticed() -> None:
    output = '[{"schema_version": "1.1", "file": "a.fp", "ok": false, "error": {}}]'
    with pytest.raises(AssertionError):
        entries("check", output)


@pytest.mark.parametrize("part", sweep(range(PARTS), first=1))
@pytest.mark.parametrize("command", ["check", "explain", "fix"])
def test_the_corpus_through_commands_that_take_several_files(
    command: str, part: int, fencepost: CommandLine
) -> None:
    files = [str(path) for path in CORPUS[part::PARTS]]
    found = entries(command, fencepost(command, "--json", *files, "missing.fp").out)
    assert list(dict.fromkeys(entry["file"] for entry in found)) == [*files, "missing.fp"]


@pytest.mark.parametrize("part", sweep(range(PARTS), first=1))
@pytest.mark.parametrize("command", ["insert", "prune"])
def test_the_corpus_through_commands_that_take_one_file(
    command: str, part: int, fencepost: CommandLine
) -> None:
    done = 0
    for path in CORPUS[part::PARTS]:
        ran = fencepost(command, "--json", str(path))
        if ran.code == 0:
            entries(command, ran.out)
            done += 1
    assert done > 10


def test_pages_of_kernels_that_are_clean_and_of_those_that_are_not(fencepost: CommandLine) -> None:
    for path in (*CORPUS[::150], KERNELS / "gemm.fp"):
        entries("view", fencepost("view", "--json", str(path)).out)


@pytest.mark.parametrize("command", [each for each in SCHEMAS if each != "demo"])
def test_programs_get_json_whatever_happens(
    command: str, fencepost: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cut.fp").write_text("kernel @k waves=4 {\n", encoding="utf-8")
    for name in ("missing.fp", "cut.fp", "."):
        ran = fencepost(command, "--json", name)
        if command == "audit" and name != "missing.fp":
            entries(command, ran.out)  # what cannot be read is one of the verdicts
            continue
        assert ran.code == 2 and ran.err.startswith("error[FP1")
        (entry,) = entries(command, ran.out)
        assert (entry["ok"], entry["error"]["code"] in ("FP101", "FP112")) == (False, True)
        assert command == "audit" or entry["file"] in (name, "cut.fp")
    if command != "audit":
        ran = fencepost(command, "--json", "--target", "gfx9999", "cut.fp")
        assert ran.code == 2 and all(not entry["ok"] for entry in entries(command, ran.out))


def test_schedules_and_the_demo(fencepost: CommandLine) -> None:
    name = next(iter(TO_SCHEDULE))
    entries("schedule", fencepost("schedule", "--json", str(KERNELS / f"{name}.fp")).out)
    entries("demo", fencepost("demo", "--json").out)


def test_what_is_silenced_follows_the_schema(fencepost: CommandLine) -> None:
    text = """kernel @k waves=4 {
  shared %a : 4
  write %a
  write %a  # fencepost: allow FP001: the same value
  barrier
  write %a  # fencepost: allow FP001
}
"""
    (entry,) = entries("check", fencepost("check", "-", "--json", stdin=text).out)
    assert len(entry["silenced"]) == len(entry["warnings"]) == 1
