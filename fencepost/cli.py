# PYTHON_ARGCOMPLETE_OK
"""The command line. Exit codes: 0 fine, 1 something found, 2 wrong input or call, 3 a crash, 130 interrupted.

What it uses is imported inside of `main`: whoever presses Ctrl-C while that is loaded gets no traceback either.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Sequence
    from contextlib import AbstractContextManager
    from types import FrameType
    from typing import NoReturn

    from fencepost.ir.source import FencepostError

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
CRASHED = 3
"""The exit code after a mistake of ours: whoever reads exit codes must not take it for something that was found."""
INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 and the number of the signal."""
CLEANING_UP = 2.0
"""Seconds after Ctrl-C in which another one is not heeded: children are ended and temporary files removed."""
WITHOUT_PROGRESS = ("lsp", "schema", "completion")
"""Commands that speak another language on the terminal, or are done at once."""
WITHOUT_JSON = ("check", "schema", "lsp", "completion")
"""Commands that have no `--json` of the usual kind: `check` has more formats, a schema is JSON."""

ONE_DOCUMENT = ("view", "audit")
"""Commands whose JSON is one document, and no list with an entry for each kernel."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    try:
        interrupt = _handle_signals() if arguments is None else None
        code = _run_to_its_end(arguments)
        if interrupt is not None and interrupt.raised:
            raise KeyboardInterrupt  # the language server's library catches it, and ends as if all were well
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        code = INTERRUPTED
    except Exception:
        if arguments is not None:
            raise
        _print_crash()
        code = CRASHED
    if arguments is None:
        # Everything is done and written: what is left is to end.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code


def _print_crash() -> None:
    import traceback

    traceback.print_exc()
    sys.stderr.write(
        "error: this is a mistake in fencepost, not in the kernel, and nothing is said about the kernel: please "
        "report it with the kernel and the lines above\n"
    )


def _handle_signals() -> _Interrupt | None:
    """As a process of its own: whoever ends it politely lets it end those that it has started."""
    signal.signal(signal.SIGTERM, _terminated)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return None  # a job in the background of a shell ignores it, and goes on doing so
    interrupt = _Interrupt()
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGALRM, interrupt.again)
    sys.unraisablehook = interrupt.swallowed
    return interrupt


class _Interrupt:
    """What Ctrl-C does: nothing, while the one before is still being cleaned up after."""

    def __init__(self) -> None:
        self.last = -CLEANING_UP

    @property
    def raised(self) -> bool:
        """Whether there was one."""
        return self.last >= 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self.last >= CLEANING_UP:
            self.last = now
            raise KeyboardInterrupt

    def swallowed(self, problem: sys.UnraisableHookArgs) -> None:
        """Python drops what is raised in a destructor or a callback: an interrupt is then raised again, elsewhere."""
        if problem.exc_type is KeyboardInterrupt:
            signal.setitimer(signal.ITIMER_REAL, 0.01)
        else:
            sys.__unraisablehook__(problem)

    def again(self, number: int, frame: FrameType | None) -> None:
        """Raise an interrupt that was dropped."""
        raise KeyboardInterrupt


def _terminated(number: int, frame: FrameType | None) -> NoReturn:
    # Once is enough: `timeout` sends it to the group as well, in the middle of what is done at the end.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(128 + number)


def _run_to_its_end(arguments: Sequence[str] | None) -> int:
    """Run a command, whoever reads its output or not."""
    from fencepost.commands.output import drop_output, lasting_streams

    with lasting_streams():
        try:
            code = _run(arguments)
            for stream in (sys.stdout, sys.stderr):
                if not stream.closed:  # the language server's library closes the first one
                    stream.flush()
        except OSError as error:
            sys.stderr.write(f"error: cannot write: {error.strerror}\n")
            drop_output()
            return 2
    return code


def _run(arguments: Sequence[str] | None) -> int:
    from fencepost.commands.output import coloured
    from fencepost.ir.source import FencepostError

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
    with coloured(options.color), _progress(options):
        try:
            return int(options.run(options))
        except FencepostError as error:
            _print_error(error, options)
            return error.exit_code


def _progress(options: argparse.Namespace) -> AbstractContextManager[None]:
    """What shows on a terminal that a command is at work; nothing is loaded for it elsewhere."""
    from contextlib import nullcontext

    if options.called in WITHOUT_PROGRESS or not sys.stderr.isatty():
        return nullcontext()
    from fencepost.commands.progress import progress_shown

    return progress_shown(options)


def _parser(wanted: Collection[str]) -> argparse.ArgumentParser:
    """The parser, with the arguments of the commands that are wanted."""
    import importlib

    from fencepost.commands.arguments import Parser, add_command
    from fencepost.commands.output import COLORS
    from fencepost.version import __version__

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
        command.set_defaults(run=module.run, called=name)
    return parser


def _print_error(error: FencepostError, options: argparse.Namespace) -> None:
    """People read of it on standard error; programs that have asked for JSON get some, whatever happens."""
    from fencepost.commands.output import print_error, print_json, refused_json

    print_error(error)
    if getattr(options, "json", False) or getattr(options, "format", None) == "json":
        refused = refused_json(error, options)
        print_json(refused[0] if options.called in ONE_DOCUMENT else refused)


if __name__ == "__main__":
    sys.exit(main())
