"""What all threads of one block hold, side by side: registers and shared memory as expressions of flags.

Numbers that a launch gives are constants here; what is loaded from elsewhere is a leaf for each thread. So a scan of
flags in shared memory, or by shuffles, leaves in each thread the sum of the flags before it, and not just a number
that was loaded. This takes it that no two threads race before the access in question: the caller asks about every
pair of accesses, and the first race of a run would have had these values.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import prod

from fencepost.hosts.ptx.expressions.bit_sums import BitSums
from fencepost.hosts.ptx.expressions.evaluate import Evaluator, source_width
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, Leaf, sum_parts
from fencepost.hosts.ptx.launches.launch import DYNAMIC_BYTES
from fencepost.hosts.ptx.proof.addresses import Addresses
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import Access, destinations, effect, is_strong, space_of
from fencepost.hosts.ptx.reading.instructions import computes, result, second_result, types_of
from fencepost.hosts.ptx.reading.module import (
    Address,
    Group,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Register,
    Special,
    Symbol,
    width_of,
)

START, GAP = 0x1000, 0x1000
"""Where the first shared variable is put in `memory`, and the room between two."""
WARP = 32
LONGEST = 16
"""Bytes of the longest element that is kept in a cell of memory."""


class Undetermined(Exception):
    """The values of a block cannot be followed here."""


@dataclass(frozen=True)
class Visit:
    """One thread at one of the accesses in question: where it goes, and under which condition."""

    place: Place
    thread: int
    interval: int
    """How many barriers of the block came before."""
    address: Expression
    condition: Expression
    size: int


class BlockValues:
    """Registers of all threads, and shared memory."""

    def __init__(
        self, evaluator: Evaluator, addresses: Addresses, wanted: Collection[Place], seconds: float
    ) -> None:
        block = evaluator.launch.block
        assert block is not None
        self.evaluator = evaluator
        self.addresses = addresses
        self.flow = evaluator.flow
        self.wanted = frozenset(wanted)
        self.values = BitSums()
        self.block = block
        self.count = prod(block)
        self.registers: dict[tuple[str, int], Expression] = {}
        self.memory: dict[int, tuple[int, Expression]] = {}
        """By address: how many bytes, and what they hold."""
        self.paths = [self.values.constant(1, 1)] * self.count
        """Under which condition each thread is where it is."""
        self.visits: list[Visit] = []
        self.interval = 0
        self._one_with: dict[int, int] = {}
        self.journals: list[dict[tuple[str, int], Expression | None]] = []
        """What registers held before the sides of conditions that are being looked at."""
        self.end = time.thread_time() + seconds
        self.starts = _placed(evaluator)
        self.atomics = any(
            each.name in ("atom", "red") and space_of(each) in (None, "shared")
            for number in self.flow.order
            for each in self.flow.blocks[number].instructions
        )
        self._computed: dict[tuple[int, tuple[Expression, ...]], tuple[Expression, Expression | None]] = {}
        self._leaves = 0
        self._held: dict[Expression, frozenset[Expression]] = {}
        """What holds under the condition of a path."""

    def fresh(self, width: int) -> Expression:
        """A value that nothing is known about."""
        self._leaves += 1
        return self.values.leaf(Leaf("opaque", f"#{self._leaves}", None, "thread"), width)

    def may_be_one(self, first: int, second: int) -> None:
        """Notes that two intervals may be one: the barriers between them are not always passed."""
        first, second = self.interval_of(first), self.interval_of(second)
        if first != second:
            self._one_with[second] = first

    def interval_of(self, number: int) -> int:
        """One number for all intervals that may be one."""
        while number in self._one_with:
            number = self._one_with[number]
        return number

    # ---- operands

    def read(self, operand: Operand, thread: int, width: int) -> Expression:
        """The value of an operand."""
        values = self.values
        if isinstance(operand, Register):
            return self._fitted(self._register(operand, thread), width)
        if isinstance(operand, Immediate):
            return values.constant(operand.value, width)
        if isinstance(operand, Negated):
            return values.invert(self.read(operand.register, thread, 1))
        if isinstance(operand, Special):
            return self._fitted(self._special(operand.name, thread), width)
        if isinstance(operand, Symbol):
            name = self.evaluator.shared.get(operand.name)
            if name is not None:
                return self._fitted(values.leaf(Leaf("base", name), 32), width)
            if operand.name == "WARP_SZ":
                return values.constant(WARP, width)
            return values.leaf(Leaf("uniform", f"&{operand.name}"), width)
        if isinstance(operand, Address):
            base = self.read(operand.base, thread, width)
            return values.binary("add", base, values.constant(operand.offset, width))
        return self.fresh(width)

    def _register(self, register: Register, thread: int) -> Expression:
        key = (register.name, thread)
        found = self.registers.get(key)
        if found is None:
            found = self.registers[key] = self.fresh(width_of(register.type))
        return found

    def _fitted(self, value: Expression, width: int) -> Expression:
        if value.width == width:
            return value
        if value.width > width:
            return self.values.extract(value, 0, width)
        return self.values.extend(value, width, False)

    def _special(self, name: str, thread: int) -> Expression:
        values, (x, y, _) = self.values, self.block
        family, _, axis = name.partition(".")
        lane = thread % WARP
        known = {
            "tid.x": thread % x,
            "tid.y": thread // x % y,
            "tid.z": thread // (x * y),
            "laneid": lane,
            "lanemask_eq": 1 << lane,
            "lanemask_lt": (1 << lane) - 1,
            "lanemask_le": (2 << lane) - 1,
            "lanemask_gt": (1 << WARP) - (2 << lane),
            "lanemask_ge": (1 << WARP) - (1 << lane),
        }
        if name in known:
            return values.constant(known[name], 32)
        if family == "ntid" and axis in ("x", "y", "z"):
            return values.constant(self.block["xyz".index(axis)], 32)
        if family in ("ctaid", "nctaid"):
            return values.leaf(Leaf("uniform", name), 32)
        return self.fresh(64 if name.endswith("64") else 32)

    def write(self, operand: Operand, thread: int, value: Expression) -> None:
        """Assigns a register."""
        if isinstance(operand, Register):
            self.assign((operand.name, thread), self._fitted(value, max(width_of(operand.type), 1)))

    def assign(self, key: tuple[str, int], value: Expression) -> None:
        """Gives a register of a thread a value, and keeps what it held before."""
        if self.journals:
            self.journals[-1].setdefault(key, self.registers.get(key))
        self.registers[key] = value

    def held(self, instruction: Instruction, thread: int) -> Expression:
        """The condition that an instruction is guarded by."""
        if instruction.guard is None:
            return self.values.constant(1, 1)
        found = self.read(instruction.guard, thread, 1)
        return self.values.invert(found) if instruction.guard_negated else found

    # ---- instructions

    def execute(self, instruction: Instruction, place: Place, threads: Sequence[int]) -> None:
        """Carries out one instruction for some threads."""
        if time.thread_time() > self.end:
            raise Undetermined("time is up")
        if instruction.name == "shfl":
            self._shuffle(instruction, threads)
        elif instruction.name == "vote":
            self._vote(instruction, threads)
        elif computes(instruction):
            for thread in threads:
                self._guarded(instruction, thread, self._compute(instruction, thread))
        else:
            self._access(instruction, place, threads)

    def _guarded(self, instruction: Instruction, thread: int, found: Iterable[Expression]) -> None:
        """Assigns results, if the guard of the instruction holds."""
        held = self.held(instruction, thread)
        if held.known == 0:
            return
        for target, value in zip(destinations(instruction), found, strict=False):
            if isinstance(target, Register):
                value = self._fitted(value, max(width_of(target.type), 1))
                if held.known is None:
                    value = self.values.choose(held, value, self._register(target, thread))
                self.write(target, thread, value)

    def _compute(self, instruction: Instruction, thread: int) -> tuple[Expression, ...]:
        targets = destinations(instruction)
        if any(isinstance(each, Group) for each in instruction.operands):
            return tuple(self.fresh(_width_of(each)) for each in targets)
        arguments = tuple(
            self.read(each, thread, source_width(instruction, at))
            for at, each in enumerate(instruction.operands[1:])
        )
        key = (id(instruction), arguments)
        found = self._computed.get(key)
        if found is None:
            found = self._computed[key] = self._result(instruction, arguments, targets)
        return found if found[1] is not None else found[:1]  # type: ignore[return-value]

    def _result(
        self, instruction: Instruction, arguments: tuple[Expression, ...], targets: Sequence[Operand]
    ) -> tuple[Expression, Expression | None]:
        if instruction.name == "popc":
            counted = self.values.set_bits(arguments[0])
            if counted is not None:
                return counted, None
        value: Expression = result(self.values, instruction, arguments)
        kinds = types_of(instruction)
        if instruction.name == "cvt" and kinds[0].startswith("s") and isinstance(targets[0], Register):
            value = self.values.extend(value, max(width_of(targets[0].type), value.width), True)
        second = second_result(self.values, instruction, arguments) if len(targets) > 1 else None
        return value, second

    def _access(self, instruction: Instruction, place: Place, threads: Sequence[int]) -> None:
        """Loads, stores, atomics and everything else that is not computed."""
        accesses = effect(instruction).accesses
        space = space_of(instruction)
        if not accesses and space == "param" and instruction.name == "ld":
            for thread in threads:
                self._guarded(instruction, thread, self._parameters(instruction))
            return
        simple = instruction.name in ("ld", "st") and len(accesses) == 1 and not accesses[0].generic
        for thread in threads:
            for access in accesses:
                self._visit(instruction, place, access, thread)
            if simple and instruction.name == "ld":
                self._guarded(instruction, thread, self._load(instruction, accesses[0], thread))
            elif simple:
                self._store(instruction, place, accesses[0], thread)
            else:
                fresh = [self.fresh(_width_of(each)) for each in destinations(instruction)]
                for access in accesses:
                    if access.kind != "read":
                        self._forget(place, access)
                self._guarded(instruction, thread, fresh)

    def _parameters(self, instruction: Instruction) -> list[Expression]:
        """What a parameter holds: what is given, or one unknown number for all threads."""
        (address,) = (each for each in instruction.operands if isinstance(each, Address))
        width = width_of(types_of(instruction)[-1])
        targets = destinations(instruction)
        if not isinstance(address.base, Symbol) or len(targets) != 1:
            return [self.fresh(_width_of(each)) for each in targets]
        key = address.base.name if address.offset == 0 else f"{address.base.name}+{address.offset}"
        given = self.evaluator.launch.parameters.get(key)
        if given is not None:
            value = self.values.constant(given, width)
        else:
            value = self.values.leaf(Leaf("uniform", f"{key}:{width}"), width)
        return [self._as_loaded(value, instruction, targets[0])]

    def _as_loaded(self, value: Expression, instruction: Instruction, target: Operand) -> Expression:
        """What a load puts into a register: a small number with the sign that its type has."""
        signed = types_of(instruction)[-1].startswith("s")
        return self.values.extend(value, max(_width_of(target), value.width), signed)

    def _where(self, access: Access, thread: int) -> Expression:
        base = access.address.base
        wide = width_of(base.type) if isinstance(base, Register) else 32
        return self._fitted(self.read(access.address, thread, wide), 32)

    def placed(self, address: Expression) -> Expression:
        """An address, counted from where its variable is put. What else is computed from where a variable begins is
        not known: a compiler may put it elsewhere."""
        constant, factors = sum_parts(address)
        for atom, factor in factors.items():
            if factor == 1 and atom.operation == "leaf" and atom.leaf.kind == "base":
                rest = {each: c for each, c in factors.items() if each is not atom}
                return self.values.total(constant + self.starts[atom.leaf.name][0], rest, address.width)
        return address

    def _visit(self, instruction: Instruction, place: Place, access: Access, thread: int) -> None:
        if place not in self.wanted:
            return
        condition = self.values.binary("and", self.paths[thread], self.held(instruction, thread))
        if condition.known != 0:
            where = self._where(access, thread)
            self.visits.append(Visit(place, thread, self.interval, where, condition, access.size))

    def _load(self, instruction: Instruction, access: Access, thread: int) -> list[Expression]:
        targets = destinations(instruction)
        size, at = access.size // len(targets), self.placed(self._where(access, thread)).known
        if at is None or size > LONGEST or (self.atomics and is_strong(instruction)):
            return [self.fresh(_width_of(each)) for each in targets]
        found = []
        for number, target in enumerate(targets):
            value = self._where_it_is(self._cell(at + number * size, size), thread)
            found.append(self._as_loaded(value, instruction, target))
        return found

    def _cell(self, at: int, size: int) -> Expression:
        cell = self.memory.get(at)
        if cell is None or cell[0] != size:
            self._clear(at, size)
            cell = self.memory[at] = (size, self.fresh(8 * size))
        return cell[1]

    def _where_it_is(self, value: Expression, thread: int) -> Expression:
        """What a value that depends on conditions is where a thread is."""
        while value.operation == "choose":
            condition, yes, no = value.arguments
            held = self.under_path(condition, thread).known
            if held is None:
                return value
            value = yes if held else no
        return value

    def under_path(self, condition: Expression, thread: int) -> Expression:
        """A condition, where what brought the thread to where it is decides it."""
        path = self.paths[thread]
        if path not in self._held:
            self._held[path] = frozenset(self.values.conjuncts(path))
        held = self._held[path]
        if all(each in held for each in self.values.conjuncts(condition)):
            return self.values.constant(1, 1)
        return self.values.constant(0, 1) if self.values.invert(condition) in held else condition

    def _clear(self, at: int, size: int) -> None:
        """Forgets cells that share bytes with some."""
        for other in range(at - LONGEST + 1, at + size):
            cell = self.memory.get(other)
            if cell is not None and other + cell[0] > at:
                del self.memory[other]

    def _store(self, instruction: Instruction, place: Place, access: Access, thread: int) -> None:
        condition = self.values.binary("and", self.paths[thread], self.held(instruction, thread))
        if condition.known == 0:
            return
        at, size = self.placed(self._where(access, thread)).known, access.size // len(access.values)
        if at is None or size > LONGEST:
            self._forget(place, access)
            return
        for number, operand in enumerate(access.values):
            here = at + number * size
            value = self.read(operand, thread, 8 * size)
            if condition.known is None:
                value = self.values.choose(condition, value, self._cell(here, size))
            self._clear(here, size)
            self.memory[here] = (size, value)

    def _forget(self, place: Place, access: Access) -> None:
        """After a store to a place that is not known: what its variables hold is not known either."""
        for each in self.addresses.footprints(place, access):
            start, size = self.starts[each.variable]
            for at in [at for at in self.memory if start <= at < start + size]:
                del self.memory[at]

    # ---- what the lanes of a warp tell each other

    def _shuffle(self, instruction: Instruction, threads: Sequence[int]) -> None:
        here = set(threads)
        found = [self._from_lane(instruction, thread, here) for thread in threads]
        for thread, values in zip(threads, found, strict=True):
            self._guarded(instruction, thread, values)

    def _from_lane(self, instruction: Instruction, thread: int, here: Collection[int]) -> list[Expression]:
        """What a thread gets from another lane; unknown where that may not take part, or is not in the mask."""
        step, clamp = (self.read(each, thread, 32).known for each in instruction.operands[2:4])
        far = step is not None and step >= WARP and "idx" not in instruction.parts
        if step is None or clamp is None or far or instruction.guard is not None:
            return [self.fresh(_width_of(each)) for each in destinations(instruction)]
        source, fine = _shuffled(instruction.parts, thread % WARP, step, clamp)
        other = thread - thread % WARP + source
        present = other in here and self.paths[other] in (self.values.constant(1, 1), self.paths[thread])
        named = (self._mask(instruction, thread, 4).known or 0) >> source & 1
        value = self.read(instruction.operands[1], other, 32) if present and named else self.fresh(32)
        return [value, self.values.constant(int(fine), 1)]

    def _mask(self, instruction: Instruction, thread: int, at: int) -> Expression:
        """The lanes that an instruction of a warp names; of one that names none, those that happen to be there."""
        operands = instruction.operands
        return self.read(operands[at], thread, 32) if len(operands) > at else self.fresh(32)

    def _vote(self, instruction: Instruction, threads: Sequence[int]) -> None:
        """A ballot of all lanes has the condition of each; of other votes nothing is known but that lanes with one
        mask get one answer."""
        answers: dict[tuple[int, Expression], Expression] = {}
        lanes: dict[tuple[int, Expression], list[int]] = {}
        asked = []
        for thread in threads:
            mask = self._mask(instruction, thread, 2)
            asked.append((thread // WARP, mask if instruction.guard is None else self.fresh(32)))
            lanes.setdefault(asked[-1], []).append(thread)
        for key, those in lanes.items():
            answers[key] = self._answer(instruction, those, key[1])
        for thread, key in zip(threads, asked, strict=True):
            self._guarded(instruction, thread, [answers[key]])

    def _answer(self, instruction: Instruction, threads: Sequence[int], mask: Expression) -> Expression:
        """What threads of one warp that name the same lanes are told."""
        width = _width_of(destinations(instruction)[0])
        count = min(WARP, self.count - threads[0] // WARP * WARP)
        every = len(threads) == count and len({self.paths[each] for each in threads}) == 1
        if "ballot" not in instruction.parts or mask.known != (1 << WARP) - 1 or not every:
            return self.fresh(width)
        bits = {each % WARP: self.read(instruction.operands[1], each, 1) for each in threads}
        return self.values.of_bits(bits, width)


def _width_of(operand: Operand) -> int:
    return max(width_of(operand.type), 1) if isinstance(operand, Register) else 32


def _placed(evaluator: Evaluator) -> dict[str, tuple[int, int]]:
    """Where each shared variable begins, and how many bytes it has."""
    found: dict[str, tuple[int, int]] = {}
    at = START
    for name in sorted(set(evaluator.shared.values())):
        size = evaluator.sizes.get(name) or DYNAMIC_BYTES
        found[name] = (at, size)
        at += (size + 2 * GAP - 1) // GAP * GAP
    return found


def _shuffled(parts: Sequence[str], lane: int, step: int, clamp: int) -> tuple[int, bool]:
    """The lane that a `shfl` takes its value from, and whether that is in range."""
    segment = clamp >> 8 & 31
    last = (lane & segment) | (clamp & 31 & ~segment)
    if "up" in parts:
        source = lane - step
        fine = source >= last
    else:
        moved = {"down": lane + step, "bfly": lane ^ step, "idx": (lane & segment) | (step & 31 & ~segment)}
        source = next(value for name, value in moved.items() if name in parts)
        fine = source <= last
    return (source if fine else lane), fine
