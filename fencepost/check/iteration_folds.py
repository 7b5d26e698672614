"""How the iterations of a loop repeat, so that following a few of them is following all."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from math import lcm

from fencepost.check.deciding_names import Names, condition_of, period_in, variables
from fencepost.check.environments import value_of
from fencepost.check.loop_ends import LoopEnd
from fencepost.check.parameter_classes import terms_of
from fencepost.flow import Flow, Loop
from fencepost.ir import ops
from fencepost.ir.expr import Binary, Compare, is_divergent

FULL = 64
"""A loop that carries names runs up to this often in full, where it is not known how these repeat."""
FIRST = 64
"""Iterations at the beginning of a loop that are distinguished from all later ones."""
LONGEST_ORBIT = 4096
"""Iterations that are tried to find out how the names that a loop carries repeat."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Iterations that stand for all later ones: from `start` on, `length` further is the same again.

    Iterations before `start` are followed one by one, so that whoever enters the loop runs enough iterations
    for every counter to have reached what it can reach.
    """

    start: int
    length: int
    settled: int
    """From here on, `start` or before, iterations `length` apart are the same; each earlier one is like no other."""


def patience(flow: Flow) -> int:
    """After how many rounds no counter can change any more; 0 where nothing is counted."""
    counted = waited = apart = 0
    for block in flow.blocks:
        for op in block.ops:
            counted += isinstance(op, (ops.WorkgroupBarrier, ops.MemoryCounterWait, ops.AsyncOperation))
            # Waves that are skewed by so many barriers have to meet as many more.
            apart += bool(block.guards) and isinstance(op, (ops.SharedMemoryBarrier, ops.WorkgroupBarrier))
            if isinstance(op, (ops.MemoryCounterWait, ops.SharedMemoryBarrier)) and op.counts:
                waited = max(waited, *op.counts.values())
    return waited + 2 + apart if counted or apart else 0


def fold_of(loop: Loop, names: Names, patience: int, end: LoopEnd | None = None) -> Fold | None:
    """How the iterations of a loop repeat; None if it is better followed in full."""
    op = loop.op
    if op is None:
        return None
    first = _first_iterations(op)
    period = loop_period(op, names, {*first, *(end.answers if end is not None else ())})
    if period is None:
        return None
    settled_at = max(first.values(), default=op.start)
    rounds = lcm(period, op.step) // op.step
    settled = 0
    if loop.trip is not None and carries(op, names):
        orbit = orbit_of(op, names, rounds)
        if orbit is None and loop.trip <= FULL:
            return None
        # A longer loop whose names follow no rule can be left with any of the values that they take.
        settled, own = orbit or (0, 1)
        rounds = lcm(rounds, own)
    if rounds > 64:
        return None
    length = rounds * op.step
    if loop.trip is None:
        # It can be left at any time, so there is nothing to wait for.
        return Fold(settled_at, length, settled_at)
    early = (settled_at - op.start) // op.step
    exact = max(16, 4 * rounds, (patience + 1) * rounds, settled, early)
    if loop.trip <= exact + 2 * rounds:
        return None
    return Fold(op.start + op.step * exact, length, settled_at)


def carries(loop: ops.Iterate, names: Names) -> bool:
    """Whether a loop carries a name that decides something."""
    return any(name.name in names.handed for name in loop.carried)


def loop_period(loop: ops.Iterate, names: Names, but: Collection[ops.Operation] = ()) -> int | None:
    """After what distance in its variable a loop repeats, `but` for some branches; None if something does not."""
    return period_in((op for op in _operations_in(loop) if op not in but), loop.var, names)


def _first_iterations(loop: ops.Iterate) -> dict[ops.Operation, int]:
    """Branches that compare a loop's variable with a number: the value from which on each goes the same way."""
    found: dict[ops.Operation, int] = {}
    for op in _operations_in(loop):
        condition = condition_of(op)
        if not isinstance(condition, Compare) or is_divergent(condition):
            continue
        terms = terms_of(Binary("-", condition.lhs, condition.rhs))
        factor = terms.get(loop.var, 0) if terms is not None else 0
        if terms is None or not factor or terms.keys() - {loop.var, ""}:
            continue
        # The sides are equal at this value of the variable, or pass each other behind it.
        equal_at = -terms.get("", 0) // factor
        passed = max(0, (equal_at - loop.start) // loop.step + 1)
        if passed <= FIRST:
            found[op] = loop.start + loop.step * passed
    return found


def _operations_in(loop: ops.Iterate) -> Iterator[ops.Operation]:
    """Every operation inside a loop; functions that it calls do not know its variable."""
    todo = [loop.body]
    while todo:
        for op in todo.pop():
            yield op
            todo.extend(ops.regions(op))


def orbit_of(loop: ops.Iterate, names: Names, rounds: int) -> tuple[int, int] | None:
    """After how many iterations the names that a loop carries begin to repeat, and every how many they do.

    None if what they become depends on more than the loop itself. `rounds` is the period of everything else.
    """
    last = loop.body.last
    if not isinstance(last, ops.Next):
        return 0, 1
    known = {name.name for name in loop.carried} | {loop.var}
    values: dict[str, int] = {}
    following = {}
    for name, value in zip(loop.carried, last.values, strict=True):
        if name.name in names.handed and not isinstance(value, ops.ValueOperation):
            assert name.init is not None and not isinstance(name.init, ops.ValueOperation)
            first = value_of(name.init, {}, names.modulus.get(name.name))
            if first is None or not variables(value) <= known:
                return None
            values[name.name] = first
            following[name.name] = value
    seen: dict[tuple[int, ...], int] = {}
    trip = LONGEST_ORBIT if loop.trip is None else loop.trip
    for number in range(min(trip, LONGEST_ORBIT)):
        state = (number % rounds, *(values[name] for name in following))
        if state in seen:
            return seen[state], number - seen[state]
        seen[state] = number
        here = {**values, loop.var: loop.start + loop.step * number}
        for given, value in following.items():
            after = value_of(value, here, names.modulus.get(given))
            if after is None:
                return None
            values[given] = after
    return trip, 1
