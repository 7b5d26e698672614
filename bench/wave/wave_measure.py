"""One entry, measured: fencepost's barriers and Wave's, in the same process.

The kernel is compiled twice, each time from a fresh object: with fencepost's barriers and with Wave's own. Times are
CPU time of this process, of the one run of the pass in each compilation. fencepost's comes first, so that nothing
that it looks at has been looked at before; what earlier kernels left behind is collected before each, so that neither
pays for it.
"""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass, field
from typing import Any

from wave_capture import BarrierPass, compile_with, fencepost_pass, stock_pass
from wave_model import Entry
from wave_optimum import Optimum, meetings, optimum
from wave_synchronization import Count, count, existing, nodes

from fencepost.check import check
from fencepost.hosts.wave.barrier_pass import config_for, read
from fencepost.ir.source import FencepostError

PING_PONG = 4
"""Barriers that an iteration of a ping-pong loop needs."""


@dataclass
class Result:
    """The barriers of one pass."""

    written: Count = field(default_factory=Count)
    executed: float = 0.0
    """How often waves meet in one run of the kernel; loops of unknown length are estimated."""
    races: int = 0
    """Races, deadlocks and accesses out of range that `check` sees."""
    complete: bool = True
    """Whether `check` looked at everything."""
    milliseconds: float = 0.0


@dataclass
class Measured:
    """One entry."""

    name: str
    race: str = ""
    """The kind of race that was planted."""
    ping_pong: bool = False
    nodes: int = 0
    wave: Result = field(default_factory=Result)
    ours: Result = field(default_factory=Result)
    best: Optimum | None = None
    """None if it cannot be said."""
    compiled: bool = False
    """The rest of Wave's pipeline made MLIR of fencepost's result."""
    error: str = ""

    @property
    def reached(self) -> bool:
        """Whether fencepost's result has no more barriers than the optimum."""
        return self.best is not None and self.ours.executed <= self.best.executed * (1 + 1e-9)

    @property
    def verdicts(self) -> list[str]:
        """What is wrong with it, measured by what fencepost promises; nothing if all is well."""
        if self.error:
            return [f"fails: {self.error}"]
        found = []
        if not self.compiled:
            found.append("does not compile")
        if self.ours.races:
            found.append("not clean")
        if not self.wave.races and self.ours.executed > self.wave.executed * (1 + 1e-9):
            found.append("more than Wave")
        if self.ping_pong and self.ours.written.loop > PING_PONG:
            found.append(f"more than {PING_PONG} barriers per iteration")
        if self.best is None or not self.best.proven:
            # Where waves are out of step, the schedule's own barriers decide.
            found += [] if self.ping_pong else ["no proven optimum"]
        elif not self.reached:
            found.append("above the optimum")
        if bool(self.race) != bool(self.wave.races):
            found.append("planted race not seen" if self.race else "race of its own")
        return found


def measure(entry: Entry) -> Measured:
    """Compile an entry with fencepost's barriers, then with Wave's."""
    measured = Measured(entry.name, entry.race, entry.ping_pong)

    def place(trace: Any, target: str) -> None:
        measured.ours = _result(ours, trace, target)

    def stock(trace: Any, target: str) -> None:
        measured.nodes = len(nodes(trace))
        measured.best = _optimum(trace, target)
        measured.wave = _result(stock_pass, trace, target)

    try:
        with fencepost_pass() as ours:
            compile_with(entry, place)
            measured.compiled = True
    except Exception as error:  # one kernel that fails must not end the run: its row says so
        measured.error = f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"
    with fencepost_pass():
        compile_with(entry, stock)
    return measured


def _result(barrier_pass: BarrierPass, trace: Any, target: str) -> Result:
    """What a pass makes of a trace, and how long it takes."""
    gc.collect()
    began = time.process_time()
    barrier_pass(trace, target)
    seconds = time.process_time() - began
    kernel = read(trace, config_for(target)).trace
    report = check(kernel)
    faults = len(report.races) + len(report.deadlocks) + len(report.out_of_range)
    written = count(existing(trace))
    return Result(written, sum(meetings(kernel)), faults, report.explored.complete, seconds * 1e3)


def _optimum(trace: Any, target: str) -> Optimum | None:
    try:
        return optimum(trace, target)
    except FencepostError:  # the row says that there is none
        return None
