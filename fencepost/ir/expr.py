"""Index expressions: which slot and which bytes an access touches, and which way a branch goes.

Integers only. `//` and `%` round towards minus infinity, as in Python. `Unknown` stands for a value
that the kernel does not tell; whatever depends on it evaluates to None, and every reader of an
expression has to treat None as "could be anything".

Python decides `and`, `or`, `not`, `if`, `in` and chains such as `0 < i < 8` while a kernel is written, by asking for
a truth value, and would drop what the kernel is to decide when it runs. So expressions and conditions have no truth
value: asking for it is an error. Nor does `==` compare an expression with a number.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias, Union

from fencepost.ir.source import UsageError, described

ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "^": operator.xor,
}
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
PRECEDENCE = {"^": 0, "+": 1, "-": 1, "*": 2, "//": 2, "%": 2}

Operand: TypeAlias = Union["Expr", int]


class Composed:
    """What has parts: what is asked of it again and again is found once. It never changes."""

    __slots__ = ("_hash", "_leaves")
    _hash: int
    _leaves: tuple[Expr, ...]

    def hashed(self, parts: tuple[object, ...]) -> int:
        """Its hash, given what it is made of."""
        found = getattr(self, "_hash", None)
        if found is None:
            found = hash(parts)
            object.__setattr__(self, "_hash", found)
        return found


class Expr:
    """An integer expression; Python's operators build larger ones."""

    __slots__ = ()
    __array_ufunc__ = None
    """numpy's numbers leave arithmetic with expressions to these."""

    def __add__(self, other: Operand) -> Expr:
        return Binary("+", self, as_expr(other))

    def __radd__(self, other: Operand) -> Expr:
        return Binary("+", as_expr(other), self)

    def __sub__(self, other: Operand) -> Expr:
        return Binary("-", self, as_expr(other))

    def __rsub__(self, other: Operand) -> Expr:
        return Binary("-", as_expr(other), self)

    def __mul__(self, other: Operand) -> Expr:
        return Binary("*", self, as_expr(other))

    def __rmul__(self, other: Operand) -> Expr:
        return Binary("*", as_expr(other), self)

    def __floordiv__(self, other: Operand) -> Expr:
        return Binary("//", self, as_expr(other))

    def __rfloordiv__(self, other: Operand) -> Expr:
        return Binary("//", as_expr(other), self)

    def __mod__(self, other: Operand) -> Expr:
        return Binary("%", self, as_expr(other))

    def __rmod__(self, other: Operand) -> Expr:
        return Binary("%", as_expr(other), self)

    def __xor__(self, other: Operand) -> Expr:
        return Binary("^", self, as_expr(other))

    def __rxor__(self, other: Operand) -> Expr:
        return Binary("^", as_expr(other), self)

    def __lt__(self, other: Operand) -> Compare:
        return Compare("<", self, as_expr(other))

    def __le__(self, other: Operand) -> Compare:
        return Compare("<=", self, as_expr(other))

    def __gt__(self, other: Operand) -> Compare:
        return Compare(">", self, as_expr(other))

    def __ge__(self, other: Operand) -> Compare:
        return Compare(">=", self, as_expr(other))

    def equals(self, other: Operand) -> Compare:
        """The condition `self == other` (`==` itself compares expressions as data)."""
        return Compare("==", self, as_expr(other))

    def differs(self, other: Operand) -> Compare:
        """The condition `self != other`."""
        return Compare("!=", self, as_expr(other))

    def __bool__(self) -> NoReturn:
        raise UsageError(
            f"`{_shown(self)}` is known when the kernel runs, so Python cannot tell whether it is zero",
            notes=[("help", "a conditional of the kernel: `with k.cond(i.differs(0)):`")],
        )

    def __truediv__(self, other: object) -> NoReturn:
        raise UsageError(f"`{_shown(self)} / {other}` is no whole number: `//` divides whole numbers")

    __rtruediv__ = __truediv__

    def __iter__(self) -> NoReturn:
        raise UsageError(f"`{_shown(self)}` is one number: there is nothing to iterate over")


def _shown(expr: Any) -> str:
    """An expression or condition for a message; one that nests too deep to be printed is not."""
    return str(expr) if depth(expr) <= 64 else "this expression"


def _compared(expr: Expr, other: object) -> bool:
    """What `==` gives for an expression and something of another kind; `==` compares expressions as data."""
    if isinstance(other, float) or hasattr(other, "__index__"):
        raise UsageError(
            f"`{_shown(expr)} == {other}` is no condition: `==` compares expressions as data",
            notes=[("help", f"write `.equals({other})` or `.differs({other})`")],
        )
    return NotImplemented  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Const(Expr):
    """A number."""

    value: int

    def __eq__(self, other: object) -> bool:
        return self.value == other.value if isinstance(other, Const) else _compared(self, other)

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Var(Expr):
    """A number that a loop or conditional forwards, by name. A kernel never uses one name twice."""

    name: str

    def __eq__(self, other: object) -> bool:
        return self.name == other.name if isinstance(other, Var) else _compared(self, other)

    def __str__(self) -> str:
        return f"%{self.name}"


@dataclass(frozen=True, slots=True)
class Wave(Expr):
    """The number of the wave that runs the operation, from 0."""

    def __eq__(self, other: object) -> bool:
        return True if isinstance(other, Wave) else _compared(self, other)

    def __str__(self) -> str:
        return "wave"


LANE = "lane of the wave"
"""What evaluation is told the number of a lane under: no name is spelled like this."""


@dataclass(frozen=True, slots=True)
class Lane(Expr):
    """The number of a lane in its wave, from 0: a view that depends on it is all that the wave's lanes touch."""

    count: int = 64

    def __eq__(self, other: object) -> bool:
        return self.count == other.count if isinstance(other, Lane) else _compared(self, other)

    def __str__(self) -> str:
        return "lane" if self.count == 64 else f"lane{self.count}"


@dataclass(frozen=True, slots=True)
class Unknown(Expr):
    """A value that the kernel does not tell."""

    def __eq__(self, other: object) -> bool:
        return True if isinstance(other, Unknown) else _compared(self, other)

    def __str__(self) -> str:
        return "?"


@dataclass(frozen=True, slots=True)
class Binary(Composed, Expr):
    """`lhs op rhs` with op one of `+ - * // % ^`; `^` is exclusive or."""

    op: str
    lhs: Expr
    rhs: Expr

    def __hash__(self) -> int:
        return self.hashed((self.op, self.lhs, self.rhs))

    def __eq__(self, other: object) -> bool:
        return (
            (self.op, self.lhs, self.rhs) == (other.op, other.lhs, other.rhs)
            if isinstance(other, Binary)
            else _compared(self, other)
        )

    def __str__(self) -> str:
        mine = PRECEDENCE[self.op]
        left, right = str(self.lhs), str(self.rhs)
        if isinstance(self.lhs, Binary) and PRECEDENCE[self.lhs.op] < mine:
            left = f"({left})"
        if isinstance(self.rhs, Binary) and PRECEDENCE[self.rhs.op] <= mine:
            right = f"({right})"
        return f"{left} {self.op} {right}"


@dataclass(frozen=True, slots=True)
class Select(Composed, Expr):
    """`then` where the condition holds, else `orelse`."""

    condition: Compare
    then: Expr
    orelse: Expr

    def __hash__(self) -> int:
        return self.hashed((self.condition, self.then, self.orelse))

    def __eq__(self, other: object) -> bool:
        return (
            (self.condition, self.then, self.orelse) == (other.condition, other.then, other.orelse)
            if isinstance(other, Select)
            else _compared(self, other)
        )

    def __str__(self) -> str:
        return f"select({self.condition}, {self.then}, {self.orelse})"


class Decided:
    """A condition, which is decided when the kernel runs."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        raise UsageError(
            f"`{_shown(self)}` is decided when the kernel runs: Python cannot ask for it "
            "with `and`, `or`, `not`, `if` or a chain such as `0 < i < 8`",
            notes=[("help", "one conditional in another: `with k.cond(0 < i), k.cond(i < 8):`")],
        )

    def __and__(self, other: object) -> NoReturn:
        raise UsageError(
            f"`{_shown(self)}` cannot be joined with another condition: a conditional has one",
            notes=[("help", "for both, one conditional in another: `with k.cond(0 < i), k.cond(i < 8):`")],
        )

    __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __and__

    def __invert__(self) -> NoReturn:
        raise UsageError(f"`~` has no meaning for `{_shown(self)}`: `orelse()` is where it does not hold")


@dataclass(frozen=True, slots=True)
class Compare(Composed, Decided):
    """A condition on integers. It is divergent when it depends on the wave."""

    op: str
    lhs: Expr
    rhs: Expr

    def __hash__(self) -> int:
        return self.hashed((self.op, self.lhs, self.rhs))

    def __str__(self) -> str:
        return f"{self.lhs} {self.op} {self.rhs}"


@dataclass(frozen=True, slots=True)
class Flag(Decided):
    """A condition that the kernel does not tell: the same for all waves, unknown each time it is met."""

    name: str

    def __str__(self) -> str:
        return f"%{self.name}"


Condition: TypeAlias = Compare | Flag
LEAVES = frozenset((Const, Var, Wave, Lane, Unknown))
"""Expressions without parts. Kinds are compared by identity here: these are asked about more than anything else."""


def as_expr(value: Operand) -> Expr:
    """An integer as an expression; expressions as they are."""
    return value if isinstance(value, Expr) else Const(whole(value))


def whole(value: Any, what: str = "a number") -> int:
    """`value` as a plain integer: integers of other libraries too, but nothing that would have to be rounded."""
    if type(value) is int:
        return value
    if isinstance(value, Decided):
        raise UsageError(f"{what} is a whole number, and `{_shown(value)}` is a condition")
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise UsageError(f"{what} is a whole number, not {described(value)}")


def evaluate(expr: Expr, env: Mapping[str, int], wave: int | None = None) -> int | None:
    """The value of `expr`, or None if something in it is unknown (a division by zero is unknown too)."""
    if isinstance(expr, Const):
        return expr.value
    if isinstance(expr, Var):
        return env.get(expr.name)
    if isinstance(expr, Binary):
        left = evaluate(expr.lhs, env, wave)
        # What is not known decides, whatever the other side is.
        right = None if left is None else evaluate(expr.rhs, env, wave)
        if left is None or right is None or (right == 0 and expr.op in ("//", "%")):
            return None
        return ARITHMETIC[expr.op](left, right)
    if isinstance(expr, Wave):
        return wave
    if isinstance(expr, Lane):
        return env.get(LANE)
    if isinstance(expr, Select):
        holds = decide(expr.condition, env, wave)
        if holds is None:
            return None
        return evaluate(expr.then if holds else expr.orelse, env, wave)
    return None


def evaluate_range(
    lo: Expr, hi: Expr, env: Mapping[str, int], wave: int | None = None
) -> tuple[int | None, int | None]:
    """The values of both ends of a range. The upper one is mostly the lower one and a number."""
    start = evaluate(lo, env, wave)
    if isinstance(hi, Binary) and hi.lhs is lo and hi.op == "+":
        size = None if start is None else evaluate(hi.rhs, env, wave)
        return start, None if start is None or size is None else start + size
    return start, evaluate(hi, env, wave)


def decide(condition: Condition, env: Mapping[str, int], wave: int | None = None) -> bool | None:
    """Whether `condition` holds, or None if that is unknown."""
    if isinstance(condition, Flag):
        return None
    left, right = evaluate(condition.lhs, env, wave), evaluate(condition.rhs, env, wave)
    if left is None or right is None:
        return None
    return COMPARISONS[condition.op](left, right)


def leaves(expr: Expr | Condition) -> tuple[Expr, ...]:
    """Every constant, variable, wave and unknown in `expr`, from left to right."""
    if type(expr) in LEAVES:  # much the most frequent case
        return (expr,)  # type: ignore[return-value]
    known: tuple[Expr, ...] | None = getattr(expr, "_leaves", None)
    if known is not None:
        return known
    found: list[Any] = []
    todo: list[Any] = [expr]
    while todo:
        part = todo.pop()
        kind = type(part)
        if kind in LEAVES:
            found.append(part)
        elif kind is Binary or kind is Compare:
            todo += (part.rhs, part.lhs)
        elif kind is Select:
            todo += (part.orelse, part.then, part.condition)
    if isinstance(expr, Composed):
        object.__setattr__(expr, "_leaves", tuple(found))
    return tuple(found)


def can_be_unknown(condition: Condition) -> bool:
    """Whether `condition` can fail to be decided even where all loop variables are known."""
    todo: list[Expr | Condition] = [condition]
    while todo:
        part = todo.pop()
        if isinstance(part, (Flag, Unknown)):
            return True
        if isinstance(part, (Binary, Compare)):
            if part.op in ("//", "%") and not (isinstance(part.rhs, Const) and part.rhs.value):
                return True  # it could divide by zero
            todo += (part.lhs, part.rhs)
        elif isinstance(part, Select):
            todo += (part.condition, part.then, part.orelse)
    return False


def is_divergent(condition: Condition) -> bool:
    """Whether two waves can decide `condition` differently."""
    if isinstance(condition, Flag):
        return False
    return any(isinstance(leaf, Wave) for leaf in leaves(condition))


def lanes_in(parts: Iterable[Expr | None]) -> int:
    """How many lanes some expressions are about; 0 if they do not depend on the lane."""
    found = 0
    for part in parts:
        if part is not None and type(part) is not Const:
            for leaf in leaves(part):
                if isinstance(leaf, Lane) and leaf.count > found:
                    found = leaf.count
    return found


def depth(expr: Expr | Condition) -> int:
    """How many levels `expr` is nested."""
    if type(expr) in LEAVES:
        return 1
    deepest = 0
    todo: list[tuple[Expr | Condition, int]] = [(expr, 1)]
    while todo:
        part, level = todo.pop()
        deepest = max(deepest, level)
        if isinstance(part, (Binary, Compare)):  # a union would be built each time
            todo += ((part.lhs, level + 1), (part.rhs, level + 1))
        elif isinstance(part, Select):
            todo += ((part.condition, level + 1), (part.then, level + 1), (part.orelse, level + 1))
    return deepest
