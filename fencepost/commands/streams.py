"""Standard output and standard error that outlive whoever reads them.

`fencepost check kernels/*.fp | head -1` ends its reader early. That must not change what the command finds, nor its
exit code: what is written from then on is dropped, and the command runs to its end.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


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
