"""The threads of a block, or of the blocks of a cluster, on their way: registers, branches, and who runs next.

A shared address has the rank of its block from bit 24 on, as GPUs have it: an address of a thread's own block is one
among those of the cluster as well, and `mapa` replaces the rank. The generic address of a byte is the same number.
"""

from __future__ import annotations

import time
from bisect import bisect_left

import numpy as np

from fencepost.hosts.ptx.effects import destinations, space_of
from fencepost.hosts.ptx.exact.address_slice import Needed
from fencepost.hosts.ptx.exact.clocks import Clocks
from fencepost.hosts.ptx.exact.decisions import Decisions
from fencepost.hosts.ptx.exact.problems import ByData, NotExact
from fencepost.hosts.ptx.exact.shadow import Shadow
from fencepost.hosts.ptx.exact.values import (
    OF_CLUSTER,
    Flags,
    MadeUp,
    is_exact,
    items,
    known,
    mix,
    mixed,
    named,
    registers_read,
    results,
    seed_of,
)
from fencepost.hosts.ptx.flow import Flow
from fencepost.hosts.ptx.instructions import computes, types_of
from fencepost.hosts.ptx.intervals import Place
from fencepost.hosts.ptx.lanes import Bits, Lane
from fencepost.hosts.ptx.module import (
    Address,
    Group,
    Instruction,
    Module,
    Negated,
    Operand,
    Register,
    Routine,
    Special,
    Symbol,
    width_of,
)
from fencepost.hosts.ptx.simulate import Simulation
from fencepost.hosts.ptx.simulated_instructions import is_simulated
from fencepost.hosts.ptx.simulation_setup import DONE, Setup, Threads

FIRST = 1_000_000
"""More than the instructions of a block."""
PARAMETERS, PARAMETER_ROOM = 1 << 28, 1 << 16
"""Where parameters lie in memory; the addresses have 32 bits."""
NEVER_WRITTEN = np.uint64(0)
"""The identity of bytes of shared memory that nothing was stored in."""
CHANGING = {"volatile", "relaxed", "acquire", "mmio"}
"""Loads of what other threads may write meanwhile."""
RANK_BIT = 24
"""Where the rank of the block begins in an address of shared memory."""
SHARED_WINDOW = np.uint64(16 << RANK_BIT)
"""Where addresses of shared memory end: a cluster has at most sixteen blocks."""
NOWHERE = np.uint64(1 << 62)
"""An address of shared memory that no block has."""


class Machine(Simulation):
    """Registers and branches. Values that depend on loaded data are made up, and no way is chosen by them."""

    def __init__(self, module: Module, routine: Routine, flow: Flow, setup: Setup, needed: Needed) -> None:
        super().__init__(module, routine, flow, setup)
        self.needed = needed
        self.decisions = Decisions()
        self.ranks = np.arange(self.count) // self.per_block
        """By thread, the rank of its block in the cluster."""
        self.made_up = MadeUp(self.ranks, self._unknown_specials())
        self.clocks = Clocks(self.count, needed.ordered_apart, needed.relaxed, needed.tensors)
        span = self.memory.span
        self.shadows = [Shadow(self.clocks, span, rank * span) for rank in range(self.cluster_size)]
        self.shared_made_up = np.ones(self.memory.shared.size, dtype=bool)
        """Bytes that depend on data, or that nothing was stored in."""
        self.shared_identities = np.full(self.memory.shared.size, NEVER_WRITTEN, dtype=np.uint64)
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

    def _unknown_specials(self) -> frozenset[str]:
        """Special registers that may have any value; what the cluster decides over is known, if there is one."""
        alone = self.cluster_size == 1
        found = self.needed.unknown_specials
        return frozenset(each for each in found if alone or not each.startswith(OF_CLUSTER))

    def most_rounds(self) -> int:
        """How often a thread went round a loop with barriers or accesses."""
        return int(self.rounds[sorted(self.needed.relevant)].max(initial=0))

    def live(self, rank: int | None = None) -> Threads:
        """Threads that have not ended, of one block or of all."""
        found: Threads = np.flatnonzero((self.state != DONE) & (rank is None or self.ranks == rank))
        return found

    def by_block(self, who: Threads) -> list[tuple[int, Threads]]:
        """Threads, block by block, with the rank of each."""
        if self.cluster_size == 1:
            return [(0, who)] if who.size else []
        ranks = self.ranks[who]
        return [(int(rank), who[ranks == rank]) for rank in np.unique(ranks)]

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

    def ended(self) -> list[Threads]:
        """Some threads have ended; who waits for all others, and can go on."""
        raise NotImplementedError

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
            if not self.region_of(number) & self.needed.relevant:
                self._forget(number, who)
                self._skip(number, who)
                return
            why = "a branch that decides over shared memory or a barrier depends on data"
            if block.index is not None:
                raise NotExact(why, self._last(number))
            self._settle(operand, who, self._last(number), why)
        super()._leave(number, who)

    def _settle(self, predicate: Register, who: Threads, place: Place, why: str) -> None:
        """Gives predicates that depend on data the value that they have in this run."""
        some = who[self.made_up.of(predicate, who)]
        bits = self.decisions.of(self.identity(predicate, some), place, why)
        self.write(predicate, some, bits.astype(np.uint64))
        self.made_up.set(predicate, some, np.zeros(some.shape, dtype=bool))

    def _last(self, number: int) -> Place:
        return Place(number, max(len(self.flow.blocks[number].instructions) - 1, 0))

    def _skip(self, number: int, who: Threads) -> None:
        """Goes where all ways behind a branch meet again."""
        if self.region_of(number) & self.needed.relevant:
            raise NotExact("a branch whose ways do not meet again", self._last(number))
        meet = self.flow.ipdom[number]
        self.indices[who] = 0
        if meet < 0 or meet == number or meet == self.flow.exit:
            self.state[who] = DONE
        else:
            self.blocks[who] = meet
            self.count_iterations(who)

    def region_of(self, number: int) -> set[int]:
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
        """What is assigned between a branch and where its ways meet depends on what is read there, in some way.

        And on what it was before: not every way assigns it."""
        inside = [
            self.flow.blocks[place.block].instructions[place.index]
            for place in sorted(self.needed.places, key=lambda each: (each.block, each.index))
            if place.block in self.region_of(number)
        ]
        targets = {item for each in inside for target in results(each) for item in items(target)}
        if not all(computes(each) for each in inside):
            for target in targets:
                self.make_up(target, who)
            return
        read = {name: each for one in inside for name, each in registers_read(one).items()}
        decides = [self.flow.blocks[number].guard, self.flow.blocks[number].index]
        total = np.full(who.shape, np.uint64(number), dtype=np.uint64)
        for register in [*(read[name] for name in sorted(read)), *(each for each in decides if each)]:
            total = mix(total + self.identity(register, who))
        # All of the old values first: the new ones depend on them, not on each other.
        found = {each: mix(total + seed_of(str(each)) + mix(self.identity(each, who))) for each in targets}
        for target, identities in found.items():
            self.made_up.set(target, who, np.ones(who.shape, dtype=bool), identities)

    # ---- values

    def special(self, name: str, who: Threads) -> Bits:
        """A special register. A block that no cluster was said of is one by itself."""
        family, _, axis = name.partition(".")
        at = "xyz".find(axis) if axis else 0
        x, y, _ = cluster = self.setup.cluster
        ranks = self.ranks[who]
        inside = (ranks % x, ranks // x % y, ranks // (x * y))[at]
        first = self.setup.parameters.get(f"ctaid.{axis}", 0) // cluster[at]
        most = max(-(-self.setup.blocks // cluster[at]), first + 1)
        numbers = {
            "ctaid": first * cluster[at] + inside,
            "nctaid": most * cluster[at],
            "cluster_ctaid": inside,
            "cluster_nctaid": cluster[at],
            "clusterid": first,
            "nclusterid": most,
            "cluster_ctarank": ranks,
            "cluster_nctarank": self.cluster_size,
            "is_explicit_cluster": self.cluster_size > 1,
        }
        if family in numbers:
            return np.broadcast_to(np.asarray(numbers[family], dtype=np.uint64), who.shape).copy()
        return super().special(name, who)

    def read(self, operand: Operand, who: Threads, width: int) -> Lane:
        """The value of an operand; a shared variable lies at another address in every block."""
        found = super().read(operand, who, width)
        if isinstance(operand, Symbol) and operand.name in self.names and self.cluster_size > 1:
            return Lane(found.bits + (self.ranks[who].astype(np.uint64) << np.uint64(RANK_BIT)), width)
        return found

    def cells(self, addresses: Bits) -> Bits:
        """Where shared memory has an address: the blocks lie one after the other."""
        if self.cluster_size == 1:
            return addresses
        ranks, offsets = addresses >> np.uint64(RANK_BIT), addresses & np.uint64((1 << RANK_BIT) - 1)
        fine = (ranks < self.cluster_size) & (offsets < self.memory.span)
        return np.where(fine, ranks * np.uint64(self.memory.span) + offsets, NOWHERE)

    def is_shared(self, addresses: Bits) -> Flags:
        """Which generic addresses point to shared memory."""
        if self.cluster_size == 1:
            return addresses < np.uint64(self.memory.shared.size)
        return addresses < SHARED_WINDOW

    def keep_to_own_block(self, cells: Bits, who: Threads, place: Place) -> None:
        """Refuses places in another block, where an instruction reaches the memory of its thread's block alone."""
        ranks = cells // np.uint64(self.memory.span)
        if ((ranks != self.ranks[who].astype(np.uint64)) & (ranks < self.cluster_size)).any():
            raise NotExact(
                "an address in another block, which this form does not reach (`.shared::cta`)", place
            )

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
            self.made_up.set(item, who, np.ones(who.shape, dtype=bool), self.made_up.fresh(who))

    def identity(self, operand: Operand, who: Threads) -> Bits:
        """A number for the value of an operand: threads that have the same number have the same value."""
        if isinstance(operand, Group):
            total = np.full(who.shape, np.uint64(len(operand.items)), dtype=np.uint64)
            for item in operand.items:
                total = mix(total + self.identity(item, who))
            return total
        flags = self.made_up.of(operand, who)
        found = known(self.read(operand, who, 64).bits)
        if not flags.any():
            return found
        if isinstance(operand, Register | Special):
            inner = self.made_up.identity(operand, who)
        elif isinstance(operand, Negated):
            inner = mix(self.identity(operand.register, who) + seed_of("not"))
        else:
            assert isinstance(operand, Address)
            inner = mix(self.identity(operand.base, who) + np.uint64(operand.offset % (1 << 64)))
        return np.where(flags, inner, found)

    def certain(self, operand: Operand, who: Threads, width: int, place: Place) -> Bits:
        """The value of an operand that must not depend on data."""
        if self.made_up.of(operand, who).any():
            raise ByData("an address or a barrier's operand depends on data", place)
        return self.read(operand, who, width).bits

    def addresses(self, address: Address, who: Threads, place: Place) -> Bits:
        """Where an address points, for each thread."""
        wide = width_of(address.base.type) if isinstance(address.base, Register) else 64
        return self.certain(address, who, wide, place)

    def shared_addresses(self, address: Address, who: Threads, place: Place, near: bool = False) -> Bits:
        """The places of shared memory that an address points to; `near`: in the block of each thread alone."""
        found = self.cells(self.addresses(address, who, place))
        if near:
            self.keep_to_own_block(found, who, place)
        return found

    def held(self, instruction: Instruction, who: Threads, place: Place) -> Threads:
        """The threads whose predicate holds."""
        if instruction.guard is None:
            return who
        self._settle(instruction.guard, who, place, "the predicate of an access or a barrier depends on data")
        bits = self.read(instruction.guard, who, 1).bits != 0
        found: Threads = who[bits != instruction.guard_negated]
        return found

    def compute(self, instruction: Instruction, place: Place, who: Threads) -> None:
        """An instruction that touches neither shared memory nor other threads."""
        if instruction.guard is not None:
            unsure = self.made_up.of(instruction.guard, who)
            if unsure.any():
                self._perhaps(instruction, place, who[unsure])
            who = who[~unsure]
            held = self.read(instruction.guard, who, 1).bits != 0
            who = who[held != instruction.guard_negated]
        if who.size:
            self.unguarded(instruction, place, who)

    def _perhaps(self, instruction: Instruction, place: Place, who: Threads) -> None:
        """An instruction whose predicate is made up: the results are new or old ones, depending on it."""
        guard = instruction.guard
        targets = [item for target in results(instruction) for item in items(target)]
        if not computes(instruction) and not self._loads_data(instruction):
            for target in targets:
                self.make_up(target, who)
            return
        assert guard is not None
        before = [self.identity(each, who) for each in targets]
        decides = mix(self.identity(guard, who) + np.uint64(instruction.guard_negated))
        self.unguarded(instruction, place, who)
        for target, old in zip(targets, before, strict=True):
            either = mix(decides + mix(old) + mix(mix(self.identity(target, who))))
            self.made_up.set(target, who, np.ones(who.shape, dtype=bool), either)

    def unguarded(self, instruction: Instruction, place: Place, who: Threads) -> None:
        """An instruction that these threads carry out."""
        if instruction.name in ("mapa", "getctarank"):
            self._map(instruction, who)
        elif computes(instruction):
            self._computed(instruction, who)
        elif instruction.name in ("ld", "ldu"):
            self._load_elsewhere(instruction, place, who)
        elif instruction.name == "st":
            self._store_elsewhere(instruction, who)
        else:
            for target in results(instruction):
                self.make_up(target, who)

    def _map(self, instruction: Instruction, who: Threads) -> None:
        """`mapa` gives an address the rank of another block, `getctarank` tells the rank."""
        target, address, *rank = instruction.operands
        unsure = self.made_up.any_of((address, *rank), who)
        bits = self.read(address, who, 64).bits
        if rank:
            # A rank that no cluster has must not become another in 32 bits.
            far = np.minimum(self.read(rank[0], who, 32).bits, np.uint64(255))
            bits = (bits & np.uint64((1 << RANK_BIT) - 1)) | far << np.uint64(RANK_BIT)
        else:
            bits = bits >> np.uint64(RANK_BIT)
        made = mixed(instruction, [self.identity(each, who) for each in (address, *rank)])
        self.write(target, who, bits)
        self.made_up.set(target, who, unsure, made)

    def _computed(self, instruction: Instruction, who: Threads) -> None:
        operands = instruction.operands[1:]
        target, source = instruction.operands[0], operands[0]
        if instruction.name == "mov" and isinstance(target, Group) and isinstance(source, Group):
            found = [(self.made_up.of(each, who), self.identity(each, who)) for each in source.items]
            self._compute(instruction, who)
            for item, (flags, identities) in zip(target.items, found, strict=False):
                self.made_up.set(item, who, flags, identities)
            return
        unsure = np.ones(who.shape, dtype=bool)
        exact = is_exact(instruction) or (self.setup.concrete and is_simulated(instruction))
        if exact:
            unsure = self.made_up.any_of(operands, who)
            if instruction.name == "selp":
                unsure = self._chosen(instruction, who)
        made = self._identities(instruction, who) if unsure.any() else None
        if exact:
            self._compute(instruction, who)
        for number, each in enumerate(item for one in results(instruction) for item in items(one)):
            own = None if made is None else made + np.uint64(number)
            self.made_up.set(each, who, unsure, own)

    def _identities(self, instruction: Instruction, who: Threads) -> Bits:
        """The identities of what an instruction computes; its first result has these, the others the next ones."""
        operands = instruction.operands[1:]
        found = [self.identity(each, who) for each in operands]
        if instruction.name == "mov" and not isinstance(instruction.operands[0], Group):
            return found[0]
        made = mixed(instruction, found)
        if instruction.name == "selp":
            condition = self.read(operands[2], who, 1).bits != 0
            chosen = np.where(condition, found[0], found[1])
            made = np.where(self.made_up.of(operands[2], who), made, chosen)
        return made

    def _chosen(self, instruction: Instruction, who: Threads) -> Flags:
        """Whether what a `selp` chooses is made up, or the choice itself."""
        _, yes, no, condition = instruction.operands
        bits = self.read(condition, who, 1).bits != 0
        chosen = np.where(bits, self.made_up.of(yes, who), self.made_up.of(no, who))
        found: Flags = chosen | self.made_up.of(condition, who)
        return found

    def _loads_data(self, instruction: Instruction) -> bool:
        """Whether something is loaded that is neither a parameter nor a thread's own."""
        return instruction.name in ("ld", "ldu") and space_of(instruction) not in ("param", "local")

    def _load_elsewhere(self, instruction: Instruction, place: Place, who: Threads) -> None:
        """From parameters, registers that were spilled, or global memory: the last is made up."""
        space = space_of(instruction)
        if space == "param":
            self._load_parameter(instruction, place, who)
        elif space == "local":
            self._load_local(instruction, place, who)
        else:
            self._load_data(instruction, place, who)

    def _load_parameter(self, instruction: Instruction, place: Place, who: Threads) -> None:
        """A number, where the way of the threads depends on it; else any value, the same for all threads."""
        self._load(instruction, place, who)
        address = next(each for each in instruction.operands if isinstance(each, Address))
        assert isinstance(address.base, Symbol)
        key = address.base.name + (f"+{address.offset}" if address.offset else "")
        unsure = np.full(who.shape, self.needed.is_unknown(key))
        for number, target in enumerate(destinations(instruction)):
            self.made_up.set(target, who, unsure, named(f"{key} {number}", who))

    def _load_local(self, instruction: Instruction, place: Place, who: Threads) -> None:
        self._load(instruction, place, who)
        address = next(each for each in instruction.operands if isinstance(each, Address))
        size = width_of(types_of(instruction)[-1]) // 8
        where = self.addresses(address, who, place)
        for number, target in enumerate(destinations(instruction)):
            unsure = np.array(
                [
                    self._is_made_up(int(thread), int(at) + number * size, size)
                    for thread, at in zip(who, where, strict=True)
                ]
            )
            self.made_up.set(target, who, unsure, self.made_up.fresh(who))

    def _load_data(self, instruction: Instruction, place: Place, who: Threads) -> None:
        """Threads of a block that load from one address between the same barriers get one value.

        Unless it may change meanwhile. What nobody writes (`.nc`) is the same for all blocks, all the time."""
        address = next(each for each in instruction.operands if isinstance(each, Address))
        if self.setup.concrete and not self.made_up.of(address, who).any():
            self._load(instruction, place, who)
            for target in destinations(instruction):
                self.made_up.set(target, who, np.zeros(who.shape, dtype=bool))
            return
        if not self.needed.values or CHANGING & set(instruction.parts):
            for target in destinations(instruction):
                self.make_up(target, who)
            return
        where = self.identity(address, who)
        if "nc" not in instruction.parts:
            since = self.passed[who] * self.cluster_size + self.ranks[who]
            where = where + mix(since.astype(np.uint64))
        for number, target in enumerate(destinations(instruction)):
            loaded = mix(where + seed_of(f"{place} {number}"))
            self.made_up.set(target, who, np.ones(who.shape, dtype=bool), loaded)

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
