"""The threads of a block, or of the blocks of a cluster, on their way: registers, branches, and who runs next.

A shared address has the rank of its block from bit 24 on, as GPUs have it: an address of a thread's own block is one
among those of the cluster as well, and `mapa` replaces the rank. The generic address of a byte is the same number.
"""

from __future__ import annotations

import time
from bisect import bisect_left

import numpy as np

from fencepost.hosts.ptx.exact.computing_instructions import Computing
from fencepost.hosts.ptx.exact.made_up_values import (
    items,
    mix,
    registers_read,
    results,
    seed_of,
)
from fencepost.hosts.ptx.exact.problems import NotExact, TooLong
from fencepost.hosts.ptx.exact.ways import Way
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.instructions import computes
from fencepost.hosts.ptx.reading.module import (
    Instruction,
    Register,
)
from fencepost.hosts.ptx.runs.simulation_setup import DONE, Threads

FIRST = 1_000_000
"""More than the instructions of a block."""


class Machine(Computing):
    """Registers and branches. Values that depend on loaded data are made up, and no way is chosen by them."""

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
            raise TooLong("the run did not end in time")
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
        if decides:
            end = len(block.instructions)
            self.ways_taken |= {Way(number, end, int(each)) for each in np.unique(self.blocks[who])}

    def _settle(self, predicate: Register, who: Threads, place: Place, why: str) -> None:
        """Gives predicates that depend on data the value that they have in this run."""
        some = who[self.made_up.of(predicate, who)]
        bits = self.choices.of(self.identity(predicate, some), place, why)
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
        """What is assigned between a branch and where its ways meet depends on what is read there, in some way: by
        instructions, and by branches.

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
        for at in (number, *sorted(self.region_of(number))):
            decides = self.flow.blocks[at].guard, self.flow.blocks[at].index
            read |= {each.name: each for each in decides if each is not None}
        total = np.full(who.shape, np.uint64(number), dtype=np.uint64)
        for name in sorted(read):
            total = mix(total + self.identity(read[name], who))
        # All of the old values first: the new ones depend on them, not on each other.
        found = {each: mix(total + seed_of(str(each)) + mix(self.identity(each, who))) for each in targets}
        for target, identities in found.items():
            self.made_up.set(target, who, np.ones(who.shape, dtype=bool), identities)

    # ---- values

    def held(self, instruction: Instruction, who: Threads, place: Place) -> Threads:
        """The threads whose predicate holds."""
        if instruction.guard is None:
            return who
        self._settle(instruction.guard, who, place, "the predicate of an access or a barrier depends on data")
        bits = self.read(instruction.guard, who, 1).bits != 0
        found: Threads = who[bits != instruction.guard_negated]
        return found

    # ---- places as numbers
