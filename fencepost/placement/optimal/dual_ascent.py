"""Constraints for all open paths, each paying at once what it can: a bound, and a placement that is paid up.

Consumers are taken in program order, first with paths that stay within an iteration and then with those that go
round: on a straight line that takes windows by where they end, and the bound is the optimum. A literal that is paid
up counts as taken from then on, so that the next path is one that it does not lie on.

The bound: let every constraint pay something to each of its literals, so that no literal gets more than it costs.
Whatever is chosen, one literal of every constraint is among it; so what is chosen costs at least what all
constraints pay together. (That is the dual of the linear program.) Constraints that share no position pay the
cheapest of their literals in full: disjoint windows need a barrier each. Each constraint in turn pays as much as is
left of the cheapest of its literals; that one is then *paid up*.

A wait that leaves at most two operations outstanding leaves at most three as well, and costs more. So what all waits
of a position get together must not be more than the longest of them costs, and likewise without the longest, and so
on. Waits for several counters at one position cost what the longest of them does, so they are counted together.

A barrier that waits is a rendezvous and a wait, and what it gets goes to either of them. The wait gets it first: more
constraints can do with the rendezvous alone, and they pay what is left of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from fencepost.analysis.access_class import all_ages
from fencepost.analysis.pending import solve
from fencepost.analysis.program import Program, Step
from fencepost.analysis.transfer import Placement
from fencepost.flow import Position
from fencepost.placement.optimal.costs import Prices
from fencepost.placement.optimal.covering_problem import Choice, Constraint, ConstraintMaker, Literal
from fencepost.placement.optimal.open_paths import Backwards, OpenPath, Synchronization


@dataclass(slots=True)
class Payments:
    """What literals have been paid so far."""

    prices: Prices
    rendezvous: dict[Position, int] = field(default_factory=dict)
    """What is left to pay for rendezvous that have got something."""
    waits: dict[Position, dict[int, int]] = field(default_factory=dict)
    """What waits have got, by their counts."""
    had: dict[Position, int] = field(default_factory=dict)
    """The price of a wait that is there already: a longer one costs what it costs more."""
    total: int = 0

    def left(self, literal: Literal) -> int:
        """How much a literal can still be paid."""
        if literal.both:
            return self.left_meeting(literal.position) + self.left_waiting(literal.position, literal.most)
        if not literal.counter:
            return self.left_meeting(literal.position)
        return self.left_waiting(literal.position, literal.most)

    def left_meeting(self, position: Position) -> int:
        """How much a rendezvous can still be paid."""
        known = self.rendezvous.get(position)
        return self.prices.rendezvous(position) if known is None else known

    def left_waiting(self, position: Position, count: int) -> int:
        """How much a wait can still be paid."""
        by_count = self.waits.get(position)
        least = self.price(position, count)
        if by_count:
            above = sum(paid for each, paid in by_count.items() if each >= count)
            least -= above
            below = above
            for each in sorted((each for each in by_count if each < count), reverse=True):
                below += by_count[each]
                least = min(least, self.price(position, each) - below)
        return least

    def price(self, position: Position, count: int) -> int:
        """What a wait costs, given what is there."""
        return max(self.prices.waiting(position, count) - self.had.get(position, 0), 0)

    def pay(self, constraint: Constraint) -> int:
        """Let a constraint pay what it can."""
        amount = min(self.left(literal) for literal in constraint)
        if amount:
            self.total += amount
            for literal in constraint:
                self.give(literal, amount)
        return amount

    def give(self, literal: Literal, amount: int) -> None:
        """Pay a literal."""
        position, counter, count, both = literal
        if counter:
            waiting = min(amount, self.left_waiting(position, count)) if both else amount
            by_count = self.waits.setdefault(position, {})
            by_count[count] = by_count.get(count, 0) + waiting
            amount -= waiting
        if amount:
            self.rendezvous[position] = self.left_meeting(position) - amount


def bound_of(prices: Prices, constraints: Iterable[Constraint]) -> int:
    """What `constraints`, in the order given, pay together: no choice that satisfies them costs less."""
    payments = Payments(prices)
    for constraint in constraints:
        payments.pay(constraint)
    return payments.total


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
