"""Local memory followed as registers are: variables that live in `__local_depot0` or are passed to functions.

A local variable is cut into cells. Loads and stores at known offsets become moves between registers that stand for
the cells, and the pointers among their values are followed in turn. That no other store touches a cell is assumed
first and then looked at, with everything known that follows from it: a store at an offset that is not known takes
back the cells it may touch, one through an unknown pointer those of every variable whose address goes where it is
not followed. By induction over the steps of a run, what is left holds. Local memory belongs to one thread; it never
races.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import gcd

from fencepost.hosts.ptx.expressions.closed_forms import ClosedForms
from fencepost.hosts.ptx.expressions.constants import Constants
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_builder import Values
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, sum_parts
from fencepost.hosts.ptx.expressions.indexed_cells import chosen, offsets_at
from fencepost.hosts.ptx.expressions.pointers import GLOBAL, LOCAL, SHARED, Pointers
from fencepost.hosts.ptx.launches.launch import Launch
from fencepost.hosts.ptx.reading.arithmetic import signed
from fencepost.hosts.ptx.reading.effects import destinations, space_of
from fencepost.hosts.ptx.reading.flow import Flow, NotJudged
from fencepost.hosts.ptx.reading.instructions import types_of
from fencepost.hosts.ptx.reading.module import (
    Address,
    Group,
    Instruction,
    Label,
    Module,
    Operand,
    Register,
    Routine,
    Symbol,
    width_of,
)

MOST_ROUNDS = 12
SECONDS = 25.0
"""Of this thread's own time: a large kernel without optimization takes many for each round."""
LARGEST = 8
"""Bytes of the largest value that is followed."""
MEMORY = ("ld", "ldu", "st", "atom", "red")


@dataclass(frozen=True)
class Slot:
    """Bytes of a local variable."""

    variable: str
    offset: int
    size: int

    def overlaps(self, other: Slot) -> bool:
        """Whether both have a byte in common."""
        if self.variable != other.variable:
            return False
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size


@dataclass(frozen=True)
class Cells:
    """Bytes of a variable that are accessed together, cut into cells of equal size."""

    slot: Slot
    cell: int

    def registers(self, slot: Slot) -> tuple[Register, ...]:
        """The registers that hold a slot."""
        kind = f"b{8 * self.cell}"
        starts = range(slot.offset, slot.offset + slot.size, self.cell)
        return tuple(Register(f"{slot.variable}[{at}]", kind) for at in starts)


def components(slots: Iterable[Slot]) -> list[Cells]:
    """Slots that overlap, directly or through others, together."""
    found: list[Cells] = []
    for slot in sorted(set(slots), key=lambda each: (each.variable, each.offset, each.size)):
        last = found[-1] if found else None
        if last is None or not last.slot.overlaps(slot):
            found.append(Cells(slot, slot.size))
            continue
        begin = last.slot.offset
        end = max(begin + last.slot.size, slot.offset + slot.size)
        cell = gcd(last.cell, slot.size, slot.offset - begin)
        found[-1] = Cells(Slot(slot.variable, begin, end - begin), cell)
    return found


@dataclass(frozen=True)
class Reach:
    """Bytes that an access which is not followed may touch; None for a whole variable."""

    variable: str
    low: int = 0
    high: int | None = None

    def touches(self, slot: Slot) -> bool:
        """Whether it may touch a slot."""
        if self.variable != slot.variable or slot.offset + slot.size <= self.low:
            return False
        return self.high is None or slot.offset < self.high


@dataclass
class Knowledge:
    """What is known about the accesses of a routine."""

    slots: dict[int, tuple[Slot, ...]] = field(default_factory=dict)
    """For accesses at known offsets, by position in the body: a slot for each element."""
    indexed: dict[int, tuple[Slot, ...]] = field(default_factory=dict)
    """For loads at an index that is not known: every slot that it may be."""
    refused: set[Slot] = field(default_factory=set)
    """Slots that cannot be registers."""
    read: set[Reach] = field(default_factory=set)
    """What accesses that are not followed may read."""

    def used(self) -> set[Slot]:
        """The slots that accesses may have."""
        return {slot for known in (self.slots, self.indexed) for slots in known.values() for slot in slots}

    def cells(self) -> list[Cells]:
        """The cells that become registers."""
        found = components(self.used())
        return [each for each in found if not any(each.slot.overlaps(slot) for slot in self.refused)]


class Promotion:
    """Turns local memory of one routine into registers."""

    def __init__(self, module: Module, routine: Routine, launch: Launch) -> None:
        self.module = module
        self.routine = routine
        self.launch = launch
        self.private = {each.name: each.size for each in routine.variables if each.space == "local"}
        self.known = Knowledge()

    def promoted(self, end: float) -> Routine:
        """The routine with cells as registers and, where that is certain, spaces in the place of generic accesses;
        refused if that is not known by then."""
        for _ in range(MOST_ROUNDS):
            began = time.thread_time()
            routine = self._rewritten()
            view = View(self.module, routine, self.launch)
            if self._resolve(view):
                if 2 * time.thread_time() - began > end:
                    raise NotJudged("so much local memory that it was not followed to its end in time")
                continue
            if not self._take_back(view):
                return with_used_variables(view.with_spaces())
        # It did not settle: all of local memory is memory.
        return View(self.module, self.routine, self.launch).with_spaces()

    # ---- one round

    def _positions(self) -> dict[int, int]:
        return {id(item): position for position, item in enumerate(self.routine.body)}

    def _resolve(self, view: View) -> bool:
        """Notes accesses whose offset is known now; whether there are any."""
        positions = self._positions()
        found = False
        for instruction, address in view.accesses():
            position = positions.get(id(instruction))
            if position is None or position in self.known.slots or instruction.name not in ("ld", "st"):
                continue
            slots = self._slots(view, instruction, address)
            indexed = () if slots else self._indexed(view, instruction, address)
            if any(each.overlaps(slot) for each in (*slots, *indexed) for slot in self.known.refused):
                continue
            if slots:
                self.known.slots[position] = slots
                found = True
            elif indexed and self.known.indexed.get(position) != indexed:
                self.known.indexed[position] = indexed
                found = True
        return found

    def _indexed(self, view: View, instruction: Instruction, address: Expression) -> tuple[Slot, ...]:
        """The slots that a load at an index which is not known may have."""
        placed, (count, size) = view.placed(address), elements(instruction)
        target = instruction.operands[0]
        if placed is None or instruction.name != "ld" or count > 1 or not isinstance(target, Register):
            return ()
        limit = self.private.get(placed[0])
        if not limit or not 0 < size <= LARGEST or width_of(target.type) != 8 * size:
            return ()
        return tuple(Slot(placed[0], at, size) for at in offsets_at(placed[1], size, limit))

    def _slots(self, view: View, instruction: Instruction, address: Expression) -> tuple[Slot, ...]:
        placed = view.placed(address)
        count, size = elements(instruction)
        if placed is None or placed[1].known is None or not 0 < size <= LARGEST:
            return ()
        offset, limit = signed(placed[1].known, placed[1].width), self.private.get(placed[0])
        if limit is None or offset < 0 or offset + count * size > limit:
            return ()
        return tuple(Slot(placed[0], offset + at * size, size) for at in range(count))

    def _take_back(self, view: View) -> bool:
        """Refuses the cells that stores which are not followed may touch; whether there are any."""
        read: set[Reach] = set()
        refused: set[Slot] = set()
        followed = {id(self.routine.body[position]) for position in self.known.slots}
        cells = self.known.cells()
        for instruction, address in view.accesses():
            if id(instruction) in followed and instruction.name == "st":
                # Stored in memory beside its registers, for loads that are not followed.
                continue
            reaches = list(view.reaches(instruction, address))
            if instruction.name in ("ld", "ldu"):
                read.update(reaches)
            else:
                refused |= {each.slot for each in cells if any(reach.touches(each.slot) for reach in reaches)}
        changed = bool(refused) or not read <= self.known.read
        self.known.read |= read
        if refused:
            self.known.refused |= refused
            # What was known through the values of these cells is not known any more.
            self.known.slots, self.known.indexed = {}, {}
        return changed

    # ---- the routine with registers

    def _rewritten(self) -> Routine:
        cells = self.known.cells()
        of_variable: dict[str, list[Cells]] = {}
        for each in cells:
            of_variable.setdefault(each.slot.variable, []).append(each)
        homes: dict[Slot, Cells] = {}
        for slot in self.known.used():
            home = next(
                (each for each in of_variable.get(slot.variable, ()) if each.slot.overlaps(slot)), None
            )
            if home is not None:
                homes[slot] = home
        items: list[Instruction | Label] = []
        for position, item in enumerate(self.routine.body):
            slots = self.known.slots.get(position, ())
            if isinstance(item, Instruction) and slots and all(each in homes for each in slots):
                items += self._moves(item, slots, homes)
            elif isinstance(item, Instruction) and (found := self._choice(position, homes)):
                target = item.operands[0]
                assert isinstance(target, Register)
                items += chosen(item, *found, target)
            elif isinstance(item, Instruction) and item.name == "call":
                items.append(self._with_results(item, of_variable))
            else:
                items.append(item)
        return self.routine.with_body(tuple(items))

    def _choice(self, position: int, homes: dict[Slot, Cells]) -> tuple[str, dict[int, Register]] | None:
        """The variable and its cells by offset, if a load has one of them; None unless each is one register."""
        slots = self.known.indexed.get(position, ())
        held = {slot.offset: homes[slot].registers(slot) for slot in slots if slot in homes}
        if not slots or len(held) < len(slots) or any(len(each) != 1 for each in held.values()):
            return None
        return slots[0].variable, {offset: registers[0] for offset, registers in held.items()}

    @staticmethod
    def _with_results(call: Instruction, cells: Mapping[str, Sequence[Cells]]) -> Instruction:
        """A function that is not there gives results that nobody knows: to the registers of their cells."""
        first = call.operands[0] if call.operands else None
        names = (
            [each.name for each in first.items if isinstance(each, Symbol)]
            if isinstance(first, Group)
            else []
        )
        found = [
            register
            for name in names
            for each in cells.get(name, ())
            for register in each.registers(each.slot)
        ]
        return replace(call, operands=(Group(tuple(found)), *call.operands[1:])) if found else call

    def _moves(
        self, item: Instruction, slots: tuple[Slot, ...], homes: dict[Slot, Cells]
    ) -> Iterator[Instruction]:
        if item.name == "st" and any(each.touches(slot) for each in self.known.read for slot in slots):
            yield item
        operand = item.operands[-1] if item.name == "st" else item.operands[0]
        for slot, value in zip(
            slots, operand.items if isinstance(operand, Group) else (operand,), strict=True
        ):
            registers = homes[slot].registers(slot)
            held: Operand = registers[0] if len(registers) == 1 else Group(registers)
            if item.name == "st":
                yield replace(item, parts=("mov", f"b{8 * slot.size}"), operands=(held, value))
            else:
                yield from self._load(item, value, held, 8 * slot.size)

    @staticmethod
    def _load(item: Instruction, target: Operand, held: Operand, width: int) -> Iterator[Instruction]:
        """A load of so many bits; a wider register gets the number that they are."""
        kind, moved = types_of(item)[-1], replace(item, parts=("mov", f"b{width}"))
        if not isinstance(target, Register) or width_of(target.type) <= width:
            yield replace(moved, operands=(target, held))
            return
        wide = width_of(target.type)
        if isinstance(held, Group):
            whole = Register(f"{target.name}:whole", f"b{width}")
            yield replace(moved, operands=(whole, held))
            held = whole
        letter = "s" if kind.startswith("s") else "u"
        yield replace(item, parts=("cvt", f"{letter}{wide}", f"{letter}{width}"), operands=(target, held))


class View:
    """A routine in one state of its rewriting: what its addresses are."""

    def __init__(self, module: Module, routine: Routine, launch: Launch) -> None:
        self.routine = routine
        self.evaluator = Evaluator(module, routine, Flow(routine), launch)
        self.values: Values = self.evaluator.values
        self.forms = ClosedForms(self.evaluator)
        self.pointers = Pointers(self.evaluator, self.forms)

    def accesses(self) -> Iterator[tuple[Instruction, Expression]]:
        """Loads, stores and atomics of memory that may be local, with their addresses."""
        flow = self.evaluator.flow
        for number in flow.order:
            for index, instruction in enumerate(flow.blocks[number].instructions):
                if instruction.name in MEMORY and space_of(instruction) in (None, "local"):
                    address = next(each for each in instruction.operands if isinstance(each, Address))
                    wide = width_of(address.base.type) if isinstance(address.base, Register) else 64
                    value = self.evaluator.operand(address, number, index, max(wide, 32))
                    yield instruction, self.forms.closed(value)

    def placed(self, address: Expression) -> tuple[str, Expression] | None:
        """The local variable that an address lies in, and the offset."""
        constant, factors = sum_parts(address)
        for atom, factor in factors.items():
            inner = atom.arguments[0] if atom.operation == "zext" else atom
            name = inner.leaf.name[1:] if inner.operation == "leaf" else ""
            local = name in self.evaluator.local_names and inner.leaf.name.startswith("&")
            if factor == 1 and local:
                rest = {each: c for each, c in factors.items() if each is not atom}
                return name, self.values.total(constant, rest, address.width)
        return None

    def reaches(self, instruction: Instruction, address: Expression) -> Iterator[Reach]:
        """What an access may touch of local variables."""
        placed = self.placed(address)
        possible = self.pointers.possible(address)
        if placed is not None and possible == {LOCAL + placed[0]}:
            low, high = self._bounds(placed[1])
            count, size = elements(instruction)
            yield Reach(placed[0], low, None if high is None else high + count * max(size, 1))
            return
        if space_of(instruction) == "local" and not any(each.startswith(LOCAL) for each in possible):
            possible = frozenset(LOCAL + name for name in self.evaluator.local_names)
        yield from (Reach(each.removeprefix(LOCAL)) for each in possible if each.startswith(LOCAL))

    def _bounds(self, offset: Expression) -> tuple[int, int | None]:
        """The least and the greatest offset, as far as they are known."""
        constant, factors = sum_parts(offset)
        most = constant + sum(factor * self.values.upper(atom) for atom, factor in factors.items())
        if most >= 1 << (offset.width - 1):
            return 0, None
        return constant, most

    def with_spaces(self) -> Routine:
        """The routine with the space of each generic access, if that is certain."""
        found = {}
        for instruction, address in self.accesses():
            if space_of(instruction) is None:
                space = self._space(self.pointers.possible(address))
                if space is not None:
                    parts = (instruction.parts[0], space, *instruction.parts[1:])
                    found[id(instruction)] = replace(instruction, parts=parts)
        return self.routine.with_body(tuple(found.get(id(item), item) for item in self.routine.body))

    @staticmethod
    def _space(possible: frozenset[str]) -> str | None:
        if possible in ({GLOBAL}, {SHARED}):
            return next(iter(possible))
        return "local" if all(each.startswith(LOCAL) for each in possible) else None


def elements(instruction: Instruction) -> tuple[int, int]:
    """How many elements an access has, and the bytes of each."""
    kinds = types_of(instruction)
    size = width_of(kinds[-1]) // 8 if kinds else 0
    vector = destinations(instruction) if instruction.name != "st" else ()
    last = instruction.operands[-1]
    if instruction.name == "st" and isinstance(last, Group):
        vector = last.items
    return max(1, len(vector)), size


def with_used_variables(routine: Routine) -> Routine:
    """The routine without the local variables that are registers now."""
    used = {name for item in routine.body if isinstance(item, Instruction) for name in symbols(item.operands)}
    kept = tuple(each for each in routine.variables if each.space != "local" or each.name in used)
    return replace(routine, variables=kept)


def symbols(operands: Iterable[Operand]) -> Iterator[str]:
    """The variables that operands name."""
    for operand in operands:
        if isinstance(operand, Symbol):
            yield operand.name
        elif isinstance(operand, Group):
            yield from symbols(operand.items)
        elif isinstance(operand, Address):
            yield from symbols((operand.base, *operand.coordinates))


def is_needed(routine: Routine) -> bool:
    """Whether a routine has local variables, generic accesses, or barriers whose number is in a register."""
    if any(each.space == "local" for each in routine.variables):
        return True
    return any(_asks(item) for item in routine.body if isinstance(item, Instruction))


def _asks(item: Instruction) -> bool:
    if item.name in ("bar", "barrier"):
        return any(isinstance(each, Register) and width_of(each.type) >= 32 for each in item.operands)
    return item.name in MEMORY and space_of(item) is None


def followed(module: Module, routine: Routine, launch: Launch) -> Routine:
    """A routine with its local memory in registers, spaces for its generic accesses, and constants, where known."""
    if not is_needed(routine):
        return routine
    end = time.thread_time() + SECONDS
    for _ in range(MOST_ROUNDS):
        routine = Promotion(module, routine, launch).promoted(end)
        view = View(module, routine, launch)
        routine, changed = Constants(routine, view.evaluator, view.forms).written()
        if not changed:
            break
    return routine
