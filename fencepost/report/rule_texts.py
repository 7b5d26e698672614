"""Names and texts of findings, by code, for tools that list rules (SARIF): in the words of the pages of the codes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fencepost.codes.lookup import page_of

NAMES = {
    "FP001": "DataRace",
    "FP002": "Deadlock",
    "FP003": "SplitBarrierMisuse",
    "FP004": "WrongOrder",
    "FP005": "OutOfRange",
    "FP006": "MbarrierMisuse",
    "FP007": "ReadBeforeFilled",
    "FP008": "MissingFence",
    "FP009": "BlockNotThere",
    "FP010": "TensorMemoryMisuse",
}
"""Codes of findings, and what each is called in one word, for machines."""
_LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of finding."""

    name: str
    title: str
    meaning: str
    help: str
    """What to do about it."""


def rule_of(code: str) -> Rule:
    """What a page says about a code that `check` reports."""
    page = page_of(code)
    return Rule(NAMES[code], _plain(page.title), _plain(page.meaning), _plain(page.what_to_do))


def _plain(markdown: str) -> str:
    """Markdown without line breaks inside of paragraphs, and without links."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in markdown.split("\n\n"))
    text = _LINK.sub(r"\1", "\n\n".join(paragraphs))
    return text[:1].upper() + text[1:]
