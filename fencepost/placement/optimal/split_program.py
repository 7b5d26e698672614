"""The integer program for split barriers: where each is signalled and where it is waited for.

A pair of signal and wait orders no more than a whole barrier where the wait stands, so no pairs run less often than
the cheapest whole barriers. What pairs can do better is to expose less latency, and that is what is minimized, with
no more executions than the optimum of whole barriers has:

* a signal exposes what its fence still has to wait for (`costs.Exposure`);
* a wait exposes what is missing to `DRIFT` cycles of work since the signal, on the path on which that is least;
* a whole barrier exposes both.

Variables, for each place and split barrier: whether it is signalled and waited for there; between places, whether it
is signalled and not waited for yet, which must be the same wherever paths meet, so that pairs alternate on every
path; and the work done since the signal. For each path that must not be open: how much of a signal has been passed
since the producer, and one wait, at least, behind that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fencepost.flow import Flow, Position
from fencepost.ir import ops
from fencepost.placement.optimal.costs import Exposure

DRIFT = 96
"""Cycles by which waves of a workgroup are apart, roughly: more work than this between the halves gains nothing."""

Name = tuple[Any, ...]
Values = dict[Name, float]


@dataclass(slots=True)
class Linear:
    """Variables with bounds and costs, and constraints that each sum is at least something."""

    number: dict[Name, int] = field(default_factory=dict)
    cost: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    least: list[float] = field(default_factory=list)

    def variable(self, *name: object, cost: float = 0.0, most: float = 1.0, whole: bool = False) -> Name:
        """A new variable from 0 to `most`."""
        self.number[name] = len(self.cost)
        self.cost.append(cost)
        self.most.append(most)
        self.whole.append(int(whole))
        return name

    def at_least(self, what: Mapping[Name, float], least: float = 0.0) -> None:
        """A constraint."""
        for name, factor in what.items():
            self.entries.append((len(self.least), self.number[name], factor))
        self.least.append(least)

    def equal(self, what: Mapping[Name, float], value: float = 0.0) -> None:
        """Two of them."""
        self.at_least(what, value)
        self.at_least({name: -factor for name, factor in what.items()}, -value)

    def solve(self, seconds: float) -> Values | None:
        """The values of least cost, if they were found in time. Raises ImportError without scipy."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_matrix

        places, columns, factors = zip(*self.entries, strict=True)
        matrix: Any = csr_matrix((factors, (places, columns)), shape=(len(self.least), len(self.cost)))
        found = milp(
            self.cost,
            constraints=LinearConstraint(matrix, lb=self.least),
            integrality=self.whole,
            bounds=Bounds(0, self.most),
            options={"time_limit": max(seconds, 0.01), "mip_rel_gap": 0},
        )
        if found.x is None or found.status != 0:
            return None
        return {name: found.x[place] for name, place in self.number.items()}


@dataclass(slots=True)
class HalvesModel:
    """Signals, waits and whole barriers at the free places of a flow."""

    flow: Flow
    free: frozenset[Position]
    ids: int
    """How many split barriers there are; number 1 is the workgroup's, which whole barriers use as well."""
    exposure: Exposure
    linear: Linear = field(default_factory=Linear)
    paths: int = 0

    def build(self, executions: float) -> None:
        """Everything but the paths; at most `executions`, each half of a barrier counted as half of one."""
        linear = self.linear
        for position in sorted(self.free):
            times = self.flow.frequency(position)
            fence = times * self.exposure.at(position)
            # Of placements that expose alike, the one with fewer operations.
            linear.variable("whole", position, cost=fence + times * DRIFT + 1e-3, whole=True)
            for number in range(1, 1 + self.ids):
                # Barriers with a number are for pairs that overlap: elsewhere the workgroup's own is as good.
                linear.variable("signal", position, number, cost=fence + 4e-4 + 1e-4 * number, whole=True)
                linear.variable("wait", position, number, cost=times * DRIFT + 5e-4, whole=True)
                linear.variable("saved", position, number, cost=-times, most=DRIFT)
        self.run_at_most(executions)
        for number in range(1, 1 + self.ids):
            for block in self.flow.order:
                self.through(block, number)
            for block in self.flow.order:
                self.join(block, number)

    def run_at_most(self, executions: float) -> None:
        """The first criterion."""
        most: dict[Name, float] = {}
        for position in self.free:
            times = self.flow.frequency(position)
            most["whole", position] = -times
            for number in range(1, 1 + self.ids):
                most["signal", position, number] = most["wait", position, number] = -times / 2
        if most:
            self.linear.at_least(most, -executions * (1 + 1e-9))

    def through(self, block: int, number: int) -> None:
        """What is signalled, and the work since then, from place to place of a block."""
        linear, found = self.linear, self.flow.blocks[block].ops
        origin = self.flow.blocks[block].origin
        for gap in range(len(found) + 2):
            linear.variable("open", block, gap, number)
            linear.variable("done", block, gap, number, most=DRIFT)
        for gap in range(len(found) + 1):
            position = Position(origin, gap)
            open_, done = ("open", block, gap, number), ("done", block, gap, number)
            after, later = ("open", block, gap + 1, number), ("done", block, gap + 1, number)
            work = float(sum(self.exposure.work(found[gap]))) if gap < len(found) else 0.0
            if position not in self.free:
                linear.equal({after: 1, open_: -1})
                linear.at_least({later: -1, done: 1}, -work)
            else:
                signal, wait = ("signal", position, number), ("wait", position, number)
                saved, whole = ("saved", position, number), ("whole", position)
                linear.equal({after: 1, open_: -1, signal: -1, wait: 1})
                # The wait comes first, then a whole barrier, then a signal.
                linear.at_least({open_: 1, wait: -1})
                if number == 1:
                    linear.at_least({open_: -1, wait: 1, whole: -1}, -1)
                linear.at_least({saved: -1, wait: DRIFT})
                linear.at_least({saved: -1, done: 1})
                linear.at_least({later: -1, done: 1}, -work)
                linear.at_least({later: -1, signal: -DRIFT}, -DRIFT - work)
            if gap < len(found) and number == 1 and _meets(found[gap]):
                linear.equal({after: 1})

    def join(self, block: int, number: int) -> None:
        """The same along edges, and at the kernel's start and end."""
        linear, here = self.linear, self.flow.blocks[block]
        end = len(here.ops) + 1
        if block == self.flow.order[0]:
            linear.equal({("open", block, 0, number): 1})
        if not here.successors:
            linear.equal({("open", block, end, number): 1})
        for target in here.successors:
            linear.equal({("open", target, 0, number): 1, ("open", block, end, number): -1})
            before, after = ("done", block, end, number), ("done", target, 0, number)
            more, signals = self.rounds(block, target)
            linear.at_least({after: -1, before: 1}, -more)
            if more:
                for position in signals:
                    linear.at_least({after: -1, before: 1, ("signal", position, number): -more}, -more)

    def rounds(self, source: int, target: int) -> tuple[float, set[Position]]:
        """Work that the loops which an edge leaves have done besides one iteration, and places inside them.

        It lies behind a signal in front of the loop, not behind one in the loop.
        """
        more = 0.0
        places: set[Position] = set()
        for loop in self.exposure.loops_left(source, target):
            more += self.exposure.other_rounds(loop)
            origins = {self.flow.blocks[block].origin for block in self.exposure.inside[loop.index]}
            places |= {position for position in self.free if position.block in origins}
        return min(more, float(DRIFT)), places

    def close(self, places: list[Position]) -> None:
        """Let there be, along a path, a whole barrier, or a signal and its wait behind it."""
        linear = self.linear
        self.paths += 1
        closing: dict[Name, float] = {("whole", position): 1.0 for position in places}
        for number in range(1, 1 + self.ids):
            before: Name | None = None
            for place, position in enumerate(places):
                if before is not None:
                    ends = linear.variable("ends", self.paths, number, place)
                    linear.at_least({ends: -1, ("wait", position, number): 1})
                    linear.at_least({ends: -1, before: 1})
                    closing[ends] = 1.0
                passed = linear.variable("passed", self.paths, number, place)
                so_far: dict[Name, float] = {passed: -1, ("signal", position, number): 1}
                if before is not None:
                    so_far[before] = 1
                linear.at_least(so_far)
                before = passed
        linear.at_least(closing, 1)


def _meets(op: ops.Operation) -> bool:
    return isinstance(op, (ops.SharedMemoryBarrier, ops.WorkgroupBarrier))


def taken(values: Values, kind: str) -> Iterable[Name]:
    """The variables of a kind that are 1."""
    return [name for name, value in values.items() if name[0] == kind and value > 0.5]
