"""Every kernel of the corpus and every variant, compiled and judged: what was expected, the verdict, the time.

    python bench/ptx/run.py [--only NAME] [--delete] [--unoptimized] [--json FILE]

Times are processor time of the judge alone, without the compiler. With --delete, each `bar.sync` of a proven kernel
is deleted in turn: what is left has to be reported, unless that barrier is called redundant (by itself: of two in a
row `prune` takes out one), which a run of `simulate.py` has to agree with.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ptx_corpus import Entry, Variant, corpus

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.compiler.nvrtc import Compilation, compile_cuda
from fencepost.hosts.ptx.verdicts import Site
from fencepost.ir.source import FencepostError, Source

REPORTED = ("warned of", "weaker proof", "for global memory", "redundant")
"""What may become of a deleted barrier besides a race: a warning, a condition, or nothing, if it is redundant."""
CODES = {
    "race": {"FP001"},
    "warning": {"FP001", "FP008"},
    "divergence": {"FP002"},
    "deadlock": {"FP002"},
    "phase": {"FP003", "FP006"},
    "fence": {"FP008"},
    "lifetime": {"FP009"},
    "allocation": {"FP010"},
}
"""The codes that each kind of mistake is reported by."""
GOOD = ("proven", "found", "undecided as expected")


@dataclass
class Row:
    """One line of the table."""

    kernel: str
    variant: str
    expectation: str
    verdict: str
    outcome: str
    seconds: float
    note: str = ""


def ptx_of(entry: Entry, variant: Variant, optimized: bool = True) -> str:
    """The PTX of a variant."""
    how = Compilation(entry.target, defines=variant.defines, optimized=optimized)
    return compile_cuda(Source(str(entry.path), entry.text), how).ptx


def judge(entry: Entry, variant: Variant, optimized: bool = True) -> Row:
    """A variant compiled and judged."""
    text = ptx_of(entry, variant, optimized)
    begin = time.process_time()
    try:
        (verdict,) = check(text, block=entry.block, file=f"{entry.name}.ptx")
    except FencepostError as error:
        return _row(entry, variant, "error", "crash", begin, str(error))
    outcome, note = compare(variant, verdict, entry.path.name)
    return _row(entry, variant, verdict.verdict, outcome, begin, note)


def _row(entry: Entry, variant: Variant, verdict: str, outcome: str, begin: float, note: str) -> Row:
    seconds = time.process_time() - begin
    return Row(entry.name, variant.name, variant.expectation, verdict, outcome, round(seconds, 2), note)


def compare(variant: Variant, verdict: KernelVerdict, file: str) -> tuple[str, str]:
    """What a verdict is worth, and what to say about it."""
    if verdict.verdict == "undecided":
        why = str(verdict.reasons[0]) if verdict.reasons else "no reason given"
        return ("undecided as expected" if variant.expectation == "undecided" else "undecided"), why
    if variant.expectation in ("proven", "undecided"):
        if verdict.verdict == "proven" and not verdict.findings:
            return "proven", verdict.holds_for
        return "false alarm", _shown(verdict)
    if not verdict.findings:
        return "missed", variant.why
    at_its_lines = [
        each
        for each in verdict.findings
        if all(not (at := lines_of(site, file)) or at & variant.lines for site in (each.first, each.second))
    ]
    if not at_its_lines:
        return "wrong place", _shown(verdict)
    if not CODES[variant.expectation] & {each.code for each in verdict.findings}:
        return "wrong kind", _shown(verdict)
    severe = any(each.severity == "error" for each in verdict.findings)
    if severe != (variant.expectation != "warning"):
        return "wrong severity", _shown(verdict)
    return "found", _shown(verdict)


def lines_of(site: Site, file: str) -> set[int]:
    """The lines of a file that an instruction was made from, calls included; none if the compiler does not say."""
    inner = {site.source_line} if site.source_line and Path(site.source_file or "").name == file else set()
    return inner | set(site.inlined_at)


def _shown(verdict: KernelVerdict) -> str:
    if not verdict.findings:
        return verdict.verdict
    first = verdict.findings[0]
    lines = f"{first.first.source_line}/{first.second.source_line}"
    return f"{first.code} {first.severity} {lines}: {first.message}"


def deletions(entry: Entry, optimized: bool = True) -> Iterator[Row]:
    """Each barrier of a proven kernel deleted in turn: that has to be reported, or the barrier is redundant.

    What fencepost calls redundant is run by `simulate.py`, which shares no code with it."""
    from fencepost.hosts.ptx.asked_launch import AskedLaunch
    from fencepost.hosts.ptx.edits.text_edits import barriers, global_pair
    from fencepost.hosts.ptx.reading.parse import parse

    text, launch = ptx_of(entry, entry.variants[0], optimized), AskedLaunch(entry.block)
    whole = launch.judge(text, entry.name)
    if whole.verdict != "proven":
        return
    lines = text.split("\n")
    for barrier in barriers(parse(text), entry.name):
        begin = time.process_time()
        number = barrier.line
        without = "\n".join([*lines[: number - 1], f"//{lines[number - 1]}", *lines[number:]])
        verdict = launch.judge(without, entry.name)
        note = _shown(verdict) if verdict.findings else verdict.holds_for
        if verdict.verdict != "proven":
            outcome = "found" if verdict.verdict == "race" else "undecided"
            note = note if outcome == "found" else str(verdict.reasons[0])
        elif len(verdict.findings) > len(whole.findings):
            outcome = "warned of"
        elif verdict.holds_for != whole.holds_for:
            outcome = "weaker proof"
        elif (pair := global_pair(text, entry.name, [barrier], launch)) is not None:
            outcome, note = "for global memory", f"{pair.first} and {pair.second}"
        else:
            outcome, note = _confirmed(without, entry)
        seconds = round(time.process_time() - begin, 2)
        yield Row(entry.name, f"line {number}", "race", verdict.verdict, outcome, seconds, note)


def _confirmed(text: str, entry: Entry) -> tuple[str, str]:
    """What a run says of a kernel without a barrier that is called redundant."""
    from simulate import opinion

    said, where = opinion(entry, entry.variants[0], text)
    return ("redundant", said) if said in ("nothing", "not simulated") else ("missed", f"{said}: {where}")


def print_row(row: Row) -> None:
    """One line of the table."""
    what = f"{row.kernel:22} {row.variant:18} {row.expectation:10} {row.outcome:14}"
    print(f"{what} {row.seconds:7.2f} s  {row.note[:150]}", flush=True)


def summary(rows: list[Row]) -> str:
    """The totals, as the last lines of the table."""
    right = [row for row in rows if row.expectation in ("proven", "undecided")]
    wrong = [row for row in rows if row.expectation not in ("proven", "undecided")]
    proven = sum(row.outcome == "proven" for row in right)
    found = sum(row.outcome == "found" for row in wrong)
    alarms = sum(row.outcome == "false alarm" for row in right)
    times = [row.seconds for row in rows]
    outcomes = ", ".join(f"{number} {name}" for name, number in Counter(row.outcome for row in rows).items())
    return (
        f"{len(rows)} judged: {outcomes}\n"
        f"right kernels: {proven} of {len(right)} proven ({100 * proven / max(len(right), 1):.0f} %), "
        f"{alarms} false alarms\n"
        f"planted mistakes: {found} of {len(wrong)} found at their lines\n"
        f"time: median {statistics.median(times):.2f} s, largest {max(times):.2f} s"
    )


def main(argv: list[str] | None = None) -> int:
    """Judge the corpus and print the table."""
    parser = argparse.ArgumentParser(description="The corpus of CUDA kernels, judged.")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    parser.add_argument("--delete", action="store_true", help="delete each barrier of the right kernels")
    parser.add_argument("--json", help="write the rows there as well")
    parser.add_argument("--right", action="store_true", help="the kernels as they stand, not their variants")
    parser.add_argument("--unoptimized", action="store_true", help="compile without optimization")
    options = parser.parse_args(argv)
    rows: list[Row] = []
    for entry in corpus(options.only):
        variants = entry.variants[:1] if options.right else entry.variants
        optimized = not options.unoptimized
        judged = (judge(entry, each, optimized) for each in variants)
        for row in deletions(entry, optimized) if options.delete else judged:
            rows.append(row)
            print_row(row)
    if not rows:
        print(f"no kernel is called like {options.only}", file=sys.stderr)
        return 2
    print(summary(rows))
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    return 0 if all(row.outcome in (*GOOD, *REPORTED) for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
