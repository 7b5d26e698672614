"""Registers that loops carry, as formulas in the iteration: counters, halved and doubled strides, toggles,
rings, rotations."""

from __future__ import annotations

from itertools import pairwise

from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_nodes import (
    Expression,
    Leaf,
    leaves,
    sum_parts,
    trailing_zeros,
)
from fencepost.hosts.ptx.reading.flow import Loop
from fencepost.hosts.ptx.reading.ssa import Phi

MOST_ITERATIONS = 1 << 30
"""No loop is taken to have more."""
LONGEST_ORBIT = 64
"""How many values a register may take in turn for its iterations to be listed."""


class ClosedForms:
    """Replaces `carried` leaves by formulas. What has none stays a leaf, and its step is kept beside it."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.values = evaluator.values
        self.flow = evaluator.flow
        self._solved: dict[Expression, Expression] = {}
        self._at_work: set[Expression] = set()
        self._closed: dict[Expression, Expression] = {}
        self.shifting: set[int] = set()
        """Loops, by header, in which a register is doubled: shifts by their iteration may lose bits."""

    def iteration(self, loop: Loop, width: int = 32) -> Expression:
        """How often the back edge was taken since the loop was entered."""
        leaf = self.values.leaf(Leaf("iteration", f"k{loop.header}", loop.header), 32)
        return self._same_width(leaf, width)

    def closed(self, value: Expression) -> Expression:
        """The expression with every carried leaf replaced that has a formula."""
        found = self._closed.get(value)
        if found is None:
            # While registers are at work the answer may still contain them.
            known = None if self._at_work else self._closed
            found = self.values.substitute(value, self._replacement, known)
        return found

    def _replacement(self, leaf: Expression) -> Expression | None:
        if leaf.leaf.kind != "carried" or leaf in self._at_work:
            return None
        solved = self._solved.get(leaf)
        if solved is None:
            self._at_work.add(leaf)
            solved = self._solve(leaf)
            self._at_work.discard(leaf)
            # While other registers are at work the answer may still contain them.
            if not self._at_work or not (leaves(solved) & self._at_work):
                self._solved[leaf] = solved
        return solved

    def first(self, leaf: Expression) -> Expression:
        """The value with which the loop is entered (not closed)."""
        phi = leaf.leaf.definition
        assert isinstance(phi, Phi)
        loop = self.flow.loop_of[phi.block]
        outside = [each for each in self.flow.predecessors[phi.block] if each not in loop]
        return self.evaluator.join(phi, outside)

    def following(self, leaf: Expression) -> Expression:
        """The value for the next iteration (not closed), in terms of this one."""
        phi = leaf.leaf.definition
        assert isinstance(phi, Phi)
        loop = self.flow.loop_of[phi.block]
        evaluator = self.evaluator
        incoming = [
            evaluator.definition(evaluator.definitions.at_end(phi.register, each)) for each in loop.latches
        ]
        value = self._same_width(incoming[-1], leaf.width)
        for source, other in zip(loop.latches[:-1], incoming[:-1], strict=True):
            other = self._same_width(other, leaf.width)
            if other is not value:
                taken = self.values.binary(
                    "and", evaluator.relative(source, phi.block), evaluator.edge(source, phi.block)
                )
                value = self.values.choose(taken, other, value)
        return value

    def _same_width(self, value: Expression, width: int) -> Expression:
        if value.width < width:
            return self.values.extend(value, width, False)
        return value if value.width == width else self.values.extract(value, 0, width)

    def varies(self, value: Expression, loop: Loop) -> bool:
        """Whether an expression may differ between iterations of a loop."""
        return any(
            leaf.leaf.block is not None and leaf.leaf.block in loop.blocks and leaf.leaf.kind != "thread"
            for leaf in leaves(value)
        )

    def _solve(self, leaf: Expression) -> Expression:
        loop = self.flow.loop_of[leaf.leaf.block or 0]
        rotated = self._rotation(leaf, loop)
        if rotated is not None:
            return rotated
        raw = self.following(leaf)
        entry = self.closed(self.first(leaf))
        after = self.closed(raw)
        if after is leaf:
            return entry
        for rule in (self._counted, self._orbit, self._shifted, self._toggled, self._masked, self._delayed):
            found = rule(leaf, loop, entry, after)
            if found is not None:
                return found
        return leaf

    def _counted(
        self, leaf: Expression, loop: Loop, entry: Expression, after: Expression
    ) -> Expression | None:
        """i += step, and i = c - i."""
        constant, factors = sum_parts(after)
        factor = factors.pop(leaf, 0)
        step = self.values.total(constant, factors, leaf.width)
        if leaf in leaves(step) or self.varies(step, loop):
            return None
        count = self.iteration(loop, leaf.width)
        if factor == 1:
            return self.values.binary("add", entry, self.values.binary("mul", count, step))
        if factor == (1 << leaf.width) - 1:
            return self._by_turns(loop, [entry, self.values.binary("sub", step, entry)])
        if step.known == 0 and factor and factor & (factor - 1) == 0:
            amount = self.values.binary(
                "mul", count, self.values.constant(trailing_zeros(factor), leaf.width)
            )
            self.shifting.add(loop.header)
            bounds = self._bounds(loop, leaf)
            (self.values.bounding if bounds else self.values.wrapping).add(loop.header)
            return self.values.binary("shl", entry, amount)
        return None

    def _bounds(self, loop: Loop, leaf: Expression) -> bool:
        """Whether a loop goes on only as long as a register is less than something: it would never end if that became
        negative, or zero."""
        values, evaluator = self.values, self.evaluator
        taken = values.constant(0, 1)
        for latch in loop.latches:
            path = values.binary(
                "and", evaluator.relative(latch, loop.header), evaluator.edge(latch, loop.header)
            )
            taken = values.binary("or", taken, path)
        changing = [part for part in values.conjuncts(taken) if self.varies(part, loop)]
        for part in changing:
            if part.operation not in ("slt", "sle", "ult", "ule") or self.varies(part.arguments[1], loop):
                return False
            _, factors = sum_parts(part.arguments[0])
            if not factors.keys() <= {leaf} or factors.get(leaf, 0) >> (leaf.width - 1):
                return False
        return bool(changing)

    def _by_turns(self, loop: Loop, turns: list[Expression]) -> Expression:
        """The first of some values in iteration 0, the second in iteration 1, and again from the first."""
        count = self.iteration(loop)
        turn = self.values.binary("urem", count, self.values.constant(len(turns), 32))
        step = self.values.binary("sub", turns[1], turns[0])
        if all(self.values.binary("sub", after, before) is step for before, after in pairwise(turns)):
            wide = self.values.extend(turn, step.width, False) if step.width > 32 else turn
            if step.width >= 32:
                return self.values.binary("add", turns[0], self.values.binary("mul", wide, step))
        value = turns[-1]
        for number, each in enumerate(turns[:-1]):
            here = self.values.binary("eq", turn, self.values.constant(number, 32))
            value = self.values.choose(here, each, value)
        return value

    def _orbit(self, leaf: Expression, loop: Loop, entry: Expression, after: Expression) -> Expression | None:
        """A known first value and a step that depends on nothing else: list the values until they repeat."""
        if entry.known is None or leaves(after) != {leaf}:
            return None
        turns = [entry]
        while len(turns) <= LONGEST_ORBIT:
            last = turns[-1]
            following = self.values.substitute(after, lambda each, last=last: last)  # type: ignore[misc]
            if following.known is None:
                return None
            if following is turns[0]:
                return self._by_turns(loop, turns) if len(turns) > 1 else entry
            if following is last:
                return self._settled(loop, turns)
            if following in turns:
                return None
            turns.append(following)
        return None

    def _settled(self, loop: Loop, turns: list[Expression]) -> Expression:
        count = self.iteration(loop)
        value = turns[-1]
        for number in reversed(range(len(turns) - 1)):
            here = self.values.binary("eq", count, self.values.constant(number, 32))
            value = self.values.choose(here, turns[number], value)
        return value

    def _shifted(
        self, leaf: Expression, loop: Loop, entry: Expression, after: Expression
    ) -> Expression | None:
        """s >>= 1. Halving a signed number is a shift too if the number was not negative at first."""
        if after.operation not in ("lshr", "ashr") or after.arguments[0] is not leaf:
            return self._halved(leaf, loop, entry, after)
        amount = after.arguments[1]
        if amount.known is None:
            return None
        total = self.values.binary("mul", self.iteration(loop, leaf.width), amount)
        return self.values.binary(after.operation, entry, total)

    def _halved(
        self, leaf: Expression, loop: Loop, entry: Expression, after: Expression
    ) -> Expression | None:
        """s / 2 for signed s: (s + (s >>> 31)) >> 1, which is s >> 1 if s is not negative."""
        if after.operation == "sdiv" and after.arguments[0] is leaf and self.values.not_negative(entry):
            divisor = after.arguments[1].known or 0
            if divisor > 1 and divisor & (divisor - 1) == 0:
                bits = self.values.constant(trailing_zeros(divisor), leaf.width)
                total = self.values.binary("mul", self.iteration(loop, leaf.width), bits)
                return self.values.binary("lshr", entry, total)
        if after.operation not in ("lshr", "ashr") or after.arguments[1].known != 1:
            return None
        constant, factors = sum_parts(after.arguments[0])
        sign = self.values.binary("lshr", leaf, self.values.constant(leaf.width - 1, leaf.width))
        if constant or factors != {leaf: 1, sign: 1} or self.values.upper(entry) >= 1 << (leaf.width - 1):
            return None
        return self.values.binary("lshr", entry, self.iteration(loop, leaf.width))

    def _toggled(
        self, leaf: Expression, loop: Loop, entry: Expression, after: Expression
    ) -> Expression | None:
        """b ^= mask, and a predicate that is negated."""
        if after.operation == "not" and after.arguments[0] is leaf:
            return self._by_turns(loop, [entry, self.values.invert(entry)])
        if after.operation != "xor" or leaf not in after.arguments:
            return None
        mask = next(each for each in after.arguments if each is not leaf)
        if self.varies(mask, loop):
            return None
        return self._by_turns(loop, [entry, self.values.binary("xor", entry, mask)])

    def _masked(
        self, leaf: Expression, loop: Loop, entry: Expression, after: Expression
    ) -> Expression | None:
        """(i + step) & mask, and (i + step) % n: the same as one mask, or one remainder, of all steps together."""
        if after.operation not in ("and", "urem"):
            return None
        for at in (0, 1) if after.operation == "and" else (1,):
            limit, inner = after.arguments[at], after.arguments[1 - at]
            constant, factors = sum_parts(inner)
            if not limit.known or factors.pop(leaf, 0) != 1:
                continue
            step = self.values.total(constant, factors, leaf.width)
            if self.varies(step, loop):
                continue
            if after.operation == "and":
                total = self._steps(leaf, loop, entry, step) if self._is_field(limit.known, step) else None
            else:
                total = self._reduced_steps(leaf, loop, entry, step, limit.known)
            if total is not None:
                return self._first_or(loop, entry, self.values.binary(after.operation, total, limit))
        return None

    def _steps(self, leaf: Expression, loop: Loop, entry: Expression, step: Expression) -> Expression:
        """The first value and all steps."""
        total = self.values.binary("mul", self.iteration(loop, leaf.width), step)
        return self.values.binary("add", entry, total)

    def _is_field(self, mask: int, step: Expression) -> bool:
        """Whether a mask keeps neighbouring bits, and steps change none below them: what it drops decides nothing."""
        low = trailing_zeros(mask)
        field = mask >> low
        return field & (field + 1) == 0 and self.values.low_zeros(step) >= low

    def _reduced_steps(
        self, leaf: Expression, loop: Loop, entry: Expression, step: Expression, divisor: int
    ) -> Expression | None:
        """A number with the remainder of a register that is reduced with each step; None if it may wrap around."""
        values, top = self.values, 1 << leaf.width
        if values.upper(step) + divisor > top:
            return None
        if values.upper(entry) + values.upper(step) * MOST_ITERATIONS < top:
            return self._steps(leaf, loop, entry, step)
        if divisor * divisor > top:
            return None
        by = values.constant(divisor, leaf.width)
        count = values.binary("sub", self.iteration(loop, leaf.width), values.constant(1, leaf.width))
        more = values.binary("mul", values.binary("urem", count, by), values.binary("urem", step, by))
        first = values.binary("urem", values.binary("add", entry, step), by)
        return values.binary("add", first, more)

    def _first_or(self, loop: Loop, entry: Expression, value: Expression) -> Expression:
        start = self.values.binary("eq", self.iteration(loop), self.values.constant(0, 32))
        return self.values.choose(start, entry, value)

    def _delayed(
        self, leaf: Expression, loop: Loop, entry: Expression, after: Expression
    ) -> Expression | None:
        """A register that holds what another had in the iteration before."""
        found = leaves(after)
        if leaf in found or any(
            each.leaf.kind in ("carried", "opaque") and each.leaf.block in loop.blocks for each in found
        ):
            return None
        if any(each.leaf.kind == "iteration" and each.leaf.block != loop.header and each.leaf.block in loop.blocks
               for each in found):  # fmt: skip
            return None
        count = self.iteration(loop)
        before = self.values.binary("sub", count, self.values.constant(1, 32))
        earlier = self.values.substitute(after, lambda each: before if each is count else None)
        return self._first_or(loop, entry, earlier)

    def _rotation(self, leaf: Expression, loop: Loop) -> Expression | None:
        """Registers that change places: a, b = b, a."""
        turns = [leaf]
        while True:
            following = self.following(turns[-1])
            if following is turns[0]:
                break
            carried = following.operation == "leaf" and following.leaf.kind == "carried"
            if not carried or following.leaf.block != loop.header or following in turns or len(turns) > 16:
                return None
            turns.append(following)
        if len(turns) == 1:
            return None
        return self._by_turns(loop, [self.closed(self.first(each)) for each in turns])
