"""Parameters: a few values of each stand for all, so that what it decides in one place agrees with every other.

A parameter is the same for all waves and all the time. Whatever depends on it through remainders repeats with it, and
a comparison with a number changes its answer at some value and nowhere else. So between two such values the kernel
repeats, and one period of each stretch, up to minus and plus infinity, stands for every value that there is.

An expression that follows no such rule (`%n * 64`, or `%i < %n`, which takes two numbers) does not see the parameter:
there it stays unknown. A branch that compares several parameters asks for their *difference*, which is the same each
time as well, whatever else is known about each of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise, product
from math import gcd, inf, lcm, prod

from fencepost.check.deciding_names import Names, condition_of, decisive, variables
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

LONGEST_PERIOD = 64
MOST_COMBINATIONS = 256
"""Values of all parameters that matter in one place; a parameter that would make them more is not followed."""
MOST_ANSWERS = 16_384
"""Values times questions: with more, it is not looked for values that nothing distinguishes."""

Values = dict[str, int]
Span = tuple[float, float]
"""The first and the last of some numbers, if need be without end."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What a branch asks for that compares expressions of several parameters: a difference, against a number.

    Two sides that differ by a sum of multiples of parameters and a number ask for that sum; others for themselves.
    """

    name: str
    """Under which its value is kept: no parameter is spelled like this."""
    sign: int
    condition: str
    limit: int

    def holds(self, values: Mapping[str, int]) -> bool | None:
        """Whether the comparison holds, if the difference is known."""
        if self.name not in values:
            return None
        return COMPARISONS[self.condition](self.sign * values[self.name], self.limit)

    @property
    def changes(self) -> set[int]:
        """The values from which on the comparison can have another answer."""
        return {self.sign * self.limit, self.sign * self.limit + 1}


@dataclass(slots=True)
class Parameters:
    """The parameters of a kernel that are followed."""

    choices: dict[str, list[int]] = field(default_factory=dict)
    """For each, the values that stand for all."""
    spans: dict[str, dict[int, Span]] = field(default_factory=dict)
    """For each of these: from where to where the values lie that it stands for."""
    hidden: dict[ops.Operation, frozenset[str]] = field(default_factory=dict)
    """Parameters that an operation does not see: what it makes of them follows no rule."""
    differences: dict[ops.Operation, Difference] = field(default_factory=dict)
    """Branches that compare expressions of several parameters."""
    dropped: set[str] = field(default_factory=set)
    """Parameters that have too many values, or too many combinations of them, to be followed everywhere."""

    @classmethod
    def of(cls, trace: CapturedTrace, names: Names) -> Parameters:
        """Read a kernel."""
        found = cls()
        if not trace.numbers:
            return found
        parts = [
            (op, part, modulus)
            for op in trace.preorder_walk()
            for part, modulus in _deciding(op, names)
            if variables(part) & trace.numbers.keys()
        ]
        ranges = _ranges(trace)
        stretches: dict[str, _Stretches] = {}
        asked: dict[str, dict[Expr | Condition, None]] = {}
        for op, part, modulus in parts:
            for name in variables(part) & trace.numbers.keys():
                changes: set[int] = set()
                if modulus is not None and isinstance(part, Expr):
                    part = Binary("%", part, Const(modulus))
                growth = _growth(part, _Names(name, ranges, trace.waves), changes)
                if growth is None or growth.by or growth.over > LONGEST_PERIOD:
                    found.hidden[op] = found.hidden.get(op, frozenset()) | {name}
                    if growth is not None and not growth.by:
                        found.dropped.add(name)
                else:
                    stretches.setdefault(name, _Stretches()).add(growth.over, changes)
                    asked.setdefault(name, {})[part] = None
        found.add_differences(trace, stretches)
        for name, each in stretches.items():
            found.choose(each, list(asked.get(name, ())), _Names(name, ranges, trace.waves))
        return found

    def choose(self, stretches: _Stretches, asked: list[Expr | Condition], names: _Names) -> None:
        """Find the values of a parameter that stand for all; it is not followed if they are too many."""
        name = names.parameter
        # As many values as the period has, at least: one of coprime remainders is longer than any list.
        few = stretches.period <= MOST_COMBINATIONS
        classes = _classes(stretches.values(), asked, names) if few else []
        if not 0 < len(classes) <= MOST_COMBINATIONS:
            self.drop(name)
            return
        spans = stretches.spans()
        self.choices[name] = [alike[0] for alike in classes]
        self.spans[name] = {alike[0]: _around(spans[value] for value in alike) for alike in classes}

    def add_differences(self, trace: CapturedTrace, stretches: dict[str, _Stretches]) -> None:
        """Where two parameters decide together, and only their difference matters, follow that."""
        for op in self.hidden:
            difference = _difference(op, trace)
            if difference is not None:
                self.differences[op] = difference
                stretches.setdefault(difference.name, _Stretches()).add(1, difference.changes)

    def drop(self, name: str) -> None:
        """Do not follow a parameter, or a difference of some."""
        compared = (self.hidden[op] for op, difference in self.differences.items() if difference.name == name)
        self.dropped |= next(compared, {name})

    def keep_few(self, active: list[set[str]]) -> None:
        """Follow no more than there is room for: `active` are those that each block would have values of."""
        kept: dict[str, list[int]] = {}
        for name in sorted(self.choices, key=lambda name: len(self.choices[name])):
            tried = {**kept, name: self.choices[name]}
            if all(
                prod(len(tried[each]) for each in here & tried.keys()) <= MOST_COMBINATIONS for here in active
            ):
                kept = tried
            else:
                self.drop(name)
        self.choices = kept

    @property
    def followed(self) -> set[str]:
        """The names that have values."""
        return set(self.choices)

    def asked_at(self, op: ops.Operation | None) -> set[str]:
        """The names that an operation asks for beside those in its expressions."""
        if isinstance(op, ops.Iterate) and op.upto:
            return {op.upto}
        return {self.differences[op].name} if op in self.differences else set()

    def seen(self, op: ops.Operation | None, values: dict[str, int]) -> dict[str, int]:
        """The values that an operation sees."""
        hidden = self.hidden.get(op) if op is not None else None
        return {name: value for name, value in values.items() if name not in hidden} if hidden else values


def runs(loop: ops.Iterate, values: Mapping[str, int]) -> bool | None:
    """Whether a loop that counts up to a parameter runs at all; None if that is not known."""
    return None if loop.upto not in values else loop.start < values[loop.upto]


def _deciding(op: ops.Operation, names: Names) -> Iterator[tuple[Expr | Condition, int | None]]:
    """The expressions of an operation that decide anything, the bound of a loop included."""
    yield from decisive(op, names)
    if isinstance(op, ops.Iterate) and op.upto:
        yield Compare("<", Const(op.start), Var(op.upto)), None


def _difference(op: ops.Operation, trace: CapturedTrace) -> Difference | None:
    """What a branch asks for that compares two expressions of nothing but parameters."""
    condition = condition_of(op)
    if not isinstance(condition, Compare) or is_divergent(condition):
        return None
    if not all(
        isinstance(leaf, Const) or (isinstance(leaf, Var) and leaf.name in trace.numbers)
        for leaf in leaves(condition)
    ):
        return None
    terms = terms_of(Binary("-", condition.lhs, condition.rhs))
    if terms is None:
        first, second = sorted((str(condition.lhs), str(condition.rhs)))
        sign = 1 if first == str(condition.lhs) else -1
        return Difference(f"({first}) - ({second})", sign, condition.op, 0)
    number = terms.pop("", 0)
    if not terms:
        return None
    sign = 1 if next(iter(terms.values())) > 0 else -1
    name = " + ".join(f"{sign * times} * %{name}" for name, times in terms.items())
    return Difference(name, sign, condition.op, -number)


def terms_of(expr: Expr) -> dict[str, int] | None:
    """A sum of multiples of parameters, by name and in order, and a number under ""; None if it is no such sum."""
    if isinstance(expr, Const):
        return {"": expr.value}
    if isinstance(expr, Var):
        return {expr.name: 1}
    if not isinstance(expr, Binary) or expr.op not in ("+", "-", "*"):
        return None
    left, right = terms_of(expr.lhs), terms_of(expr.rhs)
    if left is None or right is None:
        return None
    if expr.op == "*":
        if left.keys() - {""} and right.keys() - {""}:
            return None
        times, left = (left.get("", 0), right) if not left.keys() - {""} else (right.get("", 0), left)
        return {name: each * times for name, each in left.items() if each * times}
    sign = 1 if expr.op == "+" else -1
    both = {name: left.get(name, 0) + sign * right.get(name, 0) for name in left | right}
    return {name: both[name] for name in sorted(both) if both[name]}


@dataclass(slots=True)
class _Stretches:
    """Where a kernel changes with a parameter, and how it repeats between these values."""

    period: int = 1
    changes: set[int] = field(default_factory=set)

    def add(self, period: int, changes: set[int]) -> None:
        """Take one more expression into account."""
        self.period = lcm(self.period, period)
        self.changes |= changes

    def spans(self) -> dict[int, Span]:
        """For each of the values: the first and the last of all that it stands for."""
        ends = sorted(self.changes)
        found: dict[int, Span] = {}
        for value in self.values():
            passed = bisect_right(ends, value)
            lowest, highest = (value if passed else -inf), (inf if passed == len(ends) else value)
            if 0 < passed < len(ends):
                # A period further it is the same, as long as the next change is not reached.
                highest += (ends[passed] - 1 - value) // self.period * self.period
            found[value] = (lowest, highest)
        return found

    def values(self) -> list[int]:
        """Values that stand for all; those from 0 up first, for whoever reads a report."""
        if not self.changes:
            return list(range(self.period))
        ends = sorted(self.changes)
        found = [ends[0] - 1 - number for number in range(self.period)]
        for first, end in pairwise(ends):
            found += range(first, min(end, first + self.period))
        found += range(ends[-1], ends[-1] + self.period)
        return sorted(found, key=lambda value: (value < 0, abs(value)))


@dataclass(frozen=True, slots=True)
class _Growth:
    """`over` further on, an expression is greater by exactly `by`, unless a change lies in between."""

    over: int
    by: int

    def scaled(self, over: int) -> int:
        """By how much it grows over a multiple of `over`."""
        return self.by * (over // self.over)


FIXED = _Growth(1, 0)


@dataclass(frozen=True, slots=True)
class _Names:
    """A parameter, and what else a comparison with it can depend on."""

    parameter: str
    ranges: Mapping[str, range]
    waves: int

    def others(self, expr: Expr | Condition) -> list[tuple[Values, int]] | None:
        """The values of everything else in a comparison, with a wave; None if they are not known or too many."""
        names: dict[str, range] = {}
        waves = range(1)
        for leaf in leaves(expr):
            if isinstance(leaf, Wave):
                waves = range(self.waves)
            elif isinstance(leaf, Var) and leaf.name != self.parameter:
                if leaf.name not in self.ranges:
                    return None
                names[leaf.name] = self.ranges[leaf.name]
        count = len(waves)
        for values in names.values():
            count *= len(values)
        if count > MOST_COMBINATIONS:
            return None
        return [
            (dict(zip(names, numbers, strict=True)), wave)
            for numbers in product(*names.values())
            for wave in waves
        ]


def _classes(values: list[int], asked: list[Expr | Condition], names: _Names) -> list[list[int]]:
    """Values that everything asked for is the same with, whatever else it depends on, put together."""
    others = [names.others(part) for part in asked]
    tried = [
        (part, env, wave)
        for part, each in zip(asked, others, strict=True)
        if each is not None
        for env, wave in each
    ]
    if not asked or None in others or len(values) * len(tried) > MOST_ANSWERS:
        return [[value] for value in values]
    classes: dict[tuple[int | None, ...], list[int]] = {}
    for value in values:
        answers = tuple(_answer(part, {**env, names.parameter: value}, wave) for part, env, wave in tried)
        classes.setdefault(answers, []).append(value)
    return list(classes.values())


def _around(spans: Iterable[Span]) -> Span:
    """From the first of some spans to the last."""
    lows, highs = zip(*spans, strict=True)
    return min(lows), max(highs)


def _answer(part: Expr | Condition, values: Values, wave: int) -> int | None:
    return evaluate(part, values, wave) if isinstance(part, Expr) else decide(part, values, wave)


def _ranges(trace: CapturedTrace) -> dict[str, range]:
    """The values of loop variables that are known."""
    return {
        op.var: range(op.start, op.stop, op.step)
        for op in trace.preorder_walk()
        if isinstance(op, ops.Iterate) and op.stop is not None
    }


def _growth(expr: Expr | Condition, names: _Names, changes: set[int]) -> _Growth | None:
    """How an expression grows with a parameter; None if it follows no rule. Notes where a comparison changes."""
    if isinstance(expr, Var):
        return _Growth(1, 1) if expr.name == names.parameter else FIXED
    if isinstance(expr, Select):
        condition = _growth(expr.condition, names, changes)
        then, orelse = _growth(expr.then, names, changes), _growth(expr.orelse, names, changes)
        if condition is None or then is None or orelse is None:
            return None
        over = lcm(condition.over, then.over, orelse.over)
        grown = then.scaled(over)
        return _Growth(over, grown) if grown == orelse.scaled(over) else None
    if not isinstance(expr, (Binary, Compare)):
        return FIXED
    inner: set[int] = set()
    left, right = _growth(expr.lhs, names, inner), _growth(expr.rhs, names, inner)
    changes |= inner
    if left is None or right is None:
        return None
    over = lcm(left.over, right.over)
    one, other = left.scaled(over), right.scaled(over)
    if isinstance(expr, Compare):
        if one == other:
            return _Growth(over, 0)
        # With changes inside, the sides follow one rule here and another one there.
        return None if inner else _crossing(expr, names, _Growth(over, one - other), changes)
    return _of_arithmetic(expr, over, one, other)


def _of_arithmetic(expr: Binary, over: int, one: int, other: int) -> _Growth | None:
    """The same for a sum, product, quotient or remainder of sides that grow by `one` and `other`."""
    if expr.op in ("+", "-"):
        return _Growth(over, one + other if expr.op == "+" else one - other)
    if not (one or other):
        return _Growth(over, 0)
    if expr.op == "*" and isinstance(expr.lhs, Const):
        return _Growth(over, other * expr.lhs.value)
    by = expr.rhs.value if isinstance(expr.rhs, Const) else None
    if by is None:
        return None
    if expr.op == "*":
        return _Growth(over, one * by)
    if by <= 0 or expr.op not in ("//", "%"):
        return None
    times = by // gcd(by, one)
    return _Growth(over * times, 0 if expr.op == "%" else one * times // by)


def _crossing(expr: Compare, names: _Names, growth: _Growth, changes: set[int]) -> _Growth | None:
    """A comparison of two sides of which one outgrows the other: where its answer can change."""
    others = names.others(expr)
    if others is None or growth.over > LONGEST_PERIOD:
        return None
    over = 1
    for values, wave in others:
        near: set[int] = set()
        for first in range(growth.over):
            here = {**values, names.parameter: first}
            left, right = evaluate(expr.lhs, here, wave), evaluate(expr.rhs, here, wave)
            if left is None or right is None:
                return None
            # The difference is zero this many periods on, or between there and the next.
            at = first + (right - left) // growth.by * growth.over
            near.update(range(at, at + growth.over + 1))
        if max(near) - min(near) < len(near):
            # Without a gap: before them all the answer is one, behind them all it is the other.
            changes.update(
                value
                for value in near
                if decide(expr, {**values, names.parameter: value}, wave)
                != decide(expr, {**values, names.parameter: value - 1}, wave)
            )
        else:
            over = growth.over
            changes.update(near)
    return _Growth(over, 0)
