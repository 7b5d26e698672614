"""`fencepost schema`: what commands print with `--json`, as JSON Schema."""

from __future__ import annotations

import argparse
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    from fencepost.schemas import SCHEMAS

    parser.add_argument("command", metavar="NAME", choices=SCHEMAS, help=f"of {', '.join(SCHEMAS)}")


def run(options: argparse.Namespace) -> int:
    """Print one schema."""
    from fencepost.schemas import schema_text

    sys.stdout.write(schema_text(options.command))
    return 0
