"""`check` against a reference that knows nothing of flows, states or folds, on random kernels."""

from __future__ import annotations

import random

import pytest

from fencepost.check import check
from fencepost.ir.parser import parse
from tests.path_reference import PATHS, Chances, Run, reference
from tests.random_kernels import Shape, random_text
from tests.random_regions import Writer
from tests.tiers import sweep


def disagreement(text: str, paths: int = PATHS) -> str | None:
    """How `check` and the reference differ; None if they agree."""
    trace = parse(text)
    expected, everything = reference(trace, paths)
    report = check(trace)
    found = {
        (race.first.op.span.line, race.second.op.span.line)
        for race in report.races
        if race.first.op.span and race.second.op.span
    }
    if expected and not found:
        return f"not found: {sorted(expected)}"
    if found and not expected and everything:
        return f"found, although there is no race: {sorted(found)} {report.races[0].why}"
    if everything and "..?" not in text and not found <= expected:
        return f"found, although these do not race: {sorted(found - expected)}"
    return None


@pytest.mark.parametrize("chunk", sweep(range(8), first=1))
def test_check_agrees_with_the_reference(chunk: int) -> None:
    for seed in range(chunk * 100, (chunk + 1) * 100):
        text = Writer(seed).kernel()
        problem = disagreement(text)
        assert problem is None, f"seed {seed}: {problem}\n{text}"


def test_long_loops_fold_into_what_they_are() -> None:
    for seed in range(1000, 1150):
        text = Writer(seed, long=True).kernel()
        problem = disagreement(text, 8)
        assert problem is None, f"seed {seed}: {problem}\n{text}"


BLOCKS = Shape(
    arguments=True, slots=True, asynchronous=True, groups=False, handing=True, size=12, waves=(2, 3)
)


@pytest.mark.parametrize("chunk", sweep(range(4), first=1))
def test_blocks_with_arguments_hide_no_race(chunk: int) -> None:
    """Runs of kernels with loops of blocks have no end; whatever some of them show, `check` has to find."""
    racy = 0
    for seed in range(chunk * 50, (chunk + 1) * 50):
        trace = parse(random_text(seed, BLOCKS))
        rng = random.Random(seed)
        found = any(True for _ in range(40) for _ in Run(trace, Chances(rng)).races())
        racy += found
        assert not found or check(trace).races, f"seed {seed}\n{trace}"
    assert racy > 20
