"""AMD builds of the corpus down to their assembly: is it what was asked for, and is every wait and barrier missed?

    python bench/triton/assembly.py [--target T ...] [--only NAME ...] [--changes] [--verbose]

compiles each entry without a mistake as `replace` does, and compares the assembly with the module that goes into the
lowering (docs/triton-amd.md). With --changes, each wait and each barrier in the assembly is then taken out, and each
count of a wait is made weaker by one: that has to be reported. What is not reported is explained:

    idle      nothing that is looked at is outstanding there (stores to global memory are not)
    covered   another wait completes the same operations before anything needs them
    unused    nothing needs them: results that nobody uses, limits on how much may be outstanding
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from build import compile_plain
from corpus import AMD, CORPUS, Entry

from fencepost.hosts.amdgcn.instructions import steps_of
from fencepost.hosts.amdgcn.meetings import Meetings
from fencepost.hosts.amdgcn.outstanding import Outstanding, outstanding, outstanding_with_weaker_wait
from fencepost.hosts.amdgcn.reader import read_assembly
from fencepost.hosts.amdgcn.steps import Meets, Step, Steps, Wait
from fencepost.hosts.triton import installed
from fencepost.hosts.triton.assembly.compare import compare, wait_findings, with_operations
from fencepost.hosts.triton.assembly.expected import Expected, asked_for
from fencepost.hosts.triton.assembly.verify import Verdict
from fencepost.hosts.triton.assembly.watch import AssemblyWatch
from fencepost.hosts.triton.translate import translations

BARRIERS, WAITS, WEAKER = "barriers taken out", "waits taken out", "waits made weaker"
NOT_LOOKED_AT = ("exp", "x", "vs", "sample", "bvh")
"""Counters that are not followed."""


@dataclass
class Build:
    """One build."""

    verdict: Verdict
    seconds: float = 0.0
    """What the comparison takes."""
    reported: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)
    """Changes that were not reported."""

    @property
    def state(self) -> str:
        """In one word."""
        if self.verdict.not_compared:
            return "not compared"
        return "wrong" if self.verdict.findings else "as asked for"


@dataclass(frozen=True)
class Original:
    """A function of the assembly as it is."""

    steps: Steps
    asked: Expected
    named: Steps
    met: Meetings
    pending: Outstanding


@dataclass(frozen=True)
class Change:
    """One line of the assembly changed."""

    what: str
    line: int
    becomes: Callable[[Step], list[Step]]


def build(entry: Entry, target: str, changes: bool) -> Build:
    """Compile one entry, compare its assembly, and change that line by line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with installed("replace", assembly=True) as installation:
            compile_plain(entry, target)
    assert installation is not None and installation.watched is not None
    made = Build(installation.verdicts[-1])
    watch = installation.watched
    if watch.module is None or made.verdict.not_compared:
        return made
    began = time.process_time()
    watch.verdict({})
    made.seconds = time.process_time() - began
    if changes and not made.verdict.findings:
        _change(made, watch)
    return made


def _change(made: Build, watch: AssemblyWatch) -> None:
    """Each change of the assembly, compared."""
    assert watch.module is not None
    kernels = {each.function.string("sym_name"): each for each in translations(watch.module)}
    lines = watch.assembly.splitlines()
    for function in read_assembly(watch.assembly):
        original = followed(steps_of(function), asked_for(kernels[function.name]))
        for change in single_changes(original.steps):
            why = harmless(original, change)
            if not why:
                made.reported[change.what] += 1
                continue
            made.explained[f"{change.what}: {why}"] += 1
            made.lines.append(f"line {change.line}: {change.what}, {why}: {lines[change.line - 1].strip()}")


def followed(steps: Steps, asked: Expected) -> Original:
    """What is known before anything is changed."""
    named, met = with_operations(steps, asked)
    return Original(steps, asked, named, met, outstanding(named))


def single_changes(steps: Steps) -> Iterator[Change]:
    """Every wait and barrier taken out, and every count made weaker by one."""
    found = {step.line: step for block in steps.blocks for step in block}
    for step in found.values():
        if step.meets is not Meets.NOT:
            yield Change(BARRIERS, step.line, lambda _: [])
        for wait in step.waits:
            if wait.counter not in NOT_LOOKED_AT:
                yield Change(WAITS, step.line, _with(wait, None))
                yield Change(WEAKER, step.line, _with(wait, wait._replace(left=wait.left + 1)))


def _with(wait: Wait, new: Wait | None) -> Callable[[Step], list[Step]]:
    """A step with another wait, or none, in the place of one."""

    def becomes(step: Step) -> list[Step]:
        kept = [new if each == wait else each for each in step.waits]
        return [replace(step, waits=tuple(each for each in kept if each is not None))]

    return becomes


def changed(steps: Steps, change: Change) -> tuple[Steps, list[int]]:
    """The same with one line changed, and the blocks where: there may be two of them (`uniform_branches`)."""
    at = [
        number for number, block in enumerate(steps.blocks) if any(step.line == change.line for step in block)
    ]
    blocks = list(steps.blocks)
    for number in at:
        blocks[number] = [
            new
            for step in blocks[number]
            for new in (change.becomes(step) if step.line == change.line else [step])
        ]
    return Steps(steps.name, blocks, steps.successors), at


def harmless(original: Original, change: Change) -> str:
    """Why a change is not reported; empty if it is."""
    if change.what == BARRIERS:
        found = compare(changed(original.steps, change)[0], original.asked)
        return "" if found else "no accesses on both sides that could conflict"
    steps, blocks = changed(original.named, change)
    pending = outstanding_with_weaker_wait(steps, original.pending, blocks)
    if wait_findings(pending, original.met, original.asked):
        return ""
    after = original.pending.completed | {change.line: frozenset()} | pending.completed
    lost = original.pending.completed.get(change.line, frozenset()) - after.get(change.line, frozenset())
    if not lost:
        return "idle"
    return "covered" if lost <= frozenset().union(*after.values()) else "unused"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", nargs="+", default=list(AMD), choices=AMD)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--changes", action="store_true", help="change every wait and barrier as well")
    parser.add_argument(
        "--verbose", action="store_true", help="every build, and every change that is not reported"
    )
    options = parser.parse_args()
    failed = 0
    for target in options.target:
        chosen = [entry for entry in CORPUS.values() if target in entry.targets and entry.mistake is None]
        found: list[Build] = []
        for entry in chosen:
            if options.only and entry.name not in options.only:
                continue
            found.append(build(entry, target, options.changes))
            if options.verbose or found[-1].state != "as asked for":
                print(f"{entry.name:<34}{target:<9}{found[-1].verdict}", flush=True)
                print(
                    *(f"    {line}" for line in found[-1].lines),
                    sep="\n",
                    end="\n" if found[-1].lines else "",
                )
        failed += sum(each.state == "wrong" for each in found)
        print(summary(target, found), flush=True)
    return 1 if failed else 0


def summary(target: str, found: list[Build]) -> str:
    """The rows of a target."""
    states = Counter(each.state for each in found)
    barriers, waits = (sum(getattr(each.verdict, name) for each in found) for name in ("barriers", "waits"))
    longest = max((each.seconds for each in found), default=0)
    said = ", ".join(f"{count} {state}" for state, count in states.most_common())
    rows = [
        f"{target:<9}{len(found):>4} builds: {said}; {barriers} barriers, {waits} waits; "
        f"{sum(each.seconds for each in found):.1f} s of CPU time, at most {longest:.1f} s"
    ]
    reported: Counter[str] = sum((each.reported for each in found), Counter())
    explained: Counter[str] = sum((each.explained for each in found), Counter())
    for what in (BARRIERS, WAITS, WEAKER):
        rest = {key.partition(": ")[2]: count for key, count in explained.items() if key.startswith(what)}
        if reported[what] or rest:
            why = ", ".join(f"{count} {reason}" for reason, count in sorted(rest.items())) or "none"
            rows.append(f"{'':<9}{what}: {reported[what]} reported; not reported: {why}")
    return "\n".join(rows)


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.exit(status)
