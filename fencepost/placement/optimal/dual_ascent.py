"""Rows for all open ways of a program, each paying at once what it can: a bound, and a placement that is paid up.

Consumers are taken in program order, first with ways that stay within an iteration and then with those that go round:
on a straight line that takes windows by where they end, and the bound is the optimum. A term that is paid up counts
as taken from then on, so that the next way is one that it does not lie on.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from fencepost.analysis.class_table import all_ages
from fencepost.analysis.pending import solve
from fencepost.analysis.program import Program, Step
from fencepost.analysis.sync import Placement
from fencepost.placement.optimal.costs import Prices
from fencepost.placement.optimal.covering_constraints import RowMaker
from fencepost.placement.optimal.literals import Choice, Row
from fencepost.placement.optimal.lower_bound import Payments
from fencepost.placement.optimal.open_paths import Backwards, Synchronization, Way

Conflict = tuple[int, int, int, int]
"""An instance, a step of it, and the bits, pending and in flight, that it conflicts with."""


def conflicts_of(program: Program, placement: Placement) -> list[Conflict]:
    """Every step that a placement leaves uncovered, in program order."""
    found: dict[tuple[int, int], tuple[int, int]] = {}

    def note(instance: int, step: Step, pending: int, in_flight: int) -> None:
        before = found.get((instance, step.gap), (0, 0))
        found[instance, step.gap] = before[0] | pending, before[1] | in_flight

    solve(program, dict(placement), note)
    place = {instance: number for number, instance in enumerate(program.order)}
    index = {
        (instance, step.gap): number
        for instance in {instance for instance, _ in found}
        for number, step in enumerate(program.steps[instance])
        if step.conflicts or step.in_flight
    }
    ordered = sorted(found, key=lambda at: (place[at[0]], at[1]))
    return [(instance, index[instance, gap], *found[instance, gap]) for instance, gap in ordered]


def without(program: Program, way: Way, wanted: tuple[int, int]) -> tuple[int, int]:
    """What is wanted but for the access that a way begins with."""
    bits = all_ages(program.table, program.steps[way.start.instance][way.first].number)
    return wanted[0] & ~bits, wanted[1] & ~program.on_levels(bits)


@dataclass(slots=True)
class Ascent:
    """The rows so far, and what they pay."""

    program: Program
    backwards: Backwards
    maker: RowMaker
    payments: Payments
    until: float
    rows: dict[Row, None] = field(default_factory=dict)
    taken: Choice = field(default_factory=Choice)
    """Terms that are paid up."""
    sync: Synchronization = field(init=False)
    finished: bool = True
    """Whether there was time for every consumer."""
    nothing_missing: bool = False
    """Whether the barriers of the kernel cover everything."""

    def __post_init__(self) -> None:
        self.sync = Synchronization.of(self.program.existing)

    def run(self) -> None:
        """See the module."""
        conflicts = conflicts_of(self.program, self.program.existing)
        self.nothing_missing = not conflicts
        for round_ in (False, True):
            for instance, index, pending, in_flight in conflicts:
                self.close(instance, index, (pending, in_flight), round_)
                if time.monotonic() > self.until:
                    self.finished = False
                    return
            if conflicts and not round_:
                conflicts = conflicts_of(self.program, self.taken.placement(self.program))

    def close(self, instance: int, index: int, wanted: tuple[int, int], round_: bool) -> None:
        """Pay for ways to a step until none is open."""
        step = self.program.steps[instance][index]
        while wanted != (0, 0):
            way = self.backwards.find(instance, index, wanted, self.sync, round_=round_)
            if way is None:
                return
            rows = self.maker.rows(way, step, self.taken)
            if not rows or not all(rows):
                # Nothing can stand on this way; others may still be closed.
                wanted = without(self.program, way, wanted)
                continue
            before = self.payments.total
            for row in rows:
                self.rows[row] = None
                self.payments.pay(row)
                self.take_paid_up(row)
            if self.payments.total == before:
                # Paid up already, and open all the same: what may become of a copy is not followed that far.
                wanted = without(self.program, way, wanted)

    def take_paid_up(self, row: Row) -> None:
        """Count terms that nothing is left to pay for as taken."""
        changed = set()
        for term in row:
            if not self.taken.holds(term) and self.payments.left(term) == 0:
                self.taken.add(term)
                changed.add(term.position)
        if changed:
            waits = {at: self.taken.waits[at] for at in changed if at in self.taken.waits}
            part = Choice(self.taken.meets & changed, waits)
            placement = part.placement(self.program)
            for position in changed:
                self.sync.put(position, placement[position])


def start(program: Program, prices: Prices, maker: RowMaker, until: float) -> Ascent:
    """An ascent that has been run."""
    made = Ascent(program, Backwards(program), maker, Payments(prices), until)
    made.run()
    return made
