"""Numbers of a module as index expressions: constants, arithmetic, and the arguments of blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fencepost.hosts.triton.known_bounds import KnownBounds
from fencepost.hosts.triton.mlir.tree import Operation, Value
from fencepost.ir.expr import Binary, Compare, Const, Expr, Select, Unknown, Var, Wave, depth, is_divergent
from fencepost.ir.limits import MOST_DEPTH

PREDICATES = ("==", "!=", "<", "<=", ">", ">=")
"""By the number of `arith.cmpi`; the ones that follow compare without sign, and are not known."""
ARITHMETIC = {
    "arith.addi": "+",
    "arith.subi": "-",
    "arith.muli": "*",
    "arith.remsi": "%",
    "arith.remui": "%",
    "arith.divsi": "//",
    "arith.divui": "//",
    "arith.xori": "^",
}
ROUNDED = {"arith.ceildivsi": True, "arith.floordivsi": False}
"""Divisions that do not round towards zero, and whether they round up."""
CHOSEN = {"arith.maxsi": ">=", "arith.minsi": "<="}
"""The first of two numbers, if it compares to the second like this, or else the second."""
READ = ("arith.andi", "arith.ori", "arith.cmpi", "arith.select")
NARROW = ("i1", "i8", "i16")
SAME = ("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui")

DECIDED_BY_OPERANDS = frozenset((*ARITHMETIC, *ROUNDED, *CHOSEN, *READ, *SAME))
"""Operations that are read at all."""
UNSIGNED = ("arith.extui", "arith.index_castui")
OF_BITS = (
    *("arith.xori", "arith.andi", "arith.ori", "arith.muli", "arith.select"),
    *("arith.extsi", "arith.extui"),
)
"""What is known of a single bit, 0 or 1 here: sums lose what they carry, and to a comparison 1 is below 0."""

MOST_LEVELS = 4
"""An operation adds no more levels than this to the numbers that it is given."""

THREAD = ("rocdl.workitem.id.x", "nvvm.read.ptx.sreg.tid.x")
UNKNOWN = Unknown()


class LowerBounds(dict[str, int]):
    """Names that are never below zero, each with what it is at least."""

    def add(self, name: str) -> None:
        """One of which no more is known."""
        self.setdefault(name, 0)


@dataclass(slots=True)
class Numbers:
    """Reads values as expressions; `argument` says what the argument of a block is called, or None."""

    argument: Callable[[Value], str | None]
    lanes: int = 64
    """How many threads a wave has."""
    natural: LowerBounds = field(default_factory=lambda: LowerBounds())
    """Arguments of blocks that are never below zero, and what each is at least."""
    same: Mapping[Value, Value] = field(default_factory=dict)
    """Values that are others."""
    known: dict[Value, Expr] = field(default_factory=dict)
    bounds: KnownBounds = field(default_factory=KnownBounds)
    """What conditions say of numbers."""
    levels: dict[Value, int] = field(default_factory=dict)
    """How deep each of these is nested, at most."""

    def of(self, value: Value) -> Expr:
        """The number that a value is, without recursion: chains of arithmetic are long."""
        todo = [value]
        while todo:
            here = todo[-1]
            if here in self.known:
                todo.pop()
                continue
            if here in self.same:
                if self.same[here] not in self.known:
                    todo.append(self.same[here])
                else:
                    self.known[here] = self.known[self.same[here]]
                    self.levels[here] = self.levels.get(self.same[here], 1)
                continue
            # What a region passes on is an argument of what follows it.
            op = here.defining_operation if self.argument(here) is None else None
            missing = [used for used in used_by(op) if used not in self.known] if op is not None else []
            if missing:
                todo += missing
                continue
            found = self.made(op) if op is not None else self.named(here)
            level = self.level(op, found)
            self.known[here] = found if level < MOST_DEPTH // 2 else UNKNOWN
            self.levels[here] = level if level < MOST_DEPTH // 2 else 1
            todo.pop()
        return self.known[value]

    def level(self, op: Operation | None, made: Expr) -> int:
        """How deep an expression is nested, at most: that is looked at only where it might matter."""
        if op is None:
            return 1
        below = max([self.levels.get(used, 1) for used in used_by(op)], default=0)
        return below + MOST_LEVELS if below + MOST_LEVELS < MOST_DEPTH // 2 else depth(made)

    def named(self, value: Value) -> Expr:
        """The argument of a block."""
        name = self.argument(value)
        return UNKNOWN if name is None else Var(name)

    def made(self, op: Operation) -> Expr:
        """The result of an operation whose operands are known."""
        if op.name == "arith.constant":
            number = op.dictionary.get("value")
            return Const(int(number)) if isinstance(number, (bool, int)) else UNKNOWN
        if op.name in ("arith.divsi", "arith.divui") and _is_thread(op.operands[0]):
            return _wave_of_thread(self.known[op.operands[1]], self.lanes)
        numbers = [self.known[used] for used in used_by(op)]
        if op.operands and op.operands[0].type == "i1" and op.name not in OF_BITS:
            return UNKNOWN
        if any(isinstance(number, Unknown) for number in numbers) or not numbers:
            return UNKNOWN
        if op.name in ("arith.andi", "arith.ori") and op.results[0].type == "i1":
            both = Compare("!=", numbers[0], Const(0))
            holds = (numbers[1], Const(0)) if op.name == "arith.andi" else (Const(1), numbers[1])
            return Select(both, *holds)
        if op.name in ("arith.cmpi", "arith.select"):
            return _chosen(op, numbers)
        return self.computed(op, numbers)

    def computed(self, op: Operation, numbers: list[Expr]) -> Expr:
        """The result of arithmetic on numbers."""
        if op.name in ROUNDED and isinstance(numbers[1], Const) and numbers[1].value > 0:
            return _rounded(numbers[0], numbers[1], up=ROUNDED[op.name])
        if op.name in CHOSEN:
            return Select(Compare(CHOSEN[op.name], numbers[0], numbers[1]), numbers[0], numbers[1])
        if op.name in ARITHMETIC:
            return self.arithmetic(op, numbers)
        if op.name == "arith.andi" and isinstance(numbers[1], Const):
            mask = numbers[1].value
            # A mask of low bits is a remainder.
            return Binary("%", numbers[0], Const(mask + 1)) if mask >= 0 == mask & (mask + 1) else UNKNOWN
        if op.name in SAME:
            return self.resized(op, numbers[0])
        return UNKNOWN

    def arithmetic(self, op: Operation, numbers: list[Expr]) -> Expr:
        """A sum, a product, a quotient or a remainder."""
        sign, (one, other) = ARITHMETIC[op.name], numbers
        made = _arithmetic(sign, one, other, self.natural)
        if sign not in ("%", "//") or not isinstance(made, Select):
            return made
        # It may be below zero elsewhere, and not where this runs.
        known = self.bounds.at(op, self.of)
        here = {name: max(least, self.natural.get(name, least)) for name, least in known.items()}
        return _arithmetic(sign, one, other, {**self.natural, **here}) if here else made

    def resized(self, op: Operation, number: Expr) -> Expr:
        """A number with more bits than before, or with less."""
        if op.results[0].type == "i1":
            return Binary("%", number, Const(2))
        if op.results[0].type in NARROW:
            # Bits that are cut off make another number of it.
            return UNKNOWN
        if op.operands[0].type == "i1":
            # With its sign, which is its one bit, it is 0 or -1.
            return Binary("-", Const(0), number) if op.name == "arith.extsi" else number
        if op.name in UNSIGNED and not is_natural(number, self.natural):
            # Below zero, it becomes a large number.
            return Select(Compare(">=", number, Const(0)), number, UNKNOWN)
        return number


def _wave_of_thread(divisor: Expr, lanes: int) -> Expr:
    """The number of a thread, divided: threads are numbered wave by wave."""
    if isinstance(divisor, Const) and divisor.value > 0 and divisor.value % lanes == 0:
        waves = divisor.value // lanes
        return Wave() if waves == 1 else Binary("//", Wave(), Const(waves))
    return UNKNOWN


def _chosen(op: Operation, numbers: list[Expr]) -> Expr:
    """A comparison, which is 1 or 0, or a choice by one."""
    if op.name == "arith.cmpi":
        predicate = op.integer("predicate")
        if predicate is None or predicate >= len(PREDICATES):
            return UNKNOWN
        return Select(Compare(PREDICATES[predicate], numbers[0], numbers[1]), Const(1), Const(0))
    condition = numbers[0]
    if isinstance(condition, Select) and condition.then == Const(1) and condition.orelse == Const(0):
        return Select(condition.condition, numbers[1], numbers[2])
    return Select(Compare("!=", condition, Const(0)), numbers[1], numbers[2])


def used_by(op: Operation | None) -> tuple[Value, ...]:
    """The operands that decide the result, for operations that are read at all."""
    if op is None:
        return ()
    if op.name in DECIDED_BY_OPERANDS:
        return op.operands if not op.results[0].type.startswith("tensor") else ()
    return ()


def _is_thread(value: Value) -> bool:
    """Whether a value is the number of a thread in its workgroup."""
    op = value.defining_operation
    return op is not None and op.name in THREAD


def _arithmetic(sign: str, one: Expr, other: Expr, natural: Mapping[str, int]) -> Expr:
    if isinstance(one, Const) and isinstance(other, Const) and sign in "+-*":
        return Const(
            {"+": one.value + other.value, "-": one.value - other.value, "*": one.value * other.value}[sign]
        )
    match other:
        case Binary("*", Binary("//", divided, Const(divisor)), Const(factor)) if (
            sign == "-" and divided == one and divisor == factor
        ):
            # What passes make of a remainder where they have the quotient already.
            return Binary("%", one, other.rhs)
    if sign in ("%", "//") and not (isinstance(other, Const) and other.value > 0):
        return UNKNOWN
    made = Binary(sign, one, other)
    if sign in ("%", "//") and not is_natural(one, natural):
        # Below zero, the machine rounds the other way.
        return Select(Compare(">=", one, Const(0)), made, UNKNOWN)
    return made


def _rounded(number: Expr, divisor: Const, *, up: bool) -> Expr:
    """A quotient that is rounded down, or up."""
    if not up:
        return Binary("//", number, divisor)
    return Binary("-", Const(0), Binary("//", Binary("-", Const(0), number), divisor))


def floors(handed: Mapping[str, Sequence[Expr]], known: Mapping[str, int] | None = None) -> LowerBounds:
    """What names are at least, by all that each is handed, which may depend on others; none that can be below zero.

    A loop that begins at 1 and counts up never comes below 1. What begins somewhere and does not stay above it is
    tried with 0 once more. Of some names that is `known` already: of program ids, which are handed by nobody.
    """
    known = known or {}
    found = LowerBounds(known)
    for name, numbers in handed.items():
        begins = [low for low in (_least(number, known) for number in numbers) if low is not None]
        found[name] = max(min(begins, default=0), 0)
    changed = True
    while changed:
        changed = False
        for name in [name for name in found if name not in known]:
            lows = [_least(number, found) for number in handed[name]]
            low = min((low if low is not None else -1 for low in lows), default=found[name])
            if low < found[name]:
                changed = True
                if low < 0:
                    del found[name]
                else:
                    found[name] = 0
    return found


def is_natural(expr: Expr, natural: Mapping[str, int]) -> bool:
    """Whether a number is surely not below zero, if the arguments in `natural` are not."""
    low = _least(expr, natural)
    return low is not None and low >= 0


def _least(expr: Expr, natural: Mapping[str, int]) -> int | None:
    """What a number is at least; None if that is not known."""
    if isinstance(expr, Const):
        return expr.value
    if isinstance(expr, Var):
        return natural.get(expr.name)
    if isinstance(expr, Select):
        asked = expr.condition
        if expr.orelse == UNKNOWN and asked == Compare(">=", asked.lhs, Const(0)):
            # A remainder or quotient, not known where it is of a number below zero.
            return 0 if is_natural(asked.lhs, natural) else None
        one, other = _least(expr.then, natural), _least(expr.orelse, natural)
        return None if one is None or other is None else min(one, other)
    if not isinstance(expr, Binary):
        return None
    one, other = _least(expr.lhs, natural), _least(expr.rhs, natural)
    if one is None or other is None:
        return None
    if expr.op == "+":
        return one + other
    if expr.op == "-" and isinstance(expr.rhs, Const):
        return one - other
    return 0 if one >= 0 and other >= 0 and expr.op in ("*", "%", "//", "^") else None


def condition_of(number: Expr) -> Compare | None:
    """The comparison that a number of one bit is, if it is the same for all waves."""
    if isinstance(number, Unknown):
        return None
    asked = Compare("!=", number, Const(0))
    if isinstance(number, Select) and number.then == Const(1) and number.orelse == Const(0):
        asked = number.condition
    known = not any(isinstance(side, Unknown) for side in (asked.lhs, asked.rhs))
    return asked if known and not is_divergent(asked) else None
