"""One page about a code, and how it is read from its Markdown.

# FP207: title

What it means.

## Why it matters
## What to do
## Wrong
## Right

The last two have a file (```fp, ```mlir, ```cuda, ```ptx, ```python; ```text for what cannot be run anywhere), a
command (```console), or both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

WHY, DO, WRONG, RIGHT = "Why it matters", "What to do", "Wrong", "Right"
SECTIONS = (WHY, DO, WRONG, RIGHT)
"""The headings of a page, in their order."""
FILES = {"cuda": "kernel.cu", "fp": "kernel.fp", "mlir": "module.ttgir", "ptx": "kernel.ptx"}
"""What the file of an example is called in its command, by its language."""
_TITLE = re.compile(r"# (FP\d{3}): (.+)\n")
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """A file and a command, or one of the two."""

    language: str
    """Of the file: `fp`, `mlir`, `cuda`, `ptx`, `python`, `text`; empty if there is none."""
    text: str
    """The file."""
    command: str
    """What to run, as `fencepost check kernel.fp`; empty if nothing."""
    output: str
    """What that prints, or a part of it."""

    def as_json(self) -> dict[str, str | None]:
        """For programs."""
        found = {"language": self.language, "text": self.text, "command": self.command, "output": self.output}
        return {name: text or None for name, text in found.items()}


@dataclass(frozen=True, slots=True)
class CodePage:
    """What is known about a code; the texts are Markdown."""

    code: str
    title: str
    meaning: str
    why: str
    what_to_do: str
    wrong: Example
    right: Example
    markdown: str
    """The page as it was written."""

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "code": self.code,
            "title": self.title,
            "meaning": self.meaning,
            "why": self.why,
            "what_to_do": self.what_to_do,
            "wrong": self.wrong.as_json(),
            "right": self.right.as_json(),
        }


def read_page(text: str) -> CodePage:
    """A page from its Markdown; ValueError if it does not have the form that all pages have."""
    titled = _TITLE.match(text)
    headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    if titled is None or headings != list(SECTIONS):
        raise ValueError(f"a page begins with `# FPnnn: title` and has the sections {', '.join(SECTIONS)}")
    parts = re.split(r"^## .*\n", text[titled.end() :], flags=re.MULTILINE)
    meaning, why, what_to_do, wrong, right = (part.strip("\n") for part in parts)
    return CodePage(
        titled[1], titled[2], meaning, why, what_to_do, read_example(wrong), read_example(right), text
    )


def read_example(section: str) -> Example:
    """The example in a section: its file, and its command with what that prints."""
    language = text = command = output = ""
    for name, body in _BLOCK.findall(section):
        if name != "console":
            language, text = name, body
            continue
        line, _, output = body.partition("\n")
        command = line.removeprefix("$ ")
    if not (text or command):
        raise ValueError("an example has a file, a command, or both")
    return Example(language, text, command, output)
