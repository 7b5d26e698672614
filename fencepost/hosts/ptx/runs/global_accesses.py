"""Runs of one block that watch its accesses to global memory: those of one interval, and all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fencepost.hosts.ptx.expressions.lanes import Bits
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.proof.kernel_and_launch import KernelAndLaunch
from fencepost.hosts.ptx.reading.effects import destinations, element_size, is_strong, space_of
from fencepost.hosts.ptx.reading.instructions import types_of
from fencepost.hosts.ptx.reading.module import Group, Instruction, Operand, registers_in, width_of
from fencepost.hosts.ptx.runs.observed_races import ATOMIC, READ, WRITE, Conflict, Event, Log
from fencepost.hosts.ptx.runs.simulate import Simulation
from fencepost.hosts.ptx.runs.simulated_instructions import tainted_registers
from fencepost.hosts.ptx.runs.simulated_memory import POINTERS
from fencepost.hosts.ptx.runs.simulation_setup import Setup, Threads

KINDS = {"ld": READ, "ldu": READ, "st": WRITE, "atom": ATOMIC, "red": ATOMIC}
PAGE = np.uint64(32)
"""Addresses that agree in what is above these bits are counted from the same pointer."""
MOST_ROWS = 200_000
"""So many accesses of single threads are compared with those of another block."""
LANES = 2
"""Of one instruction, so many threads are kept for each word."""


class Watch(Simulation):
    """One block of a grid; `found` are the races among its own threads, `events` all that it touched."""

    def __init__(self, case: KernelAndLaunch, setup: Setup) -> None:
        super().__init__(case.module, case.routine, case.flow, setup)
        self.grid = case.launch.grid
        self.uncomputed = tainted_registers(case.flow)
        self.known = {self._page(each): each for each in self.roles.pointers}
        self.known |= {(at + 100) << POINTERS >> int(PAGE): name for name, at in self.others.items()}
        self.pages = np.array(sorted(self.known), dtype=np.uint64)
        self.in_step = case.launch.warp_synchronous
        self.interval = self._no_accesses()
        self.events: list[Event] = []
        self.found: list[Conflict] = []

    def _no_accesses(self) -> Log:
        return Log(self.clocks_of_warps, [], self.in_step)

    def _page(self, key: str) -> int:
        name, _, offset = key.partition("+")
        return self.parameter(name, int(offset or 0), "u64") >> int(PAGE)

    def base(self, address: int) -> str:
        """What an address is counted from: a pointer among the parameters, or a variable."""
        return self.known.get(address >> int(PAGE), "")

    def special(self, name: str, who: Threads) -> Bits:
        """A special register; the size of the grid is known here."""
        family, _, axis = name.partition(".")
        if family == "nctaid" and self.grid is not None and axis in ("x", "y", "z"):
            return np.full(who.shape, np.uint64(self.grid["xyz".find(axis)]), dtype=np.uint64)
        return super().special(name, who)

    def execute(self, instruction: Instruction, here: Place, who: Threads) -> None:
        """Carries out one instruction, and notes what it touches of global memory."""
        kind = KINDS.get(instruction.name)
        if kind is not None and space_of(instruction) in (None, "global"):
            self._note_global(instruction, kind, here, who)
        super().execute(instruction, here, who)

    def _note_global(self, instruction: Instruction, kind: int, here: Place, who: Threads) -> None:
        addresses = self._address(instruction, who)
        inside = np.isin(addresses >> PAGE, self.pages)
        if not inside.any() or not types_of(instruction):
            return
        who, addresses = who[inside], addresses[inside]
        each = width_of(types_of(instruction)[-1]) // 8
        stored: tuple[Operand, ...] = ()
        parts = destinations(instruction)
        if kind == WRITE:
            last = instruction.operands[-1]
            stored = parts = last.items if isinstance(last, Group) else (last,)
        if any(name in self.uncomputed for operand in stored for name in registers_in(operand)):
            stored = ()
        size = each * max(1, len(parts) if kind != ATOMIC else 1)
        values = self._chunks(stored, size, who) if stored else ()
        self.time += 1
        knowledge, now = self.clocks_of_warps.row_of[who].copy(), self.time
        strong = is_strong(instruction)
        event = Event(here, kind, size, who, addresses, knowledge, values, now, now, strong)
        event = replace(event, element=element_size(instruction))
        self.interval.events.append(event)
        self.events.append(event)

    def _end_interval(self) -> None:
        self.close()
        super()._end_interval()

    def close(self) -> None:
        """Looks at what happened since the last barrier."""
        self.found += [each for each in self.interval.conflicts() if self._is_told(each)]
        self.interval = self._no_accesses()

    def _is_told(self, conflict: Conflict) -> bool:
        """Two stores differ only if it is known what both store."""
        places = {each.place: each for each in self.interval.events}
        events = [places[each] for each in conflict.places]
        return any(each.kind != WRITE for each in events) or all(each.values for each in events)


@dataclass(frozen=True)
class Touched:
    """What one thread did to some bytes."""

    place: Place
    kind: int
    thread: int
    address: int
    size: int
    values: tuple[int, ...]


def meetings(ours: Sequence[Event], theirs: Sequence[Event]) -> Iterator[tuple[Touched, Touched]]:
    """Accesses of two blocks to common bytes, one of them writing, where it matters who comes first."""
    words = _by_word(ours)
    for word, others in _by_word(theirs).items():
        for one in words.get(word, ()):
            for other in others:
                if _conflict(one, other):
                    yield one, other


def _by_word(events: Sequence[Event]) -> dict[int, list[Touched]]:
    found: dict[int, list[Touched]] = {}
    rows = 0
    for event in events:
        rows += event.threads.size
        if rows > MOST_ROWS:
            break
        for lane in range(event.threads.size):
            address = int(event.addresses[lane])
            values = tuple(int(each[lane]) for each in event.values)
            touched = Touched(event.place, event.kind, int(event.threads[lane]), address, event.size, values)
            for word in range(address >> 2, (address + event.size - 1 >> 2) + 1):
                kept = found.setdefault(word, [])
                if sum(each.place == event.place for each in kept) < LANES:
                    kept.append(touched)
    return found


def _conflict(one: Touched, other: Touched) -> bool:
    if one.address >= other.address + other.size or other.address >= one.address + one.size:
        return False
    if one.kind == other.kind != WRITE:
        return False
    if one.kind == other.kind:
        return bool(one.values and other.values) and (
            (one.address, one.size, one.values) != (other.address, other.size, other.values)
        )
    return True
