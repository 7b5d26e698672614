"""Copies by different waves: what `insert` puts between those of `corpus/check/issuers` that have no order."""

from __future__ import annotations

from pathlib import Path

import pytest

import fencepost as fp
from fencepost.placement import STRATEGIES

CORPUS = Path(__file__).parents[1] / "corpus" / "check" / "issuers"
WITHOUT_OBJECTS = sorted(path for path in CORPUS.glob("*.fp") if "mbarrier" not in path.read_text())


PLACED = [
    pytest.param(path, strategy, id=f"{path.stem}-{strategy}")
    for path in WITHOUT_OBJECTS
    for strategy in STRATEGIES
    # Barriers are not split where waves are skewed.
    if strategy != "intersect" or not path.stem.startswith("shifted")
]


@pytest.mark.parametrize(("path", "strategy"), PLACED)
def test_a_wait_and_a_barrier_where_there_is_no_order_and_nothing_elsewhere(
    path: Path, strategy: str
) -> None:
    text = path.read_text(encoding="utf-8")
    trace = fp.parse(text)
    before = str(trace)
    fp.insert_barriers(trace, strategy=strategy, waits=True)
    assert fp.check(trace).ok
    assert (str(trace) == before) is ("EXPECT: clean" in text)


@pytest.mark.parametrize("path", WITHOUT_OBJECTS, ids=lambda path: path.stem)
def test_prune_keeps_the_barrier_between_copies_of_different_waves(path: Path) -> None:
    trace = fp.parse(path.read_text(encoding="utf-8"))
    fp.insert_barriers(trace, waits=True)
    fp.prune_barriers(trace)
    assert fp.check(trace).ok
