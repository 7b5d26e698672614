"""Options are fields of the passes; the command line is made of them."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, fields

import pytest

import fencepost as fp
from fencepost.cli import main
from fencepost.option_fields import ARGUMENT, add_options, at_least, option, read_options
from tests.conftest import CommandLine

PASSES = {"insert": fp.Insert, "prune": fp.Prune, "explain": fp.Explain, "schedule": fp.Schedule}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    often: float = option(3.0, "how often", "--often", metavar="N", parse=at_least(1, "a number from 1 up"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    exact: bool = option(True, "be less exact", "--rough")
    inner: Inner = Inner()
    hidden: int = option(7, "for Python alone")


def parsed(*arguments: str, **others: object) -> Outer:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_options(parser, Outer)
    return read_options(Outer, parser.parse_args(arguments), **others)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], Outer()),
        (["--rough"], Outer(exact=False)),
        (["--often", "9"], Outer(inner=Inner(often=9.0))),
    ],
)
def test_flags_are_read_into_fields(arguments: list[str], expected: Outer) -> None:
    assert parsed(*arguments) == expected


def test_what_is_worked_out_otherwise_is_given_by_name() -> None:
    assert parsed(hidden=8) == Outer(hidden=8)


def test_a_number_that_does_not_fit_is_refused() -> None:
    with pytest.raises(argparse.ArgumentError, match=r"0\.5 is not a number from 1 up"):
        parsed("--often", "0.5")


@pytest.mark.parametrize("name", PASSES)
def test_every_flag_of_a_pass_is_a_flag_of_its_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([name, "--help"])
    shown = capsys.readouterr().out
    flags = [
        flag
        for each in fields(PASSES[name])
        if ARGUMENT in each.metadata
        for flag in each.metadata[ARGUMENT].flags
    ]
    assert flags
    assert all(flag in shown for flag in flags)


@pytest.mark.parametrize("name", PASSES)
def test_every_option_is_documented(name: str) -> None:
    for each in fields(PASSES[name]):
        assert each.name == "estimates" or each.metadata[ARGUMENT].help


def test_a_pass_and_its_function_do_the_same() -> None:
    text = "kernel @k waves=2 {\n  shared %a : 16\n  write %a\n  read %a\n}\n"
    one, other = fp.parse(text), fp.parse(text)
    fp.Insert(target="gfx942", strategy="minimize").apply(one)
    fp.insert_barriers(other, "gfx942", "minimize")
    assert str(one) == str(other)
    assert fp.Prune().apply(one).removed == []


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match="quickly"):
        fp.insert_barriers(fp.parse("kernel @k waves=2 {\n}\n"), quickly=True)


def test_commands_that_are_not_asked_for_still_are_listed(fencepost: CommandLine) -> None:
    ran = fencepost("--help")
    assert all(name in ran.out for name in ("insert", "check", "schedule", "demo"))
