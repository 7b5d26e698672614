"""A line on the terminal that says what is being done, for whatever takes longer than a second.

It is on standard error, only if that is a terminal, and only for people: not with `--json`, `--quiet` or `--format`.
Whatever the command itself prints takes its place, and at the end nothing is left of it.
"""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fencepost.commands.output import before_output
from fencepost.phases import listening

if TYPE_CHECKING:
    from rich.live import Live

PATIENCE = 1.0
"""Seconds before anything is shown."""
BETWEEN = 0.1
"""Seconds between two pictures."""


@contextmanager
def progress_shown(options: argparse.Namespace) -> Iterator[None]:
    """Show what a command does, if anybody wants to see it."""
    is_for_people = not (
        getattr(options, "json", False)
        or getattr(options, "quiet", False)
        or getattr(options, "format", "text") != "text"
    )
    if not is_for_people or os.environ.get("TERM", "dumb") == "dumb":
        yield
        return
    line = _Line()
    line.thread.start()
    try:
        with listening(line), before_output(line.make_room):
            yield
    finally:
        line.end()


class _Line:
    """One line, drawn by a thread of its own."""

    def __init__(self) -> None:
        self.where, self.what = "", "reading"
        self.said = False
        """Whether the command has printed what came of it: then there is nothing to show until something begins."""
        self.lock = threading.RLock()
        self.ended = threading.Event()
        self.live: Live | None = None
        """What draws on the screen now."""
        self.shown = ""
        """The words that were drawn last."""
        self.thread = threading.Thread(target=self._draw, daemon=True)

    def file(self, name: str, number: int, count: int) -> None:
        """The next file has begun."""
        self.where = f"{name} ({number} of {count})" if count > 1 else name
        self.said = False

    def phase(self, words: str) -> None:
        """The next phase of the work on it has begun."""
        self.what = words
        self.said = False

    def make_room(self) -> None:
        """The command prints something: the line comes back, below that, when the next thing begins."""
        with self.lock:
            self.said = True
            self.hide()

    def hide(self) -> None:
        """Take away what is on the screen now."""
        with self.lock:
            if self.live is not None:
                self.live.stop()
                self.live = None

    def end(self) -> None:
        """Take it away for good."""
        self.ended.set()
        self.thread.join()
        self.hide()

    def _draw(self) -> None:
        if self.ended.wait(PATIENCE):
            return
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner
        from rich.text import Text

        # Not `sys.stderr`: what is written there hides this line first.
        with os.fdopen(os.dup(2), "w", encoding="utf-8", errors="replace") as terminal:
            console = Console(file=terminal, highlight=False)
            spinner = Spinner("dots" if _spells_braille() else "line")
            while not self.ended.wait(BETWEEN):
                with self.lock:
                    if self.said:
                        continue
                    words = " · ".join(part for part in (self.where, self.what) if part)
                    spinner.update(text=Text(words, no_wrap=True, overflow="ellipsis"))
                    if self.live is None:
                        self.live = Live(
                            spinner, console=console, transient=True, auto_refresh=False,
                            redirect_stdout=False, redirect_stderr=False,
                        )  # fmt: skip
                        self.live.start()
                    self.live.refresh()
                    self.shown = words
            self.hide()


def _spells_braille() -> bool:
    import sys

    return (sys.stderr.encoding or "").lower().replace("-", "") == "utf8"
