"""A parser of arguments that suggests what was meant, and shows the usage of the command that was called."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from fencepost.did_you_mean import close

CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)$")
QUOTED = re.compile(r"'([^']*)'")


class Parser(argparse.ArgumentParser):
    """As argparse's, with suggestions in its errors."""

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """The options; what the called command does not know is its error, not that of the whole program."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            called: Parser = getattr(found, "parser", self)
            called.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found

    def error(self, message: str) -> NoReturn:
        """Print usage and message, with what may have been meant, and exit with 2."""
        meant = self._meant(message)
        super().error(
            f"{message}\ndid you mean {' or '.join(f'`{each}`' for each in meant)}?" if meant else message
        )

    def _meant(self, message: str) -> list[str]:
        choice = CHOICE.search(message)
        if choice is not None and Path(choice.group(1)).exists():
            return [f"{self.prog} check {choice.group(1)}"]
        if choice is not None:
            # Python quotes the choices up to 3.13, and not from there on.
            return close(choice.group(1), QUOTED.findall(choice.group(2)) or choice.group(2).split(", "))
        _, _, unknown = message.partition("unrecognized arguments: ")
        options = [option for action in self._actions for option in action.option_strings]
        wrong = [word.partition("=")[0] for word in unknown.split() if word.startswith("-")]
        return [meant for word in wrong for meant in close(word, options)]


def add_command(commands: Any, name: str, summary: str) -> Parser:
    """A command of the program."""
    command: Parser = commands.add_parser(name, help=summary, description=summary)
    command.set_defaults(parser=command)
    return command
