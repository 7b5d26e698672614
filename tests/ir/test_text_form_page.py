"""docs/text-form.md: its kernels parse, its Python builds them, and no statement and no code is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fencepost.ir import ops
from fencepost.ir.parser import parse_all
from tests.ir.round_trip import (
    ROOT,
    assert_round_trip,
    kernel,
)

PAGES = [
    *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "codes.md"),
    ROOT / "README.md",
]
"""The index of codes shows what is wrong: `tests/codes` runs all of it."""

REFERENCE = ROOT / "docs" / "text-form.md"

FENCED = re.compile(r"^```fp\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(page: Path) -> list[str]:
    return FENCED.findall(page.read_text(encoding="utf-8")) if page.exists() else []


def is_whole(example: str) -> bool:
    return re.search(r"^kernel @", example, re.MULTILINE) is not None


SNIPPETS = re.findall(
    r"^```python\n(.*?)^```\n.*?^```fp\n(.*?)^```$",
    REFERENCE.read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)

WHOLE = [(page.name, text) for page in PAGES for text in examples(page) if is_whole(text)]

FRAGMENTS = [text for text in examples(REFERENCE) if not is_whole(text)]


@pytest.mark.parametrize(("page", "text"), WHOLE)
def test_kernels_in_the_documentation_parse(page: str, text: str) -> None:
    for trace in parse_all(text, page):
        assert_round_trip(str(trace))


@pytest.mark.parametrize("text", FRAGMENTS)
def test_fragments_in_the_reference_parse(text: str) -> None:
    assert_round_trip(f"kernel @k waves=8 {{\n{text}}}\n" if "shared" in text else kernel(*text.splitlines()))


@pytest.mark.parametrize(("snippet", "text"), SNIPPETS)
def test_python_in_the_reference_builds_the_kernel_below_it(snippet: str, text: str) -> None:
    variables: dict[str, Any] = {}
    exec(snippet, variables)
    assert str(variables["k"].trace) == text


def test_the_reference_has_examples() -> None:
    """None of them is missed by the patterns that look for them."""
    text = REFERENCE.read_text(encoding="utf-8")
    assert len(examples(REFERENCE)) == text.count("\n```fp\n") >= 15
    assert len(SNIPPETS) == text.count("\n```python\n") > 0


def test_the_reference_shows_every_statement() -> None:
    shown = "\n".join(examples(REFERENCE))
    for op in _subclasses(ops.Operation):
        if op.mnemonic:
            assert re.search(rf"\b{op.mnemonic}\b", shown), op.mnemonic


def test_the_reference_lists_every_code_for_wrong_input() -> None:
    used: set[str] = set()
    for path in (ROOT / "fencepost").rglob("*.py"):
        used.update(re.findall(r"\"(FP1\d\d)\"", path.read_text(encoding="utf-8")))
    listed = re.findall(r"^\| `(FP1\d\d)` \|", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == sorted(used)


def _subclasses(kind: type[ops.Operation]) -> Iterator[type[ops.Operation]]:
    for sub in kind.__subclasses__():
        yield sub
        yield from _subclasses(sub)
