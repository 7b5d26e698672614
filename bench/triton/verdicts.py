"""What `check` says of every build, with Triton's barriers and with fencepost's.

    python bench/triton/verdicts.py [--target T ...] [--only NAME ...] [--mistakes]

Judged is the text that Triton parses: membar's barriers, or fencepost's, are put into the module, and it is read
again. Prints one line for each build that is not clean and a row for each target. With --mistakes, the kernels that
have one are judged instead, with Triton's barriers, and those in which nothing is found are printed.
Exits with 1 if a build is not clean with fencepost's barriers, or a mistake is not found.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from build import compile_plain
from corpus import CORPUS, TARGETS, Entry

from fencepost.check import check
from fencepost.hosts.triton import installed
from fencepost.hosts.triton.audit import stock_edits
from fencepost.hosts.triton.edits import Edit, apply_edits
from fencepost.hosts.triton.installation import fencepost_barriers
from fencepost.hosts.triton.judging import judged
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.translate import translations
from fencepost.ir.source import FencepostError

CLEAN = "clean"


@dataclass
class Judge:
    """Decides as fencepost does, and judges both results."""

    with_ours: bool
    stock: str = CLEAN
    ours: str = CLEAN
    proven: bool = True

    def decide(self, before: Module, after: Callable[[], Module]) -> list[Edit]:
        """fencepost's barriers."""
        theirs = stock_edits(before, after())
        self.stock = self.verdict(before, theirs)
        if not self.with_ours:
            return theirs
        try:
            edits = fencepost_barriers(before, after)
        except FencepostError as error:
            self.ours = f"left to Triton: {str(error).splitlines()[0]}"
            raise
        self.ours = self.verdict(before, edits)
        return edits

    def verdict(self, before: Module, edits: list[Edit]) -> str:
        """What there is to say about a module with some edits."""
        text = apply_edits(before, edits)
        found = translations(read_module(text))
        beyond = sorted({op.name for each in found for op in (*each.beyond, *each.unknown)})
        if beyond:
            return f"not followed: {', '.join(beyond)}"
        reports = [check(trace) for trace in judged(found)]
        races, hangs = sum(len(each.races) for each in reports), sum(len(each.deadlocks) for each in reports)
        self.proven = self.proven and all(each.explored.complete for each in reports)
        return CLEAN if not races and not hangs else f"{races} races, {hangs} hangs"


def judge(entry: Entry, target: str, *, with_ours: bool) -> Judge:
    """One build."""
    made = Judge(with_ours)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with installed("replace", decide=made.decide):
            compile_plain(entry, target)
    return made


def main() -> int:
    """Print the verdicts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", nargs="+", default=list(TARGETS))
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--mistakes", action="store_true", help="judge the kernels that have one")
    options = parser.parse_args()
    failed = 0
    for target in options.target:
        counted: Counter[str] = Counter()
        for entry in CORPUS.values():
            if target not in entry.targets or (options.only and entry.name not in options.only):
                continue
            if bool(entry.mistake) is not options.mistakes or (
                entry.mistake is not None and entry.mistake.repaired_by_membar
            ):
                continue
            found = judge(entry, target, with_ours=not options.mistakes)
            counted["builds"] += 1
            counted["stock clean"] += found.stock == CLEAN
            counted["ours clean"] += found.ours == CLEAN
            counted["proven"] += found.proven
            bad = found.stock == CLEAN if options.mistakes else found.ours != CLEAN
            failed += bad and not found.ours.startswith("left to Triton")
            if bad or (not options.mistakes and found.stock != CLEAN):
                print(f"{entry.name:<34}{target:<9}stock: {found.stock}; fencepost: {found.ours}", flush=True)
        print(summary(target, counted, mistakes=options.mistakes), flush=True)
    return 1 if failed else 0


def summary(target: str, counted: Counter[str], *, mistakes: bool) -> str:
    """The row of a target."""
    builds = counted["builds"]
    if mistakes:
        return f"{target:<9}{builds:>4} builds with a mistake, {builds - counted['stock clean']:>4} reported"
    return (
        f"{target:<9}{builds:>4} builds, clean with stock's barriers {counted['stock clean']:>4}, "
        f"with fencepost's {counted['ours clean']:>4}, proven {counted['proven']:>4}"
    )


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.exit(status)
