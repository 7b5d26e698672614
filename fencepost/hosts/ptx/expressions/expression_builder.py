"""Exact expressions for what registers hold, as functions of the thread, loop iterations and parameters.

Equal expressions are one object. Sums are kept flat, as a constant and multiples of *atoms*, so that addresses
that differ by a constant are seen to; everything else is kept as written, except where bounds show that a mask,
an extension or a comparison changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from fencepost.hosts.ptx.expressions.expression_nodes import (
    Expression,
    Leaf,
    leaves,
    sum_parts,
    trailing_zeros,
)
from fencepost.hosts.ptx.reading.arithmetic import COMPARISONS, FOLD

NEGATIONS = {"ult": "ule", "ule": "ult", "slt": "sle", "sle": "slt"}
COMMUTATIVE = frozenset({"mul", "and", "or", "xor", "eq"})


class Values:
    """Makes expressions; implements `Arithmetic`. `limits` are the largest values of leaves, by name."""

    def __init__(
        self, limits: Mapping[str, int] | None = None, pointers: Collection[str] = frozenset()
    ) -> None:
        self.limits = dict(limits or {})
        self.pointers = pointers
        """Parameters that are addresses: an array does not wrap around, a number may."""
        self.bounding: set[int | None] = set()
        """Loops, by header, that go on only as long as a register which they double is less than something."""
        self.wrapping: set[int | None] = set()
        """Loops, by header, in which a register is doubled that does not bound them: it may become negative."""
        self._made: dict[object, Expression] = {}
        self._uppers: dict[Expression, int] = {}
        self._low_zeros: dict[Expression, int] = {}

    def _make(
        self, operation: str, width: int, arguments: tuple[Expression, ...], payload: object = None
    ) -> Expression:
        key = (operation, width, arguments, payload)
        found = self._made.get(key)
        if found is None:
            found = Expression(operation, width, arguments, payload, len(self._made))
            self._made[key] = found
        return found

    def constant(self, value: int, width: int) -> Expression:
        """A constant."""
        return self._make("constant", width, (), value & ((1 << width) - 1))

    def leaf(self, leaf: Leaf, width: int) -> Expression:
        """A leaf; one that can only be zero is the constant."""
        if self.limits.get(leaf.name) == 0:
            return self.constant(0, width)
        return self._make("leaf", width, (), leaf)

    def width(self, value: Expression) -> int:
        """The number of bits."""
        return value.width

    def total(self, constant: int, factors: Mapping[Expression, int], width: int) -> Expression:
        """A sum of multiples."""
        mask = (1 << width) - 1
        kept = sorted(
            ((a, c & mask) for a, c in factors.items() if c & mask), key=lambda each: each[0].number
        )
        constant &= mask
        if not kept:
            return self.constant(constant, width)
        if len(kept) == 1 and kept[0][1] == 1 and constant == 0:
            return kept[0][0]
        return self._make("sum", width, tuple(a for a, _ in kept), (constant, tuple(c for _, c in kept)))

    def _linear(self, left: Expression, right: Expression, factor: int) -> Expression:
        constant, factors = sum_parts(left)
        more, others = sum_parts(right)
        for atom, coefficient in others.items():
            factors[atom] = factors.get(atom, 0) + factor * coefficient
        return self.total(constant + factor * more, factors, left.width)

    def _scaled(self, value: Expression, factor: int) -> Expression:
        constant, factors = sum_parts(value)
        return self.total(constant * factor, {a: c * factor for a, c in factors.items()}, value.width)

    def upper(self, value: Expression) -> int:
        """A bound on the unsigned value."""
        found = self._uppers.get(value)
        if found is None:
            found = min(self._upper(value), (1 << value.width) - 1)
            self._uppers[value] = found
        return found

    # many branches because each operation has a bound of its own
    def _upper(self, value: Expression) -> int:
        top = (1 << value.width) - 1
        arguments = value.arguments
        if value.operation == "constant":
            return value.known or 0
        if value.operation == "leaf":
            return self.limits.get(value.leaf.name, top)
        if value.operation == "sum":
            constant, factors = sum_parts(value)
            most = constant + sum(c * self.upper(a) for a, c in factors.items())
            return most if most <= top else top
        if value.operation == "and":
            return min(self.upper(arguments[0]), self.upper(arguments[1]))
        if value.operation in ("or", "xor"):
            return int((1 << max(self.upper(each).bit_length() for each in arguments)) - 1)
        if value.operation in ("lshr", "ashr") and (amount := arguments[1].known) is not None:
            most = self.upper(arguments[0])
            return most >> amount if value.operation == "lshr" or most <= top >> 1 else top
        if value.operation == "lshr":
            return self.upper(arguments[0])
        if value.operation == "urem" and self.upper(arguments[1]):
            return min(self.upper(arguments[0]), self.upper(arguments[1]) - 1)
        if value.operation == "udiv":
            return self.upper(arguments[0]) // (arguments[1].known or 1)
        if value.operation == "mul":
            return min(self.upper(arguments[0]) * self.upper(arguments[1]), top)
        if value.operation == "choose":
            return max(self.upper(arguments[1]), self.upper(arguments[2]))
        if value.operation == "zext":
            return self.upper(arguments[0])
        return top

    def low_zeros(self, value: Expression) -> int:
        """How many low bits are known to be zero."""
        known = self._low_zeros.get(value)
        if known is None:
            known = self._low_zeros[value] = self._find_low_zeros(value)
        return known

    def _find_low_zeros(self, value: Expression) -> int:
        constant, factors = sum_parts(value)
        found = trailing_zeros(constant)
        for atom, coefficient in factors.items():
            own = 0
            if atom.operation == "and":
                own = max(self.low_zeros(each) for each in atom.arguments)
            elif atom.operation == "zext":
                own = self.low_zeros(atom.arguments[0])
            elif atom.operation == "choose":
                own = min(self.low_zeros(each) for each in atom.arguments[1:])
            found = min(found, trailing_zeros(coefficient) + own)
        return found

    def _no_overflow(self, value: Expression) -> bool:
        constant, factors = sum_parts(value)
        most = constant + sum(c * self.upper(a) for a, c in factors.items())
        return most < 1 << value.width

    def binary(self, operation: str, left: Expression, right: Expression) -> Expression:
        """A binary operation, simplified where that is sure."""
        if left.width != right.width:
            raise ValueError(f"{operation} of {left.width} and {right.width} bits")
        width = left.width
        if left.known is not None and right.known is not None:
            value = int(FOLD[operation](left.known, right.known, width))
            return self.constant(value, 1 if operation in COMPARISONS else width)
        if operation == "add":
            return self._linear(left, right, 1) if width > 1 else self.binary("xor", left, right)
        if operation == "sub":
            return self._linear(left, right, -1)
        if operation in COMPARISONS:
            return self._compare(operation, left, right)
        rule: Callable[[Expression, Expression], Expression | None] = getattr(self, f"_{operation}")
        found = rule(left, right)
        if found is not None:
            return found
        if operation in COMMUTATIVE and left.number > right.number:
            left, right = right, left
        return self._make(operation, width, (left, right))

    def _mul(self, left: Expression, right: Expression) -> Expression | None:
        for one, other in ((left, right), (right, left)):
            if one.known is not None:
                return self._scaled(other, one.known)
            if one.operation == "shl" and one.arguments[0].known == 1:
                return self.binary("shl", other, one.arguments[1])
            constant, factors = sum_parts(one)
            if constant == 0 and one.operation == "sum" and len(factors) == 1:
                atom, factor = next(iter(factors.items()))
                return self._scaled(self.binary("mul", atom, other), factor)
        return None

    def _shl(self, left: Expression, right: Expression) -> Expression | None:
        if right.known is not None:
            return (
                self._scaled(left, 1 << right.known)
                if right.known < left.width
                else self.constant(0, left.width)
            )
        return left if left.known == 0 else None

    def _lshr(self, left: Expression, right: Expression) -> Expression | None:
        if left.known == 0 or right.known == 0:
            return left
        if right.known is None:
            return None
        if self.upper(left) >> right.known == 0 or right.known >= left.width:
            return self.constant(0, left.width)
        constant, factors = sum_parts(left)
        step = 1 << right.known
        whole = {a: c for a, c in factors.items() if c % step == 0}
        rest = {a: c for a, c in factors.items() if c % step}
        if whole and self._no_overflow(left):
            # The low part of the sum does not carry into what is kept if it stays below the step.
            low = constant % step + sum(c * self.upper(a) for a, c in rest.items())
            if low < step:
                return self.total(constant // step, {a: c // step for a, c in whole.items()}, left.width)
        if left.operation == "lshr" and (inner := left.arguments[1].known) is not None:
            return self.binary("lshr", left.arguments[0], self.constant(inner + right.known, left.width))
        return None

    def _ashr(self, left: Expression, right: Expression) -> Expression | None:
        if self.upper(left) < 1 << (left.width - 1):
            return self.binary("lshr", left, right)
        return left if right.known == 0 else None

    def _and(self, left: Expression, right: Expression) -> Expression | None:
        if left is right:
            return left
        for one, other in ((left, right), (right, left)):
            if (mask := one.known) is None:
                if left.width == 1 and one is self.invert(other):
                    return self.constant(0, 1)
                continue
            if mask == 0 or mask == (1 << left.width) - 1:
                return one if mask == 0 else other
            if self.upper(other) <= mask and mask & (mask + 1) == 0:
                return other
            if self.low_zeros(other) >= mask.bit_length():
                return self.constant(0, left.width)
            if other.operation == "and" and other.arguments[0].known is not None:
                joined = self.constant(mask & other.arguments[0].known, left.width)
                return self.binary("and", joined, other.arguments[1])
            if mask & (mask + 1) == 0 and other.operation == "sum":
                return self._masked_sum(other, mask)
        return None

    def _masked_sum(self, value: Expression, mask: int) -> Expression | None:
        """Multiples of the mask's power of two do not matter below it."""
        constant, factors = sum_parts(value)
        step = mask + 1
        kept = {a: c % step for a, c in factors.items() if c % step}
        reduced = self.total(constant % step, kept, value.width)
        if reduced is value:
            return None
        return self.binary("and", reduced, self.constant(mask, value.width))

    def _or(self, left: Expression, right: Expression) -> Expression | None:
        if left is right:
            return left
        for one, other in ((left, right), (right, left)):
            if one.known is not None and one.known in (0, (1 << left.width) - 1):
                return other if one.known == 0 else one
            if left.width == 1 and one is self.invert(other):
                return self.constant(1, 1)
            if left.width > 1 and self.upper(one) < 1 << min(self.low_zeros(other), 200):
                return self._linear(left, right, 1)
        return None

    def _xor(self, left: Expression, right: Expression) -> Expression | None:
        if left is right:
            return self.constant(0, left.width)
        for one, other in ((left, right), (right, left)):
            if one.known == 0:
                return other
            if one.known == (1 << left.width) - 1:
                return self.invert(other)
            if left.width > 1 and self.upper(one) < 1 << min(self.low_zeros(other), 200):
                return self._linear(left, right, 1)
        return None

    def _udiv(self, left: Expression, right: Expression) -> Expression | None:
        if right.known and right.known & (right.known - 1) == 0:
            return self.binary("lshr", left, self.constant(trailing_zeros(right.known), left.width))
        if right.known and self.upper(left) < right.known:
            return self.constant(0, left.width)
        return None

    def _urem(self, left: Expression, right: Expression) -> Expression | None:
        if right.known and right.known & (right.known - 1) == 0:
            return self.binary("and", left, self.constant(right.known - 1, left.width))
        if right.known and self.upper(left) < right.known:
            return left
        return None

    def not_negative(self, value: Expression) -> bool:
        """Whether a signed number is not negative. A doubled stride does not become so if it bounds its loop."""
        half = 1 << (value.width - 1)
        if value.operation == "shl" and self.upper(value.arguments[0]) < half:
            counted = {
                each.leaf.block for each in leaves(value.arguments[1]) if each.leaf.kind == "iteration"
            }
            meant = value.arguments[0].known is not None or counted <= self.bounding
            return bool(counted) and meant and not counted & self.wrapping
        return self.upper(value) < half

    def _sdiv(self, left: Expression, right: Expression) -> Expression | None:
        if self.not_negative(left) and self.not_negative(right):
            return self.binary("udiv", left, right)
        return None

    def _srem(self, left: Expression, right: Expression) -> Expression | None:
        if self.not_negative(left) and self.not_negative(right):
            return self.binary("urem", left, right)
        return None

    def _compare(self, operation: str, left: Expression, right: Expression) -> Expression:
        if left is right:
            return self.constant(int(operation in ("eq", "ule", "sle")), 1)
        half = 1 << (left.width - 1)
        if operation in ("ult", "ule") and left.width == 64 and (apart := self._distances(left, right)):
            return self._compare("slt" if operation == "ult" else "sle", *apart)
        if operation in ("slt", "sle") and left.width >= 32:
            left, right = self._without_common(left, right)
            if left.known is not None and right.known is not None:
                return self.constant(int(FOLD[operation](left.known, right.known, left.width)), 1)
        if operation == "eq":
            return self._equal(left, right)
        if operation in ("slt", "sle") and self.upper(left) < half and self.upper(right) < half:
            return self.binary("ult" if operation == "slt" else "ule", left, right)
        if operation in ("ult", "ule"):
            if right.known is not None and self.upper(left) < right.known + (operation == "ule"):
                return self.constant(1, 1)
            if left.known is not None and self.upper(right) < left.known + (operation == "ult"):
                return self.constant(0, 1)
        return self._make(operation, 1, (left, right))

    def _equal(self, left: Expression, right: Expression) -> Expression:
        difference = self._linear(left, right, -1) if left.width > 1 else None
        if difference is not None and difference.known is not None:
            return self.constant(int(difference.known == 0), 1)
        for one, other in ((left, right), (right, left)):
            if one.known is not None and self.upper(other) < one.known:
                return self.constant(0, 1)
        if left.number > right.number:
            left, right = right, left
        return self._make("eq", 1, (left, right))

    def _without_common(self, left: Expression, right: Expression) -> tuple[Expression, Expression]:
        """Both sides of a signed comparison without the thread's own part, if that is the same: signed index
        arithmetic does not wrap around."""
        constant, factors = sum_parts(left)
        other, others = sum_parts(right)
        alike = {
            atom
            for atom, factor in factors.items()
            if others.get(atom) == factor and atom.operation == "leaf" and atom.leaf.kind == "thread"
        }
        if not alike:
            return left, right
        return (
            self.total(constant, {a: c for a, c in factors.items() if a not in alike}, left.width),
            self.total(other, {a: c for a, c in others.items() if a not in alike}, right.width),
        )

    def _distances(self, left: Expression, right: Expression) -> tuple[Expression, Expression] | None:
        """Two addresses as distances from where both are counted from, which may be negative: addresses in one array
        do not wrap around. None if they have no address in common."""
        constant, factors = sum_parts(left)
        other, others = sum_parts(right)
        alike = {atom for atom, factor in factors.items() if others.get(atom) == factor}
        if not any(
            factors[atom] == 1 and atom.operation == "leaf" and atom.leaf.name in self.pointers
            for atom in alike
        ):
            return None
        return (
            self.total(constant, {a: c for a, c in factors.items() if a not in alike}, left.width),
            self.total(other, {a: c for a, c in others.items() if a not in alike}, right.width),
        )

    def invert(self, value: Expression) -> Expression:
        """Every bit the other way; the opposite of a comparison."""
        if value.known is not None:
            return self.constant(~value.known, value.width)
        if value.operation == "not":
            return value.arguments[0]
        if value.operation in NEGATIONS:
            return self._compare(NEGATIONS[value.operation], value.arguments[1], value.arguments[0])
        return self._make("not", value.width, (value,))

    def choose(self, condition: Expression, yes: Expression, no: Expression) -> Expression:
        """If-then-else."""
        if condition.known is not None:
            return yes if condition.known else no
        if yes is no:
            return yes
        if condition.operation == "not":
            return self.choose(condition.arguments[0], no, yes)
        if yes.width == 1:
            either = self.binary("and", condition, yes)
            return self.binary("or", either, self.binary("and", self.invert(condition), no))
        return self._make("choose", yes.width, (condition, yes, no))

    def extend(self, value: Expression, width: int, signed: bool) -> Expression:
        """The same number in more bits; through sums where they cannot overflow."""
        if width == value.width:
            return value
        if signed and self.upper(value) >= 1 << (value.width - 1):
            if value.known is not None:
                return self.constant(value.known - (1 << value.width), width)
            return self._make("sext", width, (value,))
        if value.known is not None:
            return self.constant(value.known, width)
        if value.operation == "zext":
            return self._make("zext", width, value.arguments)
        if value.operation == "sum" and self._no_overflow(value):
            constant, factors = sum_parts(value)
            wide = {self.extend(atom, width, False): c for atom, c in factors.items()}
            return self.total(constant, wide, width)
        return self._make("zext", width, (value,))

    def extract(self, value: Expression, low: int, width: int) -> Expression:
        """Some of the bits; the low bits of a sum are the sum of the low bits."""
        if low == 0 and width == value.width:
            return value
        if value.known is not None:
            return self.constant(value.known >> low, width)
        if value.operation in ("zext", "sext"):
            inner = value.arguments[0]
            if low + width <= inner.width:
                return self.extract(inner, low, width)
            if low == 0:
                return self.extend(inner, width, value.operation == "sext")
        if low == 0 and value.operation == "sum":
            constant, factors = sum_parts(value)
            narrow: dict[Expression, int] = {}
            for atom, coefficient in factors.items():
                part = self.extract(atom, 0, width)
                more, inner_factors = sum_parts(part)
                constant += more * coefficient
                for each, factor in inner_factors.items():
                    narrow[each] = narrow.get(each, 0) + factor * coefficient
            return self.total(constant, narrow, width)
        if low == 0 and value.operation in ("mul", "and", "or", "xor"):
            left, right = (self.extract(each, 0, width) for each in value.arguments)
            return self.binary(value.operation, left, right)
        if value.operation == "choose":
            return self.choose(
                value.arguments[0],
                self.extract(value.arguments[1], low, width),
                self.extract(value.arguments[2], low, width),
            )
        return self._make("extract", width, (value,), low)

    def function(self, name: str, arguments: Sequence[Expression], width: int) -> Expression:
        """A result that depends on the arguments alone, by a rule that is not followed."""
        return self._make("function", width, tuple(arguments), name)

    def rebuild(self, value: Expression, arguments: Sequence[Expression]) -> Expression:
        """The same operation on other arguments."""
        if value.operation == "sum":
            constant, factors = sum_parts(value)
            result = self.constant(constant, value.width)
            for coefficient, argument in zip(factors.values(), arguments, strict=True):
                result = self._linear(result, argument, coefficient)
            return result
        if value.operation == "not":
            return self.invert(arguments[0])
        if value.operation == "choose":
            return self.choose(*arguments)
        if value.operation in ("zext", "sext"):
            return self.extend(arguments[0], value.width, value.operation == "sext")
        if value.operation == "extract":
            assert isinstance(value.payload, int)
            return self.extract(arguments[0], value.payload, value.width)
        if value.operation == "function":
            return self.function(str(value.payload), arguments, value.width)
        return self.binary(value.operation, arguments[0], arguments[1])

    def conjuncts(self, condition: Expression) -> list[Expression]:
        """The parts of a condition that all have to hold."""
        if condition.operation == "and" and condition.width == 1:
            return [part for each in condition.arguments for part in self.conjuncts(each)]
        if condition.operation == "not" and condition.arguments[0].operation == "or":
            sides = condition.arguments[0].arguments
            return [part for each in sides for part in self.conjuncts(self.invert(each))]
        return [condition]

    def weakened(self, condition: Expression, unknown: Callable[[Expression], bool]) -> Expression:
        """What a condition says without its unknown parts; it holds wherever the condition does."""
        if condition.operation in ("and", "or") and condition.width == 1:
            sides = [self.weakened(each, unknown) for each in condition.arguments]
            return self.binary(condition.operation, sides[0], sides[1])
        if condition.operation == "not" and condition.arguments[0].operation in ("and", "or"):
            other = "or" if condition.arguments[0].operation == "and" else "and"
            sides = [self.weakened(self.invert(each), unknown) for each in condition.arguments[0].arguments]
            return self.binary(other, sides[0], sides[1])
        return self.constant(1, 1) if unknown(condition) else condition

    def substitute(
        self,
        value: Expression,
        replaced: Callable[[Expression], Expression | None],
        known: dict[Expression, Expression] | None = None,
    ) -> Expression:
        """The expression with leaves replaced; `replaced` gives None for those that stay. `known` is what was
        replaced before, in the same way."""
        done: dict[Expression, Expression] = {} if known is None else known

        def visit(each: Expression) -> Expression:
            found = done.get(each)
            if found is None:
                if each.operation == "leaf":
                    found = replaced(each) or each
                elif each.operation == "constant":
                    found = each
                else:
                    inner = [visit(argument) for argument in each.arguments]
                    same = all(a is b for a, b in zip(inner, each.arguments, strict=True))
                    found = each if same else self.rebuild(each, inner)
                done[each] = found
            return found

        return visit(value)
