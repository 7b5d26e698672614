# PYTHON_ARGCOMPLETE_OK
"""The command line. Exit codes: 0 fine, 1 something was found, 2 the input or the call is wrong."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Collection, Sequence
from types import FrameType
from typing import NoReturn

from fencepost.commands.argument_parser import Parser, add_command
from fencepost.commands.streams import COLORS, coloured, drop_output, lasting_streams
from fencepost.ir.source import FencepostError
from fencepost.version import __version__

COMMANDS = {
    "insert": "add the barriers that a kernel lacks",
    "check": "look for races, deadlocks, and misuse of split barriers and mbarriers",
    "fix": "mend what check finds: show the change as a diff, and write it with -w",
    "prune": "remove barriers that no hazard needs",
    "explain": "say for every barrier why it is there, or that nothing needs it; or what a code (FP207) means",
    "audit": "judge every kernel of a Triton cache or of folders as it gets compiled, on all processors",
    "view": "make a page that shows a kernel: hazards, barriers, waves over time, the race without a barrier",
    "schedule": "let two groups of waves take turns: one multiplies while the other moves memory",
    "lsp": "a language server for editors, on standard input and output",
    "demo": "walk through the bundled kernels: hazards, races, the barriers put in, what check finds then",
    "schema": "print the JSON Schema of what a command prints with --json",
    "completion": "print the completion script for a shell",
}
"""The commands, each in a module of its name, and what they do in a few words."""
WITHOUT_JSON = ("check", "schema", "lsp", "completion")
"""Commands that have no `--json` of the usual kind: `check` has more formats, a schema is JSON."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    if arguments is None:
        # As a process of its own: whoever ends it politely lets it end those that it has started.
        signal.signal(signal.SIGTERM, _terminated)
    with lasting_streams():
        try:
            code = _run(arguments)
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError as error:
            sys.stderr.write(f"error: cannot write: {error.strerror}\n")
            drop_output()
            return 2
        except KeyboardInterrupt:
            sys.stderr.write("interrupted\n")
            return 130
    return code


def _terminated(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def _run(arguments: Sequence[str] | None) -> int:
    completing = "_ARGCOMPLETE" in os.environ
    given = sys.argv[1:] if arguments is None else arguments
    # Of the other commands nothing but their names is asked for: what they work with need not be loaded.
    parser = _parser(COMMANDS if completing else [name for name in COMMANDS if name in given])
    if completing:
        import argcomplete

        argcomplete.autocomplete(parser)
    try:
        options = parser.parse_args(arguments)
    except SystemExit:
        # argparse leaves after --help, --version and mistakes; its output still has to be flushed.
        sys.stdout.flush()
        raise
    with coloured(options.color):
        try:
            return int(options.run(options))
        except FencepostError as error:
            _print_error(error)
            return error.exit_code


def _parser(wanted: Collection[str]) -> argparse.ArgumentParser:
    """The parser, with the arguments of the commands that are wanted."""
    parser = Parser(
        prog="fencepost",
        description="Puts the synchronization into GPU kernels: exactly the barriers they need, "
        "with a reason for each.",
        epilog="fencepost COMMAND --help for the options of a command.",
    )
    parser.add_argument("--version", action="version", version=f"fencepost {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        command = add_command(commands, name, summary)
        if name not in wanted:
            continue
        module = importlib.import_module(f"fencepost.commands.{name}")
        module.add_arguments(command)
        if name not in WITHOUT_JSON:
            command.add_argument("--json", action="store_true", help="print JSON")
        command.add_argument(
            "--color", choices=list(COLORS), default="auto", help="colours in what is printed (default: auto)"
        )
        command.set_defaults(run=module.run)
    return parser


def _print_error(error: FencepostError) -> None:
    from fencepost.commands.output import print_error

    print_error(error)


if __name__ == "__main__":
    sys.exit(main())
