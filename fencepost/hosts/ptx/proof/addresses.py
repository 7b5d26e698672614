"""Which shared variable an access touches, and at which offset."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.hosts.ptx.expressions.closed_forms import ClosedForms as Closed
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_builder import Values
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves, sum_parts
from fencepost.hosts.ptx.expressions.pointers import SHARED, Pointers
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import Access
from fencepost.hosts.ptx.reading.flow import NotJudged
from fencepost.hosts.ptx.reading.module import Register, width_of

MOST_CASES = 16


@dataclass(frozen=True)
class Footprint:
    """Bytes of one shared variable that an access touches if a condition holds."""

    variable: str
    offset: Expression
    """32 bits, counted from the start of the variable."""
    size: int
    condition: Expression


class Addresses:
    """Footprints of accesses, from closed expressions."""

    def __init__(self, evaluator: Evaluator, closed: Closed) -> None:
        self.evaluator = evaluator
        self.values: Values = evaluator.values
        self.closed = closed
        self._found: dict[tuple[Place, Access], tuple[Footprint, ...]] = {}
        self.pointers = Pointers(evaluator, closed)

    def footprints(self, place: Place, access: Access) -> tuple[Footprint, ...]:
        """Where an access goes; nothing if it does not touch shared memory."""
        key = (place, access)
        if key not in self._found:
            self._found[key] = self._resolve(place, access)
        return self._found[key]

    def _resolve(self, place: Place, access: Access) -> tuple[Footprint, ...]:
        base = access.address.base
        width = width_of(base.type) if isinstance(base, Register) else 32
        address = self.closed.closed(self.evaluator.operand(access.address, place.block, place.index, width))
        instruction = self.evaluator.flow.blocks[place.block].instructions[place.index]
        if "bulk" in instruction.parts:
            raise NotJudged("a bulk copy", instruction)
        found = []
        for condition, case in self._cases(address):
            variable, rest = self._based(case)
            if variable is not None:
                offset = self.values.extract(rest, 0, 32) if rest.width > 32 else rest
                found.append(Footprint(variable, offset, access.size, condition))
            elif not access.generic:
                raise NotJudged("a shared address that is not known", instruction)
            elif SHARED in self.pointers.possible(case):
                raise NotJudged("a generic address that may be shared or not", instruction)
        return tuple(found)

    def _based(self, address: Expression) -> tuple[str | None, Expression]:
        constant, factors = sum_parts(address)
        for atom, factor in factors.items():
            inner = atom.arguments[0] if atom.operation == "zext" else atom
            if factor == 1 and inner.operation == "leaf" and inner.leaf.kind == "base":
                rest = {each: c for each, c in factors.items() if each is not atom}
                return inner.leaf.name, self.values.total(constant, rest, address.width)
            if factor == 1 and atom.operation == "zext" and inner.operation == "sum":
                # A shared address of 32 bits, made generic when it was complete.
                name, own = self._based(inner)
                if name is not None:
                    rest = {each: c for each, c in factors.items() if each is not atom}
                    outside = self.values.total(constant, rest, address.width)
                    wide = self.values.extend(own, address.width, False)
                    return name, self.values.binary("add", outside, wide)
        return None, address

    def _cases(self, address: Expression) -> list[tuple[Expression, Expression]]:
        """The address with if-then-else between variables resolved: a condition for each, up to a few."""
        found: list[tuple[Expression, Expression]] = []
        todo = [(self.evaluator.true(), address)]
        while todo:
            condition, case = todo.pop()
            sides = self._sides(case) if len(found) + len(todo) < MOST_CASES else []
            if not sides:
                found.append((condition, case))
            for taken, side in sides:
                both = self.values.binary("and", condition, taken)
                if both.known != 0:
                    todo.append((both, side))
        return found

    def _sides(self, address: Expression) -> list[tuple[Expression, Expression]]:
        """Both sides of an if-then-else between variables in an address, with what holds on each; nothing if there
        is none."""
        if self._based(address)[0] is not None:
            return []
        constant, factors = sum_parts(address)
        for atom, factor in factors.items():
            inner = atom.arguments[0] if atom.operation in ("zext", "extract") else atom
            bases = any(leaf.leaf.kind == "base" for leaf in leaves(inner))
            if factor == 1 and inner.operation == "choose" and bases:
                rest = self.values.total(
                    constant, {each: c for each, c in factors.items() if each is not atom}, address.width
                )
                held, yes, no = inner.arguments
                return [
                    (taken, self.values.binary("add", rest, self._in_place(atom, inner, side)))
                    for side, taken in ((yes, held), (no, self.values.invert(held)))
                ]
        return []

    def _in_place(self, atom: Expression, inner: Expression, side: Expression) -> Expression:
        """One side of an if-then-else, extended or cut as the whole was."""
        return self.values.rebuild(atom, [side]) if inner is not atom else side
