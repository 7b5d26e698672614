"""`fencepost check`: look for races and deadlocks."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fencepost.check import Check, Report
from fencepost.commands.arguments import (
    add_as_is_argument,
    add_ptx_arguments,
    refuse_cuda_options,
    refuse_unknown_target,
)
from fencepost.commands.files import kernels_of, read_source
from fencepost.commands.findings_output import FORMATS, Judged, Output
from fencepost.commands.output import say
from fencepost.commands.paths import CHECKED, CHECKED_HELP, kernel_files
from fencepost.hosts.kernel_files import CUDA, NO_KERNEL, is_host_code, is_thread_level
from fencepost.ir.source import FencepostError
from fencepost.option_fields import add_options, positive, read_options
from fencepost.phases import begin_file, begin_phase

if TYPE_CHECKING:
    from fencepost.hosts.ptx.judged_kernel import JudgedPtx


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("files", metavar="FILE", nargs="+", help=CHECKED_HELP)
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
        help="how many causes to show for each kernel, 0 for all (default: 20; other formats than text have all)",
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
    add_ptx_arguments(parser, builds=True)
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="text for people, json for programs (`fencepost schema check`), sarif for code hosts and editors, "
        "github for annotations in GitHub Actions (default: %(default)s)",
    )
    parser.add_argument(
        "--json", dest="format", action="store_const", const="json", help="the same as --format json"
    )


def _from_zero(text: str) -> int:
    if text.startswith("-"):
        raise argparse.ArgumentTypeError("must be at least 0, which stands for all")
    return 0 if text == "0" else positive(text)


def run(options: argparse.Namespace) -> int:
    """Check every kernel of every file; 1 if anything was found, 2 if a file could not be judged."""
    from fencepost.report.silencing import Silencer

    refuse_unknown_target(options.target or "")
    output: Output = FORMATS[options.format](options)
    codes = [0]
    without: list[tuple[str, FencepostError]] = []
    files = kernel_files(options.files, CHECKED)
    for number, (name, missing) in enumerate(files, 1):
        begin_file(name, number, len(files))
        silencer = Silencer()
        for judged in [missing] if missing is not None else _judgements(name, options):
            if isinstance(judged, FencepostError):
                if judged.code == NO_KERNEL and _is_host_code(name, options):
                    without.append((name, judged))
                    continue
                # The others are judged all the same.
                output.refuse(name, judged)
                silencer.complete = False
                codes.append(judged.exit_code)
                continue
            if isinstance(judged, Judged):
                judged.report, judged.silenced = silencer.apply(judged.kernel, judged.report)
                codes.append(1 if _is_wrong(judged.report, options) else 0)
                output.add(judged)
                continue
            used = (allow for allow, _ in judged.silenced)
            silencer.heed(judged.cuda or judged.ptx, used, decided=judged.proven)
            codes.append(1 if judged.errors or (options.require_proof and not judged.proven) else 0)
            output.add_ptx(judged)
        output.end_file(name, silencer.warnings())
    for name, missing in without:
        if len(without) == len(files):
            output.refuse(name, missing)
            codes.append(missing.exit_code)
        else:
            say(f"{name}: there is no kernel in it")
    output.end()
    return max(codes)


def _is_host_code(name: str, options: argparse.Namespace) -> bool:
    """Whether a file without a kernel is one of a folder's that has host code alone: nobody has asked for it."""
    return name not in options.files and name.endswith(CUDA) and is_host_code(read_source(name).text)


def _is_wrong(report: Report, options: argparse.Namespace) -> bool:
    """Whether a verdict makes the command fail; what is silenced does not, whoever silenced it has said why."""
    return not report.ok or bool(options.require_proof and not report.explored.complete)


def _judgements(name: str, options: argparse.Namespace) -> Iterator[Judged | JudgedPtx | FencepostError]:
    """The kernels of a file, one after the other, each with what was found, or why it could not be judged."""
    from fencepost.targets import target_named

    try:
        source = read_source(name)
        if is_thread_level(name, source.text):
            from fencepost.commands.ptx_check import ptx_judgements

            yield from ptx_judgements(name, source, options)
            return
        if options.files == [name]:
            refuse_cuda_options(options)
        named = target_named(options.target).named_barriers if options.target else None
        check = read_options(Check, options, named_barriers=named)
        kernels = kernels_of(name, source, compiled=not options.as_is)
        found = kernels.to_check()
    except FencepostError as error:
        yield error
        return
    for kernel in found:
        begin_phase(f"checking @{kernel.name}")
        try:
            yield Judged(name, kernels, kernel, check.apply(kernel))
        except FencepostError as error:
            error.source = error.source or kernel.source
            yield error
