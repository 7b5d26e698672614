"""Conditions that ask how near the end of a loop is: `if %i + 2 < %n` in a loop from 0 to `%n`.

How often such a loop runs is not known, but such a condition depends on nothing but how many iterations are left. So
the loop gets a number of its own beside its variable: how many iterations are left, the present one included, up to
`most`; one more than that stands for everything beyond. It may be anything when the loop begins, and falls by one in
each iteration. So conditions agree with each other: where one lets a copy be issued, another lets it be waited for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fencepost.analysis.parameters import Bounds, weights_of
from fencepost.ir import ops
from fencepost.ir.expr import COMPARISONS, Compare, Condition

Branch = ops.Conditional | ops.CondBranch
MOST = 16
"""Conditions on iterations that are further from the end are not followed."""


@dataclass(frozen=True, slots=True)
class LastIterations:
    """How many iterations of a loop are left, as far as branches in it ask for that."""

    var: str
    most: int
    answers: Mapping[Branch, tuple[bool | None, ...]] = field(default_factory=dict)
    """For each branch: whether its condition holds with 1, 2, … and more than `most` iterations left."""

    @classmethod
    def of(cls, loop: ops.Iterate, bounds: Iterable[Bounds] = ()) -> LastIterations | None:
        """What the branches in a loop ask for; None if nobody asks for that.

        What is asked about its bound elsewhere says how often it runs: `bounds` are those of the values of it.
        """
        found = {op: distance for op, distance in _branches(loop) if distance.last_change <= MOST * loop.step}
        asked = [-(-distance.last_change // loop.step) for distance in found.values()]
        asked += [number for each in bounds for number in _told(trips(loop, each)) if number <= MOST]
        if not asked:
            return None
        most = max(1, *asked)
        answers = {
            op: tuple(distance.answer(left, loop.step, left > most) for left in range(1, most + 2))
            for op, distance in found.items()
        }
        return cls(loop.var, most, answers)

    @property
    def name(self) -> str:
        """What the number is called: no name of a kernel is spelled like this."""
        return f"iterations left of %{self.var}"

    @property
    def conditions(self) -> set[Condition]:
        """The conditions that ask for it."""
        return {branch.condition for branch in self.answers}

    def at_first(self, trip: Bounds) -> Iterator[int]:
        """What it can be in the first iteration, where a loop is known to run within some bounds."""
        for left in range(1, self.most + 2):
            at_least_so_many = trip.greatest is None or left <= trip.greatest
            if at_least_so_many and (left > self.most or left >= (trip.least or 0)):
                yield left

    def following(self, left: int) -> list[int]:
        """What it can be in the next iteration: nothing after the last one."""
        if left > self.most:
            return [self.most, left]
        return [left - 1] if left > 1 else []

    def holds(self, branch: Branch, left: int | None) -> bool | None:
        """Whether the condition of a branch holds, if that is known."""
        return None if left is None else self.answers[branch][left - 1]


def trips(loop: ops.Iterate, bound: Bounds) -> Bounds:
    """Within which bounds a loop runs whose own bound lies within some."""
    least, greatest = (
        None if end is None else len(range(loop.start, end, loop.step))
        for end in (bound.least, bound.greatest)
    )
    return Bounds(least or 0, greatest)


def _told(trip: Bounds) -> Iterator[int]:
    """The numbers of iterations that matter if a loop runs within some bounds; whether it runs is known anyway."""
    if trip.greatest:
        yield trip.greatest
    if trip.least is not None and trip.least > 1:
        yield trip.least - 1


@dataclass(frozen=True, slots=True)
class _Distance:
    """A comparison of how far it is from a loop's variable to its bound: `factor * distance op number`."""

    factor: int
    op: str
    number: int

    @property
    def last_change(self) -> int:
        """From the next distance on, the answer is always the same."""
        return max(0, self.number // self.factor)

    def answer(self, left: int, step: int, or_more: bool) -> bool | None:
        """Whether it holds with so many iterations left; None if that depends on where in its step the bound is."""
        first = (left - 1) * step + 1
        distances = (first,) if or_more else range(first, first + step)
        answers = {COMPARISONS[self.op](self.factor * distance, self.number) for distance in distances}
        return answers.pop() if len(answers) == 1 else None


def _branches(loop: ops.Iterate) -> Iterator[tuple[Branch, _Distance]]:
    """The branches in a loop that compare its variable with its bound."""
    todo = [loop.body] if loop.upto else []
    while todo:
        for op in todo.pop():
            todo.extend(ops.regions(op))
            if isinstance(op, (ops.Conditional, ops.CondBranch)):
                distance = _distance(op.condition, loop)
                if distance is not None:
                    yield op, distance


def _distance(condition: Condition, loop: ops.Iterate) -> _Distance | None:
    if not isinstance(condition, Compare):
        return None
    weights = weights_of(condition.lhs - condition.rhs)
    if weights is None:
        return None
    number, factor = weights.pop("", 0), weights.pop(loop.upto, 0)
    if not factor or {name: weight for name, weight in weights.items() if weight} != {loop.var: -factor}:
        return None
    # factor * (bound - variable) + number op 0
    return _Distance(factor, condition.op, -number)
