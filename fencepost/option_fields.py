"""Options of passes: fields of frozen dataclasses, from which the command line makes its arguments.

@dataclass(frozen=True, slots=True, kw_only=True)
class Insert:
    slots: bool = option(True, "distinguish the slots of rings", "--no-slots")

A field without a flag is for callers in Python alone. A field that is a dataclass itself has its options among the
others.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import Field, dataclass, field, fields, is_dataclass
from typing import Any, TypeVar

T = TypeVar("T")
MOST = 10**18
"""Numbers from here on are taken for a slip of the finger."""
ARGUMENT = "argument"
"""What a field's metadata has its `Argument` under."""


@dataclass(frozen=True, slots=True)
class Argument:
    """How the command line shows an option."""

    flags: tuple[str, ...]
    help: str
    metavar: str = ""
    parse: Callable[[str], Any] = str
    names: Callable[[], dict[str, str]] | None = None
    """What there is to choose from, each with a word about it."""

    def words(self) -> str:
        """The help of the command line."""
        known = self.names() if self.names is not None else {}
        return ". ".join(
            [self.help, "; ".join(f"{name}: {text}" for name, text in known.items())][: 1 + bool(known)]
        )


def option(
    default: Any,
    help: str,
    *flags: str,
    metavar: str = "",
    parse: Callable[[str], Any] = str,
    names: Callable[[], dict[str, str]] | None = None,
) -> Any:
    """A field with a default, what it is for, and its flags on the command line."""
    return field(default=default, metadata={ARGUMENT: Argument(flags, help, metavar, parse, names)})


def add_options(
    parser: argparse.ArgumentParser, options: type | object, only: tuple[str, ...] | None = None
) -> None:
    """One argument for each option that has a flag, or for those fields that are named."""
    for each, argument in _shown(options):
        if only is None or each.name in only:
            _add(parser, each, argument)


def read_options(options: type[T], given: argparse.Namespace, **others: Any) -> T:
    """The options that a user has given; `others` are those that are worked out otherwise."""
    values = dict(others)
    for each in fields(options):  # type: ignore[arg-type]
        if each.name in values:
            continue
        if is_dataclass(each.default) and not isinstance(each.default, type):
            values[each.name] = read_options(type(each.default), given)
        elif ARGUMENT in each.metadata and each.metadata[ARGUMENT].flags:
            values[each.name] = getattr(given, each.name)
    return options(**values)


def _shown(options: type | object) -> Iterator[tuple[Field[Any], Argument]]:
    for each in fields(options):  # type: ignore[arg-type]
        if is_dataclass(each.default) and not isinstance(each.default, type):
            yield from _shown(each.default)
        elif ARGUMENT in each.metadata and each.metadata[ARGUMENT].flags:
            yield each, each.metadata[ARGUMENT]


def _add(parser: argparse.ArgumentParser, each: Field[Any], argument: Argument) -> None:
    text = argument.words().replace("%", "%%")
    if isinstance(each.default, bool):
        action = "store_false" if each.default else "store_true"
        parser.add_argument(*argument.flags, dest=each.name, action=action, help=text)
        return
    if each.default is not None and each.default != "":
        text += " (default: %(default)s)"
    parser.add_argument(
        *argument.flags,
        dest=each.name,
        default=each.default,
        metavar=argument.metavar or None,
        type=argument.parse,
        help=text,
    )


def positive(text: str) -> int:
    """Reads a whole number from 1 on."""
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"invalid int value: {text!r}") from None
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    if value >= MOST:
        raise argparse.ArgumentTypeError(f"{text} is too large: at most {MOST - 1}")
    return value


def at_least(least: float, what: str) -> Callable[[str], float]:
    """Reads a number that is not smaller than `least`."""

    def parse(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not least <= number < 1e9:
            raise argparse.ArgumentTypeError(f"{text} is not {what}")
        return number

    return parse


def probability(text: str) -> float:
    """Reads a number from 0 to 1."""
    number = at_least(0, "a number from 0 to 1")(text)
    if number > 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0 to 1")
    return number
