"""What the threads of a simulated block compute together: shuffles, votes and reductions of warps, `bar.red`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.expressions.lanes import Bits
from fencepost.hosts.ptx.reading.effects import (
    destinations,
)
from fencepost.hosts.ptx.reading.module import (
    Instruction,
    Operand,
)
from fencepost.hosts.ptx.runs.atomic_results import reduced
from fencepost.hosts.ptx.runs.simulated_accesses import SimulatedAccesses
from fencepost.hosts.ptx.runs.simulation_setup import (
    Threads,
)


class SimulatedCollectives(SimulatedAccesses):
    """A block whose threads exchange values."""

    def _reduce(self, instruction: Instruction, waiting: Threads, here: Threads) -> None:
        """`bar.red`: a count, or whether any or all predicates hold."""
        held = self.read(instruction.operands[-1], waiting, 1).bits != 0
        if "popc" in instruction.parts:
            value = int(held.sum())
        else:
            value = int(held.any() if "or" in instruction.parts else held.all())
        self.write(instruction.operands[0], here, np.full(here.shape, value, dtype=np.uint64))

    def _collective(self, instruction: Instruction, who: Threads) -> None:
        held = self._held(instruction, who)
        targets = destinations(instruction)
        if not targets or not held.size:
            return
        if instruction.name == "shfl":
            self._shuffle(instruction, held, targets)
            return
        if instruction.name == "vote":
            self.write(targets[0], held, self._vote(instruction, held))
            return
        if instruction.name == "redux":
            self._reduced(instruction, held, targets[0])
            return
        if instruction.name == "match" and "any" in instruction.parts:
            self._match(instruction, held)
            return
        for target in targets:
            self.write(target, held, np.zeros(held.shape, dtype=np.uint64))

    def _match(self, instruction: Instruction, who: Threads) -> None:
        """Gives each lane those of its warp that are here with its value; for `activemask`, all that are here."""
        values = np.zeros(who.shape, dtype=np.uint64)
        if instruction.name == "match":
            values = self.read(instruction.operands[1], who, 64).bits
        alike = (who[:, None] // 32 == who // 32) & (values[:, None] == values)
        lanes = np.uint64(1) << (who % 32).astype(np.uint64)
        found = np.bitwise_or.reduce(np.where(alike, lanes, np.uint64(0)), axis=1)
        self.write(destinations(instruction)[0], who, found)

    def _vote(self, instruction: Instruction, who: Threads) -> Bits:
        """What the lanes of each warp, those that take part, say together."""
        predicate = self.read(instruction.operands[1], who, 1).bits != 0
        lane = np.uint64(1) << (who % 32).astype(np.uint64)
        yes, every = (np.zeros(self.count // 32 + 1, dtype=np.uint64) for _ in range(2))
        np.bitwise_or.at(yes, who // 32, np.where(predicate, lane, np.uint64(0)))
        np.bitwise_or.at(every, who // 32, lane)
        yes, every = yes[who // 32], every[who // 32]
        if "ballot" in instruction.parts:
            return yes
        none, complete = yes == 0, yes == every
        answers = {"any": ~none, "all": complete, "uni": none | complete}
        found: Bits = next(answers[part] for part in instruction.parts if part in answers).astype(np.uint64)
        return found

    def _reduced(self, instruction: Instruction, who: Threads, target: Operand) -> None:
        """Gives the lanes of each warp that are here what their values come to."""
        values = self.read(instruction.operands[1], who, 32).bits
        for warp in np.unique(who // 32):
            lanes = who // 32 == warp
            found = np.full(int(lanes.sum()), np.uint64(reduced(instruction, values[lanes])))
            self.write(target, who[lanes], found)

    def _shuffle(self, instruction: Instruction, who: Threads, targets: Sequence[Operand]) -> None:
        source, fine = self.shuffled_from(instruction, who)
        whole = np.zeros(self.count + 32, dtype=np.uint64)
        whole[who] = self.read(instruction.operands[1], who, 32).bits
        self.write(targets[0], who, whole[source])
        if len(targets) > 1:
            self.write(targets[1], who, fine.astype(np.uint64))

    def shuffled_from(self, instruction: Instruction, who: Threads) -> tuple[Threads, NDArray[np.bool_]]:
        """The threads whose values a `shfl` hands over, and whether they are in range."""
        step, clamp = (self.read(each, who, 32).bits.astype(np.int64) for each in instruction.operands[2:4])
        lane = who % 32
        segment = clamp >> 8 & 31
        last = (lane & segment) | (clamp & 31 & ~segment)
        if "up" in instruction.parts:
            source = lane - step
            fine = source >= last
        elif "down" in instruction.parts:
            source = lane + step
            fine = source <= last
        elif "bfly" in instruction.parts:
            source = lane ^ step
            fine = source <= last
        else:
            source = (lane & segment) | (step & 31 & ~segment)
            fine = source <= last
        source = np.where(fine, source, lane)
        found: Threads = np.minimum(who // 32 * 32 + source, self.count + 31)
        return found, fine
