"""Constraints for all open paths, each paying at once what it can: a bound, and a placement that is paid up.

Consumers are taken in program order, first with paths that stay within an iteration and then with those that go
round: on a straight line that takes windows by where they end, and the bound is the optimum. A literal that is paid
up counts as taken from then on, so that the next path is one that it does not lie on.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from fencepost.analysis.access_class import all_ages
from fencepost.analysis.pending import solve
from fencepost.analysis.program import Program, Step
from fencepost.analysis.sync import Placement
from fencepost.placement.optimal.costs import Prices
from fencepost.placement.optimal.covering_constraints import ConstraintMaker
from fencepost.placement.optimal.covering_problem import Choice, Constraint
from fencepost.placement.optimal.lower_bound import Payments
from fencepost.placement.optimal.open_paths import Backwards, OpenPath, Synchronization

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


def without(program: Program, path: OpenPath, wanted: tuple[int, int]) -> tuple[int, int]:
    """What is wanted but for the access that a path begins with."""
    bits = all_ages(program.table, program.steps[path.start.instance][path.first].number)
    return wanted[0] & ~bits, wanted[1] & ~program.on_levels(bits)


@dataclass(slots=True)
class Ascent:
    """The constraints so far, and what they pay."""

    program: Program
    backwards: Backwards
    maker: ConstraintMaker
    payments: Payments
    until: float
    constraints: dict[Constraint, None] = field(default_factory=dict)
    taken: Choice = field(default_factory=Choice)
    """Literals that are paid up."""
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
        """Pay for paths to a step until none is open."""
        step = self.program.steps[instance][index]
        while wanted != (0, 0):
            path = self.backwards.find(instance, index, wanted, self.sync, round_=round_)
            if path is None:
                return
            constraints = self.maker.constraints(path, step, self.taken)
            if not constraints or not all(constraints):
                # Nothing can stand on this path; others may still be closed.
                wanted = without(self.program, path, wanted)
                continue
            before = self.payments.total
            for constraint in constraints:
                self.constraints[constraint] = None
                self.payments.pay(constraint)
                self.take_paid_up(constraint)
            if self.payments.total == before:
                # Paid up already, and open all the same: what may become of a copy is not followed that far.
                wanted = without(self.program, path, wanted)

    def take_paid_up(self, constraint: Constraint) -> None:
        """Count literals that nothing is left to pay for as taken."""
        changed = set()
        for literal in constraint:
            if not self.taken.holds(literal) and self.payments.left(literal) == 0:
                self.taken.add(literal)
                changed.add(literal.position)
        if changed:
            waits = {at: self.taken.waits[at] for at in changed if at in self.taken.waits}
            part = Choice(self.taken.meets & changed, waits)
            placement = part.placement(self.program)
            for position in changed:
                self.sync.put(position, placement[position])


def start(program: Program, prices: Prices, maker: ConstraintMaker, until: float) -> Ascent:
    """An ascent that has been run."""
    made = Ascent(program, Backwards(program), maker, Payments(prices), until)
    made.run()
    return made
