"""Long loops of labelled blocks, cut short: whole periods of iterations are skipped.

A loop that compilers lower to blocks does not say how often it runs, but the numbers that its blocks forward do.
After a while these move on evenly: from one period to the next, each by the same distance. If that distance makes no
difference to any byte or phase, iterations a period apart are the same but for whether they are the last. So it is
worked out how many there are in all, and as many periods are skipped as leave as many iterations as a counted loop of
that length runs.
"""

from __future__ import annotations

from collections.abc import Callable

from fencepost.check.concrete_access import view_parts
from fencepost.check.deciding_names import condition_of, given_at, variables
from fencepost.check.expression_periods import period_of
from fencepost.ir.expr import Condition, Expr
from fencepost.ir.trace import Body

Values = dict[str, int]
"""The numbers at the beginning of an iteration."""
LONGEST = 1 << 62
"""Periods that a loop is looked at for."""

Leaves = Callable[[Values, int], int | None]
"""After how many iterations, of so many, a loop is left that begins one with some numbers; None if it is not."""


LARGEST = 60
"""The longest period that is looked for."""


def period_of_loop(body: Body, history: list[Values]) -> tuple[int, Values] | None:
    """After how many iterations a loop repeats but for numbers that move on, and by how much they do then."""
    for period in range(1, min(LARGEST, (len(history) - 1) // 2) + 1):
        steps = distance(history, period)
        if steps and makes_no_difference(body, steps):
            return period, steps
    return None


def distance(history: list[Values], period: int) -> Values | None:
    """By how much each number moves in a period, if all of them do so evenly; None if not."""
    now, before, earlier = (history[-1 - period * times] for times in range(3))
    if not now.keys() == before.keys() == earlier.keys():
        return None
    moved = {name: value - before[name] for name, value in now.items()}
    if any(before[name] - earlier[name] != step for name, step in moved.items()):
        return None
    return {name: step for name, step in moved.items() if step}


def makes_no_difference(body: Body, steps: Values) -> bool:
    """Whether no byte and no phase depends on how often numbers have moved on by so much."""
    for op in body.preorder_walk():
        parts: list[Expr] = list(view_parts(op))
        # Numbers that do not move on must be given the same as before.
        parts += [value for name, value in given_at(op) if isinstance(value, Expr) and name.name not in steps]
        if any(not _repeats(part, steps, False) for part in parts):
            return False
        condition = condition_of(op)
        if condition is not None and not _repeats(condition, steps, True):
            return False
    return True


def _repeats(part: Expr | Condition, steps: Values, asks: bool) -> bool:
    """Whether numbers may move on; what is asked about them may have an end, as `%i < 1000` has."""
    for name in variables(part) & steps.keys():
        period = period_of(part, name)
        if (period is None and not asks) or (period is not None and steps[name] % period):
            return False
    return True


def iterations_left(values: Values, steps: Values, period: int, leaves: Leaves) -> int | None:
    """How many iterations a loop has left if its numbers move on by `steps` in each period; None if it never ends."""

    def left_after(periods: int) -> int | None:
        return leaves(moved(values, steps, periods), period)

    most = 1
    while left_after(most) is None:
        most *= 2
        if most > LONGEST:
            return None
    least = most // 2
    while least + 1 < most:
        middle = (least + most) // 2
        if left_after(middle) is None:
            least = middle
        else:
            most = middle
    last = left_after(most)
    assert last is not None
    early = left_after(least)
    return least * period + early if early is not None else most * period + last


def moved(values: Values, steps: Values, periods: int) -> Values:
    """The numbers after so many periods."""
    return {name: value + periods * steps.get(name, 0) for name, value in values.items()}
