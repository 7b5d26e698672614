"""Barriers of stock Triton, of fencepost, and the optimum, for the corpus; and how long fencepost takes.

    python bench/triton/barriers.py [--target T ...] [--only NAME ...] [--summary]

Executed is how often barriers run in one run of the kernel: loops of unknown length are taken to run 100 times.
Barriers that waits of several warp groups end in are counted, those inside of operations with scratch memory are not:
they are the same for both. Kernels that fencepost leaves as they are (see docs/triton.md) are listed with the reason
and not counted. Time is CPU time of this process: fencepost's, and that of a whole compilation by stock Triton.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

from build import compile_plain
from corpus import CORPUS, TARGETS, Entry

from fencepost.flow import build_flow
from fencepost.hosts.triton import installed
from fencepost.hosts.triton.audit import stock_edits
from fencepost.hosts.triton.edits import Edit, apply_edits
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.results import edits_of, local_waits, place_barriers
from fencepost.hosts.triton.translate import Translation, translations
from fencepost.ir import ops


@dataclass
class Measured:
    """One build."""

    stock: float = 0.0
    ours: float = 0.0
    best: float = 0.0
    """The optimum, of what was put in."""
    proven: bool = True
    reason: str = ""
    seconds: float = 0.0
    compile: float = 0.0


@dataclass
class Recorder:
    """Decides as fencepost does, and keeps the numbers."""

    measured: Measured = field(default_factory=Measured)

    def decide(self, before: Module, after: Callable[[], Module]) -> list[Edit]:
        """fencepost's barriers."""
        measured = self.measured
        stock = read_module(apply_edits(before, stock_edits(before, after())))
        measured.stock = sum(executed(each) for each in translations(stock))
        began = time.thread_time()
        edits: list[Edit] = []
        found = translations(before, local=True)
        for translation in found:
            placed = place_barriers(translation)
            measured.proven = measured.proven and "optimal, proven" in placed.proof
            measured.best += placed.best or 0.0
            edits += [*edits_of(translation), *local_waits(translation)]
        measured.seconds = time.thread_time() - began
        measured.ours = sum(executed(each) for each in found)
        return edits


def executed(translation: Translation) -> float:
    """How often the barriers of a kernel run."""
    return sum(
        block.frequency
        for block in build_flow(translation.trace).blocks
        for op in block.ops
        if isinstance(op, ops.SharedMemoryBarrier) and op.owner is None
    )


def whole_time() -> float:
    """Seconds of computing so far, programs that were started (the assembler) included."""
    return sum(os.times()[:4])


def measure(entry: Entry, target: str) -> Measured:
    """Compile an entry as it is, and with fencepost."""
    began = whole_time()
    compile_plain(entry, target)
    taken = whole_time() - began
    recorder = Recorder()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with installed("replace", decide=recorder.decide):
            compile_plain(entry, target)
    recorder.measured.compile = taken
    for warning in caught:
        if "fencepost left" in str(warning.message):
            recorder.measured.reason = str(warning.message).partition(": ")[2].splitlines()[0]
    return recorder.measured


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", nargs="+", default=list(TARGETS))
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--summary", action="store_true", help="only the totals of each target")
    options = parser.parse_args()
    head = f"{'kernel':<34}{'target':<9}{'stock':>12}{'fencepost':>12}{'ratio':>7}"
    print(head + f"{'optimum':>12}  {'':<8}{'ms':>6}{'%':>6}")
    for target in options.target:
        done: list[Measured] = []
        left: dict[str, int] = {}
        for entry in CORPUS.values():
            if (
                target not in entry.targets
                or entry.mistake
                or (options.only and entry.name not in options.only)
            ):
                continue
            found = measure(entry, target)
            if found.reason:
                left[found.reason] = left.get(found.reason, 0) + 1
                continue
            done.append(found)
            if not options.summary:
                print(line(entry.name, target, found), flush=True)
        if done:
            print(total(target, done), flush=True)
        for reason, count in left.items():
            print(f"  left as they are: {count}: {reason}", flush=True)


def line(name: str, target: str, found: Measured) -> str:
    """One row."""
    ratio = f"{found.ours / found.stock:.2f}" if found.stock else "–"
    proven = "proven" if found.proven else "not"
    part = found.seconds / found.compile * 100
    return (
        f"{name:<34}{target:<9}{found.stock:>12,.1f}{found.ours:>12,.1f}{ratio:>7}{found.best:>12,.1f}  {proven:<8}"
        f"{found.seconds * 1e3:>6.1f}{part:>6.1f}"
    )


def total(target: str, done: list[Measured]) -> str:
    """The row below those of a target: sums, how many optima are proven, medians."""
    stock, ours = sum(each.stock for each in done), sum(each.ours for each in done)
    ratios = [each.ours / each.stock for each in done if each.stock]
    more = sum(each.ours > each.stock * (1 + 1e-9) for each in done)
    middle = statistics.median(each.seconds for each in done) * 1e3
    parts = sorted(each.seconds / each.compile * 100 for each in done)
    return (
        f"{f'{len(done)} kernels':<34}{target:<9}{stock:>12,.1f}{ours:>12,.1f}{ours / stock if stock else 1:>7.2f}"
        f"{sum(each.best for each in done):>12,.1f}  "
        f"{sum(each.proven for each in done)} proven, mean ratio {statistics.fmean(ratios or [1]):.2f}, "
        f"{more} with more, "
        f"median {middle:.1f} ms, {statistics.median(parts):.1f} % of the compilation, at most {parts[-1]:.1f} %"
    )


if __name__ == "__main__":
    main()
    sys.stdout.flush()
