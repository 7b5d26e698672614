"""A page as people read it on a terminal: the same lines in colour and without."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from fencepost.codes.page import DO, RIGHT, WHY, WRONG, CodePage, Example

if TYPE_CHECKING:
    from rich.text import Text

INDENT = "    "
COLUMNS = 100
"""How wide paragraphs are; examples are as they are written."""


def shown(page: CodePage) -> Text:
    """The page as styled text; `.plain` is the same without colour."""
    from rich.text import Text

    out = Text()
    out.append(page.code, "bold red").append(f": {page.title}\n", "bold")
    _prose(out, page.meaning)
    for heading, text in ((WHY, page.why), (DO, page.what_to_do)):
        out.append(f"\n{heading}\n", "bold")
        _prose(out, text)
    for heading, example in ((WRONG, page.wrong), (RIGHT, page.right)):
        out.append(f"\n{heading}\n", "bold")
        _example(out, example)
    return out


def _prose(out: Text, text: str) -> None:
    """Paragraphs; what Markdown has between backquotes is shown as code, links by their words alone."""
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    for paragraph in words.split("\n\n"):
        out.append("\n")
        lines = textwrap.fill(paragraph, COLUMNS, break_long_words=False, break_on_hyphens=False)
        for number, part in enumerate(re.split(r"(`[^`]*`)", lines)):
            out.append(part, "cyan" if number % 2 else "")
        out.append("\n")


def _example(out: Text, example: Example) -> None:
    if example.text:
        out.append("\n")
        _indented(out, example.text, "")
    if example.command:
        out.append(f"\n{INDENT}$ {example.command}\n", "bold")
        _indented(out, example.output, "dim")


def _indented(out: Text, text: str, style: str) -> None:
    for line in text.splitlines():
        out.append(f"{INDENT}{line}".rstrip() + "\n", style)
