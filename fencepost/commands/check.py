"""`fencepost check`: look for races and deadlocks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from fencepost.check import Check, Report
from fencepost.commands.files import read_kernels
from fencepost.commands.kernels import Kernels
from fencepost.commands.output import add_as_is_argument, error_json, print_error, print_json, print_styled
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.option_fields import add_options, positive, read_options

if TYPE_CHECKING:
    from fencepost.report.silencing import Silenced, Silencer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="kernels in text form (.fp) or Triton modules (.ttgir, .ttir, .mlir), or - for standard input",
    )
    add_options(parser, Check)
    parser.add_argument(
        "-t",
        "--target",
        default="",
        help="the GPU: more named barriers than it has are reported (default: any)",
    )
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="print nothing about kernels that are proven to be clean"
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "-m",
        "--max-findings",
        type=_from_zero,
        metavar="N",
        help="how many causes to show for each kernel, 0 for all (default: 20; --json has all)",
    )
    shown.add_argument(
        "-a", "--all", action="store_true", help="every finding by itself, not one message for each cause"
    )
    parser.add_argument(
        "--require-proof",
        action="store_true",
        help="exit 1 as well if nothing was found but not everything was looked at",
    )
    add_as_is_argument(parser)


def _from_zero(text: str) -> int:
    return 0 if text == "0" else positive(text)


def run(options: argparse.Namespace) -> int:
    """Check every kernel of every file; 1 if anything was found, 2 if a file could not be judged."""
    from fencepost.report.silencing import Silencer
    from fencepost.targets import target_named

    named = target_named(options.target).named_barriers if options.target else None
    entries: list[dict[str, Any]] = []
    codes = [0]
    for name in options.files:
        said = ""
        silencer = Silencer()
        for judged in _judgements(name, options, named):
            if isinstance(judged, FencepostError):
                # The others are judged all the same; programs learn of it from the entry, people on standard error.
                print_error(judged)
                silencer.complete = False
                entries.append({"file": name, "ok": False, "error": error_json(judged)})
                codes.append(judged.exit_code)
                continue
            kernels, kernel, found = judged
            report, silenced = silencer.apply(kernel, found)
            codes.append(1 if _is_wrong(report, options) else 0)
            if options.json:
                entries.append(_entry(name, kernels, kernel, report, silenced))
            else:
                said = kernels.judged if _print(name, kernel, report, silenced, options) else said
        if said:
            sys.stdout.write(f"{name}: {said}\n")
        _warn(silencer, entries, options)
    # Of one file that cannot be judged there is nothing to print, as in all commands.
    if options.json and (len(options.files) > 1 or any("error" not in entry for entry in entries)):
        print_json(entries)
    return max(codes)


def _is_wrong(report: Report, options: argparse.Namespace) -> bool:
    """Whether a verdict makes the command fail; what is silenced does not, whoever silenced it has said why."""
    return not report.ok or bool(options.require_proof and not report.explored.complete)


def _warn(silencer: Silencer, entries: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Tell of comments that allow nothing: people behind the kernels of the file, programs in its last entry."""
    from fencepost.report.diagnostics import render
    from fencepost.report.silencing import warning_json

    warnings = silencer.warnings()
    if not options.json:
        for diagnostic in warnings:
            print_styled(render(diagnostic))
    elif warnings:
        entries[-1]["warnings"] = [warning_json(diagnostic) for diagnostic in warnings]


Judged: TypeAlias = "tuple[Kernels, CapturedTrace, Report] | FencepostError"
"""A kernel of a file with what was found, or why it could not be judged."""


def _judgements(name: str, options: argparse.Namespace, named_barriers: int | None) -> Iterator[Judged]:
    """The kernels of a file, one after the other."""
    check = read_options(Check, options, named_barriers=named_barriers)
    try:
        kernels = read_kernels(name, compiled=not options.as_is)
        found = kernels.to_check()
    except FencepostError as error:
        yield error
        return
    for kernel in found:
        try:
            yield kernels, kernel, check.apply(kernel)
        except FencepostError as error:
            error.source = error.source or kernel.source
            yield error


def _entry(
    name: str, kernels: Kernels, kernel: CapturedTrace, report: Report, silenced: Silenced
) -> dict[str, Any]:
    from fencepost.report.findings import report_json
    from fencepost.report.silencing import silenced_json

    also = {"silenced": silenced_json(silenced)} if silenced else {}
    return {"file": name, **kernels.judged_json(), **report_json(kernel, report), **also}


def _print(
    name: str, kernel: CapturedTrace, report: Report, silenced: Silenced, options: argparse.Namespace
) -> bool:
    """Print what was found; whether there was anything to print."""
    from fencepost.report.diagnostics import render
    from fencepost.report.findings import MOST_SHOWN, diagnostics, grouped, not_shown, verdict
    from fencepost.report.silencing import silenced_lines

    most = MOST_SHOWN if options.max_findings is None else options.max_findings
    shown, left = (diagnostics(kernel, report), 0) if options.all else grouped(kernel, report, most)
    for diagnostic in shown:
        print_styled(render(diagnostic))
        sys.stdout.write("\n")
    if left:
        sys.stdout.write(f"{name}: @{kernel.name}: {not_shown(left)} (--max-findings 0 shows all)\n")
    for line in silenced_lines(silenced):
        sys.stdout.write(f"{line}\n")
    quiet = bool(options.quiet and report.proven)
    if not quiet:
        sys.stdout.write(f"{name}: @{kernel.name}: {verdict(report)} ({report.explored})\n")
    return not quiet
