"""The arguments of commands: the parser, which suggests what was meant, and the options that several commands take.

Of the hosts nothing is loaded for them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from fencepost.did_you_mean import close
from fencepost.ir.source import FencepostError

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
        if message.endswith("required: COMMAND"):
            super().error(f"{message}\n`{self.prog} --help` lists the commands")
        meant = self._meant(message)
        super().error(
            f"{message}\ndid you mean {' or '.join(f'`{each}`' for each in meant)}?" if meant else message
        )

    def _meant(self, message: str) -> list[str]:
        from fencepost.commands.paths import is_there

        choice = CHOICE.search(message)
        if choice is not None and choice.group(1) == "help":
            return [f"{self.prog} --help"]
        if choice is not None and is_there(choice.group(1)):
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


FOR_CUDA = (
    *("block", "cluster", "param", "kernel", "define", "include"),
    *("as_compiled", "distinct_pointers", "warp_synchronous"),
)
"""Options that say something about CUDA and PTX alone."""


def add_ptx_arguments(
    parser: argparse.ArgumentParser, *, pointers: bool = False, builds: bool = False, kernel: bool = True
) -> None:
    """How CUDA is compiled and launched, where the file does not say."""
    group = parser.add_argument_group("CUDA and PTX")
    group.add_argument(
        "--block",
        type=_block,
        metavar="N",
        help="threads of a block, as 256 or 32x8 (default: what the kernel says, or else any number)",
    )
    group.add_argument(
        "--cluster",
        type=_cluster,
        metavar="N",
        help="blocks of a cluster, as 2 or 2x4 (default: what the kernel says, or its launches)",
    )
    group.add_argument(
        "--param",
        type=_value,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="the value of a kernel's integer parameter, by its name or number (default: any value)",
    )
    group.add_argument(
        "--warp-synchronous",
        action="store_true",
        help="the threads of a warp run in step, as before Volta (default: they race like any others)",
    )
    if kernel:
        group.add_argument("--kernel", metavar="NAME", help="look at this kernel alone")
    group.add_argument(
        "-D", "--define", action="append", default=[], metavar="NAME[=VALUE]", help="a macro for the compiler"
    )
    group.add_argument(
        "-I",
        "--include",
        type=_folder,
        action="append",
        default=[],
        metavar="DIR",
        help="where the compiler finds headers",
    )
    if builds:
        group.add_argument(
            "--as-compiled",
            action="store_true",
            help="judge the optimized code alone, not the order of the source beside it",
        )
    if pointers:
        group.add_argument(
            "--distinct-pointers",
            action="store_true",
            help="parameters point to global memory of their own, as if all were __restrict__",
        )


def _folder(text: str) -> str:
    """A folder that is there: of a name that is misspelt, headers would count as empty."""
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is not a folder")
    return text


def _block(text: str) -> tuple[int, int, int]:
    from fencepost.hosts.ptx.launches.launch import MOST_THREADS

    return _sizes(text, "block", ("256, 32x8 or 8x8x4", "threads", MOST_THREADS))


def _cluster(text: str) -> tuple[int, int, int]:
    from fencepost.hosts.ptx.launches.launch import MOST_BLOCKS

    return _sizes(text, "cluster", ("2, 2x4 or 2x2x2", "blocks", MOST_BLOCKS))


def _sizes(text: str, what: str, of: tuple[str, str, int]) -> tuple[int, int, int]:
    """Up to three sizes with an `x` between them."""
    examples, parts, most = of
    if re.fullmatch(r"[1-9]\d*([x,][1-9]\d*){0,2}", text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a {what}: write {examples}")
    x, y, z = [*map(int, re.split("[x,]", text)), 1, 1][:3]
    if x * y * z > most:
        begin = "" if text.isdigit() else f"{text}: "
        raise argparse.ArgumentTypeError(f"{begin}{x * y * z} {parts}, and a {what} has at most {most}")
    return x, y, z


def _value(text: str) -> tuple[str, int]:
    name, sign, value = text.partition("=")
    try:
        return name.strip(), int(value, 0)
    except ValueError:
        what = "no whole number" if sign else "no value"
        raise argparse.ArgumentTypeError(f"{text!r} has {what}: write NAME=VALUE") from None


def refuse_unknown_target(name: str) -> None:
    """A mistyped name, before anything is judged; CUDA is compiled for more GPUs than are known here (`sm_90a`)."""
    from fencepost.targets import target_named

    if re.fullmatch(r"sm_\d+[af]?", name) is None:
        target_named(name)


def refuse_cuda_options(options: argparse.Namespace, taken: tuple[str, ...] = ()) -> None:
    """Options for CUDA, given with another file: they would do nothing, except those that are `taken` there, too."""
    given = [name for name in FOR_CUDA if getattr(options, name, None) and name not in taken]
    if given:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        are = "is an option" if len(given) == 1 else "are options"
        raise FencepostError(
            f"{flags} {are} for CUDA and PTX, and this file is neither",
            code="FP105",
            notes=[("help", "in text form, `waves=` says how many waves run a kernel")]
            if "block" in given
            else [],
        )


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
