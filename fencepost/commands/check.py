"""`fencepost check`: look for races and deadlocks."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from fencepost.check import Report
from fencepost.commands.files import read_kernels
from fencepost.commands.output import add_as_is_argument, print_json, print_styled

SUMMARY = "look for races, deadlocks and unbalanced split barriers"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="kernels in text form (.fp), or - for standard input"
    )
    parser.add_argument(
        "--budget",
        type=_positive,
        default=500_000,
        metavar="STEPS",
        help="how many steps to follow accesses for (default: %(default)s)",
    )
    parser.add_argument(
        "--paths",
        type=_positive,
        default=100,
        metavar="N",
        help="how many paths to simulate where waves run apart (default: %(default)s)",
    )
    parser.add_argument(
        "-t",
        "--target",
        default="",
        help="the GPU: more numbered barriers than it has are reported (default: any)",
    )
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="print nothing about kernels without findings"
    )
    add_as_is_argument(parser)


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"invalid int value: {text!r}") from None
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def run(options: argparse.Namespace) -> int:
    """Check every kernel of every file; 1 if anything was found."""
    from fencepost.check import check
    from fencepost.report.diagnostics import render
    from fencepost.report.findings import diagnostics, report_json
    from fencepost.targets import target_named

    found: list[dict[str, Any]] = []
    clean = True
    named = target_named(options.target).named_barriers if options.target else None
    for name in options.files:
        kernels, said = read_kernels(name, compiled=not options.as_is), ""
        for kernel in kernels.to_check():
            report = check(kernel, budget=options.budget, paths=options.paths, named_barriers=named)
            clean = clean and report.ok
            if options.json:
                found.append({"file": name, **kernels.judged_json(), **report_json(kernel, report)})
                continue
            for diagnostic in diagnostics(kernel, report):
                print_styled(render(diagnostic))
                sys.stdout.write("\n")
            if report.ok and options.quiet:
                continue
            found_here = verdict(report)
            sys.stdout.write(f"{name}: @{kernel.name}: {found_here} ({report.explored})\n")
            said = said or kernels.judged
        if said:
            sys.stdout.write(f"{name}: {said}\n")
    if options.json:
        print_json(found)
    return 0 if clean else 1


def verdict(report: Report) -> str:
    """What was found, in a few words."""
    from fencepost.report.words import plural

    if report.ok:
        return "no race, no deadlock" if report.explored.complete else "nothing found"
    parts = []
    if report.races:
        parts.append(plural(len(report.races), "race"))
    if report.deadlocks:
        parts.append(plural(len(report.deadlocks), "deadlock"))
    if report.out_of_range:
        parts.append(plural(len(report.out_of_range), "access out of range", "accesses out of range"))
    return ", ".join(parts)
