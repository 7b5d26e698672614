"""`fencepost prune`: take out barriers that no hazard needs."""

from __future__ import annotations

import argparse

from fencepost.commands.files import read_kernels
from fencepost.commands.output import add_output_arguments, print_json, put_kernels, say

SUMMARY = "remove barriers that no hazard needs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("file", metavar="FILE", help="a kernel in text form (.fp), or - for standard input")
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Prune every kernel of the file."""
    from fencepost.insertion import prune_barriers
    from fencepost.report.findings import op_json, spans_of
    from fencepost.report.words import plural

    kernels = read_kernels(options.file)
    found = []
    for kernel in kernels:
        _, spans = spans_of(kernel)
        removed, kept = prune_barriers(kernel)
        found.append((kernel, spans, removed, kept))
    put_kernels(options, kernels)
    if options.json:
        print_json(
            [
                {
                    "kernel": kernel.name,
                    "removed": [op_json(op, spans) for op in removed],
                    "kept": [op_json(op, spans) for op in kept],
                    "text": str(kernel),
                }
                for kernel, spans, removed, kept in found
            ]
        )
        return 0
    for kernel, spans, removed, kept in found:
        lines = ", ".join(str(spans[op].line) for op in removed)
        where = f" (line {lines})" if len(removed) == 1 else f" (lines {lines})" if removed else ""
        say(f"@{kernel.name}: {plural(len(removed), 'barrier')} removed{where}, {len(kept)} kept")
    return 0
