"""Printing: colour on a terminal only, JSON for programs, kernels to standard output or a file."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fencepost.commands.files import STDIN, write_back, write_text
from fencepost.hosts.kernel_files import Kernels
from fencepost.ir.source import FencepostError

if TYPE_CHECKING:
    from rich.text import Text


def print_json(document: dict[str, Any] | Sequence[dict[str, Any]]) -> None:
    """One JSON document on standard output; it says which schema it follows, or each of its entries does."""
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


def say(text: str) -> None:
    """A word to the user that is no part of the result."""
    sys.stderr.write(text + "\n")


def add_target_argument(parser: argparse.ArgumentParser) -> None:
    """The target; a file may name it, too."""
    from fencepost.targets.table import DEFAULT_TARGET, TARGETS

    parser.add_argument(
        "-t",
        "--target",
        help=f"the GPU: {', '.join(TARGETS)} (default: what the file names, or else {DEFAULT_TARGET})",
    )


def add_as_is_argument(parser: argparse.ArgumentParser) -> None:
    """Whether a Triton module from before membar is taken as it stands."""
    parser.add_argument(
        "--as-is",
        action="store_true",
        help="check a Triton module from before membar as it stands, instead of lowering it and running membar first",
    )


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Where a changed kernel goes."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("-o", "--output", metavar="OUT", help="write the kernel there instead of printing it")
    where.add_argument("-w", "--write", action="store_true", help="write the kernel back into FILE")


def put_kernels(options: argparse.Namespace, kernels: Kernels) -> None:
    """Print the kernels or write them where the user said."""
    put_text(options, kernels.text())


def put_text(options: argparse.Namespace, text: str) -> None:
    """Print a changed file or write it where the user said."""
    if options.write and options.file == STDIN:
        raise FencepostError("-w needs a file to write back to, not standard input", code="FP112")
    if options.output:
        write_text(options.output, text)
    elif options.write:
        write_back(options.file, text)
    elif not options.json:
        sys.stdout.write(text)
