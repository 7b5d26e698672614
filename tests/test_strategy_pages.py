"""The pages of the strategies: one for each, pictures as they would be drawn now, and what the pages claim."""

from __future__ import annotations

import re

import pytest

import fencepost as fp
from fencepost.analysis.build_program import read_program
from fencepost.analysis.pending import conflicts_left
from fencepost.placement import STRATEGIES, cost, strategy_named, summaries
from fencepost.placement.wait_counts import choose
from scripts.strategy_pictures import DOCS, PICTURES, Picture, draw
from tests.random_kernels import Shape, random_kernel
from tests.test_pages import blocks

OVERVIEW = (DOCS / "strategies.md").read_text(encoding="utf-8")
PAGES = {name: f"strategy-{name}.md" for name in summaries()}
LOOPS_AND_BRANCHES = Shape(slots=True, handing=True, functions=True)


def rows(first: str) -> list[list[str]]:
    """The rows of a table of the overview, by how its head begins."""
    lines = OVERVIEW.splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith(f"| {first} "))
    found = []
    for line in [lines[head], *lines[head + 2 :]]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def test_every_strategy_has_a_page_and_a_row() -> None:
    assert sorted(page.name for page in DOCS.glob("strategy-*.md")) == sorted(PAGES.values())
    assert sorted(row[0] for row in rows("strategy")[1:]) == sorted(
        f"[`{name}`]({page})" for name, page in PAGES.items()
    )


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_a_strategy_does_and_guarantees(name: str) -> None:
    text = (DOCS / PAGES[name]).read_text(encoding="utf-8")
    assert text.startswith(f"# `{name}`: ") and "\n**The idea.** " in text
    assert {"## The algorithm", "## What it guarantees"} <= set(text.splitlines())
    for path in re.findall(r"`((?:placement|analysis|emit|tests)/[\w/]+\.py)`", text):
        root = DOCS.parent if path.startswith("tests/") else DOCS.parent / "fencepost"
        assert (root / path).exists(), path


def test_the_table_of_traits_is_that_of_the_code() -> None:
    head, *told = rows("name")
    assert head == ["name", "`improves`", "`keeps_positions`", "`splits`"]
    words = {True: "yes", False: "no"}
    traits = [strategy_named(name) for name in PAGES]
    assert sorted(told) == sorted(
        [f"`{each.name}`", words[each.improves], words[each.keeps_positions], each.splits.value]
        for each in traits
    )


def test_the_table_of_kernels_is_what_the_strategies_give() -> None:
    head, *kernels = rows("kernel")
    shown = {
        name.removesuffix(".fp"): body
        for page in PAGES.values()
        for name, language, body in blocks(page)
        if name and language == "fp"
    }
    assert {row[0].strip("`") for row in kernels} == set(shown)
    for row in kernels:
        text = shown[row[0].strip("`")]
        done = [fp.insert_barriers(fp.parse(text), "gfx942", strategy=name).executed for name in head[1:]]
        assert [f"{executed:g}" for executed in done] == row[1:], row[0]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.path.name)
def test_pictures_are_those_that_would_be_drawn_now(picture: Picture) -> None:
    """`python scripts/strategy_pictures.py` draws them."""
    assert picture.path.read_text(encoding="utf-8") == draw(picture)
    page = (DOCS / f"{picture.page}.md").read_text(encoding="utf-8")
    assert f"]({picture.path.name})" in page


# ---------------------------------------------------------------- what the page of `minimize` claims


def test_minimize_executes_no_more_than_eager_without_copies() -> None:
    for seed in range(200):
        program = read_program(random_kernel(seed, LOOPS_AND_BRANCHES), completion=False)
        executed = {
            name: cost(program.flow, choose(program, STRATEGIES[name], {})) for name in ("minimize", "eager")
        }
        assert executed["minimize"] <= executed["eager"] + 1e-9, f"seed {seed}"


def test_no_barrier_of_minimize_is_redundant() -> None:
    tried = 0
    for seed in range(150):
        program = read_program(random_kernel(seed, LOOPS_AND_BRANCHES), completion=False)
        placement = choose(program, STRATEGIES["minimize"], {})
        left = conflicts_left(program, placement)
        for position in placement.keys() - program.existing.keys():
            without = {at: sync for at, sync in placement.items() if at != position}
            assert len(conflicts_left(program, without)) > len(left), f"seed {seed}, {position}"
            tried += 1
    assert tried > 100
