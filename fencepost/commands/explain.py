"""`fencepost explain`: for every barrier, what it alone covers."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from fencepost.commands.files import read_kernels
from fencepost.commands.output import (
    add_as_is_argument,
    add_target_argument,
    print_json,
    print_styled,
)
from fencepost.options import add_options, read_options

SUMMARY = "say for every barrier why it is there, or that nothing needs it"
SHOWN = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    from fencepost.passes.explain import Explain

    parser.add_argument("file", metavar="FILE", help="a kernel in text form (.fp), or - for standard input")
    add_target_argument(parser)
    add_options(parser, Explain)
    add_as_is_argument(parser)
    parser.add_argument(
        "-a", "--all", action="store_true", help=f"all reasons of a barrier, not just {SHOWN}"
    )


def run(options: argparse.Namespace) -> int:
    """Explain the barriers of every kernel of the file."""
    from fencepost.ir.ops import SharedMemoryBarrierSignal
    from fencepost.passes.explain import Explain
    from fencepost.report.diagnostics import Diagnostic, render
    from fencepost.report.findings import op_json, spans_of
    from fencepost.report.hazard_json import hazard_json
    from fencepost.report.slot_words import apart_sentence
    from fencepost.report.stalls import stall_json, stall_sentence, stalls_of
    from fencepost.report.words import NAMES, consequence, plural

    found: list[dict[str, Any]] = []
    kernels = read_kernels(options.file, compiled=not options.as_is)
    target = kernels.target(options.target)
    for kernel in kernels:
        source, spans = spans_of(kernel)
        explained = read_options(Explain, options, target=target).apply(kernel)
        stalls = stalls_of(kernel, target)
        if options.json:
            barriers = [
                op_json(entry.op, spans)
                | {
                    "redundant": entry.redundant or None,
                    "note": entry.note or None,
                    "stall": stall_json(stalls.get(entry.op)),
                    "hazards": [hazard_json(hazard, spans) for hazard in entry.hazards],
                }
                for entry in explained.barriers
            ]
            uncovered = [hazard_json(hazard, spans) for hazard in explained.uncovered]
            apart = [
                {
                    "first": op_json(pair.first, spans),
                    "second": op_json(pair.second, spans),
                    "loop": pair.loop.var,
                    "distances": list(pair.distances),
                    "barrier": op_json(pair.barrier, spans) if pair.barrier else None,
                    "why": apart_sentence(pair, spans),
                }
                for pair in explained.apart
            ]
            solver = {"questions": explained.questions, "solved": explained.solved}
            found.append(
                {
                    "kernel": kernel.name,
                    **kernels.judged_json(),
                    "barriers": barriers,
                    "uncovered": uncovered,
                    "apart": apart,
                    "solver": solver,
                    "limits": list(explained.limits),
                }
            )
            continue
        if not explained.barriers:
            sys.stdout.write(f"{source.name}: @{kernel.name} has no barriers\n")
        for entry in explained.barriers:
            where = f"{source.name}:{spans[entry.op]}"
            if entry.redundant:
                sys.stdout.write(f"{where}: redundant: {entry.redundant}\n")
                continue
            if isinstance(entry.op, SharedMemoryBarrierSignal):
                sys.stdout.write(f"{where}: {entry.note}{stall_sentence(stalls.get(entry.op))}\n")
                continue
            sys.stdout.write(f"{where}: needed{stall_sentence(stalls.get(entry.op))}\n")
            if entry.note:
                sys.stdout.write(f"  {entry.note}\n")
            shown = entry.hazards if options.all else entry.hazards[:SHOWN]
            for hazard in shown:
                sys.stdout.write(f"  {NAMES[hazard.kind]}: without this, {consequence(hazard, spans)}\n")
            if len(entry.hazards) > len(shown):
                sys.stdout.write(f"  and {len(entry.hazards) - len(shown)} more (--all shows them)\n")
        if explained.apart:
            sys.stdout.write("accesses to different slots:\n")
            shown_pairs = explained.apart if options.all else explained.apart[:SHOWN]
            for pair in shown_pairs:
                sys.stdout.write(f"  {apart_sentence(pair, spans)}\n")
            if len(explained.apart) > len(shown_pairs):
                sys.stdout.write(f"  and {len(explained.apart) - len(shown_pairs)} more (--all shows them)\n")
        for limit in explained.limits:
            sys.stdout.write(f"not exact: {limit}\n")
        if explained.uncovered:
            count = "more than " * explained.more + plural(len(explained.uncovered), "hazard")
            text = f"{count} of @{kernel.name} that no barrier covers"
            note = (("help", "`fencepost check` tells which are real, `fencepost insert` covers them all"),)
            print_styled(render(Diagnostic("FP301", text, (), note, source, "warning")))
    if options.json:
        print_json(found)
    elif kernels.judged:
        sys.stdout.write(f"{options.file}: {kernels.judged}\n")
    return 0
