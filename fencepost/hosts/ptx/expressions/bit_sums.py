"""Expressions in which conditions count: flags of 0 and 1, their sums, and the bits of a ballot.

A flag is `zext(p)` with a condition `p`. Whatever is computed from one flag and constants is again a constant plus a
multiple of that flag: `flag ^ 1` is `1 - flag`, `p ? 3 : 1` is `1 + 2 * flag`, and `flag != 0` is `p`. So a sum of
flags stays a sum, in whatever way a compiler has made them, and `__popc(ballot & mask)` is one.
"""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.hosts.ptx.expressions.expression_builder import Values
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, sum_parts
from fencepost.hosts.ptx.reading.arithmetic import COMPARISONS, FOLD


def is_flag(atom: Expression) -> bool:
    """Whether an atom is a condition as a number."""
    return atom.operation == "zext" and atom.arguments[0].width == 1


class BitSums(Values):
    """Makes expressions, with flags in one form."""

    def flag(self, condition: Expression, width: int) -> Expression:
        """A condition as 0 or 1."""
        if condition.known is not None:
            return self.constant(condition.known, width)
        if condition.operation == "not":
            return self.total(1, {self.flag(condition.arguments[0], width): -1}, width)
        return self._make("zext", width, (condition,))

    def extend(self, value: Expression, width: int, signed: bool) -> Expression:
        """The same number in more bits."""
        if value.width == 1 and not signed and width > 1:
            return self.flag(value, width)
        constant, factors = sum_parts(value)
        if len(factors) == 1 and is_flag(atom := next(iter(factors))) and width > value.width:
            ends = [self.constant(constant + at * factors[atom], value.width) for at in (0, 1)]
            zero, one = (super(BitSums, self).extend(each, width, signed).known or 0 for each in ends)
            return self.total(zero, {self.flag(atom.arguments[0], width): one - zero}, width)
        found = super().extend(value, width, signed)
        # A flag of 16 bits in 32 is a flag of 32 bits.
        if found.operation == "zext" and is_flag(found.arguments[0]):
            return self.flag(found.arguments[0].arguments[0], width)
        return found

    def choose(self, condition: Expression, yes: Expression, no: Expression) -> Expression:
        """If-then-else; of two numbers with a constant distance, a multiple of a flag."""
        if condition.known is None and yes.width > 1 and yes is not no:
            apart = self._linear(yes, no, -1).known
            if apart is not None:
                return self._linear(no, self.flag(condition, yes.width), apart)
        return super().choose(condition, yes, no)

    def extract(self, value: Expression, low: int, width: int) -> Expression:
        """Some of the bits; of one flag, and of flags at bits of their own, those there."""
        if value.width > 1 and value.known is None:
            bits = self._bits(value)
            if bits is not None and not (low == 0 and width == value.width):
                return self._of_bits(bits, low, width)
        return super().extract(value, low, width)

    def binary(self, operation: str, left: Expression, right: Expression) -> Expression:
        """A binary operation; on one flag and constants, a multiple of that flag."""
        if left.width > 1 and (left.known is None or right.known is None):
            if operation == "and" and 1 in (left.known, right.known):
                other = right if left.known == 1 else left
                return self.flag(self.extract(other, 0, 1), left.width)
            found = self._of_one_flag(operation, left, right) or self._of_bit_field(operation, left, right)
            if found is not None:
                return found
        return super().binary(operation, left, right)

    def _compare(self, operation: str, left: Expression, right: Expression) -> Expression:
        """A comparison; with a constant, always whether a number is less than one: `x > 0` is the opposite of
        `x < 1`."""
        least = {"slt": 1 << (left.width - 1), "sle": 1 << (left.width - 1)}.get(operation, 0)
        most = (least - 1) % (1 << left.width)
        if operation in ("sle", "ule") and right.known not in (None, most):
            return self._less(operation, left, right.known or 0, 1)
        if operation in ("slt", "ult") and left.known not in (None, most):
            return self.invert(self._less(operation, right, left.known or 0, 1))
        if operation in ("sle", "ule") and left.known is not None:
            return self.invert(self._less(operation, right, left.known, 0))
        return super()._compare(operation, left, right)

    def _less(self, operation: str, value: Expression, bound: int, more: int) -> Expression:
        """Whether a number is less than a bound, or one more than it."""
        return super()._compare(f"{operation[0]}lt", value, self.constant(bound + more, value.width))

    def invert(self, value: Expression) -> Expression:
        """Every bit the other way; a comparison stays as it is."""
        if value.operation in ("slt", "ult"):
            return self._make("not", 1, (value,))
        return super().invert(value)

    def _of_one_flag(self, operation: str, left: Expression, right: Expression) -> Expression | None:
        """What an operation gives for both values of the only flag in its operands."""
        if operation in ("add", "sub"):
            return None
        (constant, factors), (other, others) = sum_parts(left), sum_parts(right)
        atoms = factors.keys() | others.keys()
        if len(atoms) != 1 or not is_flag(atom := next(iter(atoms))):
            return None
        width, mask = left.width, (1 << left.width) - 1
        zero, one = (
            int(
                FOLD[operation](
                    (constant + at * factors.get(atom, 0)) & mask,
                    (other + at * others.get(atom, 0)) & mask,
                    width,
                )
            )
            for at in (0, 1)
        )
        condition = atom.arguments[0]
        if operation not in COMPARISONS:
            return self.total(zero, {atom: one - zero}, width)
        if zero == one:
            return self.constant(zero, 1)
        return condition if one else self.invert(condition)

    def _bits(self, value: Expression) -> dict[int, Expression] | None:
        """The bits of a number in which flags have bits of their own, by position; None if it is no such number.
        A flag that is subtracted from a bit which is set is the opposite of that bit."""
        constant, factors = sum_parts(value)
        true, whole = self.constant(1, 1), 1 << value.width
        found = dict.fromkeys(_positions(constant), true)
        for atom, factor in factors.items():
            if not is_flag(atom):
                return None
            condition, less = atom.arguments[0], whole - factor
            if all(found.get(at) is true for at in _positions(less)):
                found |= dict.fromkeys(_positions(less), self.invert(condition))
            elif any(at in found for at in _positions(factor)):
                return None
            else:
                found |= dict.fromkeys(_positions(factor), condition)
        return found

    def _of_bits(self, bits: dict[int, Expression], low: int, width: int) -> Expression:
        """A part of such a number."""
        kept = {at - low: held for at, held in bits.items() if low <= at < low + width}
        if width == 1:
            return kept.get(0, self.constant(0, 1))
        return self.of_bits(kept, width)

    def of_bits(self, bits: Mapping[int, Expression], width: int) -> Expression:
        """The number with these bits, by their positions."""
        found = self.constant(0, width)
        for at, held in bits.items():
            found = self._linear(found, self.flag(held, width), 1 << at)
        return found

    def _of_bit_field(self, operation: str, left: Expression, right: Expression) -> Expression | None:
        """A part of the bits of a ballot, cut out by a constant."""
        for one, other in ((left, right), (right, left)):
            if operation == "and" and one.known is not None and (bits := self._bits(other)) is not None:
                mask = one.known
                kept = {at: held for at, held in bits.items() if mask >> at & 1}
                return self._of_bits(kept, 0, left.width)
        if operation == "lshr" and right.known is not None and (bits := self._bits(left)) is not None:
            moved = {at - right.known: held for at, held in bits.items() if at >= right.known}
            return self._of_bits(moved, 0, left.width)
        return None

    def set_bits(self, value: Expression) -> Expression | None:
        """How many bits of such a number are set."""
        bits = self._bits(value)
        if bits is None:
            return None
        found = self.constant(0, 32)
        for held in bits.values():
            found = self._linear(found, self.flag(held, 32), 1)
        return found


def _positions(number: int) -> list[int]:
    return [at for at in range(number.bit_length()) if number >> at & 1]
