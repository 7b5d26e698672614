"""The registers of an exact run: operands, addresses of the blocks of a cluster, and which values are made up.

A shared address has the rank of its block from bit 24 on, as GPUs have it: an address of a thread's own block is one
among those of the cluster as well, and `mapa` replaces the rank. The generic address of a byte is the same number.
"""

from __future__ import annotations

import time

import numpy as np

from fencepost.hosts.ptx.exact.address_slice import AddressSlice
from fencepost.hosts.ptx.exact.clocks import Clocks
from fencepost.hosts.ptx.exact.data_dependent_branches import BranchChoices
from fencepost.hosts.ptx.exact.made_up_values import (
    OF_CLUSTER,
    Flags,
    MadeUp,
    items,
    known,
    mix,
    seed_of,
)
from fencepost.hosts.ptx.exact.problems import DependsOnData, NotExact
from fencepost.hosts.ptx.exact.shadow import Shadow
from fencepost.hosts.ptx.exact.ways import Way
from fencepost.hosts.ptx.expressions.lanes import Bits, Lane
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.module import (
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
from fencepost.hosts.ptx.runs.simulate import Simulation
from fencepost.hosts.ptx.runs.simulation_setup import Setup, Threads

PARAMETERS, PARAMETER_ROOM = 1 << 28, 1 << 16
"""Where parameters lie in memory; the addresses have 32 bits."""
NEVER_WRITTEN = np.uint64(0)
"""The identity of bytes of shared memory that nothing was stored in."""
RANK_BIT = 24
"""Where the rank of the block begins in an address of shared memory."""
SHARED_WINDOW = np.uint64(16 << RANK_BIT)
"""Where addresses of shared memory end: a cluster has at most sixteen blocks."""
NOWHERE = np.uint64(1 << 62)
"""An address of shared memory that no block has."""


class ThreadRegisters(Simulation):
    """The threads of a block, or of a cluster, with what their registers hold."""

    def __init__(
        self, module: Module, routine: Routine, flow: Flow, setup: Setup, needed: AddressSlice
    ) -> None:
        super().__init__(module, routine, flow, setup)
        self.needed = needed
        self.choices = BranchChoices()
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
        self.positions = np.array([flow.position.get(block, 0) for block in range(len(flow.blocks))])
        self.programs = [self._program(number) for number in range(len(flow.blocks))]
        self.deadline = time.thread_time() + setup.seconds
        self.steps = 0
        self.rounds = np.zeros((len(flow.blocks), self.count), dtype=np.int32)
        """How often each thread has been in each block."""
        self.ways_taken: set[Way] = set()
        """What became of comparisons, and where branches went, unless data decided."""
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

    def special(self, name: str, who: Threads) -> Bits:
        """A special register. A block that no cluster was said of is one by itself."""
        family, _, axis = name.partition(".")
        at = "xyz".find(axis) if axis else 0
        x, y, _ = cluster = self.setup.cluster
        ranks = self.ranks[who]
        inside = (ranks % x, ranks // x % y, ranks // (x * y))[at]
        first = self.setup.parameters.get(f"ctaid.{axis}", 0) // cluster[at]
        blocks = self.setup.parameters.get(f"nctaid.{axis}", self.setup.blocks)
        most = max(-(-blocks // cluster[at]), first + 1)
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
            raise DependsOnData("an address or a barrier's operand depends on data", place)
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

    def number_of(self, place: Place) -> int:
        """A place as a small number."""
        return self._numbers.setdefault(place, len(self._numbers))

    def place_of(self, number: int) -> Place:
        """The place of a number."""
        return list(self._numbers)[number]
