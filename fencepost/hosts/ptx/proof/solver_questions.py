"""Expressions of two threads as bit vectors of a solver (z3), and what is known about the two.

Leaves that are the same for both threads become one variable; the others one for each thread. A value that
changes from iteration to iteration is a variable for each iteration that matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fencepost.hosts.ptx.expressions.closed_forms import ClosedForms
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves, sum_parts, trailing_zeros
from fencepost.hosts.ptx.expressions.uniformity import Uniformity
from fencepost.hosts.ptx.proof.intervals import Iteration
from fencepost.hosts.ptx.reading.arithmetic import signed
from fencepost.hosts.ptx.reading.flow import Loop

Formula = Any
"""A formula of z3, which has no types."""
LARGEST_STRIDE = 1 << 16
"""A loop counter times more than that is no index but a hash, which wraps around."""
INDEX_BITS = 32
"""Arithmetic in fewer bits is meant to wrap around."""


def common(questions: Questions, value: Expression, iterations: Mapping[int, Iteration]) -> bool:
    """Whether two threads have the same value if they are in the same iterations."""
    for leaf in leaves(value):
        if questions.uniformity.varies(leaf):
            return False
        for loop in questions.evaluator.flow.loops_around(leaf.leaf.block or 0):
            mode = iterations.get(loop.header)
            if mode is None and not questions.uniformity.loop_is_uniform(loop):
                return False
            if mode is not None and mode.kind in ("any", "after"):
                return False
    return True


class Questions:
    """What questions about a kernel share: the solver's module, and facts about loops."""

    def __init__(self, evaluator: Evaluator, forms: ClosedForms, uniformity: Uniformity) -> None:
        import z3

        self.z3 = z3
        self.evaluator = evaluator
        self.forms = forms
        self.uniformity = uniformity
        self.kept: list[Formula] = []
        """Formulas that variables are named after: their numbers are not given to others."""
        self._again: dict[int, Expression | None] = {}
        self._left: dict[int, Expression | None] = {}
        self._strides: dict[int, frozenset[tuple[Expression, int]]] = {}

    def bounded(self, name: str, width: int, most: int | None = None) -> Formula:
        """A variable of some width whose value is at most `most`."""
        bits = width if most is None else max(1, most.bit_length())
        if bits >= width:
            return self.z3.BitVec(name, width)
        return self.z3.ZeroExt(width - bits, self.z3.BitVec(name, bits))

    def taken_again(self, loop: Loop) -> Expression | None:
        """What iteration k tells: it is the first, or the back edge was taken at the end of the one before."""
        if loop.header not in self._again:
            self._again[loop.header] = self._back_edge_fact(loop)
        return self._again[loop.header]

    def left_then(self, loop: Loop) -> Expression | None:
        """What the last iteration of a loop tells: if the loop was entered, one of its exits was taken then."""
        if loop.header not in self._left:
            self._left[loop.header] = self._exit_fact(loop)
        return self._left[loop.header]

    def _exit_fact(self, loop: Loop) -> Expression | None:
        """What holds in the last iteration of a loop: it is left. None if more than the iteration decides that."""
        values, evaluator = self.forms.values, self.evaluator
        taken = values.constant(0, 1)
        for block in loop.blocks:
            for following in evaluator.flow.successors[block]:
                if following not in loop:
                    way = values.binary(
                        "and", evaluator.relative(block, loop.header), evaluator.edge(block, following)
                    )
                    taken = values.binary("or", taken, way)
        entered = evaluator.true()
        for condition in evaluator.conditions(loop.header):
            entered = values.binary("and", entered, condition)
        fact = self.forms.closed(values.binary("or", values.invert(entered), taken))
        count = self.forms.iteration(loop)
        varying = any(
            leaf is not count and leaf.leaf.block is not None and leaf.leaf.block in loop.blocks
            for leaf in leaves(fact)
        )
        return None if varying else fact

    def _back_edge_fact(self, loop: Loop) -> Expression | None:
        values, taken = self.forms.values, self._back_edge(loop)
        count = self.forms.iteration(loop)
        if any(
            leaf is not count and leaf.leaf.block is not None and leaf.leaf.block in loop.blocks
            for leaf in leaves(taken)
        ):
            return None
        before = values.binary("sub", count, values.constant(1, 32))
        earlier = values.substitute(taken, lambda each: before if each is count else None)
        fact = values.binary("or", values.binary("eq", count, values.constant(0, 32)), earlier)
        for part in conjuncts(taken):
            ends = self._until_equal(part, count)
            if ends is not None:
                fact = values.binary("and", fact, ends)
        return fact

    def keeps_bits(self, shifted: Expression) -> bool:
        """Whether a value that is shifted by the number of an iteration may be taken to lose no bits.

        `1 << i` has a meaning for such `i` only; of other numbers, bits are shifted out on purpose. A register that a
        loop doubles can become zero; but no stride that the loop goes on with as long as it is less than something:
        the loop would never end."""
        for leaf in leaves(shifted.arguments[1]):
            header = leaf.leaf.block
            if leaf.leaf.kind != "iteration":
                continue
            if header not in self.forms.shifting and shifted.arguments[0].known is None:
                return False
            if header in self.forms.shifting:
                bits = _factor(shifted.arguments[1], leaf)
                strides = self._bounded_strides(self.evaluator.flow.loop_of[header])
                if not any(base is shifted.arguments[0] and bits <= most for base, most in strides):
                    return False
        return True

    def _bounded_strides(self, loop: Loop) -> frozenset[tuple[Expression, int]]:
        """The values that a loop shifts and is bounded by, with the bits for each iteration; none, if it may end for
        another reason."""
        if loop.header not in self._strides:
            self._strides[loop.header] = self._find_bounded_strides(loop)
        return self._strides[loop.header]

    def _find_bounded_strides(self, loop: Loop) -> frozenset[tuple[Expression, int]]:
        taken, count = self._back_edge(loop), self.forms.iteration(loop)
        found: set[tuple[Expression, int]] = set()
        for part in conjuncts(taken):
            if not self.forms.varies(part, loop):
                continue
            if part.operation not in ("slt", "sle", "ult", "ule") or self.forms.varies(
                part.arguments[1], loop
            ):
                return frozenset()
            _, factors = sum_parts(part.arguments[0])
            for atom, factor in factors.items():
                if not self.forms.varies(atom, loop):
                    continue
                amount = atom.arguments[1] if atom.operation == "shl" else None
                if amount is None or self.forms.varies(atom.arguments[0], loop) or factor >> (atom.width - 1):
                    return frozenset()
                found.add((atom.arguments[0], _factor(amount, count)))
        return frozenset(found)

    def _back_edge(self, loop: Loop) -> Expression:
        """The condition under which an iteration is followed by another one."""
        values, evaluator = self.forms.values, self.evaluator
        taken = values.constant(0, 1)
        for latch in loop.latches:
            path = values.binary(
                "and", evaluator.relative(latch, loop.header), evaluator.edge(latch, loop.header)
            )
            taken = values.binary("or", taken, path)
        return self.forms.closed(taken)

    def _until_equal(self, condition: Expression, count: Expression) -> Expression | None:
        """A loop that goes on while a counter is not equal to its end has no more iterations than steps to
        there; it may, where steps pass by the end and the counter wraps around."""
        values = self.forms.values
        if condition.operation != "not" or condition.arguments[0].operation != "eq":
            return None
        difference = values.binary("sub", *condition.arguments[0].arguments)
        constant, factors = sum_parts(difference)
        width = difference.width
        if width < count.width:
            # A counter that wraps around may take more steps.
            return None
        wide = values.extend(count, width, False)
        step = signed(factors.pop(wide, 0), width)
        rest = values.total(constant, factors, width)
        if step == 0 or count in leaves(rest):
            return None
        distance = values.binary("sub", values.constant(0, width), rest) if step > 0 else rest
        by = values.constant(abs(step), width)
        fewer = values.binary("ule", wide, values.binary("udiv", distance, by))
        if values.low_zeros(distance) >= trailing_zeros(step) and abs(step) & (abs(step) - 1) == 0:
            return fewer
        beside = values.binary("urem", distance, by)
        passes = values.invert(values.binary("eq", beside, values.constant(0, width)))
        return values.binary("or", passes, fewer)


def _factor(amount: Expression, count: Expression) -> int:
    """How much a sum grows with each iteration."""
    return next((c for atom, c in sum_parts(amount)[1].items() if count in leaves(atom)), 0)


def conjuncts(condition: Expression) -> list[Expression]:
    """The parts of a condition that all have to hold."""
    if condition.operation == "and" and condition.width == 1:
        return [part for each in condition.arguments for part in conjuncts(each)]
    return [condition]
