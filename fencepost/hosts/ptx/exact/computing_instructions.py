"""Instructions of an exact run that touch neither shared memory nor other threads; what is loaded is made up."""

from __future__ import annotations

import numpy as np

from fencepost.hosts.ptx.exact.made_up_values import (
    Flags,
    is_exact,
    items,
    mix,
    mixed,
    named,
    results,
    seed_of,
)
from fencepost.hosts.ptx.exact.thread_registers import RANK_BIT, ThreadRegisters
from fencepost.hosts.ptx.exact.ways import Way
from fencepost.hosts.ptx.expressions.lanes import Bits
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import destinations, space_of
from fencepost.hosts.ptx.reading.instructions import computes, types_of
from fencepost.hosts.ptx.reading.module import (
    Address,
    Group,
    Instruction,
    Symbol,
    width_of,
)
from fencepost.hosts.ptx.runs.simulated_instructions import is_simulated
from fencepost.hosts.ptx.runs.simulation_setup import Threads

CHANGING = {"volatile", "relaxed", "acquire", "mmio"}
"""Loads of what other threads may write meanwhile."""


class Computing(ThreadRegisters):
    """Threads that compute, and load and store what is not shared."""

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
            if instruction.name == "setp":
                self._note_outcomes(instruction, place, who)
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
        """Computes a result, and notes for which threads it is made up: an operand is, or it is not exact."""
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

    def _note_outcomes(self, instruction: Instruction, place: Place, who: Threads) -> None:
        """What becomes of a comparison that does not depend on data."""
        target = instruction.operands[0]
        found = self.read(target, who, 1).bits[~self.made_up.of(target, who)]
        self.ways_taken |= {Way(place.block, place.index, int(each != 0)) for each in np.unique(found)}

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
        """Threads of a block that load from one address get one value, if neither load comes before the other.

        A store between them would race with one of them. Unless it may change meanwhile: then each is its own. What
        nobody writes (`.nc`) is the same for all blocks, all the time."""
        address = next(each for each in instruction.operands if isinstance(each, Address))
        if self.setup.concrete and not self.made_up.of(address, who).any():
            self._load(instruction, place, who)
            for target in destinations(instruction):
                self.made_up.set(target, who, np.zeros(who.shape, dtype=bool))
            return
        changing = CHANGING & set(instruction.parts) or (place.block, place.index) in self.setup.changing
        if changing or not self.needed.values:
            for target in destinations(instruction):
                self.make_up(target, who)
            return
        where = self.identity(address, who)
        if "nc" not in instruction.parts:
            since = self.clocks.time(who) * self.cluster_size + self.ranks[who]
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
