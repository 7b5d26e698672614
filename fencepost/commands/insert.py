"""`fencepost insert`: add the barriers that a kernel lacks."""

from __future__ import annotations

import argparse
from typing import Any

from fencepost.commands.files import read_kernels
from fencepost.commands.output import add_output_arguments, print_json, put_kernels, say

SUMMARY = "add the barriers that a kernel lacks"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    from fencepost.insertion import DEFAULT_STRATEGY
    from fencepost.placement import STRATEGIES
    from fencepost.targets.table import DEFAULT_TARGET, TARGETS

    parser.add_argument("file", metavar="FILE", help="a kernel in text form (.fp), or - for standard input")
    parser.add_argument(
        "-t", "--target", default=DEFAULT_TARGET, help=f"the GPU: {', '.join(TARGETS)} (default: %(default)s)"
    )
    names = "; ".join(f"{name}: {strategy.summary}" for name, strategy in STRATEGIES.items())
    parser.add_argument(
        "-s", "--strategy", default=DEFAULT_STRATEGY, metavar="NAME", help=f"{names} (default: %(default)s)"
    )
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Insert into every kernel of the file; nothing is written unless all of them work out."""
    from fencepost.insertion import Inserted, insert_barriers
    from fencepost.ir.printer import locate
    from fencepost.report.hazards import hazard_json
    from fencepost.report.words import plural, times

    kernels = read_kernels(options.file)
    results: list[Inserted] = [
        insert_barriers(kernel, options.target, options.strategy) for kernel in kernels
    ]
    put_kernels(options, kernels)
    if options.json:
        found: list[dict[str, Any]] = []
        for kernel, result in zip(kernels, results, strict=True):
            _, spans = locate(kernel)
            found.append(
                {
                    "kernel": kernel.name,
                    "target": result.target,
                    "instruction": result.instruction,
                    "strategy": result.strategy,
                    "executed": result.executed,
                    "barriers": [
                        {
                            "line": spans[barrier.op].line,
                            "executed": barrier.executed,
                            "wait_async_ops": barrier.op.wait_async_ops,
                            "hazards": [hazard_json(hazard, spans) for hazard in barrier.hazards],
                        }
                        for barrier in result.barriers
                    ],
                    "text": str(kernel),
                }
            )
        print_json(found)
        return 0
    for kernel, result in zip(kernels, results, strict=True):
        many = plural(len(result.barriers), "barrier")
        say(f"@{kernel.name}: {many} inserted by {result.strategy}, executed {times(result.executed)}")
    return 0
