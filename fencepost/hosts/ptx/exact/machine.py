"""The threads of a block on their way through a kernel: registers, branches, and who runs next."""

from __future__ import annotations

import time
from bisect import bisect_left

import numpy as np

from fencepost.hosts.ptx.effects import destinations, space_of
from fencepost.hosts.ptx.exact.clocks import Clocks
from fencepost.hosts.ptx.exact.needed import Needed, sources
from fencepost.hosts.ptx.exact.problems import NotExact
from fencepost.hosts.ptx.exact.shadow import Shadow
from fencepost.hosts.ptx.exact.values import Flags, MadeUp, is_exact, items, mix, mixed, results, seed_of
from fencepost.hosts.ptx.flow import Flow
from fencepost.hosts.ptx.instructions import computes, types_of
from fencepost.hosts.ptx.intervals import Place
from fencepost.hosts.ptx.lanes import Bits
from fencepost.hosts.ptx.module import (
    Address,
    Group,
    Instruction,
    Module,
    Operand,
    Register,
    Routine,
    Symbol,
    width_of,
)
from fencepost.hosts.ptx.simulate import DONE, Setup, Simulation, Threads

FIRST = 1_000_000
"""More than the instructions of a block."""
PARAMETERS, PARAMETER_ROOM = 1 << 28, 1 << 16
"""Where parameters lie in memory; the addresses have 32 bits."""
ALONE = {"cluster_nctarank": 1, "cluster_nctaid": 1, "nclusterid": 1}
"""Special registers of a block that is a cluster by itself; the others are zero."""


class Machine(Simulation):
    """Registers and branches. Values that depend on loaded data are made up, and no way is chosen by them."""

    def __init__(self, module: Module, routine: Routine, flow: Flow, setup: Setup, needed: Needed) -> None:
        super().__init__(module, routine, flow, setup)
        self.needed = needed
        self.made_up = MadeUp(self.count)
        self.clocks = Clocks(self.count)
        self.shadow = Shadow(self.clocks, int(self.memory.shared.size))
        self.shared_made_up = np.ones(self.memory.shared.size, dtype=bool)
        """Bytes that depend on data, or that nothing was stored in."""
        self.local_known: set[tuple[int, int]] = set()
        self.passed = np.zeros(self.count, dtype=np.int64)
        """How many barriers and waits each thread has passed."""
        self.positions = np.array([flow.position.get(block, 0) for block in range(len(flow.blocks))])
        self.programs = [self._program(number) for number in range(len(flow.blocks))]
        self.deadline = time.thread_time() + setup.seconds
        self.steps = 0
        self.rounds = np.zeros((len(flow.blocks), self.count), dtype=np.int32)
        """How often each thread has been in each block."""
        self._regions: dict[int, set[int]] = {}
        self._numbers: dict[Place, int] = {}

    def _program(self, number: int) -> list[tuple[int, Instruction]]:
        """The instructions of a block that are carried out."""
        return [
            (index, instruction)
            for index, instruction in enumerate(self.flow.blocks[number].instructions)
            if Place(number, index) in self.needed.places
            or (instruction.name in ("ret", "exit", "trap") and instruction.guard is None)
        ]

    def most_rounds(self) -> int:
        """How often a thread went round a loop with barriers or accesses."""
        return int(self.rounds[sorted(self.needed.relevant)].max(initial=0))

    def live(self) -> Threads:
        """Threads that have not ended."""
        found: Threads = np.flatnonzero(self.state != DONE)
        return found

    def next_group(self, running: Threads) -> Threads:
        """The threads that are furthest behind, all at one instruction."""
        order = self.positions[self.blocks[running]] * FIRST + self.indices[running]
        found: Threads = running[order == order.min()]
        return found

    def advance(self, who: Threads) -> None:
        """Runs a group to the end of its block, or to where it waits."""
        self.steps += 1
        if self.steps % 16 == 0 and time.thread_time() > self.deadline:
            raise NotExact("the run did not end in time")
        number, index = int(self.blocks[who[0]]), int(self.indices[who[0]])
        program = self.programs[number]
        if index == 0:
            self.rounds[number, who] += 1
        for at in range(bisect_left(program, index, key=lambda each: each[0]), len(program)):
            index, instruction = program[at]
            if instruction.name in ("ret", "exit", "trap"):
                self.state[who] = DONE
                self.ended()
                return
            place = Place(number, index)
            self.blocks[who], self.indices[who] = number, index
            who = self.carry_out(instruction, place, who)
            if not who.size:
                return
        self._leave(number, who)
        if (self.state[who] == DONE).any():
            self.ended()

    def ended(self) -> None:
        """Some threads have ended; who waits for all others may go on."""

    def carry_out(self, instruction: Instruction, place: Place, who: Threads) -> Threads:
        """One instruction; the threads that go on behind it at once."""
        raise NotImplementedError

    # ---- branches

    def _leave(self, number: int, who: Threads) -> None:
        block = self.flow.blocks[number]
        decides = len(block.successors) > 1
        if decides and number not in self.needed.branches:
            self._skip(number, who)
            return
        operand = block.index if block.index is not None else block.guard
        if decides and operand is not None and self.made_up.of(operand, who).any():
            if self._region(number) & self.needed.relevant:
                raise NotExact(
                    "a branch that decides over shared memory or a barrier depends on data",
                    self._last(number),
                )
            self._forget(number, who)
            self._skip(number, who)
            return
        super()._leave(number, who)

    def _last(self, number: int) -> Place:
        return Place(number, max(len(self.flow.blocks[number].instructions) - 1, 0))

    def _skip(self, number: int, who: Threads) -> None:
        """Goes where all ways behind a branch meet again."""
        if self._region(number) & self.needed.relevant:
            raise NotExact("a branch whose ways do not meet again", self._last(number))
        meet = self.flow.ipdom[number]
        self.indices[who] = 0
        if meet < 0 or meet == number or meet == self.flow.exit:
            self.state[who] = DONE
        else:
            self.blocks[who] = meet
            self.count_iterations(who)

    def _region(self, number: int) -> set[int]:
        """The blocks between a branch and where its ways meet."""
        if number in self._regions:
            return self._regions[number]
        meet = self.flow.ipdom[number]
        found: set[int] = set()
        todo = list(self.flow.successors[number])
        while todo:
            block = todo.pop()
            if block != meet and block not in found:
                found.add(block)
                todo += self.flow.successors[block]
        self._regions[number] = found
        return found

    def _forget(self, number: int, who: Threads) -> None:
        """What is assigned between a branch and where its ways meet depends on what is read there, in some way."""
        inside = [
            self.flow.blocks[place.block].instructions[place.index]
            for place in sorted(self.needed.places, key=lambda each: (each.block, each.index))
            if place.block in self._region(number)
        ]
        targets = {item for each in inside for target in results(each) for item in items(target)}
        if not all(computes(each) for each in inside):
            for target in targets:
                self.make_up(target, who)
            return
        read = sorted({name for each in inside for name in sources(each)})
        guard = self.flow.blocks[number].guard
        total = np.full(who.shape, np.uint64(number), dtype=np.uint64)
        for name in [*read, *([] if guard is None else [guard.name])]:
            whole = self.registers.get(name)
            total = mix(total + (np.zeros(who.shape, dtype=np.uint64) if whole is None else whole[who]))
        for target in targets:
            self.write(target, who, mix(total + seed_of(str(target))))
            self.made_up.set(target, who, np.ones(who.shape, dtype=bool))

    # ---- values

    def special(self, name: str, who: Threads) -> Bits:
        """A special register; the block is a cluster by itself."""
        family, _, axis = name.partition(".")
        if family == "nctaid":
            least = max(self.setup.blocks, self.setup.parameters.get(f"ctaid.{axis}", 0) + 1)
            return np.full(who.shape, np.uint64(least), dtype=np.uint64)
        if family in ALONE:
            return np.full(who.shape, np.uint64(ALONE[family]), dtype=np.uint64)
        return super().special(name, who)

    def _symbol(self, symbol: Symbol) -> int:
        names = [each.name for each in self.routine.parameters]
        if symbol.name in names:
            return PARAMETERS + names.index(symbol.name) * PARAMETER_ROOM
        return super()._symbol(symbol)

    def parameter(self, name: str, offset: int, kind: str) -> int:
        """A parameter; one that addresses or branches depend on is a number, even if it has 64 bits."""
        key = name if offset == 0 else f"{name}+{offset}"
        if (
            key not in self.setup.parameters
            and key in self.needed.parameters
            and not self.needed.shared_pointers
        ):
            return self.setup.number
        return super().parameter(name, offset, kind)

    def make_up(self, target: Operand, who: Threads) -> None:
        """Gives a register a value of its own in every thread."""
        for item in items(target):
            self.write(item, who, self.made_up.fresh(who))
            self.made_up.set(item, who, np.ones(who.shape, dtype=bool))

    def certain(self, operand: Operand, who: Threads, width: int, place: Place) -> Bits:
        """The value of an operand that must not depend on data."""
        if self.made_up.of(operand, who).any():
            raise NotExact("an address, a predicate or a barrier's operand depends on data", place)
        return self.read(operand, who, width).bits

    def addresses(self, address: Address, who: Threads, place: Place) -> Bits:
        """Where an address points, for each thread."""
        wide = width_of(address.base.type) if isinstance(address.base, Register) else 64
        return self.certain(address, who, wide, place)

    def held(self, instruction: Instruction, who: Threads, place: Place) -> Threads:
        """The threads whose predicate holds."""
        if instruction.guard is None:
            return who
        bits = self.certain(instruction.guard, who, 1, place) != 0
        found: Threads = who[bits != instruction.guard_negated]
        return found

    def compute(self, instruction: Instruction, place: Place, who: Threads) -> None:
        """An instruction that touches neither shared memory nor other threads."""
        if instruction.guard is not None:
            unsure = self.made_up.of(instruction.guard, who)
            for target in results(instruction):
                self.make_up(target, who[unsure])
            who = who[~unsure]
            held = self.read(instruction.guard, who, 1).bits != 0
            who = who[held != instruction.guard_negated]
        if not who.size:
            return
        if computes(instruction):
            self._computed(instruction, who)
        elif instruction.name in ("ld", "ldu"):
            self._load_elsewhere(instruction, place, who)
        elif instruction.name == "st":
            self._store_elsewhere(instruction, who)
        else:
            for target in results(instruction):
                self.make_up(target, who)

    def _computed(self, instruction: Instruction, who: Threads) -> None:
        operands = instruction.operands[1:]
        unsure = self.made_up.any_of(operands, who)
        if instruction.name == "selp":
            unsure = self._chosen(instruction, who)
        exact = is_exact(instruction)
        targets = [
            item
            for each in results(instruction)
            for item in (each.items if isinstance(each, Group) else (each,))
        ]
        if exact:
            self._compute(instruction, who)
        if instruction.name not in ("mov", "selp") and (not exact or unsure.any()):
            if not exact:
                unsure = np.ones(who.shape, dtype=bool)
            bits = mixed(instruction, [self.read(each, who, 64).bits for each in operands])[unsure]
            for number, target in enumerate(targets):
                self.write(target, who[unsure], bits + np.uint64(number))
        for target in targets:
            self.made_up.set(target, who, unsure)

    def _chosen(self, instruction: Instruction, who: Threads) -> Flags:
        """Whether what a `selp` chooses is made up, or the choice itself."""
        _, yes, no, condition = instruction.operands
        bits = self.read(condition, who, 1).bits != 0
        chosen = np.where(bits, self.made_up.of(yes, who), self.made_up.of(no, who))
        found: Flags = chosen | self.made_up.of(condition, who)
        return found

    def _load_elsewhere(self, instruction: Instruction, place: Place, who: Threads) -> None:
        """From parameters, registers that were spilled, or global memory: the last is made up."""
        space = space_of(instruction)
        address = next(each for each in instruction.operands if isinstance(each, Address))
        targets = destinations(instruction)
        if space in ("param", "local"):
            self._load(instruction, place, who)
            kind = types_of(instruction)[-1]
            for number, target in enumerate(targets):
                unsure = np.zeros(who.shape, dtype=bool)
                if space == "local":
                    size = width_of(kind) // 8
                    where = self.addresses(address, who, place) + np.uint64(number * size)
                    unsure = np.array(
                        [self._is_made_up(int(t), int(a), size) for t, a in zip(who, where, strict=True)]
                    )
                self.made_up.set(target, who, unsure)
            return
        if not self.needed.values:
            for target in targets:
                self.make_up(target, who)
            return
        bits = self.read(address, who, 64).bits + mix(self.passed[who].astype(np.uint64))
        for number, target in enumerate(targets):
            self.write(target, who, mix(bits + seed_of(f"{place} {number}")))
            self.made_up.set(target, who, np.ones(who.shape, dtype=bool))

    def _is_made_up(self, thread: int, address: int, size: int) -> bool:
        """Whether some byte of local memory holds something that is not known."""
        return any((thread, address + at) not in self.local_known for at in range(size))

    def _store_elsewhere(self, instruction: Instruction, who: Threads) -> None:
        """To local memory; what a generic address overwrites there is not known any more."""
        space = space_of(instruction)
        if space not in ("local", None):
            return
        address = next(each for each in instruction.operands if isinstance(each, Address))
        where = self.read(address, who, 64).bits
        if space == "local":
            self._store(instruction, Place(0, 0), who)
        last = instruction.operands[-1]
        size = width_of(types_of(instruction)[-1]) // 8
        for number, item in enumerate(last.items if isinstance(last, Group) else (last,)):
            unsure = self.made_up.of(item, who) if space == "local" else np.ones(who.shape, dtype=bool)
            for thread, at, made_up in zip(who, where, unsure, strict=True):
                start = int(at) + number * size
                touched = {(int(thread), each) for each in range(start, start + size)}
                (self.local_known.difference_update if made_up else self.local_known.update)(touched)

    # ---- places as numbers

    def number_of(self, place: Place) -> int:
        """A place as a small number."""
        return self._numbers.setdefault(place, len(self._numbers))

    def place_of(self, number: int) -> Place:
        """The place of a number."""
        return list(self._numbers)[number]
