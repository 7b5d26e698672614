"""`fencepost demo`: bundled kernels, their hazards and races, the barriers put in, and what `check` finds then."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from fencepost.commands.output import print_json, print_styled

if TYPE_CHECKING:
    from fencepost.ir.trace import CapturedTrace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    from fencepost.kernels import BUNDLED, KERNELS
    from fencepost.targets.table import DEFAULT_TARGET

    parser.add_argument(
        "kernels",
        metavar="KERNEL",
        nargs="*",
        help=f"of {', '.join(KERNELS)} (default: the first {len(BUNDLED)})",
    )
    parser.add_argument("-t", "--target", default=DEFAULT_TARGET, help="the GPU (default: %(default)s)")


def run(options: argparse.Namespace) -> int:
    """Tell the story of each kernel; 1 if any is not clean in the end."""
    from fencepost.did_you_mean import did_you_mean
    from fencepost.ir.source import FencepostError
    from fencepost.kernels import BUNDLED, KERNELS, bundled_kernel

    for name in options.kernels:
        if name not in KERNELS:
            notes = [*did_you_mean(name, KERNELS), ("bundled kernels", ", ".join(KERNELS))]
            raise FencepostError(f"there is no bundled kernel {name!r}", code="FP113", notes=notes)
    shown = [_show(bundled_kernel(name), options) for name in options.kernels or BUNDLED]
    if options.json:
        print_json(shown)
    elif len(shown) > 1:
        sys.stdout.write(f"{len(shown)} kernels, {sum(entry['barriers'] for entry in shown)} barriers, ")
        sys.stdout.write("all clean.\n" if all(entry["ok"] for entry in shown) else "NOT all clean.\n")
    return 0 if all(entry["ok"] for entry in shown) else 1


def _show(kernel: CapturedTrace, options: argparse.Namespace) -> dict[str, Any]:
    """Before, hazards, barriers and why, after."""
    from fencepost.analysis.build_program import read_program
    from fencepost.analysis.hazards import hazards
    from fencepost.check import check
    from fencepost.ir.printer import locate
    from fencepost.passes.insert import insert_barriers
    from fencepost.report.diagnostics import render
    from fencepost.report.findings import grouped, spans_of
    from fencepost.report.words import NAMES, consequence, place, plural

    _, spans = spans_of(kernel)
    source = kernel.source.text if kernel.source else str(kernel)
    found = list(hazards(read_program(kernel)))
    before = check(kernel)
    first_race, _ = grouped(kernel, before, 1)
    result = insert_barriers(kernel, options.target)
    after = check(kernel)
    summary = {
        "kernel": kernel.name,
        "target": result.target,
        "hazards": len(found),
        "races_before": len(before.races),
        "barriers": len(result.barriers),
        "executed": result.executed,
        "ok": after.ok,
        "text": str(kernel),
    }
    if options.json:
        return summary
    _heading(f"@{kernel.name}")
    sys.stdout.write(source + "\n")
    _heading(f"{plural(len(found), 'hazard')} in it", "-")
    for hazard in found:
        pair = f"{hazard.producer.noun} {place(hazard.producer)} → {hazard.consumer.noun} {place(hazard.consumer)}"
        lines = f"lines {spans[hazard.producer].line} → {spans[hazard.consumer].line}"
        again = ", next iteration" if hazard.is_loop else ""
        sys.stdout.write(f"  {NAMES[hazard.kind]:<18}{pair} ({lines}{again})\n")
    sys.stdout.write("\n")
    _heading(f"without barriers: {plural(len(before.races), 'race')}, the first of them", "-")
    for diagnostic in first_race:
        print_styled(render(diagnostic))
    sys.stdout.write("\n")
    _heading(f"with the barriers that fencepost puts in for {result.target}", "-")
    printed, lines_now = locate(kernel)
    _print_kernel(printed.text)
    for barrier in result.barriers:
        line = lines_now[barrier.op].line
        sys.stdout.write(f"without line {line}, {consequence(barrier.hazards[0], lines_now)}\n")
    verdict = "no race, no deadlock" if after.ok else "NOT CLEAN"
    sys.stdout.write(f"\nchecked: {verdict}; {after.explored}\n\n\n")
    return summary


def _heading(text: str, line: str = "=") -> None:
    from rich.text import Text

    print_styled(Text(f"{text}\n{line * len(text)}\n", "bold"))


def _print_kernel(text: str) -> None:
    """The kernel with its barriers standing out."""
    from rich.text import Text

    out = Text()
    for number, line in enumerate(text.splitlines(), 1):
        out.append(f"{number:>3} | ", "blue")
        out.append(f"{line}\n", "bold green" if line.strip().startswith("barrier") else "")
    print_styled(out)
    sys.stdout.write("\n")
