"""The flag that rewrites golden files, the command line run in-process, and kernels that are parsed once."""

from __future__ import annotations

import gc
import io
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import lru_cache

import pytest

from fencepost.cli import main
from fencepost.ir import parser

UPDATE = "--update-golden"

# A shell starts a job in the background with Ctrl-C ignored, and so would be every command that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        UPDATE, action="store_true", help="rewrite the golden files from what fencepost prints now"
    )


def pytest_collection_finish() -> None:
    """What was collected stays to the end; the garbage collector need not go through it again and again."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """At the end nothing does: libraries complain of what is never collected."""
    gc.unfreeze()


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are rewritten instead of compared."""
    return bool(request.config.getoption(UPDATE))


@pytest.fixture
def parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets kernels that are parsed again keep their statements: half of a random sweep's time would be parsing."""
    monkeypatch.setattr(parser, "read_statements", lru_cache(256)(vars(parser)["read_statements"]))


@dataclass(frozen=True)
class Ran:
    """What one call of the command line did."""

    code: int
    out: str
    err: str


CommandLine = Callable[..., Ran]


@pytest.fixture
def fencepost(monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """Calls `fencepost` without a process of its own: `fencepost("check", "-", stdin=text)`."""

    def run(*arguments: str, stdin: str = "") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = _exit_code(arguments)
        return Ran(code, out.getvalue(), err.getvalue())

    return run


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as stop:  # argparse ends the process itself where a call makes no sense
        return stop.code if isinstance(stop.code, int) else 1
