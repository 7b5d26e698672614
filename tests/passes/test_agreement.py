"""`insert` and `check` judge alike: what is clean gets nothing, what is racy gets what makes it clean."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.check import check
from fencepost.ir.parser import parse
from fencepost.ir.source import FencepostError
from fencepost.passes.insert import insert_barriers
from tests.check.test_corpus import CORPUS, expectations

EXACT = ("parameters", "ranges", "uses", "one_wave")
"""Folders of the corpus in which the analysis is as exact as `check`."""
FILES = sorted(
    path
    for folder in EXACT
    for path in (CORPUS / folder).glob("*.fp")
    # What lies outside of its buffer meets anything as far as `insert` is concerned.
    if not any(line.startswith("out-of-range") for line in expectations(path.read_text(encoding="utf-8")))
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(CORPUS).as_posix())
def test_insert_adds_what_check_misses_and_nothing_else(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected = expectations(text)
    kernel = parse(text, path.name)
    if any(line.startswith("deadlock") for line in expected):
        with pytest.raises(FencepostError):
            insert_barriers(kernel)
        return
    done = insert_barriers(kernel)
    added = [*done.barriers, *done.upgraded, *done.fenced]
    assert bool(added) == any(line.startswith("race") for line in expected), str(kernel)
    assert not check(kernel).races
