"""`check --format`: SARIF, annotations of GitHub, and what they share: places, fingerprints, fixes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fencepost.codes import page_of
from fencepost.ir.source import Span
from fencepost.ir.text_changes import TextChange, changed_text
from fencepost.report.findings import CODES
from fencepost.report.rule_texts import NAMES
from tests.commands.kernels import LONG, RACY
from tests.conftest import CommandLine
from tests.sarif_subset import sarif_mistakes
from tests.tiers import sweep

CORPUS = sorted((Path(__file__).parents[1] / "corpus" / "check").rglob("*.fp"))
PARTS = 12
RING = """kernel @ring waves=4 {
  shared %full : 8
  shared %a : 1024
  mbarrier_init %full count=1
  barrier
  if wave == 0 {
    mbarrier_expect %full bytes=1024
    tensor_load_to_lds %a arrives %full bytes=1024
  }
  mbarrier_wait %full phase=1  # the wrong parity
  read %a
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sarif(fencepost: CommandLine, *arguments: str, stdin: str = "") -> dict[str, Any]:
    """The run of a log, which is valid."""
    log = json.loads(fencepost("check", "--format", "sarif", *arguments, stdin=stdin).out)
    assert sarif_mistakes(log) == []
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def fixed(text: str, result: dict[str, Any]) -> str:
    """A text with the fix of a result made, as an editor would."""
    ((change,),) = [fix["artifactChanges"] for fix in result["fixes"]]
    changes = []
    for replacement in change["replacements"]:
        region = replacement["deletedRegion"]
        span = Span(*(region[key] for key in ("startLine", "startColumn", "endLine", "endColumn")))
        changes.append(TextChange(span, replacement.get("insertedContent", {"text": ""})["text"]))
    return changed_text(text, changes)


# ---------------------------------------------------------------- SARIF


def test_a_race_with_both_its_places_its_path_and_its_fix(fencepost: CommandLine) -> None:
    Path("racy.fp").write_text(RACY)
    (result,) = sarif(fencepost, "racy.fp")["results"]
    assert result["ruleId"] == "FP001"
    assert result["message"]["text"].startswith("wave 1 can read %a before wave 0 has written it\n")
    (location,) = result["locations"]
    region = {"startLine": 4, "startColumn": 3, "endLine": 4, "endColumn": 10}
    assert location["physicalLocation"] == {"artifactLocation": {"uri": "racy.fp"}, "region": region}
    assert location["logicalLocations"] == [{"name": "racy", "kind": "function"}]
    (other,) = result["relatedLocations"]
    assert other["physicalLocation"]["region"]["startLine"] == 3
    assert other["message"]["text"] == "wave 0 writes bytes 0..64"
    ((thread,),) = [flow["threadFlows"] for flow in result["codeFlows"]]
    steps = [step["location"]["physicalLocation"]["region"]["startLine"] for step in thread["locations"]]
    assert steps == [3, 4]
    assert fixed(RACY, result) == RACY.replace("  read", "  barrier\n  read")


def test_every_rule_has_a_title_and_help(fencepost: CommandLine) -> None:
    driver = sarif(fencepost, "-", stdin=RACY)["tool"]["driver"]
    assert [rule["id"] for rule in driver["rules"]] == [f"FP{number:03}" for number in range(1, 11)]
    for rule in driver["rules"]:
        page = page_of(rule["id"])
        assert rule["shortDescription"]["text"].casefold() == page.title.casefold()
        assert rule["fullDescription"]["text"].split() == page.meaning.split()
        assert rule["help"]["text"] and "](" not in rule["help"]["text"] and rule["name"].isalpha()


def test_there_is_a_rule_for_every_code_that_check_reports() -> None:
    # FP008 is about fences, FP009 about blocks of a cluster, FP010 about tensor memory: CUDA and PTX alone have them.
    assert set(NAMES) == {*CODES.values(), "FP008", "FP009", "FP010"}


def test_a_wrong_phase_is_shown_at_the_wait_and_its_comment_survives_the_fix(fencepost: CommandLine) -> None:
    (result,) = sarif(fencepost, "-", stdin=RING)["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 10
    assert fixed(RING, result) == RING.replace("phase=1", "phase=0")


def test_all_shows_every_finding_by_itself(fencepost: CommandLine) -> None:
    assert len(sarif(fencepost, "-", stdin=RING)["results"]) == 1
    assert len(sarif(fencepost, "--all", "-", stdin=RING)["results"]) == 2


def test_fingerprints_survive_lines_that_come_and_go(fencepost: CommandLine) -> None:
    def fingerprints(text: str) -> list[str]:
        results = sarif(fencepost, "--all", "-", stdin=text)["results"]
        return [result["partialFingerprints"]["fencepost/v1"] for result in results]

    twice = RACY.replace("}\n", "  barrier\n  write %a\n  read %a\n}\n")
    known = fingerprints(twice)
    assert len(set(known)) == len(known) == 2  # alike, and yet two
    assert fingerprints(f"# above\n\n{twice.replace('  write', '     write')}") == known
    assert fingerprints(twice.replace("@racy", "@other")) != known
    assert fingerprints(twice.replace("%a", "%b")) != known


def test_names_of_files_are_uris_from_the_current_folder_on(fencepost: CommandLine, folder: Path) -> None:
    name = "a folder/ré%20.fp"
    Path("a folder").mkdir()
    Path(name).write_text(RACY)
    for given in (name, str(folder / name)):
        (result,) = sarif(fencepost, given)["results"]
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri == "a%20folder/r%C3%A9%2520.fp"
    elsewhere = folder.parent / "elsewhere.fp"
    elsewhere.write_text(RACY)
    (result,) = sarif(fencepost, str(elsewhere))["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == elsewhere.as_uri()


def test_a_log_tells_which_files_could_not_be_judged_and_what_is_not_proven(fencepost: CommandLine) -> None:
    Path("broken.fp").write_text("kernel {")
    Path("clean.fp").write_text(LONG)
    run = sarif(fencepost, "broken.fp", "missing.fp")
    assert run["results"] == []
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    broken, missing = invocation["toolExecutionNotifications"]
    assert broken["descriptor"]["id"] == "FP101"
    assert broken["locations"][0]["physicalLocation"]["region"]["startColumn"] == 8
    assert missing["message"]["text"] == "cannot read missing.fp: No such file or directory"
    assert missing["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "missing.fp"
    (invocation,) = sarif(fencepost, "--budget", "1", "clean.fp")["invocations"]
    assert invocation["executionSuccessful"] is True
    (unproven,) = invocation["toolExecutionNotifications"]
    assert unproven["level"] == "warning" and "not a proof" in unproven["message"]["text"]
    (invocation,) = sarif(fencepost, "clean.fp")["invocations"]
    assert invocation == {"executionSuccessful": True, "toolExecutionNotifications": []}


@pytest.mark.parametrize("part", sweep(range(PARTS), first=1))
def test_logs_of_the_corpus_are_valid_and_most_findings_have_a_fix(part: int, fencepost: CommandLine) -> None:
    results = sarif(fencepost, *map(str, CORPUS[part::PARTS]))["results"]
    with_fix = [result for result in results if "fixes" in result]
    assert len(with_fix) > len(results) // 2


def test_the_exit_code_is_the_same_in_every_format(fencepost: CommandLine) -> None:
    Path("clean.fp").write_text(LONG)
    Path("racy.fp").write_text(RACY)
    for form in ("text", "json", "sarif", "github"):
        assert fencepost("check", "--format", form, "clean.fp").code == 0
        assert fencepost("check", "--format", form, "clean.fp", "racy.fp").code == 1
        assert fencepost("check", "--format", form, "racy.fp", "missing.fp").code == 2
        assert fencepost("check", "--format", form, "--require-proof", "--budget", "1", "clean.fp").code == 1
    assert fencepost("check", "--format", "xml", "clean.fp").code == 2


def test_json_is_a_format_and_the_flag_stays(fencepost: CommandLine) -> None:
    Path("racy.fp").write_text(RACY)
    assert (
        fencepost("check", "--json", "racy.fp").out == fencepost("check", "--format", "json", "racy.fp").out
    )


# ---------------------------------------------------------------- GitHub


def test_an_annotation_names_file_line_and_title(fencepost: CommandLine) -> None:
    Path("racy.fp").write_text(RACY)
    annotation, verdict = fencepost("check", "--format", "github", "racy.fp").out.splitlines()
    assert annotation == (
        "::error file=racy.fp,line=4,endLine=4,col=3,endColumn=10,"
        "title=FP001 wave 1 can read %25a before wave 0 has written it::"
        "wave 1 can read %25a before wave 0 has written it%0A"
        "racy.fp:3: wave 0 writes bytes 0..64%0Awave 1 reads bytes 0..64%0A"
        "why: no barrier lies between them on the path 3 → 4%0Afix: a barrier before line 4"
    )
    assert verdict.startswith("racy.fp: @racy: 1 race")


def test_what_github_would_read_as_its_own_is_escaped(fencepost: CommandLine) -> None:
    name = "a,b:c%0A.fp"
    Path(name).write_text(RACY)
    annotation = fencepost("check", "--format", "github", name).out.splitlines()[0]
    assert annotation.startswith("::error file=a%2Cb%3Ac%250A.fp,line=4,")
    assert annotation.count("::") == 2


def test_a_file_that_cannot_be_judged_is_annotated_where_it_fails(fencepost: CommandLine) -> None:
    Path("broken.fp").write_text("kernel {")
    out = fencepost("check", "--format", "github", "broken.fp", "missing.fp").out
    broken, missing, summary = out.splitlines()
    assert broken.startswith("::error file=broken.fp,line=1,endLine=1,col=8,endColumn=9,title=FP101 ")
    assert missing.startswith("::error file=missing.fp,title=FP112 ")
    assert summary == "2 files, 0 kernels: 2 files could not be judged"


def test_what_is_not_proven_is_a_warning_unless_a_proof_is_required(fencepost: CommandLine) -> None:
    Path("clean.fp").write_text(LONG)
    arguments = ("check", "--format", "github", "--budget", "1", "clean.fp")
    assert fencepost(*arguments).out.startswith("::warning file=clean.fp,title=@long%3A nothing found")
    assert fencepost(*arguments, "--require-proof").out.startswith("::error file=clean.fp,title=")
