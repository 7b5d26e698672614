"""Which iterations of a loop look alike: a few of them stand for all.

Everything that a loop's variable decides (slots, byte ranges, branches) is looked at. If it repeats after P
iterations, following P of them round and round is following the loop. A comparison of the variable with a
number holds up to some iteration and not from there on, or the other way round: between such breaks the rest
repeats, so each stretch between two breaks is followed round and round by itself.

In the same way, numbers that are forwarded can be reduced without anything noticing (`moduli`). Of a counter that
picks slots of a ring of three, only the remainder by three matters, however far it counts. Counters are handed from
name to name: through a loop, through the one around it and back. So what matters of a name is what it decides
itself, and what matters of the names that are made from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd, lcm
from typing import NamedTuple

from fencepost.ir import ops
from fencepost.ir.buffers import BufferArg
from fencepost.ir.expr import (
    Binary,
    Compare,
    Condition,
    Const,
    Expr,
    Flag,
    Select,
    Var,
    evaluate,
    is_divergent,
    leaves,
)

MOST_ROUNDS = 64
"""A loop of which more iterations differ is not followed: what depends on its variable is unknown."""


class Shift(NamedTuple):
    """How a value changes with the iteration: `rounds` iterations further it is greater by exactly `delta`."""

    rounds: int
    delta: int


class Stretch(NamedTuple):
    """Iterations `first` up to, not including, `end` (None: without end), alike if `period` apart."""

    first: int
    end: int | None
    period: int

    @property
    def folded(self) -> bool:
        """Whether its first `period` iterations stand for all."""
        return self.end is None or self.end - self.first > self.period

    @property
    def followed(self) -> int:
        """How many iterations are looked at."""
        return self.period if self.end is None else min(self.period, self.end - self.first)


@dataclass(frozen=True, slots=True)
class Rounds:
    """The iterations of a loop that are followed, by the value of its variable."""

    start: int
    step: int
    stretches: tuple[Stretch, ...]

    @property
    def count(self) -> int:
        """How many iterations are looked at."""
        return sum(stretch.followed for stretch in self.stretches)

    def in_full(self, most: int) -> Rounds:
        """The same with stretches of at most so many iterations followed one by one, not round and round."""
        stretches = [
            each if each.end is None or each.end - each.first > most else each._replace(period=most)
            for each in self.stretches
        ]
        return Rounds(self.start, self.step, tuple(stretches))

    def following(self, value: int) -> tuple[list[int], bool]:
        """The values that the variable can have in the next iteration, and whether the loop can be left now."""
        here = (value - self.start) // self.step
        number = next(
            number
            for number, stretch in enumerate(self.stretches)
            if stretch.first <= here < stretch.first + stretch.followed
        )
        stretch = self.stretches[number]
        again: list[int] = []
        if here + 1 < stretch.first + stretch.followed:
            again.append(here + 1)
        elif stretch.folded:
            again.append(stretch.first)
        more = number + 1 < len(self.stretches)
        # A loop of unknown length can be left after any iteration.
        leaves = self.stretches[-1].end is None
        if stretch.end is not None:
            left = stretch.end - 1 - here
            # The last iteration of the stretch, or one that looks just like it.
            last = left % stretch.period == 0 if stretch.folded else left == 0
            leaves = leaves or (last and not more)
            if last and more:
                again.append(self.stretches[number + 1].first)
        return [self.start + self.step * k for k in dict.fromkeys(again)], leaves


def rounds_of(
    var: str, start: int, step: int, trip: int | None, parts: Iterable[Expr | Condition], waves: int = 1
) -> Rounds | None:
    """The iterations that stand for all as far as `parts` goes, in every wave; None if too many differ."""
    breaks: set[int] = set()
    period: int | None = 1
    for part in parts:
        shift = _shift(part, _Loop(var, start, step, waves), breaks)
        if shift is None or shift.delta or shift.rounds > MOST_ROUNDS:
            period = None
            break
        period = lcm(period or 1, shift.rounds)
    if trip is not None and (period is None or trip <= 2 * period):
        # Each iteration by itself.
        found = Rounds(start, step, (Stretch(0, trip, max(trip, 1)),))
    elif period is None:
        return None
    else:
        inside = sorted(at for at in breaks if at > 0 and (trip is None or at < trip))
        edges: list[int | None] = [0, *inside, trip]
        stretches = [
            Stretch(first, end, period)
            for first, end in pairwise(edges)
            if first is not None and (end is None or first < end)
        ]
        found = Rounds(start, step, tuple(stretches))
    return found if found.count <= MOST_ROUNDS else None


def follows_no_rule(var: str, start: int, step: int, condition: Compare, waves: int) -> bool:
    """Whether nothing is known about the iterations in which a condition on a loop's variable holds (`%i < %n`)."""
    return _shift(condition, _Loop(var, start, step, waves), set()) is None


def shift_in(name: str, part: Expr | Condition) -> Shift | None:
    """How `part` changes when a number grows by one; None if that is not the same everywhere."""
    breaks: set[int] = set()
    shift = _shift(part, _Loop(name, 0, 1, 1), breaks)
    return None if breaks else shift


class _Loop(NamedTuple):
    var: str
    start: int
    step: int
    waves: int


def _shift(expr: Expr | Condition, loop: _Loop, breaks: set[int]) -> Shift | None:
    """How `expr` changes between two breaks; None if nothing can be said."""
    if isinstance(expr, Var):
        return Shift(1, loop.step) if expr.name == loop.var else Shift(1, 0)
    if isinstance(expr, Flag) or not isinstance(expr, (Binary, Compare, Select)):
        return Shift(1, 0)
    if isinstance(expr, Select):
        condition = _shift(expr.condition, loop, breaks)
        then, orelse = _shift(expr.then, loop, breaks), _shift(expr.orelse, loop, breaks)
        if condition is None or then is None or orelse is None:
            return None
        rounds = lcm(condition.rounds, then.rounds, orelse.rounds)
        grown = _grown(then, rounds)
        return Shift(rounds, grown) if grown == _grown(orelse, rounds) else None
    inside: set[int] = set()
    left, right = _shift(expr.lhs, loop, inside), _shift(expr.rhs, loop, inside)
    breaks |= inside
    if left is None or right is None:
        return None
    if isinstance(expr, Compare):
        return _shift_of_comparison(expr, left, right, loop, breaks, straight=not inside)
    return _shift_of_arithmetic(expr, left, right)


def _grown(shift: Shift, rounds: int) -> int:
    return shift.delta * (rounds // shift.rounds)


def _shift_of_comparison(
    expr: Compare, left: Shift, right: Shift, loop: _Loop, breaks: set[int], *, straight: bool
) -> Shift | None:
    """How a comparison changes; its two sides are `straight` if they have no breaks of their own."""
    rounds = lcm(left.rounds, right.rounds)
    apart = _grown(left, rounds) - _grown(right, rounds)
    if apart == 0:
        return Shift(rounds, 0)
    if rounds != 1 or not straight:
        return None
    env = {loop.var: loop.start}
    for wave in range(loop.waves if is_divergent(expr) else 1):
        lhs, rhs = evaluate(expr.lhs, env, wave), evaluate(expr.rhs, env, wave)
        if lhs is None or rhs is None:
            return None
        # The difference is a line; it is zero at this iteration or between two of them.
        at = (rhs - lhs) // apart
        breaks.update((at, at + 1))
    return Shift(1, 0)


def _shift_of_arithmetic(expr: Binary, left: Shift, right: Shift) -> Shift | None:
    """How an operation of arithmetic moves on with a loop, given how its operands do; None if not evenly."""
    rounds = lcm(left.rounds, right.rounds)
    one, other = _grown(left, rounds), _grown(right, rounds)
    if expr.op == "+":
        return Shift(rounds, one + other)
    if expr.op == "-":
        return Shift(rounds, one - other)
    if not (one or other):
        return Shift(rounds, 0)
    number = expr.rhs.value if isinstance(expr.rhs, Const) else None
    if expr.op == "*":
        if number is None and isinstance(expr.lhs, Const):
            number, one = expr.lhs.value, other
        return None if number is None else Shift(rounds, one * number)
    if number is None or number <= 0:
        return None
    if expr.op == "^":
        # Adding a multiple of a power of two that is greater than `number` leaves the bits below alone.
        number = 1 << number.bit_length()
        times = number // gcd(number, one)
        return Shift(rounds * times, one * times)
    times = number // gcd(number, one)
    if expr.op == "//":
        return Shift(rounds * times, one * times // number)
    return Shift(rounds * times, 0)


LARGEST_MODULUS = 1 << 20
"""What numbers are reduced by: a count of bytes that moves on by a tile has few values, yet a large period."""


class _Given(NamedTuple):
    """A name that is made from another."""

    source: str
    name: str
    shift: Shift | None
    """How it changes with the other; None if that is not the same everywhere."""


def moduli(
    decided: Mapping[str, Sequence[Expr | Condition]], sources: Mapping[str, Sequence[ops.Forwarded]]
) -> dict[str, int]:
    """For names that are forwarded: by what each can be reduced, if it can.

    `decided` are the parts that a name decides itself, none for a buffer; `sources` what each name can become.
    """
    found: dict[str, int | None] = {name: _of_parts(name, decided.get(name)) for name in sources}
    given: list[_Given] = []
    for name, values in sources.items():
        for value in values:
            if isinstance(value, BufferArg):
                found[value.name] = None
            elif isinstance(value, Expr):
                used = {leaf.name for leaf in leaves(value) if isinstance(leaf, Var)}
                given += [
                    _Given(other, name, shift_in(other, value)) for other in sorted(used) if other in found
                ]
    changed = True
    while changed:
        changed = False
        for each in given:
            before = found[each.source]
            after = _joined(before, each.shift, found[each.name])
            if after != before:
                found[each.source] = after
                changed = True
    return {name: modulus for name, modulus in found.items() if modulus is not None and modulus > 1}


def _of_parts(name: str, parts: Sequence[Expr | Condition] | None) -> int | None:
    """By what a number can be reduced as far as what it decides itself goes; None if it cannot."""
    if parts is None:
        return 1
    if not parts:
        return None
    modulus = 1
    for part in parts:
        shift = shift_in(name, part)
        if shift is None or shift.delta:
            return None
        modulus = lcm(modulus, shift.rounds)
    return modulus if modulus <= LARGEST_MODULUS else None


def _joined(modulus: int | None, shift: Shift | None, of_name: int | None) -> int | None:
    """The modulus of a name once one that is made from it is looked at."""
    if modulus is None or shift is None:
        return None
    rounds = shift.rounds
    if shift.delta:
        if of_name is None:
            return None
        # So many rounds further, it is greater by a multiple of what it is reduced by.
        rounds *= of_name // gcd(of_name, shift.delta)
    joined = lcm(modulus, rounds)
    return joined if joined <= LARGEST_MODULUS else None
