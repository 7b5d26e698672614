"""Runs one block of a kernel, all its threads at once, and watches for races and barriers that threads miss.

What is found is real: the accesses happened, between the same two barriers, with inputs that a launch may have.
What is not found proves nothing. Threads run in groups that are at the same instruction; a group stops at
barriers and, for shuffles and votes, until the other threads of its warp are there.
"""

from __future__ import annotations

import time

import numpy as np

from fencepost.hosts.ptx.expressions.carries import passes_carry, with_carry
from fencepost.hosts.ptx.expressions.evaluate import source_width
from fencepost.hosts.ptx.expressions.lanes import Lane, Lanes
from fencepost.hosts.ptx.proof.divergence import deciding
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import (
    destinations,
    effect,
)
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.instructions import (
    computes,
    result,
    second_result,
    types_of,
)
from fencepost.hosts.ptx.reading.module import (
    Group,
    Instruction,
    Module,
    Register,
    Routine,
    registers_in,
    width_of,
)
from fencepost.hosts.ptx.runs.observed_races import (
    Log,
)
from fencepost.hosts.ptx.runs.simulated_collectives import SimulatedCollectives
from fencepost.hosts.ptx.runs.simulated_instructions import TEXTURES, tainted_registers
from fencepost.hosts.ptx.runs.simulation_setup import (
    AT_BARRIER,
    AT_COLLECTIVE,
    DONE,
    RUNNING,
    MissedBarrier,
    NotSimulated,
    Setup,
    SimulationResult,
    Threads,
)

COLLECTIVE = ("shfl", "vote", "redux", "match")
ENOUGH = 20
"""So many pairs of instructions that race are shown; after them the run ends."""


class Simulation(SimulatedCollectives):
    """One block on its way through a kernel."""

    def run(self) -> SimulationResult:
        """Until every thread is done or time is up."""
        tainted = tainted_registers(self.flow)
        self._refuse(tainted)
        while time.thread_time() < self.end and self.seen.errors < ENOUGH:
            running = np.flatnonzero(self.state == RUNNING)
            if running.size:
                self._step(running)
            elif (self.state == AT_COLLECTIVE).any():
                self._release_collective()
            elif (self.state == AT_BARRIER).any():
                self._end_interval()
                if self.seen.missed:
                    break
            else:
                self._end_interval()
                self.seen.finished = True
                break
        if not self.seen.finished:
            # What happened since the last barrier counts, although the next one was not reached.
            self.seen.add(self.log.conflicts())
        return self.seen

    def _refuse(self, tainted: set[str]) -> None:
        for number in self.flow.order:
            block = self.flow.blocks[number]
            if block.guard is not None and block.guard.name in tainted:
                raise NotSimulated("a branch depends on a result that is not simulated")
            for instruction in block.instructions:
                for access in effect(instruction).accesses:
                    if not access.generic and set(registers_in(access.address)) & tainted:
                        raise NotSimulated("an address depends on a result that is not simulated")

    def _step(self, running: Threads) -> None:
        """Runs the group that is furthest behind to the end of its block."""
        order = self.positions[self.blocks[running]] * 1_000_000
        order += self.indices[running]
        who = running[order == order.min()]
        number, index = int(self.blocks[who[0]]), int(self.indices[who[0]])
        block = self.flow.blocks[number]
        while index < len(block.instructions):
            instruction = block.instructions[index]
            if instruction.name in ("bar", "barrier") or instruction.name in COLLECTIVE:
                who = self._meet(instruction, Place(number, index), who)
                if not who.size:
                    return
            elif instruction.name in ("ret", "exit", "trap") and instruction.guard is None:
                self.state[who] = DONE
                return
            elif instruction.name not in ("bra", "brx", "ret", "exit", "trap"):
                held = self._held(instruction, who)
                if held.size:
                    self.execute(instruction, Place(number, index), held)
            index += 1
        self._leave(number, who)

    def _leave(self, number: int, who: Threads) -> None:
        block = self.flow.blocks[number]
        self.indices[who] = 0
        if number == self.flow.exit:
            self.state[who] = DONE
        elif block.index is not None:
            at = self.read(block.index, who, 32).bits.astype(np.int64)
            self.blocks[who] = np.array(block.successors)[np.minimum(at, len(block.successors) - 1)]
        elif len(block.successors) > 1 and block.guard is not None:
            held = (self.read(block.guard, who, 1).bits != 0) != block.guard_negated
            self.blocks[who] = np.where(held, block.successors[0], block.successors[1])
            if number in self.ways:
                bits, times = self.ways[number]
                noted = np.minimum(times[who], 63).astype(np.uint64)
                bits[who] |= np.where(times[who] < 63, held.astype(np.uint64) << noted, np.uint64(0))
                times[who] += 1
        else:
            self.blocks[who] = block.successors[0]
        self.count_iterations(who)

    def count_iterations(self, who: Threads) -> None:
        """Notes the loops with barriers whose next iteration some threads begin."""
        for header, times in self.iterations.items():
            times[who] += self.blocks[who] == header

    # ---- meeting other threads

    def _meet(self, instruction: Instruction, here: Place, who: Threads) -> Threads:
        """Threads that can go on at a barrier or collective; the others wait."""
        kind = effect(instruction).barrier
        self.blocks[who], self.indices[who] = here.block, here.index
        if kind == "block":
            self.state[who] = AT_BARRIER
            return who[:0]
        self.state[who] = AT_COLLECTIVE
        waiting = (self.state == AT_COLLECTIVE) & (self.blocks == here.block) & (self.indices == here.index)
        warps = np.arange(self.count) // 32
        missing = np.bincount(warps[(self.state != DONE) & ~waiting], minlength=warps[-1] + 1)
        ready = np.flatnonzero(waiting & (missing[warps] == 0))
        return self._together(instruction, here, ready)

    def _together(self, instruction: Instruction, here: Place, ready: Threads) -> Threads:
        if ready.size:
            self.state[ready] = RUNNING
            if effect(instruction).barrier == "warp":
                self._meet_in_warps(instruction, ready)
            else:
                self._collective(instruction, ready)
        return ready

    def _meet_in_warps(self, instruction: Instruction, ready: Threads) -> None:
        """Lanes that pass `bar.warp.sync`: of each warp, those that name one mask. A mask that does not name the lane
        itself, such as one that no run computes, stands for all of them."""
        whole = np.uint64(0xFFFFFFFF)
        masks = np.full(ready.shape, whole)
        if instruction.operands:
            masks = self.read(instruction.operands[0], ready, 32).bits
            named = masks >> (ready % 32).astype(np.uint64) & np.uint64(1) != 0
            masks = np.where(named, masks, whole)
        groups = (ready // 32).astype(np.uint64) << np.uint64(32) | masks
        for group in np.unique(groups):
            self.clocks_of_warps.meet(ready[groups == group], self.time)

    def _release_collective(self) -> None:
        """No thread can run: those at the first collective go on; the missing lanes are not in its mask."""
        waiting = np.flatnonzero(self.state == AT_COLLECTIVE)
        keys = [self.flow.position[int(self.blocks[t])] * 1_000_000 + self.indices[t] for t in waiting]
        ready = waiting[np.array(keys) == min(keys)]
        here = Place(int(self.blocks[ready[0]]), int(self.indices[ready[0]]))
        self._together(self.flow.blocks[here.block].instructions[here.index], here, ready)
        self.indices[ready] += 1

    def _end_interval(self) -> None:
        """All threads wait or have ended: looks for races of the interval, and lets those go on that met."""
        waiting = np.flatnonzero(self.state == AT_BARRIER)
        self.log.events += self.copies
        self.seen.add(self.log.conflicts())
        self.log = Log(self.clocks_of_warps, [], self.setup.warp_synchronous)
        self.copies = [each for each in self.copies if each.threads.size]
        self.clocks_of_warps.restart(keep=bool(self.copies))
        if not waiting.size:
            return
        places = {(int(self.blocks[t]), int(self.indices[t])): int(t) for t in waiting}
        if len(places) > 1:
            (first, one), (second, other) = list(places.items())[:2]
            instructions = [self.flow.blocks[b].instructions[i] for b, i in (first, second)]
            if all("aligned" in each.parts or each.name == "bar" for each in instructions):
                self.seen.missed.append(MissedBarrier((Place(*first), Place(*second)), (one, other)))
                return
        out_of_step = self.out_of_step(waiting)
        if out_of_step is not None:
            self.seen.missed.append(out_of_step)
            return
        if self._parted(waiting):
            return
        for block, index in places:
            instruction = self.flow.blocks[block].instructions[index]
            here = waiting[(self.blocks[waiting] == block) & (self.indices[waiting] == index)]
            if destinations(instruction):
                self._reduce(instruction, waiting, here)
        self.state[waiting] = RUNNING
        self.indices[waiting] += 1

    def out_of_step(self, waiting: Threads) -> MissedBarrier | None:
        """Two threads that wait at the same barrier, but not in the same iteration of a loop around it.

        A loop with several back edges may be two, one of them without the barrier; it is not looked at."""
        one = int(waiting[0])
        here = Place(int(self.blocks[one]), int(self.indices[one]))
        with_it = waiting[(self.blocks[waiting] == here.block) & (self.indices[waiting] == here.index)]
        for loop in self.flow.loops_around(here.block):
            if len(loop.latches) != 1:
                continue
            times = self.iterations[loop.header]
            others = with_it[times[with_it] != times[one]]
            instructions = self.flow.blocks[loop.header].instructions
            if others.size and instructions:
                return MissedBarrier((Place(loop.header, 0), here), (int(others[0]), one), True)
        return None

    def _parted(self, waiting: Threads) -> bool:
        """Whether a thread that has ended went another way than one that waits, where this barrier depends on it.

        What counts is the last time that the waiting thread came by: had an earlier time kept threads from a barrier
        that others reached, they would have been distinguished there."""
        one = int(waiting[0])
        for branch in deciding(self.flow.control_dependences, int(self.blocks[one])) & self.ways.keys():
            bits, times = self.ways[branch]
            last = int(times[one]) - 1
            if not 0 <= last < 63:
                continue
            way = (bits >> np.uint64(last)) & np.uint64(1)
            others = np.flatnonzero((self.state == DONE) & (times > last) & (way != way[one]))
            instructions = self.flow.blocks[branch].instructions
            if others.size and instructions:
                here = Place(int(self.blocks[one]), int(self.indices[one]))
                there = Place(branch, len(instructions) - 1)
                self.seen.missed.append(MissedBarrier((there, here), (int(others[0]), one), True))
                return True
        return False

    # ---- operands

    # ---- instructions

    def execute(self, instruction: Instruction, here: Place, who: Threads) -> None:
        """Carries out one instruction for some threads."""
        if computes(instruction) or passes_carry(instruction):
            self._compute(instruction, who)
        elif instruction.name in ("ld", "ldu"):
            self._load(instruction, here, who)
        elif instruction.name in TEXTURES:
            self._fetch(instruction, who)
        elif instruction.name in ("st", "red", "atom"):
            self._store(instruction, here, who)
        elif instruction.name == "cp":
            self._copy(instruction, here, who)
        elif instruction.name == "activemask":
            self._match(instruction, who)
        else:
            for access in effect(instruction).accesses:
                addresses = self.read(access.address, who, 32).bits
                self._record(here, access, who, addresses)
            for target in destinations(instruction):
                self.write(target, who, np.zeros(who.shape, dtype=np.uint64))

    def _compute(self, instruction: Instruction, who: Threads) -> None:
        target = instruction.operands[0]
        if instruction.name == "mov" and isinstance(target, Group):
            self._unpack(target, instruction.operands[1], who)
            return
        if instruction.name == "isspacep":
            self._ask_for_space(instruction, who)
            return
        arguments = [
            self.read(each, who, source_width(instruction, at))
            for at, each in enumerate(instruction.operands[1:])
        ]
        if passes_carry(instruction):
            bits, self.carry[who] = with_carry(instruction, arguments, self.carry[who])
            self.write(target, who, bits)
            return
        found: Lane = result(Lanes(len(who)), instruction, arguments)
        bits = found.bits
        targets = target.items if isinstance(target, Group) else (target,)
        register = targets[0]
        if (
            instruction.name == "cvt"
            and types_of(instruction)[0].startswith("s")
            and isinstance(register, Register)
        ):
            bits = Lanes(len(who)).extend(found, max(width_of(register.type), found.width), True).bits
        self.write(register, who, bits)
        if len(targets) > 1:
            second: Lane | None = second_result(Lanes(len(who)), instruction, arguments)
            if second is not None:
                self.write(targets[1], who, second.bits)

    # ---- copies

    # ---- shuffles and votes


def simulate(module: Module, routine: Routine, flow: Flow, setup: Setup) -> SimulationResult:
    """Runs one block."""
    return Simulation(module, routine, flow, setup).run()
