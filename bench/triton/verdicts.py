"""What `check` says of every build, with Triton's barriers and with fencepost's.

    python bench/triton/verdicts.py [--target T ...] [--only NAME ...] [--mistakes]

Judged in full, mbarriers included, is what Triton compiles: membar's barriers are put into the module, and it is read
again; of `replace`, the very module that goes on to the lowering is printed and read. Prints one line for each build
that is not clean and a row for each target. With --mistakes, the kernels that have one are judged instead, with
Triton's barriers (or without, if those repair it), and how far what is shown is from the line at fault is printed.
Exits with 1 if a build is not clean with fencepost's barriers, or left to Triton, or a mistake is not found.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from build import compile_plain
from corpus import CORPUS, TARGETS, Entry

from fencepost.check import check
from fencepost.hosts.triton import installed
from fencepost.hosts.triton.audit import stock_edits
from fencepost.hosts.triton.choose_barriers import fewer_or_membars
from fencepost.hosts.triton.generic import generic_form, touches_shared
from fencepost.hosts.triton.installation import NOTED
from fencepost.hosts.triton.joint_kernel import judged
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.text_edits import Edit, apply_edits
from fencepost.hosts.triton.translate import translations
from fencepost.report.diagnostics import render
from fencepost.report.findings import diagnostics

CLEAN = "clean"
LINE = re.compile(r"\.py:(\d+)|called from line (\d+)")
"""Lines of a kernel's source in a report."""


@dataclass
class Judge:
    """Decides as fencepost does, and judges the module with Triton's barriers and as `replace` hands it on."""

    entry: Entry
    stock: str = CLEAN
    ours: str = CLEAN
    proven: bool = True
    verified: str = "no shared memory"
    """What `replace` itself says of the module that it passes on."""
    handed: str = ""
    """That module, printed."""
    lines: list[int] = field(default_factory=list)
    """Lines of the kernel's source that reports show."""

    def decide(self, before: Module, after: Callable[[], Module]) -> list[Edit] | None:
        """fencepost's barriers, or, where there is a mistake, those that do not hide it."""
        mistake = self.entry.mistake
        theirs = [] if mistake and mistake.repaired_by_membar else stock_edits(before, after())
        self.stock = self.verdict(apply_edits(before, theirs))
        return theirs if mistake is not None else fewer_or_membars(before, after)

    def compiled(self, note: dict[str, Any]) -> None:
        """The kernel is there: judge what was passed on, as far as fencepost has changed it."""
        if note["left"]:
            self.ours = self.verified = f"left to Triton: {note['left'].splitlines()[0]}"
        elif touches_shared(self.handed):
            self.verified = note["judged"]
            self.ours = self.verdict(self.handed)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Keep each module that goes into the lowering; the last one is what is compiled."""
        runtime = import_module("triton.knobs").runtime

        def watch(*arguments: Any) -> tuple[str, str] | None:
            if not arguments:
                return "", ""
            lower = arguments[1]["llir"]

            def watched(source: Any, metadata: Any) -> Any:
                self.handed = generic_form(source)
                return lower(source, metadata)

            arguments[1]["llir"] = watched
            return None

        with runtime.scope():
            runtime.add_stages_inspection_hook = watch
            yield

    def verdict(self, text: str) -> str:
        """What there is to say about a module."""
        found = translations(read_module(text))
        beyond = sorted({name for each in found for name in each.not_judged})
        if beyond:
            return f"not followed: {', '.join(beyond)}"
        races = hangs = 0
        for trace in judged(found):
            report = check(trace)
            races, hangs = races + len(report.races), hangs + len(report.deadlocks)
            self.proven = self.proven and report.explored.complete
            shown = "".join(render(each).plain for each in diagnostics(trace, report))
            self.lines += [int(number) for each in LINE.findall(shown) for number in each if number]
        return CLEAN if not races and not hangs else f"{races} races, {hangs} hangs"


def judge(entry: Entry, target: str) -> Judge:
    """One build."""
    made = Judge(entry)
    with warnings.catch_warnings(), made.watching():
        warnings.simplefilter("ignore")
        with installed("replace", decide=made.decide):
            kernel = compile_plain(entry, target)
    if entry.mistake is None:
        made.compiled(getattr(kernel.metadata, NOTED))
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
        chosen = [
            entry
            for entry in CORPUS.values()
            if target in entry.targets and (entry.mistake is not None) is options.mistakes
        ]
        found = [judge(entry, target) for entry in chosen if not options.only or entry.name in options.only]
        for each in found:
            failed += each.stock == CLEAN if options.mistakes else each.ours != CLEAN
            if options.mistakes or each.stock != CLEAN or each.ours != CLEAN:
                print(line(each, target), flush=True)
        print(mistakes(target, found) if options.mistakes else summary(target, found), flush=True)
    return 1 if failed else 0


def line(found: Judge, target: str) -> str:
    """The row of a build."""
    name = f"{found.entry.name:<36}{target:<9}"
    if found.entry.mistake is None:
        return f"{name}stock: {found.stock}; fencepost: {found.ours}"
    at = found.entry.mistake_line()
    near = min((abs(number - at) for number in found.lines), default=None)
    return f"{name}{found.stock}; marked on line {at}, " + (
        f"shown {near} lines from there" if near is not None else "not shown"
    )


def summary(target: str, found: list[Judge]) -> str:
    """The row of a target."""
    stock, ours = (
        sum(verdict == CLEAN for verdict in verdicts)
        for verdicts in ([each.stock for each in found], [each.ours for each in found])
    )
    proven = sum(each.proven for each in found)
    rows = [
        f"{target:<9}{len(found):>4} builds, clean with stock's barriers {stock:>4}, as replace hands them on "
        f"{ours:>4}, proven {proven:>4}"
    ]
    said = Counter(each.verified for each in found)
    rows += [f"{'':<9}{count:>4} verified by replace: {what}" for what, count in said.most_common()]
    return "\n".join(rows)


def mistakes(target: str, found: list[Judge]) -> str:
    """The same for kernels that have a mistake."""
    reported = sum(each.stock != CLEAN for each in found)
    return f"{target:<9}{len(found):>4} builds with a mistake, {reported:>4} reported"


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.exit(status)
