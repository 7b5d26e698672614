"""What a barrier orders in global memory: `bar.sync` makes threads of a block see each other's global accesses, too.

Verdicts are about shared memory; a barrier that shared memory does not need may still be needed here. Two accesses,
one on each side of it, count if they may be the same bytes touched by two threads, one of them writing. What
synchronizes with other blocks (fences, acquire and release, volatile accesses, atomics with a result) counts with
every access on the other side: other threads rely on what the barrier put before or behind it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fencepost.hosts.ptx.expressions.closed_forms import ClosedForms
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves, sum_parts
from fencepost.hosts.ptx.expressions.lanes import signed
from fencepost.hosts.ptx.proof.beside_barriers import beside
from fencepost.hosts.ptx.proof.bytes_by_thread import CannotList, Points
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import HARMLESS, OTHER_SPACES, space_of
from fencepost.hosts.ptx.reading.instructions import computes, types_of
from fencepost.hosts.ptx.reading.module import Address, Instruction, Register, width_of
from fencepost.hosts.ptx.verdicts import Site

Kind = Literal["read", "write", "order"]
ORDERING = frozenset({"volatile", "acquire", "release", "acq_rel", "sc", "relaxed", "mmio"})
"""What makes an access more than a plain one."""
POINTER = 64
"""The bits of a pointer."""


@dataclass(frozen=True)
class GlobalPair:
    """Two accesses to global memory that one barrier puts in order, and what they are."""

    first: Site
    second: Site
    kinds: tuple[Kind, Kind]
    bases: tuple[str | None, str | None]
    """The parameters that the addresses are counted from; None where that is not known."""

    @property
    def only_if_pointers_overlap(self) -> bool:
        """Whether they can meet only where two parameters point to the same memory."""
        return None not in self.bases and self.bases[0] != self.bases[1] and "order" not in self.kinds


def kind_of(instruction: Instruction) -> Kind | None:
    """What an instruction does to global memory; None for nothing. What is not known orders."""
    name, parts = instruction.name, instruction.parts
    if name in ("ld", "ldu", "st", "atom", "red") and "async" not in parts:
        return _plain(instruction)
    if name in ("suld", "sust", "sured"):
        return "read" if name == "suld" else "write"
    if name in ("membar", "fence", "griddepcontrol"):
        return None if "proxy" in parts or "mbarrier_init" in parts else "order"
    if name == "wmma" or (name == "cp" and "bulk" not in parts and "reduce" not in parts):
        if space_of(instruction) not in (None, *OTHER_SPACES) and name == "wmma":
            return None
        return _copied(instruction)
    if computes(instruction) or name in HARMLESS or name in ("bar", "barrier", "ldmatrix", "stmatrix"):
        return None
    return "order"


def _plain(instruction: Instruction) -> Kind | None:
    space = space_of(instruction)
    if (space is not None and space != "global") or "nc" in instruction.parts:
        return None
    if instruction.name == "atom" or ORDERING & set(instruction.parts):
        return "order"
    return "read" if instruction.name in ("ld", "ldu") else "write"


def _copied(instruction: Instruction) -> Kind | None:
    """`cp.async` reads global memory, and so does `wmma.load`; `wmma.store` writes."""
    if "store" in instruction.parts:
        return "write"
    return "read" if "global" in instruction.parts or "load" in instruction.parts else None


class GlobalOrder:
    """The global accesses around the barriers of one kernel; `barriers` are those that stay."""

    def __init__(self, evaluator: Evaluator, barriers: Collection[Place], distinct_pointers: bool) -> None:
        self.evaluator = evaluator
        self.flow = evaluator.flow
        self.forms = ClosedForms(evaluator)
        self.barriers = frozenset(barriers)
        self.distinct_pointers = distinct_pointers
        self.own = {f"&{each.name}" for each in evaluator.routine.variables if each.space == "local"}
        """What addresses of variables of a thread's own are counted from."""

    def pair(self, barrier: Place) -> GlobalPair | None:
        """Two accesses that this barrier may put in order and no other one that stays; None if there are none.

        A pair that meets wherever pointers point is named before one that needs two of them to overlap."""
        found: GlobalPair | None = None
        before, after = (self._beside(barrier, forward=forward) for forward in (False, True))
        for first in before:
            for second in after:
                pair = self._pair(first, second)
                if pair is not None and not pair.only_if_pointers_overlap:
                    return pair
                found = found or pair
        return None if self.distinct_pointers else found

    def _beside(self, barrier: Place, *, forward: bool) -> list[Place]:
        """The accesses to global memory on one side of a barrier."""
        return [
            each
            for each in beside(self.flow, barrier, self.barriers, forward=forward).places
            if kind_of(self._instruction(each)) is not None and not self.elsewhere(each)
        ]

    def _instruction(self, place: Place) -> Instruction:
        return self.flow.blocks[place.block].instructions[place.index]

    def _pair(self, first: Place, second: Place) -> GlobalPair | None:
        instructions = [self._instruction(each) for each in (first, second)]
        left, right = (kind_of(each) for each in instructions)
        assert left is not None and right is not None
        if left == right == "read":
            return None
        sites = [each.site for each in instructions]
        if "order" in (left, right):
            return GlobalPair(sites[0], sites[1], (left, right), (None, None))
        addresses = [self.address(each) for each in (first, second)]
        if addresses[0] is addresses[1] and self._own(
            addresses[0], max(bytes_of(each) for each in instructions)
        ):
            return None
        bases = [self.base(each) for each in addresses]
        return GlobalPair(sites[0], sites[1], (left, right), (bases[0], bases[1]))

    def address(self, place: Place) -> Expression | None:
        """The address of an access; None for forms without one, as surfaces."""
        found = [each for each in self._instruction(place).operands if isinstance(each, Address)]
        if not found:
            return None
        # Of a copy into shared memory, the second address is the global one.
        base = found[-1].base
        width = width_of(base.type) if isinstance(base, Register) else POINTER
        return self.forms.closed(self.evaluator.operand(found[-1], place.block, place.index, width))

    def elsewhere(self, place: Place) -> bool:
        """Whether a generic address is one of shared memory, which verdicts are about, or of the thread's own."""
        if space_of(self._instruction(place)) is not None:
            return False
        address = self.address(place)
        atoms = sum_parts(address)[1] if address is not None else {}
        inner = [each.arguments[0] if each.operation == "zext" else each for each in atoms]
        return any(
            each.operation == "leaf" and (each.leaf.kind == "base" or each.leaf.name in self.own)
            for each in inner
        )

    def base(self, address: Expression | None) -> str | None:
        """The one pointer that an address is counted from."""
        if address is None:
            return None
        _, factors = sum_parts(address)
        wide = [each for each in factors if each.operation == "leaf" and each.width == POINTER]
        if len(wide) != 1 or factors[wide[0]] != 1 or wide[0].leaf.kind != "uniform":
            return None
        name = wide[0].leaf.name
        return name if name.partition("+")[0] in self.evaluator.parameters else None

    def _own(self, address: Expression | None, size: int) -> bool:
        """Whether each thread has bytes of its own there: threads differ in it, by at least the size."""
        block = self.evaluator.launch.block
        if address is None or block is None or size == 0:
            return False
        moving = {each: c for each, c in sum_parts(address)[1].items() if not same_for_all(each)}
        try:
            points = Points(block, {})
            if len(moving) == 1:
                ((atom, factor),) = moving.items()
                if atom.operation in ("sext", "zext") and size <= factor < 1 << 32:
                    inner = self._thread_part(atom.arguments[0])
                    numbers = points.numbers(inner, {}).bits
                    return len(np.unique(numbers)) == points.count
            total = self.evaluator.values.total(0, moving, address.width)
            numbers = np.sort(signed(points.numbers(total, {})))
        except CannotList:
            return False
        return bool(points.count == 1 or (np.diff(numbers) >= size).all())

    def _thread_part(self, index: Expression) -> Expression:
        """An index without what all threads add to it: two of them are then equal where the indices are."""
        moving = {each: c for each, c in sum_parts(index)[1].items() if not same_for_all(each)}
        return self.evaluator.values.total(0, moving, index.width)


def same_for_all(value: Expression) -> bool:
    """Whether it is one number for the whole launch of a block, in every iteration."""
    return all(leaf.leaf.kind == "uniform" and leaf.leaf.block is None for leaf in leaves(value))


def bytes_of(instruction: Instruction) -> int:
    """How many bytes a plain access touches; 0 where the form does not say."""
    if instruction.name not in ("ld", "ldu", "st", "red"):
        return 0
    size = width_of(types_of(instruction)[-1]) // 8 if types_of(instruction) else 0
    for part in instruction.parts:
        if part in ("v2", "v4", "v8"):
            size *= int(part[1:])
    return size
