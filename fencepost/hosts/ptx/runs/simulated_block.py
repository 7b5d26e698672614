"""A simulated block: its threads with their registers, and what operands and special registers hold."""

from __future__ import annotations

import time
from collections import deque
from math import prod

import numpy as np

from fencepost.hosts.ptx.expressions.lanes import Bits, Lane, mask
from fencepost.hosts.ptx.expressions.parameter_roles import roles_of
from fencepost.hosts.ptx.proof.divergence import barrier_blocks, conditional_branches
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.module import (
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
    width_of,
)
from fencepost.hosts.ptx.runs.observed_races import (
    Event,
    Log,
    WaitEvent,
)
from fencepost.hosts.ptx.runs.simulated_memory import POINTERS, LocalMemory, Memory
from fencepost.hosts.ptx.runs.simulation_setup import (
    DONE,
    RUNNING,
    NotSimulated,
    Setup,
    SimulationResult,
    Threads,
    placed_variables,
)
from fencepost.hosts.ptx.runs.warp_clocks import WarpClocks

MOST_WAITS = 64
"""Waits for copies that are remembered, to say what they left in flight."""
MOST_LOCAL_BYTES = 1 << 28


class SimulatedBlock:
    """The state of a simulated block, all its threads side by side."""

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
            raise NotSimulated("local memory is too large")
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
        self.seen = SimulationResult()
        self.end = time.thread_time() + setup.seconds
        self.roles = roles_of(flow)
        self.positions = np.zeros(len(flow.blocks), dtype=np.int64)
        for block, at in flow.position.items():
            self.positions[block] = at

    def _held(self, instruction: Instruction, who: Threads) -> Threads:
        if instruction.guard is None:
            return who
        held = self.read(instruction.guard, who, 1).bits != 0
        found: Threads = who[held != instruction.guard_negated]
        return found

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

    def _address(self, instruction: Instruction, who: Threads) -> Bits:
        address = next(each for each in instruction.operands if isinstance(each, Address))
        wide = width_of(address.base.type) if isinstance(address.base, Register) else 64
        return self.read(address, who, wide).bits

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
