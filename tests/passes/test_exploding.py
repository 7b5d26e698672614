"""Kernels made to explode are answered, and an answer that leaves something out says so.

What takes long is measured by `bench/explode.py`; here sizes are such that a budget is met all the same.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fencepost.analysis.isl_overlap import Solver
from fencepost.check import check
from fencepost.cli import main
from fencepost.ir.parser import parse
from fencepost.passes.explain import explain_barriers
from fencepost.passes.insert import insert_barriers
from tests import exploding_kernels as exploding
from tests.tiers import sweep

EXPLAINING = sys.modules["fencepost.passes.explain"]

CHECKING = sys.modules["fencepost.check"]
BIG = str(exploding.BIG)
SHIFTED = exploding.kernel(
    [
        "if wave >= 2 {",
        "  workgroup_barrier",
        "}",
        *exploding.nest(9, BIG, ["write %a", "barrier", "read %a"]),
        "if wave < 2 {",
        "  workgroup_barrier",
        "}",
    ]
)


COSTLY = {
    "huge": exploding.deep_loops(9, BIG),
    "phase-shifted": SHIFTED,
    "deep": exploding.deep_loops(76, "100"),
    "deeper": exploding.deep_loops(200, "?"),
}
WITH_COSTS = ("insert", "insert --strategy optimal", "explain", "prune")


@pytest.mark.parametrize(
    ("name", "command"),
    sweep(
        [(name, command) for name in COSTLY for command in WITH_COSTS],
        first=len(WITH_COSTS),
        chosen=[("phase-shifted", "insert")],
    ),
)
def test_costs_that_no_float_holds_are_numbers_in_json(
    name: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    file = tmp_path / "k.fp"
    file.write_text(COSTLY[name])
    assert main([*command.split(), str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out, parse_constant=refuse)


def limits_of(text: str) -> tuple[str, ...]:
    """What `insert` says it did not distinguish; `check` finds nothing in the result."""
    kernel = parse(text)
    limits = insert_barriers(kernel).limits
    assert check(kernel).ok
    return limits


@pytest.mark.parametrize(
    ("name", "text"),
    {
        "tiles that move on with two loops": exploding.affine_tiles(1, 20),
        "tiles, each another": exploding.affine_variants(2, 2),
        "rings of sums": exploding.rings_of_sums(2, 8, "?"),
        "numbers chosen one by one": exploding.independent_choices(8),
        "counters of coprime rings": exploding.coprime_counters([2, 3, 5]),
    }.items(),
)
def test_numbers_that_are_not_followed_are_named(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.analysis.block_instances.MOST_INSTANCES", 16)
    limits = limits_of(text)
    assert any("not followed" in limit for limit in limits), name


def test_questions_beyond_the_budget_count_as_overlapping(monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is the same whatever was asked before: what an answer costs is kept with it."""
    text = exploding.affine_variants(4, 2).replace("61", "99")
    exact = insert_barriers(parse(text))
    monkeypatch.setattr("fencepost.analysis.isl_overlap.Solver.__init__", with_budget(3))
    coarse, again = parse(text), parse(text)
    limits, later = insert_barriers(coarse).limits, insert_barriers(again).limits
    assert any("count as overlapping" in limit for limit in limits)
    assert limits == later and str(coarse) == str(again)
    assert check(coarse).ok and exact.limits != limits


def with_budget(questions: int) -> Callable[..., None]:
    """A solver that can be asked so much."""
    original = Solver.__init__

    def init(self: Solver, waves: int) -> None:
        original(self, waves, left=questions)

    return init


def test_byte_ranges_beyond_the_budget_are_told_apart_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.analysis.classify_accesses.MOST_PAIRS", 100)
    assert any("steps of" in limit for limit in limits_of(exploding.straight_subranges(60)))
    assert any("byte ranges" in limit for limit in limits_of(exploding.many_buffers(40)))


def test_the_limits_are_told_in_text_and_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.analysis.block_instances.MOST_INSTANCES", 16)
    file = tmp_path / "k.fp"
    file.write_text(exploding.independent_choices(8))
    for command in ("insert", "prune", "explain"):
        assert main([command, str(file)]) == 0
        assert "not exact: numbers with too many values" in "".join(capsys.readouterr())
        assert main([command, str(file), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)[0]["limits"]


@pytest.mark.parametrize(
    "text",
    [
        exploding.affine_variants(4, 3),
        exploding.rings_of_sums(4, 8, "?"),
        exploding.mbarrier_nest(4, 16),
        exploding.phase_shifted("?", 6, 16),
        exploding.divergent_row(20, 16),
    ],
    ids=["tiles", "ring", "mbarrier", "phase-shifted", "divergent"],
)
def test_check_that_stops_early_is_no_proof_and_says_so(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKING, "WORK", 0)
    report = check(parse(text), budget=1)
    assert not report.explored.complete
    assert any("stopped after" in limit for limit in report.explored.limits)
    assert not report.deadlocks, "who has not been run to its end is not stuck"


def test_every_access_has_its_turn_before_the_budget_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The race is in the last line, and every line before it has thousands of iterations to be followed from."""
    lines = [f"read %a[%i0 * 64 + %i1 + {n}..%i0 * 64 + %i1 + {n + 1}]" for n in range(8)]
    lines += ["write %b", "read %b"]
    text = exploding.kernel(exploding.nest(2, "64", lines), buffers=["%a : 65536", "%b : 64"])
    monkeypatch.setattr(CHECKING, "WORK", 3)
    report = check(parse(text))
    assert report.races and not report.explored.complete


@pytest.mark.parametrize("command", sweep(["insert", "check", "prune", "explain"], first=2))
def test_calls_that_expand_without_end_are_refused_at_once(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "k.fp"
    file.write_text(exploding.doubling_calls(40))
    assert main([command, str(file)]) == 2
    assert "FP108" in capsys.readouterr().err


def test_races_beyond_the_first_thousand_are_left_out_and_that_is_said() -> None:
    report = check(parse(exploding.wide_conditionals(80)))
    assert len(report.races) == 1000
    assert "only the first 1000 races" in report.explored.limits


def test_copies_in_a_row_are_waited_for_in_one_way_if_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, words in (
        ("MOST_VARIED", "one way to wait"),
        ("MOST_RELAXED", "not made as short as possible"),
    ):
        monkeypatch.setattr(f"fencepost.placement.wait_counts.{limit}", 100)
        assert any(words in each for each in limits_of(exploding.straight_copies(200)))


# ---------------------------------------------------------------- explain


def explained(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What `explain` prints."""
    file = tmp_path / "k.fp"
    file.write_text(text)
    assert main(["explain", str(file)]) == 0
    return "".join(capsys.readouterr())


def test_hazards_beyond_the_budget_are_not_listed_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """2^200 paths, and every write meets every read."""
    text = exploding.wide_conditionals(200)
    found = explain_barriers(parse(text))
    assert found.more and len(found.uncovered) == EXPLAINING.MOST_UNCOVERED
    said = explained(text, tmp_path, capsys)
    assert "not exact: too many hazards that no barrier covers: only the first are listed" in said
    assert "more than 5000 hazards of @k that no barrier covers" in said


def test_where_all_hazards_are_listed_nothing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = explained(exploding.wide_conditionals(20), tmp_path, capsys)
    assert "not exact" not in said and "more than" not in said


def test_steps_beyond_the_budget_end_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EXPLAINING, "MOST_STEPS", 500)
    found = explain_barriers(parse(exploding.wide_conditionals(20)))
    assert found.more and 0 < len(found.uncovered) < 100


def test_accesses_in_loops_are_compared_as_far_as_the_budget_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    text = exploding.coprime_rings([3, 5, 7], "?")
    whole = explain_barriers(parse(text))
    assert len(whole.apart) == 3 and not whole.limits
    monkeypatch.setattr(EXPLAINING, "MOST_COMPARED", 100)
    part = explain_barriers(parse(text))
    assert 0 < len(part.apart) < 3
    assert "too many accesses in loops: not all of them were compared for different slots" in part.limits


# ---------------------------------------------------------------- parameters


def test_a_parameter_with_a_period_beyond_all_lists_is_not_followed() -> None:
    """Remainders by 2 to 25: the kernel repeats after 26,771,144,400 values."""
    report = check(parse(exploding.correlated_conditions(24)))
    assert not report.ok


# ---------------------------------------------------------------- schedule


def test_a_kernel_without_a_loop_to_schedule_is_not_copied(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "k.fp"
    file.write_text(exploding.straight_copies(100))
    monkeypatch.setattr("fencepost.passes.schedule.parse", None)
    assert main(["schedule", str(file), "-o", "/dev/null"]) == 0
    assert "no strategy fits" in "".join(capsys.readouterr())


# ---------------------------------------------------------------- mbarriers


def test_insert_asks_check_once_what_mbarriers_order(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def counted(trace: object) -> object:
        asked.append(trace)
        return check(trace)  # type: ignore[arg-type]

    # The package: the attribute of that name is the function of the public API.
    monkeypatch.setattr(sys.modules["fencepost.check"], "check", counted)
    kernel = parse(exploding.ring_in_nests(2, 3, 3))
    assert insert_barriers(kernel).barriers == ()
    assert len(asked) == 1


def test_comparisons_beyond_the_budget_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls in loops: each pair of accesses is a question for each loop around them."""
    text = exploding.calls_loops_and_copies(3, 2)
    assert limits_of(text) == ()
    monkeypatch.setattr("fencepost.analysis.classify_accesses.MOST_COMPARED", 5)
    assert any("are distinguished" in limit for limit in limits_of(text))
