"""Which accesses of a simulated block hang on what memory holds: there, the contents are made up.

That two threads store to one place because their data say so proves little. Real data may be a permutation, or a
condition that one thread alone meets. So such a pair of stores is no finding. A store to a place that data name and
a load of it is one: data that never let two threads meet would be a contract of the caller's that no one keeps. It
is none if other data decide whether a thread gets there at all: `if (key[t] != key[t - 1]) start[key[t]] -= t`
updates no word twice if the keys are sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache

from fencepost.hosts.ptx.proof.divergence import deciding
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import destinations, effect
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.instructions import computes
from fencepost.hosts.ptx.reading.module import Address, Instruction, Register, registers_in
from fencepost.hosts.ptx.runs.register_values import RegisterValues


@lru_cache(maxsize=8)
def registers_from_data(flow: Flow) -> frozenset[str]:
    """The registers whose values depend on what memory holds, or on other threads."""
    instructions = [each for number in flow.order for each in flow.blocks[number].instructions]
    found: set[str] = set()
    changed = True
    while changed:
        changed = False
        for each in instructions:
            targets = {name for target in destinations(each) for name in registers_in(target)}
            if not targets <= found and (_reads_data(each) or _sources(each) & found):
                found |= targets
                changed = True
    return frozenset(found)


def _reads_data(instruction: Instruction) -> bool:
    """A table in constant memory is data like any other; a variable there is a number like a parameter."""
    if computes(instruction) or "param" in instruction.parts:
        return False
    if "const" in instruction.parts:
        return any(
            isinstance(each, Address) and isinstance(each.base, Register) for each in instruction.operands
        )
    return instruction.name not in ("bar", "barrier", "mapa")


def _sources(instruction: Instruction) -> set[str]:
    found = {name for operand in instruction.operands[1:] for name in registers_in(operand)}
    return found | ({instruction.guard.name} if instruction.guard is not None else set())


def _makers(flow: Flow) -> dict[str, list[tuple[Place, Instruction]]]:
    """The instructions that each register is assigned by."""
    found: dict[str, list[tuple[Place, Instruction]]] = {}
    for number in flow.order:
        for index, instruction in enumerate(flow.blocks[number].instructions):
            for target in destinations(instruction):
                for name in registers_in(target):
                    found.setdefault(name, []).append((Place(number, index), instruction))
    return found


class DataDependence:
    """Answers for one kernel. `uniform` says whether all threads take a branch alike."""

    def __init__(self, flow: Flow, uniform: Callable[[int], bool]) -> None:
        self.flow = flow
        self.uniform = uniform
        self.data = registers_from_data(flow)
        self.makers = _makers(flow)
        self.values = RegisterValues(self.makers)
        self._stores: dict[Place, bool] = {}

    def explains(self, places: tuple[Place, Place]) -> bool:
        """Whether a conflict is between two stores that happen, or have their address, because of data, or between
        updates in place that other data decide over."""
        if all(self._stores_by_data(place) for place in places):
            return True
        return all(self._updates(place) for place in places) and any(
            self._decided_by_others(place) for place in places
        )

    def is_counted_by_data(self, place: Place) -> bool:
        """Whether an access goes to a place that threads count up or down as data let them, such as the top of a
        stack of their own: how far it may go is known to who made the data."""
        instruction = self.flow.blocks[place.block].instructions[place.index]
        addresses = [each.address for each in effect(instruction).accesses]
        return any(name in self._counted for each in addresses for name in registers_in(each))

    @cached_property
    def _counted(self) -> set[str]:
        """The registers that hang on one which is assigned in a loop, if data let it, and also elsewhere."""
        found = set()
        for name, makers in self.makers.items():
            moved = [place for place, _ in makers if self.flow.loops_around(place.block)]
            if len(makers) > 1 and any(self._is_decided_by_data(place) for place in moved):
                found.add(name)
        changed = True
        while changed:
            changed = False
            for name, makers in self.makers.items():
                if name not in found and any(_sources(each) & found for _, each in makers if computes(each)):
                    found.add(name)
                    changed = True
        return found

    def _is_decided_by_data(self, place: Place) -> bool:
        for branch in deciding(self.flow.control_dependences, place.block):
            guard = self.flow.blocks[branch].guard
            if guard is not None and guard.name in self.data and not self.uniform(branch):
                return True
        return False

    def _stores_by_data(self, place: Place) -> bool:
        if place not in self._stores:
            self._stores[place] = self._decide(place)
        return self._stores[place]

    def _decide(self, place: Place) -> bool:
        instruction = self.flow.blocks[place.block].instructions[place.index]
        accesses = [each for each in effect(instruction).accesses if each.kind == "write"]
        if not accesses:
            return False
        named = {name for each in accesses for name in registers_in(each.address)} & self.data
        if named:
            return not self._also_loaded(named)
        return self._is_decided_by_data(place)

    def _named(self, place: Place) -> set[str]:
        """The registers of an access's address that data decide."""
        instruction = self.flow.blocks[place.block].instructions[place.index]
        addresses = [each.address for each in effect(instruction).accesses]
        return {name for each in addresses for name in registers_in(each)} & self.data

    def _updates(self, place: Place) -> bool:
        """Whether an access loads or stores what data name, as part of an update in place."""
        named = self._named(place)
        return bool(named) and all(self._is_accessed(named, kind) for kind in ("read", "write"))

    def _decided_by_others(self, place: Place) -> bool:
        """Whether data that the address does not come from decide whether a thread gets to an access."""
        own = self._loads_behind(self._named(place))
        for branch in deciding(self.flow.control_dependences, place.block):
            guard = self.flow.blocks[branch].guard
            if guard is None or guard.name not in self.data or self.uniform(branch):
                continue
            if self._loads_behind({guard.name}) - own:
                return True
        return False

    def _loads_behind(self, names: set[str]) -> set[int]:
        """The values that some registers get their data from, through all that is computed."""
        found: set[int] = set()
        known, todo = set(names), list(names)
        while todo:
            name = todo.pop()
            for _, instruction in self.makers.get(name, ()):
                if _reads_data(instruction):
                    found.add(self.values.number(name))
                elif new := _sources(instruction) - known:
                    known |= new
                    todo += new
        return found

    def _also_loaded(self, names: set[str]) -> bool:
        """Whether something is loaded through the same registers: an update in place, as of a histogram."""
        return any(not names.isdisjoint(each) for each in self._addresses("read"))

    def _is_accessed(self, names: set[str], kind: str) -> bool:
        """Whether there is an access of that kind through what the registers hold."""
        wanted = {self.values.number(each) for each in names}
        return any(not wanted.isdisjoint(map(self.values.number, each)) for each in self._addresses(kind))

    def _addresses(self, kind: str) -> Iterator[set[str]]:
        """The registers that the accesses of a kind have their address from."""
        for number in self.flow.order:
            for instruction in self.flow.blocks[number].instructions:
                for access in effect(instruction).accesses:
                    if access.kind == kind:
                        yield set(registers_in(access.address))
