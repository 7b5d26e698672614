"""Can two footprints meet? Asked of isl, as a set of integers that is empty or not.

The question has the variables of both sides: the loops around each access, and the wave of each where it matters. A
few numbers are tried first: most footprints that meet do so with some of them (see `overlap_samples`). Answers are
kept by the shape of the question. What isl cannot be asked (a product of two variables), what takes it too long,
and what comes up when a kernel has used up its budget, is answered "yes".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from fencepost.analysis.overlap_samples import meet_somewhere
from fencepost.analysis.symbolic_footprints import Footprint, Range
from fencepost.ir.expr import Binary, Compare, Const, Expr, Lane, Select, Var, Wave, lanes_in, leaves

MOST_OPERATIONS = 200_000
"""What isl may spend on one question, in its own unit: some tens of milliseconds."""
PART = 20
"""Most questions need a small part of that: one in so many."""
EASY, HARD = 1, 16
"""What a question costs that the small part answers, and one that takes more."""
BUDGET = 1000
"""What all questions about one kernel may cost together."""
MOST_ASKED = 10_000
"""Questions that may come up, those that were answered before included."""
KEPT = 50_000
"""Answers that are kept."""
SAME, LATER, ANY = "same", "later", "any"
"""How the iterations of a loop around both accesses stand to each other; `later`: the second one's is."""


class Side(NamedTuple):
    """One access."""

    footprint: Footprint
    ranges: tuple[Range, ...]


@dataclass(slots=True)
class Solver:
    """Asks isl, and counts how often."""

    waves: int
    asked: int = 0
    """Questions that came up."""
    solved: int = 0
    """Those that had not been answered before."""
    left: int = BUDGET
    given_up: int = 0
    """Questions that were answered "yes" because the budget was used up."""
    answers: dict[_Question, bool] = field(default_factory=dict)

    def can_meet(self, one: Side, other: Side, relations: tuple[str, ...], same_wave: bool | None) -> bool:
        """Whether the two can touch a common byte.

        `relations` tells for the common loops, from the outside in, how their iterations stand to each other;
        `same_wave` whether one wave makes both accesses, or two different ones, or (None) whether it matters not.
        """
        self.asked += 1
        if self.left <= 0 or self.asked > MOST_ASKED:
            # Not even whether the answer is known: looking that up takes time as well.
            self.given_up += 1
            return True
        question = _Question(_shape(one), _shape(other), relations, same_wave, self.waves)
        found = self.answers.get(question)
        if found is None:
            before = _answer.cache_info().misses
            found, cost = _answer(question)
            self.solved += _answer.cache_info().misses - before
            # It costs the same if it had been answered before: the result depends on nothing but the kernel.
            self.left -= cost
            self.answers[question] = found
        return found


class _Shape(NamedTuple):
    """A side without what does not matter: which buffer it is, and which loop."""

    lo: Expr
    hi: Expr
    ranges: tuple[tuple[str, int, int | None, int], ...]


def _shape(side: Side) -> _Shape:
    footprint = side.footprint
    ranges = tuple((r.name, r.start, r.stop, r.step) for r in side.ranges)
    return _Shape(footprint.lo, footprint.hi, ranges)


class _Question(NamedTuple):
    one: _Shape
    other: _Shape
    relations: tuple[str, ...]
    same_wave: bool | None
    waves: int


class _Unanswerable(Exception):
    """The question is not one about quasi-affine sets."""


@lru_cache(KEPT)
def _answer(question: _Question) -> tuple[bool, int]:
    """Whether the two can meet, True if that is not known; and what it cost to find out."""
    one, other, relations, same_wave, waves = question
    if meet_somewhere(one, other, relations, same_wave, waves):
        return True, EASY
    import islpy as isl

    context = isl.DEFAULT_CONTEXT
    for most, cost in ((max(MOST_OPERATIONS // PART, 1), EASY), (MOST_OPERATIONS, HARD)):
        context.reset_operations()
        context.set_max_operations(most)
        try:
            return not _meetings(isl, one, other, relations, same_wave, waves).is_empty(), cost
        except _Unanswerable:
            return True, EASY
        except isl.Error:
            continue  # the next one may spend more
        finally:
            context.reset_operations()
            context.set_max_operations(0)
    return True, HARD


def _meetings(
    isl: Any, one: _Shape, other: _Shape, relations: tuple[str, ...], same_wave: bool | None, waves: int
) -> Any:
    """The set of all numbers with which the two touch a common byte."""
    names = [
        f"{side}{number}" for side, shape in (("a", one), ("b", other)) for number in range(len(shape.ranges))
    ]
    names += ["wave_a", "wave_b", "lane_a", "lane_b"]
    space = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=names)
    values = _Values(isl, space, {name: number for number, name in enumerate(names)})
    found = isl.Set.universe(space)
    for side, shape in (("a", one), ("b", other)):
        for number, (_, start, stop, step) in enumerate(shape.ranges):
            value = values.variable(f"{side}{number}")
            found &= value.ge_set(values.number(start))
            if stop is not None:
                found &= value.lt_set(values.number(stop))
            if step != 1:
                apart = value.sub(values.number(start)).mod_val(_val(isl, step))
                found &= apart.eq_set(values.number(0))
        wave, lane = values.variable(f"wave_{side}"), values.variable(f"lane_{side}")
        found &= wave.ge_set(values.number(0)) & wave.lt_set(values.number(waves))
        lanes = max(1, lanes_in((shape.lo, shape.hi)))
        found &= lane.ge_set(values.number(0)) & lane.lt_set(values.number(lanes))
    for number, relation in enumerate(relations):
        first, second = values.variable(f"a{number}"), values.variable(f"b{number}")
        if relation == SAME:
            found &= first.eq_set(second)
        elif relation == LATER:
            found &= first.lt_set(second)
    if same_wave is not None:
        first, second = values.variable("wave_a"), values.variable("wave_b")
        found &= first.eq_set(second) if same_wave else first.ne_set(second)
    ends = []
    for side, shape in (("a", one), ("b", other)):
        known = {name: f"{side}{number}" for number, (name, *_) in enumerate(shape.ranges)}
        lo, hi = values.of(shape.lo, known, side), values.of(shape.hi, known, side)
        found &= lo.lt_set(hi)
        ends.append((lo, hi))
    (lo, hi), (other_lo, other_hi) = ends
    return found & lo.lt_set(other_hi) & other_lo.lt_set(hi)


def _val(isl: Any, value: int) -> Any:
    """A number for isl. It has no bounds there, but islpy takes a longer one than a machine word as text only."""
    return isl.Val(value if value.bit_length() < 64 else str(value))


class _Values(NamedTuple):
    """Expressions as functions of the variables of one question."""

    isl: Any
    space: Any
    place: dict[str, int]

    def number(self, value: int) -> Any:
        """A constant."""
        return self.isl.PwAff.val_on_domain(self.isl.Set.universe(self.space), _val(self.isl, value))

    def variable(self, name: str) -> Any:
        """A variable."""
        local = self.isl.LocalSpace.from_space(self.space)
        return self.isl.PwAff.var_on_domain(local, self.isl.dim_type.set, self.place[name])

    def of(self, expr: Expr, known: dict[str, str], side: str) -> Any:
        """An expression of one side."""
        if isinstance(expr, Const):
            return self.number(expr.value)
        if isinstance(expr, Wave):
            return self.variable(f"wave_{side}")
        if isinstance(expr, Lane):
            return self.variable(f"lane_{side}")
        if isinstance(expr, Var):
            return self.variable(known[expr.name])
        if isinstance(expr, Select):
            holds = self.holds(expr.condition, known, side)
            then, orelse = self.of(expr.then, known, side), self.of(expr.orelse, known, side)
            return then.intersect_domain(holds).union_add(orelse.intersect_domain(holds.complement()))
        if isinstance(expr, Binary):
            return self.of_arithmetic(expr, known, side)
        raise _Unanswerable

    def holds(self, condition: Compare, known: dict[str, str], side: str) -> Any:
        """Where a comparison holds."""
        left, right = self.of(condition.lhs, known, side), self.of(condition.rhs, known, side)
        names = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
        return getattr(left, f"{names[condition.op]}_set")(right)

    def of_arithmetic(self, expr: Binary, known: dict[str, str], side: str) -> Any:
        """A sum, product, quotient or remainder."""
        left = self.of(expr.lhs, known, side)
        if expr.op in "+-":
            right = self.of(expr.rhs, known, side)
            return left.add(right) if expr.op == "+" else left.sub(right)
        if expr.op == "*":
            if any(not isinstance(leaf, Const) for leaf in leaves(expr.lhs)) and any(
                not isinstance(leaf, Const) for leaf in leaves(expr.rhs)
            ):
                raise _Unanswerable
            return left.mul(self.of(expr.rhs, known, side))
        if not isinstance(expr.rhs, Const) or expr.rhs.value <= 0:
            raise _Unanswerable
        value = _val(self.isl, expr.rhs.value)
        if expr.op == "%":
            return left.mod_val(value)
        if expr.op == "//":
            return left.scale_down_val(value).floor()
        return self.flipped(left, expr.rhs.value)

    def flipped(self, value: Any, bits: int) -> Any:
        """`value` exclusive-or a constant: each bit that is set in it is one less or one more."""
        for place in range(bits.bit_length()):
            if bits >> place & 1:
                bit = value.scale_down_val(_val(self.isl, 1 << place)).floor().mod_val(self.isl.Val(2))
                up = self.number(1).sub(bit.scale_val(self.isl.Val(2)))
                value = value.add(up.scale_val(_val(self.isl, 1 << place)))
        return value
