"""Parameters as instances see them: which values of one stand for all others.

What a parameter decides is a remainder (it repeats) or a comparison with something that is known (there are *breaks*:
values from which on it has another answer). Between two breaks everything repeats after one *period*, so a period of
each such stretch is enough. It goes without saying that a parameter has one value throughout: blocks that ask for it
in different places ask for the same number.

An expression for which that is not so (`%n * 64`, or `%i < %n` in a loop of unknown length) is *blind* to the
parameter: what depends on it there is unknown, as ever. Comparisons of sums of several parameters go by the value of
that sum, as if it were one more parameter.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from math import gcd, lcm, prod
from typing import NamedTuple

from fencepost.flow import Block, Flow
from fencepost.ir import ops
from fencepost.ir.expr import (
    COMPARISONS,
    Binary,
    Compare,
    Condition,
    Const,
    Expr,
    Select,
    Var,
    Wave,
    decide,
    evaluate,
    is_divergent,
    leaves,
)
from fencepost.ir.trace import CapturedTrace

MOST_VALUES = 64
"""Values of one parameter: with more, it is not followed."""
MOST_COMBINATIONS = 256
"""Combinations of the values of parameters that matter in one place: with more, one of them is not followed."""
MOST_STANDING = 256
"""Values of one parameter that stand for all, before those are left out that nothing tells from another."""
MOST_ANSWERS = 16_384
"""Answers to everything that is asked with each of them: with more, none is left out."""
MOST_TRIED = 256
"""Loop variables and waves that a comparison with a parameter is tried with."""

Asked = tuple[ops.Operation, Expr | Condition]
"""An expression that decides something, and the operation that it belongs to."""


class Bounds(NamedTuple):
    """The least and the greatest of some numbers; None where there is none."""

    least: int | None
    greatest: int | None

    def joined(self, other: Bounds) -> Bounds:
        """Those of both."""
        least = None if self.least is None or other.least is None else min(self.least, other.least)
        if self.greatest is None or other.greatest is None:
            return Bounds(least, None)
        return Bounds(least, max(self.greatest, other.greatest))


class Sum(NamedTuple):
    """A comparison as one of a sum of parameters with a number: `sign * sum op number`."""

    name: str
    sign: int
    op: str
    number: int


@dataclass(slots=True)
class Parameters:
    """The parameters that are followed, each with the values that stand for all."""

    values: dict[str, list[int]] = field(default_factory=dict)
    blind: dict[ops.Operation, frozenset[str]] = field(default_factory=dict)
    """Operations that are blind to some of them, and branches that are to the variable of a loop."""
    sums: dict[ops.Operation, Sum] = field(default_factory=dict)
    """Branches on several parameters at once."""
    summands: dict[str, frozenset[str]] = field(default_factory=dict)
    """The parameters in each of these."""
    live: list[set[str]] = field(default_factory=list)
    """For each block: those that may still be asked for."""
    asked: list[set[str]] = field(default_factory=list)
    """For each block: those that it asks for itself."""
    bounds: dict[str, dict[int, Bounds]] = field(default_factory=dict)
    """For each of them and each of its values: between which numbers everything lies that the value stands for."""
    dropped: list[str] = field(default_factory=list)
    """Those that have too many values, or too many together with others, to be followed."""

    @classmethod
    def of(cls, flow: Flow, asked: list[Asked]) -> Parameters:
        """Read a kernel; `asked` is everything that decides something in it."""
        found, trace = cls(), flow.trace
        names = trace.numbers.keys()
        if not names:
            return found
        known = _Known(trace)
        repeats: dict[str, _Repeats] = {}
        questions: dict[str, set[Expr | Condition]] = {}
        for op, part in [*asked, *_bounds(trace)]:
            for name in {leaf.name for leaf in leaves(part) if isinstance(leaf, Var)} & names:
                rule = known.rule(part, name)
                if rule is None or rule.step:
                    found.blind[op] = found.blind.get(op, frozenset()) | {name}
                else:
                    repeats[name] = repeats.get(name, _Repeats()).joined(rule)
                    questions.setdefault(name, set()).add(part)
        for op in found.blind:
            total = _sum_of(op, trace)
            if total is not None:
                found.sums[op] = total
                found.summands[total.name] = found.blind[op]
                at = total.sign * total.number
                breaks = _Repeats(1, frozenset((at, at + 1)))
                repeats[total.name] = repeats.get(total.name, _Repeats()).joined(breaks)
        every = {name: each.values() for name, each in repeats.items() if each.size <= MOST_STANDING}
        for name, each in every.items():
            alike = known.alike(each, name, questions.get(name, set()))
            if len(alike) <= MOST_VALUES:
                found.values[name] = list(alike)
                found.bounds[name] = {
                    value: reduce(Bounds.joined, (repeats[name].bounds(other) for other in others))
                    for value, others in alike.items()
                }
        too_many = known.too_long | repeats.keys() - found.values.keys()
        found.dropped = sorted({each for name in too_many for each in found.summands.get(name, {name})})
        if found.values:
            found.asked = [found.asked_in(block) for block in flow.blocks]
            found.live = _spread(flow, found.asked, forwards=False)
            found.keep_few(_spread(flow, found.asked, forwards=True))
        return found

    def keep_few(self, asked_before: list[set[str]]) -> None:
        """Follow no more than there is room for where several matter, those with few values first."""
        active = [before & after for before, after in zip(asked_before, self.live, strict=True)]
        kept: dict[str, list[int]] = {}
        for name in sorted(self.values, key=lambda name: len(self.values[name])):
            tried = {**kept, name: self.values[name]}
            if all(
                prod(len(tried[each]) for each in here & tried.keys()) <= MOST_COMBINATIONS for here in active
            ):
                kept = tried
            else:
                self.dropped += sorted(self.summands.get(name, {name}))
        self.values = kept

    def without(self, name: str) -> None:
        """Do not follow one of them after all."""
        self.values.pop(name, None)

    def is_live(self, name: str, block: Block) -> bool:
        """Whether one that is followed may still be asked for."""
        return name in self.values and name in self.live[block.index]

    def holds(self, branch: ops.Operation, env: dict[str, int]) -> bool | None:
        """Whether a branch on several parameters is taken, if that is known."""
        total = self.sums.get(branch)
        if total is None or total.name not in env:
            return None
        return COMPARISONS[total.op](total.sign * env[total.name], total.number)

    def forked(self, block: Block, env: dict[str, int]) -> Iterator[dict[str, int]]:
        """What is known where a block begins: all values of the parameters that it is the first to ask for."""
        if not self.values:
            yield env
            return
        asked = [
            name
            for name in self.values
            if name in self.asked[block.index] and name not in env and name in self.live[block.index]
        ]
        for values in product(*(self.values[name] for name in asked)):
            yield {**env, **dict(zip(asked, values, strict=True))}

    def asked_in(self, block: Block) -> set[str]:
        """The names that a block asks for, those of guards around it included."""
        found: set[str] = set()
        inside = [*block.ops, block.anchor] if not block.calls else []
        for op in [*inside, *(guard.branch for guard in block.guards)]:
            if op is None:
                continue
            blind = self.blind.get(op, frozenset())
            for part in _parts(op):
                found |= {leaf.name for leaf in leaves(part) if isinstance(leaf, Var)} - blind
            if isinstance(op, ops.Iterate) and op.upto:
                found.add(op.upto)
            if op in self.sums:
                found.add(self.sums[op].name)
        return found & self.values.keys()


def _bounds(trace: CapturedTrace) -> Iterator[Asked]:
    """Loops that count up to a parameter ask whether they run at all."""
    for op in trace.preorder_walk():
        if isinstance(op, ops.Iterate) and op.upto:
            yield op, Compare("<", Const(op.start), Var(op.upto))


def _parts(op: ops.Operation) -> Iterator[Expr | Condition]:
    """Whatever an operation makes of numbers."""
    if isinstance(op, ops.MemoryOperation):
        for view in op.views:
            yield from (part for part in (view.slot, view.lo, view.hi) if part is not None)
    elif isinstance(op, (ops.Conditional, ops.CondBranch)):
        yield op.condition
    elif isinstance(op, ops.Iterate):
        yield from (name.init for name in op.carried if isinstance(name.init, Expr))
    elif isinstance(op, (ops.Next, ops.Give)):
        yield from (value for value in op.values if isinstance(value, Expr))
    elif isinstance(op, ops.Branch):
        yield from op.args


def _spread(flow: Flow, asked: list[set[str]], *, forwards: bool) -> list[set[str]]:
    """For each block, what it, or something that can come before it (or else after it), asks for."""
    found = [set(names) for names in asked]
    todo = deque(flow.order if forwards else reversed(flow.order))
    while todo:
        block = flow.blocks[todo.popleft()]
        for other in block.successors if forwards else block.predecessors:
            if not found[block.index] <= found[other]:
                found[other] |= found[block.index]
                todo.append(other)
    return found


def _sum_of(op: ops.Operation, trace: CapturedTrace) -> Sum | None:
    """The sum of parameters that a branch compares with a number, if it asks for nothing else."""
    condition = op.condition if isinstance(op, (ops.Conditional, ops.CondBranch)) else None
    if not isinstance(condition, Compare) or is_divergent(condition):
        return None
    names = [leaf for leaf in leaves(condition) if not isinstance(leaf, Const)]
    if not all(isinstance(leaf, Var) and leaf.name in trace.numbers for leaf in names):
        return None
    weights = weights_of(condition.lhs - condition.rhs)
    if weights is None:
        # No sum: the same two sides are compared the same way each time.
        one, other = str(condition.lhs), str(condition.rhs)
        swapped = other < one
        return Sum(f"{min(one, other)} less {max(one, other)}", -1 if swapped else 1, condition.op, 0)
    number = weights.pop("", 0)
    terms = sorted((name, weight) for name, weight in weights.items() if weight)
    if not terms:
        return None
    sign = 1 if terms[0][1] > 0 else -1
    return Sum(" ".join(f"{sign * weight}*%{name}" for name, weight in terms), sign, condition.op, -number)


def weights_of(expr: Expr) -> dict[str, int] | None:
    """How often each parameter is in a sum, and the rest under ""; None for anything else."""
    if isinstance(expr, Const):
        return {"": expr.value}
    if isinstance(expr, Var):
        return {expr.name: 1}
    if not isinstance(expr, Binary) or expr.op not in "+-*":
        return None
    one, other = weights_of(expr.lhs), weights_of(expr.rhs)
    if one is None or other is None:
        return None
    if expr.op == "*":
        if other.keys() <= {""}:
            one, other = other, one
        return (
            {name: one.get("", 0) * weight for name, weight in other.items()} if one.keys() <= {""} else None
        )
    sign = 1 if expr.op == "+" else -1
    return {name: one.get(name, 0) + sign * other.get(name, 0) for name in one | other}


# ---------------------------------------------------------------- how expressions repeat


class _Repeats(NamedTuple):
    """With what period everything repeats between some breaks."""

    period: int = 1
    breaks: frozenset[int] = frozenset()

    def joined(self, other: _Repeats | _Rule) -> _Repeats:
        """Both at once."""
        return _Repeats(lcm(self.period, other.period), self.breaks | other.breaks)

    @property
    def size(self) -> int:
        """How many values stand for all."""
        return (
            len(self.values())
            if self.period <= MOST_STANDING and len(self.breaks) <= MOST_STANDING
            else 1 << 30
        )

    def values(self) -> list[int]:
        """Values that stand for all: a period below the first break, and from each break on."""
        breaks = sorted(self.breaks)
        if not breaks:
            return list(range(self.period))
        found = set(range(breaks[0] - self.period, breaks[0]))
        for number, first in enumerate(breaks):
            end = first + self.period
            found |= set(range(first, min(end, breaks[number + 1]) if number + 1 < len(breaks) else end))
        return sorted(found)

    def bounds(self, value: int) -> Bounds:
        """Between which numbers those lie that one of the values stands for."""
        breaks = sorted(self.breaks)
        if not breaks:
            return Bounds(None, None)
        at = bisect_right(breaks, value)
        if at == 0:
            return Bounds(None, value)
        if at == len(breaks):
            return Bounds(value, None)
        return Bounds(value, value + (breaks[at] - 1 - value) // self.period * self.period)


class _Rule(NamedTuple):
    """`period` further, an expression is greater by `step`; breaks are where that may fail."""

    period: int
    step: int
    breaks: frozenset[int] = frozenset()


def _aligned(rules: list[_Rule]) -> tuple[int, list[int], frozenset[int]]:
    """The common period of some rules, the steps over it, and all breaks."""
    period = reduce(lcm, (rule.period for rule in rules), 1)
    steps = [rule.step * (period // rule.period) for rule in rules]
    return period, steps, frozenset().union(*(rule.breaks for rule in rules))


class _Known:
    """What a kernel's expressions can depend on beside a parameter."""

    def __init__(self, trace: CapturedTrace) -> None:
        self.waves = trace.waves
        self.too_long: set[str] = set()
        """Parameters that something repeats with, but after too many values to try them all."""
        self.loops = {
            op.var: range(op.start, op.stop, op.step)
            for op in trace.preorder_walk()
            if isinstance(op, ops.Iterate) and op.stop is not None
        }

    def rule(self, expr: Expr | Condition, name: str) -> _Rule | None:
        """How an expression changes with a parameter; None if it follows no rule."""
        if isinstance(expr, Var) and expr.name == name:
            return _Rule(1, 1)
        if isinstance(expr, Select):
            rules = [self.rule(part, name) for part in (expr.condition, expr.then, expr.orelse)]
            if any(rule is None for rule in rules):
                return None
            period, (_, then, orelse), breaks = _aligned([rule for rule in rules if rule is not None])
            return _Rule(period, then, breaks) if then == orelse else None
        if not isinstance(expr, (Binary, Compare)):
            return _Rule(1, 0)
        left, right = self.rule(expr.lhs, name), self.rule(expr.rhs, name)
        if left is None or right is None:
            return None
        period, (one, other), breaks = _aligned([left, right])
        if period > MOST_VALUES:
            self.too_long.add(name)
            return None
        if isinstance(expr, Compare):
            if one == other:
                return _Rule(period, 0, breaks)
            return None if breaks else self.crossed(expr, name, period, one - other)
        return _arithmetic(expr, period, one, other, breaks)

    def crossed(self, expr: Compare, name: str, period: int, step: int) -> _Rule | None:
        """A comparison whose two sides drift apart by `step` each `period`: it breaks where they cross."""
        tried = self.tried(expr, name)
        if tried is None:
            return None
        breaks: set[int] = set()
        repeats = 1
        for env, wave in tried:
            crosses: list[int] = []
            for value in range(period):
                one = evaluate(expr.lhs, {**env, name: value}, wave)
                other = evaluate(expr.rhs, {**env, name: value}, wave)
                if one is None or other is None:
                    return None
                # Among values a period apart, the sides are equal at `cross`, or pass each other behind it.
                crosses.append(value + period * ((other - one) // step))
            first, last = min(crosses), max(crosses) + period
            if last - first > 2 * period:
                # Some values have crossed long before others: in between it repeats.
                repeats = period
                breaks |= {each + more for each in crosses for more in range(period + 1)}
                continue
            answers = [decide(expr, {**env, name: value}, wave) for value in range(first - 1, last + 1)]
            changes = zip(answers, answers[1:], range(first, last + 1), strict=False)
            breaks |= {value for before, after, value in changes if before != after}
        return _Rule(repeats, 0, frozenset(breaks))

    def alike(self, values: list[int], name: str, questions: set[Expr | Condition]) -> dict[int, list[int]]:
        """Of values that no question tells from each other, one, and all of them."""
        unlike = {value: [value] for value in values}
        asked: list[tuple[Expr | Condition, dict[str, int], int]] = []
        for part in questions:
            tried = self.tried(part, name)
            if tried is None:
                return unlike
            asked += ((part, env, wave) for env, wave in tried)
            if len(values) * len(asked) > MOST_ANSWERS:
                return unlike
        if not asked:
            return unlike
        found: dict[tuple[int | None, ...], list[int]] = {}
        for value in values:
            answers = (
                evaluate(part, {**env, name: value}, wave)
                if isinstance(part, Expr)
                else decide(part, {**env, name: value}, wave)
                for part, env, wave in asked
            )
            found.setdefault(tuple(answers), []).append(value)
        return {each[0]: each for each in found.values()}

    def tried(self, expr: Expr | Condition, name: str) -> list[tuple[dict[str, int], int]] | None:
        """Everything else that a comparison depends on; None if that is not known."""
        parts = leaves(expr)
        others = {leaf.name for leaf in parts if isinstance(leaf, Var)} - {name}
        if not others <= self.loops.keys():
            return None
        waves = range(self.waves if any(isinstance(leaf, Wave) for leaf in parts) else 1)
        ranges = [self.loops[other] for other in others]
        if reduce(lambda size, values: size * len(values), ranges, len(waves)) > MOST_TRIED:
            return None
        return [
            (dict(zip(others, values, strict=True)), wave) for values in product(*ranges) for wave in waves
        ]


def _arithmetic(expr: Binary, period: int, one: int, other: int, breaks: frozenset[int]) -> _Rule | None:
    if expr.op == "+":
        return _Rule(period, one + other, breaks)
    if expr.op == "-":
        return _Rule(period, one - other, breaks)
    if one == other == 0:
        return _Rule(period, 0, breaks)
    if expr.op == "*":
        if isinstance(expr.rhs, Const):
            return _Rule(period, one * expr.rhs.value, breaks)
        return _Rule(period, expr.lhs.value * other, breaks) if isinstance(expr.lhs, Const) else None
    if expr.op == "^" or not isinstance(expr.rhs, Const) or expr.rhs.value <= 0:
        return None
    # After so many periods it has grown by a multiple of the divisor.
    divisor = expr.rhs.value
    times = divisor // gcd(divisor, one)
    return _Rule(period * times, one * times // divisor if expr.op == "//" else 0, breaks)
