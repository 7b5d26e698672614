"""`fencepost lsp`: findings, reasons and fixes in an editor."""

from __future__ import annotations

import argparse

from fencepost.ir.source import FencepostError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes: nothing but what editors add by habit."""
    parser.add_argument("--stdio", action="store_true", help="as it is anyway; some editors pass it")


def run(options: argparse.Namespace) -> int:
    """Serve until the editor ends."""
    del options
    try:
        from fencepost.lsp.server import make_server
    except ImportError as error:
        raise FencepostError(
            f"the language server needs {error.name}, which is not installed",
            code="FP114",
            notes=[("help", 'pip install "fencepost[lsp]"; in a clone: pip install -e ".[lsp]"')],
        ) from None
    make_server().start_io()
    return 0
