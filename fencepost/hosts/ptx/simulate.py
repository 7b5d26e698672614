"""Runs one block of a kernel, all its threads at once, and watches for races and barriers that threads miss.

What is found is real: the accesses happened, between the same two barriers, with inputs that a launch may have.
What is not found proves nothing. Threads run in groups that are at the same instruction; a group stops at
barriers and, for shuffles and votes, until the other threads of its warp are there.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.atomics import reduced, updated
from fencepost.hosts.ptx.carries import passes_carry, with_carry
from fencepost.hosts.ptx.divergence import barrier_blocks, conditional_branches, deciding
from fencepost.hosts.ptx.effects import (
    Access,
    commits_copies,
    destinations,
    effect,
    is_strong,
    space_of,
    waits_for_copies,
)
from fencepost.hosts.ptx.evaluate import source_width
from fencepost.hosts.ptx.flow import Flow
from fencepost.hosts.ptx.instructions import (
    computes,
    result,
    second_result,
    types_of,
)
from fencepost.hosts.ptx.intervals import Place
from fencepost.hosts.ptx.lanes import Bits, Lane, Lanes, mask
from fencepost.hosts.ptx.memory import POINTERS, LocalMemory, Memory
from fencepost.hosts.ptx.module import (
    Address,
    Group,
    Immediate,
    Instruction,
    Module,
    Negated,
    Operand,
    Register,
    Routine,
    Special,
    Symbol,
    registers_in,
    width_of,
)
from fencepost.hosts.ptx.observed import (
    ATOMIC,
    READ,
    WRITE,
    Conflict,
    CopyHistory,
    CopyInRace,
    Event,
    Log,
    WaitEvent,
)
from fencepost.hosts.ptx.parameter_roles import roles_of
from fencepost.hosts.ptx.simulated_instructions import TEXTURES, tainted_registers
from fencepost.hosts.ptx.simulation_setup import (
    AT_BARRIER,
    AT_COLLECTIVE,
    DONE,
    RUNNING,
    Missed,
    Seen,
    Setup,
    Threads,
    Unfaithful,
    placed_variables,
)
from fencepost.hosts.ptx.warp_clocks import NEVER, WarpClocks

COLLECTIVE = ("shfl", "vote", "redux", "match")
TEXTURE_MEMORY = np.uint64(1) << np.uint64(POINTERS + 12)
"""Where what textures hold is made up: behind all pointers."""
MOST_WAITS = 64
"""Waits for copies that are remembered, to say what they left in flight."""
ENOUGH = 20
"""So many pairs of instructions that race are shown; after them the run ends."""
KINDS = {"read": READ, "write": WRITE, "atomic": ATOMIC, "copy": WRITE}
MOST_LOCAL_BYTES = 1 << 28


def _of(event: Event, some: NDArray[np.bool_], completed_by: WaitEvent | None = None) -> Event:
    """The copies of some of their threads."""
    copies = event.copies
    assert copies is not None
    part = replace(
        copies, groups=copies.groups[some], refills=copies.refills[some], completed_by=completed_by
    )
    return replace(
        event,
        threads=event.threads[some],
        addresses=event.addresses[some],
        knowledge=event.knowledge[some],
        complete=NEVER if completed_by is None else completed_by.time,
        copies=part,
    )


class Simulation:
    """One block on its way through a kernel."""

    def __init__(self, module: Module, routine: Routine, flow: Flow, setup: Setup) -> None:
        self.flow = flow
        self.routine = routine
        self.setup = setup
        x, y, _ = setup.block
        threads, self.cluster_size = prod(setup.block), prod(setup.cluster)
        self.per_block = threads if self.cluster_size == 1 else (threads + 31) // 32 * 32
        """Of several blocks, each begins with a warp of its own; the threads that are left over have ended."""
        self.count = self.cluster_size * self.per_block
        every = np.arange(self.count) % self.per_block
        self.tid = (every % x, every // x % y, every // (x * y))
        variables = (*module.variables, *routine.variables)
        self.names, placed = placed_variables(module, routine)
        self.memory = Memory(placed, setup.seed, setup.spread, self.cluster_size)
        elsewhere = [each.name for each in variables if each.space != "shared"]
        self.others = {name: at for at, name in enumerate([*elsewhere, *module.routines])}
        private = {each.name: each.size or 0 for each in variables if each.space == "local"}
        if sum(private.values()) * self.count > MOST_LOCAL_BYTES:
            raise Unfaithful("local memory is too large")
        self.local = LocalMemory(private, self.count)
        self.registers: dict[str, Bits] = {}
        self.state = np.where(every < threads, RUNNING, DONE)
        self.blocks = np.zeros(self.count, dtype=np.int64)
        self.indices = np.zeros(self.count, dtype=np.int64)
        self.clocks_of_warps = WarpClocks(self.count)
        self.carry = np.zeros(self.count, dtype=np.uint64)
        self.groups = np.zeros(self.count, dtype=np.int64)
        self.log = Log(self.clocks_of_warps, [], setup.warp_synchronous)
        self.copies: list[Event] = []
        """Copies that may be in flight."""
        self.waits: deque[WaitEvent] = deque(maxlen=MOST_WAITS)
        self.time = 0
        """How many accesses there have been."""
        self.ways = {
            branch: (np.zeros(self.count, dtype=np.uint64), np.zeros(self.count, dtype=np.int64))
            for branch in conditional_branches(flow)
        }
        """For branches that barriers depend on: which way each thread went each time, and how often."""
        around = {loop.header for block in barrier_blocks(flow) for loop in flow.loops_around(block)}
        self.iterations = {header: np.zeros(self.count, dtype=np.int64) for header in sorted(around)}
        """By loop around a barrier, how often each thread has begun an iteration."""
        self.seen = Seen()
        self.end = time.thread_time() + setup.seconds
        self.roles = roles_of(flow)
        self.positions = np.zeros(len(flow.blocks), dtype=np.int64)
        for block, at in flow.position.items():
            self.positions[block] = at

    def run(self) -> Seen:
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
                raise Unfaithful("a branch depends on a result that is not simulated")
            for instruction in block.instructions:
                for access in effect(instruction).accesses:
                    if not access.generic and set(registers_in(access.address)) & tainted:
                        raise Unfaithful("an address depends on a result that is not simulated")

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

    def _held(self, instruction: Instruction, who: Threads) -> Threads:
        if instruction.guard is None:
            return who
        held = self.read(instruction.guard, who, 1).bits != 0
        found: Threads = who[held != instruction.guard_negated]
        return found

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
                self.seen.missed.append(Missed((Place(*first), Place(*second)), (one, other)))
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

    def out_of_step(self, waiting: Threads) -> Missed | None:
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
                return Missed((Place(loop.header, 0), here), (int(others[0]), one), True)
        return None

    def _parted(self, waiting: Threads) -> bool:
        """Whether a thread that has ended went another way than one that waits, where this barrier depends on it.

        What counts is the last time that the waiting thread came by: had an earlier time kept threads from a barrier
        that others reached, they would have been told apart there."""
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
                self.seen.missed.append(Missed((there, here), (int(others[0]), one), True))
                return True
        return False

    def _reduce(self, instruction: Instruction, waiting: Threads, here: Threads) -> None:
        """`bar.red`: a count, or whether any or all predicates hold."""
        held = self.read(instruction.operands[-1], waiting, 1).bits != 0
        if "popc" in instruction.parts:
            value = int(held.sum())
        else:
            value = int(held.any() if "or" in instruction.parts else held.all())
        self.write(instruction.operands[0], here, np.full(here.shape, value, dtype=np.uint64))

    # ---- operands

    def read(self, operand: Operand, who: Threads, width: int) -> Lane:
        """The value of an operand for some threads."""
        if isinstance(operand, Register):
            whole = self.registers.get(operand.name)
            bits = np.zeros(who.shape, dtype=np.uint64) if whole is None else whole[who]
            return Lane(bits & mask(min(width, 64)), width)
        if isinstance(operand, Negated):
            return Lane(self.read(operand.register, who, 1).bits ^ np.uint64(1), 1)
        if isinstance(operand, Address):
            base = self.read(operand.base, who, width)
            return Lane((base.bits + np.uint64(operand.offset % (1 << 64))) & mask(width), width)
        if isinstance(operand, Group):
            part = width // len(operand.items)
            bits = np.zeros(who.shape, dtype=np.uint64)
            for at, item in enumerate(operand.items):
                bits |= self.read(item, who, part).bits << np.uint64(at * part)
            return Lane(bits, width)
        if isinstance(operand, Special):
            return Lane(self.special(operand.name, who) & mask(width), width)
        value = operand.value if isinstance(operand, Immediate) else self._symbol(operand)
        return Lane(np.full(who.shape, np.uint64(value % (1 << width)), dtype=np.uint64), width)

    def _symbol(self, symbol: Symbol) -> int:
        if symbol.name in self.names:
            return self.memory.start_of(self.names[symbol.name]) or 0
        if symbol.name == "WARP_SZ":
            return 32
        if symbol.name in self.local.starts:
            return self.local.address_of(symbol.name)
        return (self.others.get(symbol.name, 999) + 100) << POINTERS

    def special(self, name: str, who: Threads) -> Bits:
        """A special register of some threads."""
        family, _, axis = name.partition(".")
        at = "xyz".find(axis) if axis else 0
        if family == "tid" and at >= 0:
            return self.tid[at][who].astype(np.uint64)
        lane = who % 32
        values = {
            "ntid": self.setup.block[at],
            "ctaid": self.setup.parameters.get(name, 0),
            "nctaid": max(self.setup.blocks, self.setup.parameters.get(f"ctaid.{axis}", 0) + 1)
            if at == 0
            else 1,
            "nwarpid": 32,
        }
        if family in values:
            return np.full(who.shape, np.uint64(values[family]), dtype=np.uint64)
        one = np.uint64(1)
        lanes = lane.astype(np.uint64)
        tables = {
            "laneid": lanes,
            "warpid": (who % self.per_block // 32).astype(np.uint64),
            "lanemask_eq": one << lanes,
            "lanemask_lt": (one << lanes) - one,
            "lanemask_le": (one << (lanes + one)) - one,
            "lanemask_gt": ~((one << (lanes + one)) - one) & mask(32),
            "lanemask_ge": ~((one << lanes) - one) & mask(32),
        }
        return tables.get(family, np.zeros(who.shape, dtype=np.uint64))

    def write(self, operand: Operand, who: Threads, bits: Bits) -> None:
        """Assigns a register."""
        if isinstance(operand, Register):
            whole = self.registers.get(operand.name)
            if whole is None:
                whole = self.registers[operand.name] = np.zeros(self.count, dtype=np.uint64)
            whole[who] = bits & mask(min(width_of(operand.type), 64))

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
        else:
            for access in effect(instruction).accesses:
                addresses = self.read(access.address, who, 32).bits
                self._record(here, access, who, addresses)
            for target in destinations(instruction):
                self.write(target, who, np.zeros(who.shape, dtype=np.uint64))

    def _unpack(self, target: Group, source: Operand, who: Threads) -> None:
        """`mov` into several registers."""
        if isinstance(source, Group):
            moved = [
                self.read(each, who, 32 if isinstance(each, Special | Immediate) else 64)
                for each in source.items
            ]
            for item, value in zip(target.items, moved, strict=False):
                self.write(item, who, value.bits)
            return
        widths = [width_of(each.type) if isinstance(each, Register) else 32 for each in target.items]
        whole = self.read(source, who, sum(widths))
        for at, item in enumerate(target.items):
            self.write(item, who, whole.bits >> np.uint64(sum(widths[:at])))

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

    def _address(self, instruction: Instruction, who: Threads) -> Bits:
        address = next(each for each in instruction.operands if isinstance(each, Address))
        wide = width_of(address.base.type) if isinstance(address.base, Register) else 64
        return self.read(address, who, wide).bits

    def _load(self, instruction: Instruction, here: Place, who: Threads) -> None:
        space = space_of(instruction)
        kind = types_of(instruction)[-1]
        size = width_of(kind) // 8
        targets = destinations(instruction)
        address = next(each for each in instruction.operands if isinstance(each, Address))
        for at, target in enumerate(targets):
            if space == "param" and isinstance(address.base, Symbol):
                offset = address.offset + at * size
                bits = np.full(
                    who.shape, np.uint64(self.parameter(address.base.name, offset, kind)), dtype=np.uint64
                )
            else:
                addresses = self._address(instruction, who) + np.uint64(at * size)
                bits = self._loaded(space, addresses, size, who)
            if kind.startswith("s") and isinstance(target, Register):
                bits = Lanes(len(who)).extend(Lane(bits, 8 * size), width_of(target.type), True).bits
            self.write(target, who, bits)
        for access in effect(instruction).accesses:
            self._record(here, access, who, self._address(instruction, who))

    def _fetch(self, instruction: Instruction, who: Threads) -> None:
        """What a texture holds is made up, like global memory: the same for the same coordinates."""
        where = np.full(who.shape, TEXTURE_MEMORY, dtype=np.uint64)
        for operand in instruction.operands[1:]:
            for item in operand.items if isinstance(operand, Group) else (operand,):
                where = where * np.uint64(31) + (self.read(item, who, 64).bits << np.uint64(4))
        for at, target in enumerate(destinations(instruction)):
            self.write(target, who, self.memory.load_other(where | TEXTURE_MEMORY, 4) + np.uint64(at))

    def _loaded(self, space: str | None, addresses: Bits, size: int, who: Threads) -> Bits:
        if space == "shared":
            return self.memory.load_shared(addresses, size)
        shared, private = self._spaces(space, addresses)
        if not shared.any() and not private.any():
            return self.memory.load_other(addresses, size)
        found = np.zeros(addresses.shape, dtype=np.uint64)
        found[shared] = self.memory.load_shared(addresses[shared], size)
        found[private] = self.local.load(addresses[private], size, who[private])
        other = ~shared & ~private
        found[other] = self.memory.load_other(addresses[other], size)
        return found

    def _ask_for_space(self, instruction: Instruction, who: Threads) -> None:
        """Whether generic addresses are shared, local or global, as accesses through them take them."""
        shared, private = self._spaces(None, self.read(instruction.operands[1], who, 64).bits)
        asked = instruction.parts[1].partition("::")[0]
        answers = {"shared": shared, "local": private, "global": ~shared & ~private}
        held = answers.get(asked, np.zeros(who.shape, dtype=bool))
        self.write(instruction.operands[0], who, held.astype(np.uint64))

    def _spaces(self, space: str | None, addresses: Bits) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which of some addresses are shared, and which are local."""
        shared = np.full(addresses.shape, space == "shared")
        private = np.full(addresses.shape, space == "local")
        if space is None:
            private = self.local.holds(addresses)
            shared = addresses < np.uint64(self.memory.shared.size)
        return shared, private

    def parameter(self, name: str, offset: int, kind: str) -> int:
        """The value of a parameter of the kernel: what is given, a pointer of its own, or a number."""
        key = name if offset == 0 else f"{name}+{offset}"
        if key in self.setup.parameters:
            return self.setup.parameters[key] % (1 << width_of(kind))
        if kind[1:] == "64" and key in self.roles.pointers:
            number = sum(each.name < name for each in self.routine.parameters)
            return (number + 1 << POINTERS) + (offset << 32)
        if kind in ("f32", "f64"):
            return 0x3F800000 if kind == "f32" else 0x3FF0000000000000
        fits = self.setup.layout is not None and key in self.roles.layout
        number = self.setup.layout if fits and self.setup.layout is not None else self.setup.number
        if key in self.roles.deciding:
            self.seen.chosen[key] = number
        return number

    def _store(self, instruction: Instruction, here: Place, who: Threads) -> None:
        """`st`, `red` and `atom`; an atomic adds one, which is as good as what it would do."""
        space = space_of(instruction)
        size = width_of(types_of(instruction)[-1]) // 8
        addresses = self._address(instruction, who)
        shared, private = self._spaces(space, addresses)
        other = ~shared & ~private
        if instruction.name in ("atom", "red"):
            self._atomic(instruction, who, addresses, size)
        else:
            last = instruction.operands[-1]
            for at, item in enumerate(last.items if isinstance(last, Group) else (last,)):
                values = self.read(item, who, max(8 * size, 8)).bits
                where = addresses + np.uint64(at * size)
                self.memory.store_shared(where[shared], size, values[shared])
                self.local.store(where[private], size, values[private], who[private])
                self.memory.store_other(where[other], values[other])
        for access in effect(instruction).accesses:
            self._record(here, access, who[shared], addresses[shared])

    def _atomic(self, instruction: Instruction, who: Threads, addresses: Bits, size: int) -> None:
        shared, private = self._spaces(space_of(instruction), addresses)
        target = instruction.operands[0] if instruction.name == "atom" else None
        operands = instruction.operands[-2:] if "cas" in instruction.parts else instruction.operands[-1:]
        given = [self.read(each, who, 8 * size).bits for each in operands]
        old = np.zeros(who.shape, dtype=np.uint64)
        for at in range(len(who)):
            where, one = addresses[at : at + 1], slice(at, at + 1)
            if shared[at]:
                old[one] = self.memory.load_shared(where, size)
                new = updated(instruction, old[one], [each[one] for each in given], 8 * size)
                self.memory.store_shared(where, size, new)
            elif private[at]:
                old[one] = self.local.load(where, size, who[one])
                new = updated(instruction, old[one], [each[one] for each in given], 8 * size)
                self.local.store(where, size, new, who[one])
            else:
                old[one] = self.memory.load_other(where, size)
                new = updated(instruction, old[one], [each[one] for each in given], 8 * size)
                self.memory.store_other(where, new)
        if target is not None:
            self.write(target, who, old)

    def _record(self, here: Place, access: Access, who: Threads, addresses: Bits) -> None:
        """Notes an access to shared memory."""
        if access.rows:
            lanes = who % 32 < 8 * _matrices(self.flow.blocks[here.block].instructions[here.index])
            who, addresses = who[lanes], addresses[lanes]
        inside = self.memory.inside(addresses, access.size)
        if self.seen.outside is None and not access.generic and not inside.all():
            self.seen.outside = (here, int(who[~inside][0]))
        who, addresses = who[inside], addresses[inside]
        self._note_first_use(access, addresses)
        self._note_place(here, who)
        values: tuple[Bits, ...] = ()
        if access.kind == "write" and access.values and not access.rows:
            values = self._chunks(access.values, access.size, who)
        self._note_own_copies(here, access.size, who, addresses)
        self.time += 1
        knowledge = self.clocks_of_warps.row_of[who].copy()
        strong = is_strong(self.flow.blocks[here.block].instructions[here.index])
        kind = KINDS[access.kind]
        self.log.events.append(
            Event(here, kind, access.size, who, addresses, knowledge, values, self.time, self.time, strong)
        )

    def _note_own_copies(self, here: Place, size: int, who: Threads, addresses: Bits) -> None:
        """Whether threads touch what copies of their own that they have not waited for may not have written yet."""
        for event in self.copies:
            own = np.full(self.count, -1, dtype=np.int64)
            own[event.threads] = event.addresses.astype(np.int64)
            begin, where = own[who], addresses.astype(np.int64)
            met = np.flatnonzero((begin >= 0) & (begin < where + size) & (where < begin + event.size))
            if met.size:
                thread, address = int(who[met[0]]), int(max(where[met[0]], begin[met[0]]))
                copy = CopyInRace(event.place, False, None, 0, False)
                places, threads = (event.place, here), (thread, thread)
                self.seen.add([Conflict(places, threads, address, size, "error", False, copy)])

    def _note_place(self, here: Place, who: Threads) -> None:
        """Which threads came to an access."""
        if here not in self.seen.came:
            self.seen.came[here] = np.zeros(self.count, dtype=bool)
        self.seen.came[here][who] = True

    def _note_first_use(self, access: Access, addresses: Bits) -> None:
        """Whether a load finds what was stored there; one byte of each access stands for the others."""
        where = addresses.astype(np.int64)
        if access.kind == "read":
            self.seen.unwritten |= bool((~self.memory.written[where]).any())
        for at in range(access.size if access.kind != "read" else 0):
            self.memory.written[where + at] = True

    def _chunks(self, operands: Sequence[Operand], size: int, who: Threads) -> tuple[Bits, ...]:
        """What is stored, four bytes at a time."""
        each = size // len(operands)
        found: list[Bits] = []
        if each < 4:
            whole = np.zeros(who.shape, dtype=np.uint64)
            for at, operand in enumerate(operands):
                whole |= self.read(operand, who, 8 * each).bits << np.uint64(8 * each * (at % (4 // each)))
                if (at + 1) % (4 // each) == 0 or at + 1 == len(operands):
                    found.append(whole)
                    whole = np.zeros(who.shape, dtype=np.uint64)
            return tuple(found)
        for operand in operands:
            value = self.read(operand, who, 8 * each).bits
            found += [(value >> np.uint64(32 * at)) & mask(32) for at in range(each // 4)]
        return tuple(found)

    # ---- copies

    def _copy(self, instruction: Instruction, here: Place, who: Threads) -> None:
        if commits_copies(instruction):
            self.groups[who] += 1
        elif (left := waits_for_copies(instruction)) is not None:
            all_of_them = "wait_all" in instruction.parts
            self._wait(here, who, np.iinfo(np.int64).max if all_of_them else self.groups[who] - left)
        for access in effect(instruction).accesses:
            addresses = self.read(access.address, who, 32).bits
            inside = self.memory.inside(addresses, access.size)
            self.time += 1
            issuing, where = who[inside], addresses[inside]
            refills = self.memory.written[where.astype(np.int64)]
            self._note_first_use(access, where)
            self._note_place(here, issuing)
            copies = CopyHistory(self.groups[issuing].copy(), refills, self.waits)
            knowledge = self.clocks_of_warps.row_of[issuing].copy()
            self.copies.append(
                Event(
                    here, WRITE, access.size, issuing, where, knowledge, (), self.time, NEVER, copies=copies
                )
            )

    def _wait(self, here: Place, who: Threads, before: NDArray[np.int64] | int) -> None:
        """Copies of groups before a number are complete for these threads; they stay in this interval's log."""
        limit = np.full(self.count, -1, dtype=np.int64)
        limit[who] = before
        self.time += 1
        wait = WaitEvent(here, self.time, who, self.groups[who].copy())
        self.waits.append(wait)
        kept = []
        for event in self.copies:
            assert event.copies is not None
            done = event.copies.groups < limit[event.threads]
            if done.any():
                self.log.events.append(_of(event, done, wait))
            if not done.all():
                kept.append(_of(event, ~done))
        self.copies = kept

    # ---- shuffles and votes

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
        for target in targets:
            self.write(target, held, np.zeros(held.shape, dtype=np.uint64))

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


def _matrices(instruction: Instruction) -> int:
    return next((int(part[1:]) for part in instruction.parts if part in ("x1", "x2", "x4")), 1)


def simulate(module: Module, routine: Routine, flow: Flow, setup: Setup) -> Seen:
    """Runs one block."""
    return Simulation(module, routine, flow, setup).run()
