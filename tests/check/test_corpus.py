"""Small kernels with everything that `check` must say about them, and nothing else.

Each file under `corpus/check` begins with a few words on what it shows, then one `# EXPECT:` line per
finding (or `clean`), worked out by hand from the execution model. A race is named by its hazard and the
source lines of its two operations, a deadlock by its kind and the lines it marks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from fencepost.check import Deadlock, OutOfRange, Race, Report, check
from fencepost.ir import ops
from fencepost.ir.parser import parse

CORPUS = Path(__file__).parents[1] / "corpus" / "check"
FILES = sorted(CORPUS.rglob("*.fp"))
EXPECT = "# EXPECT:"
WAVES = re.compile(r" waves \d+,\d+$")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(CORPUS).as_posix())
def test_check_finds_exactly_what_the_file_expects(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected = expectations(text)
    found = findings(check(parse(text, path.name)), with_waves=set(filter(WAVES.search, expected)))
    assert Counter(found) == Counter(expected), _difference(path, text, expected, found)


def test_no_file_is_left_out() -> None:
    assert set(FILES) == {path for path in CORPUS.rglob("*") if path.is_file()}


@pytest.mark.parametrize("folder", sorted(path.name for path in CORPUS.iterdir()))
def test_every_folder_has_kernels_that_are_wrong_and_some_that_are_not(folder: str) -> None:
    """A checker that reports everything fails as one does that reports nothing."""
    wrong = Counter(
        bool(expectations(path.read_text(encoding="utf-8"))) for path in FILES if path.parent.name == folder
    )
    assert wrong[True] and wrong[False]
    assert wrong.total() == len(list((CORPUS / folder).iterdir()))


def expectations(text: str) -> list[str]:
    """The findings that a file expects; none for a clean kernel."""
    lines = [line.removeprefix(EXPECT).strip() for line in text.splitlines() if line.startswith(EXPECT)]
    assert lines, "no EXPECT line"
    assert "clean" not in lines or lines == ["clean"], "clean, yet findings are expected"
    return [] if lines == ["clean"] else lines


def findings(report: Report, with_waves: Iterable[str] = ()) -> list[str]:
    """What `check` found, as the files spell it; a race names its waves where the file does too."""
    named = {WAVES.sub("", line) for line in with_waves}
    races = [_race(race) for race in report.races]
    return [
        *(line if WAVES.sub("", line) in named else WAVES.sub("", line) for line in races),
        *map(_deadlock, report.deadlocks),
        *map(_out_of_range, report.out_of_range),
    ]


def _race(race: Race) -> str:
    kind = race.kind.replace(" ", "-")
    lines = f"{_line(race.first.op)} -> {_line(race.second.op)}"
    later = " next-iteration" if race.distance else ""
    return f"{kind} {race.hazard} {lines}{later} waves {race.first.wave},{race.second.wave}"


def _deadlock(deadlock: Deadlock) -> str:
    return " ".join(["deadlock", deadlock.kind, *(str(_line(op)) for op, _ in deadlock.ops)])


def _out_of_range(finding: OutOfRange) -> str:
    return f"out-of-range {_line(finding.op)}"


def _line(op: ops.Operation) -> int:
    assert op.span is not None
    return op.span.line


def _difference(path: Path, text: str, expected: list[str], found: list[str]) -> str:
    """Both lists, what only one of them has, and the kernel with its line numbers."""
    missed, extra = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    numbered = (f"{number:4} | {line}" for number, line in enumerate(text.splitlines(), 1))
    return "\n".join(
        [
            f"{path.relative_to(CORPUS)}",
            *(f"  expected, not found: {line}" for line in missed.elements()),
            *(f"  found, not expected: {line}" for line in extra.elements()),
            f"  expected: {', '.join(expected) or 'clean'}",
            f"  found:    {', '.join(found) or 'clean'}",
            *numbered,
        ]
    )
