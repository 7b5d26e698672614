"""What fencepost says about a kernel as its compiler would ship it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace

from fencepost.flow import build_flow
from fencepost.ir import ops
from fencepost.ir.trace import CapturedTrace
from fencepost.report.diagnostics import Diagnostic, render
from fencepost.report.words import plural

HANGS = ("FP002", "FP003", "FP006")
"""The codes of what lets a wave wait for ever."""


@dataclass(frozen=True, slots=True)
class KernelAudit:
    """One kernel, with the barriers that its compiler gives it."""

    kernel: str
    target: str
    barriers: int
    """Barriers for shared memory, whoever put them in."""
    executed: float
    """How often they run, estimated."""
    redundant: tuple[str, ...]
    """Those that nothing needs, by where they stand in the user's source."""
    races: tuple[Diagnostic, ...]
    """Everything that is wrong: races, and hangs."""
    limits: tuple[str, ...] = ()
    """Where looking for races was cut short; empty if it was not."""

    @property
    def title(self) -> str:
        """The kernel, as every line about it begins."""
        return f"fencepost: @{self.kernel} ({self.target})"

    @property
    def counts(self) -> str:
        """How many barriers there are, and what is wrong."""
        hangs = sum(race.code in HANGS for race in self.races)
        none = "no race found" if self.limits else "no race"
        races = plural(len(self.races) - hangs, "race") if self.races else none
        found = f"{plural(self.barriers, 'barrier')}, {len(self.redundant)} redundant, {races}"
        return found + (f", {plural(hangs, 'hang')}" if hangs else "")

    def lines(self, notes: Iterable[str] = (), more: Iterable[Diagnostic] = ()) -> list[str]:
        """What follows the title: redundant barriers, notes, and what is wrong."""
        lines = [f"  redundant: {place}" for place in self.redundant]
        lines += [f"  {note}" for note in notes]
        return lines + [render(each).plain for each in (*_by_fix(self.races), *more)]


def _by_fix(found: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    """One message for each fix, and what hangs first: races of waves that are out of step follow from it."""
    groups: dict[object, list[Diagnostic]] = {}
    for each in sorted(found, key=lambda each: each.code not in HANGS):
        fix = dict(each.notes).get("fix")
        groups.setdefault((each.code, fix) if fix else id(each), []).append(each)
    for first, *others in groups.values():
        said = f"the same fix settles {plural(len(others), 'more finding')}"
        yield replace(first, notes=(*first.notes, ("also", said))) if others else first


def barrier_runs(trace: CapturedTrace) -> list[float]:
    """How often each barrier of a kernel runs, estimated; those that other operations contain are not counted."""
    return [runs for _, runs in barriers_and_runs(trace)]


def barriers_and_runs(trace: CapturedTrace) -> list[tuple[ops.SharedMemoryBarrier, float]]:
    """The same with the barriers; one in a function is there once for each call."""
    return [
        (op, block.frequency)
        for block in build_flow(trace).blocks
        for op in block.ops
        if isinstance(op, ops.SharedMemoryBarrier) and op.owner is None
    ]


def print_audit(found: object) -> None:
    """What is done with an audit unless somebody else wants it."""
    sys.stderr.write(f"{found}\n")
