"""Which memory a generic address points to: what it was computed from tells.

A pointer keeps the memory that it came from, however it is moved: the address of a variable, or a pointer that the
host passed, plus anything that is no pointer. A pointer that was loaded may be one to shared (or local) memory only
if the kernel stores such pointers somewhere, or hands them to an instruction whose result is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from fencepost.hosts.ptx.expressions.closed_forms import ClosedForms
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves, sum_parts
from fencepost.hosts.ptx.reading.effects import destinations
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.instructions import computes
from fencepost.hosts.ptx.reading.module import Address, Group, Instruction, Operand, Register, width_of

NUMBER, PARAMETER, GLOBAL, SHARED = "number", "parameter", "global", "shared"
"""A number is no pointer. A parameter is a pointer to global memory, or a number."""
UNKNOWN, MIXED = "unknown", "mixed"
"""A pointer that was loaded, and something that is computed from two pointers."""
LOCAL = "local "
"""Followed by the name of the variable."""
STRENGTH = {NUMBER: 0, PARAMETER: 1, UNKNOWN: 2}
Sources = frozenset[str]
"""Where a pointer may come from: one of these."""
ADDRESS_BITS = 64


def combined(first: str, second: str) -> str:
    """The source of a sum of two: the one that is a pointer for certain."""
    weak, strong = sorted((first, second), key=lambda each: STRENGTH.get(each, 3))
    if STRENGTH.get(weak, 3) < 3:
        return strong
    return MIXED


class Pointers:
    """Sources of the addresses of one kernel."""

    def __init__(self, evaluator: Evaluator, forms: ClosedForms) -> None:
        self.evaluator = evaluator
        self.forms = forms
        self._sources: dict[Expression, Sources] = {}
        self._escaped: frozenset[str] | None = None

    def sources(self, value: Expression) -> Sources:
        """Where a pointer may come from."""
        if value not in self._sources:
            self._solve(value)
        return self._sources[value]

    def _solve(self, value: Expression) -> None:
        """The least fixpoint over all that a value is computed from: a pointer may go round a loop."""
        order = self._unsolved(value)
        for each in order:
            self._sources[each] = frozenset()
        self._grow(order)
        for each in order:
            if self._is_carried(each) and not self._sources[each]:
                self._sources[each] = frozenset({NUMBER})
        self._grow(order)

    def _grow(self, order: Sequence[Expression]) -> None:
        changed = True
        while changed:
            changed = False
            for each in order:
                found = self._sources[each] | self._find(each)
                changed |= found != self._sources[each]
                self._sources[each] = found

    def _unsolved(self, value: Expression) -> list[Expression]:
        """What a value is computed from and whose sources are not known, operands before what uses them."""
        order: list[Expression] = []
        seen: set[Expression] = set()
        todo = [(value, False)]
        while todo:
            each, done = todo.pop()
            if done:
                order.append(each)
            elif each not in seen and each not in self._sources:
                seen.add(each)
                todo.append((each, True))
                todo += [(other, False) for other in self._made_of(each)]
        return order

    @staticmethod
    def _is_carried(value: Expression) -> bool:
        return value.operation == "leaf" and value.leaf.kind == "carried"

    def _made_of(self, value: Expression) -> Sequence[Expression]:
        """What a value may have its memory from."""
        if self._is_carried(value):
            return self.forms.first(value), self.forms.following(value)
        if value.operation in ("constant", "leaf") or value.width == 1:
            return ()
        if value.operation == "choose":
            return value.arguments[1:]
        if value.operation == "sum":
            _, factors = sum_parts(value)
            return [atom for atom, factor in factors.items() if factor == 1]
        return value.arguments

    def _find(self, value: Expression) -> Sources:
        """From what is known of its parts so far."""
        parts = [self._sources[each] for each in self._made_of(value)]
        if self._is_carried(value) or (value.operation == "choose" and value.width > 1):
            return parts[0] | parts[1]
        if value.operation == "leaf":
            return self._leaf(value)
        found = frozenset({NUMBER})
        for each in parts:
            found = frozenset(combined(a, b) for a, b in product(found, each))
        return found

    def _leaf(self, value: Expression) -> Sources:
        leaf = value.leaf
        if leaf.kind == "base":
            return frozenset({SHARED})
        if leaf.kind == "uniform" and leaf.name.startswith("&"):
            name = leaf.name[1:]
            return frozenset({LOCAL + name if name in self.evaluator.local_names else GLOBAL})
        if value.width < ADDRESS_BITS or leaf.kind in ("thread", "iteration"):
            return frozenset({NUMBER})
        return frozenset({PARAMETER if leaf.kind == "uniform" else UNKNOWN})

    def possible(self, address: Expression) -> Sources:
        """The memory that an access may go to: `shared`, `global`, or a local variable."""
        found: set[str] = set()
        escaped = self.escaped
        for each in self.sources(address):
            if each in (PARAMETER, GLOBAL):
                found.add(GLOBAL)
            elif each == NUMBER:
                opaque = any(leaf.leaf.kind in ("opaque", "carried") for leaf in leaves(address))
                found |= {GLOBAL, *escaped} if opaque else {GLOBAL}
            elif each == UNKNOWN:
                found |= {GLOBAL, *escaped}
            elif each == MIXED:
                found |= {GLOBAL, SHARED, *(LOCAL + name for name in self.evaluator.local_names)}
            else:
                found.add(each)
        return frozenset(found)

    @property
    def escaped(self) -> frozenset[str]:
        """`shared` and local variables whose addresses go where they are not followed."""
        if self._escaped is None:
            self._escaped = frozenset(self._find_escaped(self.evaluator.flow))
        return self._escaped

    def _find_escaped(self, flow: Flow) -> Iterable[str]:
        for number in flow.order:
            for index, instruction in enumerate(flow.blocks[number].instructions):
                if (
                    instruction.name == "cvta"
                    and "shared" in instruction.parts
                    and "to" not in instruction.parts
                ):
                    yield from self._hidden(instruction, number, index)
                elif not computes(instruction):
                    for operand in handed_on(instruction):
                        value = self.evaluator.operand(operand, number, index, operand_width(operand))
                        found = self.sources(value)
                        yield from (each for each in found if each == SHARED or each.startswith(LOCAL))
                        if MIXED in found:
                            yield from (SHARED, *(LOCAL + name for name in self.evaluator.local_names))

    def _hidden(self, instruction: Instruction, block: int, index: int) -> Iterable[str]:
        """A generic address of shared memory that is made of a number which was loaded or computed."""
        value = self.evaluator.operand(instruction.operands[1], block, index, 32)
        if self.sources(value) != {SHARED}:
            yield SHARED


def handed_on(instruction: Instruction) -> Iterable[Operand]:
    """The registers that an instruction which is not followed takes in, other than as an address."""
    skip = 1 if destinations(instruction) else 0
    for operand in instruction.operands[skip:]:
        for each in operand.items if isinstance(operand, Group) else (operand,):
            if isinstance(each, Register) and width_of(each.type) >= 32:
                yield each
        if isinstance(operand, Address):
            yield from (each for each in operand.coordinates if isinstance(each, Register))


def operand_width(operand: Operand) -> int:
    """The width of a register."""
    assert isinstance(operand, Register)
    return min(width_of(operand.type), ADDRESS_BITS)
