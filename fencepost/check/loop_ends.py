"""How many iterations of a loop are still to come, where branches ask for that.

A loop that counts up to a parameter runs as often as the parameter says, so a branch in it such as `if %i + 2 < %n`
takes one side in all iterations but the last two. Neither number is known, but their difference is, near the end: it
goes with how many iterations are still to come. That number is kept beside the loop's variable, up to `most`, which
stands for itself and everything beyond. A loop may begin with any of them, and ends when none is to come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isinf

from fencepost.check.deciding_names import condition_of, variables
from fencepost.check.parameter_classes import Span, terms_of
from fencepost.ir import ops
from fencepost.ir.expr import Binary, Compare, decide, is_divergent

FURTHEST = 16
"""A branch that asks about iterations further from the end is not decided by this."""


@dataclass(frozen=True, slots=True)
class LoopEnd:
    """How near its end a loop is, and what that decides."""

    name: str
    """Under which the number of iterations to come is kept: no name in a kernel has a space."""
    most: int
    answers: dict[ops.Operation, list[bool | None]]
    """For each branch, whether its condition holds with 0, 1, … `most` (or more) iterations to come."""

    @classmethod
    def of(cls, loop: ops.Iterate, spans: Iterable[Span] = ()) -> LoopEnd | None:
        """What branches in a loop ask about its end; None if there is nothing to know.

        What is asked about its bound elsewhere says how often it runs: `spans` are those that values of it stand for.
        """
        asked = {op: condition for op, condition in _asking(loop) if _settled(condition, loop) <= FURTHEST}
        needed = [_settled(condition, loop) for condition in asked.values()]
        for fewest, most_ in (trips(loop, span) for span in spans):
            # Whether it runs at all is known without this.
            needed += [int(most_)] if 0 < most_ <= FURTHEST else []
            needed += [int(fewest) - 1] if 1 < fewest <= FURTHEST else []
        if not needed:
            return None
        most = max(1, *needed)
        answers = {
            op: [_answer(condition, loop, to_come) for to_come in range(most)]
            + [decide(condition, {loop.var: 0, loop.upto: most * loop.step + 1})]
            for op, condition in asked.items()
        }
        return cls(f"to come of %{loop.var}", most, answers)

    def holds(self, branch: ops.Operation, values: dict[str, int]) -> bool | None:
        """Whether the condition of a branch holds, if that is known."""
        to_come = values.get(self.name)
        return None if to_come is None else self.answers[branch][to_come]

    def at_first(self, trip: Span) -> list[int]:
        """What is to come in the first iteration of a loop that runs so often."""
        fewest, most = trip
        return [
            to_come
            for to_come in range(self.most + 1)
            if to_come + 1 <= most and (to_come == self.most or to_come + 1 >= fewest)
        ]

    def after_one_more(self, to_come: int) -> list[int]:
        """What is to come after the next iteration; nothing if there is none."""
        if to_come == self.most:
            return [to_come, to_come - 1]
        return [to_come - 1] if to_come else []


def trips(loop: ops.Iterate, bound: Span) -> Span:
    """How often a loop runs, at least and at most, whose bound lies somewhere in a span."""
    fewest, most = (
        end if isinf(end) else float(len(range(loop.start, int(end), loop.step))) for end in bound
    )
    return max(fewest, 0.0), most


def _asking(loop: ops.Iterate) -> Iterator[tuple[ops.Operation, Compare]]:
    """The branches of a loop whose conditions depend on nothing but how far its variable is from its bound."""
    todo = [loop.body] if loop.upto else []
    while todo:
        for op in todo.pop():
            todo.extend(ops.regions(op))
            condition = condition_of(op)
            if not isinstance(condition, Compare) or is_divergent(condition):
                continue
            if variables(condition) != {loop.var, loop.upto}:
                continue
            terms = terms_of(Binary("-", condition.lhs, condition.rhs))
            if terms is not None and terms.get(loop.var, 0) == -terms.get(loop.upto, 0) != 0:
                yield op, condition


def _settled(condition: Compare, loop: ops.Iterate) -> int:
    """With so many iterations to come, or more, a condition always has the same answer."""
    terms = terms_of(Binary("-", condition.lhs, condition.rhs)) or {}
    # The sides are equal at this distance from the bound; beyond it nothing changes any more.
    equal_at = -terms.get("", 0) // terms[loop.upto]
    return max(0, -(-equal_at // loop.step))


def _answer(condition: Compare, loop: ops.Iterate, to_come: int) -> bool | None:
    """Whether a condition holds; None if that depends on how much of its last step a loop uses."""
    distances = range(to_come * loop.step + 1, (to_come + 1) * loop.step + 1)
    answers = {decide(condition, {loop.var: 0, loop.upto: distance}) for distance in distances}
    return answers.pop() if len(answers) == 1 else None
