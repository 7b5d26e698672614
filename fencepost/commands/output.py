"""What commands print: colour on a terminal only, JSON for programs, on streams that outlive whoever reads them.

`fencepost check kernels/*.fp | head -1` ends its reader early. That must not change what the command finds, nor its
exit code: what is written from then on is dropped, and the command runs to its end.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    import argparse

    from _typeshed import ReadableBuffer
    from rich.text import Text

    from fencepost.ir.source import FencepostError


_before: list[Callable[[], None]] = []
"""What is done before anything is written to a terminal."""


@contextmanager
def before_output(action: Callable[[], None]) -> Iterator[None]:
    """Do something each time before a command writes to a terminal."""
    _before.append(action)
    try:
        yield
    finally:
        _before.remove(action)


class _Lasting(io.FileIO):
    """A descriptor that takes what it is given, whether somebody reads it or not."""

    def write(self, data: ReadableBuffer, /) -> int:
        if _before and self.isatty():
            for action in _before:
                action()
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            return memoryview(data).nbytes


COLORS: dict[str, dict[str, str]] = {"auto": {}, "always": {"FORCE_COLOR": "1"}, "never": {"NO_COLOR": "1"}}
"""When there are colours: as the terminal is, or whatever it is. The variables are those that rich looks at."""


@contextmanager
def coloured(when: str) -> Iterator[None]:
    """Colours as asked for, for the time of one command."""
    before = {name: os.environ.get(name) for name in ("FORCE_COLOR", "NO_COLOR")}
    if when != "auto":
        for name in before:
            os.environ.pop(name, None)
        os.environ.update(COLORS[when])
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def lasting_streams() -> Iterator[None]:
    """Standard output and standard error for the time of one command."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _lasting(sys.stdout), _lasting(sys.stderr)
    try:
        yield
    except KeyboardInterrupt:
        # What was printed before is read; half a line of a result is better than none of the lines above it.
        with suppress(OSError):
            sys.stdout.flush()
        raise
    finally:
        sys.stdout, sys.stderr = before


def drop_output() -> None:
    """Nothing more can be written to standard output; what its buffer holds would only fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _lasting(stream: TextIO | None) -> TextIO:
    if stream is None:
        # The descriptor was closed before the start.
        return Path(os.devnull).open("w", encoding="utf-8")
    if type(stream) is not io.TextIOWrapper:
        return stream  # somebody else's, who looks after it
    stream.flush()
    raw = _Lasting(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        # A terminal that cannot spell an arrow gets an escape, not a traceback.
        errors="backslashreplace",
        line_buffering=stream.line_buffering or stream.isatty(),
        write_through=stream.write_through,
    )


def print_json(document: dict[str, Any] | Sequence[dict[str, Any]]) -> None:
    """One JSON document on standard output; it says which schema it follows, or each of its entries does."""
    import json

    from fencepost.schemas import SCHEMA_VERSION

    version = {"schema_version": SCHEMA_VERSION}
    versioned = version | document if isinstance(document, dict) else [version | entry for entry in document]
    json.dump(versioned, sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def print_styled(text: Text, to_stderr: bool = False) -> None:
    """Styled text; a pipe or file gets it plain, unless colours are forced."""
    stream = sys.stderr if to_stderr else sys.stdout
    if stream.isatty() or os.environ.get("FORCE_COLOR"):
        from rich.console import Console

        # Diagnostics have their own line breaks: wrapping would tear the underlines off their words.
        Console(file=stream, highlight=False, soft_wrap=True).print(text, end="")
    else:
        stream.write(text.plain)


def print_error(error: FencepostError) -> None:
    """A mistake in the input or its use, on standard error."""
    from fencepost.report.diagnostics import from_error, render

    sys.stdout.flush()
    print_styled(render(from_error(error)), to_stderr=True)


def error_json(error: FencepostError) -> dict[str, Any]:
    """The same for programs; the place is that of the first mark."""
    span = next((mark.span for mark in error.marks if mark.span is not None), None)
    return {
        "code": error.code,
        "message": error.message,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "notes": [{"kind": kind, "text": text} for kind, text in error.notes],
    }


def refused_json(error: FencepostError, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Why a command did nothing, for each file that it was given."""
    names = getattr(options, "files", None) or [getattr(options, "file", None)]
    found = {"ok": False, "error": error_json(error)}
    return [({} if name is None else {"file": name}) | found for name in names]


def say(text: str) -> None:
    """A word to the user that is no part of the result."""
    sys.stderr.write(text + "\n")
