"""Barriers of stock Triton, of fencepost, and the optimum, for the corpus; and how long fencepost takes.

    python bench/triton/barriers.py [--target T ...] [--only NAME ...] [--repeat N] [--summary] [--times | --shares]

Executed is how often barriers run in one run of the kernel: loops of unknown length are taken to run 100 times.
Barriers that waits of several warp groups end in are counted, those inside of operations with scratch memory are not:
they are the same for both. Kernels that fencepost leaves as they are (see docs/triton.md) are listed with the reason
and not counted.

Time is CPU time: of all that fencepost does itself (printing the module, reading it, deciding, judging, and having
Triton parse it again), of membar in a stock compilation, and how much longer the compilation gets: where no barrier
is needed membar does not run, so that may be less than nothing. All are shares of a compilation by stock Triton,
the assembler included. With --repeat the shortest of several compilations counts, for all of them. With --times,
barriers are not counted. With --shares, they are not either, and a plain table is printed: how much longer each
compilation gets, which of them by more than they may, and a row for each target.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from build import compile_plain
from corpus import CORPUS, TARGETS, Entry

from fencepost.emit.write import Inserted
from fencepost.hosts.common.audits import barrier_runs
from fencepost.hosts.triton import installed
from fencepost.hosts.triton.audit import stock_edits
from fencepost.hosts.triton.choose_barriers import fewer_or_membars
from fencepost.hosts.triton.mlir.memoized import forget
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.pipeline import AtMembar, PassRange, running
from fencepost.hosts.triton.text_edits import Edit, apply_edits
from fencepost.hosts.triton.translate import Translation, translations
from fencepost.hosts.triton.write_back import place_barriers
from fencepost.passes.insert import Insert

LIMIT = 5.0
"""Percent of a compilation that fencepost may take."""


@dataclass
class Measured:
    """One build; times in seconds."""

    stock: float = 0.0
    ours: float = 0.0
    best: float = 0.0
    """The optimum, of what was put in."""
    proven: bool = True
    reason: str = ""
    own: float = 0.0
    """All that fencepost does, without membar."""
    asked: float = 0.0
    """What membar takes then; nothing if it is not asked."""
    membar: float = 0.0
    """What membar takes in a stock compilation,"""
    compile: float = 0.0
    """and all of that."""

    @property
    def own_share(self) -> float:
        """All that fencepost does, in percent of a compilation."""
        return self.own / self.compile * 100

    @property
    def more_share(self) -> float:
        """How much longer a compilation takes with fencepost in membar's place, in percent."""
        # Where membar runs either way, it takes what it takes.
        return (self.own - (0.0 if self.asked else self.membar)) / self.compile * 100


@dataclass
class Recorder:
    """Decides as fencepost does, and counts."""

    found: Measured = field(default_factory=Measured)

    def decide(self, before: Module, after: Callable[[], Module]) -> list[Edit] | None:
        """fencepost's barriers, or membar's own that are needed."""
        edits = fewer_or_membars(before, after)
        stock = read_module(apply_edits(before, stock_edits(before, after())))
        ours = stock if edits is None else read_module(apply_edits(before, edits))
        optima = [optimum(each) for each in translations(before, local=True)]
        self.found = Measured(
            stock=sum(sum(barrier_runs(each.trace)) for each in translations(stock)),
            ours=sum(sum(barrier_runs(each.trace)) for each in translations(ours)),
            best=sum(result.best or 0.0 for result in optima),
            proven=all("optimal, proven" in result.proof for result in optima),
        )
        return edits


@dataclass
class Stopwatch:
    """Times membar in a stock compilation, as a hook for its stages."""

    seconds: float = 0.0

    def hook(self, *arguments: Any) -> tuple[str, str] | None:
        """What Triton calls."""
        if not arguments:
            return "", ""
        backend, stages = arguments[:2]
        vendor, lower = ("amd" if backend.target.backend == "hip" else "nvidia"), stages["llir"]

        def lowered(source: Any, metadata: Any) -> Any:
            try:
                with running(vendor, PassRange(before=True)):
                    return lower(source, metadata)
            except AtMembar as at:
                stopped = at
            began = time.thread_time()
            stopped.membar(stopped.module)
            self.seconds += time.thread_time() - began
            with running(vendor, PassRange(skipped=stopped.ran)):
                return lower(stopped.module, metadata)

        stages["llir"] = lowered
        return None


def optimum(translation: Translation) -> Inserted:
    """The optimum of a kernel, which the pass does not look for if it is near enough."""
    return place_barriers(translation, Insert(stronger_waits=True))


def whole_time() -> float:
    """Seconds of computing so far, programs that were started (the assembler) included."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def measure(entries: list[Entry], target: str, repeat: int, counted: bool) -> dict[str, Measured]:
    """Compile entries as they are, and with fencepost; once more to count.

    All of them once, then once more: what is remembered from one kernel to the next (`mlir.memoized`) is then what
    kernels have in common, and not what a kernel has in common with itself.
    """
    counts = {entry.name: count(entry, target) if counted else Measured() for entry in entries}
    tries: dict[str, list[Measured]] = {entry.name: [] for entry in entries}
    for _ in range(repeat):
        forget()
        for entry in entries:
            tries[entry.name].append(attempt(entry, target))
    return {name: shortest(counts[name], each) for name, each in tries.items()}


def count(entry: Entry, target: str) -> Measured:
    """The barriers of an entry."""
    recorder = Recorder()
    with installed("replace", decide=recorder.decide):
        compile_plain(entry, target)
    return recorder.found


def shortest(counted: Measured, tries: list[Measured]) -> Measured:
    """The shortest of each time."""
    return replace(
        counted,
        reason=tries[0].reason,
        own=min(each.own for each in tries),
        asked=min(each.asked for each in tries),
        membar=min(each.membar for each in tries),
        compile=min(each.compile for each in tries),
    )


def attempt(entry: Entry, target: str) -> Measured:
    """The times, once."""
    watch = Stopwatch()
    runtime = import_module("triton.knobs").runtime
    with runtime.scope():
        runtime.add_stages_inspection_hook = watch.hook
        began = whole_time()
        compile_plain(entry, target)
        taken = whole_time() - began
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with installed("replace") as made:
            compile_plain(entry, target)
    for warning in caught:
        if "fencepost left" in str(warning.message):
            return Measured(reason=str(warning.message).partition(": ")[2].splitlines()[0], compile=taken)
    assert made is not None
    asked = sum(made.membar_seconds)
    return Measured(own=sum(made.seconds) - asked, asked=asked, membar=watch.seconds, compile=taken)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", nargs="+", default=list(TARGETS))
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--repeat", type=int, default=1, help="compile this often; the shortest times count")
    parser.add_argument("--summary", action="store_true", help="only the totals of each target")
    parser.add_argument("--times", action="store_true", help="times alone, no counts")
    parser.add_argument(
        "--shares", action="store_true", help="how much longer each compilation gets, and no more"
    )
    options = parser.parse_args()
    options.times |= options.shares
    head = f"{'kernel':<34}{'target':<9}{'stock':>12}{'fencepost':>12}{'ratio':>7}"
    if options.shares:
        print(f"{'build':<44}{'longer':>8}{'':>4}{'own':>8} ms{'of':>8} ms")
    else:
        print(
            head
            + f"{'optimum':>12}  {'':<8}{'own':>8} ms{'%':>6}{'membar':>8} ms{'more':>6} %{'compile':>8} ms"
        )
    every: dict[str, Measured] = {}
    for target in options.target:
        entries = [
            entry
            for entry in CORPUS.values()
            if target in entry.targets and not entry.mistake and entry.name in (options.only or CORPUS)
        ]
        done: list[Measured] = []
        left: dict[str, int] = {}
        for name, found in measure(entries, target, options.repeat, not options.times).items():
            if found.reason:
                left[found.reason] = left.get(found.reason, 0) + 1
                continue
            done.append(found)
            every[f"{name} {target}"] = found
            if not options.summary:
                written = share_line if options.shares else line
                print(written(name, target, found), flush=True)
        if done and not options.shares:
            print(total(target, done), flush=True)
        for reason, count in left.items():
            print(f"  left as they are: {count}: {reason}", flush=True)
    if options.shares:
        print(shares_by_target(every))
        return
    print(above("own", {name: each.own_share for name, each in every.items()}))
    print(above("more", {name: each.more_share for name, each in every.items()}))


def line(name: str, target: str, found: Measured) -> str:
    """One row."""
    ratio = f"{found.ours / found.stock:.2f}" if found.stock else "–"
    proven = "proven" if found.proven else "not"
    return (
        f"{name:<34}{target:<9}{found.stock:>12,.1f}{found.ours:>12,.1f}{ratio:>7}{found.best:>12,.1f}  {proven:<8}"
        f"{found.own * 1e3:>11.1f}{found.own_share:>6.1f}"
        f"{found.membar * 1e3:>11.1f}{found.more_share:>+8.1f}{found.compile * 1e3:>11.0f}"
    )


def share_line(name: str, target: str, found: Measured) -> str:
    """One row of the plain table."""
    mark = " >5" if found.more_share > LIMIT else ""
    return (
        f"{f'{name} {target}':<44}{found.more_share:>6.1f} %{mark:<4}{found.own * 1e3:>8.1f} ms"
        f"{found.compile * 1e3:>8.0f} ms"
    )


def shares_by_target(every: dict[str, Measured]) -> str:
    """How much longer compilations get on each target, and which get longer by more than they may."""
    lines = [f"{'target':<10}{'builds':>8}{'median':>9}{'nine of ten below':>20}{'most':>9}{'above 5 %':>11}"]
    for target in TARGETS:
        shares = sorted(each.more_share for name, each in every.items() if name.endswith(f" {target}"))
        if shares:
            lines.append(
                f"{target:<10}{len(shares):>8}{statistics.median(shares):>7.1f} %"
                f"{shares[len(shares) * 9 // 10]:>18.1f} %{shares[-1]:>7.1f} %"
                f"{sum(share > LIMIT for share in shares):>11}"
            )
    beyond = {name: each.more_share for name, each in every.items() if each.more_share > LIMIT}
    named = ", ".join(f"{name} {share:.1f} %" for name, share in beyond.items())
    return "\n".join(
        [*lines, f"above {LIMIT:.0f} %: {len(beyond)} of {len(every)} builds" + f": {named}" * bool(named)]
    )


def total(target: str, done: list[Measured]) -> str:
    """The row below those of a target: sums, how many optima are proven, medians."""
    stock, ours = sum(each.stock for each in done), sum(each.ours for each in done)
    ratios = [each.ours / each.stock for each in done if each.stock]
    more = sum(each.ours > each.stock * (1 + 1e-9) for each in done)
    return (
        f"{f'{len(done)} kernels':<34}{target:<9}{stock:>12,.1f}{ours:>12,.1f}{ours / stock if stock else 1:>7.2f}"
        f"{sum(each.best for each in done):>12,.1f}  "
        f"{sum(each.proven for each in done)} proven, mean ratio {statistics.fmean(ratios or [1]):.2f}, "
        f"{more} with more; own "
        f"{times([each.own for each in done], [each.own_share for each in done])}; membar "
        f"median {statistics.median(each.membar for each in done) * 1e3:.1f} ms"
    )


def times(seconds: list[float], shares: list[float]) -> str:
    """The middle and the worst of some times."""
    return (
        f"median {statistics.median(seconds) * 1e3:.1f} ms ({statistics.median(shares):.1f} %), "
        f"at most {max(seconds) * 1e3:.1f} ms ({max(shares):.1f} %)"
    )


def above(what: str, shares: dict[str, float]) -> str:
    """How many builds take more than they may, and the worst."""
    beyond = sum(share > LIMIT for share in shares.values())
    last = sorted(shares, key=shares.__getitem__, reverse=True)[:8]
    worst = ", ".join(f"{name} {shares[name]:.1f} %" for name in last)
    middle = statistics.median(shares.values())
    tenth = sorted(shares.values())[len(shares) * 9 // 10]
    return (
        f"{what}: median {middle:.1f} %, nine of ten below {tenth:.1f} %, above {LIMIT:.0f} %: {beyond} of "
        f"{len(shares)} builds; the worst: {worst}"
    )


if __name__ == "__main__":
    main()
    sys.stdout.flush()
